//! `BeginInvoke` and `EndInvoke` of delegates: the call's arguments as objects, on their way to the thread pool and back.
//!
//! # How it works
//! `BeginInvoke` boxes the arguments into a message, and queues an AsyncResult; a worker's `AsyncResult.Invoke` calls the
//! delegate with them ([`complete`] takes what came of it). `EndInvoke` waits for that, copies what the by-reference
//! parameters hold and the result, or throws what the call threw.
//!
//! ```text
//!   caller                           AsyncResult (managed)            worker of the thread pool
//!   -----------------------------    -----------------------------    ----------------------------------
//!   begin: message.args = boxes  --> queued                      --> AsyncResult.Invoke: calls the delegate
//!                                    out_args, res or exc, completed <-- complete
//!                                    event set, waiters woken
//!   end: waits for `completed`   <--                                  callback, if there is one
//!        by-reference words, result, or throws
//! ```
//! A by-reference parameter is boxed as the value behind it, because the caller's variable may be gone when the worker runs. So a change is
//! seen when `EndInvoke` copies it back, and not before.
//!
//! # Invariants
//! * The argument words of a stub lie on its frame, so what they refer to keeps its place while objects are made.
//! * `completed` is set, and the event looked for, under the AsyncResult's monitor; so is `endinvoke_called`.
//! * As in mono the execution context does not flow to the callee.
use crate::cx::{Cx, Result, Value};
use crate::memory::localloc_stack::Scope;
use crate::object::ObjRef;
use crate::threads::monitor;
use std::mem::offset_of;
use vervet_abi::layouts::{
    AsyncResultObject as AsyncResult, MonoAsyncCallObject as AsyncCall,
    MonoMethodMessageObject as Message, MulticastDelegateObject,
};
use vervet_abi::object::HEADER_SIZE;
use vervet_jit::LoweredSignature;
use vervet_jit::signature::Pass;
use vervet_types::{ClassRef, Known, LoadError, MethodRef};

/// A method of the core library that the calls here need.
fn corlib_method<'cx>(
    cx: &'cx Cx<'cx>,
    class: Known,
    name: &str,
    parameters: usize,
) -> Result<MethodRef> {
    let class = cx.known(class);
    match cx.load(class.find_method(name, Some(parameters)))? {
        Some(method) => Ok(method),
        None => Err(cx.throw_load(LoadError::missing_method(class, name))),
    }
}

/// How many words of a stub's block an argument takes.
pub(crate) fn words_of(pass: &Pass) -> usize {
    match pass {
        Pass::None => 0,
        Pass::Scalar(_) | Pass::Address => 1,
        Pass::Scalars(leaves) => leaves.len(),
    }
}

/// The value at an address as an object.
///
/// # Safety
/// A value of that class lies there.
pub(crate) unsafe fn object_at<'cx>(
    cx: &'cx Cx<'cx>,
    class: ClassRef,
    at: *const u8,
) -> Result<ObjRef<'cx>> {
    // SAFETY: the caller says that a value of the class lies there; of a reference type that is one aligned word.
    unsafe {
        if class.is_ptr() || class.is_fn_ptr() {
            return cx.box_value(cx.known(Known::IntPtr), at);
        }
        if !cx.load(class.is_value_type())? {
            return Ok(ObjRef::from_addr((at as *const usize).read()));
        }
        cx.box_value(class, at)
    }
}

/// An argument as an object; what a reference refers to is read, null if that is nothing.
///
/// # Safety
/// `words` are the argument's, of a call of that shape.
pub(crate) unsafe fn argument<'cx>(
    cx: &'cx Cx<'cx>,
    pass: &Pass,
    class: ClassRef,
    words: *const u64,
) -> Result<ObjRef<'cx>> {
    // SAFETY: the words are as the shape says; scratch memory has room for the value.
    unsafe {
        if let (true, Some(behind)) = (class.is_byref(), class.element()) {
            return match words.read() {
                0 => Ok(ObjRef::NULL),
                at => object_at(cx, behind, at as *const u8),
            };
        }
        match pass {
            Pass::None => Ok(ObjRef::NULL),
            Pass::Scalar(_) => object_at(cx, class, words as *const u8),
            Pass::Address => object_at(cx, class, words.read() as *const u8),
            Pass::Scalars(leaves) => {
                let scope = Scope::new(cx);
                let size = cx.load(class.layout())?.size as usize;
                let value = scope.bytes(size.next_multiple_of(8))?;
                for (i, &(offset, kind)) in leaves.iter().enumerate() {
                    crate::code::invoke::store_scalar(
                        value.add(offset as usize),
                        kind,
                        *words.add(i),
                    );
                }
                object_at(cx, class, value)
            }
        }
    }
}

