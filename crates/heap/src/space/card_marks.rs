//! Card marks and the mod-union table: no reference that was stored is lost between who marks, who cleans and the marker.
//!
//! # Invariants
//! * Mutators store the reference, then mark the card. Cards are cleaned in stops only, and the handshake of a stop orders all that a mutator has
//!   done before all that the collector does; a thread that is stopped between the two instructions still holds the reference, which pins the
//!   young object, and marks the card when it goes on. So there is nothing between mutators and cleaning for a model to find.
//! * Workers of one minor collection do meet: one promotes into a card that another cleans. Who promotes sets the `start` bit, then marks the card
//!   ([`mark`]); who cleans takes the mark ([`clean`]), then looks at the `start` bits. The cleaning is an exchange, so it reads the very mark it
//!   overwrites and all that came before it; a mark that comes later stays. (Of two workers that mark one card the exchange reads the second mark;
//!   that the first worker's bits are seen too is the order of stores of x86, of which the language's memory model knows nothing.)
//! * A card that is cleaned while marking runs is noted first ([`note`]). Noting is always a read-modify-write: the marker that forgets the
//!   note ([`take`]) then sees every store that was folded into it, also where the note was there already.
use crate::sync::{AtomicU8, Ordering::*};

/// What a clean card holds: never the low byte of a reference.
pub const CLEAN: u8 = 0xFF;

/// Marks a card.
#[inline(always)]
pub fn mark(card: &AtomicU8) {
    card.store(0, Release);
}

/// Makes a marked card clean, before its objects are looked for; the mark it had. `exclusive`: no other worker promotes meanwhile.
#[inline(always)]
pub fn clean(card: &AtomicU8, exclusive: bool) -> u8 {
    if exclusive {
        let mark = card.load(Relaxed);
        card.store(CLEAN, Relaxed);
        mark
    } else {
        card.swap(CLEAN, AcqRel)
    }
}

/// Notes in a byte of the mod-union table that a card is about to be cleaned.
#[inline(always)]
pub fn note(byte: &AtomicU8, bit: u8) {
    byte.fetch_or(bit, AcqRel);
}

/// The cards noted, forgotten now. A note that is made meanwhile may be left for the next time.
#[inline(always)]
pub fn take(byte: &AtomicU8) -> u8 {
    match byte.load(Relaxed) {
        0 => 0,
        _ => byte.swap(0, AcqRel),
    }
}
