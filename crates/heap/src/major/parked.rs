//! Parked threads in a cycle: they are scanned beside the program.
//!
//! ```text
//!   phase                the threads that are scanned
//!   -------------------  ------------------------------------------------------------------------------------------------
//!   initial mark pause   those that run
//!   concurrent marking   those that are parked and have not run since they were scanned in this cycle; three times
//!   final mark pause     those that run, and those that were parked since they were scanned
//! ```
//! [`World::parked_beside`] keeps a thread from running while the marker scans it.
//!
//! # Invariants
//! * A thread that was scanned in this cycle and has not run since refers to no white object. What it refers to was marked when it was scanned; what
//!   was young then is marked if it becomes old while marking runs, or is one of the young objects that the final mark pause scans.
//! * A word of its stack that lay in no object then is no reference, whatever lies there later.
//! * So every block that such a thread may refer to is known before the first object is evacuated: it is conservatively hit, or the reference is
//!   recorded.
use super::marking::Marking;
use crate::Heap;
use crate::model::{Model, Range, World};
use crate::object::Slot;
use crate::roots::conservative::{self, Cursor};
use crate::space::BlockKind;
use std::sync::atomic::Ordering::*;
use vervet_os::perturb;

/// Threads that are scanned in one step of the gate.
const STEP: usize = 16;

impl<M: Model, W: World> Heap<M, W> {
    /// On the collector's thread: scans the threads that are parked and have run since they were scanned, in steps inside the gate.
    pub(super) fn scan_parked_beside(&self) {
        let mut from = 0;
        loop {
            let next = self.gate.step(|| {
                let mut marker = self.major.marker(0);
                let mut m = self.exclusive_marking(&mut marker);
                let mut left = STEP;
                self.world.parked_beside(from, &mut |ranges, roots| {
                    m.mark_parked_stack(ranges);
                    m.mark_parked_roots(roots);
                    left -= 1;
                    perturb::here();
                    left > 0 && !self.gate.yield_requested()
                })
            });
            match next {
                Some(next) => from = next,
                None => return,
            }
            self.be_slow();
            perturb::here();
        }
    }
}

impl<M: Model, W: World> Marking<'_, M, W> {
    /// Marks what the known references of a parked thread refer to.
    pub(super) fn mark_parked_roots(&mut self, roots: &[usize]) {
        for &root in roots {
            // SAFETY: the world promises that it names references. They are parts of threads, which stay there, so they are references until the
            // cycle ends.
            self.mark_field(unsafe { Slot::new(root) });
        }
    }
    /// Marks what a parked thread's stack may refer to. Their blocks are not evacuated.
    fn mark_parked_stack(&mut self, ranges: &[Range]) {
        let space = &self.heap.space;
        for at in ranges.iter().flat_map(|r| conservative::words(r.0, r.1)) {
            // SAFETY: the world says these words are readable.
            let word = unsafe { vervet_os::memory::stack_word(at) };
            // Published: a mutator may be making a large object. Young objects move, so marking has nothing to do with them.
            let is_old = |address| {
                space.block_of(address).is_some_and(|block| {
                    matches!(
                        space.published_kind(block),
                        BlockKind::Old | BlockKind::Large | BlockKind::LargeTail
                    )
                })
            };
            let cursor = &mut Cursor::default();
            conservative::each_object::<M>(space, word, cursor, is_old, |object| {
                let block = space.block(object);
                if space.published_kind(block) == BlockKind::Old {
                    space.info(block).conservatively_hit.store(1, Relaxed);
                }
                // SAFETY: the object was found by its `start` bit, or is a large one; marking keeps it.
                unsafe { self.mark_object(object) };
            });
        }
    }
}
