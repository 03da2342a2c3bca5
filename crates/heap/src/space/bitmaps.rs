//! The side bitmaps of a space: `start`, `mark` and `finalizable`, one bit for each 8 bytes of the heap.
//!
//! ```text
//!   bitmap        Nursery block                    Old block                         Statics block
//!   start         an object, or the first of a     an object (if unswept: perhaps    the word is a reference
//!                 row of objects without gaps      a dead one)
//!   mark          pinned in this collection, or    reached in this cycle; clear       -
//!                 (in place) reached               once the block is swept
//!   finalizable   the finalizer is to run          the same                           -
//! ```
//!
//! # Invariants
//! * The word of a card can be changed by several threads at once, with an atomic read-modify-write; the methods called `..._exclusive` use
//!   plain loads and stores instead, and their callers are the only ones that change words of that bitmap and block meanwhile.
//! * How `start` and `mark` of a block change while others read them: [`super::block_bits`].
use super::Space;
use super::block::BlockId;
use super::block_bits::{self, CardBits};
use super::card::Card;
use std::sync::atomic::{AtomicU64, Ordering::*};

impl Space {
    #[inline(always)]
    fn word(&self, map: usize, card: Card) -> &AtomicU64 {
        // SAFETY: the map has a word for every card of the range.
        unsafe { &*(map as *const AtomicU64).add(self.card_number(card)) }
    }
    /// The bit of the word of an address in the word of its card.
    #[inline(always)]
    pub(crate) fn bit(address: usize) -> u64 {
        1 << ((address >> 3) & 63)
    }
    /// The `start` bits of a card.
    #[inline(always)]
    pub fn start_word(&self, card: Card) -> &AtomicU64 {
        self.word(self.start, card)
    }
    /// The `mark` bits of a card.
    #[inline(always)]
    pub fn mark_word(&self, card: Card) -> &AtomicU64 {
        self.word(self.mark, card)
    }
    /// Sets a `start` bit.
    #[inline]
    pub fn set_start(&self, address: usize) {
        self.start_word(Card::of(address))
            .fetch_or(Self::bit(address), AcqRel);
    }
    /// Sets `start` bits of a card. No other thread sets any in that block meanwhile.
    #[inline]
    pub fn set_starts_exclusive(&self, card: Card, bits: u64) {
        block_bits::add_starts(self.start_word(card), bits);
    }
    /// Sets `mark` bits of a card. No other thread sets any there meanwhile.
    #[inline]
    pub fn set_marks_exclusive(&self, card: Card, bits: u64) {
        let w = self.mark_word(card);
        w.store(w.load(Relaxed) | bits, Relaxed);
    }
    /// Pins a young object for this collection. Returns whether it was not pinned before.
    pub fn pin(&self, object: usize) -> bool {
        self.info(self.block(object)).pinned.store(1, Relaxed);
        self.set_mark(object)
    }
    /// Clears a `start` bit.
    pub fn clear_start(&self, address: usize) {
        self.start_word(Card::of(address))
            .fetch_and(!Self::bit(address), AcqRel);
    }
    /// Is the `start` bit set?
    #[inline]
    pub fn is_start(&self, address: usize) -> bool {
        self.start_word(Card::of(address)).load(Acquire) & Self::bit(address) != 0
    }
    /// Sets the `mark` bit. Returns whether it was clear.
    #[inline]
    pub fn set_mark(&self, address: usize) -> bool {
        let (w, b) = (self.mark_word(Card::of(address)), Self::bit(address));
        w.load(Relaxed) & b == 0 && w.fetch_or(b, AcqRel) & b == 0
    }
    /// As [`Space::set_mark`], while no other thread marks in that block.
    #[inline(always)]
    pub fn set_mark_exclusive(&self, address: usize) -> bool {
        let (w, b) = (self.mark_word(Card::of(address)), Self::bit(address));
        let before = w.load(Relaxed);
        if before & b != 0 {
            return false;
        }
        w.store(before | b, Relaxed);
        true
    }
    /// The words of a card of a block.
    #[inline(always)]
    fn card_bits(&self, block: BlockId, card: Card) -> CardBits<'_> {
        CardBits {
            unswept: &self.info(block).unswept,
            start: self.start_word(card),
            mark: self.mark_word(card),
        }
    }
    /// The words of all cards of a block, in ascending order.
    fn block_bits(&self, block: BlockId) -> impl Iterator<Item = CardBits<'_>> + Clone {
        self.cards_of(block)
            .map(move |card| self.card_bits(block, card))
    }
    /// Makes the `mark` bits of a block its `start` bits, and clears them unless `keep`. Returns whether there were any.
    pub fn start_at_marks(&self, block: BlockId, keep: bool) -> bool {
        let each = |any, bits: CardBits<'_>| any | bits.start_at_marks(keep);
        self.block_bits(block).fold(0, each) != 0
    }
    /// Clears the bits of dead objects of an unswept old block. See [`block_bits`].
    pub fn sweep(&self, block: BlockId) {
        block_bits::sweep(&self.info(block).unswept, self.block_bits(block));
    }
    /// Is no `mark` bit of the block set?
    pub fn has_no_marks(&self, block: BlockId) -> bool {
        self.cards_of(block)
            .all(|card| self.mark_word(card).load(Relaxed) == 0)
    }
    /// Is the `mark` bit set?
    #[inline(always)]
    pub fn is_marked(&self, address: usize) -> bool {
        self.mark_word(Card::of(address)).load(Relaxed) & Self::bit(address) != 0
    }
    /// Sets or clears the `finalizable` bit; returns what it was.
    pub fn set_finalizable(&self, address: usize, on: bool) -> bool {
        let (w, b) = (
            self.word(self.finalizable, Card::of(address)),
            Self::bit(address),
        );
        let old = if on {
            w.fetch_or(b, AcqRel)
        } else {
            w.fetch_and(!b, AcqRel)
        };
        old & b != 0
    }
    /// Is the finalizer of the object to run?
    pub fn is_finalizable(&self, address: usize) -> bool {
        self.word(self.finalizable, Card::of(address)).load(Acquire) & Self::bit(address) != 0
    }
    /// The `finalizable` bits of a card.
    pub(crate) fn finalizable_bits(&self, card: Card) -> u64 {
        self.word(self.finalizable, card).load(Acquire)
    }
    /// Clears the `start` bits of a block.
    pub fn clear_starts(&self, block: BlockId) {
        for card in self.cards_of(block) {
            self.start_word(card).store(0, Relaxed);
        }
    }
    /// Clears the `mark` bits of a block.
    pub fn clear_marks(&self, block: BlockId) {
        for card in self.cards_of(block) {
            self.mark_word(card).store(0, Release);
        }
    }
    /// The `start` bits of live objects on a card of an old block.
    #[inline]
    pub fn live_starts(&self, block: BlockId, card: Card) -> u64 {
        self.card_bits(block, card).live_starts()
    }
    /// The last live object of an old or nursery block that begins at or before `address`.
    pub fn last_start(&self, block: BlockId, address: usize) -> Option<usize> {
        let first = Card::of(self.address(block));
        let mut card = Card::of(address);
        let mut bits = self.live_starts(block, card) & (u64::MAX >> (63 - ((address >> 3) & 63)));
        loop {
            if let Some(start) = card.last_word(bits) {
                return Some(start);
            }
            if card == first {
                return None;
            }
            card = card.previous();
            bits = self.live_starts(block, card);
        }
    }
}
