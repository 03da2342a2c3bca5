//! Native half of System.Diagnostics.Stopwatch.
//!
//! Keeps nothing.
use vervet_runtime::icalls;

icalls! {
    "System.Diagnostics.Stopwatch::GetTimestamp" fn get_timestamp(cx) -> i64 { Ok(vervet_runtime::threads::wait_handles::filetime::monotonic_ticks()) }
}
