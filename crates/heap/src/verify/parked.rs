//! Parked threads: what minor collections may pass by.
//!
//! # Invariants that are checked
//! * The known references of a parked thread are references to objects.
//! * Of a thread that the next minor collection does not visit, none of these refers to a young object, and no word of the stack lies in a block that
//!   has been in the nursery since before the thread was visited first ([`crate::minor::parked`]).
//!
//! * Of a thread that marking has scanned and that has not run since, none of these refers to a white object, nor does a word of the stack.
//!
//! That such a thread has not run since is the world's to check ([`World::check`]).
use super::Verifier;
use crate::model::{Model, ParkedSet, World};
use crate::object::Slot;
use crate::roots::conservative::{Cursor, object_at, words, young_block};
use crate::space::BlockKind;
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
        if self.heap.major.is_marking() {
            self.marked_parked();
        }
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
                        "the word {word:#x} at {at:#x}, of a parked thread that minor collections pass by and visited before round {round} first, lies in the nursery block {block}, which is older"
                    ));
                }
            }
        });
    }
    /// What scanned threads refer to is marked.
    fn marked_parked(&self) {
        let (space, world) = (&self.heap.space, &self.heap.world);
        let check = |word: usize| {
            let Some(object) = object_at::<M>(space, word, &mut Cursor::default()) else {
                return;
            };
            let is_white = match space.kind_at(object) {
                BlockKind::Old => !space.is_marked(object),
                BlockKind::Large => space.info(space.block(object)).large_marked.load(Relaxed) == 0,
                _ => false,
            };
            if is_white {
                self.wrong(
                    object,
                    "is white, and referred to by a parked thread that marking has scanned",
                );
            }
        };
        world.parked_stacks(ParkedSet::Marked, &mut |ranges, _| {
            for at in ranges.iter().flat_map(|r| words(r.0, r.1)) {
                // SAFETY: the world says these words are readable, and their threads are parked.
                check(unsafe { vervet_os::memory::stack_word(at) });
            }
        });
        world.parked_roots(ParkedSet::Marked, &mut |roots, _| {
            for &root in roots {
                // SAFETY: the world promises that it names references; they stay where they are while it is stopped.
                check(unsafe { Slot::new(root) }.load(Relaxed));
            }
            true
        });
    }
}
