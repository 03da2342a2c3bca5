//! Native half of System.Runtime.Remoting.Contexts.Context.
//!
//! Keeps nothing: the runtime's `context_statics` has the blocks of contexts.
use vervet_runtime::icalls;
use vervet_runtime::memory::context_statics;
use vervet_runtime::object::ObjRef;

icalls! {
    /// A context gets native data when its statics are first used.
    "System.Runtime.Remoting.Contexts.Context::RegisterContext" fn register_context(cx, context: ObjRef<'cx>) { Ok(()) }
    /// Frees them: the Context is being finalized.
    "System.Runtime.Remoting.Contexts.Context::ReleaseContext" fn release_context(cx, context: ObjRef<'cx>) {
        if let Some(context) = context.non_null() {
            context_statics::release(context);
        }
        Ok(())
    }
}