/// Refuses to call a delegate that calls others asynchronously.
pub(crate) fn check_single<'cx>(cx: &'cx Cx<'cx>, delegate: ObjRef<'cx>) -> Result<()> {
    let others = delegate.read_ref(offset_of!(MulticastDelegateObject, delegates));
    match others.is_null() {
        true => Ok(()),
        false => Err(cx.throw(
            Known::ArgumentException,
            "The delegate must have only one target",
        )),
    }
}

/// What the words of a `BeginInvoke` hold: the arguments as objects, the callback and the state.
///
/// # Safety
/// As for [`begin`].
pub(crate) unsafe fn arguments<'cx>(
    cx: &'cx Cx<'cx>,
    method: MethodRef,
    words: *const u64,
) -> Result<(ObjRef<'cx>, ObjRef<'cx>, ObjRef<'cx>)> {
    let lowered = cx.load(LoweredSignature::of_method(method))?;
    let own = lowered.params.len().saturating_sub(2);
    let args = cx.alloc_array(cx.known(Known::Object), own)?;
    let mut used = 0;
    for i in 0..own {
        let (pass, class) = (&lowered.params[i], lowered.param_classes[i]);
        // SAFETY: the stub stored one word per parameter.
        args.set_element_ref(i, unsafe { argument(cx, pass, class, words.add(used))? });
        used += words_of(pass);
    }
    // SAFETY: the stub stored one word per parameter; the last two are the callback and the state, which are references.
    let (callback, state) = unsafe {
        (
            ObjRef::from_addr(*words.add(used) as usize),
            ObjRef::from_addr(*words.add(used + 1) as usize),
        )
    };
    Ok((args, callback, state))
}

/// What BeginInvoke gives back: an AsyncResult of the delegate, with the caller's state.
pub fn new_result<'cx>(
    cx: &'cx Cx<'cx>,
    delegate: ObjRef<'cx>,
    state: ObjRef<'cx>,
) -> Result<ObjRef<'cx>> {
    let result = cx.alloc(cx.known(Known::AsyncResult))?;
    result.write_ref(offset_of!(AsyncResult, async_delegate), delegate);
    result.write_ref(offset_of!(AsyncResult, async_state), state);
    Ok(result)
}

/// Delegate.BeginInvoke with its arguments in the words of its stub. The delegate calls no others.
///
/// # Safety
/// `words` are the arguments as the stub of that method stores them.
pub unsafe fn begin<'cx>(
    cx: &'cx Cx<'cx>,
    delegate: ObjRef<'cx>,
    method: MethodRef,
    words: *const u64,
) -> Result<ObjRef<'cx>> {
    // SAFETY: the caller's promise.
    let (args, callback, state) = unsafe { arguments(cx, method, words)? };
    let message = cx.alloc(cx.known(Known::MonoMethodMessage))?;
    message.write_ref(offset_of!(Message, args), args);
    let call = cx.alloc(cx.known(Known::MonoAsyncCall))?;
    call.write_ref(offset_of!(AsyncCall, msg), message);
    call.write_ref(offset_of!(AsyncCall, cb_target), callback);
    call.write_ref(offset_of!(AsyncCall, state), state);
    let result = new_result(cx, delegate, state)?;
    result.write_ref(offset_of!(AsyncResult, object_data), call);
    let queue = corlib_method(cx, Known::ThreadPool, "UnsafeQueueCustomWorkItem", 2)?;
    cx.run_class_init(cx.known(Known::ThreadPool))?;
    cx.invoke(queue, None, &[Value::Ref(result), Value::Int(0)])?;
    Ok(result)
}

/// NullReferenceException for an AsyncResult that `BeginInvoke` did not make: it stands for no call.
pub fn check<'cx>(cx: &'cx Cx<'cx>, result: ObjRef<'cx>) -> Result<()> {
    let result = cx.non_null(result)?;
    cx.non_null(result.read_ref(offset_of!(AsyncResult, async_delegate)))?;
    let call = cx.non_null(result.read_ref(offset_of!(AsyncResult, object_data)))?;
    if !std::ptr::eq(call.class(), cx.known(Known::MonoAsyncCall)) {
        return Err(cx.throw_default(Known::InvalidOperationException));
    }
    cx.non_null(call.read_ref(offset_of!(AsyncCall, msg)))?;
    Ok(())
}

