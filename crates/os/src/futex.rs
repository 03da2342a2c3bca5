//! Waiting for a word to change, and waking those who wait.
//!
//! # Invariants
//! Nothing here takes memory or a lock: signal handlers and a collector whose world is stopped may call it. A wait may
//! end for no reason; callers look at the word again.
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Sleeps while `word` holds `seen`, at most as long as `limit` says.
pub fn wait(word: &AtomicU32, seen: u32, limit: Option<Duration>) {
    let time = limit.map(|d| libc::timespec {
        tv_sec: d.as_secs().min(i64::MAX as u64) as i64,
        tv_nsec: i64::from(d.subsec_nanos()),
    });
    let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the word and the time live for the length of the call.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            seen,
            time,
        );
    }
}

/// Wakes at most `count` of those who sleep on `word`.
pub fn wake(word: &AtomicU32, count: i32) {
    // SAFETY: the kernel uses the word's address as a key only.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            count,
        );
    }
}
