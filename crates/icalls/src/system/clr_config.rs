//! Native half of System.CLRConfig.
//!
//! Keeps nothing: the answers are constant.
use vervet_runtime::icalls;

icalls! {
    /// Off, as in mono: an unobserved exception of a task does not end the process.
    "System.CLRConfig::CheckThrowUnobservedTaskExceptions" fn check_throw_unobserved_task_exceptions(cx) -> bool { Ok(false) }
}
