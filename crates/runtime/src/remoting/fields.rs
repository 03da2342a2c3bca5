//! Fields of transparent proxies.
//!
//! A field of a context-bound object is read and written where it lies, if the thread is in the object's context: methods reach their own fields so. Otherwise the
//! class library makes an access of a field into a call of `Object.FieldGetter` or `Object.FieldSetter`, which `RemotingServices.InternalExecute` carries out where the
//! object is.
//!
//! # Invariants
//! * A value travels boxed. What is loaded is written to memory of the accessing frame, never to an object.
//! * The address of a field is only given out where the object itself may be touched: in this domain, and for a context-bound object in this context.
use super::calls::{local_server, real_proxy, server_here};
use super::values::fitting;
use crate::classes::vtables::is_context_bound;
use crate::cx::{Cx, Result, Value};
use crate::interop::delegates::async_call;
use crate::memory::copy::copy_value;
use crate::object::ObjRef;
use std::mem::offset_of;
use vervet_abi::layouts::RealProxyObject;
use vervet_types::{FieldRef, Known};

fn handles<'cx>(field: FieldRef) -> [Value<'cx>; 2] {
    [
        Value::Int(field.class as *const _ as usize as i64),
        Value::Int(field as *const _ as usize as i64),
    ]
}

/// The value of the field of what the proxy stands for, as it lies in memory, goes to `out`.
///
/// # Safety
/// `out` has room for a value of the field.
pub unsafe fn load<'cx>(
    cx: &'cx Cx<'cx>,
    proxy: ObjRef<'cx>,
    field: FieldRef,
    out: *mut u8,
) -> Result<()> {
    if let Some((at, size, refs)) = place_here(cx, proxy, field)? {
        // SAFETY: the field lies there, with that size; the caller's promise.
        unsafe { copy_value(out, at, size, refs) };
        return Ok(());
    }
    let value = get(cx, proxy, field)?;
    async_call::store(cx, cx.load(field.ty())?, out, value)
}

/// Where the field of a context-bound object lies that belongs to the calling thread's context, the bytes of its value, and whether these hold references.
fn place_here<'cx>(
    cx: &'cx Cx<'cx>,
    proxy: ObjRef<'cx>,
    field: FieldRef,
) -> Result<Option<(*mut u8, usize, bool)>> {
    let Some(server) = server_here(cx, proxy)? else {
        return Ok(None);
    };
    let ty = cx.load(field.ty())?;
    let refs = if ty.is_ptr() || ty.is_fn_ptr() {
        false
    } else if cx.load(ty.is_value_type())? {
        !cx.load(ty.layout())?.ref_map.is_empty()
    } else {
        true
    };
    let at = (server.addr() + offset_in(cx, field)?) as *mut u8;
    Ok(Some((at, cx.load(field.memory_size())? as usize, refs)))
}

/// The offset of the field from the object's address.
fn offset_in<'cx>(cx: &'cx Cx<'cx>, field: FieldRef) -> Result<usize> {
    Ok(cx.load(field.offset())? as usize + vervet_abi::object::HEADER_SIZE as usize)
}

/// The value of the field of what the proxy stands for, as an object.
pub fn get<'cx>(cx: &'cx Cx<'cx>, proxy: ObjRef<'cx>, field: FieldRef) -> Result<ObjRef<'cx>> {
    let load = cx.known_method(Known::TransparentProxy, "LoadRemoteFieldNew", 2)?;
    match cx.invoke(load, Some(Value::Ref(proxy)), &handles(field))? {
        Value::Ref(value) => fitting(cx, cx.load(field.ty())?, value),
        _ => Ok(ObjRef::NULL),
    }
}

/// Stores an object's value to the field of what the proxy stands for.
pub fn set<'cx>(
    cx: &'cx Cx<'cx>,
    proxy: ObjRef<'cx>,
    field: FieldRef,
    value: ObjRef<'cx>,
) -> Result<()> {
    let store = cx.known_method(Known::TransparentProxy, "StoreRemoteField", 3)?;
    let [class, handle] = handles(field);
    let args = [class, handle, Value::Ref(value)];
    cx.invoke(store, Some(Value::Ref(proxy)), &args).map(drop)
}

/// Stores the value at `from` to the field of what the proxy stands for.
///
/// # Safety
/// A value of the field lies at `from`.
pub unsafe fn store<'cx>(
    cx: &'cx Cx<'cx>,
    proxy: ObjRef<'cx>,
    field: FieldRef,
    from: *const u8,
) -> Result<()> {
    if let Some((at, size, refs)) = place_here(cx, proxy, field)? {
        // SAFETY: the field lies there, with that size; the caller's promise.
        unsafe { copy_value(at, from, size, refs) };
        return Ok(());
    }
    // SAFETY: the caller's promise.
    let value = unsafe { async_call::object_at(cx, cx.load(field.ty())?, from)? };
    set(cx, proxy, field, value)
}

/// The address of the field in the object that the proxy stands for.
///
/// # Errors
/// NullReferenceException: there is no such object in this process. InvalidOperationException: it is in another context.
pub fn address<'cx>(cx: &'cx Cx<'cx>, proxy: ObjRef<'cx>, field: FieldRef) -> Result<usize> {
    let real = real_proxy(cx, proxy)?;
    let target: i32 = real.read(offset_of!(RealProxyObject, target_domain_id));
    let bound = cx.load(is_context_bound(proxy.class()))?;
    let server = match bound {
        true => local_server(cx, real),
        false => real
            .read_ref(offset_of!(RealProxyObject, server))
            .non_null(),
    };
    if target == -1
        && let Some(server) = server
    {
        return Ok(server.addr() + offset_in(cx, field)?);
    }
    if target == -1 && !bound {
        return Err(cx.throw(
            Known::NullReferenceException,
            "Object reference not set to an instance of an object",
        ));
    }
    let place = if bound { "context" } else { "appdomain" };
    Err(cx.throw(
        Known::InvalidOperationException,
        &format!("Attempt to load field address from object in another {place}."),
    ))
}
