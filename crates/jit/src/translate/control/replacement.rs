//! On-stack replacement: a thread leaves a loop of quickly compiled code for optimised code of
//! that loop, in the middle of the method's run.
//!
//! # How it works
//! Quick code has a *patchpoint* at the head of each loop. It counts iterations in a variable
//! of the frame, and asks the runtime for other code at the end of each
//! period ([`Options::loop_iterations`](crate::Options::loop_iterations)):
//!
//! ```text
//! head:   countdown -= 1
//!         brif countdown, on, ask
//! ask:    (cold)  code = call ReplaceLoop(method, head)      ; 0: not yet, or never
//!                 countdown = period
//!                 brif code, leave, on
//! leave:  (cold)  return_call code(parameters, carried...)   ; the frame goes, the new one takes its place
//! on:     ...
//! ```
//! The other code is the method with another entry: its prologue puts the *carried* values
//! where its variables live, and jumps to the loop's head. A value of a
//! variable is carried if code of the method writes the variable or takes its address; the
//! other arguments travel as they came:
//!
//! ```text
//! scalar                          one parameter of its type
//! struct, or address taken        the words of its slot, as integers
//! ```
//! An example, with an argument that is written, and a local:
//!
//! ```text
//! static int F(string s, int n) {     quick code       (i64 s, i32 n) -> i32
//!     int sum = 0;                    entered at HEAD  (i64 s, i32 0, i32 n, i32 sum, i32 1)
//!     while (n > 0)
//!         sum += s[--n];              block0(v0, v1, v2, v3, v4):
//!     return sum;                         brif v4, HEAD(v2, v3), BEHIND(v3)
//! }                                   HEAD(n, sum): ...
//! ```
//! The argument's own place in the signature has a zero then: what the caller passed is of no more
//! use, and would be kept alive by the frame.
//!
//! Code that was entered at an inner loop has no good shape for the loops around it: they have
//! two entries, so that nothing can be moved in front of the inner one:
//!
//! ```text
//! OUTER:  row = rows[i]; j = 0        <----+
//! INNER:  sum += row[j++]     <--+ <-------|---- entry
//!         jl INNER           ----+         |
//!         i += 1; jl OUTER            -----+
//! ```
//! So it has patchpoints of its own at the heads of the outer loops, which ask at once, and leaves
//! for code that is entered there:
//!
//! ```text
//! quick code  --INNER-->  code for INNER  --OUTER-->  code for OUTER, as good as code that is
//!                                                     entered at the method's start
//! ```
//! # Asynchronous exceptions
//! An abort may be raised in front of the entered code's frame, where its stack is checked, or when
//! that stack overflows. No handler of the method covers this place. So a head in a protected region
//! is no patchpoint: a `finally`, or the release of a lock, would be passed over.
//!
//! # The exit of the loop
//! A loop that begins with a jump to its test has two ways out to the code behind it: the test's
//! branch, and the one before the first iteration. The passes over such loops rely on it, since what
//! the loop computes becomes parameters of the block behind it. So the entry has a branch there, too,
//! which a last argument decides; it is never taken.
//!
//! # Traces
//! The other code is code of the method like any other: a stack walk finds one frame, and the IL
//! offsets are those of the same body.
//!
//! # Invariants
//! * At a patchpoint, nothing is on the IL stack, and it is in no protected region or handler:
//!   what the method has
//!   computed is in its variables, all of which are carried.
//! * Nothing points to the frame that is left: no unmanaged pointer to it was made, no variable may
//!   hold a managed one (module `carried`), and no method that may make one from a managed one
//!   was given such (module `kept_pointers`).
//! * No reference is elsewhere than in registers and on the stack between the two frames, where
//!   the collector looks.
//! * The code that is entered has run nothing of the method before: the class constructor,
//!   which comes first, is not run again, nor is a monitor entered.
//! * What is carried depends on the method alone, so that both sides agree.
use crate::emit::trusted;
use crate::signature::Pass;
use crate::translate::control::carried::{Countdown, Form, Pieces, Replacement, cut, find_pieces};
use crate::translate::control::control_flow::{ADDRESS, WRITTEN, in_handler, in_try};
use crate::translate::control::state::Entry;
use crate::translate::error::{Res, TranslateError};
use crate::translate::frame::location::Location;
use crate::translate::translator::Translator;
use crate::translate::values::stack::StackType;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, StackSlot, Type, Value, types::*};
use smallvec::SmallVec;
use vervet_abi::call;
use vervet_types::ClassRef;

