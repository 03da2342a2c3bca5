//! The methods of delegates around native functions, as reflection shows them.
//!
//! Such a delegate calls its function by a thunk that its class's delegates share, so most need no method. [`method_of`] makes it when a program asks for
//! `Delegate.Method`: one for each function and delegate class.
//!
//! # Invariants
//! The field `extra_arg` of a delegate holds the address of a native function, or 0 if it calls a method.
use crate::cx::{Cx, Result};
use crate::object::ObjRef;
use rustc_hash::FxHashMap;
use std::mem::offset_of;
use vervet_abi::layouts::DelegateObject;
use vervet_os::LeafLock;
use vervet_types::MethodRef;

/// By address, and the id of `Invoke`.
static METHODS: LeafLock<Option<FxHashMap<(usize, u32), MethodRef>>> = LeafLock::new(None);

/// The address of the native function that a delegate calls. None: it calls a method.
pub fn address_in(delegate: ObjRef<'_>) -> Option<usize> {
    let address: usize = delegate.read(offset_of!(DelegateObject, extra_arg));
    (address != 0).then_some(address)
}

/// The method that stands for the native function of a delegate. None: the delegate calls a method.
pub fn method_of<'cx>(cx: &'cx Cx<'cx>, delegate: ObjRef<'cx>) -> Result<Option<MethodRef>> {
    let Some(address) = address_in(delegate) else {
        return Ok(None);
    };
    let invoke = crate::interop::delegates::invoke_method(cx, delegate.class())?;
    // The signature may load types, which is not done under the lock.
    cx.load(invoke.sig())?;
    let mut methods = METHODS.lock();
    let methods = methods.get_or_insert_default();
    if let Some(known) = methods.get(&(address, invoke.id)) {
        return Ok(Some(known));
    }
    let made = cx.load(cx.universe().add_native_function(address, invoke))?;
    methods.insert((address, invoke.id), made);
    Ok(Some(made))
}
