//! Timers of processor time: each thread has one, whose signal goes to it.
//!
//! # Invariants
//! * A timer is made and deleted under the lock of the list of threads, for a thread on the
//!   list.
//! * The timer's signal carries the address of the thread's record. A signal that comes late
//!   finds a thread whose record is another one, or is closed.
//! * A timer fires at the kernel's ticks; periods that are shorter count as overruns, so the
//!   sum of the weights is right at any frequency.
use super::lane::Sampled;
use crate::safepoint::registry::Thread;
use std::sync::atomic::{AtomicU64, Ordering};

/// Threads that got no timer (RLIMIT_SIGPENDING), and are not seen.
static REFUSED: AtomicU64 = AtomicU64::new(0);

/// The clock of the processor time of a thread of this process, as the kernel encodes it.
pub(super) fn clock_of(tid: i32) -> libc::clockid_t {
    const PER_THREAD: i32 = 4;
    const SCHEDULER: i32 = 2;
    (!tid << 3) | PER_THREAD | SCHEDULER
}

/// Gives the thread a timer with that period in nanoseconds, if it has none.
pub(super) fn make(thread: &Thread, period: u32) {
    if thread.sampled.timer.load(Ordering::Relaxed) >= 0 {
        return;
    }
    let tid = thread.tid.load(Ordering::Relaxed);
    // SAFETY: complete records. The raw calls store the kernel's number of the timer.
    unsafe {
        let mut event: libc::sigevent = std::mem::zeroed();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = libc::SIGPROF;
        event.sigev_notify_thread_id = tid;
        event.sigev_value.sival_ptr = std::ptr::from_ref(thread).cast_mut().cast();
        let mut timer = -1i32;
        let made = libc::syscall(
            libc::SYS_timer_create,
            clock_of(tid),
            &raw mut event,
            &raw mut timer,
        );
        if made != 0 {
            REFUSED.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let time = libc::timespec {
            tv_sec: i64::from(period / 1_000_000_000),
            tv_nsec: i64::from(period % 1_000_000_000),
        };
        let times = libc::itimerspec {
            it_interval: time,
            it_value: time,
        };
        libc::syscall(
            libc::SYS_timer_settime,
            timer,
            0,
            &raw const times,
            std::ptr::null_mut::<libc::itimerspec>(),
        );
        thread.sampled.timer.store(timer, Ordering::Relaxed);
    }
}

/// Takes the thread's timer away, if it has one.
pub(super) fn delete(sampled: &Sampled) {
    let timer = sampled.timer.swap(-1, Ordering::Relaxed);
    if timer >= 0 {
        // SAFETY: plain values; the timer is ours.
        unsafe { libc::syscall(libc::SYS_timer_delete, timer) };
    }
}

/// How many threads got no timer.
pub(super) fn refused() -> u64 {
    REFUSED.load(Ordering::Relaxed)
}
