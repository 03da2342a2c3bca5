//! The contexts of green threads, whether they run, are parked or are free for the next green thread.
//!
//! # Invariants
//! * A context is added once and stays for ever, so a visitor needs no lock.
//! * While the world is stopped no context becomes Parked and none ceases to be: a carrier does both in Runtime state. A context that is not Parked is
//!   that of a carrier, which the [`registry`](super::registry) leads to.
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use vervet_abi::ThreadContext;
use vervet_os::Chunks;

static CONTEXTS: Chunks<AtomicPtr<ThreadContext>> = Chunks::new();
static COUNT: AtomicU32 = AtomicU32::new(0);

/// Adds the context of a new green thread.
///
/// # Safety
/// The context is never freed.
pub(crate) unsafe fn add(context: *mut ThreadContext) {
    let index = COUNT.fetch_add(1, Ordering::SeqCst);
    CONTEXTS.at(index).store(context, Ordering::Release);
}

/// How many there are.
pub(crate) fn count() -> usize {
    COUNT.load(Ordering::SeqCst) as usize
}

/// Visits all. One that is being added may be missed.
pub(crate) fn visit(mut visit: impl FnMut(*mut ThreadContext)) {
    for index in 0..COUNT.load(Ordering::SeqCst) {
        let context = CONTEXTS
            .get(index)
            .map_or(null_mut(), |cell| cell.load(Ordering::Acquire));
        if !context.is_null() {
            visit(context);
        }
    }
}
