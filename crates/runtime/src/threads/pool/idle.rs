//! Where workers sleep: the last to come is the first to be woken, so that those not needed stay asleep and end.
//!
//! # Invariants
//! A worker's id is in the list from its own push to the pop of whoever wakes it, or to its own removal when its time is
//! over; whoever takes the id out owns the worker's next step. Nothing is done under the lock but that.
use super::worker::forget_requests;
use crate::cx::Cx;
use crate::threads::park;
use std::time::{Duration, Instant};
use vervet_os::LeafLock;

static SLEEPING: LeafLock<Vec<u32>> = LeafLock::new(Vec::new());

/// Wakes the worker that slept last; false if none sleeps.
pub(super) fn wake_one() -> bool {
    let last = SLEEPING.lock().pop();
    last.inspect(|id| park::unpark(*id)).is_some()
}

/// Sleeps until the worker is woken (true) or the time is over (false).
pub(super) fn sleep(cx: &Cx<'_>, time: Duration) -> bool {
    let me = park::id(cx);
    let end = Instant::now() + time;
    SLEEPING.lock().push(me);
    loop {
        park::reason::set(cx, park::Reason::Work, Some(end));
        park::park(cx, || {}, Some(end));
        // It may be what has woken the thread; until it is forgotten the retry thread goes on.
        forget_requests(cx);
        let mut sleeping = SLEEPING.lock();
        let Some(at) = sleeping.iter().rposition(|id| *id == me) else {
            return true;
        };
        if Instant::now() >= end {
            sleeping.remove(at);
            return false;
        }
    }
}
