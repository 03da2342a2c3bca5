//! Native half of System.Reflection.FieldInfo and RuntimeFieldInfo.
//!
//! Keeps nothing.
use crate::support::constants;
use crate::support::handles;
use crate::support::marshal_as;
use crate::support::objects::{self, field_object, field_of, field_reflected, load};
use crate::support::security;
use crate::support::values;
use vervet_abi::object::HEADER_SIZE;
use vervet_metadata::{Table, Token};
use vervet_runtime::code::icall::Handle;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::icalls;
use vervet_runtime::memory::statics;
use vervet_runtime::object::ObjRef;
use vervet_runtime::remoting;
use vervet_types::{Class, Field, FieldRef, Known, LoadError};

/// The address of a field: in the object, or static after the class constructor has run.
pub fn address<'cx>(cx: &'cx Cx<'cx>, field: FieldRef, object: ObjRef<'cx>) -> Result<*mut u8> {
    if field.is_static() {
        if field.class.is_open {
            return Err(cx.throw(
                Known::InvalidOperationException,
                "the field's class has generic parameters",
            ));
        }
        cx.run_class_init(field.class)?;
        let vt = cx.rt().vtable_or_throw(cx, field.class)?;
        return load(cx, || statics::field_address(cx, vt, field));
    }
    let Some(object) = object.non_null() else {
        return Err(cx.throw(
            Known::TargetException,
            "Non-static field requires a target.",
        ));
    };
    if !load(cx, || objects::is_instance(object.class(), field.class))? {
        return Err(cx.throw(
            Known::ArgumentException,
            "the field is not one of the object's",
        ));
    }
    let at = (HEADER_SIZE + load(cx, || field.offset())?) as usize;
    Ok((object.addr() + at) as *mut u8)
}

/// Mono subtracts the size of its objects' headers, from offsets of statics, too.
const HEADER_OF_MONO: i32 = 16;

/// Where mono has a static field among those of its class: one behind the other, as they are declared. Constants take no place, and are at the start.
fn offset_among_statics(field: FieldRef) -> std::result::Result<u32, LoadError> {
    if field.is_literal() {
        return Ok(0);
    }
    let mut end = 0u32;
    for other in field.class.fields()? {
        if !other.is_static() || other.is_literal() {
            continue;
        }
        let ty = other.ty()?;
        let (size, align) = match ty.is_value_type()? {
            true => (ty.layout()?.size, ty.layout()?.align),
            false => (8, 8),
        };
        let at = end.next_multiple_of(align);
        if std::ptr::eq(*other, field) {
            return Ok(at);
        }
        end = at.saturating_add(size);
    }
    Ok(end)
}

/// The value of a field as an object.
pub fn get<'cx>(cx: &'cx Cx<'cx>, field: FieldRef, object: ObjRef<'cx>) -> Result<ObjRef<'cx>> {
    if field.is_literal() {
        return match constants::of_field(cx, field)? {
            Some(v) => Ok(v),
            None => Ok(ObjRef::NULL),
        };
    }
    if !field.is_static() && remoting::is_proxy(object) {
        return remoting::fields::get(cx, object, field);
    }
    let ty = load(cx, || field.ty())?;
    let at = address(cx, field, object)?;
    // SAFETY: the field lies at that address.
    unsafe { values::object_at(cx, ty, at) }
}
/// Stores an object's value into a field.
pub fn set<'cx>(
    cx: &'cx Cx<'cx>,
    field: FieldRef,
    object: ObjRef<'cx>,
    value: ObjRef<'cx>,
) -> Result<()> {
    if field.is_literal() {
        return Err(cx.throw(Known::FieldAccessException, "Cannot set a constant field"));
    }
    if !field.is_static() && remoting::is_proxy(object) {
        return remoting::fields::set(cx, object, field, value);
    }
    let ty = load(cx, || field.ty())?;
    let at = address(cx, field, object)?;
    // SAFETY: the field lies at that address.
    unsafe { values::store_object(cx, ty, at, value) }
}

/// Refuses what would run code of an assembly that is only looked at.
fn refuse_reflection_only(cx: &Cx<'_>, field: FieldRef, what: &str) -> Result<()> {
    if !field.class.module.is_reflection_only() {
        return Ok(());
    }
    let text = format!(
        "It is illegal to {what} the value on a field on a type loaded using the ReflectionOnly methods."
    );
    Err(cx.throw(Known::InvalidOperationException, &text))
}

/// The Field token.
pub fn token(field: FieldRef) -> Token {
    Token::new(Table::Field, field.rid)
}

