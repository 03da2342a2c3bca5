//! Native half of System.Reflection.MethodBody: IL, locals and exception clauses of a method.
//!
//! Keeps nothing.
use crate::support::objects::{Fill, load};
use vervet_metadata::EhKind;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::object::ObjRef;
use vervet_types::method::impl_flags;
use vervet_types::{Known, LoadError, MethodRef};

/// The MethodBody of a method, or null if it has no IL. A grafted method shows none: the tokens in its IL are not those of
/// the module that it belongs to.
pub fn of_method<'cx>(cx: &'cx Cx<'cx>, method: MethodRef) -> Result<ObjRef<'cx>> {
    if method.is_dynamic() {
        return Err(cx.throw(Known::InvalidOperationException, ""));
    }
    if !method.has_body() || method.is_grafted() {
        // One that is neither abstract nor made by the runtime or by native code has IL, or nobody gave it any.
        let none_is_due = method.rid == 0
            || method.is_abstract()
            || method.is_pinvoke()
            || method.is_grafted()
            || method.impl_flags & (impl_flags::CODE_TYPE_MASK | impl_flags::INTERNAL_CALL) != 0
            || method.module().image.grows().is_some();
        return match none_is_due {
            true => Ok(ObjRef::NULL),
            false => Err(cx.throw(Known::BadImageFormatException, "Method has zero rva")),
        };
    }
    let body = load(cx, || method.body())?;
    let scope = method.scope();
    let locals = if body.local_sig.is_nil() {
        Vec::new()
    } else {
        load(cx, || scope.locals(body.local_sig))?
    };
    let local_objects =
        cx.alloc_ref_array(cx.known(Known::LocalVariableInfo), locals.len(), |i| {
            let ty = cx.type_object(locals[i].ty)?;
            Ok(Fill::new(cx, Known::LocalVariableInfo)?
                .set("type", ty)?
                .put("is_pinned", u8::from(locals[i].pinned))?
                .put("position", i as u16)?
                .object)
        })?;
    let clauses = cx.alloc_ref_array(
        cx.known(Known::ExceptionHandlingClause),
        body.clauses.len(),
        |i| {
            let c = &body.clauses[i];
            let (flags, filter, catch) = match c.kind {
                EhKind::Catch(token) => {
                    let class = load(cx, || scope.type_(token))?;
                    (0i32, 0, cx.type_object(class)?)
                }
                EhKind::Filter(offset) => (1, offset, ObjRef::NULL),
                EhKind::Finally => (2, 0, ObjRef::NULL),
                EhKind::Fault => (4, 0, ObjRef::NULL),
            };
            Ok(Fill::new(cx, Known::ExceptionHandlingClause)?
                .set("catch_type", catch)?
                .put("filter_offset", filter as i32)?
                .put("flags", flags)?
                .put("try_offset", c.try_offset as i32)?
                .put("try_length", c.try_len as i32)?
                .put("handler_offset", c.handler_offset as i32)?
                .put("handler_length", c.handler_len as i32)?
                .object)
        },
    )?;
    let il = cx.alloc_array(cx.known(Known::Byte), body.code.len())?;
    il.elements::<u8>().copy_from_slice(body.code);
    Ok(Fill::new(cx, Known::MethodBody)?
        .set("clauses", clauses)?
        .set("locals", local_objects)?
        .set("il", il)?
        .put("init_locals", u8::from(body.init_locals))?
        .put("sig_token", body.local_sig.0 as i32)?
        .put("max_stack", body.max_stack as i32)?
        .object)
}

/// The error of metadata that cannot be read.
pub fn bad_image(cx: &Cx<'_>, error: vervet_metadata::Error) -> vervet_runtime::cx::Throw {
    cx.throw_load(LoadError::from(error))
}
