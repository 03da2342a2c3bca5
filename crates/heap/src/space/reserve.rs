//! What is counted between two collections so that the next one has the space it may need. The decisions are made in `capacity.rs`.
//!
//! # Invariants
//! The fields are counts and hints. They are read and written relaxed: a thread that sees an old value checks a little later.
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// What is counted between two collections. See the module.
#[derive(Default)]
pub(crate) struct CopyReserve {
    /// Bytes of young memory handed out since a thread last checked whether the heap is full.
    pub(crate) unseen: AtomicUsize,
    /// The heap was strained at the end of the last stop.
    strained: AtomicBool,
    /// Bytes of the nursery blocks that the last collection kept: the next one may have to copy them.
    pub(crate) young: AtomicUsize,
}

impl CopyReserve {
    /// Must the calling thread check whether the heap is full? `nursery` bytes may be handed out between two checks.
    pub fn check_is_due(&self, nursery: usize) -> bool {
        self.unseen.load(Relaxed) >= nursery || self.strained.load(Relaxed)
    }
    /// `bytes` bytes of young memory were handed out.
    pub fn handed_out(&self, bytes: usize) {
        self.unseen.fetch_add(bytes, Relaxed);
    }
    /// The next thread that allocates must check.
    pub fn check_next(&self) {
        self.unseen.store(usize::MAX / 2, Relaxed);
    }
    /// A collection has left nursery blocks of `bytes` bytes.
    pub fn set_young(&self, bytes: usize) {
        self.young.store(bytes, Relaxed);
    }
    /// A stop ends; see `Heap::is_strained`.
    pub fn set_strained(&self, is: bool) {
        self.strained.store(is, Relaxed);
    }
}
