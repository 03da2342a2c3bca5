//! GC handles: the target is read in place; handles are made, set and freed by leaf helpers.
//!
//! # How it works
//! Reading is a load and a mask (the layout is `vervet-handles`'s). What is free, expired or no handle at all has no valid
//! word where a handle's would be: then the method itself is called, and gives null or throws.
//! A new handle comes from the thread's own free slots; when there are none, or when the kind is wrong, the internal call
//! is made.
//! `GCHandle.Free` clears the variable and frees what was in it. Of two threads that free one variable one does it, so that takes
//! a compare-and-swap, but for a local variable whose address is taken for this call. Where there is nothing to
//! free the method itself is called, and throws.
//!
//! # Invariants
//! * Between loading a slot's word and masking it the thread refers to the object by an address inside it (tags are under 8,
//!   an object has a header of 8 bytes), so a thread that is stopped there keeps the object where it is. This holds for weak
//!   handles too: whether the object lives is decided with the world stopped, when the word is either loaded or not.
//! * Each read is a read of its own: no other one is used in its place.
//! * A slot changes with `critical` set, in the helpers; not in generated code.
use super::stack::{Item, Kind, Note};
use super::{Res, Translator};
use crate::blob::Symbol;
use crate::codegen::{Emitter, trusted};
use crate::shape::Shape;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Opcode, Type, Value, types::*};
use vervet_abi::Helper;
use vervet_abi::handles::{KIND_BITS, TAGS, VALID};
use vervet_types::{Known, MethodRef};

/// Value of a handle (i32) to its object. Goes to `slow` if there is no valid word for it.
fn read(e: &mut Emitter<'_>, handle: Value, slow: Block) -> Value {
    let found = e.b.create_block();
    e.b.set_cold_block(slow);
    let words = e.symbol(Symbol::HandleRows);
    let index = e.b.ins().rotr_imm_u(handle, i64::from(KIND_BITS));
    let index = e.b.ins().uextend(I64, index);
    let at = e.b.ins().ishl_imm_u(index, 3);
    let at = e.b.ins().iadd(words, at);
    let word = e.b.ins().load(I64, trusted(), at, 0);
    e.b.ins().sequence_point();
    let valid = e.b.ins().band_imm_s(word, VALID as i64);
    e.b.ins().brif(valid, found, &[], slow, &[]);
    e.b.seal_block(found);
    e.b.switch_to_block(found);
    e.b.ins().band_imm_s(word, !(TAGS as i64))
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
        let quick = if sets {
            self.e.helper_value(Helper::SetHandle, &[handle, object])
        } else {
            let context = self.e.context();
            self.e
                .helper_value(Helper::AllocHandle, &[context, object, kind])
        };
        let (slow, done) = (self.e.b.create_block(), self.e.b.create_block());
        self.e.b.set_cold_block(slow);
        self.e.b.ins().brif(quick, done, &[], slow, &[]);
        self.e.b.seal_block(done);
        self.e.b.switch_to_block(done);
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
        let context = self.e.context();
        self.e.helper(Helper::FreeHandle, &[context, handle]);
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
        let context = e.context();
        e.helper(Helper::FreeHandle, &[context, handle]);
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
