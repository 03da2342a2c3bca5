//! Calls through transparent proxies: from the words of a call to a message for the real proxy, and back.
//!
//! # How it works
//! ```text
//!   words --> object[] of boxed arguments --> MonoMethodMessage --> RealProxy.PrivateInvoke(real proxy, message, out exception, out arguments)
//!   result, by-reference arguments in order of their parameters  <--
//! ```
//! A method of a ContextBoundObject in the caller's own context is called directly, and has the proxy as `this`.
//!
//! # Invariants
//! An exception that the real proxy hands back is thrown here, once all that was made for the call is let go. By-reference arguments change only if there is none.
use super::values::fitting;
use crate::classes::vtables::is_context_bound;
use crate::code;
use crate::cx::{Cx, Result, Throw, Value};
use crate::exceptions::trace;
use crate::interop::com::rcw;
use crate::interop::delegates::async_call::{argument, store, words_of};
use crate::memory::context_statics;
use crate::memory::localloc_stack::Scope;
use crate::object::ObjRef;
use smallvec::{SmallVec, smallvec};
use std::mem::offset_of;
use vervet_abi::layouts::{
    MonoMethodMessageObject as Message, RealProxyObject, TransparentProxyObject,
};
use vervet_jit::LoweredSignature;
use vervet_jit::signature::Pass;
use vervet_types::class::type_flags;
use vervet_types::{Known, MethodRef};

/// The real proxy of a transparent one.
pub(super) fn real_proxy<'cx>(cx: &'cx Cx<'cx>, proxy: ObjRef<'cx>) -> Result<ObjRef<'cx>> {
    cx.non_null(proxy.read_ref(offset_of!(TransparentProxyObject, real_proxy)))
}

/// The object that a proxy stands for, if it lives in the calling thread's context.
pub(super) fn local_server<'cx>(cx: &'cx Cx<'cx>, real: ObjRef<'cx>) -> Option<ObjRef<'cx>> {
    let server = real
        .read_ref(offset_of!(RealProxyObject, server))
        .non_null()?;
    let target = real.read_ref(offset_of!(RealProxyObject, target_context));
    (target == context_statics::current(cx) && !super::is_proxy(server)).then_some(server)
}

/// The ContextBoundObject that a proxy stands for, if it lives in the calling thread's context: it is called directly.
pub fn server_here<'cx>(cx: &'cx Cx<'cx>, proxy: ObjRef<'cx>) -> Result<Option<ObjRef<'cx>>> {
    if !cx.load(is_context_bound(proxy.class()))? {
        return Ok(None);
    }
    Ok(local_server(cx, real_proxy(cx, proxy)?))
}

/// The ContextBoundObject that a proxy stands for, if it lives in another context of this process. None also for what is no proxy.
pub fn server<'cx>(cx: &'cx Cx<'cx>, proxy: ObjRef<'cx>) -> Result<Option<ObjRef<'cx>>> {
    if !super::is_proxy(proxy) || !cx.load(is_context_bound(proxy.class()))? {
        return Ok(None);
    }
    let real = real_proxy(cx, proxy)?;
    if local_server(cx, real).is_some() {
        return Ok(None);
    }
    let server = real.read_ref(offset_of!(RealProxyObject, server));
    Ok(server.non_null().filter(|s| !super::is_proxy(*s)))
}

