//! What is counted between two collections so that the next one has the space it may need. The decisions are made in `capacity.rs`.
//!
//! # Invariants
//! The fields are counts and hints. They are read and written relaxed: a thread that sees an old value checks a little later.
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// What is known of the room between two collections.
#[derive(Default)]
pub(crate) struct CopyReserve {
    /// Bytes handed out since somebody looked.
    pub(crate) unseen: AtomicUsize,
    /// The heap was strained when the world last went on.
    strained: AtomicBool,
    /// Bytes of the nursery blocks that the last collection kept.
    pub(crate) young: AtomicUsize,
}

impl CopyReserve {
    /// Is somebody to look whether the heap is full? `nursery` bytes may be handed out between two looks.
    pub fn check_is_due(&self, nursery: usize) -> bool {
        self.unseen.load(Relaxed) >= nursery || self.strained.load(Relaxed)
    }
    /// So many bytes of young memory were handed out.
    pub fn handed_out(&self, bytes: usize) {
        self.unseen.fetch_add(bytes, Relaxed);
    }
    /// Whoever is next is to look.
    pub fn check_next(&self) {
        self.unseen.store(usize::MAX / 2, Relaxed);
    }
    /// A collection has left nursery blocks of so many bytes.
    pub fn set_young(&self, bytes: usize) {
        self.young.store(bytes, Relaxed);
    }
    /// A stop ends: see [`Heap::is_strained`].
    pub fn set_strained(&self, is: bool) {
        self.strained.store(is, Relaxed);
    }
}
