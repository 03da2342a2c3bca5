//! Allocation: the sequence that takes memory from the thread's TLAB.
//!
//! # How it works
//! [`take`] emits a bump allocation. The rest of the module computes sizes and emits the slow path,
//! which calls the runtime:
//!
//! ```text
//!     context.critical = 1                    ; AllocProtection::CriticalFlag only
//!     next = load context.alloc_next
//!     after = next + size
//!     brif after > load context.alloc_end, full, fast
//! full: (cold)
//!     context.critical = 0
//!     jump slow
//! fast:
//!     store vtable, next + 0                  ; VTable and sync word (0) in one 8-byte store
//!     store length, next + 8                  ; vectors and strings
//!     context.alloc_next = after
//!     context.critical = 0
//!     jump join(next)
//! slow: (cold)
//!     object = call AllocObject(vtable)
//!     jump join(object)
//! ```
//!
//! Objects, boxes and delegates have a size known here; vectors and strings may have a computed
//! one. Objects with a finalizer, and large ones, always go to the runtime; so do all if the profiler records allocations.
//!
//! # Invariants
//! * The header and length are stored before `alloc_next`. Whatever lies below `alloc_next` is a
//!   complete object, so the collector can walk the TLAB of a thread that was stopped anywhere.
//! * With [`AllocProtection::CriticalFlag`] the thread is not stopped while `critical` is 1, so no
//!   collection takes the TLAB away between the load of `alloc_next` and its store.
//!   `sequence_point` emits no code, but keeps the compiler from moving the stores of the flag over
//!   other accesses.
//! * The slow path is entered with `critical` 0, because it may wait for a collection.
//! * The memory of a TLAB is zeroed. A TLAB may be empty, with both ends 0.
//! * No size exceeds [`LARGE_OBJECT_SIZE`], so `next + size` does not overflow, and every address
//!   formed lies near the TLAB.
use crate::blob::Symbol;
use crate::emit::{Emitter, trusted};
use crate::optimise::Allocation;
use crate::options::AllocProtection;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::StackType;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, Inst, InstBuilder, Value, types::*};
use vervet_abi::object::{
    ARRAY_DATA_OFFSET, ARRAY_LENGTH_OFFSET, HEADER_SIZE, LARGE_OBJECT_SIZE, OBJECT_ALIGN,
    STRING_CHARS_OFFSET, STRING_LENGTH_OFFSET,
};
use vervet_abi::{call, context};
use vervet_types::{ClassRef, Known};

/// The bytes to take: a multiple of [`OBJECT_ALIGN`], at most [`LARGE_OBJECT_SIZE`].
enum Size {
    Known(u32),
    Computed(Value),
}

/// An object that is to be allocated.
struct Piece {
    /// Its header: the VTable in the low 32 bits, the sync word 0 above.
    vtable: Value,
    size: Size,
    /// The length (i32) and its offset, of vectors and strings.
    length: Option<(Value, i32)>,
}

/// The bytes of an object with `count` elements behind `offset`, if it may come from a TLAB.
fn size_of_many(offset: i32, element: u32, count: i64) -> Option<u32> {
    let bytes = count
        .checked_mul(i64::from(element))?
        .checked_add(i64::from(offset))?;
    let known = count >= 0 && bytes <= i64::from(LARGE_OBJECT_SIZE);
    known.then(|| (bytes as u32).next_multiple_of(OBJECT_ALIGN))
}

/// Sets or clears the critical flag, if that is what protects allocation.
fn set_critical(e: &mut Emitter<'_>, cx: Value, on: bool) {
    if e.allocation == AllocProtection::CriticalFlag {
        critical(e, cx, on);
    }
}

/// Sets or clears the critical flag. The sequence points on both sides keep the store where it is,
/// and keep two such stores from being merged.
pub(crate) fn critical(e: &mut Emitter<'_>, cx: Value, on: bool) {
    // A constant of 8 bits: the store takes it as its immediate.
    let flag = e.b.ins().iconst(I8, i64::from(on));
    e.b.ins().sequence_point();
    e.b.ins().store(trusted(), flag, cx, context::CRITICAL);
    e.b.ins().sequence_point();
}