/// Sends a call of the method to the proxy's real proxy. The words are the arguments as the stub has stored them; the result goes to `out` as it lies in memory.
///
/// # Safety
/// `words` are the arguments of a call of the method, and `out` has room for its result.
pub unsafe fn invoke<'cx>(
    cx: &'cx Cx<'cx>,
    proxy: ObjRef<'cx>,
    method: MethodRef,
    words: *const u64,
    out: *mut u8,
) -> Result<()> {
    let lowered = cx.load(LoweredSignature::of_method(method))?;
    let real = real_proxy(cx, proxy)?;
    if lowered.param_classes.iter().any(|c| c.is_by_ref_like()) {
        // A value that may live on the stack only has no box, which a message would need.
        return Err(cx.throw_default(Known::NotImplementedException));
    }
    if rcw::is_proxy_of_one(real) {
        // SAFETY: the caller's promise.
        return unsafe { super::native_objects::invoke(cx, real, method, &lowered, words, out) };
    }
    if let Some(server) = server_here(cx, proxy)? {
        // SAFETY: the caller's promise.
        return unsafe { invoke_here(cx, (proxy, server), method, &lowered, words, out) };
    }
    if !cx.load(is_context_bound(proxy.class()))? {
        // SAFETY: the caller's promise.
        let is_done = unsafe { super::across::invoke(cx, real, method, &lowered, words, out)? };
        if is_done {
            return Ok(());
        }
    }
    let count = lowered.params.len();
    let args = cx.alloc_array(cx.known(Known::Object), count)?;
    let mut used = 0;
    for i in 0..count {
        let (pass, class) = (&lowered.params[i], lowered.param_classes[i]);
        // SAFETY: the stub stored one word per parameter.
        args.set_element_ref(i, unsafe { argument(cx, pass, class, words.add(used))? });
        used += words_of(pass);
    }
    let (value, out_args) = send(cx, real, method, args)?;
    let mut used = 0;
    let mut given = 0;
    for i in 0..count {
        let (pass, class) = (&lowered.params[i], lowered.param_classes[i]);
        if let (true, Some(behind)) = (class.is_byref(), class.element()) {
            // SAFETY: the word is the address of a variable of the parameter's type.
            let to = unsafe { *words.add(used) } as *mut u8;
            let has = out_args
                .non_null()
                .is_some_and(|all| given < all.array_len());
            if has && !to.is_null() {
                store(cx, behind, to, out_args.element_ref(given))?;
            }
            given += 1;
        }
        used += words_of(pass);
    }
    if !matches!(lowered.ret, Pass::None) {
        let value = fitting(cx, lowered.ret_class, value)
            .map_err(|throw| trace::begin_behind_proxy(cx, throw, method))?;
        store(cx, lowered.ret_class, out, value)?;
    }
    Ok(())
}

/// Calls the method that the object's class has, with the words of a call on its proxy. `this` is the proxy there, so the object never gets out of its context.
///
/// # Safety
/// As for [`invoke`].
unsafe fn invoke_here<'cx>(
    cx: &'cx Cx<'cx>,
    (proxy, server): (ObjRef<'cx>, ObjRef<'cx>),
    method: MethodRef,
    lowered: &LoweredSignature,
    words: *const u64,
    out: *mut u8,
) -> Result<()> {
    let target = match method.is_virtual() {
        true => super::classes::called(cx, server.class(), method)?,
        false => method,
    };
    // SAFETY: the caller's promise.
    unsafe { invoke_words(cx, proxy, target, lowered, words, out) }
}

/// Calls exactly that method, with the words of a call on a proxy.
///
/// # Safety
/// As for [`invoke`]; `this` is an instance of the method's class, or a proxy of one.
pub(super) unsafe fn invoke_words<'cx>(
    cx: &'cx Cx<'cx>,
    this: ObjRef<'cx>,
    target: MethodRef,
    lowered: &LoweredSignature,
    words: *const u64,
    out: *mut u8,
) -> Result<()> {
    let count = count_of_words(lowered);
    let mut all: SmallVec<[u64; 16]> = smallvec![this.addr() as u64];
    if lowered.ret == Pass::Address {
        all.push(out as u64);
    }
    // SAFETY: the stub stored one word per CLIF parameter.
    all.extend_from_slice(unsafe { std::slice::from_raw_parts(words, count) });
    let ret = code::invoke::invoke_words(cx, target, all)?;
    // SAFETY: the caller's promise.
    unsafe { store_result(lowered, &ret, out) };
    Ok(())
}

/// How many words the stub has stored.
pub(super) fn count_of_words(lowered: &LoweredSignature) -> usize {
    lowered.params.iter().map(words_of).sum()
}

/// Stores a result that came in words as it lies in memory.
///
/// # Safety
/// `out` has room for the result and at least for a word.
pub(super) unsafe fn store_result(lowered: &LoweredSignature, ret: &[u64; 8], out: *mut u8) {
    match &lowered.ret {
        Pass::None | Pass::Address => {}
        // SAFETY: the caller's promise; it lies in the stub's frame.
        Pass::Scalar(_) => unsafe { (out as *mut u64).write_unaligned(ret[0]) },
        Pass::Scalars(leaves) => {
            for (word, &(offset, kind)) in ret.iter().zip(leaves) {
                // SAFETY: as above; leaves lie inside the value.
                unsafe { code::invoke::store_scalar(out.add(offset as usize), kind, *word) };
            }
        }
    }
}

