//! Values that class library and program hand over for a call or a field of a proxy: messages, real proxies and deserialized objects may give anything.
//!
//! # Invariants
//! What has passed [`fitting`] can be stored where a value of the class belongs.
use super::{classes, is_proxy};
use crate::classes::casts;
use crate::cx::{Cx, Result};
use crate::object::ObjRef;
use vervet_types::{ClassRef, Known};

/// The object, if it stands for a value of the class: a box of it, or an instance.
///
/// # Errors
/// NullReferenceException: there is no value. InvalidCastException: it is of another class.
pub(super) fn fitting<'cx>(
    cx: &'cx Cx<'cx>,
    class: ClassRef,
    object: ObjRef<'cx>,
) -> Result<ObjRef<'cx>> {
    if class.is_ptr() || class.is_fn_ptr() {
        return Ok(object);
    }
    let is_value = cx.load(class.is_value_type())?;
    let nullable = class.nullable_arg();
    let Some(given) = object.non_null() else {
        return match is_value && nullable.is_none() {
            true => Err(cx.throw(
                Known::NullReferenceException,
                "Object reference not set to an instance of an object",
            )),
            false => Ok(object),
        };
    };
    let (have, want) = (given.class(), nullable.unwrap_or(class));
    let fits = match is_value {
        _ if std::ptr::eq(have, want) => true,
        true => {
            let number = cx.load(have.stack_prim())?;
            number.is_some() && number == cx.load(want.stack_prim())?
        }
        false if is_proxy(given) => classes::is_instance(cx, given, class)?,
        false => cx.load(casts::is_assignable(cx.universe(), have, class))?,
    };
    match fits {
        true => Ok(object),
        false => Err(cx.throw_default(Known::InvalidCastException)),
    }
}
