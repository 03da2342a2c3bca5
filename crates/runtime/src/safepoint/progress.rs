//! Threads that are stopped again and again go on in between.
//!
//! A thread that sleeps until the world runs takes longer to wake up than a stopper to begin the next stop. Without this module a thread that collects in
//! a loop keeps all others asleep: each of them wakes up, finds the stop word set again and goes back to sleep.
//!
//! # How it works
//! ```text
//! somebody has been waiting at the beginning of each stop for MOST
//!         |
//!   stop  stop  stop  stop  (TURN without a stop)  stop  stop ...
//! ```
//! The stopper does not wait until the others have said that they go on: where they are more than the processors it would lose its own for longer than that
//! takes.
//!
//! # Invariants
//! * A thread that waits for the world to run is counted from before it sleeps until it has left the wait.
//! * After [`MOST`] in which somebody was counted whenever a stop began there is a [`TURN`] without a stop. So a thread that finds a processor in that time goes on.
//! * Only the calling thread's own count is taken back, so the count of a forked process, which has one thread, begins at 0 again.
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};
use std::time::Duration;
use vervet_os::clock::now;

/// So many nanoseconds stops follow one another before there is a turn for the others.
const MOST: u64 = 4_000_000;
/// So many nanoseconds without a stop are a turn for the others.
const TURN: u64 = 1_000_000;

/// How many threads wait for the world to run, or have not gone on since it does.
static WAITING: AtomicU32 = AtomicU32::new(0);
/// When the last stop ended ([`now`]).
static ENDED: AtomicU64 = AtomicU64::new(0);
/// When nobody was counted for the last time, or the others had a turn.
static SERVED: AtomicU64 = AtomicU64::new(0);

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
        if self.is_counted.replace(false) {
            WAITING.fetch_sub(1, SeqCst);
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

/// Gives the others a turn if it is due. The calling thread has the stop lock.
pub(super) fn give_turn() {
    let mut time = now();
    let had_turn = time.saturating_sub(ENDED.load(SeqCst));
    if WAITING.load(SeqCst) != 0 && had_turn < TURN {
        if time.saturating_sub(SERVED.load(SeqCst)) < MOST {
            return;
        }
        std::thread::sleep(Duration::from_nanos(TURN - had_turn));
        time = now();
    }
    SERVED.store(time, SeqCst);
}

/// The process is a forked one, whose one thread does not wait.
pub(crate) fn has_forked() {
    WAITING.store(0, SeqCst);
}
