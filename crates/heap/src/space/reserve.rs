//! Is there room for what the program allocates, and for the collection that follows?
//!
//! # Invariants
//! * The heap is full beyond its limit of bytes, or if less of its address range is free than what the program may be handed until the
//!   next collection, and what that one may need: it copies what was handed out, what the last one left young, and sparse blocks.
//! * Whoever is handed young memory has looked after every [`Config::nursery`](crate::Config::nursery) bytes at the latest, however often
//!   collections that the program asked for have made the nursery anew meanwhile.
//! * A program that finds the heap full may still allocate a little, to say so ([`GRACE`]). When that is used up too, each stop leaves
//!   the heap [strained](Heap::is_strained), and nothing is handed out before there is room.
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
