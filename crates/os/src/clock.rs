//! Monotonic time.
//!
//! # Invariants
//! Takes no memory and no lock, so that it may be asked for while the world is stopped.

/// Nanoseconds since some moment before the process.
pub fn now() -> u64 {
    // SAFETY: a place of this frame; answered without entering the kernel.
    unsafe {
        let mut t: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut t);
        t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
    }
}

/// Milliseconds of the same clock as the last timer tick of the kernel saw it, which is some milliseconds ago at most. This is a fifth of the
/// work of [`now`].
pub fn coarse_ms() -> u64 {
    // SAFETY: a place of this frame; answered without entering the kernel.
    unsafe {
        let mut t: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &mut t);
        t.tv_sec as u64 * 1_000 + t.tv_nsec as u64 / 1_000_000
    }
}

/// Nanoseconds that the calling thread has been on a processor. A system call.
pub fn thread_cpu() -> u64 {
    // Miri has no such clock.
    if cfg!(miri) {
        return now();
    }
    // SAFETY: a place of this frame.
    unsafe {
        let mut t: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t);
        t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
    }
}
