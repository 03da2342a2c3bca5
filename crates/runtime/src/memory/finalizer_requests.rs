//! Requests to the finalizer thread, as the collector makes them.
//!
//! Invariant: a request takes no memory and no lock, so the collector may make one while the world is stopped.
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use vervet_os::futex;

/// Requests so far; the thread sleeps on it.
pub(super) static REQUESTED: AtomicU32 = AtomicU32::new(0);

/// Nothing is registered any more, and the thread ends when nothing is queued.
pub(super) static ENDING: AtomicBool = AtomicBool::new(false);

/// Is the process ending, so that nothing more is registered?
pub fn is_ending() -> bool {
    ENDING.load(SeqCst)
}

/// Is the thread to look after each collection, whether that has queued objects or not?
pub(super) static WATCHED: AtomicBool = AtomicBool::new(false);

/// A collection has ended, with the world still stopped.
pub fn collected() {
    if WATCHED.load(SeqCst) {
        notify();
    }
}

/// Objects were queued: wakes the finalizer thread. Returns the number of the request. May be called while the world is
/// stopped, and before the thread exists.
pub fn notify() -> u32 {
    let request = REQUESTED.fetch_add(1, SeqCst).wrapping_add(1);
    futex::wake(&REQUESTED, 1);
    request
}
