//! The end of a thread's stack: where managed code stops, and what handlers of StackOverflowException get beyond that.
//!
//! # Invariants
//! * Managed code begins a method only above `ThreadContext::true_limit`; below lies the stack guard, where our own code, the compiler above
//!   all, has room.
//! * A function compares where its frame will end with the limit before it makes the frame (`jit/emit/front.rs`), so no frame
//!   reaches past the end of the stack.
//! * On a thread with a managed stack of its own, Rust code calls managed code only while the native stack has a guard left
//!   ([`check_native`]): prologues look at the managed stack only.
//! * From an overflow until the exception is caught the limit is lower by a quarter of the zone, so that filters and finally blocks
//!   at the edge can call. An overflow of that ends the process.
use crate::arch::upcalls;
use crate::cx::{Cx, Result};
use crate::threads::managed_stack;
use crate::threads::stack_limit::{self, limit, set};
use vervet_abi::ThreadContext;
use vervet_types::Known;

/// The bounds of the stack on which managed frames lie.
fn bounds(context: *mut ThreadContext) -> (usize, usize) {
    if let Some(bounds) = managed_stack::only_segment(context) {
        return bounds;
    }
    // SAFETY: the context belongs to this thread.
    unsafe { ((*context).native_low, (*context).stack_base) }
}
fn lowest(context: *mut ThreadContext) -> usize {
    bounds(context).0
}
/// Where managed code stops, on the first segment of a stack that grows.
pub(super) fn usual(context: *mut ThreadContext) -> usize {
    if managed_stack::grows(context) {
        return managed_stack::first_limit(context);
    }
    let (low, high) = bounds(context);
    limit(low, high)
}

/// Where the stack is deep; 0: it grows, and is looked at when it does.
pub(super) fn deep(context: *mut ThreadContext) -> usize {
    if managed_stack::grows(context) {
        return 0;
    }
    let (low, high) = bounds(context);
    stack_limit::deep(low, high)
}

/// The stack of the calling thread, which does not grow, reaches down to `sp`. If it has become deep, or deeper by a part: how many bytes that part has.
pub(crate) fn becomes_deeper(context: *mut ThreadContext, sp: usize) -> Option<usize> {
    // SAFETY: the context belongs to this thread.
    if sp >= unsafe { (*context).deep_limit } {
        return None;
    }
    let (low, high) = bounds(context);
    Some(stack_limit::lower(context, low, high, sp))
}

/// The stack is used up: handlers get a part of the zone. False if they have it already.
pub(crate) fn give(context: *mut ThreadContext) -> bool {
    if managed_stack::grows(context) {
        return managed_stack::give_extra(context);
    }
    let usual = usual(context);
    // SAFETY: the context belongs to this thread.
    let (now, low) = (unsafe { (*context).true_limit }, lowest(context));
    if now < usual {
        return false;
    }
    set(context, usual - (usual - low) / 4);
    true
}

/// An exception is caught: the zone is whole again.
pub(crate) fn take_back(context: *mut ThreadContext) {
    if managed_stack::grows(context) {
        return managed_stack::take_extra_back(context);
    }
    let usual = usual(context);
    // SAFETY: the context belongs to this thread.
    if unsafe { (*context).true_limit } < usual {
        set(context, usual);
    }
}

/// Is managed code about to be entered with too little of the native stack left? Never on a thread with one stack for all: there
/// the prologue of what is called sees it.
fn is_native_used_up(context: *mut ThreadContext) -> bool {
    // SAFETY: the context belongs to this thread.
    if unsafe { (*context).managed_base } == 0 {
        return false;
    }
    // SAFETY: the context belongs to this thread.
    let (low, high) = unsafe { ((*context).native_low, (*context).stack_base) };
    let guard = limit(low, high) - low;
    // The exception is made, and its filters run, in the upper part of the guard.
    // SAFETY: the context belongs to this thread.
    let guard = if unsafe { (*context).overflows } != 0 {
        guard / 4
    } else {
        guard
    };
    let here = &raw const guard as usize;
    here < low + guard
}

/// Bytes that managed code may use before it overflows its stack. Called by an icall.
pub fn room(cx: &Cx<'_>) -> usize {
    let here = &raw const cx as usize;
    // SAFETY: the token's context belongs to this thread, whose innermost record is that of the icall, on the stack of its caller.
    unsafe {
        let context = cx.context();
        let managed = ((*context).record as usize).saturating_sub((*context).true_limit)
            + managed_stack::growth_left(context);
        if (*context).managed_base == 0 {
            return managed;
        }
        // Managed code that calls managed code through native code uses both stacks.
        let end = limit((*context).native_low, (*context).stack_base);
        managed.min(here.saturating_sub(end))
    }
}

/// Before Rust code calls managed code: StackOverflowException if the native stack is used up.
pub(crate) fn check_native(cx: &Cx<'_>) -> Result<()> {
    if !is_native_used_up(cx.context()) {
        return Ok(());
    }
    // SAFETY: the token's context belongs to this thread.
    let before = unsafe { std::mem::replace(&mut (*cx.context()).overflows, 1) };
    if before != 0 {
        // SAFETY: a token holds the context of the calling thread, in Runtime state.
        unsafe { upcalls::end_for_overflow(cx.context()) };
    }
    let thrown = cx.throw(
        Known::StackOverflowException,
        "The requested operation caused a stack overflow.",
    );
    // SAFETY: the token's context belongs to this thread, on whatever carrier.
    unsafe { (*cx.context()).overflows = 0 };
    Err(thrown)
}
