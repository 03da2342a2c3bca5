//! Monitors: a free one is entered, and one entered once is left, in place.
//!
//! # How it works
//! Both are one compare-and-swap of the object's sync word between 0 and the thin word of this thread. If that fails, a leaf
//! helper looks whether the thread is in the monitor already, or it is fat and free. Whatever else there is (another
//! owner, a hash, somebody to be woken), the call is made, with the object.
//!
//! # Invariants
//! * `ThreadContext::locks_held` follows the word, and `lockTaken` is set, before an asynchronous exception can come.
//! * The word is left by compare-and-swap too: another thread may have inflated it meanwhile.
use crate::emit::{Emitter, trusted};
use crate::signature::Shape;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::{Item, Note};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types::*};
use vervet_abi::object::{SYNC_OFFSET, sync_word};
use vervet_abi::{call, context};
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
    // No load first: it would have to wait for the exchange before, 2 ns each (measured in a loop).
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

/// The long way, and where all ways meet.
fn end(e: &mut Emitter<'_>, long: Block, join: Block, call: impl FnOnce(&mut Emitter<'_>)) {
    e.b.ins().jump(join, &[]);
    e.b.seal_block(long);
    e.b.switch_to_block(long);
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
    let (slow, long, join) = (e.b.create_block(), e.b.create_block(), e.b.create_block());
    e.b.set_cold_block(long);
    if let Some(taken) = taken {
        let free = e.b.create_block();
        let already = e.b.ins().uload8(I32, trusted(), taken, 0);
        e.b.ins().brif(already, long, &[], free, &[]);
        e.b.seal_block(free);
        e.b.switch_to_block(free);
    }
    let own = own_word(e);
    let none = e.b.ins().iconst(I32, 0);
    swap(e, object, none, own, slow);
    let say_taken = |e: &mut Emitter<'_>| {
        if let Some(taken) = taken {
            let one = e.b.ins().iconst(I8, 1);
            e.b.ins().store(trusted(), one, taken, 0);
        }
    };
    say_taken(e);
    count(e, 1);
    e.b.ins().jump(join, &[]);
    // The thread's own already, or fat and free: without leaving managed code.
    e.b.seal_block(slow);
    e.b.switch_to_block(slow);
    e.begin_no_redirect();
    let context = e.context();
    let entered = e.helper_value(call::MonitorEnterFast, [context, object]);
    let quick = e.b.create_block();
    e.b.set_cold_block(quick);
    e.b.ins().brif(entered, quick, &[], long, &[]);
    e.b.seal_block(quick);
    e.b.switch_to_block(quick);
    say_taken(e);
    e.b.ins().sequence_point();
    e.end_no_redirect();
    end(e, long, join, call);
}

/// Leaves the monitor. `call` is what does it otherwise.
pub(crate) fn exit(e: &mut Emitter<'_>, object: Value, call: impl FnOnce(&mut Emitter<'_>)) {
    let (slow, left, wake, long, join) = (
        e.b.create_block(),
        e.b.create_block(),
        e.b.create_block(),
        e.b.create_block(),
        e.b.create_block(),
    );
    for cold in [left, wake, long] {
        e.b.set_cold_block(cold);
    }
    let own = own_word(e);
    let none = e.b.ins().iconst(I32, 0);
    swap(e, object, own, none, slow);
    count(e, -1);
    e.b.ins().jump(join, &[]);
    e.b.seal_block(slow);
    e.b.switch_to_block(slow);
    e.begin_no_redirect();
    let context = e.context();
    let how = e.helper_value(call::MonitorExitFast, [context, object]);
    e.b.ins().brif(how, left, &[], long, &[]);
    e.b.seal_block(left);
    e.b.switch_to_block(left);
    let is_done = e.b.ins().icmp_imm_s(IntCC::Equal, how, 1);
    e.b.ins().brif(is_done, join, &[], wake, &[]);
    e.b.seal_block(wake);
    e.b.switch_to_block(wake);
    e.helper(call::MonitorWake, [object]);
    e.end_no_redirect();
    end(e, long, join, call);
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
            self.explicit_address_check(value);
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
