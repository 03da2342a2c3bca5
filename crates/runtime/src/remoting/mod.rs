//! Transparent proxies: objects that stand for others, in another context, domain or process.
//!
//! # How it works
//! A transparent proxy has the fields of `TransparentProxy` and a VTable of its own, which says [`PROXY`] and names the class that the proxy stands for, with
//! its ancestors. So casts and `GetType` need no test for proxies. What a proxy does is up to its real proxy, an object of the class library.
//!
//! ```text
//!   proxy.Virtual(), proxy.Interface()    slots of the proxy's VTable hold stubs of `stubs`
//!   proxy.NonVirtual()                    generated code tests the VTable, if the class derives from MarshalByRefObject, and asks `stubs` for the code
//!   proxy.field                           likewise; `fields`
//!   (C)proxy, proxy is I                  by the VTable; if that says no, `classes` asks the real proxy
//!   new C()                               generated code tests the VTable of C; `activation`
//!   delegate.BeginInvoke(), EndInvoke()   the target may be a proxy; `asynchronous`
//!
//!   stub --> RemoteInvoke helper --> `calls`: boxes the arguments, makes a message, calls RealProxy.PrivateInvoke, stores what comes back
//! ```
//!
//! # Invariants
//! * Only objects whose VTable says `PROXY` are transparent proxies, and their layout is that of `TransparentProxy` whatever class the VTable names. So code that
//!   reads fields of a MarshalByRefObject has tested the VTable, or has `this` of a method that runs on the object itself.
//! * A method of a MarshalByRefObject runs on the object itself, never on a proxy for it: every way to call one goes through a test or a stub. A method of a
//!   ContextBoundObject has the object's own proxy as `this` (finalizers have the object), so accesses of its fields are tested there, too, as are those of
//!   MarshalByRefObject itself. Nothing that a program can get at refers to the object.
//!
//! [`PROXY`]: vervet_abi::vtable::remoting::PROXY
pub mod across;
pub mod activation;
pub mod asynchronous;
pub mod calls;
pub mod classes;
mod counterpart;
pub mod fields;
mod native_objects;
pub mod stubs;
mod values;

use crate::object::ObjRef;
use std::sync::atomic::Ordering;
use vervet_abi::VTable;
use vervet_abi::vtable::remoting;

/// Are the objects of that VTable transparent proxies?
#[inline]
pub fn is_proxy_vtable(vtable: &VTable) -> bool {
    vtable.remoting.load(Ordering::Relaxed) & remoting::PROXY != 0
}

/// Is it a transparent proxy? Null is none.
#[inline]
pub fn is_proxy(object: ObjRef<'_>) -> bool {
    !object.is_null() && is_proxy_vtable(object.vtable())
}
