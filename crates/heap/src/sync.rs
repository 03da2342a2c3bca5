//! The atomics, locks and clocks of the lock-free files. `tests/models.rs` compiles these files once more with loom's, so they name their
//! primitives by way of this module only.
pub(crate) use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
pub(crate) use vervet_os::lock::LeafGuard;
pub(crate) use vervet_os::{LeafLock, clock, futex};

/// Sequentially consistent accesses before and after are in one order for all threads. They are, by what they are; loom takes them for acquire
/// and release, and has to be told by a fence.
#[inline(always)]
pub(crate) fn in_order() {}
