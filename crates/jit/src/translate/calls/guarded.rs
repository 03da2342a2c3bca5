//! Guarded calls: a virtual or interface call whose receivers are guessed.
//!
//! # How it works
//! The runtime says which classes an object at the call may be of, as far as it knows
//! ([`CompileEnv::receivers`]). If they come to one or two implementations, the call becomes a test
//! for each and a direct call, which may be inlined:
//!
//! ```text
//!     vt = uload32 this                        ; faults on null
//!     brif vt.class == C, hit, next            ; or: [vt + slot] == [slot of C's method], if several classes share the method
//! hit:
//!     jump join(body of C's method)
//! next: (cold)
//!     jump join(the call as it would be without a guess)
//! join(result):
//! ```
//!
//! An indirect call whose target changes is predicted badly on many processors, a test is not; and an
//! inlined body costs less than any call. So it depends on the methods that the receivers come to
//! whether tests are worth their code:
//!
//! ```text
//! methods                      virtual call                     interface call
//! one, which can be inlined    a test                           a test
//! one, which cannot            none: it is predicted as it is   a test: without it a stub would compare
//! two                          two tests                        two tests
//! more, or none is known       none                             none
//! ```
//!
//! A generic virtual method is as an interface's: a helper looks its instance up otherwise.
//!
//! No call is guarded in code that is compiled quickly, in a block that can only throw, and where a
//! tail call is asked for.
//!
//! A virtual method that several classes inherit is tested by its code: the slot of the receiver's
//! VTable and the slot of the method hold the same address, once the method is compiled and was
//! called on an object of that class. Until then the test fails, and the call behind it is what fills
//! the slot. An interface method has no slot of its own, so its receivers are tested by their class.
//!
//! A call of a delegate is guarded by the method that most of its delegates had
//! ([`super::guarded_delegate`]).
//!
//! The object of a value type is its box: the method gets the address of the value in it, as from the
//! stub that a VTable holds for it.
//!
//! # Invariants
//! * A guess changes no result: where no test passes, the call is made as always.
//! * The class of a transparent proxy is the class that it stands for, so receivers that derive from
//!   MarshalByRefObject are tested by their VTable; a slot of a proxy's VTable never holds a method's
//!   own code.
//! * What the stack holds when the arms begin is the same for each of them: structs in variables that
//!   others may write are copied before.
//!
//! [`CompileEnv::receivers`]: crate::options::CompileEnv::receivers
use super::call::Dispatch;
use crate::blob::Symbol;
use crate::emit::trusted;
use crate::options::Tier;
use crate::signature::{LoweredSignature, Pass};
use crate::translate::control::join::Join;
use crate::translate::error::Res;
use crate::translate::inlining::limits::inline_limit;
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackType, StackValue, ValueFact};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types::*};
use smallvec::SmallVec;
use vervet_abi::object::HEADER_SIZE;
use vervet_abi::vtable;
use vervet_types::{ClassRef, MethodRef};

/// How many tests a call may have, besides that of the class that was noted ([`super::profile`]).
const TESTS: usize = 2;
/// How many guarded calls a method may have.
const SITES: usize = 60;

/// A test, and what is called if it passes. The method may be any that overrides or implements the
/// one that the IL names; its signature is the same, so arguments and result travel as they would to
/// that one.
struct Guess {
    /// The class of the receiver. None: any class whose slot leads to the method.
    class: Option<ClassRef>,
    /// It has code of its own.
    method: MethodRef,
}

impl<'a, 'f> Translator<'a, 'f> {
    /// Emits the call with guesses, if there are any. The arguments are on the stack. False: nothing
    /// was emitted.
    pub(crate) fn try_guarded(
        &mut self,
        dispatch: &Dispatch,
        method: MethodRef,
        lowered: &LoweredSignature,
    ) -> Res<bool> {
        if self.session.guards >= SITES
            || self.session.inline_limit < inline_limit(Tier::Optimised)
            || self.body.prefixes.tail
            || self.body.var_args.is_some()
            || self.body.plan.blocks[self.body.block].cold
        {
            return Ok(false);
        }
        let count = lowered.params.len() + 1;
        let Some(at) = self.body.stack.len().checked_sub(count) else {
            return Ok(false);
        };
        if self.body.stack[at].stack_type != StackType::Ref {
            return Ok(false);
        }
        if let Dispatch::Invoke = dispatch {
            return self.try_guarded_delegate(lowered, at);
        }
        let guesses = self.guesses(dispatch, method, self.body.stack[at].class)?;
        if guesses.is_empty() {
            return Ok(false);
        }
        self.session.guards += 1;
        self.emit_guarded(dispatch, lowered, at, &guesses)?;
        Ok(true)
    }

