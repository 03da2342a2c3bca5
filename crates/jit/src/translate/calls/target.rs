//! Where the code of a callee is: the address that a call goes to.
//!
//! # Invariants
//! * For an interface call the address comes with a store to `context.hidden`, so nothing but the call may follow.
//! * `this` is checked for null where a virtual call is made, by the load of its VTable or by itself.
use crate::blob::Symbol;
use crate::emit::trusted;
use crate::translate::calls::call::Dispatch;
use crate::translate::error::{Res, TranslateError};
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackType, StackValue};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types::*};
use vervet_abi::{call, context, vtable};
use vervet_types::MethodRef;

impl<'a, 'f> Translator<'a, 'f> {
    /// Emits what finds the code address of a callee. For an interface call this is also the store
    /// to `context.hidden`, so nothing but the call may follow. `first` is the first value that travels.
    pub(crate) fn call_target(
        &mut self,
        dispatch: &Dispatch,
        this: Option<&StackValue>,
        first: Option<Value>,
        is_virtual: bool,
    ) -> Res<Value> {
        Ok(match *dispatch {
            Dispatch::Invoke | Dispatch::Accessor(_) => {
                return Err(TranslateError::internal("expanded above"));
            }
            Dispatch::Direct(m) => {
                if let Some(this) = this
                    && !m.is_static()
                    && self.may_be_remote(this, m.class, false)?
                {
                    return self.remote_target(m, this, is_virtual);
                }
                if let (true, Some(this)) = (is_virtual, this)
                    && this.stack_type == StackType::Ref
                {
                    self.null_check(this);
                }
                self.e.load_symbol(I64, Symbol::MethodSlot(m), 0)
            }
            Dispatch::Virtual(slot) => {
                let this =
                    this.ok_or_else(|| TranslateError::invalid("a virtual call without `this`"))?;
                let vt = self.vtable_of(this);
                self.e
                    .b
                    .ins()
                    .load(I64, trusted(), vt, vtable::SLOTS_OFFSET + 8 * slot as i32)
            }
            Dispatch::Interface(m) => {
                let this = this
                    .ok_or_else(|| TranslateError::invalid("an interface call without `this`"))?;
                let vt = self.vtable_of(this);
                let at = vtable::IMT_OFFSET + 8 * vtable::imt_index(m.stable_hash()) as i32;
                let code = self.e.b.ins().load(I64, trusted(), vt, at);
                let handle = self.e.symbol(Symbol::MethodHandle(m));
                self.e.store_context(handle, context::HIDDEN);
                code
            }
            Dispatch::Generic(m) => {
                let handle = self.e.symbol(Symbol::MethodHandle(m));
                let first = first
                    .ok_or_else(|| TranslateError::invalid("a virtual call without `this`"))?;
                self.generic_target(m, handle, this, first)
            }
        })
    }

    /// The code of a generic virtual method: what the VTable remembers of it, or what the helper finds.
    ///
    /// ```text
    ///     vt = uload32 this
    ///     target = load [vt + GENERICS + 8 * generic_index(hash of M)]
    ///     brif [target.method] == M, join([target.code]), cold
    /// cold:
    ///     jump join(call ResolveVirtual(this, M))
    /// ```
    fn generic_target(
        &mut self,
        m: MethodRef,
        handle: Value,
        operand: Option<&StackValue>,
        this: Value,
    ) -> Value {
        let Some(operand) = operand.filter(|o| o.stack_type == StackType::Ref) else {
            return self.e.helper_value(call::ResolveVirtual, [this, handle]);
        };
        let vt = self.vtable_of(operand);
        let index = vtable::generic_index(m.stable_hash()) as i32;
        let at = vtable::GENERICS_OFFSET + 8 * index;
        let target = self.e.b.ins().load(I64, trusted(), vt, at);
        let field = |at: usize| at as i32;
        let method = field(std::mem::offset_of!(vtable::GenericTarget, method));
        let code = field(std::mem::offset_of!(vtable::GenericTarget, code));
        let known = self.e.b.ins().load(I64, trusted(), target, method);
        let code = self.e.b.ins().load(I64, trusted(), target, code);
        let (cold, join) = (self.e.b.create_block(), self.e.b.create_block());
        self.e.b.append_block_param(join, I64);
        let is_known = self.e.b.ins().icmp(IntCC::Equal, known, handle);
        let found = [BlockArg::Value(code)];
        self.e.b.ins().brif(is_known, join, &found, cold, &[]);
        self.e.b.seal_block(cold);
        self.e.b.set_cold_block(cold);
        self.e.b.switch_to_block(cold);
        let found = self.e.helper_value(call::ResolveVirtual, [this, handle]);
        self.e.b.ins().jump(join, &[BlockArg::Value(found)]);
        self.e.b.seal_block(join);
        self.e.b.switch_to_block(join);
        self.e.b.block_params(join)[0]
    }

    /// The code of a method of a MarshalByRefObject: its own, or, if `this` is a transparent proxy, what sends the call to the real proxy. `call` goes on with a null
    /// `this` (`checked` is false).
    ///
    /// ```text
    ///     brif this, look, target(load [slot of M])        ; `call` only
    /// look:
    ///     vt = uload32 this
    ///     brif vt.remoting & PROXY, cold, own
    /// own:
    ///     jump target(load [slot of M])
    /// cold:
    ///     jump target(call RemoteCode(this, M))
    /// target(code):
    ///     call_indirect code(this, ...)
    /// ```
    fn remote_target(&mut self, m: MethodRef, this: &StackValue, checked: bool) -> Res<Value> {
        let target = self.e.b.create_block();
        self.e.b.append_block_param(target, I64);
        if !checked {
            let own = self.e.load_symbol(I64, Symbol::MethodSlot(m), 0);
            let look = self.e.b.create_block();
            let own = [BlockArg::Value(own)];
            self.e.b.ins().brif(this.value, look, &[], target, &own);
            self.e.b.seal_block(look);
            self.e.b.switch_to_block(look);
        }
        let (cold, join) = self.if_proxy(this);
        self.e.b.append_block_param(join, I64);
        let own = self.e.load_symbol(I64, Symbol::MethodSlot(m), 0);
        self.e.b.ins().jump(join, &[BlockArg::Value(own)]);
        self.e.b.switch_to_block(cold);
        let handle = self.e.symbol(Symbol::MethodHandle(m));
        let remote = (self.e).helper_value(call::RemoteCode, [this.value, handle]);
        self.e.b.ins().jump(join, &[BlockArg::Value(remote)]);
        self.e.b.seal_block(join);
        self.e.b.switch_to_block(join);
        let code = self.e.b.block_params(join)[0];
        self.e.b.ins().jump(target, &[BlockArg::Value(code)]);
        self.e.b.seal_block(target);
        self.e.b.switch_to_block(target);
        Ok(self.e.b.block_params(target)[0])
    }
}
