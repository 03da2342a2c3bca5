//! `BeginInvoke` and `EndInvoke` of delegates whose target is a transparent proxy: messages, which say so, to its real proxy.
//!
//! # How it works
//! ```text
//!   begin: message (BeginInvoke, AsyncResult) --> RealProxy.PrivateInvoke, which sends it on or answers it; the AsyncResult gets the reply
//!   end:   message (EndInvoke, AsyncResult)   --> RealProxy.PrivateInvoke, which waits for the reply
//!          by-reference words, result, or throws  <--
//! ```
//! A real proxy of the program sees the first message only. A ContextBoundObject in the caller's own context is called by the thread pool, as other objects are.
//!
//! # Invariants
//! An AsyncResult that is made here holds no MonoAsyncCall: so `EndInvoke` knows it.
use super::values::fitting;
use super::{calls, classes, is_proxy};
use crate::cx::{Cx, Result};
use crate::interop::delegates::{self, async_call};
use crate::object::ObjRef;
use std::mem::offset_of;
use vervet_abi::layouts::{
    AsyncResultObject as AsyncResult, DelegateObject, MonoMethodMessageObject as Message,
};
use vervet_jit::LoweredSignature;
use vervet_jit::signature::Pass;
use vervet_types::{Known, MethodRef};

/// CallType.BeginInvoke.
const BEGIN: i32 = 1;
/// CallType.EndInvoke.
const END: i32 = 2;

/// The proxy that the delegate has as its target, and the method to be called on it.
fn proxy_of<'cx>(
    cx: &'cx Cx<'cx>,
    delegate: ObjRef<'cx>,
) -> Result<Option<(ObjRef<'cx>, MethodRef)>> {
    let target = delegate.read_ref(offset_of!(DelegateObject, m_target));
    let method: usize = delegate.read(offset_of!(DelegateObject, method));
    if !is_proxy(target) || method == 0 {
        return Ok(None);
    }
    // SAFETY: the word was stored from a method, and methods live for ever.
    let method: MethodRef = unsafe { &*(method as *const vervet_types::Method) };
    if method.is_static() {
        return Ok(None);
    }
    let called = classes::named(cx, classes::proxied_class(target), method)?;
    Ok(Some((target, called)))
}

/// Delegate.BeginInvoke with its arguments in the words of its stub.
///
/// # Safety
/// As for [`async_call::begin`].
pub unsafe fn begin<'cx>(
    cx: &'cx Cx<'cx>,
    delegate: ObjRef<'cx>,
    method: MethodRef,
    words: *const u64,
) -> Result<ObjRef<'cx>> {
    let delegate = cx.non_null(delegate)?;
    async_call::check_single(cx, delegate)?;
    let elsewhere = match proxy_of(cx, delegate)? {
        // An object of this context is called as any other is.
        Some((proxy, _)) if calls::server_here(cx, proxy)?.is_some() => None,
        found => found,
    };
    let Some((proxy, called)) = elsewhere else {
        // SAFETY: the caller's promise.
        return unsafe { async_call::begin(cx, delegate, method, words) };
    };
    // SAFETY: the caller's promise.
    let (args, callback, state) = unsafe { async_call::arguments(cx, method, words)? };
    let message = calls::message(cx, called, args)?;
    let result = async_call::new_result(cx, delegate, state)?;
    result.write_ref(offset_of!(AsyncResult, async_callback), callback);
    message.write_ref(offset_of!(Message, async_result), result);
    message.write(offset_of!(Message, call_type), BEGIN);
    calls::send_message(cx, calls::real_proxy(cx, proxy)?, message)?;
    Ok(result)
}

/// Delegate.EndInvoke with its arguments in the words of its stub; its result goes to `out` as it lies in memory.
///
/// # Safety
/// As for [`async_call::end`].
pub unsafe fn end<'cx>(
    cx: &'cx Cx<'cx>,
    delegate: ObjRef<'cx>,
    method: MethodRef,
    words: *const u64,
    out: *mut u8,
) -> Result<()> {
    let delegate = cx.non_null(delegate)?;
    // SAFETY: the caller's promise.
    let result = unsafe { async_call::result_of(cx, delegate, method, words)? };
    let by_pool = !result
        .read_ref(offset_of!(AsyncResult, object_data))
        .is_null();
    let Some((proxy, called)) = proxy_of(cx, delegate)?.filter(|_| !by_pool) else {
        // SAFETY: the caller's promise.
        return unsafe { async_call::end(cx, delegate, result, method, words, out) };
    };
    let none = cx.alloc_array(cx.known(Known::Object), 0)?;
    let message = calls::message(cx, called, none)?;
    message.write_ref(offset_of!(Message, async_result), result);
    message.write(offset_of!(Message, call_type), END);
    let (value, outs) = calls::send_message(cx, calls::real_proxy(cx, proxy)?, message)?;
    let invoke = cx.load(delegates::invoke_method(cx, delegate.class())?.sig())?;
    let given = |k: usize, i: usize| {
        let has = outs.non_null().is_some_and(|all| k < all.array_len());
        let value = if has {
            outs.element_ref(k)
        } else {
            ObjRef::NULL
        };
        match invoke.params[i].element() {
            Some(class) => fitting(cx, class, value),
            None => Ok(value),
        }
    };
    // SAFETY: the caller's promise.
    unsafe { async_call::give_back(cx, delegate, words, given)? };
    let lowered = cx.load(LoweredSignature::of_method(method))?;
    if !matches!(lowered.ret, Pass::None) {
        let value = fitting(cx, lowered.ret_class, value)?;
        async_call::store(cx, lowered.ret_class, out, value)?;
    }
    Ok(())
}
