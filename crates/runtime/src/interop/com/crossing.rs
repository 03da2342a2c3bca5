//! Objects as they cross between managed and native code by COM interfaces, and calls of the functions of IUnknown, which every interface has.
//!
//! # Invariants
//! What crosses to native code for the time of a call is no reference: native code adds those that it keeps.
use super::{
    Guid, Interface, function, interface_of, is_dispatchable, no_interface, object_of,
    owe_reference, rcw,
};
use crate::classes::casts::is_assignable;
use crate::cx::{Cx, Result};
use crate::object::ObjRef;
use crate::remoting;
use vervet_types::ClassRef;

/// The address of an interface of an object, which is native code's for the time of a call: no reference is added. 0 for null.
pub fn to_native<'cx>(
    cx: &'cx Cx<'cx>,
    object: ObjRef<'cx>,
    interface: Interface,
) -> Result<usize> {
    let Some(object) = object.non_null() else {
        return Ok(0);
    };
    match (rcw::behind(object), interface) {
        (Some(native), Interface::Unknown) => rcw::property(cx, native, "get_IUnknown"),
        (Some(native), Interface::Dispatch) => rcw::property(cx, native, "get_IDispatch"),
        (Some(native), Interface::Of(class)) => rcw::declared_interface(cx, native, class),
        (None, Interface::Dispatch) if !is_dispatchable(object.class()) => Err(no_interface(cx)),
        (None, interface) => interface_of(cx, object, interface),
    }
}

/// As [`to_native`], for a caller that adds a reference next: it is owed one until then, so that the object stays.
pub fn to_keep<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>, interface: Interface) -> Result<usize> {
    let at = to_native(cx, object, interface)?;
    if let Some(object) = object.non_null()
        && rcw::behind(object).is_none()
    {
        owe_reference(cx, object)?;
    }
    Ok(at)
}

/// The object that an interface belongs to, which may be a proxy for one of native code. Null for 0; InvalidCastException if it is no instance of the class.
pub fn to_managed<'cx>(cx: &'cx Cx<'cx>, interface: usize, class: ClassRef) -> Result<ObjRef<'cx>> {
    if interface == 0 {
        return Ok(ObjRef::NULL);
    }
    let object = match object_of(interface) {
        Some(object) => object,
        None => rcw::proxy_of(cx, interface)?,
    };
    let is_instance = match remoting::is_proxy(object) {
        true => remoting::classes::is_instance(cx, object, class)?,
        false => cx.load(is_assignable(cx.universe(), object.class(), class))?,
    };
    match is_instance {
        true => Ok(object),
        false => Err(no_interface(cx)),
    }
}

/// Calls AddRef or Release of any interface.
fn call_counter<'cx>(cx: &'cx Cx<'cx>, interface: usize, number: i64) -> i32 {
    type Function = extern "C" fn(usize) -> i32;
    // SAFETY: it is the address of a COM interface: its first word is the address of a table of functions, of which AddRef and Release take the interface.
    let function: Function = unsafe {
        let functions = *(interface as *const *const usize);
        std::mem::transmute::<usize, Function>(*functions.add(number as usize))
    };
    cx.native(|| function(interface))
}

/// Adds a reference to whatever object the interface belongs to; how many there are.
pub fn add_reference<'cx>(cx: &'cx Cx<'cx>, interface: usize) -> i32 {
    call_counter(cx, interface, function::ADD_REF)
}

/// Lets a reference go; how many are left.
pub fn release<'cx>(cx: &'cx Cx<'cx>, interface: usize) -> i32 {
    call_counter(cx, interface, function::RELEASE)
}

/// Asks an interface of whatever object for another one: the HRESULT, and its address with a reference.
pub fn query_any<'cx>(cx: &'cx Cx<'cx>, interface: usize, guid: &Guid) -> (i32, usize) {
    type Function = extern "C" fn(usize, *const u8, *mut usize) -> i32;
    // SAFETY: it is the address of a COM interface, of whose table of functions QueryInterface is the first; a Guid has 16 bytes.
    let function: Function = unsafe {
        let functions = *(interface as *const *const usize);
        std::mem::transmute::<usize, Function>(*functions)
    };
    let mut found = 0;
    let result = cx.native(|| function(interface, guid.as_ptr(), &raw mut found));
    (result, found)
}

/// As [`query_any`]; none if it refuses.
pub(super) fn query_native<'cx>(cx: &'cx Cx<'cx>, interface: usize, guid: &Guid) -> Option<usize> {
    let (result, found) = query_any(cx, interface, guid);
    (result >= 0 && found != 0).then_some(found)
}
