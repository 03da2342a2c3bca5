//! Taking and leaving a fat monitor: spin, then sleep; the one who leaves wakes one.
//!
//! # Invariants
//! * Who owns the monitor and whom it wakes goes by [`vervet_parking::Handoff`], whose models are in its crate; the threads
//!   it counts are those in `queues.entering`.
//! * Who is woken and does not get the monitor goes to the front of the queue. While it tries, nobody else is woken: it
//!   is marked as woken until it has the monitor, or is in the queue again and then looks once more, or gives up and then
//!   wakes the next one itself if the monitor is free.
use super::fat::{Fat, Queues};
use crate::cx::{Cx, Result};
use crate::park;
use crate::threads::state::{self, Alerted};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// Turns of a first spin, and the bounds it adapts between.
pub(super) const FIRST_SPIN: u32 = 8;
const LEAST_SPIN: u32 = 4;
const MOST_SPIN: u32 = 12;
/// Pauses between two looks at a monitor: first, and at last. Each look takes the cache line from the owner, who then waits for it
/// twice as long as a short critical section takes; so looks are rare.
const FIRST_PAUSE: u32 = 32;
const LONGEST_PAUSE: u32 = 128;

/// Spins that long while `wanted` is false.
pub(super) fn spin(turns: u32, mut wanted: impl FnMut() -> bool) -> bool {
    if vervet_os::thread::processors() == 1 {
        return false;
    }
    let mut pause = FIRST_PAUSE;
    for _ in 0..turns {
        if wanted() {
            return true;
        }
        for _ in 0..pause {
            std::hint::spin_loop();
        }
        pause = (2 * pause).min(LONGEST_PAUSE);
    }
    false
}

/// How a [`lock`] ended that did not get the monitor.
pub(super) enum Missed {
    /// The deadline passed.
    Late,
    /// The thread is interrupted or aborted.
    Alerted(Alerted),
}

/// Takes a free monitor.
pub(super) fn try_lock(m: &Fat, me: u32) -> bool {
    let taken = m.lock.try_take(me);
    if taken {
        m.count.store(1, Relaxed);
    }
    taken
}

/// Spins for the monitor of another thread, as long as that was worth it lately. The world is not stopped meanwhile, so the
/// caller need not be counted in `users`.
pub(super) fn spin_for(m: &Fat, me: u32) -> bool {
    let turns = m.spin.load(Relaxed);
    let taken = spin(turns, || try_lock(m, me));
    let then = match taken {
        true => (turns + turns / 8 + 1).min(MOST_SPIN),
        false => (turns - turns / 4).max(LEAST_SPIN),
    };
    if then != turns {
        m.spin.store(then, Relaxed);
    }
    taken
}

/// Takes the monitor of another thread, waiting for it. The caller is counted in `users`. `was_woken`: somebody who left has
/// taken it out of the queue.
pub(super) fn lock(
    cx: &Cx<'_>,
    m: &'static Fat,
    interruptible: bool,
    deadline: Option<Instant>,
    mut was_woken: bool,
) -> std::result::Result<(), Missed> {
    let me = park::id(cx);
    let taken = |was_woken: bool| {
        if was_woken {
            m.lock.woke();
        }
        Ok(())
    };
    if was_woken && spin_for(m, me) {
        return taken(was_woken);
    }
    let _waiting = state::Waiting::begin(cx);
    loop {
        let mut queues = m.queues.lock();
        if was_woken {
            queues.entering.push_front(me);
        } else {
            queues.entering.push_back(me);
        }
        m.lock.queued();
        if was_woken {
            m.lock.woke();
        }
        if try_lock(m, me) {
            leave_queue(m, &mut queues, me);
            return Ok(());
        }
        let alert = match interruptible {
            true => state::park(cx, || drop(queues), deadline).err(),
            false => {
                park::park(cx, || drop(queues), deadline);
                None
            }
        };
        was_woken = !leave_queue(m, &mut m.queues.lock(), me);
        if try_lock(m, me) || was_woken && spin_for(m, me) {
            return taken(was_woken);
        }
        let missed = match alert {
            Some(alert) => Missed::Alerted(alert),
            None if park::is_over(deadline) => Missed::Late,
            None => continue,
        };
        if was_woken {
            m.lock.woke();
            if m.lock.owner() == 0 {
                wake_next(m);
            }
        }
        return Err(missed);
    }
}

/// Takes this thread out of the queue of those who enter; false if it was woken, and so is out already.
pub(super) fn leave_queue(m: &Fat, queues: &mut Queues, me: u32) -> bool {
    let was_in = queues.entering.remove(me);
    if was_in {
        m.lock.unqueued();
    }
    was_in
}

/// Gives up a monitor that this thread owns, however often it has entered.
pub(super) fn unlock(m: &Fat) {
    m.count.store(0, Relaxed);
    if m.lock.give_up() {
        wake_next(m);
    }
}

/// The monitor was left: wakes the first of those that enter, if none has been woken yet.
pub(super) fn wake_next(m: &Fat) {
    let first = {
        let mut queues = m.queues.lock();
        if !m.lock.wakes() {
            return;
        }
        m.lock.unqueued();
        queues.entering.pop_front()
    };
    if let Some(id) = first {
        park::unpark(id);
    }
}

/// The exception, or false for a missed deadline.
pub(super) fn outcome(cx: &Cx<'_>, result: std::result::Result<(), Missed>) -> Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(Missed::Late) => Ok(false),
        Err(Missed::Alerted(alert)) => Err(alert.raise(cx)),
    }
}