/// Takes memory from the TLAB and jumps to `join` with the object, or to `slow` with `critical` 0.
/// Ends the block. Returns the first instruction, unless all memory comes from the slow path.
fn take(e: &mut Emitter<'_>, piece: Piece, slow: Block, join: Block) -> Option<Inst> {
    if e.recorded.allocations {
        e.b.ins().jump(slow, &[]);
        return None;
    }
    let (full, fast) = (e.b.create_block(), e.b.create_block());
    e.b.set_cold_block(full);
    let cx = e.context();
    set_critical(e, cx, true);
    let next = e.b.ins().load(I64, trusted(), cx, context::ALLOC_NEXT);
    let end = e.b.ins().load(I64, trusted(), cx, context::ALLOC_END);
    let after = match piece.size {
        Size::Known(size) => e.b.ins().iadd_imm_s(next, i64::from(size)),
        Size::Computed(size) => e.b.ins().iadd(next, size),
    };
    let lacks = e.b.ins().icmp(IntCC::UnsignedGreaterThan, after, end);
    e.b.ins().brif(lacks, full, &[], fast, &[]);
    e.b.seal_block(full);
    e.b.seal_block(fast);
    e.b.switch_to_block(full);
    set_critical(e, cx, false);
    e.b.ins().jump(slow, &[]);
    e.b.switch_to_block(fast);
    // VTable and sync word (0) in one store.
    e.b.ins().store(trusted(), piece.vtable, next, 0);
    if let Some((length, offset)) = piece.length {
        e.b.ins().store(trusted(), length, next, offset);
    }
    e.b.ins().store(trusted(), after, cx, context::ALLOC_NEXT);
    match e.allocation {
        AllocProtection::CriticalFlag => set_critical(e, cx, false),
        AllocProtection::StoreOrder => {
            e.b.ins().sequence_point();
        }
        AllocProtection::None => {}
    }
    e.b.ins().jump(join, &[BlockArg::Value(next)]);
    e.b.func.dfg.value_def(cx).inst()
}

