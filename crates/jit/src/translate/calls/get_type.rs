//! `Object.GetType()`: the Type object that the receiver's VTable knows.
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
//! # Invariants
//! * A root slot is never freed and never moves; the object that it holds may move, so the slot is read each time.
//! * The VTable of a transparent proxy knows the type that the proxy stands for.
use crate::emit::trusted;
use crate::signature::LoweredSignature;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackType, StackValue, ValueFact};
use cranelift_codegen::ir::{BlockArg, InstBuilder, types::I64};
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
}
