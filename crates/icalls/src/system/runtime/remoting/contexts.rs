//! Native half of System.Runtime.Remoting.Contexts.Context.
//!
//! Keeps nothing: a context has no native data here.
use vervet_runtime::icalls;
use vervet_runtime::object::ObjRef;

icalls! {
    /// The context's native data: there are none.
    "System.Runtime.Remoting.Contexts.Context::RegisterContext" fn register_context(cx, context: ObjRef<'cx>) { Ok(()) }
    /// There are no native data to free.
    "System.Runtime.Remoting.Contexts.Context::ReleaseContext" fn release_context(cx, context: ObjRef<'cx>) { Ok(()) }
}
