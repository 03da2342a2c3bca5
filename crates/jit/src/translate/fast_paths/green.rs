//! What code does on a green thread other than on an OS thread: it does not spin.
//!
//! # How it works
//! A carrier runs one green thread at a time. A green thread that spins probably waits for a thread that its own carrier is to run next, and
//! a wait of a green thread costs less than a round of spinning does. So the waits of the class library that spin before they block find on a
//! green thread what they find on a machine with one processor:
//!
//! | code | on a green thread |
//! |---|---|
//! | `SpinWait.NextSpinWillYield` | true: `SemaphoreSlim.Wait` blocks without a round |
//! | `SpinWait.SpinCountforSpinBeforeWait`, read by `Task.SpinWait` | at most 1 round |
//! | `ManualResetEventSlim.SpinCount`, read by its `Wait` | at most 1 round |
//! | `Thread.SpinWait(n)` | lets others run, if there are some, in place of short spins and before long ones; otherwise spins |
//!
//! # Invariants
//! * On an OS thread nothing changes but that a word of the context is loaded.
//! * Only the named methods of the core library see these values. Code that stores such a value where threads of both kinds may find it does not.
use crate::emit::Emitter;
use crate::signature::LoweredSignature;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::StackType;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types::*};
use vervet_abi::{call, context};
use vervet_types::{FieldRef, MethodRef};

/// A larger argument of `Thread.SpinWait` is not a short wait for another thread, but a delay that the program wants.
const MOST_TURNS: i64 = 4096;

/// Whether the thread that runs the code is a green one, as an `I8`.
fn is_green(e: &mut Emitter<'_>) -> Value {
    let green = e.load_context(I64, context::GREEN);
    e.b.ins().icmp_imm_u(IntCC::NotEqual, green, 0)
}

impl Translator<'_, '_> {
    /// `Thread.IsGreenThread`.
    pub(crate) fn is_green_thread(&mut self) {
        let green = is_green(self.e);
        let value = self.e.b.ins().uextend(I32, green);
        self.push(StackType::I32, value);
    }

    /// Changes the value of a static field, which was just pushed, if that is one of the table.
    pub(crate) fn on_green_thread(&mut self, field: FieldRef) -> Res {
        let reader = self.body.method;
        if !reader.class.module.is_corlib() || !field.class.module.is_corlib() {
            return Ok(());
        }
        match (reader.class.name, reader.name, field.class.name, field.name) {
            ("SpinWait", "get_NextSpinWillYield", "PlatformHelper", "IsSingleProcessor") => {
                let single = self.pop_i32()?;
                let green = is_green(self.e);
                let green = self.e.b.ins().uextend(I32, green);
                let value = self.e.b.ins().bor(single, green);
                self.push(StackType::I32, value);
            }
            ("Task", "SpinWait", "SpinWait", "SpinCountforSpinBeforeWait") => {
                let rounds = self.pop_i32()?;
                self.push_rounds(rounds);
            }
            _ => {}
        }
        Ok(())
    }

    /// The call of `ManualResetEventSlim.SpinCount` by `ManualResetEventSlim.Wait`.
    pub(crate) fn spin_count(&mut self, method: MethodRef) -> Res<bool> {
        let lowered = LoweredSignature::of_method(method)?;
        let event = self.pop_ref()?;
        let signature = self.e.b.import_signature(lowered.clif);
        let rounds = self.e.call_method(method, signature, &[event.value])[0];
        self.push_rounds(rounds);
        Ok(true)
    }

    /// Pushes how many rounds are spun: `rounds`, which is not negative, but on a green thread 1 at most.
    fn push_rounds(&mut self, rounds: Value) {
        let one = self.i32(1);
        let green = is_green(self.e);
        let few = self.e.b.ins().umin(rounds, one);
        let value = self.e.b.ins().select(green, few, rounds);
        self.push(StackType::I32, value);
    }

    /// `Thread.SpinWait(int)`:
    ///
    /// ```text
    ///     brif context.green, look, spin
    /// look: (cold)
    ///     brif call OthersReady(context), aside, spin
    /// aside: (cold)
    ///     call Thread.YieldInternal
    ///     brif turns <= MOST_TURNS, join, spin
    /// spin:
    ///     call Thread.SpinWait(turns)
    ///     jump join
    /// ```
    pub(crate) fn spin_wait(&mut self, method: MethodRef) -> Res<bool> {
        let Some(yields) = method.class.find_method("YieldInternal", Some(0))? else {
            return Ok(false);
        };
        let lowered = LoweredSignature::of_method(method)?;
        let lowered_yield = LoweredSignature::of_method(yields)?;
        self.spill_aliased(1)?;
        let turns = self.pop_i32()?;
        let e = &mut *self.e;
        let [look, aside, spin, join] = [(); 4].map(|()| e.b.create_block());
        e.b.set_cold_block(look);
        e.b.set_cold_block(aside);
        let green = is_green(e);
        e.b.ins().brif(green, look, &[], spin, &[]);
        e.b.seal_block(look);
        e.b.switch_to_block(look);
        let context = e.context();
        let others = e.helper_value(call::OthersReady, [context]);
        e.b.ins().brif(others, aside, &[], spin, &[]);
        e.b.seal_block(aside);
        e.b.switch_to_block(aside);
        let signature = e.b.import_signature(lowered_yield.clif);
        e.call_method(yields, signature, &[]);
        let short =
            e.b.ins()
                .icmp_imm_s(IntCC::SignedLessThanOrEqual, turns, MOST_TURNS);
        e.b.ins().brif(short, join, &[], spin, &[]);
        e.b.seal_block(spin);
        e.b.switch_to_block(spin);
        let signature = e.b.import_signature(lowered.clif);
        e.call_method(method, signature, &[turns]);
        e.b.ins().jump(join, &[]);
        e.b.seal_block(join);
        e.b.switch_to_block(join);
        Ok(true)
    }
}