impl Translator<'_, '_> {
    /// Prepares the patchpoints of a method that has some, in its prologue.
    pub(crate) fn begin_patchpoints(&mut self) {
        let Some(replacement) = &self.session.replacement else {
            return;
        };
        let first = replacement.head.map_or(replacement.period, |_| 1);
        let countdown = self.e.b.declare_var(I32);
        let period = self.e.b.ins().iconst(I32, i64::from(first));
        self.e.b.def_var(countdown, period);
        self.session.countdown = Some(Countdown(countdown));
    }

    /// Puts what is carried where the variables live, in code that is entered at a loop's head.
    pub(crate) fn take_carried(&mut self) -> Res {
        let Some(replacement) = self.session.replacement.clone() else {
            return Err(TranslateError::internal(
                "an entry at a loop without a plan",
            ));
        };
        let mut at = self.body.lowered.clif.params.len();
        for (n, form) in replacement.carried.iter() {
            let count = match form {
                Form::Scalar(_) => 1,
                Form::Words(count) => *count as usize,
            };
            let values: SmallVec<[Value; 8]> = self.body.params[at..at + count].into();
            at += count;
            let variable = self.body.variables[*n];
            match variable.location {
                Location::Ssa(ssa) => {
                    self.e.b.def_var(ssa, values[0]);
                    if let Some(slot) = variable.shadow {
                        self.e.b.ins().stack_store(I64, values[0], slot, 0);
                    }
                }
                Location::Slot(slot) if variable.kind == StackType::Struct => {
                    self.store_words(variable.class, slot, &values)?;
                }
                Location::Slot(slot) => {
                    self.e.b.ins().stack_store(I64, values[0], slot, 0);
                }
                _ => {
                    return Err(TranslateError::internal(
                        "a carried variable lives elsewhere",
                    ));
                }
            }
            if variable.pinned {
                self.e.b.ins().sequence_point();
            }
        }
        Ok(())
    }

    /// Stores the words of a struct by its scalars, where they can be told: other code accesses
    /// those, and so the slot can become values. What lies between
    /// scalars is stored as well: it may be more than padding.
    fn store_words(&mut self, class: ClassRef, slot: StackSlot, words: &[Value]) -> Res {
        let mut pieces = Pieces::new();
        let is_known = find_pieces(class, 0, &mut pieces)?;
        pieces.sort_by_key(|piece| piece.offset);
        let address = self.e.slot_addr(slot);
        for (word, value) in (0u32..).zip(words) {
            match is_known.then(|| cut(&pieces, word)).flatten() {
                None => {
                    let at = 8 * word as i32;
                    self.e.b.ins().store(trusted(), *value, address, at);
                }
                Some(parts) => {
                    for part in parts {
                        let scalar = self.part(*value, part.offset % 8, part.ty);
                        let at = part.offset as i32;
                        self.e.b.ins().store(trusted(), scalar, address, at);
                    }
                }
            }
        }
        Ok(())
    }

    /// The part of a word from that byte on, as a value of that type.
    fn part(&mut self, word: Value, byte: u32, ty: Type) -> Value {
        let word = match byte {
            0 => word,
            _ => self.e.b.ins().ushr_imm_u(word, i64::from(8 * byte)),
        };
        let part = match ty.bits() {
            64 => word,
            bits => {
                let ty = Type::int(bits as u16).expect("a power of two");
                self.e.b.ins().ireduce(ty, word)
            }
        };
        match ty.is_float() {
            true => self.e.b.ins().bitcast(ty, MemFlagsData::new(), part),
            false => part,
        }
    }

    /// Goes to the head of the loop at which the code is entered, from its prologue.
    pub(crate) fn enter_loop(&mut self, head: usize) -> Res {
        let first = self.clif_block(head);
        let Some(behind) = self.behind_loop(head)? else {
            self.e.b.ins().jump(first, &[]);
            return Ok(());
        };
        self.body.states[behind].entry = Some(Entry::new());
        let behind = self.clif_block(behind);
        let begins = self.body.params.last().copied();
        let begins = begins.ok_or_else(|| TranslateError::internal("no last argument"))?;
        self.e.b.ins().brif(begins, first, &[], behind, &[]);
        Ok(())
    }

    /// The block behind the last branch back to that block, if control goes on there with
    /// nothing on the stack, and it has the head's handlers.
    fn behind_loop(&self, head: usize) -> Res<Option<usize>> {
        let plan = self.body.plan;
        let offset = plan.blocks[head].offset;
        let sources = plan.back_edges.iter().filter(|edge| edge.0 == offset);
        let Some(last) = sources.map(|edge| edge.1).max() else {
            return Ok(None);
        };
        let latch = (0..plan.blocks.len()).find(|n| plan.last(*n).offset == last);
        let Some(behind) = latch.map(|n| n + 1).filter(|n| *n < plan.blocks.len()) else {
            return Ok(None);
        };
        let goes_on = !plan.last(behind - 1).op.ends_block();
        let is_free = |at: u32| {
            let covers = |clause| in_try(clause, at) || in_handler(clause, at);
            !plan.clauses.iter().any(covers)
        };
        let fits = goes_on && plan.blocks[behind].reachable && is_free(plan.blocks[behind].offset);
        Ok((fits && self.body.states[behind].entry.is_none()).then_some(behind))
    }

