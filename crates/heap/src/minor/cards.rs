//! Cards of old memory, in a minor collection: the objects on the marked ones are roots.
//!
//! # Invariants
//! * A card is cleaned before its objects are looked at, and marked again if one of them still refers to a young object. Of a table of
//!   pairs, those on the card are looked at.
//! * A card that is cleaned while marking runs goes to the mod-union table first, so the marker loses no store.
use crate::memory::prefetch;
use crate::minor::copying::{Evacuation, header_of};
use crate::model::{Contents, Model, World};
use crate::references::ephemerons::Row;
use crate::space::card_marks;
use crate::space::old::reaching_into;
use crate::space::{BLOCK, CARD, Kind};
use std::sync::atomic::{AtomicU64, Ordering::*};

/// Marked cards whose memory is on its way before they are looked at.
const AHEAD: usize = 4;

/// Marked cards of old blocks that are to be looked at soon, or 0.
#[derive(Default)]
pub(crate) struct Soon {
    cards: [usize; AHEAD],
    next: usize,
}

impl<M: Model, W: World, const IN_PLACE: bool, const MARKING: bool>
    Evacuation<'_, M, W, IN_PLACE, MARKING>
{
    /// Looks at the marked cards of a block.
    pub(crate) fn cards(&mut self, block: usize) {
        let space = self.space();
        let base = space.address(block);
        match space.kind(block) {
            Kind::Old => space.dirty_cards(base, base + BLOCK, |card| self.soon(card)),
            Kind::Large => {
                let info = space.info(block);
                if info.flag.load(Relaxed) == 0 {
                    return;
                }
                let size = info.size.load(Relaxed);
                let end = (base + size + 8 * CARD - 1) & !(8 * CARD - 1);
                space.dirty_cards(base, end, |card| self.object_card(base, card));
            }
            Kind::Statics => space.dirty_cards(base, base + BLOCK, |card| {
                space.card(card).store(crate::space::CLEAN, Relaxed);
                let mut bits = space.start_word(card).load(Relaxed);
                while bits != 0 {
                    let slot = card + 8 * bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    if self.slot(slot) {
                        space.dirty(slot);
                    }
                }
            }),
            _ => {}
        }
    }
    /// Looks at a card of an old block when its memory has come; now at one that was met before.
    fn soon(&mut self, card: usize) {
        prefetch(self.space().start_word(card) as *const AtomicU64 as usize);
        for line in (card..card + CARD).step_by(64) {
            prefetch(line);
        }
        let soon = &mut self.worker.soon;
        let before = std::mem::replace(&mut soon.cards[soon.next], card);
        soon.next = (soon.next + 1) % AHEAD;
        self.look_at_card(before);
    }
    fn look_at_card(&mut self, card: usize) {
        if card != 0 {
            self.old_card(self.space().block(card), card);
        }
    }
    /// Looks at the cards that are left.
    pub(crate) fn last_cards(&mut self) {
        for card in std::mem::take(&mut self.worker.soon.cards) {
            self.look_at_card(card);
        }
    }
    fn clean(&self, card: usize) {
        let space = self.space();
        if MARKING {
            space.set_mod_union(card);
        }
        card_marks::clean(space.card(card), self.alone);
    }
    fn old_card(&mut self, block: usize, card: usize) {
        let space = self.space();
        self.clean(card);
        if let Some(first) = reaching_into::<M>(space, block, card) {
            self.card_of(first, card);
        }
        let mut bits = space.live_starts(block, card);
        while bits != 0 {
            let object = card + 8 * bits.trailing_zeros() as usize;
            bits &= bits - 1;
            self.card_of(object, card);
        }
    }
    fn object_card(&mut self, object: usize, card: usize) {
        self.clean(card);
        self.card_of(object, card);
    }
    fn card_of(&mut self, object: usize, card: usize) {
        let space = self.space();
        let header = header_of(object).load(Relaxed);
        // SAFETY: a live old object with its header.
        match unsafe { M::contents(header) } {
            Contents::Plain => {}
            Contents::Ephemerons => {
                let row = Row::of::<M>(object).on(card);
                if row.len() > 0 {
                    self.worker.ephemerons.push(row);
                }
            }
            // SAFETY: as above.
            Contents::References => unsafe {
                M::visit(object, header, card, card + CARD, |slot| {
                    if self.slot(slot) {
                        space.dirty(slot);
                    }
                })
            },
        }
    }
}
