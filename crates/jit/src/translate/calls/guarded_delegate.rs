//! Guarded calls of delegates: the method is guessed from what the first code has noted.
//!
//! # How it works
//! ```text
//!     brif delegate.method_ptr == stub of M, hit, next        ; faults on null
//! hit:
//!     jump join(body of M, with delegate.m_target as `this`, or without)
//! next: (cold)
//!     jump join(the call as it would be without a guess)
//! ```
//!
//! A delegate over M holds the permanent stub of M in `method_ptr`, whatever code M has by then, and no delegate over anything else does: not one of several delegates, nor
//! one whose target is a transparent proxy. How the arguments reach M follows from the signatures: with as many parameters as `Invoke`, a static method gets those of the call,
//! and an instance method gets `m_target` before them, which may be null.
//!
//! Only what can be inlined is guessed: another call is predicted as it is.
//!
//! # Invariants
//! As those of [`super::guarded`]; and the signatures of M and of `Invoke` are the same but for references, which the delegate's constructor has found to fit.
use super::call::Dispatch;
use crate::blob::Symbol;
use crate::emit::{null_trap, trusted};
use crate::signature::LoweredSignature;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackType, StackValue, ValueFact};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types::*};
use std::mem::offset_of;
use vervet_abi::layouts::DelegateObject;
use vervet_types::{ClassRef, MethodRef};

impl Translator<'_, '_> {
    /// Emits the call of the delegate at a place of the stack with a guess, if there is one. False: nothing was emitted.
    pub(super) fn try_guarded_delegate(
        &mut self,
        lowered: &LoweredSignature,
        at: usize,
    ) -> Res<bool> {
        let Some(method) = self.profile().and_then(|p| p.dominant_method()) else {
            return Ok(false);
        };
        let Some(own) = self.fitting(method, lowered)? else {
            return Ok(false);
        };
        self.session.guards += 1;
        self.spill_aliased(0)?;
        let delegate = self.body.stack[at];
        let fails = match self.session.fail_guards {
            true => self.e.b.ins().iconst(I8, 1),
            false => {
                let held = self.method_of_delegate(&delegate);
                let stub = self.e.symbol(Symbol::MethodStub(method));
                self.e.b.ins().icmp(IntCC::NotEqual, held, stub)
            }
        };
        let mut arms = self.begin_arms(lowered)?;
        let next = self.begin_hit(fails);
        let known = self.session.unproxied.len();
        if own.has_this {
            let offset = offset_of!(DelegateObject, m_target) as i32;
            let target = (self.e.b.ins()).load(I64, trusted(), delegate.value, offset);
            self.session.unproxied.push(target);
            self.body.stack[at] = StackValue {
                stack_type: StackType::Ref,
                value: target,
                class: Some(method.class),
                fact: ValueFact::None,
            };
        } else {
            self.body.stack.remove(at);
        }
        self.emit_call(Dispatch::Direct(method), &own, false)?;
        self.session.unproxied.truncate(known);
        self.end_arm(lowered, &mut arms)?;
        self.e.b.switch_to_block(next);
        self.end_guarded(&Dispatch::Invoke, lowered, at, arms)?;
        Ok(true)
    }

    /// The signature of a method that a call of a delegate may be guarded by. None: it may not.
    fn fitting(
        &mut self,
        method: MethodRef,
        invoke: &LoweredSignature,
    ) -> Res<Option<LoweredSignature>> {
        let is_open = method.is_open() || method.class.is_open;
        if is_open || method.is_abstract() || method.class.is_value_type()? {
            return Ok(None);
        }
        let Ok(own) = LoweredSignature::of_method(method) else {
            return Ok(None);
        };
        let pairs = own.param_classes.iter().zip(&invoke.param_classes);
        let mut fits = own.param_classes.len() == invoke.param_classes.len()
            && is_same(own.ret_class, invoke.ret_class)?;
        for (a, b) in pairs {
            fits = fits && is_same(a, b)?;
        }
        let fits = fits && self.inline_decision(method, 0)?.is_some();
        Ok(fits.then_some(own))
    }

    /// Loads the address by which the method of a delegate is known; outside of protected regions this is the null check.
    pub(super) fn method_of_delegate(&mut self, delegate: &StackValue) -> Value {
        let offset = offset_of!(DelegateObject, method_ptr) as i32;
        let flags = match delegate.fact {
            ValueFact::Exact | ValueFact::NonNull => trusted(),
            _ if self.e.has_handlers() => self.null_checked(delegate, offset.into(), 8),
            _ => null_trap(),
        };
        self.e.b.ins().load(I64, flags, delegate.value, offset)
    }
}

/// Whether values of two classes are passed as the same, and what checks the one checks the other: the classes are one, or both are of references.
fn is_same(a: ClassRef, b: ClassRef) -> Res<bool> {
    let is_reference =
        |c: ClassRef| -> Res<bool> { Ok(!c.is_byref() && !c.is_ptr() && !c.is_value_type()?) };
    Ok(std::ptr::eq(a, b) || is_reference(a)? && is_reference(b)?)
}