/// As [`send`], from a transparent proxy.
pub fn send_from<'cx>(
    cx: &'cx Cx<'cx>,
    proxy: ObjRef<'cx>,
    method: MethodRef,
    args: ObjRef<'cx>,
) -> Result<(ObjRef<'cx>, ObjRef<'cx>)> {
    send(cx, real_proxy(cx, proxy)?, method, args)
}

/// Sends a call of the method with boxed arguments; the result and the values of by-reference arguments, in order.
pub fn send<'cx>(
    cx: &'cx Cx<'cx>,
    real: ObjRef<'cx>,
    method: MethodRef,
    args: ObjRef<'cx>,
) -> Result<(ObjRef<'cx>, ObjRef<'cx>)> {
    let message = message(cx, method, args)?;
    send_message(cx, real, message).map_err(|throw| {
        let thrown = cx.take_pending(throw);
        match not_serializable(cx, thrown) {
            Some(throw) => throw,
            None => cx.throw_object(thrown),
        }
    })
}

/// What is thrown instead of an exception whose class the class library may not serialize. In mono such an exception does not get out of a call through a proxy,
/// in this domain either. (It does out of the end of an asynchronous one.)
pub(super) fn not_serializable<'cx>(cx: &'cx Cx<'cx>, thrown: ObjRef<'cx>) -> Option<Throw> {
    let class = thrown.class();
    if class.flags & type_flags::SERIALIZABLE != 0 {
        return None;
    }
    let assembly = class.module.assembly_name();
    let message = format!(
        "Type '{}' in Assembly '{assembly}' is not marked as serializable",
        class.name
    );
    Some(cx.throw(Known::SerializationException, &message))
}

/// Sends a message; the result and the values of by-reference arguments, in order.
pub(super) fn send_message<'cx>(
    cx: &'cx Cx<'cx>,
    real: ObjRef<'cx>,
    message: ObjRef<'cx>,
) -> Result<(ObjRef<'cx>, ObjRef<'cx>)> {
    let scope = Scope::new(cx);
    let outs = scope.slice(2, 0u64)?;
    let (exception, out_args) = (&raw mut outs[0], &raw mut outs[1]);
    let send = cx.known_method(Known::RealProxy, "PrivateInvoke", 4)?;
    let result = cx.invoke(
        send,
        None,
        &[
            Value::Ref(real),
            Value::Ref(message),
            Value::Ptr(exception as *mut u8),
            Value::Ptr(out_args as *mut u8),
        ],
    )?;
    // SAFETY: the class library has stored references, which the scope's memory holds.
    let (thrown, out_args): (ObjRef<'cx>, ObjRef<'cx>) = unsafe {
        (
            ObjRef::from_addr(exception.read_volatile() as usize),
            ObjRef::from_addr(out_args.read_volatile() as usize),
        )
    };
    if !thrown.is_null() {
        return Err(cx.throw_object(thrown));
    }
    match result {
        Value::Ref(value) => Ok((value, out_args)),
        _ => Ok((ObjRef::NULL, out_args)),
    }
}

/// The message that says that the method is called.
pub(super) fn message<'cx>(
    cx: &'cx Cx<'cx>,
    method: MethodRef,
    args: ObjRef<'cx>,
) -> Result<ObjRef<'cx>> {
    let of_method = cx.known_method(
        Known::RuntimeMethodInfo,
        "GetMethodFromHandleInternalType_native",
        3,
    )?;
    let handles = [
        Value::Int(method as *const _ as usize as i64),
        Value::Int(method.class as *const _ as usize as i64),
        Value::Int(0),
    ];
    let Value::Ref(info) = cx.invoke(of_method, None, &handles)? else {
        return Err(cx.throw_default(Known::InvalidOperationException));
    };
    let message = cx.alloc(cx.known(Known::MonoMethodMessage))?;
    let begin = cx.known_method(Known::MonoMethodMessage, "InitMessage", 2)?;
    let values = [Value::Ref(info), Value::Ref(ObjRef::NULL)];
    cx.invoke(begin, Some(Value::Ref(message)), &values)?;
    let own = message.read_ref(offset_of!(Message, args));
    match own.non_null() {
        Some(own) => {
            for i in 0..args.array_len().min(own.array_len()) {
                own.set_element_ref(i, args.element_ref(i));
            }
        }
        None => message.write_ref(offset_of!(Message, args), args),
    }
    Ok(message)
}
