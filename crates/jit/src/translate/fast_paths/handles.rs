//! GC handles: reading the target, and creating and freeing handles, without a call.
//!
//! # How it works
//! A handle is a 32-bit value: kind + 1 in the low bits, the index of a slot above. The word of the
//! slot (layout in `vervet-handles`) holds the address of the object and tag bits:
//!
//! ```text
//! read    word = load words[number];  VALID set: object = word & !TAGS;  else: call the method
//! make    take an index from the thread's own ring of free slots (its lane for the kind);
//!         store the domain, then the word; mark the group of the slot as having young targets
//! free    compare-and-swap the word to 0, put the index back into the ring
//! ```
//!
//! A slot that is free, an expired weak handle, and a value that is no handle all have no valid
//! word. Then the method itself is called, and returns null or throws. When the ring is empty or
//! full, when the kind is not known, or when the object is null, the method or a leaf helper does
//! the work.
//!
//! `GCHandle.Free` also clears the variable that holds the handle. Two threads may free the same
//! variable, and only one of them may free the handle, so the variable is cleared by
//! compare-and-swap. A local variable whose address was taken only for this call is cleared by a
//! store.
//!
//! # Invariants
//! * Between the load of a word and the removal of its tags, the thread refers to the object by an
//!   address inside it: tags are less than 8, the size of the header. A thread that is stopped
//!   there keeps the object alive and in place. This holds for weak handles too: whether their
//!   object lives is decided while all threads are stopped, and then the word has been loaded or it
//!   has not.
//! * Each read is a load of its own; `sequence_point` keeps the compiler from reusing an earlier
//!   one.
//! * A slot and a lane change only while `critical` is 1, so a thread that is stopped never leaves
//!   a slot half-made.
//! * The emitted sequences are those that `crates/handles/src/inlined.txt` lists, which the models
//!   there check.
use crate::blob::Symbol;
use crate::emit::{Emitter, trusted};
use crate::signature::LoweredSignature;
use crate::translate::error::Res;
use crate::translate::fast_paths::alloc::critical;
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackType, StackValue, ValueFact};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Opcode, Type, Value, types::*};
use vervet_abi::handles::{
    GROUP_SHIFT, INDEX_BITS, KIND_BITS, OBJECT, OCCUPIED, TAGS, VALID, lane, sides, young,
};
use vervet_abi::{call, context};
use vervet_types::{Known, MethodRef};

/// The number of a handle's word (i64): the low bits first, then the index. With the usual number
/// of index bits every 32-bit value has a word, and a rotation computes it. With fewer bits, a
/// value with a greater index is no handle and goes to `slow`.
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