icalls! {
    /// The FieldInfo of a field handle, seen through a type handle (its own class if 0).
    "System.Reflection.FieldInfo::internal_from_handle_type" fn internal_from_handle_type(cx, field: Handle<Field>, ty: Handle<Class>) -> ObjRef<'cx> {
        let field = handles::field(cx, field)?;
        let class = if ty.is_null() { field.class } else { cx.class_of_handle(ty)? };
        let mut at = Some(class);
        while let Some(c) = at {
            if objects::same(c, field.class) {
                return field_object(cx, field, class);
            }
            at = load(cx, || c.parent())?;
        }
        if ty.is_null() { field_object(cx, field, class) } else { Ok(ObjRef::NULL) }
    }
    /// The MarshalAs of a field, or null.
    "System.Reflection.FieldInfo::get_marshal_info" fn get_marshal_info(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        let field = field_of(cx, this)?;
        marshal_as::of(cx, field.class.module, token(field))
    }

    /// The value; runs the class constructor of a static one.
    "System.Reflection.RuntimeFieldInfo::GetValueInternal" fn get_value_internal(cx, this: ObjRef<'cx>, object: ObjRef<'cx>) -> ObjRef<'cx> {
        let field = field_of(cx, this)?;
        refuse_reflection_only(cx, field, "get")?;
        get(cx, field, object)
    }
    /// The value, without the checks that managed code makes before `GetValueInternal`.
    "System.Reflection.RuntimeFieldInfo::UnsafeGetValue" fn unsafe_get_value(cx, this: ObjRef<'cx>, object: ObjRef<'cx>) -> ObjRef<'cx> {
        get(cx, field_of(cx, this)?, object)
    }
    /// Stores a value that managed code has converted.
    "System.Reflection.RuntimeFieldInfo::SetValueInternal" fn set_value_internal(cx, field: ObjRef<'cx>, object: ObjRef<'cx>, value: ObjRef<'cx>) {
        let field = field_of(cx, field)?;
        refuse_reflection_only(cx, field, "set")?;
        set(cx, field, object, value)
    }
    /// The declaring or the reflected type.
    "System.Reflection.RuntimeFieldInfo::GetParentType" fn get_parent_type(cx, this: ObjRef<'cx>, declaring: bool) -> ObjRef<'cx> {
        let class = if declaring { field_of(cx, this)?.class } else { field_reflected(cx, this)? };
        cx.type_object(class)
    }
    /// The type of the field.
    "System.Reflection.RuntimeFieldInfo::ResolveType" fn resolve_type(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        let field = field_of(cx, this)?;
        let ty = load(cx, || field.ty())?;
        cx.type_object(ty)
    }
    /// Offset without the object header.
    "System.Reflection.RuntimeFieldInfo::GetFieldOffset" fn get_field_offset(cx, this: ObjRef<'cx>) -> i32 {
        let field = field_of(cx, this)?;
        if !field.is_static() {
            return Ok(load(cx, || field.offset())? as i32);
        }
        let offset = load(cx, || offset_among_statics(field))?;
        Ok(offset as i32 - HEADER_OF_MONO)
    }
    /// The constant, boxed by its stored type.
    "System.Reflection.RuntimeFieldInfo::GetRawConstantValue" fn get_raw_constant_value(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        let field = field_of(cx, this)?;
        if !field.is_literal() {
            return Err(cx.throw_default(Known::InvalidOperationException));
        }
        match constants::raw(cx, field.class.module, token(field))? {
            Some(v) => Ok(v),
            None => Err(cx.throw(Known::InvalidOperationException, "No default value for the field")),
        }
    }
    /// There is no such security here.
    "System.Reflection.RuntimeFieldInfo::get_core_clr_security_level" fn get_core_clr_security_level(cx, this: ObjRef<'cx>) -> i32 {
        let member = field_of(cx, this)?;
        Ok(security::of_member(cx, member.class.def(), token(member)))
    }
    /// The Field token.
    "System.Reflection.RuntimeFieldInfo::get_metadata_token" fn get_metadata_token(cx, field: ObjRef<'cx>) -> i32 {
        Ok(token(field_of(cx, field)?).0 as i32)
    }
    /// Custom modifiers of the field's type.
    "System.Reflection.RuntimeFieldInfo::GetTypeModifiers" fn get_type_modifiers(cx, this: ObjRef<'cx>, optional: bool) -> ObjRef<'cx> {
        let field = field_of(cx, this)?;
        let image = &field.class.module.image;
        // As in mono, emitted fields have none until they are saved and loaded.
        if image.grows().is_some() {
            return Ok(ObjRef::NULL);
        }
        let sig = image.field(field.rid).and_then(|r| image.blob(r.signature)).and_then(vervet_metadata::parse_field_sig);
        match sig {
            Ok(sig) => crate::system::reflection::parameter::modifiers(cx, field.class.module, &sig, optional),
            Err(e) => Err(cx.throw(Known::BadImageFormatException, &e.to_string())),
        }
    }

}
