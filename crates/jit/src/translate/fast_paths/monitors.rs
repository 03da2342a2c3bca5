//! Monitors: entering a free one, and leaving one that was entered once, without a call.
//!
//! # How it works
//! The sync word of an object is 0 if nobody has its monitor, and the *thin* word of a thread if
//! the thread has entered it once. Both fast paths are one compare-and-swap:
//!
//! ```text
//! enter   cas sync_word, 0 -> own << OWNER_SHIFT;    context.locks_held += 1
//! exit    cas sync_word, own << OWNER_SHIFT -> 0;    context.locks_held -= 1
//! ```
//!
//! If it fails, a leaf helper (`MonitorEnterFast`, `MonitorExitFast`) handles a monitor that the
//! thread has entered already, and an inflated one that is free. Everything else goes to the slow
//! path, the call of the method: another owner, a hash code in the word, a waiter to wake, a null
//! object.
//!
//! ```text
//! result of MonitorExitFast    0: slow path    1: left    2: left, and a waiter must be woken (MonitorWake)
//! ```
//!
//! # Invariants
//! * No asynchronous exception is raised between the change of the word and the changes of
//!   `locks_held` and `lockTaken`. Otherwise a thread abort could leave the monitor locked for
//!   ever: the finally of a `lock` statement tests `lockTaken`.
//! * The exit also needs a compare-and-swap, because another thread may inflate the monitor at the
//!   same time.
//! * The emitted sequences are those that `crates/parking/src/inlined.txt` lists, which the models
//!   there check.
use crate::emit::{Emitter, trusted};
use crate::signature::LoweredSignature;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackValue, ValueFact};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types::*};
use vervet_abi::object::{SYNC_OFFSET, sync_word};
use vervet_abi::{call, context};
use vervet_types::MethodRef;

/// The sync word of a monitor that this thread has entered once.
fn own_word(e: &mut Emitter<'_>) -> Value {
    let owner = e.load_context(I32, context::OWNER_ID);
    e.b.ins()
        .ishl_imm_u(owner, i64::from(sync_word::OWNER_SHIFT))
}

/// Emits the compare-and-swap of the sync word, from `from` to `to`. Continues in a new block if it
/// succeeds; goes to `slow` if it fails or if the object is null. From the swap on no asynchronous
/// exception is raised.
fn swap(e: &mut Emitter<'_>, object: Value, from: Value, to: Value, slow: Block) {
    let (look, done) = (e.b.create_block(), e.b.create_block());
    e.b.set_cold_block(slow);
    e.b.ins().brif(object, look, &[], slow, &[]);
    e.b.seal_block(look);
    e.b.switch_to_block(look);
    // The word is not loaded first. The load would have to wait for the previous exchange of the
    // same word, which cost 2 ns in a loop of enter and exit.
    let word = e.b.ins().iadd_imm_s(object, i64::from(SYNC_OFFSET));
    e.begin_no_redirect();
    let old = e.b.ins().atomic_cas(trusted(), word, from, to);
    let swapped = e.b.ins().icmp(IntCC::Equal, old, from);
    e.b.ins().brif(swapped, done, &[], slow, &[]);
    e.b.seal_block(done);
    e.b.switch_to_block(done);
}

/// Goes to `slow` if the monitor is inflated: the compare-and-swap would fail, and takes as long as one that succeeds. A null object goes there, too.
fn skip_if_fat(e: &mut Emitter<'_>, object: Value, slow: Block) {
    let (look, other) = (e.b.create_block(), e.b.create_block());
    e.b.ins().brif(object, look, &[], slow, &[]);
    e.b.seal_block(look);
    e.b.switch_to_block(look);
    let word = e.b.ins().load(I32, trusted(), object, SYNC_OFFSET);
    let kind = e.b.ins().band_imm_u(word, i64::from(sync_word::KIND_MASK));
    let is_fat =
        e.b.ins()
            .icmp_imm_u(IntCC::Equal, kind, i64::from(sync_word::KIND_FAT));
    e.b.ins().brif(is_fat, slow, &[], other, &[]);
    e.b.seal_block(other);
    e.b.switch_to_block(other);
}

/// Changes the number of monitors that this thread has, and permits asynchronous exceptions again.
fn count(e: &mut Emitter<'_>, change: i64) {
    // The count is this thread's own word, so no atomic operation is needed.
    let held = e.load_context(I32, context::LOCKS_HELD);
    let held = e.b.ins().iadd_imm_s(held, change);
    e.store_context(held, context::LOCKS_HELD);
    e.b.ins().sequence_point();
    e.end_no_redirect();
}

