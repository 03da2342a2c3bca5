//! GC handles: the target is read, and handles are made and freed, in place.
//!
//! # How it works
//! Reading is a load and a mask (the layout is `vervet-handles`'s). What is free, expired or no handle at all has no valid
//! word where a handle's would be: then the method itself is called, and gives null or throws.
//! A new handle comes from the thread's own free slots; when there are none, or when the kind is wrong or the object null, the
//! internal call is made. Its target is set, and a freed slot that there is no room for is put away, by leaf helpers.
//! `GCHandle.Free` clears the variable and frees what was in it. Of two threads that free one variable one does it, so that takes
//! a compare-and-swap, but for a local variable whose address is taken for this call. Where there is nothing to
//! free the method itself is called, and throws.
//!
//! # Invariants
//! * Between loading a slot's word and masking it the thread refers to the object by an address inside it (tags are under 8,
//!   an object has a header of 8 bytes), so a thread that is stopped there keeps the object where it is. This holds for weak
//!   handles too: whether the object lives is decided with the world stopped, when the word is either loaded or not.
//! * Each read is a read of its own: no other one is used in its place.
//! * A slot and a lane change with `critical` set. Who sees a thread outside of that sees no slot of its half made.
use crate::blob::Symbol;
use crate::emit::{Emitter, trusted};
use crate::signature::Shape;
use crate::translate::error::Res;
use crate::translate::fast_paths::alloc::critical;
use crate::translate::translator::Translator;
use crate::translate::values::stack::{Item, Kind, Note};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Opcode, Type, Value, types::*};
use vervet_abi::handles::{
    GROUP_SHIFT, INDEX_BITS, KIND_BITS, OBJECT, OCCUPIED, TAGS, VALID, lane, sides, young,
};
use vervet_abi::{call, context};
use vervet_types::{Known, MethodRef};

/// The number of a handle's word (i64): its low bits, then its index. Every index has a word if indices have the usual number of
/// bits; if they have fewer, a value with a greater index is no handle and goes to `slow`.
fn number_of(e: &mut Emitter<'_>, handle: Value, slow: Block) -> Value {
    let bits = e.tables.handle_index_bits;
    let number = if bits == INDEX_BITS {
        e.b.ins().rotr_imm_u(handle, i64::from(KIND_BITS))
    } else {
        let inside = e.b.create_block();
        let index = e.b.ins().ushr_imm_u(handle, i64::from(KIND_BITS));
        let is_index =
            e.b.ins()
                .icmp_imm_u(IntCC::UnsignedLessThan, index, 1 << bits);
        e.b.ins().brif(is_index, inside, &[], slow, &[]);
        e.b.seal_block(inside);
        e.b.switch_to_block(inside);
        let low = e.b.ins().band_imm_u(handle, (1 << KIND_BITS) - 1);
        let high = e.b.ins().ishl_imm_u(low, i64::from(bits));
        e.b.ins().bor(high, index)
    };
    e.b.ins().uextend(I64, number)
}

/// Value of a handle (i32) to its object. Goes to `slow` if there is no valid word for it.
pub(crate) fn read(e: &mut Emitter<'_>, handle: Value, slow: Block) -> Value {
    let found = e.b.create_block();
    e.b.set_cold_block(slow);
    let words = e.symbol(Symbol::HandleRows);
    let number = number_of(e, handle, slow);
    let at = part(e, words, 0, number, 8);
    let word = e.b.ins().load(I64, trusted(), at, 0);
    e.b.ins().sequence_point();
    let valid = e.b.ins().band_imm_s(word, VALID as i64);
    e.b.ins().brif(valid, found, &[], slow, &[]);
    e.b.seal_block(found);
    e.b.switch_to_block(found);
    e.b.ins().band_imm_s(word, !(TAGS as i64))
}

/// Address of what `size` bytes of each slot are, for a slot's number: those of one kind behind those of another.
fn part(e: &mut Emitter<'_>, words: Value, offset: i64, number: Value, size: i64) -> Value {
    let shift = i64::from(size.trailing_zeros());
    let at = e.b.ins().ishl_imm_u(number, shift);
    let base = match offset {
        0 => words,
        _ => {
            let offset = e.b.ins().iconst(I64, offset);
            e.b.ins().iadd(words, offset)
        }
    };
    e.b.ins().iadd(base, at)
}

