//! Native half of System.Diagnostics.Debugger.
//!
//! Keeps nothing: the answers are constant.
use vervet_runtime::{ObjRef, icalls};

icalls! {
    /// No debugger can be attached.
    "System.Diagnostics.Debugger::IsAttached_internal" fn is_attached_internal(cx) -> bool { Ok(false) }
    /// No debugger listens.
    "System.Diagnostics.Debugger::IsLogging" fn is_logging(cx) -> bool { Ok(false) }
    /// Messages for a debugger are dropped.
    "System.Diagnostics.Debugger::Log" fn log(cx, level: i32, category: ObjRef<'cx>, message: ObjRef<'cx>) { Ok(()) }
}