/// From a handle (i32) to its object. Goes to `slow` if the handle has no valid word.
///
/// ```text
///     number = uextend (rotr handle, KIND_BITS)      ; kind bits first, then the index
///     word = load.i64 words + 8 * number
///     sequence_point
///     brif word & VALID, found, slow
/// found:
///     object = word & !TAGS
/// ```
pub(crate) fn read(e: &mut Emitter<'_>, handle: Value, slow: Block) -> Value {
    let found = e.b.create_block();
    e.b.set_cold_block(slow);
    // The words of all handles lie in one reserved range, so its address is a constant.
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

/// The address of the entry of slot `number` in a table of `size`-byte entries that begins `offset`
/// bytes behind `words`.
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

/// The address of the thread's lane for a kind (i32).
fn lane_of(e: &mut Emitter<'_>, kind: Value) -> Value {
    let kind = e.b.ins().uextend(I64, kind);
    let at = e.b.ins().imul_imm_u(kind, i64::from(lane::SIZE));
    let lanes = e.load_context(I64, context::HANDLE_LANES);
    e.b.ins().iadd(lanes, at)
}

/// The address of the ring entry for a position, which counts on without end; the ring has a power
/// of two of entries.
fn place_of(e: &mut Emitter<'_>, lane: Value, position: Value) -> Value {
    let place = e.b.ins().band_imm_u(position, i64::from(lane::ROOM - 1));
    let place = e.b.ins().uextend(I64, place);
    let at = e.b.ins().ishl_imm_u(place, 2);
    e.b.ins().iadd(lane, at)
}

/// A new handle to an object, from the thread's own slots. Goes to `slow` if the thread has none,
/// if the object is null, or if there is no such kind.
///
/// ```text
///     critical = 1
///     lane = context.handle_lanes + kind * SIZE
///     brif lane.first == lane.ready, none, some      ; none: critical = 0, jump slow
/// some:
///     index = lane.ring[first % ROOM];  lane.first = first + 1
///     sides[number] = context.domain                 ; before the word: x86 keeps the order
///     words[number] = object | OBJECT
///     young[group of number] = 1, unless it is set   ; a minor collection looks at this group
///     critical = 0
///     handle = index << KIND_BITS | kind + 1
/// ```
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
    // From here to the end of `critical` this thread is not stopped, so nobody sees the lane
    // without the slot; and a green thread stays on its carrier, whose lane it is.
    critical(e, cx, true);
    let lane = lane_of(e, kind);
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
    // x86 stores become visible in order: a thread that sees the word also sees the domain.
    let word = e.b.ins().bor_imm_u(object, OBJECT as i64);
    let at = part(e, words, 8 << bits, number, 8);
    e.b.ins().store(trusted(), word, at, 0);
    let group = e.b.ins().ushr_imm_u(number, i64::from(GROUP_SHIFT));
    let young_at = part(e, words, young(bits), group, 1);
    let is_young = e.b.ins().uload8(I32, trusted(), young_at, 0);
    e.b.ins().brif(is_young, done, &[], old, &[]);
    // The byte is read first, and written only if it is 0: these bytes share cache lines with the
    // groups of other threads.
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

/// Frees a handle, if it is in use.
///
/// ```text
///     critical = 1
///     word = words[number]
///     brif word & OCCUPIED, used, lost
/// used:
///     brif the ring has room, roomy, lost
/// roomy:
///     brif atomic_cas(words[number], word, 0) == word, freed, lost
/// freed:
///     lane.ring[end % ROOM] = index;  lane.end = end + 1
///     critical = 0
/// lost: (cold)
///     critical = 0;  call FreeHandle(context, handle)
/// ```
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
    // The word is occupied, so the value is a handle and its kind is valid.
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
    // Another thread may free the same handle at the same time; only one exchange succeeds.
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

/// Where a fast path and `slow` meet: `value`, or what `call` returns in the slow block.
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
    /// `GCHandle.GetTarget(int)`, and `GCHandle.Target`, whose `this` is the address of the int.
    pub(crate) fn handle_target(&mut self, method: MethodRef) -> Res<bool> {
        let lowered = LoweredSignature::of_method(method)?;
        if lowered.params.len() + usize::from(lowered.has_this) != 1 {
            return Ok(false);
        }
        if lowered.has_this && method.class.layout()?.size != 4 {
            return Ok(false);
        }
        self.spill_aliased(1)?;
        let (argument, handle) = if lowered.has_this {
            let at = self.pop_address()?;
            let flags = self.null_checked(&at, 0, 4);
            (at.value, self.e.b.ins().load(I32, flags, at.value, 0))
        } else {
            let handle = self.pop_i32()?;
            (handle, handle)
        };
        let signature = self.e.b.import_signature(lowered.clif);
        let slow = self.e.b.create_block();
        let object = read(self.e, handle, slow);
        let value = otherwise(self.e, object, I64, slow, |e| {
            e.call_method(method, signature, &[argument])[0]
        });
        self.push_value(StackValue {
            stack_type: StackType::Ref,
            value,
            class: Some(self.session.universe.known(Known::Object)),
            fact: ValueFact::None,
        });
        Ok(true)
    }

    /// `GCHandle.GetTargetHandle(object, int, GCHandleType)`: creates a handle if the int is 0, and
    /// sets the target of one if the type is -1. It is expanded only if the constants show which.
    pub(crate) fn target_handle(&mut self, method: MethodRef) -> Res<bool> {
        let lowered = LoweredSignature::of_method(method)?;
        let n = self.body.stack.len();
        if lowered.params.len() != 3 || lowered.has_this || n < 3 {
            return Ok(false);
        }
        let sets = self.constant(self.body.stack[n - 1].value) == Some(-1);
        if !sets && self.constant(self.body.stack[n - 2].value) != Some(0) {
            return Ok(false);
        }
        self.spill_aliased(3)?;
        let kind = self.pop_i32()?;
        let handle = self.pop_i32()?;
        let object = self.pop_ref()?.value;
        let signature = self.e.b.import_signature(lowered.clif);
        let slow = self.e.b.create_block();
        self.e.b.set_cold_block(slow);
        let fast = if sets {
            let found = self.e.b.create_block();
            let set = self.e.helper_value(call::SetHandle, [handle, object]);
            self.e.b.ins().brif(set, found, &[], slow, &[]);
            self.e.b.seal_block(found);
            self.e.b.switch_to_block(found);
            set
        } else {
            make(self.e, object, kind, slow)
        };
        let value = otherwise(self.e, fast, I32, slow, |e| {
            e.call_method(method, signature, &[object, handle, kind])[0]
        });
        self.push(StackType::I32, value);
        Ok(true)
    }

    /// `GCHandle.FreeHandle(int)`.
    pub(crate) fn free_handle(&mut self, method: MethodRef) -> Res<bool> {
        if method.sig()?.params.len() != 1 {
            return Ok(false);
        }
        let handle = self.pop_i32()?;
        free(self.e, handle);
        Ok(true)
    }

    /// `GCHandle.Free()`.
    pub(crate) fn free_handle_at(&mut self, method: MethodRef) -> Res<bool> {
        let lowered = LoweredSignature::of_method(method)?;
        if !lowered.has_this || !lowered.params.is_empty() || method.class.layout()?.size != 4 {
            return Ok(false);
        }
        self.spill_aliased(1)?;
        let at = self.pop_address()?;
        let flags = self.null_checked(&at, 0, 4);
        let signature = self.e.b.import_signature(lowered.clif);
        let e = &mut *self.e;
        let (some, slow, done) = (e.b.create_block(), e.b.create_block(), e.b.create_block());
        e.b.set_cold_block(slow);
        let handle = e.b.ins().load(I32, flags, at.value, 0);
        e.b.ins().brif(handle, some, &[], slow, &[]);
        e.b.seal_block(some);
        e.b.switch_to_block(some);
        let none = e.b.ins().iconst(I32, 0);
        // An exception between clearing the variable and freeing the handle would lose the handle.
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

/// Whether the address is that of a variable of this frame, taken for this use.
fn is_local(e: &Emitter<'_>, address: Value) -> bool {
    let dfg = &e.b.func.dfg;
    let at = dfg.value_def(address).inst();
    at.is_some_and(|at| dfg.insts[at].opcode() == Opcode::StackAddr)
}