/// The thread's slots of a kind (i32).
fn lane_of(e: &mut Emitter<'_>, kind: Value) -> Value {
    let kind = e.b.ins().uextend(I64, kind);
    let at = e.b.ins().imul_imm_u(kind, i64::from(lane::SIZE));
    let lanes = e.load_context(I64, context::HANDLE_LANES);
    e.b.ins().iadd(lanes, at)
}

/// Address of the ring's place for a position.
fn place_of(e: &mut Emitter<'_>, lane: Value, position: Value) -> Value {
    let place = e.b.ins().band_imm_u(position, i64::from(lane::ROOM - 1));
    let place = e.b.ins().uextend(I64, place);
    let at = e.b.ins().ishl_imm_u(place, 2);
    e.b.ins().iadd(lane, at)
}

/// A new handle to an object, out of the thread's own slots. Goes to `slow` if there are none, if the object is null or if there is
/// no such kind.
pub(crate) fn make(e: &mut Emitter<'_>, object: Value, kind: Value, slow: Block) -> Value {
    let [known, enter, none, some, old, done] = std::array::from_fn(|_| e.b.create_block());
    e.b.set_cold_block(none);
    e.b.set_cold_block(old);
    let go = |e: &mut Emitter<'_>, block: Block| {
        e.b.seal_block(block);
        e.b.switch_to_block(block);
    };
    e.b.ins().brif(object, known, &[], slow, &[]);
    go(e, known);
    let is_kind = e.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, kind, 4);
    e.b.ins().brif(is_kind, enter, &[], slow, &[]);
    go(e, enter);
    let cx = e.context();
    let lane = lane_of(e, kind);
    critical(e, cx, true);
    let first = e.b.ins().load(I32, trusted(), lane, lane::FIRST);
    let ready = e.b.ins().load(I32, trusted(), lane, lane::READY);
    let empty = e.b.ins().icmp(IntCC::Equal, first, ready);
    e.b.ins().brif(empty, none, &[], some, &[]);
    go(e, none);
    critical(e, cx, false);
    e.b.ins().jump(slow, &[]);
    go(e, some);
    let place = place_of(e, lane, first);
    let index = e.b.ins().load(I32, trusted(), place, lane::RING);
    let next = e.b.ins().iadd_imm_s(first, 1);
    e.b.ins().store(trusted(), next, lane, lane::FIRST);
    // The slot's number: the kind, then the index.
    let bits = e.tables.handle_index_bits;
    let high = e.b.ins().ishl_imm_u(kind, i64::from(bits));
    let number = e.b.ins().bor(high, index);
    let number = e.b.ins().uextend(I64, number);
    let words = e.symbol(Symbol::HandleRows);
    let side = part(e, words, sides(bits), number, 4);
    let domain = e.load_context(I32, context::DOMAIN);
    e.b.ins().store(trusted(), domain, side, 0);
    // x86 keeps the order of stores: who sees the word sees the domain.
    let word = e.b.ins().bor_imm_u(object, OBJECT as i64);
    let at = part(e, words, 8 << bits, number, 8);
    e.b.ins().store(trusted(), word, at, 0);
    let group = e.b.ins().ushr_imm_u(number, i64::from(GROUP_SHIFT));
    let young_at = part(e, words, young(bits), group, 1);
    let is_young = e.b.ins().uload8(I32, trusted(), young_at, 0);
    e.b.ins().brif(is_young, done, &[], old, &[]);
    // Looked at first, because these bytes share cache lines with other threads' groups.
    go(e, old);
    let one = e.b.ins().iconst(I8, 1);
    e.b.ins().store(trusted(), one, young_at, 0);
    e.b.ins().jump(done, &[]);
    go(e, done);
    critical(e, cx, false);
    let index = e.b.ins().ishl_imm_u(index, i64::from(KIND_BITS));
    let low = e.b.ins().iadd_imm_s(kind, 1);
    e.b.ins().bor(index, low)
}

