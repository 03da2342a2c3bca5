//! The card table: which parts of the heap and of root memory had references stored to them.
//!
//! # Invariants
//! * `card[(address >> 9) & mask]` exists for every address: the table covers the address space modulo its size.
//! * A mark is the low byte of the stored reference, and clean is 0xFF, which is never the low byte of a reference. So a mark is one
//!   byte store, which several threads may make at a time.
//! * Generated code marks cards in the same way; the mask is a constant of it.
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use vervet_abi::object::{CARD_MASK, CARD_SHIFT};
use vervet_os::memory;

static CARDS: AtomicUsize = AtomicUsize::new(0);

static MASK: AtomicUsize = AtomicUsize::new(CARD_MASK);

/// Reserves the card table with `mask + 1` cards; its base. Called once, before the heap is made.
pub(crate) fn reserve_cards(mask: usize) -> std::io::Result<usize> {
    let cards = memory::reserve(mask + 1)? as usize;
    MASK.store(mask, Ordering::Relaxed);
    CARDS.store(cards, Ordering::Release);
    Ok(cards)
}

/// Base of the card table.
pub fn card_table() -> usize {
    CARDS.load(Ordering::Relaxed)
}

/// Address of the card of `address`.
#[inline]
pub fn card_of(address: usize) -> usize {
    card_table() + ((address >> CARD_SHIFT) & MASK.load(Ordering::Relaxed))
}

/// Marks the card of `address` after the reference `value` was stored there.
#[inline]
pub fn mark_card(address: usize, value: usize) {
    // SAFETY: the table has an entry for every masked index. Several threads may mark a card at a time.
    unsafe { (*(card_of(address) as *const AtomicU8)).store(value as u8, Ordering::Relaxed) }
}
