//! Is there space for what the program allocates, and for the collection that follows? What is counted for the answer: [`crate::space`]'s
//! `reserve`.
//!
//! # Invariants
//! * The heap is full beyond its limit of bytes, or if less of its address range is free than what the program may be handed until the next
//!   collection plus what that collection may need: it copies what was handed out, what the last one left young, and sparse blocks.
//! * Mutators are handed at most [`Config::nursery`](crate::Config::nursery) bytes between two checks, however often collections that the
//!   program asked for have started the nursery anew meanwhile.
//! * An empty heap is not full: [`Config::fit`](crate::Config::fit) makes the nursery and the budget of evacuation small enough for the range
//!   and the limit, or refuses the range.
//! * A program that finds the heap full may still allocate a little, to report it ([`GRACE`]). When that is used up too, each stop leaves the
//!   heap [strained](Heap::is_strained), and nothing is handed out before there is space.
use crate::Heap;
use crate::config::GRACE;
use crate::model::{Model, World};
use std::sync::atomic::Ordering::Relaxed;

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
    /// Would the heap, with `more` bytes more, exceed its limit by `grace` nurseries of the greatest size?
    fn is_beyond(&self, more: usize, grace: usize) -> bool {
        let nursery = self.config.nursery_most;
        let limit = self.config.max_heap.saturating_add(grace * nursery);
        let young = self.reserve.young.load(Relaxed);
        let bytes = self.old_bytes().saturating_add(more);
        bytes.saturating_add(nursery) > limit
            || self.space.available()
                < more.saturating_add(self.config.needed(young) + (GRACE - grace) * nursery)
    }
}
