//! Monitors: a free one is entered, and one entered once is left, in place.
//!
//! # How it works
//! Both are one compare-and-swap of the object's sync word between 0 and the thin word of this thread. Whatever else
//! the word says (recursion, another owner, a hash, a fat monitor), the call is made, with the object.
//!
//! # Invariants
//! * `Context::locks_held` follows the word, and `lockTaken` is set, before an asynchronous exception can come.
//! * The word is left by compare-and-swap too: another thread may have inflated it meanwhile.
use super::stack::{Item, Note};
use super::{Res, Translator};
use crate::codegen::{Emitter, trusted};
use crate::shape::Shape;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types::*};
use vervet_abi::context;
use vervet_abi::object::{SYNC_OFFSET, sync_word};
use vervet_types::MethodRef;

/// The sync word of an object that this thread has entered once, and nothing more is known of.
fn own_word(e: &mut Emitter<'_>) -> Value {
    let owner = e.load_context(I32, context::OWNER_ID);
    e.b.ins()
        .ishl_imm_u(owner, i64::from(sync_word::OWNER_SHIFT))
}

/// Swaps the sync word of `object` and goes to the block it gives if that succeeds, else to `slow`, as for null.
fn swap(e: &mut Emitter<'_>, object: Value, from: Value, to: Value, slow: Block) {
    let (look, done) = (e.b.create_block(), e.b.create_block());
    e.b.set_cold_block(slow);
    e.b.ins().brif(object, look, &[], slow, &[]);
    e.b.seal_block(look);
    e.b.switch_to_block(look);
    let word = e.b.ins().iadd_imm_s(object, i64::from(SYNC_OFFSET));
    e.begin_no_redirect();
    let old = e.b.ins().atomic_cas(trusted(), word, from, to);
    let swapped = e.b.ins().icmp(IntCC::Equal, old, from);
    e.b.ins().brif(swapped, done, &[], slow, &[]);
    e.b.seal_block(done);
    e.b.switch_to_block(done);
}

/// Changes the count of monitors this thread is in, and ends what must not be interrupted.
fn count(e: &mut Emitter<'_>, change: i64) {
    let held = e.load_context(I32, context::LOCKS_HELD);
    let held = e.b.ins().iadd_imm_s(held, change);
    e.store_context(held, context::LOCKS_HELD);
    e.b.ins().sequence_point();
    e.end_no_redirect();
}

fn otherwise(e: &mut Emitter<'_>, slow: Block, call: impl FnOnce(&mut Emitter<'_>)) {
    let join = e.b.create_block();
    e.b.ins().jump(join, &[]);
    e.b.seal_block(slow);
    e.b.switch_to_block(slow);
    e.end_no_redirect();
    call(e);
    e.b.ins().jump(join, &[]);
    e.b.seal_block(join);
    e.b.switch_to_block(join);
}

/// Enters the monitor; `taken` is the address of a bool that is false and becomes true. `call` is what does it
/// otherwise.
pub(crate) fn enter(
    e: &mut Emitter<'_>,
    object: Value,
    taken: Option<Value>,
    call: impl FnOnce(&mut Emitter<'_>),
) {
    let slow = e.b.create_block();
    if let Some(taken) = taken {
        let free = e.b.create_block();
        let already = e.b.ins().uload8(I32, trusted(), taken, 0);
        e.b.ins().brif(already, slow, &[], free, &[]);
        e.b.seal_block(free);
        e.b.switch_to_block(free);
    }
    let own = own_word(e);
    let none = e.b.ins().iconst(I32, 0);
    swap(e, object, none, own, slow);
    if let Some(taken) = taken {
        let one = e.b.ins().iconst(I8, 1);
        e.b.ins().store(trusted(), one, taken, 0);
    }
    count(e, 1);
    otherwise(e, slow, call);
}

/// Leaves the monitor. `call` is what does it otherwise.
pub(crate) fn exit(e: &mut Emitter<'_>, object: Value, call: impl FnOnce(&mut Emitter<'_>)) {
    let slow = e.b.create_block();
    let own = own_word(e);
    let none = e.b.ins().iconst(I32, 0);
    swap(e, object, own, none, slow);
    count(e, -1);
    otherwise(e, slow, call);
}

impl<'a, 'f> Translator<'a, 'f> {
    /// Monitor.Enter, without and with `ref lockTaken`.
    pub(crate) fn enter_monitor(&mut self, method: MethodRef) -> Res<bool> {
        let shape = Shape::of_method(method)?;
        let count = shape.params.len();
        if !(1..=2).contains(&count) {
            return Ok(false);
        }
        self.settle(count)?;
        let taken = if count == 2 {
            Some(self.pop_address()?)
        } else {
            None
        };
        let object = self.pop_ref()?.value;
        if let Some(Item { value, note, .. }) = taken
            && !matches!(note, Note::Frame)
        {
            self.explicit_null_check(value);
        }
        let taken = taken.map(|t| t.value);
        let signature = self.e.b.import_signature(shape.clif);
        enter(self.e, object, taken, |e| {
            let args: smallvec::SmallVec<[Value; 2]> = [object].into_iter().chain(taken).collect();
            e.call_method(method, signature, &args);
        });
        Ok(true)
    }

    /// Monitor.Exit
    pub(crate) fn exit_monitor(&mut self, method: MethodRef) -> Res<bool> {
        let shape = Shape::of_method(method)?;
        if shape.params.len() != 1 {
            return Ok(false);
        }
        self.settle(1)?;
        let object = self.pop_ref()?.value;
        let signature = self.e.b.import_signature(shape.clif);
        exit(self.e, object, |e| {
            e.call_method(method, signature, &[object]);
        });
        Ok(true)
    }
}
