//! Classes and fields of the class library by name.
use vervet_runtime::cx::{Cx, Result, Throw};
use vervet_runtime::object::ObjRef;
use vervet_types::{ClassRef, FieldRef, Known, LoadError};

/// NotSupportedException.
pub fn not_supported(cx: &Cx<'_>, message: &str) -> Throw {
    cx.throw(Known::NotSupportedException, message)
}
/// An instance field of a class or one of its ancestors, and its offset in the object.
pub fn field_offset(cx: &Cx<'_>, class: ClassRef, name: &str) -> Result<usize> {
    let f = find_field(cx, class, name)?;
    Ok(cx.load(f.offset())? as usize + vervet_abi::HEADER_SIZE as usize)
}
/// A field of a class or one of its ancestors.
pub fn find_field(cx: &Cx<'_>, class: ClassRef, name: &str) -> Result<FieldRef> {
    let mut at = Some(class);
    while let Some(c) = at {
        if let Some(f) = cx.load(c.find_field(name))? {
            return Ok(f);
        }
        at = cx.load(c.parent())?;
    }
    Err(cx.throw_load(LoadError::missing_field(class, name)))
}
/// Sets a reference field by name.
pub fn set_ref<'cx>(
    cx: &'cx Cx<'cx>,
    object: ObjRef<'cx>,
    name: &str,
    value: ObjRef<'cx>,
) -> Result<()> {
    object.write_ref(field_offset(cx, object.class(), name)?, value);
    Ok(())
}
/// Sets a bool field by name.
pub fn set_bool<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>, name: &str, value: bool) -> Result<()> {
    object.write(field_offset(cx, object.class(), name)?, u8::from(value));
    Ok(())
}
/// Sets an int field by name.
pub fn set_i32<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>, name: &str, value: i32) -> Result<()> {
    object.write(field_offset(cx, object.class(), name)?, value);
    Ok(())
}
/// Reads a string field by name; None if it is null.
pub fn string_field<'cx>(
    cx: &'cx Cx<'cx>,
    object: ObjRef<'cx>,
    name: &str,
) -> Result<Option<String>> {
    let s = object.read_ref(field_offset(cx, object.class(), name)?);
    Ok(if s.is_null() { None } else { Some(s.text()) })
}