/// Emits the slow path, and continues where all paths meet.
fn end(e: &mut Emitter<'_>, long: Block, join: Block, call: impl FnOnce(&mut Emitter<'_>)) {
    e.b.ins().jump(join, &[]);
    e.b.seal_block(long);
    e.b.switch_to_block(long);
    call(e);
    e.b.ins().jump(join, &[]);
    e.b.seal_block(join);
    e.b.switch_to_block(join);
}

/// Enters the monitor of `object`. `taken` is the address of the `lockTaken` variable, which is
/// false before and true after. `call` emits the slow path.
///
/// ```text
///     (often_fat only: brif object is not null and its monitor is not inflated, go on, slow)
///     brif object, look, slow
/// look:
///     old = atomic_cas.i32 object + 4, 0, own word
///     brif old == 0, done, slow
/// done:
///     *taken = 1;  context.locks_held += 1
///     jump join
/// slow:
///     brif call MonitorEnterFast(context, object), fast, long
/// fast:
///     *taken = 1                                     ; the helper has counted
///     jump join
/// long: (cold)
///     call the method
///     jump join
/// ```
pub(crate) fn enter(
    e: &mut Emitter<'_>,
    object: Value,
    taken: Option<Value>,
    often_fat: bool,
    call: impl FnOnce(&mut Emitter<'_>),
) {
    let (slow, long, join) = (e.b.create_block(), e.b.create_block(), e.b.create_block());
    e.b.set_cold_block(long);
    // `Monitor.Enter(object, ref bool)` throws ArgumentException if the variable is true already;
    // the method itself does that.
    if let Some(taken) = taken {
        let free = e.b.create_block();
        let already = e.b.ins().uload8(I32, trusted(), taken, 0);
        e.b.ins().brif(already, long, &[], free, &[]);
        e.b.seal_block(free);
        e.b.switch_to_block(free);
    }
    if often_fat {
        skip_if_fat(e, object, slow);
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
    // The leaf helper: the thread has the monitor already, or it is inflated and free.
    e.b.seal_block(slow);
    e.b.switch_to_block(slow);
    e.begin_no_redirect();
    let context = e.context();
    let entered = e.helper_value(call::MonitorEnterFast, [context, object]);
    let fast = e.b.create_block();
    e.b.set_cold_block(fast);
    e.b.ins().brif(entered, fast, &[], long, &[]);
    e.b.seal_block(fast);
    e.b.switch_to_block(fast);
    say_taken(e);
    e.b.ins().sequence_point();
    e.end_no_redirect();
    end(e, long, join, call);
}

/// Leaves the monitor of `object`. `call` emits the slow path. The sequence is that of [`enter`]
/// with the words exchanged; the helper's answer has three cases, because a waiter can only be
/// woken after the monitor has been left.
pub(crate) fn exit(
    e: &mut Emitter<'_>,
    object: Value,
    often_fat: bool,
    call: impl FnOnce(&mut Emitter<'_>),
) {
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
    if often_fat {
        skip_if_fat(e, object, slow);
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
    /// Is the method one of the class library's events that threads wait for at the monitor which the method enters? Such a monitor is inflated
    /// since the first wait.
    fn waits_at_its_locks(&self) -> bool {
        let class = self.body.method.class;
        class.module.is_corlib() && matches!(class.name, "SemaphoreSlim" | "ManualResetEventSlim")
    }

    /// `Monitor.Enter`, without and with `ref bool lockTaken`.
    pub(crate) fn enter_monitor(&mut self, method: MethodRef) -> Res<bool> {
        let lowered = LoweredSignature::of_method(method)?;
        let count = lowered.params.len();
        if !(1..=2).contains(&count) {
            return Ok(false);
        }
        self.spill_aliased(count)?;
        let taken = if count == 2 {
            Some(self.pop_address()?)
        } else {
            None
        };
        let object = self.pop_ref()?.value;
        if let Some(StackValue { value, fact, .. }) = taken
            && !matches!(fact, ValueFact::Frame)
        {
            self.explicit_address_check(value);
        }
        let taken = taken.map(|t| t.value);
        let signature = self.e.b.import_signature(lowered.clif);
        let often_fat = self.waits_at_its_locks();
        enter(self.e, object, taken, often_fat, |e| {
            let args: smallvec::SmallVec<[Value; 2]> = [object].into_iter().chain(taken).collect();
            e.call_method(method, signature, &args);
        });
        Ok(true)
    }

    /// `Monitor.Exit`.
    pub(crate) fn exit_monitor(&mut self, method: MethodRef) -> Res<bool> {
        let lowered = LoweredSignature::of_method(method)?;
        if lowered.params.len() != 1 {
            return Ok(false);
        }
        self.spill_aliased(1)?;
        let object = self.pop_ref()?.value;
        let signature = self.e.b.import_signature(lowered.clif);
        let often_fat = self.waits_at_its_locks();
        exit(self.e, object, often_fat, |e| {
            e.call_method(method, signature, &[object]);
        });
        Ok(true)
    }
}
