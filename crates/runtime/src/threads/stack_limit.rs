//! The stack limit of a thread: the word that the stack check of each function reads.
//!
//! A stack that becomes deep is looked at on the way ([`lower`]): the word is not the real limit at first, but a place above it, which moves down with each look.
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
    renew(context);
    raise_if_asked(context);
}

/// Stores the limit that is in force without a request.
pub(super) fn renew(context: *mut ThreadContext) {
    // A requester sets its bit and then raises the limit. If this store comes after that, the load that follows sees the bit.
    // SAFETY: the context is the calling thread's.
    unsafe {
        let limit = (*context).true_limit.max((*context).deep_limit);
        registry::limit(context).store(limit, Ordering::SeqCst);
    }
}

/// A stack is deep when it has used one part in so many,
const DEEP: usize = 16;
/// and deeper with each further part.
const DEEPER: usize = 32;

/// Where the stack `[low, high)` is deep.
pub(super) fn deep(low: usize, high: usize) -> usize {
    high - (high - low) / DEEP
}

/// The stack `[low, high)` of the calling thread reaches down to `sp`, which is below `deep_limit`: the next look is further down. How many bytes there are
/// from one look to the next.
pub(super) fn lower(context: *mut ThreadContext, low: usize, high: usize, sp: usize) -> usize {
    let step = (high - low) / DEEPER;
    // SAFETY: the context is the calling thread's, and only that thread writes `deep_limit`.
    unsafe { (*context).deep_limit = sp.saturating_sub(step) };
    renew(context);
    raise_if_asked(context);
    step
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
