//! Card marks and the mod-union table: no stored reference is lost between the thread that marks a card, the worker that cleans it, and the
//! marker.
//!
//! ```text
//!   mutator                 worker of a minor collection          marker, while marking runs
//!   ----------------------  ------------------------------------  ---------------------------------------
//!   store the reference     record the card in mod_union          take the bits of mod_union
//!   mark the card           clean the card (exchange)             scan the marked objects on the card
//!                           scan the objects on it
//!                           mark it again if one is still young
//! ```
//!
//! # Invariants
//! * A mutator stores the reference, then marks the card. Cards are cleaned in pauses only, and the handshake of a stop orders all that a
//!   mutator has done before all that the collector does. A thread that is stopped between the two instructions still holds the reference,
//!   which pins the young object, and it marks the card when it goes on. So there is no race between mutators and cleaning.
//! * Workers of one minor collection do race: one promotes an object onto a card that another cleans. The promoting worker sets the `start`
//!   bit, then marks the card ([`mark`]); the cleaning worker takes the mark ([`clean`]), then reads the `start` bits. Cleaning is an exchange,
//!   so it reads the very mark that it overwrites and everything before it; a later mark stays. If two workers mark one card, the exchange
//!   reads the second mark. That it also sees the bits of the first worker follows from the order of stores of x86, not from the memory model
//!   of the language.
//! * A card that is cleaned while marking runs is recorded first ([`record`]), always by a read-modify-write: the marker that clears the record
//!   ([`take`]) then sees every store that was folded into it, also if the bit was set already.
use crate::sync::{AtomicU8, Ordering::*};

/// What a clean card holds: never the low byte of a reference.
pub const CLEAN: u8 = 0xFF;

/// Marks a card. Release: a worker that takes the mark sees what was stored before.
#[inline(always)]
pub fn mark(card: &AtomicU8) {
    card.store(0, Release);
}

/// Cleans a marked card, before its objects are looked up. Returns the mark it had. `exclusive`: no other worker promotes meanwhile.
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

/// Records in a byte of the mod-union table that a card is about to be cleaned.
#[inline(always)]
pub fn record(byte: &AtomicU8, bit: u8) {
    byte.fetch_or(bit, AcqRel);
}

/// Takes the recorded cards of a byte of the mod-union table. A record that is made meanwhile may stay for the next time.
#[inline(always)]
pub fn take(byte: &AtomicU8) -> u8 {
    match byte.load(Relaxed) {
        0 => 0,
        _ => byte.swap(0, AcqRel),
    }
}
