//! The end of a thread's stack: where managed code stops, and what handlers of StackOverflowException get beyond that.
//!
//! # Invariants
//! * Managed code begins a method only above `Context::true_limit`; below lies the red zone, where our own code, the compiler above
//!   all, has room.
//! * A frame larger than a page touches its pages from the top while it is made, so it never reaches past the end of the stack: what
//!   faults there is an overflow where the method was called (`exceptions/traps.rs`).
//! * From an overflow until the exception is caught the limit is lower by a quarter of the zone, so that filters and finally blocks
//!   at the edge can call. An overflow of that ends the process.
use crate::safepoint::registry::{self, Thread};
use crate::threads::interrupts;
use std::sync::atomic::Ordering;
use vervet_abi::Context;

const RED_ZONE: usize = 256 << 10;

/// Where managed code stops on a stack `[low, high)`.
pub(crate) fn limit(low: usize, high: usize) -> usize {
    low + RED_ZONE.min((high - low) / 2)
}
fn lowest(ctx: *mut Context) -> usize {
    // SAFETY: the context belongs to this thread.
    unsafe { Thread::of(ctx) }.stack_low.load(Ordering::Relaxed)
}
fn usual(ctx: *mut Context) -> usize {
    // SAFETY: the context belongs to this thread.
    limit(lowest(ctx), unsafe { (*ctx).stack_base })
}
fn set(ctx: *mut Context, limit: usize) {
    // SAFETY: as above; others only ever raise `limit`, to be heard, and are heard if that is seen here.
    unsafe { (*ctx).true_limit = limit };
    registry::limit(ctx).store(limit, Ordering::SeqCst);
    if interrupts::word(ctx).load(Ordering::SeqCst) != 0 {
        registry::limit(ctx).store(usize::MAX, Ordering::SeqCst);
    }
}

/// The stack is used up: handlers get a part of the zone. False if they have it already.
pub(crate) fn give(ctx: *mut Context) -> bool {
    let usual = usual(ctx);
    // SAFETY: the context belongs to this thread.
    let (now, low) = (unsafe { (*ctx).true_limit }, lowest(ctx));
    if now < usual {
        return false;
    }
    set(ctx, usual - (usual - low) / 4);
    true
}

/// An exception is caught: the zone is whole again.
pub(crate) fn take_back(ctx: *mut Context) {
    let usual = usual(ctx);
    // SAFETY: the context belongs to this thread.
    if unsafe { (*ctx).true_limit } < usual {
        set(ctx, usual);
    }
}
