//! Is there space for an allocation?
use crate::Heap;
use crate::model::{Model, World};
use crate::space::BLOCK;
use std::sync::atomic::Ordering::Relaxed;

/// How many nurseries a program may fill beyond the limit.
const GRACE: usize = 1;
/// Blocks that a worker may leave partly filled: of survivors, of what is promoted, and of what fits no hole.
const PARTLY: usize = 3;

impl<M: Model, W: World> Heap<M, W> {
    /// Is there room for so many bytes more, perhaps after a collection?
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
        let copied = nursery + self.reserve.young.load(Relaxed);
        // An object of up to an eighth of a block may not fit what is left of one.
        nursery + copied / 8 * 9 + self.config.evacuate + self.workers.count() * PARTLY * BLOCK
    }
}
