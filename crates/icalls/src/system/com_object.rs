//! Native half of System.__ComObject.
//!
//! Keeps nothing: the runtime's `interop::com` has the interfaces.
use vervet_runtime::interop::com::rcw;
use vervet_runtime::{ObjRef, icalls};

icalls! {
    /// The address of an interface; 0 or InvalidCastException if the object does not have it.
    "System.__ComObject::GetInterfaceInternal" fn get_interface(cx, this: ObjRef<'cx>, ty: ObjRef<'cx>, throws: bool) -> usize {
        let class = cx.class_of(cx.non_null(ty)?)?;
        rcw::interface_of(cx, cx.non_null(this)?, class, throws)
    }
    /// Lets the object of native code go.
    "System.__ComObject::ReleaseInterfaces" fn release_interfaces(cx, this: ObjRef<'cx>) {
        rcw::release_interfaces(cx, cx.non_null(this)?);
        Ok(())
    }
}
