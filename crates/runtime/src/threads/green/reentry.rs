//! Parks that leave nothing on the native stack: the internal call returns, and is made again when the thread goes on.
//!
//! # How it works
//! A wait that managed code calls through the [reentrant thunk](crate::arch::reentrant_thunk) begins with [`resumed`]. Where it would park, it asks
//! [`leave`]. If that says yes, the wait returns an error without an exception, undoing nothing, and the thunk calls [`leave_native_stack`]: the thread
//! is parked, its carrier has the native stack. When the thread is made ready, a carrier gives it a native stack, and the thunk makes the same call
//! again, which finds by [`resumed`] that it goes on with a wait, and behind which park.
//!
//! # Invariants
//! * Between `leave` and `leave_native_stack` the thread runs destructors and returns, nothing else. If it parks, its wait is known, so it may be made
//!   ready at any time.
//! * A call is made again exactly if its record is the one that was kept. A call inside of it, on its way to an exception, has another record.
//! * A thread leaves its native stack only if nothing but the call lies on it.
use super::kept::{Kept, Left};
use super::record;
use super::scheduler;
use super::wait::set_timer;
use crate::cx::Cx;
use crate::profiler::sampling::off_cpu;
use crate::safepoint::registry::Thread;
use crate::threads::park::{reason, waiter};
use std::time::Instant;
use vervet_abi::ThreadContext;
use vervet_abi::context::{NO_NATIVE_STACK, RecordKind};
use vervet_sched::Outcome;

/// The wait that the running internal call goes on with, once; None: the call begins. Called first.
pub(crate) fn resumed(cx: &Cx<'_>) -> Option<Kept> {
    // SAFETY: a token's context is the calling thread's, which alone uses the cell while it runs.
    unsafe {
        let context = cx.context();
        let green = record::of_context(context)?;
        let left = green.left.get()?;
        if left.record != (*context).record {
            return None;
        }
        green.left.set(None);
        off_cpu::ends(cx, left.since, left.reason);
        Some(left.kept)
    }
}

/// The calling thread, which has begun to park and has made its wait known, is to leave the native stack until it is unparked or `until` is over. False:
/// it cannot.
pub(crate) fn leave(cx: &Cx<'_>, until: Option<Instant>, kept: Kept) -> bool {
    leave_for(cx, Outcome::Park, until, kept)
}

/// The calling thread is to leave the native stack and let others run. False: it cannot.
pub(crate) fn leave_to_yield(cx: &Cx<'_>) -> bool {
    let kept = Kept { end: None, note: 0 };
    leave_for(cx, Outcome::Yield, None, kept)
}

fn leave_for(cx: &Cx<'_>, outcome: Outcome, until: Option<Instant>, kept: Kept) -> bool {
    let context = cx.context();
    // SAFETY: a token's context is the calling thread's, whose records are its own.
    unsafe {
        let Some(green) = record::of_context(context) else {
            return false;
        };
        let record = (*context).record;
        let is_alone = (*context).native_sp == (*context).stack_base & !15
            && record
                .as_ref()
                .is_some_and(|r| r.kind == RecordKind::Reentrant as usize);
        if !is_alone {
            return false;
        }
        let Some(has_timer) = set_timer(context, until) else {
            return false; // It is over.
        };
        green.left.set(Some(Left {
            record,
            kept,
            outcome,
            has_timer,
            since: match outcome {
                Outcome::Park => off_cpu::begins(),
                _ => 0,
            },
            reason: reason::own_kind(context),
        }));
        (*context).leaves_at = record as usize;
    }
    true
}

/// Is the running internal call about to leave the native stack?
pub(crate) fn leaves(cx: &Cx<'_>) -> bool {
    // SAFETY: a token's context is the calling thread's.
    unsafe { (*cx.context()).leaves_at != 0 }
}

/// From the thunk, which leaves this stack when this returns: the call has returned. The pointer of the carrier's stack.
///
/// # Safety
/// The context is the calling green thread's, in Runtime state; [`leave`] has said yes, and nothing lies on the native stack.
#[unsafe(export_name = "vervet_leave_native_stack")]
unsafe extern "C" fn leave_native_stack(context: *mut ThreadContext) -> usize {
    vervet_os::lock::assert_no_leaf_lock("leaving the carrier");
    // SAFETY: the caller's promise. The carrier has left its stack pointer in the seat.
    unsafe {
        debug_assert_eq!((*context).leaves_at, (*context).record as usize);
        // What was exposed below is gone.
        if (*context).exposed < (*context).leaves_at {
            (*context).exposed = 0;
        }
        (*context).leaves_at = 0;
        (*context).scan_sp = NO_NATIVE_STACK;
        let left = record::of_context(context).and_then(|green| green.left.get());
        let seat = Thread::of(context).own.carries.get();
        (*seat).outcome = left.map_or(Outcome::Yield, |left| left.outcome);
        (*seat).target.carrier_sp
    }
}

/// From the thunk, on the new native stack: the park is over.
///
/// # Safety
/// The context is the calling green thread's, in Runtime state; it left its native stack.
#[unsafe(export_name = "vervet_go_on_after_park")]
unsafe extern "C" fn go_on_after_park(context: *mut ThreadContext) {
    // SAFETY: the caller's promise.
    unsafe {
        (*context).native_sp = (*context).stack_base & !15;
        let id = (*context).owner_id;
        let left = record::of_context(context).and_then(|green| green.left.get());
        if left.is_some_and(|left| left.has_timer) {
            scheduler().cancel_timer(id);
        }
        if left.is_some_and(|left| left.outcome == Outcome::Park) {
            waiter::end(id);
        }
    }
}