/// Allocates an object; `slow` emits the call that allocates it if the TLAB has no room.
fn allocate_or(
    e: &mut Emitter<'_>,
    piece: Piece,
    slow: impl FnOnce(&mut Emitter<'_>) -> Value,
) -> Value {
    allocate_noted(e, piece, slow).1
}

/// The same, with the first instruction of the fast path, if there is one.
fn allocate_noted(
    e: &mut Emitter<'_>,
    piece: Piece,
    slow: impl FnOnce(&mut Emitter<'_>) -> Value,
) -> (Option<Inst>, Value) {
    let (cold, join) = slow_and_join(e);
    let start = take(e, piece, cold, join);
    (start, finish(e, cold, join, slow))
}

/// The cold block of the slow path, and the block where both paths meet, whose parameter is the
/// object.
fn slow_and_join(e: &mut Emitter<'_>) -> (Block, Block) {
    let (slow, join) = (e.b.create_block(), e.b.create_block());
    e.b.set_cold_block(slow);
    e.b.append_block_param(join, I64);
    (slow, join)
}

/// Emits the slow path, and continues where both paths meet.
fn finish(
    e: &mut Emitter<'_>,
    cold: Block,
    join: Block,
    slow: impl FnOnce(&mut Emitter<'_>) -> Value,
) -> Value {
    e.b.seal_block(cold);
    e.b.switch_to_block(cold);
    let object = slow(e);
    e.b.ins().jump(join, &[BlockArg::Value(object)]);
    e.b.seal_block(join);
    e.b.switch_to_block(join);
    e.b.block_params(join)[0]
}

/// Allocates an object of `length` (i32) elements behind `offset`. Negative lengths, and those that
/// give a large object, go to `slow`; one unsigned compare finds both.
fn allocate_many(
    e: &mut Emitter<'_>,
    vtable: Value,
    (offset, length_offset): (i32, i32),
    element: u32,
    length: Value,
    slow: impl FnOnce(&mut Emitter<'_>) -> Value,
) -> Value {
    // The greatest length that still fits; greater ones, and negative ones as unsigned numbers,
    // take the slow path before anything is computed from them.
    let longest = (LARGE_OBJECT_SIZE - offset as u32) / element;
    let (cold, join) = slow_and_join(e);
    let small = e.b.create_block();
    let long =
        e.b.ins()
            .icmp_imm_u(IntCC::UnsignedGreaterThan, length, i64::from(longest));
    e.b.ins().brif(long, cold, &[], small, &[]);
    e.b.seal_block(small);
    e.b.switch_to_block(small);
    // The length is small here, so the product cannot overflow.
    let wide = e.b.ins().uextend(I64, length);
    let bytes = match element {
        1 => wide,
        s if s.is_power_of_two() => e.b.ins().ishl_imm_u(wide, i64::from(s.trailing_zeros())),
        s => e.b.ins().imul_imm_s(wide, i64::from(s)),
    };
    let align = i64::from(OBJECT_ALIGN);
    let size = if i64::from(element) % align == 0 && i64::from(offset) % align == 0 {
        e.b.ins().iadd_imm_s(bytes, i64::from(offset))
    } else {
        let more = e.b.ins().iadd_imm_s(bytes, i64::from(offset) + align - 1);
        e.b.ins().band_imm_s(more, -align)
    };
    let piece = Piece {
        vtable,
        size: Size::Computed(size),
        length: Some((length, length_offset)),
    };
    take(e, piece, cold, join);
    finish(e, cold, join, slow)
}

/// A box of a class with values of at most one word, of which the low bytes of `word` are one.
pub(crate) fn box_of_word(e: &mut Emitter<'_>, vtable: Value, word: Value) -> Value {
    let piece = Piece {
        vtable,
        size: Size::Known(HEADER_SIZE + 8),
        length: None,
    };
    let object = allocate_or(e, piece, |e| {
        e.cold_helper_value(call::AllocObject, [vtable])
    });
    e.b.ins().store(trusted(), word, object, HEADER_SIZE as i32);
    object
}

impl<'a, 'f> Translator<'a, 'f> {
    /// A new, zeroed instance of a class of fixed size; of a value type, its box.
    pub(crate) fn allocate(&mut self, class: ClassRef) -> Res<Value> {
        let vtable = self.e.symbol(Symbol::VTable(class));
        let layout = class.layout()?;
        let size = (HEADER_SIZE + layout.size).next_multiple_of(OBJECT_ALIGN);
        // The runtime must register a finalizable object, and places large ones elsewhere.
        if size > LARGE_OBJECT_SIZE || class.finalizer()?.is_some() || self.e.is_brief {
            return Ok(self.e.helper_value(call::AllocObject, [vtable]));
        }
        let piece = Piece {
            vtable,
            size: Size::Known(size),
            length: None,
        };
        let (start, object) = allocate_noted(self.e, piece, |e| {
            e.cold_helper_value(call::AllocObject, [vtable])
        });
        if let Some(start) = start
            && self.e.optimises
        {
            let header = HEADER_SIZE / 8;
            self.e.notes.allocation(Allocation {
                start,
                object,
                vtable,
                size,
                references: layout.ref_map.iter().map(|word| word + header).collect(),
                class: std::ptr::from_ref(class) as usize,
            });
        }
        self.session.instances.insert(object, class);
        Ok(object)
    }

    /// `newarr` (ECMA-335 III.4.20). The helper throws OverflowException for a negative length.
    pub(crate) fn new_array(&mut self, element: ClassRef) -> Res {
        let length = self.pop()?;
        let array = self.session.universe.sz_array(element);
        let size = self.size_of(element)?;
        let vtable = self.e.symbol(Symbol::VTable(array));
        let places = (ARRAY_DATA_OFFSET, ARRAY_LENGTH_OFFSET);
        let constant = self.constant(length.value);
        let value = if self.e.is_brief {
            let length = self.as_native(&length)?;
            self.e.helper_value(call::AllocArray, [vtable, length])
        } else if let Some(n) = constant
            && let Some(bytes) = size_of_many(places.0, size, n)
        {
            let short = self.i32(n as i32);
            let long = self.i64(n);
            let piece = Piece {
                vtable,
                size: Size::Known(bytes),
                length: Some((short, places.1)),
            };
            allocate_or(self.e, piece, |e| {
                e.cold_helper_value(call::AllocArray, [vtable, long])
            })
        } else if length.stack_type == StackType::I32 && constant.is_none() {
            allocate_many(self.e, vtable, places, size, length.value, |e| {
                let wide = e.b.ins().sextend(I64, length.value);
                e.cold_helper_value(call::AllocArray, [vtable, wide])
            })
        } else {
            let length = self.as_native(&length)?;
            self.e.helper_value(call::AllocArray, [vtable, length])
        };
        self.push_instance(array, value);
        Ok(())
    }

    /// A string of `length` (i32) zero UTF-16 units. `slow` emits the call that allocates it
    /// otherwise.
    pub(crate) fn new_string_of(
        &mut self,
        length: Value,
        slow: impl FnOnce(&mut Emitter<'_>) -> Value,
    ) {
        let class = self.session.universe.known(Known::String);
        let vtable = self.e.symbol(Symbol::VTable(class));
        // The terminator is zero already; it only takes room.
        let places = (STRING_CHARS_OFFSET + 2, STRING_LENGTH_OFFSET);
        let value = allocate_many(self.e, vtable, places, 2, length, slow);
        self.push_instance(class, value);
    }
}

#[cfg(test)]
#[path = "alloc_tests.rs"]
mod tests;
