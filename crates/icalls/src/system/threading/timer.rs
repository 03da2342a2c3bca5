//! Native half of System.Threading.Timer.
//!
//! Keeps nothing: the class library has the queue of timers.
use vervet_runtime::icalls;

icalls! {
    /// The monotonic clock in units of 100 ns.
    "System.Threading.Timer::GetTimeMonotonic" fn get_time_monotonic(cx) -> i64 { Ok(vervet_runtime::threads::wait_handles::filetime::monotonic_ticks()) }
}
