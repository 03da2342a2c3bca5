//! Native half of System.Object.
//!
//! Keeps nothing: the identity hash lives in the object's sync word.
use vervet_runtime::ObjRef;
use vervet_runtime::{icalls, remoting};

icalls! {
    /// The Type object of the object's class.
    "System.Object::GetType" fn get_type(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        if remoting::is_proxy(this) {
            return cx.type_object(remoting::classes::proxied_class(this));
        }
        let vt = cx.non_null(this)?.vtable();
        let root = cx.domain().type_root(cx, this.class())?;
        // Compiled code finds it there from now on. (A VTable may have been made after the Type object.)
        if vt.domain == cx.domain().id {
            vt.type_root.store(root.address(), std::sync::atomic::Ordering::Release);
        }
        Ok(root.get())
    }
    /// A copy of the object's fields in a new object of its class.
    "System.Object::MemberwiseClone" fn memberwise_clone(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        vervet_runtime::memory::allocate::clone_object(cx, cx.non_null(this)?)
    }
    /// 0 for null.
    "System.Object::InternalGetHashCode" fn internal_get_hash_code(cx, o: ObjRef<'cx>) -> i32 {
        Ok(if o.is_null() { 0 } else { vervet_runtime::threads::monitor::identity_hash(o) as i32 })
    }
}
