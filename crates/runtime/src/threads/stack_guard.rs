//! The end of a thread's stack: where managed code stops, and what handlers of StackOverflowException get beyond that.
//!
//! # Invariants
//! * Managed code begins a method only above `ThreadContext::true_limit`; below lies the stack guard, where our own code, the compiler above
//!   all, has room.
//! * A function compares where its frame will end with the limit before it makes the frame (`jit/emit/stack_check.rs`), so no frame
//!   reaches past the end of the stack.
//! * On a thread with a managed stack of its own, Rust code calls managed code only while the native stack has a guard left
//!   ([`check_native`]): prologues look at the managed stack only.
//! * From an overflow until the exception is caught the limit is lower by a quarter of the zone, so that filters and finally blocks
//!   at the edge can call. An overflow of that ends the process.
use crate::arch::upcalls;
use crate::cx::{Cx, Result};
use crate::safepoint::registry::{self, Thread};
use crate::threads::{interrupts, managed_stack};
use std::sync::atomic::Ordering;
use vervet_abi::ThreadContext;
use vervet_types::Known;

const STACK_GUARD: usize = 256 << 10;

/// Where managed code stops on a stack `[low, high)`.
pub(crate) fn limit(low: usize, high: usize) -> usize {
    low + STACK_GUARD.min((high - low) / 2)
}
/// The bounds of the stack on which managed frames lie.
fn bounds(context: *mut ThreadContext) -> (usize, usize) {
    if let Some(bounds) = managed_stack::only_segment(context) {
        return bounds;
    }
    // SAFETY: the context belongs to this thread.
    let (thread, stack_base) = unsafe { (Thread::of(context), (*context).stack_base) };
    (thread.stack_low.load(Ordering::Relaxed), stack_base)
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
pub(super) fn set(context: *mut ThreadContext, limit: usize) {
    // SAFETY: the context is the calling thread's, and only that thread writes `true_limit`.
    unsafe { (*context).true_limit = limit };
    // A requester sets its bit and then raises the limit. If this store comes after that, the load below sees the bit.
    registry::limit(context).store(limit, Ordering::SeqCst);
    if registry::interrupts(context).load(Ordering::SeqCst) != 0 {
        registry::limit(context).store(usize::MAX, Ordering::SeqCst);
    }
}

/// From the `grow` thunk: the check of a function has failed. `numbers` follow its call of the thunk ([`Numbers`]), `sp` is the stack pointer
/// at the function's first instruction. 0: an exception is pending; 1: the function goes on where it is; otherwise the top of the segment
/// on which it is to go on.
#[unsafe(export_name = "vervet_stack_check_failed")]
extern "C" fn stack_check_failed(
    context: *mut ThreadContext,
    numbers: &Numbers,
    sp: usize,
) -> usize {
    // The limit may have been raised to have requests served.
    if !interrupts::at_prologue(context, std::ptr::from_ref(numbers) as usize) {
        return 0;
    }
    // SAFETY: the context belongs to this thread.
    if sp - numbers.frame as usize >= unsafe { (*context).true_limit } {
        return 1;
    }
    let bytes = numbers.stack_arguments as usize + numbers.frame as usize;
    match managed_stack::grow(context, bytes, sp - upcalls::GROW_BYTES) {
        Some(top) => top,
        None => crate::exceptions::traps::stack_overflow(context),
    }
}

/// What follows the call of the `grow` thunk in the code of a function (`jit/emit/stack_check.rs`).
#[repr(C)]
pub(crate) struct Numbers {
    /// Bytes of arguments on the stack.
    pub(crate) stack_arguments: u32,
    /// Bytes of the frame.
    pub(crate) frame: u32,
    /// Distance back to the function's body.
    pub(crate) back: u32,
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
    let (thread, high) = unsafe { (Thread::of(context), (*context).stack_base) };
    if thread.managed_base() == 0 {
        return false;
    }
    let low = thread.stack_low.load(Ordering::Relaxed);
    let guard = limit(low, high) - low;
    // The exception is made, and its filters run, in the upper part of the guard.
    let guard = if thread.own.overflows.get() {
        guard / 4
    } else {
        guard
    };
    let here = &raw const guard as usize;
    here < low + guard
}

/// Bytes that managed code may use before it overflows its stack. Called by an icall.
pub fn room(cx: &Cx<'_>) -> usize {
    // SAFETY: the token's context belongs to this thread, whose innermost record is that of the icall, on the stack of its caller.
    unsafe {
        let context = cx.context();
        ((*context).record as usize).saturating_sub((*context).true_limit)
            + managed_stack::growth_left(context)
    }
}

/// Before Rust code calls managed code: StackOverflowException if the native stack is used up.
pub(crate) fn check_native(cx: &Cx<'_>) -> Result<()> {
    if !is_native_used_up(cx.context()) {
        return Ok(());
    }
    // SAFETY: the token's context belongs to this thread.
    let overflows = unsafe { &Thread::of(cx.context()).own.overflows };
    if overflows.replace(true) {
        crate::exceptions::traps::end_for_overflow(cx.context());
    }
    let thrown = cx.throw(
        Known::StackOverflowException,
        "The requested operation caused a stack overflow.",
    );
    overflows.set(false);
    Err(thrown)
}