    /// At the head of a loop: the patchpoint, if there is to be one. False: the loop cannot be
    /// left, because something is on the stack.
    pub(crate) fn patchpoint(&mut self, head: u32) -> Res<bool> {
        let (Some(replacement), Some(Countdown(countdown))) =
            (self.session.replacement.clone(), self.session.countdown)
        else {
            return Ok(true);
        };
        let is_wanted = match replacement.head {
            None => true,
            // The loops around the one at whose head this code is entered.
            Some(entry) => self
                .body
                .plan
                .back_edges
                .iter()
                .any(|(target, source)| *target == head && head < entry && entry <= *source),
        };
        if self.body.inline.is_some() || !replacement.has_patchpoints || !is_wanted {
            return Ok(true);
        }
        if !self.body.stack.is_empty() {
            return Ok(false);
        }
        let [ask, leave, on] = [(); 3].map(|()| self.e.b.create_block());
        self.e.b.set_cold_block(ask);
        self.e.b.set_cold_block(leave);
        let left = self.e.b.use_var(countdown);
        let left = self.e.b.ins().iadd_imm_s(left, -1);
        self.e.b.def_var(countdown, left);
        self.e.b.ins().brif(left, on, &[], ask, &[]);
        self.e.b.seal_block(ask);
        self.e.b.switch_to_block(ask);
        let method = self
            .e
            .symbol(crate::blob::Symbol::MethodHandle(self.body.method));
        let at = self.e.b.ins().iconst(I32, i64::from(head));
        let code = self.e.helper_value(call::ReplaceLoop, [method, at]);
        let again = self.e.b.ins().iconst(I32, i64::from(replacement.period));
        self.e.b.def_var(countdown, again);
        self.e.b.ins().brif(code, leave, &[], on, &[]);
        self.e.b.seal_block(leave);
        self.e.b.switch_to_block(leave);
        self.leave_for(&replacement, code)?;
        self.e.b.seal_block(on);
        self.e.b.switch_to_block(on);
        Ok(true)
    }

    /// Goes on in code that is entered at the loop's head.
    fn leave_for(&mut self, replacement: &Replacement, code: Value) -> Res {
        let own = self.body.lowered.clif.params.len();
        let mut values: SmallVec<[Value; 16]> = self.body.params[..own].into();
        self.drop_written(&mut values);
        for (n, form) in replacement.carried.iter() {
            match (form, self.body.variables[*n].location) {
                (Form::Scalar(_), Location::Ssa(ssa)) => values.push(self.e.b.use_var(ssa)),
                (Form::Words(count), Location::Slot(slot)) => {
                    for word in 0..*count {
                        let at = 8 * word as i32;
                        values.push(self.e.b.ins().stack_load(I64, I64, slot, at));
                    }
                }
                _ => {
                    return Err(TranslateError::internal(
                        "a carried variable lives elsewhere",
                    ));
                }
            }
        }
        values.push(self.e.b.ins().iconst(I32, 1));
        let signature = self.e.b.import_signature(replacement.signature.clone());
        self.e.begin_no_redirect();
        self.e.return_call_indirect(signature, code, &values);
        self.e.end_no_redirect();
        Ok(())
    }

    /// Passes zero in place of arguments whose variables are carried: what the caller passed
    /// would be kept alive by the frame.
    fn drop_written(&mut self, values: &mut [Value]) {
        let lowered = self.body.lowered;
        let this = usize::from(lowered.has_this);
        for (n, flags) in self.body.plan.args.iter().enumerate() {
            if flags & (ADDRESS | WRITTEN) == 0 {
                continue;
            }
            let range = match n.checked_sub(this) {
                None => 0..1,
                // The callee copies from there.
                Some(n) if lowered.params[n] == Pass::Address => continue,
                Some(n) => {
                    let first = lowered.first_value(n);
                    first..first + lowered.params[n].count()
                }
            };
            for value in &mut values[range] {
                let ty = self.e.b.func.dfg.value_type(*value);
                *value = match ty {
                    F32 => self.e.b.ins().f32const(0.0),
                    F64 => self.e.b.ins().f64const(0.0),
                    ty => self.e.b.ins().iconst(ty, 0),
                };
            }
        }
    }
}
