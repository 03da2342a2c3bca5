//! Native half of System.DateTime, and the clocks that other classes read.
//!
//! Keeps nothing. A tick is 100 ns.
use vervet_runtime::icalls;

/// Ticks from 1601-01-01 to 1970-01-01, both UTC.
pub const EPOCH_AS_FILETIME: i64 = 116_444_736_000_000_000;

fn clock(id: libc::clockid_t) -> i64 {
    // SAFETY: clock_gettime fills the record.
    unsafe {
        let mut t: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(id, &mut t);
        t.tv_sec * 10_000_000 + t.tv_nsec / 100
    }
}
/// Ticks of the monotonic clock.
pub fn monotonic_ticks() -> i64 {
    clock(libc::CLOCK_MONOTONIC)
}
/// Ticks since 1601-01-01 UTC.
pub fn filetime_now() -> i64 {
    clock(libc::CLOCK_REALTIME) + EPOCH_AS_FILETIME
}

icalls! { "System.DateTime" =>
    "GetSystemTimeAsFileTime" fn get_system_time_as_file_time(cx) -> i64 { Ok(filetime_now()) }
}
