//! Is there space for what the program allocates, and for the collection that follows? What is counted for the answer: [`crate::space`]'s
//! `reserve`.
//!
//! # Invariants
//! * The heap is full beyond its limit of bytes, or if less of its address range is free than what the program may be handed until the next
//!   collection plus what that collection may need: it copies what was handed out, what the last one left young, and sparse blocks.
//! * Mutators are handed at most [`Config::nursery`](crate::Config::nursery) bytes between two checks, however often collections that the
//!   program asked for have started the nursery anew meanwhile.
//! * A program that finds the heap full may still allocate a little, to report it ([`GRACE`]). When that is used up too, each stop leaves the
//!   heap [strained](Heap::is_strained), and nothing is handed out before there is space.
use crate::Heap;
use crate::model::{Model, World};
use crate::space::BLOCK;
use std::sync::atomic::Ordering::Relaxed;

/// How many nurseries a program may fill beyond the limit, so that it can report that the heap is full.
const GRACE: usize = 1;
/// Blocks that one worker may leave partly filled: of survivors, of promoted objects, and the overflow block.
const PARTLY: usize = 3;

impl<M: Model, W: World> Heap<M, W> {
    /// Is there space for `more` bytes, perhaps after a collection?
    pub(crate) fn ensure_space(&self, more: usize) -> bool {
        self.reserve.unseen.store(0, Relaxed);
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
    /// Would the heap, with `more` bytes more, exceed its limit by `grace` nurseries?
    fn is_beyond(&self, more: usize, grace: usize) -> bool {
        let nursery = self.config.nursery;
        let limit = self.config.max_heap.saturating_add(grace * nursery);
        let bytes = self.old_bytes().saturating_add(more);
        bytes.saturating_add(nursery) > limit
            || self.space.available()
                < more.saturating_add(self.needed() + (GRACE - grace) * nursery)
    }
    /// Bytes of the address range that may be handed out until the next collection, plus what that collection may need.
    fn needed(&self) -> usize {
        let nursery = self.config.nursery;
        let copied = nursery + self.reserve.young.load(Relaxed);
        // An object of up to an eighth of a block may not fit what is left of one.
        nursery + copied / 8 * 9 + self.config.evacuate + self.workers.count() * PARTLY * BLOCK
    }
}
