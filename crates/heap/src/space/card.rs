//! Cards: the 512 bytes that one byte of the card table and one word of each bitmap describe.
//!
//! ```text
//!   card (512 bytes)   | word 0 | word 1 | ... | word 63 |
//!   card table         one byte: was a reference stored here?
//!   start, mark, ...   one u64: bit n is word n of the card
//! ```
//!
//! # Invariants
//! A [`Card`] is named by the address of its first byte. The address need not lie in the heap: a mutator may mark a card of anything.

/// log2 of the bytes of a card.
pub const CARD_SHIFT: u32 = 9;
/// Bytes of a card.
pub const CARD: usize = 1 << CARD_SHIFT;
/// Bytes of the words that one bit of a bitmap describes.
const WORD: usize = 8;

/// A card.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(transparent)]
pub struct Card(usize);

impl Card {
    /// The card on which an address lies.
    #[inline(always)]
    pub fn of(address: usize) -> Card {
        Card(address & !(CARD - 1))
    }
    /// The address of its first byte.
    #[inline(always)]
    pub fn address(self) -> usize {
        self.0
    }
    /// The address of the byte behind its last.
    #[inline(always)]
    pub fn end(self) -> usize {
        self.0 + CARD
    }
    /// Its number among all cards of the address space.
    #[inline(always)]
    pub(super) fn number(self) -> usize {
        self.0 >> CARD_SHIFT
    }
    /// The card that is `n` cards behind it.
    #[inline(always)]
    pub fn plus(self, n: usize) -> Card {
        Card(self.0 + n * CARD)
    }
    /// The card before it.
    #[inline(always)]
    pub fn previous(self) -> Card {
        Card(self.0 - CARD)
    }
    /// The addresses of the words whose bits are set in `bits`, a word of a bitmap, in ascending order.
    #[inline(always)]
    pub fn words(self, bits: u64) -> Words {
        Words { card: self, bits }
    }
    /// The address of the last word whose bit is set in `bits`.
    #[inline(always)]
    pub fn last_word(self, bits: u64) -> Option<usize> {
        (bits != 0).then(|| self.0 + WORD * (63 - bits.leading_zeros() as usize))
    }
    /// The cards from the one of `from` on that begin before `to`.
    pub fn between(from: usize, to: usize) -> impl Iterator<Item = Card> + Clone {
        (Card::of(from).0..to).step_by(CARD).map(Card)
    }
}

/// See [`Card::words`].
#[derive(Clone, Copy, Debug)]
pub struct Words {
    card: Card,
    bits: u64,
}

impl Iterator for Words {
    type Item = usize;
    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.bits == 0 {
            return None;
        }
        let word = self.card.0 + WORD * self.bits.trailing_zeros() as usize;
        self.bits &= self.bits - 1;
        Some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn words_are_those_whose_bits_are_set() {
        let card = Card::of(5 * CARD + 77);
        assert_eq!(card.address(), 5 * CARD);
        let bits = 1 | 1 << 9 | 1 << 63;
        let words: Vec<_> = card.words(bits).map(|w| w - card.address()).collect();
        assert_eq!(words, [0, 72, 504]);
        assert_eq!(card.last_word(bits), Some(card.end() - 8));
        assert_eq!(card.last_word(0), None);
        let cards: Vec<_> = Card::between(card.address() + 8, card.end() + 1).collect();
        assert_eq!(cards, [card, card.plus(1)]);
    }
}
