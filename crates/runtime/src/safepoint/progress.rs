//! Between two stops of the world the threads that waited for the end of the first go on.
//!
//! A thread that sleeps until the world runs takes longer to wake up than a stopper to begin the next stop. Without this module a thread that collects in
//! a loop keeps all others asleep: each of them wakes up, finds the stop word set again and goes back to sleep.
//!
//! # Invariants
//! * A thread that waits for the world to run is counted from before it sleeps until it has left the wait.
//! * A stopper sets the stop word when nobody is counted, or [`GRACE`] after the end of the stop before: one thread that does not get a processor does
//!   not keep others from stopping the world.
//! * Only the calling thread's own count is taken back, so the count of a forked process, which has one thread, begins at 0 again.
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::time::Duration;
use vervet_os::{clock::now, futex};

/// So many nanoseconds after a stop the next one begins, whoever has not gone on.
const GRACE: u64 = 1_000_000;

/// How many threads wait for the world to run, or have not gone on since it does. A stopper sleeps on it.
static WAITING: AtomicU32 = AtomicU32::new(0);
/// A stopper sleeps on [`WAITING`].
static SLEEPING: AtomicBool = AtomicBool::new(false);
/// When the last stop ended ([`now`]).
static ENDED: AtomicU64 = AtomicU64::new(0);

/// The calling thread's wait for the world to run. It is counted from the first [`begin`](Wait::begin) until it is dropped. It may be made in a signal handler.
#[derive(Default)]
pub(super) struct Wait {
    is_counted: Cell<bool>,
}

impl Wait {
    /// The thread is about to sleep until the world runs.
    pub(super) fn begin(&self) {
        if !self.is_counted.replace(true) {
            WAITING.fetch_add(1, SeqCst);
        }
    }
    /// The thread goes on, or waits for something else.
    pub(super) fn end(&self) {
        if self.is_counted.replace(false)
            && WAITING.fetch_sub(1, SeqCst) == 1
            && SLEEPING.load(SeqCst)
        {
            futex::wake(&WAITING, 1);
        }
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        self.end();
    }
}

/// The stopper lets the threads go on. It is about to wake them.
pub(super) fn has_ended() {
    ENDED.store(now(), SeqCst);
}

/// Waits until the threads that the last stop held have gone on. The calling thread has the stop lock.
pub(super) fn wait_for_others() {
    if WAITING.load(SeqCst) == 0 {
        return;
    }
    let until = ENDED.load(SeqCst) + GRACE;
    SLEEPING.store(true, SeqCst);
    loop {
        let (waiting, time) = (WAITING.load(SeqCst), now());
        if waiting == 0 || time >= until {
            break;
        }
        futex::wait(&WAITING, waiting, Some(Duration::from_nanos(until - time)));
    }
    SLEEPING.store(false, SeqCst);
}

/// The process is a forked one, whose one thread does not wait.
pub(crate) fn has_forked() {
    WAITING.store(0, SeqCst);
    SLEEPING.store(false, SeqCst);
}
