//! Cards as roots of a minor collection: the objects on marked cards of old memory are scanned.
//!
//! # Invariants
//! * A card is cleaned before its objects are scanned, and marked again if one of them still refers to a young object.
//! * Of a large object or a table of ephemerons only the part on the card is scanned.
//! * A card that is cleaned while marking runs is recorded in the mod-union table first, so the marker misses no store.
use super::worker::DISTANCE;
use crate::memory::prefetch;
use crate::minor::copying::Evacuation;
use crate::model::{Contents, Model, World};
use crate::object::{Slot, each_slot, header_of};
use crate::references::ephemerons::EphemeronRange;
use crate::space::card_marks;
use crate::space::old::reaching_into;
use crate::space::{BlockId, BlockKind, CARD, Card};
use std::sync::atomic::{AtomicU64, Ordering::*};

impl<M: Model, W: World, const IN_PLACE: bool, const MARKING: bool>
    Evacuation<'_, M, W, IN_PLACE, MARKING>
{
    /// Scans the marked cards of a block.
    pub(crate) fn scan_cards(&mut self, block: BlockId) {
        let space = self.space();
        let base = space.address(block);
        // Another worker may have made the block an old one in this collection: the cards it has cleaned before are read here.
        match space.published_kind(block) {
            BlockKind::Old => {
                space.dirty_cards(base, space.end(block), |card| self.prefetch_card(card))
            }
            BlockKind::Large => {
                let info = space.info(block);
                if info.has_references.load(Relaxed) == 0 {
                    return;
                }
                let size = info.size.load(Relaxed);
                let end = (base + size + 8 * CARD - 1) & !(8 * CARD - 1);
                space.dirty_cards(base, end, |card| self.scan_large_card(base, card));
            }
            BlockKind::Statics => space.dirty_cards(base, space.end(block), |card| {
                self.clean(card);
                for word in card.words(space.start_word(card).load(Relaxed)) {
                    // SAFETY: a word of root memory with a `start` bit is a reference.
                    if self.slot(unsafe { Slot::new(word) }) {
                        space.dirty(word);
                    }
                }
            }),
            _ => {}
        }
    }
    /// Requests the memory of a card of an old block, and scans the card that was requested [`DISTANCE`] cards before.
    fn prefetch_card(&mut self, card: Card) {
        prefetch(self.space().start_word(card) as *const AtomicU64 as usize);
        for line in (card.address()..card.end()).step_by(64) {
            prefetch(line);
        }
        let pending = &mut self.worker.card_prefetch;
        let before = pending.cards[pending.next].replace(card);
        pending.next = (pending.next + 1) % DISTANCE;
        self.scan_prefetched(before);
    }
    fn scan_prefetched(&mut self, card: Option<Card>) {
        if let Some(card) = card {
            self.scan_old_card(self.space().block(card.address()), card);
        }
    }
    /// Scans the cards that were requested and not scanned yet.
    pub(crate) fn finish_cards(&mut self) {
        for card in std::mem::take(&mut self.worker.card_prefetch.cards) {
            self.scan_prefetched(card);
        }
    }
    fn clean(&self, card: Card) {
        let space = self.space();
        if MARKING {
            space.set_mod_union(card);
        }
        card_marks::clean(space.card(card), self.exclusive);
    }
    fn scan_old_card(&mut self, block: BlockId, card: Card) {
        let space = self.space();
        self.clean(card);
        // SAFETY: the card is one of the old block; the world is stopped, so live objects stay.
        if let Some(first) = unsafe { reaching_into::<M>(space, block, card) } {
            self.scan_object_on_card(first, card);
        }
        for object in card.words(space.live_starts(block, card)) {
            self.scan_object_on_card(object, card);
        }
    }
    fn scan_large_card(&mut self, object: usize, card: Card) {
        self.clean(card);
        self.scan_object_on_card(object, card);
    }
    fn scan_object_on_card(&mut self, object: usize, card: Card) {
        let space = self.space();
        // SAFETY: `object` was found by its `start` bit, or is the head of a large object: its header is there.
        let header = unsafe { header_of(object) }.load(Relaxed);
        // SAFETY: `header` is that of a live object, so it leads to the model's data.
        match unsafe { M::contents(header) } {
            Contents::Plain => {}
            Contents::Ephemerons => {
                // SAFETY: a live old table of ephemerons, which does not move in this collection.
                let row = unsafe { EphemeronRange::of::<M>(object) }.on(card);
                if row.len() > 0 {
                    self.worker.ephemerons.push(row);
                }
            }
            // SAFETY: the object is live and old, has that header, and does not change while the world is stopped.
            Contents::References => unsafe {
                each_slot::<M>(object, header, card.address(), card.end(), |slot| {
                    if self.slot(slot) {
                        space.dirty(slot.address());
                    }
                })
            },
        }
    }
}
