//! The words between a stopper and the threads it stops: the stop word, the count of arrivals, and the number of the signal.
//!
//! # The stop word
//! | bit | meaning | set | cleared |
//! |---|---|---|---|
//! | [`STOPPING`] | the world is stopped or about to be | by the stopper, under the stop lock | by the stopper, which then wakes all who sleep on the word |
//! | [`FENCE`] | the kernel gives no process fence, so a thread that leaves Native fences for itself | at start-up | never |
//! | [`ASKED`] | some thread is asked for something by an interrupt request | by the requester | by the retry thread, when all requests are served |
//!
//! Thunks test the whole word when a thread leaves Native, so that a thread takes the slow path for any bit, and `STOPPING`
//! when a thread goes from Runtime to Managed; those of internal calls test `ASKED` with it.
//!
//! # Invariants
//! * The handshake, with its models, is [`vervet_parking::stopping`]'s.
//! * A thread adds to [`ARRIVED`] after its state says that it has stopped; the stopper reads the count before it looks at the states
//!   and sleeps only while the count has not changed. So the stopper misses no arrival.
use super::progress::Wait;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use vervet_os::futex;
use vervet_parking::stopping::StopWord;
pub use vervet_parking::stopping::{ASKED, FENCE, STOPPING};

/// Says whether the world is to be stopped, and who fences; thunks test it.
pub static STOP: StopWord = StopWord::new();

/// Is the world stopped or about to be?
#[inline]
pub fn is_stopping() -> bool {
    STOP.is_stopping()
}

/// Sleeps until the world runs. The calling thread counts as stopped meanwhile, and ends `wait` when it has gone on.
pub(super) fn wait_for_restart(wait: &Wait) {
    while let Some(seen) = STOP.stopping() {
        wait.begin();
        futex::wait(STOP.futex(), seen, None);
    }
}

/// Counts threads that have come to a stop; the stopper sleeps on it.
pub(super) static ARRIVED: AtomicU32 = AtomicU32::new(0);

/// The stopper sleeps on [`ARRIVED`].
pub(super) static SLEEPING: AtomicBool = AtomicBool::new(false);

/// A thread has come to a stop: tells the stopper if it sleeps.
pub(crate) fn arrived() {
    ARRIVED.fetch_add(1, Ordering::SeqCst);
    if SLEEPING.load(Ordering::SeqCst) {
        futex::wake(&ARRIVED, 1);
    }
}

/// The suspend signal. [`suspend`](crate::safepoint::suspend) says why it is this one.
pub const SUSPEND: i32 = libc::SIGURG;
