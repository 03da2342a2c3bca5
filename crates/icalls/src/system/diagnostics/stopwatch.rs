//! Native half of System.Diagnostics.Stopwatch.
//!
//! Keeps nothing.
use vervet_runtime::icalls;

icalls! {
    /// The monotonic clock in units of 100 ns.
    "System.Diagnostics.Stopwatch::GetTimestamp" fn get_timestamp(cx) -> i64 { Ok(vervet_runtime::threads::wait_handles::filetime::monotonic_ticks()) }
}
