//! Taking and leaving a fat monitor for which threads compete: a thread spins, then sleeps; the owner that leaves wakes one.
//!
//! # Invariants
//! * Ownership and wake-ups follow [`Handoff`](crate::Handoff); the threads that it counts are those in `queues.entering`.
//! * A woken thread that does not get the monitor goes to the front of the queue. While it tries, no other thread is woken: it stays marked as woken
//!   until it has the monitor; or until it is in the queue again, and then it tries once more; or until it gives up, and then it wakes the next
//!   thread itself if the monitor is free.
//! * A thread that spins checks the monitor rarely: each check takes the cache line from the owner.
use super::{Left, Monitor, Queue, Queues, Stop, Thread, Why};
use crate::sync::Ordering::Relaxed;

/// Turns of a first spin, and the bounds it adapts between.
pub(super) const FIRST_SPIN: u32 = 8;
const LEAST_SPIN: u32 = 4;
const MOST_SPIN: u32 = 12;

/// How a [`Monitor::lock`] ended that did not get the monitor.
pub(super) enum Missed<A> {
    /// The deadline passed.
    Late,
    /// The thread is alerted, or leaves its stack.
    Stopped(Stop<A>),
}

/// How a monitor is to be taken.
#[derive(Clone, Copy)]
pub(super) struct Entry<D> {
    /// An alert ends it.
    pub(super) alertable: bool,
    pub(super) deadline: D,
    /// What is kept if the thread leaves its stack.
    pub(super) left: Left,
    pub(super) from: Place,
}

/// Where the thread is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// It is in no queue.
    Outside,
    /// A thread that left the monitor has taken it out of the queue.
    Woken,
    /// It was parked in the queue.
    Parked,
}

impl<Q: Queue> Monitor<Q> {
    /// Takes the monitor if it is free.
    #[inline]
    pub(super) fn try_lock(&self, me: u32) -> bool {
        let taken = self.lock.try_take(me);
        if taken {
            self.count.store(1, Relaxed);
        }
        taken
    }

    /// Spins for a monitor that another thread owns, as long as that was worth it lately. Returns whether the monitor was taken. The world is not
    /// stopped meanwhile, so the caller need not be counted in `users`.
    pub(super) fn spin_for<T: Thread>(&self, me: u32) -> bool {
        let turns = self.spin.load(Relaxed);
        let taken = T::spin(turns, || self.lock.owner(), || self.try_lock(me));
        let then = match taken {
            true => (turns + turns / 8 + 1).min(MOST_SPIN),
            false => (turns - turns / 4).max(LEAST_SPIN),
        };
        if then != turns {
            self.spin.store(then, Relaxed);
        }
        taken
    }

    /// Takes a monitor that another thread owns, and sleeps until it can. The caller is counted in `users` or `waiters`.
    pub(super) fn lock<T: Thread>(
        &self,
        thread: &T,
        entry: Entry<T::Deadline>,
    ) -> Result<(), Missed<T::Alert>> {
        let me = thread.id();
        let taken = |was_woken: bool| {
            if was_woken {
                self.lock.woke_as_owner();
            }
            Ok(())
        };
        let mut was_woken = entry.from == Place::Woken;
        if was_woken && self.spin_for::<T>(me) {
            return taken(was_woken);
        }
        let _waiting = thread.waiting(Why::Enter, entry.deadline);
        let mut was_parked = entry.from == Place::Parked;
        loop {
            let alert = if std::mem::take(&mut was_parked) {
                thread.alert().filter(|_| entry.alertable)
            } else {
                match self.sleep(thread, &entry, was_woken) {
                    Ok(true) => return Ok(()),
                    Ok(false) => None,
                    Err(Stop::Alerted(alert)) => Some(alert),
                    Err(Stop::Leaves) => return Err(Missed::Stopped(Stop::Leaves)),
                }
            };
            was_woken = !self.leave_queue(&mut self.queues.lock(), me);
            if self.try_lock(me) || was_woken && self.spin_for::<T>(me) {
                return taken(was_woken);
            }
            let missed = match alert {
                Some(alert) => Missed::Stopped(Stop::Alerted(alert)),
                None if T::is_over(entry.deadline) => Missed::Late,
                None => continue,
            };
            if was_woken {
                self.lock.woke();
                if self.lock.owner() == 0 {
                    self.wake_next();
                }
            }
            return Err(missed);
        }
    }

    /// Goes into the queue of those that enter, and sleeps there unless the monitor is free: true, then it was taken.
    fn sleep<T: Thread>(
        &self,
        thread: &T,
        entry: &Entry<T::Deadline>,
        was_woken: bool,
    ) -> Result<bool, Stop<T::Alert>> {
        let me = thread.id();
        let mut queues = self.queues.lock();
        if was_woken {
            queues.entering.push_front(me);
        } else {
            queues.entering.push_back(me);
        }
        self.lock.queued();
        if was_woken {
            self.lock.woke();
        }
        if self.try_lock(me) {
            self.leave_queue(&mut queues, me);
            return Ok(true);
        }
        match entry.alertable {
            true => thread.park_alertable(entry.left, || drop(queues), entry.deadline)?,
            false => thread.park(entry.left, || drop(queues), entry.deadline)?,
        }
        Ok(false)
    }

    /// Takes a thread out of the queue of those that enter. False: it was woken, and so is out already.
    pub(super) fn leave_queue(&self, queues: &mut Queues<Q>, me: u32) -> bool {
        let was_in = queues.entering.remove(me);
        if was_in {
            self.lock.unqueued();
        }
        was_in
    }

    /// Gives the monitor up completely; the calling thread owns it.
    pub(super) fn unlock(&self) {
        self.count.store(0, Relaxed);
        if self.lock.give_up() {
            self.wake_next();
        }
    }

    /// After the monitor was left: wakes the first thread of those that enter, unless one was woken already.
    pub(super) fn wake_next(&self) {
        let first = {
            let mut queues = self.queues.lock();
            if !self.lock.wakes() {
                return;
            }
            self.lock.unqueued();
            queues.entering.pop_front()
        };
        if let Some(id) = first {
            Q::unpark(id);
        }
    }
}
