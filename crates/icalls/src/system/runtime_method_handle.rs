//! Native half of System.RuntimeMethodHandle.
//!
//! Keeps nothing.
use crate::support::handles;
use vervet_runtime::icalls;

icalls! {
    /// The method's permanent entry.
    "System.RuntimeMethodHandle::GetFunctionPointer" fn get_function_pointer(cx, handle: usize) -> usize {
        let method = handles::method(cx, handle)?;
        Ok(cx.load(vervet_runtime::code::entries::entry(method))?.stub())
    }
}
