//! Wait and Pulse.
//!
//! ```text
//!   Wait:   waiters += 1; into `waiting`; leaves the monitor completely; parks
//!           ends by    pulse     moved to the end of `entering` by Pulse; woken by the thread that leaves the monitor
//!                      timeout   takes itself out of `waiting`
//!                      alert     takes itself out of `waiting`
//!           then       owns the monitor again, as often entered as before; waiters -= 1
//! ```
//!
//! # Invariants
//! * A waiter is in `waiting` until it is pulsed, late or alerted. A pulse moves it to the end of `entering` and records that it was signalled, both
//!   under the lock of the queues.
//! * A wait gives the monitor up completely and ends owning it as often as before, whatever ended it.
use super::slow_path::{Entry, Missed, Place};
use super::{Left, Monitor, Park, Queue, Stop, Thread, Why};
use crate::sync::Ordering::Relaxed;

impl<Q: Queue> Monitor<Q> {
    /// The owner waits for a pulse; false if none came before the deadline or an alert. The error is [`Stop::Leaves`].
    pub(super) fn wait<T: Thread>(&self, thread: &T, ms: i32) -> Result<bool, Stop<T::Alert>> {
        let resumed = thread.resumed();
        let count = resumed.map_or_else(|| self.count.load(Relaxed), |left| left.count);
        let (signalled, from) = match resumed.map(|left| left.park) {
            Some(Park::ReenteringLate) => (false, Place::Parked),
            Some(Park::ReenteringPulsed) => (true, Place::Parked),
            Some(Park::Entering | Park::Waiting) | None => {
                let deadline = thread.deadline(ms);
                if resumed.is_none() {
                    self.count_waiter(1);
                }
                let _waiting = thread.waiting(Why::Pulse, deadline);
                match self.wait_for_pulse(thread, deadline, count, resumed.is_some())? {
                    None => (false, Place::Outside),
                    Some(from) => (true, from),
                }
            }
        };
        let park = match signalled {
            false => Park::ReenteringLate,
            true => Park::ReenteringPulsed,
        };
        let again = self.lock(
            thread,
            Entry {
                alertable: false,
                deadline: T::never(),
                left: Left { park, count },
                from,
            },
        );
        match again {
            Ok(()) => {}
            Err(Missed::Stopped(Stop::Leaves)) => return Err(Stop::Leaves),
            Err(_) => unreachable!("a lock without deadline that cannot be interrupted"),
        }
        self.count.store(count, Relaxed);
        self.count_waiter(-1);
        Ok(signalled)
    }

    /// None: it ended without a pulse. Otherwise: where the pulse has left the thread. `was_parked`: the thread comes from the park in here.
    fn wait_for_pulse<T: Thread>(
        &self,
        thread: &T,
        deadline: T::Deadline,
        count: u32,
        was_parked: bool,
    ) -> Result<Option<Place>, Stop<T::Alert>> {
        let me = thread.id();
        let left = Left {
            park: Park::Waiting,
            count,
        };
        let ends = || Q::is_signalled(me) || T::is_over(deadline) || thread.alert().is_some();
        if !was_parked {
            let mut queues = self.queues.lock();
            Q::set_signalled(me, false);
            queues.waiting.push_back(me);
            // Not alertable: the commit has to run, which gives the monitor up, even if an alert is pending.
            let commit = || {
                // This thread is known to wait, so it may give the monitor up.
                drop(queues);
                self.unlock();
            };
            thread.park(left, commit, deadline)?;
        }
        while !ends() {
            thread.park(left, || {}, deadline)?;
        }
        if Q::is_signalled(me) && !Q::is_queued(me) {
            // It was pulsed, and a thread that left the monitor has woken it.
            return Ok(Some(Place::Woken));
        }
        let mut queues = self.queues.lock();
        if !Q::is_signalled(me) {
            queues.waiting.remove(me);
            return Ok(None);
        }
        // It was pulsed, so it was moved to `entering`. It is in no queue any more if a thread that left the monitor has woken it.
        Ok(Some(match self.leave_queue(&mut queues, me) {
            true => Place::Outside,
            false => Place::Woken,
        }))
    }

    /// The owner lets the first waiter go on, or all of them, once it leaves.
    pub(super) fn pulse(&self, all: bool) {
        let mut queues = self.queues.lock();
        while let Some(id) = queues.waiting.pop_front() {
            queues.entering.push_back(id);
            // Last: the thread may look without the lock whether it is in a queue still.
            Q::set_signalled(id, true);
            self.lock.queued_by_owner();
            if !all {
                break;
            }
        }
    }
}
