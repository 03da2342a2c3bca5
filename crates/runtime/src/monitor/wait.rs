//! Monitor.Wait, Pulse and PulseAll.
//!
//! # Invariants
//! * A waiter is in `waiting` until it is pulsed, late or interrupted; a pulse moves it to the end of `entering` and
//!   notes that it was signalled, all under the lock of the queues. It is woken by whoever leaves the monitor.
//! * A wait gives the monitor up completely and ends owning it as often as before, whatever ended it.
use super::fat::Fat;
use super::{contend, ensure_owned, fat_of};
use crate::cx::{Cx, Result};
use crate::object::ObjRef;
use crate::park;
use crate::threads::state;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// Waits for a pulse, at most that many milliseconds (-1: for ever); false if none came.
pub fn wait<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>, ms: i32) -> Result<bool> {
    ensure_owned(cx, object)?;
    state::poll_interrupt(cx)?;
    let m = fat_of(object);
    let me = park::id(cx);
    let count = m.count.load(Relaxed);
    let deadline = park::deadline(ms);
    m.users.fetch_add(1, SeqCst);
    let pulsed = {
        let _waiting = state::Waiting::begin(cx);
        wait_for_pulse(cx, m, me, deadline)
    };
    let (signalled, was_woken) = (pulsed.is_some(), pulsed == Some(true));
    let again = contend::lock(cx, m, false, None, was_woken);
    assert!(
        again.is_ok(),
        "a lock without deadline that cannot be interrupted"
    );
    m.count.store(count, Relaxed);
    m.users.fetch_sub(1, SeqCst);
    if !signalled {
        state::poll_interrupt(cx)?;
    }
    Ok(signalled)
}

/// None: it ended without a pulse. Otherwise: has somebody who left the monitor woken this thread?
fn wait_for_pulse(
    cx: &Cx<'_>,
    m: &'static Fat,
    me: u32,
    deadline: Option<std::time::Instant>,
) -> Option<bool> {
    let mut queues = m.queues.lock();
    park::set_signalled(me, false);
    queues.waiting.push_back(me);
    let mut guard = Some(queues);
    loop {
        // Not `state::park`: its commit has to run, whatever is pending.
        park::park(
            cx,
            || {
                // The first time only: this thread is known to wait, so it may give the monitor up.
                if let Some(queues) = guard.take() {
                    drop(queues);
                    contend::unlock(m);
                }
            },
            deadline,
        );
        if park::is_signalled(me) || park::is_over(deadline) || state::alerted(cx).is_some() {
            break;
        }
    }
    let mut queues = m.queues.lock();
    if !park::is_signalled(me) {
        queues.waiting.remove(me);
        return None;
    }
    // Pulsed, so it was moved; in no queue any more if somebody who left has woken it.
    let was_woken = !contend::leave_queue(m, &mut queues, me);
    Some(was_woken)
}

/// Lets the first waiter go on, or all of them, once this thread leaves.
pub fn pulse<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>, all: bool) -> Result<()> {
    ensure_owned(cx, object)?;
    let Some(m) = super::fat_if_inflated(object) else {
        return Ok(()); // Who waits has inflated it.
    };
    let mut queues = m.queues.lock();
    while let Some(id) = queues.waiting.pop_front() {
        park::set_signalled(id, true);
        queues.entering.push_back(id);
        m.lock.queued();
        if !all {
            break;
        }
    }
    Ok(())
}
