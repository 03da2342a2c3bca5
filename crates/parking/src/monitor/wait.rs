//! Wait and Pulse.
//!
//! ```text
//!   Wait:   users += 1; into `waiting`; leaves the monitor completely; parks
//!           ends by    pulse     moved to the end of `entering` by Pulse; woken by the thread that leaves the monitor
//!                      timeout   takes itself out of `waiting`
//!                      alert     takes itself out of `waiting`
//!           then       owns the monitor again, as often entered as before; users -= 1
//! ```
//!
//! # Invariants
//! * A waiter is in `waiting` until it is pulsed, late or alerted. A pulse moves it to the end of `entering` and records that it was signalled, both
//!   under the lock of the queues.
//! * A wait gives the monitor up completely and ends owning it as often as before, whatever ended it.
use super::{Monitor, Queue, Thread, Why};
use crate::sync::Ordering::Relaxed;

impl<Q: Queue> Monitor<Q> {
    /// The owner waits for a pulse; false if none came before the deadline or an alert.
    pub(super) fn wait<T: Thread>(&self, thread: &T, ms: i32) -> bool {
        let count = self.count.load(Relaxed);
        let deadline = T::deadline(ms);
        self.add_user();
        let pulsed = {
            let _waiting = thread.waiting(Why::Pulse, deadline);
            self.wait_for_pulse(thread, deadline)
        };
        let (signalled, was_woken) = (pulsed.is_some(), pulsed == Some(true));
        let again = self.lock(thread, false, T::deadline(-1), was_woken);
        assert!(
            again.is_ok(),
            "a lock without deadline that cannot be interrupted"
        );
        self.count.store(count, Relaxed);
        self.remove_user();
        signalled
    }

    /// None: it ended without a pulse. Otherwise: has somebody who left the monitor woken this thread?
    fn wait_for_pulse<T: Thread>(&self, thread: &T, deadline: T::Deadline) -> Option<bool> {
        let me = thread.id();
        let mut queues = self.queues.lock();
        Q::set_signalled(me, false);
        queues.waiting.push_back(me);
        let mut guard = Some(queues);
        loop {
            // Not alertable: the commit has to run, which gives the monitor up, even if an alert is pending.
            thread.park(
                || {
                    // The first time only: this thread is known to wait, so it may give the monitor up.
                    if let Some(queues) = guard.take() {
                        drop(queues);
                        self.unlock();
                    }
                },
                deadline,
            );
            if Q::is_signalled(me) || T::is_over(deadline) || thread.is_alerted() {
                break;
            }
        }
        let mut queues = self.queues.lock();
        if !Q::is_signalled(me) {
            queues.waiting.remove(me);
            return None;
        }
        // It was pulsed, so it was moved to `entering`. It is in no queue any more if a thread that left the monitor has woken it.
        let was_woken = !self.leave_queue(&mut queues, me);
        Some(was_woken)
    }

    /// The owner lets the first waiter go on, or all of them, once it leaves.
    pub(super) fn pulse(&self, all: bool) {
        let mut queues = self.queues.lock();
        while let Some(id) = queues.waiting.pop_front() {
            Q::set_signalled(id, true);
            queues.entering.push_back(id);
            self.lock.queued_by_owner();
            if !all {
                break;
            }
        }
    }
}
