//! Is there room for what the program allocates, and for the collection that follows?
//!
//! # Invariants
//! * The heap is full beyond its limit of bytes, or if less of its address range is free than what the program may be handed until the
//!   next collection, and what that one may need: it copies what was handed out, what the last one left young, and sparse blocks.
//! * Whoever is handed young memory has looked after every [`Config::nursery`](crate::Config::nursery) bytes at the latest, however often
//!   collections that the program asked for have made the nursery anew meanwhile.
//! * A program that finds the heap full may still allocate a little, to say so ([`GRACE`]). When that is used up too, each stop leaves
//!   the heap [strained](Heap::is_strained), and nothing is handed out before there is room.
use crate::Heap;
use crate::model::{Model, World};
use crate::space::BLOCK;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// How many nurseries a program may fill beyond the limit.
const GRACE: usize = 1;
/// Blocks that a worker may leave partly filled: of survivors, of what is promoted, and of what fits no hole.
const PARTLY: usize = 3;

/// What is known of the room between two collections.
#[derive(Default)]
pub(crate) struct Room {
    /// Bytes handed out since somebody looked.
    unseen: AtomicUsize,
    /// The heap was strained when the world last went on.
    strained: AtomicBool,
    /// Bytes of the nursery blocks that the last collection kept.
    young: AtomicUsize,
}

impl Room {
    /// Is somebody to look whether the heap is full? `nursery` bytes may be handed out between two looks.
    pub fn is_to_be_looked_at(&self, nursery: usize) -> bool {
        self.unseen.load(Relaxed) >= nursery || self.strained.load(Relaxed)
    }
    /// So many bytes of young memory were handed out.
    pub fn handed_out(&self, bytes: usize) {
        self.unseen.fetch_add(bytes, Relaxed);
    }
    /// Whoever is next is to look.
    pub fn look_at_next(&self) {
        self.unseen.store(usize::MAX / 2, Relaxed);
    }
    /// A collection has left nursery blocks of so many bytes.
    pub fn left_young(&self, bytes: usize) {
        self.young.store(bytes, Relaxed);
    }
    /// A stop ends: see [`Heap::is_strained`].
    pub fn strained(&self, is: bool) {
        self.strained.store(is, Relaxed);
    }
}

impl<M: Model, W: World> Heap<M, W> {
    /// Is there room for so many bytes more, perhaps after a collection?
    pub(crate) fn make_room(&self, more: usize) -> bool {
        self.room.unseen.store(0, Relaxed);
        if !self.is_beyond(more, 0) {
            return true;
        }
        self.collect_all();
        !self.is_beyond(more, 0)
    }
    /// Is the heap so full that nothing may be handed out?
    pub(crate) fn is_strained(&self) -> bool {
        self.is_beyond(0, GRACE)
    }
    /// Would the heap, with so many bytes more, exceed its limit by so many nurseries?
    fn is_beyond(&self, more: usize, grace: usize) -> bool {
        let nursery = self.config.nursery;
        let limit = self.config.max_heap.saturating_add(grace * nursery);
        let bytes = self.old_bytes().saturating_add(more);
        bytes.saturating_add(nursery) > limit
            || self.space.available()
                < more.saturating_add(self.needed() + (GRACE - grace) * nursery)
    }
    /// Bytes of the address range that are handed out until the next collection, and that it may need.
    fn needed(&self) -> usize {
        let nursery = self.config.nursery;
        let copied = nursery + self.room.young.load(Relaxed);
        // An object of up to an eighth of a block may not fit what is left of one.
        nursery + copied / 8 * 9 + self.config.evacuate + self.gang.workers() * PARTLY * BLOCK
    }
}
