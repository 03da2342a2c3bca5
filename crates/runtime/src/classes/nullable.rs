//! The layout of `Nullable<T>`, and unboxing into one.
//!
//! Invariant: a boxed Nullable does not exist. Boxing gives null or a box of the argument, and unboxing takes either.
use crate::cx::{Cx, Result, Value};
use crate::memory::copy::{clear_value, copy_value};
use crate::object::ObjRef;
use vervet_types::{Class, ClassRef, Known};

/// Offsets of a Nullable's flag and value, from the start of the value.
pub fn nullable_offsets(cx: &Cx<'_>, class: ClassRef) -> Result<(u32, u32)> {
    let (flag, value) = cx.load(class.nullable_fields())?;
    Ok((cx.load(flag.offset())?, cx.load(value.offset())?))
}

/// Unboxes null or a box of the argument as a Nullable of class `c`.
///
/// # Safety
/// `to` has room for it.
pub(crate) unsafe fn unbox_nullable_into<'cx>(
    cx: &'cx Cx<'cx>,
    o: ObjRef<'cx>,
    c: &'static Class,
    to: *mut u8,
) -> Result<()> {
    let inner = c.nullable_arg().expect("a nullable class");
    let (has, at) = nullable_offsets(cx, c)?;
    let layout = cx.load(c.layout())?;
    // SAFETY: the caller's promise; the offsets lie inside.
    unsafe {
        clear_value(to, layout.size as usize, !layout.ref_map.is_empty());
        if o.is_null() {
            return Ok(());
        }
        // As in mono, a box of an enum is one of its underlying type, but not the reverse.
        let is_inner =
            std::ptr::eq(o.class(), inner) || cx.load(o.class().enum_underlying())? == Some(inner);
        if !is_inner {
            // As in mono, the class library's method throws.
            let name = match inner.is_enum() {
                Ok(true) => "UnboxExact",
                _ => "Unbox",
            };
            if let Some(unbox) = cx.load(c.find_method(name, Some(1)))? {
                cx.invoke(unbox, None, &[Value::Ref(o)])?;
            }
            return Err(cx.throw_default(Known::InvalidCastException));
        }
        *to.add(has as usize) = 1;
        let layout = cx.load(inner.layout())?;
        copy_value(
            to.add(at as usize),
            o.value_ptr(),
            layout.size as usize,
            !layout.ref_map.is_empty(),
        );
    }
    Ok(())
}
