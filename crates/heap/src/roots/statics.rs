//! Root memory: static fields, literals, root slots. These words never move. A collection scans those on marked cards; a marker scans all.
//!
//! # Invariants
//! * A word is a reference exactly if its `start` bit is set, and the bit is set before anybody stores a reference there.
//! * Stores mark cards, as in objects.
//! * A conservative reference into root memory keeps nothing alive.
use crate::Heap;
use crate::model::{Model, World};
use crate::object::Slot;
use crate::space::{BLOCK, BlockId, BlockKind};
use std::sync::atomic::Ordering::*;
use vervet_os::perturb;

impl<M: Model, W: World> Heap<M, W> {
    /// `bytes` zeroed bytes, 8-aligned; the words whose numbers `references` gives are references. None: no memory.
    pub fn allocate_statics(
        &self,
        bytes: usize,
        references: impl Iterator<Item = usize>,
    ) -> Option<usize> {
        let bytes = (bytes + 7) & !7;
        let at = {
            let mut s = self.statics.lock();
            if s.end - s.next < bytes {
                let blocks = bytes.div_ceil(BLOCK);
                let first = self.space.alloc_run(blocks)?;
                let from = self.space.address(first);
                let to = from + blocks * BLOCK;
                // SAFETY: the blocks were just allocated, so nobody needs what is in them.
                unsafe { crate::memory::discard(from, to) };
                for b in first.run(blocks) {
                    self.space.clear_starts(b);
                    self.space.info(b).age.store(0, Relaxed);
                }
                self.space.clean_cards(from, to - from);
                for b in first.run(blocks) {
                    self.space.set_kind(b, BlockKind::Statics);
                }
                (s.next, s.end) = (from, to);
            }
            s.next += bytes;
            s.next - bytes
        };
        // Root memory of which nothing is known to be a reference.
        perturb::here();
        for w in references {
            debug_assert!(w * 8 < bytes);
            self.space.set_start(at + 8 * w);
        }
        Some(at)
    }
    /// The words of a piece are no references any more, and zero. While marking runs the piece is not used again: the marker may be looking at it.
    pub fn forget_statics(&self, at: usize, bytes: usize) {
        for w in (at..at + bytes).step_by(8) {
            self.space.clear_start(w);
            // SAFETY: the piece is the caller's.
            unsafe { (*(w as *const std::sync::atomic::AtomicUsize)).store(0, Release) };
        }
    }
    /// Makes words of a piece references.
    pub fn map_statics(&self, at: usize, references: impl Iterator<Item = usize>) {
        for w in references {
            self.space.set_start(at + 8 * w);
        }
    }
    /// Is the word at that address of root memory a reference?
    pub fn is_static_reference(&self, at: usize) -> bool {
        self.space.kind_at(at) == BlockKind::Statics && self.space.is_start(at)
    }
    /// Calls `visit` with every reference in a block of root memory. The world is stopped.
    pub(crate) fn each_static(&self, block: BlockId, mut visit: impl FnMut(Slot)) {
        for card in self.space.cards_of(block) {
            for word in card.words(self.space.start_word(card).load(Acquire)) {
                // SAFETY: a word of root memory with a `start` bit is a reference, and root memory is never unmapped.
                visit(unsafe { Slot::new(word) });
            }
        }
    }
}