    /// What is worth a test; none if the receivers are not known or too many.
    fn guesses(
        &mut self,
        dispatch: &Dispatch,
        method: MethodRef,
        known: Option<ClassRef>,
    ) -> Res<SmallVec<[Guess; TESTS]>> {
        // What goes through a stub or a helper, and has no slot whose code could be compared.
        let is_interface = match dispatch {
            Dispatch::Virtual(_) => false,
            Dispatch::Interface(_) | Dispatch::Generic(_) => true,
            _ => return Ok(SmallVec::new()),
        };
        let base = match known {
            Some(class) if !class.is_interface() && class.is_subclass_of(method.class)? => class,
            _ => method.class,
        };
        let receivers = self.env.receivers(base, self.session.inline_stack[0]);
        let mut found: SmallVec<[(MethodRef, ClassRef, usize); TESTS]> = SmallVec::new();
        for class in receivers {
            let m = self.implementation(method, class)?;
            let same = found.iter().position(|(known, ..)| Some(*known) == m);
            match (m, same.filter(|_| !is_interface)) {
                (Some(_), Some(at)) => found[at].2 += 1,
                (Some(m), None) if found.len() < TESTS => found.push((m, class, 1)),
                // Not to be guessed, or too many.
                _ => {
                    found.clear();
                    break;
                }
            }
        }
        if let Some(class) = self.profile().and_then(|p| p.dominant_class())
            && match method.class.is_interface() {
                true => class.implements(method.class)?,
                false => class.is_subclass_of(method.class)?,
            }
            && !found.iter().any(|(_, known, _)| *known == class)
            && let Some(m) = self.implementation(method, class)?
        {
            found.push((m, class, 1));
        }
        // One target is predicted as it is. Then only what can be inlined is worth a test, or what goes through a stub otherwise.
        if let [(only, ..)] = found[..]
            && !is_interface
            && self.inline_decision(only, 0)?.is_none()
        {
            return Ok(SmallVec::new());
        }
        let guess = |(method, class, classes): (MethodRef, ClassRef, usize)| Guess {
            class: (classes == 1).then_some(class),
            method,
        };
        Ok(found.into_iter().map(guess).collect())
    }

    /// What a call of the method on an object of the class reaches. None: that is nothing to guess.
    /// So it is for
    ///
    /// * array classes, but for their interfaces,
    /// * generic instances, but for those that the call names and those that implement the interfaces
    ///   of arrays, and what has no code.
    fn implementation(&self, method: MethodRef, class: ClassRef) -> Res<Option<MethodRef>> {
        let is_array = class.is_array();
        if is_array && !method.class.is_interface() {
            return Ok(None);
        }
        let found = match method.class.is_interface() {
            true => class.find_interface_impl(method).unwrap_or(None),
            false => Some(class.find_virtual_impl(method)?),
        };
        let Some(m) = found else { return Ok(None) };
        // A method that a value type inherits takes the box itself; its own take the value.
        let is_plain = is_array || m.method_args().is_empty() || !method.method_args().is_empty();
        let fits = !m.is_abstract() && !m.class.is_interface() && is_plain;
        let is_own = !class.is_value_type()? || m.class == class;
        Ok(Some(m).filter(|_| fits && is_own))
    }

    fn emit_guarded(
        &mut self,
        dispatch: &Dispatch,
        lowered: &LoweredSignature,
        at: usize,
        guesses: &[Guess],
    ) -> Res {
        self.spill_aliased(0)?;
        let this = self.body.stack[at];
        let vt = self.vtable_of(&this);
        let mut arms = self.begin_arms(lowered)?;
        for guess in guesses {
            let fails = self.test(dispatch, vt, guess)?;
            let next = self.begin_hit(fails);
            self.body.stack[at] = self.receiver(&this, guess)?;
            let known = self.session.unproxied.len();
            self.session.unproxied.push(this.value);
            let own = LoweredSignature::of_method(guess.method)?;
            self.emit_call(Dispatch::Direct(guess.method), &own, false)?;
            self.session.unproxied.truncate(known);
            self.end_arm(lowered, &mut arms)?;
            self.e.b.switch_to_block(next);
        }
        // What the first code has often come here for is not rare.
        self.session.is_cold_call = !self.profile().is_some_and(|p| p.is_often());
        self.end_guarded(dispatch, lowered, at, arms)
    }

    /// What the arms of a call begin with: everything as it is now.
    pub(super) fn begin_arms(&mut self, lowered: &LoweredSignature) -> Res<Arms> {
        Ok(Arms {
            stack: self.body.stack.to_vec(),
            nonnull: self.session.nonnull.clone(),
            initialised: self.session.initialised.clone(),
            join: self.new_join(lowered)?,
            is_reached: false,
        })
    }

