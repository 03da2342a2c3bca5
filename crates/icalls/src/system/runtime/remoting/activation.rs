//! Native half of System.Runtime.Remoting.Activation.ActivationServices.
//!
//! Keeps nothing.
use vervet_runtime::icalls;
use vervet_runtime::memory::allocate;
use vervet_runtime::object::ObjRef;
use vervet_runtime::remoting;
use vervet_types::Known;

icalls! {
    /// Says whether `new` of a type asks the class library for a proxy.
    "System.Runtime.Remoting.Activation.ActivationServices::EnableProxyActivation" fn enable_proxy_activation(cx, ty: ObjRef<'cx>, enable: bool) {
        remoting::activation::enable(cx, cx.class_of(ty)?, enable)
    }
    /// A zeroed object of which no constructor runs.
    "System.Runtime.Remoting.Activation.ActivationServices::AllocateUninitializedClassInstance" fn allocate_uninitialized_class_instance(cx, ty: ObjRef<'cx>) -> ObjRef<'cx> {
        let class = cx.class_of(ty)?;
        if class.is_array() {
            let vt = cx.rt().vtable_or_throw(cx, class)?;
            return allocate::alloc_array(cx, vt, 0);
        }
        if std::ptr::eq(class, cx.known(Known::String)) {
            return cx.alloc_str("");
        }
        if class.is_interface() || class.is_abstract() || class.is_ptr() || class.is_fn_ptr() || class.is_byref() || class.is_generic_param() {
            return Err(cx.throw2(Known::ArgumentException, "Type cannot be instantiated", "type"));
        }
        cx.alloc(class)
    }
}
