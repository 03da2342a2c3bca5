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
use cranelift_codegen::ir::{BlockArg, InstBuilder, types::I64};
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
        let [known, ask, join] = [(); 3].map(|()| self.e.b.create_block());
        let found = self.e.b.append_block_param(join, I64);
        self.e.b.set_cold_block(ask);
        let root = self
            .e
            .b
            .ins()
            .load(I64, trusted(), vt, vtable::TYPE_ROOT_OFFSET);
        self.e.b.ins().brif(root, known, &[], ask, &[]);
        self.e.b.seal_block(known);
        self.e.b.switch_to_block(known);
        let object = self.e.b.ins().load(I64, trusted(), root, 0);
        let to_join = [BlockArg::Value(object)];
        self.e.b.ins().brif(object, join, &to_join, ask, &[]);
        self.e.b.seal_block(ask);
        self.e.b.switch_to_block(ask);
        let signature = self.e.b.import_signature(lowered.clif);
        let called = self.e.call_method(method, signature, &[this.value])[0];
        self.e.b.ins().jump(join, &[BlockArg::Value(called)]);
        self.e.b.seal_block(join);
        self.e.b.switch_to_block(join);
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
        let [own, ask, join] = [(); 3].map(|()| self.e.b.create_block());
        let found = self.e.b.append_block_param(join, I64);
        self.e.b.set_cold_block(ask);
        let class = (self.e.b.ins()).load(I64, trusted(), vt, vtable::CLASS_OFFSET);
        let wanted = self.e.symbol(Symbol::ClassHandle(runtime_type));
        let is_own = self.e.b.ins().icmp(IntCC::Equal, class, wanted);
        self.e.b.ins().brif(is_own, own, &[], ask, &[]);
        self.e.b.seal_block(own);
        self.e.b.switch_to_block(own);
        let offset = (HEADER_SIZE + hidden) as i32;
        let name = self.e.b.ins().load(I64, trusted(), this.value, offset);
        let to_join = [BlockArg::Value(name)];
        self.e.b.ins().brif(name, join, &to_join, ask, &[]);
        self.e.b.seal_block(ask);
        self.e.b.switch_to_block(ask);
        let offset = vtable::SLOTS_OFFSET + 8 * slot as i32;
        let target = self.e.b.ins().load(I64, trusted(), vt, offset);
        let signature = self.e.b.import_signature(lowered.clif.clone());
        let result = result_of(&lowered);
        let called = self.e.call_indirect_rarely(
            signature,
            Rarely::InColdBlocks,
            result,
            target,
            &[this.value],
        )[0];
        self.e.b.ins().jump(join, &[BlockArg::Value(called)]);
        self.e.b.seal_block(join);
        self.e.b.switch_to_block(join);
        self.push_value(StackValue {
            stack_type: StackType::Ref,
            value: found,
            class: Some(lowered.ret_class),
            fact: ValueFact::None,
        });
        Ok(true)
    }
}