/// Frees a handle if it is in use.
pub(crate) fn free(e: &mut Emitter<'_>, handle: Value) {
    let [used, roomy, freed, lost, slow, done] = std::array::from_fn(|_| e.b.create_block());
    e.b.set_cold_block(lost);
    e.b.set_cold_block(slow);
    let go = |e: &mut Emitter<'_>, block: Block| {
        e.b.seal_block(block);
        e.b.switch_to_block(block);
    };
    let cx = e.context();
    let words = e.symbol(Symbol::HandleRows);
    let number = number_of(e, handle, slow);
    let at = part(e, words, 0, number, 8);
    critical(e, cx, true);
    let word = e.b.ins().load(I64, trusted(), at, 0);
    let occupied = e.b.ins().band_imm_u(word, OCCUPIED as i64);
    e.b.ins().brif(occupied, used, &[], lost, &[]);
    go(e, used);
    // What is in use has a kind.
    let kind = e.b.ins().band_imm_u(handle, (1 << KIND_BITS) - 1);
    let kind = e.b.ins().iadd_imm_s(kind, -1);
    let lane = lane_of(e, kind);
    let first = e.b.ins().load(I32, trusted(), lane, lane::FIRST);
    let end = e.b.ins().load(I32, trusted(), lane, lane::END);
    let next = e.b.ins().iadd_imm_s(end, 1);
    let count = e.b.ins().isub(next, first);
    let has_room =
        e.b.ins()
            .icmp_imm_u(IntCC::UnsignedLessThan, count, i64::from(lane::ROOM));
    e.b.ins().brif(has_room, roomy, &[], lost, &[]);
    go(e, roomy);
    let none = e.b.ins().iconst(I64, 0);
    let old = e.b.ins().atomic_cas(trusted(), at, word, none);
    let swapped = e.b.ins().icmp(IntCC::Equal, old, word);
    e.b.ins().brif(swapped, freed, &[], lost, &[]);
    go(e, freed);
    let place = place_of(e, lane, end);
    let index = e.b.ins().ushr_imm_u(handle, i64::from(KIND_BITS));
    e.b.ins().store(trusted(), index, place, lane::RING);
    e.b.ins().store(trusted(), next, lane, lane::END);
    critical(e, cx, false);
    e.b.ins().jump(done, &[]);
    go(e, lost);
    critical(e, cx, false);
    e.b.ins().jump(slow, &[]);
    go(e, slow);
    e.helper(call::FreeHandle, [cx, handle]);
    e.b.ins().jump(done, &[]);
    go(e, done);
}

