//! The managed stack: where the managed frames of a thread lie, if they do not lie on its native stack.
//!
//! An OS thread has one stack for managed, Rust and C frames, unless `VERVET_DEBUG_SPLIT_STACKS=1` asks for two. Programs give the same
//! results with it as without: the test suites that run so show that the thunks switch stacks wherever they must.
//!
//! # Invariants
//! * `ThreadContext::managed_base` does not change while the thread is attached.
//! * Managed frames are on the managed stack only, and all other frames on the native stack only. What a thunk pushes on its way out
//!   of managed code, the exit record included, is on the managed stack; entry records are on the native stack.
//! * A managed stack belongs to a [`Thread`], so the next OS thread that uses the same [`Thread`] gets it.
use crate::safepoint::registry::Thread;
use std::sync::atomic::{AtomicBool, Ordering};

/// Do OS threads have a stack of their own for managed frames?
static SPLIT: AtomicBool = AtomicBool::new(false);

/// Reads the environment. Called once, before the first thread is attached.
pub(crate) fn initialise() {
    let split = std::env::var("VERVET_DEBUG_SPLIT_STACKS").is_ok_and(|v| v == "1");
    SPLIT.store(split, Ordering::Relaxed);
}

/// The managed stack of a thread that is being attached: its lowest and highest address, of at least `size` bytes. Zeros: the
/// thread has one stack for all.
pub(super) fn adopt(thread: &Thread, size: usize) -> (usize, usize) {
    if !SPLIT.load(Ordering::Relaxed) {
        return (0, 0);
    }
    let low = thread.managed_low.load(Ordering::Relaxed);
    let base = thread.own.managed_base.get();
    if low != 0 && base - low >= size {
        return (low, base);
    }
    // (A smaller one that is left over stays mapped: debugging only.)
    let (low, base) = vervet_os::memory::stack(size)
        .unwrap_or_else(|_| vervet_os::allocator::no_memory("a managed stack", size));
    thread.managed_low.store(low, Ordering::Relaxed);
    thread.own.managed_base.set(base);
    (low, base)
}
