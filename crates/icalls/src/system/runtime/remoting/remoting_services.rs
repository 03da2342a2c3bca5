//! Native half of System.Runtime.Remoting.RemotingServices.
//!
//! Keeps nothing.
use crate::support::invoke;
use crate::support::objects::{method_object, method_of};
use vervet_runtime::icalls;
use vervet_runtime::object::ObjRef;

icalls! {
    /// There are no proxies yet.
    "System.Runtime.Remoting.RemotingServices::IsTransparentProxy" fn is_transparent_proxy(cx, object: ObjRef<'cx>) -> bool { Ok(false) }
    /// What a call of a method on an object of a type reaches.
    "System.Runtime.Remoting.RemotingServices::GetVirtualMethod" fn get_virtual_method(cx, ty: ObjRef<'cx>, method: ObjRef<'cx>) -> ObjRef<'cx> {
        let class = cx.class_of(ty)?;
        let method = method_of(cx, method)?;
        let reached = cx.load(invoke::virtual_target(class, method))?;
        method_object(cx, reached, None)
    }
}