/// The delegate and the arguments (an `object[]`) of the call an AsyncResult stands for.
pub fn target<'cx>(result: ObjRef<'cx>) -> (ObjRef<'cx>, ObjRef<'cx>) {
    let call = result.read_ref(offset_of!(AsyncResult, object_data));
    let message = call.read_ref(offset_of!(AsyncCall, msg));
    (
        result.read_ref(offset_of!(AsyncResult, async_delegate)),
        message.read_ref(offset_of!(Message, args)),
    )
}

/// The call is over: what it returned or threw is kept, who waits goes on, and the callback runs. What the arguments'
/// array holds now are the values of the by-reference parameters.
pub fn complete<'cx>(
    cx: &'cx Cx<'cx>,
    result: ObjRef<'cx>,
    outcome: std::result::Result<ObjRef<'cx>, ObjRef<'cx>>,
) -> Result<()> {
    let call = result.read_ref(offset_of!(AsyncResult, object_data));
    let message = call.read_ref(offset_of!(AsyncCall, msg));
    match outcome {
        Ok(value) => {
            call.write_ref(offset_of!(AsyncCall, res), value);
            let args = message.read_ref(offset_of!(Message, args));
            call.write_ref(offset_of!(AsyncCall, out_args), args);
        }
        Err(exception) => message.write_ref(offset_of!(Message, exc), exception),
    }
    monitor::enter(cx, result)?;
    result.write(offset_of!(AsyncResult, completed), 1u8);
    let handle = result.read_ref(offset_of!(AsyncResult, handle));
    monitor::exit(cx, result)?;
    if !handle.is_null() {
        let set = corlib_method(cx, Known::EventWaitHandle, "Set", 0)?;
        cx.invoke(set, Some(Value::Ref(handle)), &[])?;
    }
    let callback = call.read_ref(offset_of!(AsyncCall, cb_target));
    if !callback.is_null() {
        let invoke = super::invoke_method(cx, callback.class())?;
        cx.invoke(invoke, Some(Value::Ref(callback)), &[Value::Ref(result)])?;
    }
    Ok(())
}

/// The AsyncResult that an `EndInvoke` of the delegate is given.
///
/// # Safety
/// As for [`end`].
///
/// # Errors
/// It is none, or another delegate's.
pub(crate) unsafe fn result_of<'cx>(
    cx: &'cx Cx<'cx>,
    delegate: ObjRef<'cx>,
    method: MethodRef,
    words: *const u64,
) -> Result<ObjRef<'cx>> {
    let lowered = cx.load(LoweredSignature::of_method(method))?;
    let Some(last) = lowered.params.len().checked_sub(1) else {
        return Err(cx.throw_default(Known::InvalidProgramException));
    };
    // All parameters are references, so each is one word.
    // SAFETY: the stub stored one word per parameter.
    let result: ObjRef<'_> = unsafe { ObjRef::from_addr(*words.add(last) as usize) };
    if result.is_null() {
        return Err(cx.throw(
            Known::RemotingException,
            "The async result object is null or of an unexpected type.",
        ));
    }
    let ours = std::ptr::eq(result.class(), cx.known(Known::AsyncResult))
        && result.read_ref(offset_of!(AsyncResult, async_delegate)) == delegate;
    if !ours {
        return Err(cx.throw(
            Known::InvalidOperationException,
            "The IAsyncResult object provided does not match this delegate.",
        ));
    }
    Ok(result)
}

/// Delegate.EndInvoke with its arguments in the words of its stub; its result goes to `out` as it lies in memory. The AsyncResult is [`result_of`] these.
///
/// # Safety
/// `words` are the arguments as the stub of that method stores them, and `out` has room for its result.
pub unsafe fn end<'cx>(
    cx: &'cx Cx<'cx>,
    delegate: ObjRef<'cx>,
    result: ObjRef<'cx>,
    method: MethodRef,
    words: *const u64,
    out: *mut u8,
) -> Result<()> {
    wait(cx, result)?;
    let call = result.read_ref(offset_of!(AsyncResult, object_data));
    let message = call.read_ref(offset_of!(AsyncCall, msg));
    let exception = message.read_ref(offset_of!(Message, exc));
    if !exception.is_null() {
        return Err(cx.throw_object(exception));
    }
    let values = call.read_ref(offset_of!(AsyncCall, out_args));
    let lowered = cx.load(LoweredSignature::of_method(method))?;
    // SAFETY: the caller's promise.
    unsafe { give_back(cx, delegate, words, |_, i| Ok(values.element_ref(i)))? };
    if !matches!(lowered.ret, Pass::None) {
        let value = call.read_ref(offset_of!(AsyncCall, res));
        store(cx, lowered.ret_class, out, value)?;
    }
    Ok(())
}