/// What `slow` gives, in the block of that name, or else `value`.
fn otherwise(
    e: &mut Emitter<'_>,
    value: Value,
    ty: Type,
    slow: Block,
    call: impl FnOnce(&mut Emitter<'_>) -> Value,
) -> Value {
    let join = e.b.create_block();
    e.b.append_block_param(join, ty);
    e.b.ins().jump(join, &[BlockArg::Value(value)]);
    e.b.seal_block(slow);
    e.b.switch_to_block(slow);
    let other = call(e);
    e.b.ins().jump(join, &[BlockArg::Value(other)]);
    e.b.seal_block(join);
    e.b.switch_to_block(join);
    e.b.block_params(join)[0]
}

impl<'a, 'f> Translator<'a, 'f> {
    /// GCHandle.GetTarget(int), and GCHandle.get_Target whose `this` is the address of the int.
    pub(crate) fn handle_target(&mut self, method: MethodRef) -> Res<bool> {
        let shape = Shape::of_method(method)?;
        if shape.params.len() + usize::from(shape.has_this) != 1 {
            return Ok(false);
        }
        if shape.has_this && method.class.layout()?.size != 4 {
            return Ok(false);
        }
        self.settle(1)?;
        let (argument, handle) = if shape.has_this {
            let at = self.pop_address()?;
            let flags = self.null_checked(&at, 0, 4);
            (at.value, self.e.b.ins().load(I32, flags, at.value, 0))
        } else {
            let handle = self.pop_i32()?;
            (handle, handle)
        };
        let signature = self.e.b.import_signature(shape.clif);
        let slow = self.e.b.create_block();
        let object = read(self.e, handle, slow);
        let value = otherwise(self.e, object, I64, slow, |e| {
            e.call_method(method, signature, &[argument])[0]
        });
        self.push_item(Item {
            kind: Kind::Ref,
            value,
            class: Some(self.universe.known(Known::Object)),
            note: Note::None,
        });
        Ok(true)
    }

    /// GCHandle.GetTargetHandle(object, int, GCHandleType): makes a handle if the int is 0, sets one if the type is -1. Which
    /// it is must be seen here.
    pub(crate) fn target_handle(&mut self, method: MethodRef) -> Res<bool> {
        let shape = Shape::of_method(method)?;
        let n = self.stack.len();
        if shape.params.len() != 3 || shape.has_this || n < 3 {
            return Ok(false);
        }
        let sets = self.constant(self.stack[n - 1].value) == Some(-1);
        if !sets && self.constant(self.stack[n - 2].value) != Some(0) {
            return Ok(false);
        }
        self.settle(3)?;
        let kind = self.pop_i32()?;
        let handle = self.pop_i32()?;
        let object = self.pop_ref()?.value;
        let signature = self.e.b.import_signature(shape.clif);
        let slow = self.e.b.create_block();
        self.e.b.set_cold_block(slow);
        let quick = if sets {
            let found = self.e.b.create_block();
            let set = self.e.helper_value(call::SetHandle, [handle, object]);
            self.e.b.ins().brif(set, found, &[], slow, &[]);
            self.e.b.seal_block(found);
            self.e.b.switch_to_block(found);
            set
        } else {
            make(self.e, object, kind, slow)
        };
        let value = otherwise(self.e, quick, I32, slow, |e| {
            e.call_method(method, signature, &[object, handle, kind])[0]
        });
        self.push(Kind::I32, value);
        Ok(true)
    }

    /// GCHandle.FreeHandle(int)
    pub(crate) fn free_handle(&mut self, method: MethodRef) -> Res<bool> {
        if method.sig()?.params.len() != 1 {
            return Ok(false);
        }
        let handle = self.pop_i32()?;
        free(self.e, handle);
        Ok(true)
    }

    /// GCHandle.Free()
    pub(crate) fn free_handle_at(&mut self, method: MethodRef) -> Res<bool> {
        let shape = Shape::of_method(method)?;
        if !shape.has_this || !shape.params.is_empty() || method.class.layout()?.size != 4 {
            return Ok(false);
        }
        self.settle(1)?;
        let at = self.pop_address()?;
        let flags = self.null_checked(&at, 0, 4);
        let signature = self.e.b.import_signature(shape.clif);
        let e = &mut *self.e;
        let (some, slow, done) = (e.b.create_block(), e.b.create_block(), e.b.create_block());
        e.b.set_cold_block(slow);
        let handle = e.b.ins().load(I32, flags, at.value, 0);
        e.b.ins().brif(handle, some, &[], slow, &[]);
        e.b.seal_block(some);
        e.b.switch_to_block(some);
        let none = e.b.ins().iconst(I32, 0);
        e.begin_no_redirect();
        if is_local(e, at.value) {
            e.b.ins().store(trusted(), none, at.value, 0);
        } else {
            let ours = e.b.create_block();
            let old = e.b.ins().atomic_cas(trusted(), at.value, handle, none);
            let swapped = e.b.ins().icmp(IntCC::Equal, old, handle);
            e.b.ins().brif(swapped, ours, &[], slow, &[]);
            e.b.seal_block(ours);
            e.b.switch_to_block(ours);
        }
        free(e, handle);
        e.b.ins().sequence_point();
        e.end_no_redirect();
        e.b.ins().jump(done, &[]);
        e.b.seal_block(slow);
        e.b.switch_to_block(slow);
        e.call_method(method, signature, &[at.value]);
        e.b.ins().jump(done, &[]);
        e.b.seal_block(done);
        e.b.switch_to_block(done);
        Ok(true)
    }
}

/// Is that the address of a variable in this frame, taken here?
fn is_local(e: &Emitter<'_>, address: Value) -> bool {
    let dfg = &e.b.func.dfg;
    let at = dfg.value_def(address).inst();
    at.is_some_and(|at| dfg.insts[at].opcode() == Opcode::StackAddr)
}
