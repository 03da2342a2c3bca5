//! Who waits for the nearest deadline: the poller says until when it sleeps, and whoever rests with an earlier deadline wakes it.
//!
//! ```text
//!   the poller                                     a carrier that rests (its timers are in their wheels)
//!   ---------------------------------------------  -----------------------------------------------------
//!   until = PLANNING, when it becomes the poller
//!   until = nearest of all wheels
//!   fence                                          fence
//!   nearest of all wheels is earlier? once more    nearest of all wheels < until? wake the poller
//!   sleeps until then
//! ```
//!
//! # Invariants
//! * Either the poller sees the timer, or the other sees until when the poller sleeps: each stores, and looks after a fence. A carrier that reads
//!   PLANNING need not wake the poller, which will look after it has stored something else.
//! * `until` is the present poller's: it is stored under the lock under which carriers become the poller and are taken off. A former poller that is
//!   still planning would otherwise leave a time at which nobody wakes.
//! * A carrier that sets a timer and goes on running does nothing: while any carrier runs, the watcher looks at the wheels each tick.
use crate::idle::Idle;
use crate::sync::{
    Ordering::{Relaxed, SeqCst},
    fence,
};

/// No wheel has a timer.
pub(crate) const NEVER: u64 = u64::MAX;
/// What `until` holds before the poller has stored a time.
pub(crate) const PLANNING: u64 = 0;

impl Idle {
    /// The poller's: until which tick it may sleep. None: it is the poller no more.
    pub(crate) fn plan(&self, carrier: u32, nearest: impl Fn() -> u64) -> Option<u64> {
        let mut until = nearest();
        loop {
            {
                let _lists = self.lists.lock();
                if self.poller.load(Relaxed) != carrier {
                    return None;
                }
                self.until.store(until.max(PLANNING + 1), Relaxed);
            }
            fence(SeqCst);
            match nearest() {
                earlier if earlier < until => until = earlier,
                // A deadline that has become later is one that was met or cancelled. Waking for it does no harm.
                _ => return Some(until),
            }
        }
    }
    /// A resting carrier's: does the poller sleep beyond the nearest deadline?
    pub(crate) fn is_late(&self, nearest: impl Fn() -> u64) -> bool {
        fence(SeqCst);
        let until = self.until.load(Relaxed);
        until != PLANNING && nearest() < until
    }
}
