//! `Object.GetType()`: the Type object that the receiver's VTable knows; `Type.Name`: the string that the Type object knows.
//!
//! # How it works
//! ```text
//!     vt = uload32 this                        ; faults on null
//!     root = load [vt + type_root]
//!     brif root, known, ask                    ; 0: nobody has asked for the Type object yet
//! known:
//!     type = load [root]
//!     brif type, join(type), ask               ; null: the slot is that of a domain's life that has ended
//! ask: (cold)
//!     jump join(the internal call)             ; which stores the root to the VTable
//! ```
//!
//! The name of a type, where the receiver is known to be a Type object:
//!
//! ```text
//!     vt = uload32 this                        ; faults on null
//!     brif vt.class == RuntimeType, own, ask
//! own:
//!     name = load [this + hidden reference]
//!     brif name, join(name), ask               ; null: nobody has asked for it yet
//! ask: (cold)
//!     jump join(the call)                      ; which stores the name to a RuntimeType
//! ```
//!
//! # Invariants
//! * A root slot is never freed and never moves; the object that it holds may move, so the slot is read each time.
//! * The VTable of a transparent proxy knows the type that the proxy stands for.
use crate::blob::Symbol;
use crate::emit::trusted;
use crate::optimise::Rarely;
use crate::signature::LoweredSignature;
use crate::stubs::cold_call::result_of;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackType, StackValue, ValueFact};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types::I64};
use vervet_abi::object::HEADER_SIZE;
use vervet_abi::vtable;
use vervet_types::{Known, MethodRef};

impl Translator<'_, '_> {
    /// The receiver is on the stack. False: the call must be made.
    pub(crate) fn get_type(&mut self, method: MethodRef) -> Res<bool> {
        let sig = method.sig()?;
        let is_object = |v: &StackValue| v.stack_type == StackType::Ref;
        if !sig.has_this || !sig.params.is_empty() || !self.body.stack.last().is_some_and(is_object)
        {
            return Ok(false);
        }
        let lowered = LoweredSignature::of_method(method)?;
        self.spill_aliased(1)?;
        let this = self.pop_ref()?;
        let vt = self.vtable_of(&this);
        let offset = vtable::TYPE_ROOT_OFFSET;
        let root = self.e.b.ins().load(I64, trusted(), vt, offset);
        let found = self.kept_or_asked(root, (root, 0), |t| {
            let signature = t.e.b.import_signature(lowered.clif);
            t.e.call_method(method, signature, &[this.value])[0]
        });
        self.push_value(StackValue {
            stack_type: StackType::Ref,
            value: found,
            class: Some(self.session.universe.known(Known::RuntimeType)),
            fact: ValueFact::NonNull,
        });
        Ok(true)
    }

    /// A Type object is on the stack, or something else that has a name. False: the call must be made.
    ///
    /// Only where the IL says `Type` (or `GetType` has given it): other members have names, too, and
    /// would pay for the question.
    pub(crate) fn type_name(&mut self, method: MethodRef) -> Res<bool> {
        let universe = self.session.universe;
        let (ty, runtime_type) = (
            universe.known(Known::Type),
            universe.known(Known::RuntimeType),
        );
        let is_type = |v: &StackValue| {
            v.stack_type == StackType::Ref
                && v.class
                    .is_some_and(|c| std::ptr::eq(c, ty) || std::ptr::eq(c, runtime_type))
        };
        let hidden = runtime_type.instance_layout()?.hidden_reference;
        let (Some(hidden), Some(slot)) = (hidden, method.slot()?) else {
            return Ok(false);
        };
        if !self.body.stack.last().is_some_and(is_type) {
            return Ok(false);
        }
        let lowered = LoweredSignature::of_method(method)?;
        self.spill_aliased(1)?;
        let this = self.pop_ref()?;
        let vt = self.vtable_of(&this);
        let class = (self.e.b.ins()).load(I64, trusted(), vt, vtable::CLASS_OFFSET);
        let wanted = self.e.symbol(Symbol::ClassHandle(runtime_type));
        let is_own = self.e.b.ins().icmp(IntCC::Equal, class, wanted);
        let name = (this.value, (HEADER_SIZE + hidden) as i32);
        let found = self.kept_or_asked(is_own, name, |t| {
            let offset = vtable::SLOTS_OFFSET + 8 * slot as i32;
            let target = t.e.b.ins().load(I64, trusted(), vt, offset);
            let signature = t.e.b.import_signature(lowered.clif.clone());
            let (rarely, result) = (Rarely::InColdBlocks, result_of(&lowered));
            let this = [this.value];
            t.e.call_indirect_rarely(signature, rarely, result, target, &this)[0]
        });
        self.push_value(StackValue {
            stack_type: StackType::Ref,
            value: found,
            class: Some(lowered.ret_class),
            fact: ValueFact::None,
        });
        Ok(true)
    }

    /// The reference at that address and offset, if `is_kept` is not 0 and it is not null; else the
    /// result of the call that `ask` emits, which is rare.
    fn kept_or_asked(
        &mut self,
        is_kept: Value,
        (at, offset): (Value, i32),
        ask: impl FnOnce(&mut Self) -> Value,
    ) -> Value {
        let [kept, rare, join] = [(); 3].map(|()| self.e.b.create_block());
        let found = self.e.b.append_block_param(join, I64);
        self.e.b.set_cold_block(rare);
        self.e.b.ins().brif(is_kept, kept, &[], rare, &[]);
        self.e.b.seal_block(kept);
        self.e.b.switch_to_block(kept);
        let reference = self.e.b.ins().load(I64, trusted(), at, offset);
        let to_join = [BlockArg::Value(reference)];
        self.e.b.ins().brif(reference, join, &to_join, rare, &[]);
        self.e.b.seal_block(rare);
        self.e.b.switch_to_block(rare);
        let called = ask(self);
        self.e.b.ins().jump(join, &[BlockArg::Value(called)]);
        self.e.b.seal_block(join);
        self.e.b.switch_to_block(join);
        found
    }
}
