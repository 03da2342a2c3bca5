//! `new` of classes whose objects may be remote: context-bound ones, imported COM classes, and those for which the class library has said so.
//!
//! # How it works
//! Generated code tests the bit `ACTIVATION` of the class's VTable at `newobj`, and so does what calls constructors by reflection. Context-bound and COM classes have it from the start; for other classes the class library sets it when
//! they get a ProxyAttribute, or when a configuration says that they are activated elsewhere. The constructor then runs on what [`allocate`] gives: on a proxy it is a
//! message like any other call.
//!
//! # Invariants
//! The bit belongs to the VTable, so to one domain: what a domain's configuration says holds there only.
use crate::classes::vtables::{class_of, is_always_asked};
use crate::cx::{Cx, Result, Value};
use crate::memory::allocate;
use crate::object::ObjRef;
use std::sync::atomic::Ordering;
use vervet_abi::VTable;
use vervet_abi::vtable::remoting;
use vervet_types::{ClassRef, Known};

/// A new object of the class: a proxy, if the class library gives one; its constructor has not run.
pub fn allocate<'cx>(cx: &'cx Cx<'cx>, vtable: &'static VTable) -> Result<ObjRef<'cx>> {
    let create = cx.known_method(Known::ActivationServices, "CreateProxyForType", 1)?;
    let ty = cx.type_object(class_of(vtable))?;
    cx.run_class_init(cx.known(Known::ActivationServices))?;
    match cx.invoke(create, None, &[Value::Ref(ty)])? {
        Value::Ref(proxy) if !proxy.is_null() => Ok(proxy),
        _ => allocate::alloc_object(cx, vtable),
    }
}

/// May `new` of the class give a proxy?
pub fn is_asked<'cx>(cx: &'cx Cx<'cx>, class: ClassRef) -> Result<bool> {
    Ok(is_asked_of(cx.rt().vtable_or_throw(cx, class)?))
}

/// May `new` of the class of the VTable give a proxy?
#[inline]
pub fn is_asked_of(vtable: &VTable) -> bool {
    vtable.remoting.load(Ordering::Relaxed) & remoting::ACTIVATION != 0
}

/// A new object of the class, whose constructor has not run, for what makes objects without generated code. It may be a proxy.
pub fn make<'cx>(cx: &'cx Cx<'cx>, class: ClassRef) -> Result<ObjRef<'cx>> {
    let vtable = cx.rt().vtable_or_throw(cx, class)?;
    match vtable.remoting.load(Ordering::Relaxed) & remoting::ACTIVATION {
        0 => cx.alloc(class),
        _ => allocate(cx, vtable),
    }
}

/// Says whether `new` of the class asks the class library.
pub fn enable<'cx>(cx: &'cx Cx<'cx>, class: ClassRef, on: bool) -> Result<()> {
    let vtable = cx.rt().vtable_or_throw(cx, class)?;
    if on || cx.load(is_always_asked(class))? {
        (vtable.remoting).fetch_or(remoting::ACTIVATION, Ordering::SeqCst);
    } else {
        (vtable.remoting).fetch_and(!remoting::ACTIVATION, Ordering::SeqCst);
    }
    Ok(())
}