    /// Branches behind a test. What follows is the arm of the guess; the block that is returned is
    /// where the test fails.
    pub(super) fn begin_hit(&mut self, fails: Value) -> Block {
        let (hit, next) = (self.e.b.create_block(), self.e.b.create_block());
        // What a branch goes to otherwise is placed behind it: the first arm needs no jump.
        self.e.b.ins().brif(fails, next, &[], hit, &[]);
        self.e.b.seal_block(hit);
        self.e.b.seal_block(next);
        self.e.b.switch_to_block(hit);
        next
    }

    /// Emits the arm of the call as it would be without a guess, in the current block, and the join
    /// of all arms.
    pub(super) fn end_guarded(
        &mut self,
        dispatch: &Dispatch,
        lowered: &LoweredSignature,
        at: usize,
        mut arms: Arms,
    ) -> Res {
        if let Some(next) = self.e.b.current_block() {
            self.e.b.set_cold_block(next);
        }
        self.body.stack[at].fact = ValueFact::NonNull;
        self.emit_call(dispatch.clone(), lowered, true)?;
        self.session.is_cold_call = false;
        self.end_arm(lowered, &mut arms)?;
        let join = arms.join;
        self.e.b.seal_block(join.block);
        self.e.b.switch_to_block(join.block);
        self.body.stack.truncate(at);
        if !arms.is_reached {
            // Nothing jumps to this block, but it must end.
            self.e.throw(vervet_abi::ThrowKind::ExecutionEngine);
            self.body.dead = true;
            return Ok(());
        }
        self.push_joined(lowered, join)
    }

    /// Whether the receiver is another one than is guessed.
    fn test(&mut self, dispatch: &Dispatch, vt: Value, guess: &Guess) -> Res<Value> {
        if self.session.fail_guards {
            return Ok(self.e.b.ins().iconst(I8, 1));
        }
        let class = guess.class.unwrap_or(guess.method.class);
        let by_code = guess.class.is_none() && matches!(dispatch, Dispatch::Virtual(_));
        // Outside of loops the class is tested: it is there without a VTable, which costs the start of a program something.
        if !by_code && (self.is_repeated() || class.is_marshal_by_ref()?) {
            let wanted = self.e.symbol(Symbol::GuessedVTable(class));
            return Ok(self.e.b.ins().icmp(IntCC::NotEqual, vt, wanted));
        }
        let (own, wanted) = match (dispatch, guess.class) {
            // The slot and the method's own slot hold the method's code, once it is compiled and was called.
            (Dispatch::Virtual(slot), None) => (
                vtable::SLOTS_OFFSET + 8 * *slot as i32,
                self.e.load_symbol(I64, Symbol::MethodSlot(guess.method), 0),
            ),
            _ => (
                vtable::CLASS_OFFSET,
                self.e.symbol(Symbol::ClassHandle(class)),
            ),
        };
        let own = self.e.b.ins().load(I64, trusted(), vt, own);
        Ok(self.e.b.ins().icmp(IntCC::NotEqual, own, wanted))
    }

    /// `this` of the guessed method: of a value type the address in the box.
    fn receiver(&mut self, this: &StackValue, guess: &Guess) -> Res<StackValue> {
        let Some(class) = guess.class else {
            return Ok(StackValue {
                fact: ValueFact::NonNull,
                ..*this
            });
        };
        if class.is_value_type()? {
            let header = i64::from(HEADER_SIZE);
            return Ok(StackValue {
                stack_type: StackType::ByRef,
                value: self.e.b.ins().iadd_imm_s(this.value, header),
                class: Some(class),
                fact: ValueFact::NonNull,
            });
        }
        Ok(StackValue {
            class: Some(class),
            fact: ValueFact::Exact,
            ..*this
        })
    }

    /// Ends an arm: its result goes to the join. Everything is as before the arm then.
    pub(super) fn end_arm(&mut self, lowered: &LoweredSignature, arms: &mut Arms) -> Res {
        if !self.body.dead {
            arms.is_reached = true;
            let class = lowered.ret_class;
            let result = match lowered.ret {
                Pass::None => None,
                _ => {
                    let operand = self.pop()?;
                    let value = self.coerce_to_class(&operand, class)?;
                    Some(StackValue { value, ..operand })
                }
            };
            self.jump_to_join(arms.join, class, result)?;
        }
        self.body.dead = false;
        self.body.stack.clear();
        self.body.stack.extend(arms.stack.iter().copied());
        self.session.nonnull.clone_from(&arms.nonnull);
        self.session.initialised.clone_from(&arms.initialised);
        Ok(())
    }
}

/// What each arm begins with, and where it ends.
pub(super) struct Arms {
    stack: Vec<StackValue>,
    nonnull: SmallVec<[Value; 8]>,
    initialised: SmallVec<[ClassRef; 4]>,
    join: Join,
    /// By an arm.
    is_reached: bool,
}
