//! The card table and the mod-union table of a space.
//!
//! Generated code marks `cards[(address >> 9) & card_mask]` after it has stored a reference. The table may have fewer cards than the
//! address space: it wraps, and a mutator that stores outside the heap marks a card that belongs to nothing or to another object, which costs
//! a scan and is otherwise harmless.
//!
//! # Invariants
//! * The cards of one block are adjacent: the heap is not larger than the table covers, and both are aligned to blocks.
//! * The mod-union table has one bit for each card of the space, and does not wrap.
//! * How marks are set, cleaned and recorded: [`super::card_marks`].
use super::Space;
use super::block::BLOCK;
use super::card::{CARD, Card};
use super::card_marks::{self, CLEAN};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::*};

/// Calls `f` with each dirty card of eight, of which `first` is the first.
fn each_dirty(eight: u64, first: Card, f: &mut impl FnMut(Card)) {
    if eight != u64::MAX {
        for (i, card) in eight.to_le_bytes().into_iter().enumerate() {
            if card != CLEAN {
                f(first.plus(i));
            }
        }
    }
}

impl Space {
    /// Base of the card table.
    pub fn cards(&self) -> usize {
        self.cards
    }
    /// The address of a card's byte.
    #[inline]
    fn card_at(&self, card: Card) -> usize {
        self.cards + (card.number() & self.card_mask)
    }
    /// The byte of a card.
    #[inline]
    pub fn card(&self, card: Card) -> &AtomicU8 {
        // SAFETY: the table has a byte for every masked number.
        unsafe { &*(self.card_at(card) as *const AtomicU8) }
    }
    /// Marks the card of an address.
    #[inline]
    pub fn dirty(&self, address: usize) {
        card_marks::mark(self.card(Card::of(address)));
    }
    /// Makes all cards of `[from, from + size)` clean. Both are multiples of a card.
    pub fn clean_cards(&self, from: usize, size: usize) {
        // SAFETY: the cards of a block lie side by side: the heap is not larger than the table covers, and both are aligned
        // to blocks.
        let at = self.card_at(Card::of(from)) as *mut u8;
        let first = Card::of(from).number() & self.card_mask;
        let n = size.div_ceil(CARD);
        let here = n.min(self.card_mask + 1 - first);
        // SAFETY: the first part ends at the table's end at the latest; the rest goes on at its beginning.
        unsafe {
            std::ptr::write_bytes(at, CLEAN, here);
            std::ptr::write_bytes(self.cards as *mut u8, CLEAN, n - here);
        }
    }
    /// Calls `f` with each dirty card in `[from, to)` (multiples of 8 cards).
    #[inline]
    pub fn dirty_cards(&self, from: usize, to: usize, mut f: impl FnMut(Card)) {
        let mut at = from;
        while at < to {
            // The cards of a block lie side by side; those of the next may begin the table again.
            let end = to.min((at & !(BLOCK - 1)) + BLOCK);
            let first = self.card_at(Card::of(at)) as *const AtomicU64;
            // SAFETY: 8 cards are aligned, since `at` is a multiple of 4 KiB, and the table has those of the whole block.
            let eights = unsafe { std::slice::from_raw_parts(first, (end - at) / (8 * CARD)) };
            for many in eights.chunks(8) {
                // 64 cards at a time: mostly all are clean, and a large heap has many.
                if many.iter().fold(u64::MAX, |all, e| all & e.load(Relaxed)) != u64::MAX {
                    for (i, eight) in many.iter().enumerate() {
                        each_dirty(eight.load(Relaxed), Card::of(at).plus(8 * i), &mut f);
                    }
                }
                at += many.len() * 8 * CARD;
            }
        }
    }
    fn mod_union_cell(&self, card: Card) -> (&AtomicU8, u8) {
        let card = self.card_number(card);
        // SAFETY: the table has a bit for each card of the range.
        (
            unsafe { &*((self.mod_union + card / 8) as *const AtomicU8) },
            1 << (card % 8),
        )
    }
    /// Records that a card was dirty while marking ran.
    pub fn set_mod_union(&self, card: Card) {
        let (cell, bit) = self.mod_union_cell(card);
        card_marks::record(cell, bit);
    }
    /// Is a card recorded?
    pub(crate) fn has_mod_union(&self, card: Card) -> bool {
        let (cell, bit) = self.mod_union_cell(card);
        cell.load(Relaxed) & bit != 0
    }
    /// Takes the records of 8 cards, one bit each; `first` is the first of them, and its number is a multiple of 8.
    pub fn take_mod_union(&self, first: Card) -> u8 {
        card_marks::take(self.mod_union_cell(first).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::CARDS;

    #[test]
    fn dirty_cards_are_found_once_each_also_where_the_table_begins_again() {
        const BLOCKS: usize = 24;
        // The table has cards for 16 blocks only, and is clean.
        let mut table = vec![CLEAN; 16 * CARDS + 8];
        let aligned = table.as_mut_ptr().align_offset(8);
        let cards = table[aligned..].as_mut_ptr() as usize;
        let space = Space {
            base: 7 * BLOCK,
            blocks: BLOCKS,
            cards,
            card_mask: 16 * CARDS - 1,
            ..Space::new(16 * BLOCK, cards, 16 * CARDS - 1).expect("a space")
        };
        let (from, to) = (9 * BLOCK + 8 * CARD, 18 * BLOCK + 72 * CARD);
        let inside = [
            0,
            1,
            7,
            8,
            63,
            64,
            119,
            120,
            127,
            128 * 3 + 5,
            128 * 8 + 191 - 8,
        ];
        let outside = [usize::MAX, 128 * 9 + 64];
        for at in inside.iter().chain(&outside) {
            space.dirty(from.wrapping_add(at.wrapping_mul(CARD)));
        }
        let mut found = Vec::new();
        space.dirty_cards(from, to, |card| found.push((card.address() - from) / CARD));
        assert_eq!(found, inside);
    }
}
