//! The card barrier: the only way to store a reference where the heap may be.
//!
//! # How it works
//! The card table has one byte for every `1 << CARD_SHIFT` bytes of the heap. A store of a
//! reference is followed by a store to the card of the address:
//!
//! ```text
//!     store value, base + offset
//!     card = card_table + (((base + offset) >> CARD_SHIFT) & card_mask)
//!     istore8 value, card                     ; the low byte of the stored reference
//!     sequence_point
//! ```
//!
//! 0xFF means clean. References are multiples of 8, so the low byte of one never means clean. The
//! mask gives every address a card, so a store through a managed pointer to a frame needs no test
//! (docs/decisions/0006-card-mark-is-the-low-byte.md).
//!
//! # Invariants
//! * The mark follows the store. The collector may clean a card and scan it at any time; a mark
//!   before the store could be cleaned before the reference is there.
//! * The mark uses the reference itself, which keeps it in a register until the card is marked. A
//!   thread that is stopped between the two stores still holds the reference, and the conservative
//!   scan finds the object by it.
//! * Nothing separates or merges the two stores (`sequence_point`), what removes the store removes the mark, and no asynchronous
//!   exception is raised between them, because an exception would skip the mark.
use super::emitter::{Emitter, trusted};
use crate::blob::Symbol;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value};
use vervet_abi::object::CARD_SHIFT;
use vervet_types::FieldRef;

/// Stores a reference at `base + offset` and marks the card.
pub fn store_reference(
    e: &mut Emitter<'_>,
    flags: MemFlagsData,
    value: Value,
    base: Value,
    offset: i32,
) {
    e.without_redirect(|e| {
        e.b.ins().store(flags, value, base, offset);
        mark(e, value, base, offset);
    });
}

/// Marks the card of `base + offset`, where `value` has just been stored.
pub fn mark(e: &mut Emitter<'_>, value: Value, base: Value, offset: i32) {
    let table = e.symbol(Symbol::CardTable);
    let at = if offset == 0 {
        base
    } else {
        e.b.ins().iadd_imm_s(base, i64::from(offset))
    };
    let card = e.b.ins().ushr_imm_u(at, i64::from(CARD_SHIFT));
    let card = e.b.ins().band_imm_u(card, e.tables.card_mask as i64);
    let card = e.b.ins().iadd(table, card);
    let mark = e.b.ins().istore8(trusted(), value, card, 0);
    e.notes.mark(mark);
    e.b.ins().sequence_point();
}

/// Stores a reference to a static field. Statics never move, so the linker knows the card.
pub fn store_static(e: &mut Emitter<'_>, field: FieldRef, value: Value, base: Value, offset: i32) {
    e.without_redirect(|e| {
        e.b.ins().store(trusted(), value, base, offset);
        let card = e.symbol(Symbol::StaticCard(field));
        e.b.ins().istore8(trusted(), value, card, 0);
        e.b.ins().sequence_point();
    });
}
