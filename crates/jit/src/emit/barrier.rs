//! The card barrier: the one way a reference is stored where the heap may be.
//!
//! # Invariants
//! The mark is the low byte of the stored reference and follows the store; nothing may separate, delete or
//! merge the two (`sequence_point`), and no asynchronous exception is raised between them.
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

/// Marks the card of `base + offset`, where `value` was stored just now.
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
    e.b.ins().istore8(trusted(), value, card, 0);
    e.b.ins().sequence_point();
}

/// Stores a reference in a static field, whose card is known when the code is linked.
pub fn store_static(e: &mut Emitter<'_>, field: FieldRef, value: Value, base: Value, offset: i32) {
    e.without_redirect(|e| {
        e.b.ins().store(trusted(), value, base, offset);
        let card = e.symbol(Symbol::StaticCard(field));
        e.b.ins().istore8(trusted(), value, card, 0);
        e.b.ins().sequence_point();
    });
}
