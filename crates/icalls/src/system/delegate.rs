//! Native half of System.Delegate.
//!
//! Keeps nothing: the runtime's `delegates` fill the object.
use crate::support::invoke;
use crate::support::objects::{load, method_object, method_of};
use std::mem::offset_of;
use vervet_abi::layouts::DelegateObject;
use vervet_runtime::code::{entries, first_call};
use vervet_runtime::icalls;
use vervet_runtime::interop::delegates;
use vervet_runtime::interop::marshal::native_functions;
use vervet_runtime::object::ObjRef;
use vervet_runtime::remoting;
use vervet_types::Known;

icalls! {
    /// A delegate over a method that managed code has found to fit; with a target, over what the target makes of it.
    "System.Delegate::CreateDelegate_internal" fn create_delegate_internal(cx, ty: ObjRef<'cx>, target: ObjRef<'cx>, info: ObjRef<'cx>, throw_on_bind_failure: bool) -> ObjRef<'cx> {
        let class = cx.class_of(ty)?;
        if !load(cx, || class.is_delegate())? {
            return Err(cx.throw2(Known::ArgumentException, "type is not a subclass of Multicastdelegate", "type"));
        }
        let mut method = method_of(cx, info)?;
        if method.generic_arity > 0 && method.method_args().is_empty() {
            if throw_on_bind_failure {
                return Err(cx.throw2(Known::ArgumentException, "Cannot bind to the target method because its signature differs from that of the delegate type", "method"));
            }
            return Ok(ObjRef::NULL);
        }
        // A box of the value is no Nullable: its methods would read behind it.
        if !target.is_null() && !method.is_static() && method.class.is_nullable() {
            if throw_on_bind_failure {
                return Err(cx.throw2(Known::ArgumentException, "A delegate cannot be bound to a value of a Nullable type", "firstArgument"));
            }
            return Ok(ObjRef::NULL);
        }
        // The callee would take the reference for the value.
        if !target.is_null() && method.is_static() {
            let first = load(cx, || method.sig())?.params.first();
            let is_value = match first {
                Some(first) => load(cx, || first.is_value_type())?,
                None => false,
            };
            if is_value {
                if throw_on_bind_failure {
                    return Err(cx.throw2(Known::ArgumentException, "A delegate cannot be closed over a first argument that is a value", "firstArgument"));
                }
                return Ok(ObjRef::NULL);
            }
        }
        let open_virtual = target.is_null() && method.is_virtual() && !method.is_static();
        if let Some(t) = target.non_null()
            && method.is_virtual()
            && !method.is_static()
            // A proxy has no method of its own.
            && !remoting::is_proxy(t)
        {
            method = load(cx, || invoke::virtual_target(t.class(), method))?;
        }
        // Of a DynamicMethod the code is made here, and what is wrong with its IL is found, as in mono.
        if method.is_dynamic() {
            first_call::code_of(cx, load(cx, || entries::entry(cx.domain(), method))?)?;
        }
        let delegate = cx.alloc(class)?;
        delegates::init(cx, delegate, target, method, open_virtual)?;
        Ok(delegate)
    }
    /// An empty delegate of the same class, for several targets.
    "System.Delegate::AllocDelegateLike_internal" fn alloc_delegate_like_internal(cx, delegate: ObjRef<'cx>) -> ObjRef<'cx> {
        delegates::alloc_multicast_like(cx, cx.non_null(delegate)?)
    }
    /// The method that a call reaches.
    "System.Delegate::GetVirtualMethod_internal" fn get_virtual_method_internal(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        if let Some(method) = native_functions::method_of(cx, this)? {
            return method_object(cx, method, None);
        }
        // SAFETY: the runtime stored the method in the delegate when it filled it.
        let handle = unsafe { crate::support::handles::in_object(this, offset_of!(DelegateObject, method)) };
        let method = crate::support::handles::method(cx, handle)?;
        let target = this.read_ref(offset_of!(DelegateObject, m_target));
        let reached = match target.non_null() {
            Some(t) if !remoting::is_proxy(t) => load(cx, || invoke::virtual_target(t.class(), method))?,
            _ => method,
        };
        method_object(cx, reached, None)
    }
}
