//! The atomics, the lock and the sizes: the real ones, or loom's.
//!
//! Invariant: both have the same names, so no other module but `table` knows which it runs with.

#[cfg(feature = "loom")]
pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(not(feature = "loom"))]
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(not(feature = "loom"))]
pub(crate) use vervet_os::LeafLock;

#[cfg(not(feature = "loom"))]
mod sizes {
    /// Ids that a local queue holds; a power of two. A full queue costs one hand-over of half of it per 128 pushes; a longer one would make
    /// a carrier keep threads that idle processors get only by stealing.
    pub(crate) const ROOM: usize = 256;
    /// How often a searching carrier looks at all other processors before it gives up.
    pub(crate) const SEARCH_ROUNDS: u32 = 4;
    /// How often a carrier that has found nothing looks at descriptors before it rests; a round takes a microsecond.
    pub(crate) const SPIN_MOST: u32 = 32;
    /// How many expired timers are taken under one lock.
    pub(crate) const TIMER_BATCH: usize = 128;
}
#[cfg(feature = "loom")]
mod sizes {
    pub(crate) const ROOM: usize = 4;
    pub(crate) const SEARCH_ROUNDS: u32 = 1;
    pub(crate) const SPIN_MOST: u32 = 2;
    pub(crate) const TIMER_BATCH: usize = 2;
    /// Elements of a table.
    pub(crate) const TABLE: usize = 8;
}
pub(crate) use sizes::*;
/// What a full queue hands over, and a thief takes, at most.
pub(crate) const HALF: usize = ROOM / 2;

/// A value on cache lines of its own (two, because processors fetch lines in pairs), so that a write to its neighbour does not take it away.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Padded<T>(pub(crate) T);

impl<T> std::ops::Deref for Padded<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

/// As without the feature, of loom's.
#[cfg(feature = "loom")]
#[derive(Debug)]
pub(crate) struct LeafLock<T>(loom::sync::Mutex<T>);
#[cfg(feature = "loom")]
impl<T> LeafLock<T> {
    pub(crate) fn new(value: T) -> LeafLock<T> {
        LeafLock(loom::sync::Mutex::new(value))
    }
    pub(crate) fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
        match self.0.lock() {
            Ok(guard) => guard,
            Err(poisoned) => poisoned.into_inner(),
        }
    }
}
#[cfg(feature = "loom")]
impl<T: Default> Default for LeafLock<T> {
    fn default() -> LeafLock<T> {
        LeafLock::new(T::default())
    }
}
