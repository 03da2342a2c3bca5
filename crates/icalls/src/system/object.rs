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
        cx.type_object(cx.non_null(this)?.class())
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
