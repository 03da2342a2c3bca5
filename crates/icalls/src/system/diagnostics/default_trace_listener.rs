//! Native half of System.Diagnostics.DefaultTraceListener.
//!
//! Keeps nothing.
use crate::support::args::Chars;
use vervet_runtime::icalls;

icalls! {
    /// Windows only: nothing.
    "System.Diagnostics.DefaultTraceListener::WriteWindowsDebugString" fn write_windows_debug_string(cx, message: Chars<'cx>) { Ok(()) }
}
