//! The unit and the epoch of the times that the class library gets: FILETIMEs.
//!
//! A FILETIME counts ticks of 100 ns since 1601-01-01 UTC. Durations are counted in the same ticks.

/// Ticks from 1601-01-01 to 1970-01-01, both UTC.
pub const UNIX_EPOCH: i64 = 116_444_736_000_000_000;

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
pub fn now() -> i64 {
    clock(libc::CLOCK_REALTIME) + UNIX_EPOCH
}
