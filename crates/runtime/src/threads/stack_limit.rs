//! The stack limit of a thread: the word that the stack check of each function reads.
//!
//! # Invariants
//! * Only the thread itself writes `true_limit`. Others may make `limit` MAX, so that the next check calls the runtime.
//! * Below the limit of a stack that does not grow lies the stack guard, where stubs and Rust code have room.
use crate::safepoint::registry;
use std::sync::atomic::Ordering;
use vervet_abi::ThreadContext;

const STACK_GUARD: usize = 256 << 10;

/// Where managed code stops on a stack `[low, high)`.
pub(super) fn limit(low: usize, high: usize) -> usize {
    low + STACK_GUARD.min((high - low) / 2)
}
pub(super) fn set(context: *mut ThreadContext, limit: usize) {
    // SAFETY: the context is the calling thread's, and only that thread writes `true_limit`.
    unsafe { (*context).true_limit = limit };
    // A requester sets its bit and then raises the limit. If this store comes after that, the load that follows sees the bit.
    // SAFETY: the context is the calling thread's.
    unsafe { registry::limit(context).store(limit, Ordering::SeqCst) };
    raise_if_asked(context);
}

/// Has the next check call the runtime if something is asked of the calling thread: a request that had to wait, in a filter for instance, may be served now.
pub(crate) fn raise_if_asked(context: *mut ThreadContext) {
    // SAFETY: the context is the calling thread's.
    unsafe {
        if registry::interrupts(context).load(Ordering::SeqCst) != 0 {
            registry::limit(context).store(usize::MAX, Ordering::SeqCst);
        }
    }
}
