//! Native half of System.RuntimeMethodHandle.
//!
//! Keeps nothing.
use crate::support::handles;
use vervet_runtime::code::icall::Handle;
use vervet_runtime::icalls;
use vervet_types::Method;

icalls! {
    /// The method's permanent entry.
    "System.RuntimeMethodHandle::GetFunctionPointer" fn get_function_pointer(cx, handle: Handle<Method>) -> usize {
        let method = handles::method(cx, handle)?;
        Ok(cx.load(vervet_runtime::code::entries::entry(cx.domain(), method))?.stub())
    }
}
