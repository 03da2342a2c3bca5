//! Minor collections that promote everything: every nursery block becomes an old block with all its objects, without tracing.
//!
//! # Invariants
//! * Afterwards nothing is young: no slot changes, no card has to be marked, and marked cards need not be scanned. Fields of dead objects still
//!   refer to objects that are there. The next major collection finds the dead; its first pause begins with a minor collection that traces.
//! * Collections that trace decide how many of these may follow ([`super::promote_all_policy`]).
//! * It is not done while marking runs: the marker would have to scan all these objects, and fall behind.
use crate::Heap;
use crate::memory::poison;
use crate::model::{Model, World};
use crate::roots::conservative::each_young;
use crate::space::lines::Lines;
use crate::space::old;
use crate::space::{BLOCK, BlockId, BlockKind, CARD, CARDS, CLEAN, Space};
use crate::stats::Outcome;
use crate::threads::gate::Stop;
use std::sync::atomic::Ordering::*;

/// A nursery that is going to be promoted as a whole has at most one in this many bytes of the old generation.
const PART: usize = 32;

impl<M: Model, W: World> Heap<M, W> {
    /// Makes everything young old. The world is stopped, and the calling thread collects. The gate is shut when this returns.
    pub(crate) fn promote_everything(&self, stop: &mut Stop<'_>) -> Outcome {
        stop.shut();
        let space = &self.space;
        let mut threads = 0;
        self.world.mutators(&mut |m| {
            threads += 1;
            self.retire(m.tlab);
        });
        let mut promoted = 0;
        for b in space.all_blocks() {
            match space.kind(b) {
                BlockKind::Nursery => promoted += self.promote_block(b),
                BlockKind::Old | BlockKind::Statics => self.clean_block_cards(b, BLOCK),
                BlockKind::Large if space.info(b).has_references.load(Relaxed) != 0 => {
                    self.clean_block_cards(b, space.info(b).size.load(Relaxed));
                }
                _ => {}
            }
        }
        self.old.bytes.fetch_add(promoted, Relaxed);
        let stays = &mut |object| (object, false);
        self.world.strong_handles(true, stays);
        for long in [false, true] {
            self.world.weak_handles(long, true, &mut |o| Some(stays(o)));
        }
        self.world.side_tables(true, &mut |o| Some((o, false)));
        self.finalizers.young_are_old(space);
        self.forget_parked();
        self.reserve.set_young(0);
        let mut nursery = self.nursery.lock();
        nursery.fragments.clear();
        nursery.threads = threads;
        nursery.restart(0, self.promote_all_blocks());
        Outcome {
            promoted,
            ..Outcome::default()
        }
    }
    /// Cleans the cards of a block without scanning them: nothing is young any more that its objects could refer to.
    fn clean_block_cards(&self, block: BlockId, size: usize) {
        let space = &self.space;
        let base = space.address(block);
        space.dirty_cards(base, base + size.next_multiple_of(8 * CARD), |card| {
            space.card(card).store(CLEAN, Relaxed);
        });
    }
    /// How many blocks the nursery may have if the next collection promotes everything, which takes the same short time however much is
    /// young: a small part of the old generation, because all of it may be garbage. 0 if the next collection traces.
    pub(crate) fn promote_all_blocks(&self) -> usize {
        if !self.promote_all.is_left() || self.has_holes() || self.major.is_marking() {
            return 0;
        }
        (self.old_bytes() / PART).min(self.config.nursery / 2) / BLOCK
    }
    /// Makes a nursery block an old one with all its objects; frees it if it has none. Returns their bytes.
    fn promote_block(&self, block: BlockId) -> usize {
        let space = &self.space;
        let base = space.address(block);
        let mut starts = [0u64; CARDS];
        let mut bytes = 0;
        each_young::<M>(space, block, |object, size| {
            starts[(object - base) / CARD] |= Space::bit(object);
            bytes += size;
        });
        if bytes == 0 {
            if self.config.debug.poison {
                // SAFETY: the block has no objects, and is about to be freed.
                unsafe { poison(base, base + BLOCK) };
            }
            space.clear_marks(block);
            space.free_block(block);
            return 0;
        }
        for (card, bits) in space.cards_of(block).zip(starts) {
            space.start_word(card).store(bits, Relaxed);
            space.mark_word(card).store(0, Relaxed);
        }
        self.is_old_now(block, bytes);
        if old::is_recyclable(bytes) {
            // SAFETY: the `start` bits of the block were just made of the objects of its rows; the world is stopped.
            let used = unsafe { Lines::inspect::<M>(space, block) };
            self.old.list_if_recyclable(space, block, &used);
        }
        bytes
    }
}
