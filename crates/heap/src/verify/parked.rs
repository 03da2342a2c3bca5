//! Parked threads: what minor collections may pass by.
//!
//! # Invariants that are checked
//! * The known references of a parked thread are references to objects.
//! * Of a thread that the next minor collection does not visit, none of these refers to a young object, and no word of the stack lies in a block that
//!   was in the nursery when the thread was visited last ([`crate::minor::parked`]).
//!
//! That such a thread has not run since is the world's to check ([`World::check`]).
use super::Verifier;
use crate::model::{Model, ParkedSet, World};
use crate::object::Slot;
use crate::roots::conservative::{words, young_block};
use std::sync::atomic::Ordering::*;

impl<M: Model, W: World> Verifier<'_, M, W> {
    pub(super) fn parked(&self) {
        let (space, world) = (&self.heap.space, &self.heap.world);
        world.parked_roots(ParkedSet::All, &mut |roots, notes| {
            let is_passed_by = self.heap.is_passed_by(notes.load(Relaxed));
            for &root in roots {
                // SAFETY: the world promises that it names references; they stay where they are while it is stopped.
                let slot = unsafe { Slot::new(root) };
                self.field(0, slot, false);
                let object = slot.load(Relaxed);
                if is_passed_by && young_block(space, object).is_some() {
                    self.wrong(
                        object,
                        "is young, and a root of a parked thread that minor collections pass by",
                    );
                }
            }
            !is_passed_by
        });
        world.parked_stacks(ParkedSet::All, &mut |ranges, notes| {
            let round = notes.load(Relaxed);
            if !self.heap.is_passed_by(round) {
                return;
            }
            for at in ranges.iter().flat_map(|r| words(r.0, r.1)) {
                // SAFETY: the world says these words are readable, and their threads are parked.
                let word = unsafe { vervet_os::memory::stack_word(at) };
                if let Some(block) = young_block(space, word)
                    && (space.info(block).live.load(Relaxed).wrapping_sub(round) as i32) < 0
                {
                    self.damaged(&format!(
                        "the word {word:#x} at {at:#x}, of a parked thread that minor collections pass by since round {round}, lies in the nursery block {block}, which is older"
                    ));
                }
            }
        });
    }
}
