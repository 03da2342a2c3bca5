//! What the lock-free files are made of. The models give them loom's instead (`tests/models.rs`), so they name it by way of here.
pub(crate) use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
pub(crate) use vervet_os::lock::LeafGuard;
pub(crate) use vervet_os::{LeafLock, clock, futex};

/// Sequentially consistent accesses before and after are in one order for all threads. They are, by what they are; loom takes them for acquire
/// and release, and has to be told by a fence.
#[inline(always)]
pub(crate) fn in_order() {}
