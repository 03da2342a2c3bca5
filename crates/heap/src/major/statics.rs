//! Root memory in a cycle: it is scanned beside the program, because every thread has thread statics, and there may be a million threads.
//!
//! # Invariants
//! * A word that is stored to after it was scanned lies on a marked card, which the final mark pause scans again.
//! * The marker may read a word while its piece is given back. What it reads is a reference: the word's `start` bit is set before and after it reads
//!   the word, and while marking runs no piece that was given back is used for words of another kind (`World`'s part of the bargain:
//!   [`Heap::forget_statics`]).
//! * A word that refers into a block to be evacuated is recorded, as fields of objects are.
use super::marking::Marking;
use super::sweep::BATCH;
use crate::Heap;
use crate::model::{Model, World};
use crate::object::Slot;
use crate::space::{BlockId, BlockKind, Card};
use std::sync::atomic::Ordering::*;

impl<M: Model, W: World> Heap<M, W> {
    /// On the collector's thread: marks what root memory refers to, in steps inside the gate. Root memory that is made later holds what was stored
    /// there since, on marked cards.
    pub(super) fn scan_statics_beside(&self) {
        let (mut b, used) = (0, self.space.used());
        while b < used {
            let end = (b + BATCH).min(used);
            self.gate.step(|| {
                let mut marker = self.major.marker(0);
                let mut m = self.exclusive_marking(&mut marker);
                while b < end && !self.gate.yield_requested() {
                    m.mark_statics_of(BlockId::new(b));
                    b += 1;
                }
            });
            self.be_slow();
        }
    }
    /// With the world stopped: marks what root memory refers to.
    pub(super) fn mark_all_statics(&self, m: &mut Marking<'_, M, W>) {
        for b in self.space.all_blocks() {
            m.mark_statics_of(b);
        }
    }
}

impl<M: Model, W: World> Marking<'_, M, W> {
    /// Marks what a block of root memory refers to, if it is one.
    fn mark_statics_of(&mut self, block: BlockId) {
        let space = &self.heap.space;
        if space.published_kind(block) == BlockKind::Statics {
            for card in space.cards_of(block) {
                self.mark_statics(card);
            }
        }
    }
    /// Marks what the words of a card of root memory refer to.
    pub(super) fn mark_statics(&mut self, card: Card) {
        let space = &self.heap.space;
        for word in card.words(space.start_word(card).load(Acquire)) {
            // SAFETY: a word of root memory with a `start` bit, which is looked at again before the value is used: see the module.
            let slot = unsafe { Slot::new(word) };
            let object = slot.load(Acquire);
            if object != 0 && space.is_start(word) {
                self.mark_loaded(slot, object);
            }
        }
    }
}