/// Stores the values of by-reference parameters where the words of an `EndInvoke` say: `value` gets the number among the by-reference parameters, and the parameter's.
///
/// # Safety
/// As for [`end`].
pub(crate) unsafe fn give_back<'cx>(
    cx: &'cx Cx<'cx>,
    delegate: ObjRef<'cx>,
    words: *const u64,
    value: impl Fn(usize, usize) -> Result<ObjRef<'cx>>,
) -> Result<()> {
    let invoke = cx.load(super::invoke_method(cx, delegate.class())?.sig())?;
    let by_reference = (0..invoke.params.len()).filter(|i| invoke.params[*i].is_byref());
    for (k, i) in by_reference.enumerate() {
        // SAFETY: `EndInvoke` has these parameters, then the AsyncResult; the word is the address of a variable of the parameter's type.
        let to = unsafe { *words.add(k) } as *mut u8;
        if let (false, Some(class)) = (to.is_null(), invoke.params[i].element()) {
            store(cx, class, to, value(k, i)?)?;
        }
    }
    Ok(())
}

/// Waits for the call's end, the first time; a second one is an error.
fn wait<'cx>(cx: &'cx Cx<'cx>, result: ObjRef<'cx>) -> Result<()> {
    monitor::enter(cx, result)?;
    let called = result.read::<u8>(offset_of!(AsyncResult, endinvoke_called)) != 0;
    result.write(offset_of!(AsyncResult, endinvoke_called), 1u8);
    let completed = result.read::<u8>(offset_of!(AsyncResult, completed)) != 0;
    monitor::exit(cx, result)?;
    if called {
        return Err(cx.throw(
            Known::InvalidOperationException,
            "Delegate EndInvoke method called more than once",
        ));
    }
    if completed {
        return Ok(());
    }
    let handle = corlib_method(cx, Known::AsyncResult, "get_AsyncWaitHandle", 0)?;
    if let Value::Ref(handle) = cx.invoke(handle, Some(Value::Ref(result)), &[])? {
        let wait = corlib_method(cx, Known::WaitHandle, "WaitOne", 0)?;
        crate::code::invoke::invoke_virtual(cx, wait, handle, &[])?;
    }
    Ok(())
}

/// Stores an object as a value of a class.
pub(crate) fn store<'cx>(
    cx: &'cx Cx<'cx>,
    class: ClassRef,
    to: *mut u8,
    value: ObjRef<'cx>,
) -> Result<()> {
    // SAFETY: the caller gives room for a value of that class; a box holds one of its class.
    unsafe {
        if class.is_ptr() || class.is_fn_ptr() {
            (to as *mut usize).write_unaligned(pointer_in(cx, value)?);
            return Ok(());
        }
        if !cx.load(class.is_value_type())? {
            crate::object::store_ref(to as *mut usize, value);
            return Ok(());
        }
        let layout = cx.load(class.layout())?;
        let (size, refs) = (layout.size as usize, !layout.ref_map.is_empty());
        match (value.non_null(), class.nullable_arg()) {
            (None, _) => crate::memory::copy::clear_value(to, size, refs),
            (Some(v), Some(_)) => crate::classes::nullable::unbox_nullable_into(cx, v, class, to)?,
            (Some(v), None) => crate::memory::copy::copy_value(to, v.value_ptr(), size, refs),
        }
    }
    Ok(())
}

/// The address in a boxed IntPtr or Pointer; null is 0.
fn pointer_in<'cx>(cx: &'cx Cx<'cx>, value: ObjRef<'cx>) -> Result<usize> {
    let Some(value) = value.non_null() else {
        return Ok(0);
    };
    if !std::ptr::eq(value.class(), cx.known(Known::Pointer)) {
        // SAFETY: a box of a native integer.
        return Ok(unsafe { (value.value_ptr() as *const usize).read() });
    }
    match cx.load(value.class().find_field("_ptr"))? {
        Some(field) => Ok(value.read((HEADER_SIZE + cx.load(field.offset())?) as usize)),
        None => Ok(0),
    }
}
