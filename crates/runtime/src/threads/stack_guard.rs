//! The end of a thread's stack: where managed code stops, and what handlers of StackOverflowException get beyond that.
//!
//! # Invariants
//! * Managed code begins a method only above `ThreadContext::true_limit`; below lies the stack guard, where our own code, the compiler above
//!   all, has room.
//! * A frame larger than a page touches its pages from the top while it is made, so it never reaches past the end of the stack: what
//!   faults there is an overflow where the method was called (`exceptions/traps.rs`).
//! * From an overflow until the exception is caught the limit is lower by a quarter of the zone, so that filters and finally blocks
//!   at the edge can call. An overflow of that ends the process.
use crate::safepoint::registry::{self, Thread};
use std::sync::atomic::Ordering;
use vervet_abi::ThreadContext;

const STACK_GUARD: usize = 256 << 10;

/// Where managed code stops on a stack `[low, high)`.
pub(crate) fn limit(low: usize, high: usize) -> usize {
    low + STACK_GUARD.min((high - low) / 2)
}
fn lowest(context: *mut ThreadContext) -> usize {
    // SAFETY: the context belongs to this thread.
    unsafe { Thread::of(context) }
        .stack_low
        .load(Ordering::Relaxed)
}
fn usual(context: *mut ThreadContext) -> usize {
    // SAFETY: the context belongs to this thread.
    limit(lowest(context), unsafe { (*context).stack_base })
}
fn set(context: *mut ThreadContext, limit: usize) {
    // SAFETY: the context is the calling thread's, and only that thread writes `true_limit`.
    unsafe { (*context).true_limit = limit };
    // A requester sets its bit and then raises the limit. If this store comes after that, the load below sees the bit.
    // SAFETY: the context is the calling thread's.
    unsafe {
        registry::limit(context).store(limit, Ordering::SeqCst);
        if registry::interrupts(context).load(Ordering::SeqCst) != 0 {
            registry::limit(context).store(usize::MAX, Ordering::SeqCst);
        }
    }
}

/// The stack is used up: handlers get a part of the zone. False if they have it already.
pub(crate) fn give(context: *mut ThreadContext) -> bool {
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
    let usual = usual(context);
    // SAFETY: the context belongs to this thread.
    if unsafe { (*context).true_limit } < usual {
        set(context, usual);
    }
}
