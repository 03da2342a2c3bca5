//! Native half of System.DateTime.
//!
//! Keeps nothing.
use vervet_runtime::icalls;
use vervet_runtime::threads::wait_handles::filetime;

icalls! {
    /// The time in units of 100 ns since 1601-01-01 UTC.
    "System.DateTime::GetSystemTimeAsFileTime" fn get_system_time_as_file_time(cx) -> i64 { Ok(filetime::now()) }
}
