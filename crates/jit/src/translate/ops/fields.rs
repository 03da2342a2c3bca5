//! Fields: instance and static access, null checks, class initialisation.
//!
//! # How it works
//! Outside protected regions an access needs no null check of its own. It carries a trap code, the
//! processor faults on the guard page at address 0, and the runtime's signal handler throws
//! NullReferenceException:
//!
//! ```text
//! ldfld (outside)                       ldfld (in a protected region)
//!     v1 = load.i32 user3 v0+24             trapz -> brif v0, on, cold
//!                                       cold: call ThrowKind(NullReference)
//!                                       on:   v1 = load.i32 notrap v0+24
//! ```
//!
//! Inside a protected region the unwinder finds the landing pad by the return address of a call, so
//! a fault would have no handler there, and the check is explicit.
//!
//! # Invariants
//! * An access at an offset beyond the guard page has an explicit check too, because it would not fault.
//! * A byref or native int may point to a field of a null object. Every address in the guard page counts as null.
//! * A constant offset belongs to the access. It is never added to a reference that is used later, because the sum may lie past the end of the
//!   object, where the collector does not look for it.
use crate::blob::Symbol;
use crate::emit::barrier;
use crate::emit::{null_trap, trusted};
use crate::translate::control::control_flow::WRITTEN;
use crate::translate::error::{Res, TranslateError};
use crate::translate::translator::Translator;
use crate::translate::values::memory::Dest;
use crate::translate::values::stack::{StackType, StackValue, ValueFact, stack_type_of};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, MemFlagsData, Value, types::*};
use vervet_abi::object::HEADER_SIZE;
use vervet_abi::{ThrowKind, call, vtable};
use vervet_metadata::{Table, Token};
use vervet_types::check::can_access_field;
use vervet_types::field::StaticKind;
use vervet_types::{ClassRef, FieldRef, Known, LoadError, MethodRef};

/// Bytes above address 0 that are never mapped.
const GUARD: i64 = 4096;

impl<'a, 'f> Translator<'a, 'f> {
    /// Throws NullReferenceException if an object reference is null: by a load of its header where
    /// that may fault, else by a check.
    pub(crate) fn null_checked(
        &mut self,
        operand: &StackValue,
        offset: i64,
        size: u32,
    ) -> MemFlagsData {
        match operand.fact {
            ValueFact::Frame => return trusted(),
            ValueFact::NonNull | ValueFact::Exact => return null_trap(),
            _ => {}
        }
        if self.e.has_handlers() || offset + i64::from(size) > GUARD {
            if operand.stack_type == StackType::Ref {
                self.explicit_null_check(operand.value);
            } else {
                self.explicit_address_check(operand.value);
            }
            return trusted();
        }
        null_trap()
    }

    /// Throws NullReferenceException if the address lies in the guard page.
    pub(crate) fn explicit_address_check(&mut self, value: Value) {
        if self.session.nonnull.contains(&value) {
            return;
        }
        let low = self.is_low(value);
        self.e.throw_if(low, ThrowKind::NullReference);
        // The field lies above the object, which has been checked.
        self.session.nonnull.push(value);
    }

    /// Whether the address lies in the guard page.
    pub(crate) fn is_low(&mut self, value: Value) -> Value {
        self.e
            .b
            .ins()
            .icmp_imm_u(IntCC::UnsignedLessThan, value, GUARD)
    }

    /// Throws NullReferenceException if the word is null. Does nothing if this block has checked
    /// the same SSA value already.
    pub(crate) fn explicit_null_check(&mut self, value: Value) {
        if self.session.nonnull.contains(&value) {
            return;
        }
        self.e.throw_unless(value, ThrowKind::NullReference);
        self.session.nonnull.push(value);
    }

    /// Throws NullReferenceException if an object reference is null, by touching it where that faults.
    pub(crate) fn null_check(&mut self, operand: &StackValue) {
        match operand.fact {
            ValueFact::Frame | ValueFact::Exact | ValueFact::Comparer(_) => return,
            ValueFact::NonNull if self.e.has_handlers() => {}
            _ if self.e.has_handlers() => self.explicit_null_check(operand.value),
            _ => {
                self.e.b.ins().load(I32, null_trap(), operand.value, 0);
            }
        }
        self.prove_this(operand.value);
    }

    /// Whether a call of the method runs the constructor of its class first. For classes without
    /// `beforefieldinit` these are static methods, constructors, and all methods of value types,
    /// whose instances need no constructor (ECMA-335 II.10.5.3.1). A dynamic method is none of its class's methods.
    pub(crate) fn triggers(method: MethodRef) -> Res<bool> {
        Ok(!method.class.is_before_field_init()
            && !method.is_dynamic()
            && !method.is_cctor()
            && (method.is_static() || method.is_ctor() || method.class.is_value_type()?))
    }

    /// Runs the class constructor unless it is known to have run. The check reads one byte of the
    /// VTable:
    ///
    /// ```text
    ///     state = uload8 vtable + init_state
    ///     brif state == DONE, on, cold
    /// cold:
    ///     call ClassInit(vtable)            ; also waits if another thread is running the constructor
    ///     jump on
    /// ```
    pub(crate) fn class_init(&mut self, class: ClassRef) -> Res {
        if self.env.is_initialized(class)
            || self
                .session
                .initialised
                .iter()
                .any(|c| std::ptr::eq(*c, class))
            || self.body.method.is_cctor() && std::ptr::eq(self.body.method.class, class)
        {
            return Ok(());
        }
        // Later accesses in the same block need no second check. In a class constructor its own
        // class counts as initialised (ECMA-335 II.10.5.3.3).
        self.session.initialised.push(class);
        if class.cctor()?.is_none() {
            return Ok(());
        }
        self.session.is_early = true;
        // The VTable belongs to this domain, and so does the state of initialisation.
        let vt = self.e.symbol(Symbol::VTable(class));
        let state = self
            .e
            .b
            .ins()
            .uload8(I32, trusted(), vt, vtable::INIT_STATE_OFFSET);
        let done = self
            .e
            .b
            .ins()
            .icmp_imm_u(IntCC::Equal, state, i64::from(vtable::INIT_DONE));
        let (cold, on) = (self.e.b.create_block(), self.e.b.create_block());
        self.e.b.set_cold_block(cold);
        self.e.b.ins().brif(done, on, &[], cold, &[]);
        self.e.b.seal_block(cold);
        self.e.b.switch_to_block(cold);
        self.e.cold_helper(call::ClassInit, [vt]);
        self.end_early();
        self.e.b.ins().jump(on, &[]);
        self.e.b.seal_block(on);
        self.e.b.switch_to_block(on);
        Ok(())
    }

    /// The address of a static field, as base and offset. Statics never move: references lie in
    /// memory that is a root, other values in memory that the collector does not scan, RVA fields in a copy of the image's
    /// data, thread statics in a block per thread, context statics in a block per context.
    pub(crate) fn static_address(&mut self, field: FieldRef) -> Res<(Value, i32)> {
        let class = field.class;
        if class.is_open {
            return Err(TranslateError::invalid("a static field of an open type"));
        }
        let kind = field.static_kind()?;
        if kind != StaticKind::Rva || !class.is_before_field_init() {
            self.class_init(class)?;
        }
        Ok(match kind {
            StaticKind::Refs => (
                self.e.symbol(Symbol::StaticRefs(class)),
                field.offset()? as i32,
            ),
            StaticKind::Values => (
                self.e.symbol(Symbol::StaticValues(class)),
                field.offset()? as i32,
            ),
            StaticKind::Rva => (self.e.symbol(Symbol::RvaData(field)), 0),
            StaticKind::Thread => (self.thread_statics(class), field.offset()? as i32),
            StaticKind::Context => {
                let vt = self.e.symbol(Symbol::VTable(class));
                let block = self.e.helper_value(call::ContextStatics, [vt]);
                (block, field.offset()? as i32)
            }
        })
    }

    /// The field that a token names. It must be accessible from here, and not a constant (ECMA-335
    /// II.22.9: a literal has no memory).
    fn field(&mut self, token: Token) -> Res<FieldRef> {
        let field = self.body.scope.field(token)?;
        field.class.check_named()?;
        if token.is(Table::Field)
            && let Some(why) = field.class.fields_lack()?
        {
            let text = format!(
                "Could not resolve field token {:#010x}, due to: {why}",
                token.0
            );
            return Err(LoadError::bad_image(self.body.scope.module, text).into());
        }
        if !can_access_field(self.body.method, field)? {
            return Err(LoadError::field_access(self.body.method, field).into());
        }
        if field.is_literal() {
            return Err(TranslateError::invalid(format!(
                "access to the literal field {}",
                field.full_name()
            )));
        }
        Ok(field)
    }

    /// The offset of a field from the value on the stack: a reference points to the object's
    /// header.
    fn instance_offset(&self, operand: &StackValue, field: FieldRef) -> Res<i32> {
        let offset = field.offset()? as i32;
        Ok(if operand.stack_type == StackType::Ref {
            offset + HEADER_SIZE as i32
        } else {
            offset
        })
    }

    /// After a volatile access: a point that no later access may be moved above. Volatile loads
    /// have acquire and volatile stores release semantics (ECMA-335 I.12.6.7), which x86 gives to
    /// all loads and stores; only the compiler has to be held back.
    fn after_access(&mut self, field: FieldRef) {
        if self.body.prefixes.volatile || field.is_volatile() {
            self.e.b.ins().sequence_point();
        }
    }

    /// `ldfld` (ECMA-335 III.4.10). The object may be a reference, an address, or a struct on the
    /// stack.
    pub(crate) fn load_field(&mut self, token: Token) -> Res {
        let field = self.field(token)?;
        let object = self.pop()?;
        if field.is_static() {
            return self.load_static(field);
        }
        let class = field.ty()?;
        let operand = match object.stack_type {
            StackType::Struct => {
                let offset = field.offset()? as i32;
                if object.class.is_none_or(|c| !std::ptr::eq(c, field.class)) {
                    self.check_struct(&object, field.class)?;
                }
                self.load_value(class, object.value, offset, trusted())?
            }
            k if k.is_word() && self.may_be_remote(&object, field.class, true)? => {
                let offset = self.instance_offset(&object, field)?;
                let base = self.remote_field_base(&object, field, class, offset)?;
                self.load_value(class, base, offset, trusted())?
            }
            k if k.is_word() => {
                let offset = self.instance_offset(&object, field)?;
                let size = self.size_of(class)?;
                let flags = self.null_checked(&object, i64::from(offset), size);
                self.prove_this(object.value);
                self.load_value(class, object.value, offset, flags)?
            }
            // A primitive's own field (m_value) of a value on the stack.
            _ if field.class.prim.is_some() && std::ptr::eq(class, field.class) => {
                StackValue { ..object }
            }
            _ => return Err(TranslateError::invalid("ldfld of something without fields")),
        };
        self.push_value(operand);
        self.after_access(field);
        Ok(())
    }

    /// `ldflda` (ECMA-335 III.4.11). A struct on the stack has no address that lasts, so it is not
    /// allowed.
    pub(crate) fn load_field_address(&mut self, token: Token) -> Res {
        let field = self.field(token)?;
        let object = self.pop()?;
        if field.is_static() {
            return self.load_static_address(field);
        }
        // Not of a value on the stack either: it has no address that lasts.
        if !object.stack_type.is_word() {
            return Err(TranslateError::invalid(
                "ldflda of something without fields",
            ));
        }
        let offset = self.instance_offset(&object, field)?;
        if self.may_be_remote(&object, field.class, true)? {
            let (cold, join) = self.if_proxy(&object);
            self.e.b.append_block_param(join, I64);
            let own = self.offset_address(object.value, offset);
            self.e.b.ins().jump(join, &[BlockArg::Value(own)]);
            self.e.b.switch_to_block(cold);
            let handle = self.e.symbol(Symbol::FieldHandle(field));
            let args = [object.value, handle];
            let remote = self.e.helper_value(call::RemoteFieldAddress, args);
            self.e.b.ins().jump(join, &[BlockArg::Value(remote)]);
            self.e.b.seal_block(join);
            self.e.b.switch_to_block(join);
            let value = self.e.b.block_params(join)[0];
            self.push(StackType::ByRef, value);
            return Ok(());
        }
        if object.stack_type == StackType::Ref {
            self.null_check(&object);
        }
        // The result is a managed pointer that may live long. It lies inside the object, where the
        // collector finds the object by it.
        let value = self.offset_address(object.value, offset);
        if object.stack_type == StackType::Ref && self.e.has_handlers() {
            // It lies further from null than the object, which was touched.
            self.session.nonnull.push(value);
        }
        let fact = if let ValueFact::Frame = object.fact {
            ValueFact::Frame
        } else {
            ValueFact::None
        };
        self.push_value(StackValue {
            stack_type: StackType::ByRef,
            value,
            class: None,
            fact,
        });
        Ok(())
    }

    /// `stfld` (ECMA-335 III.4.28).
    pub(crate) fn store_field(&mut self, token: Token) -> Res {
        let field = self.field(token)?;
        self.spill_aliased(2)?;
        let value = self.pop()?;
        let object = self.pop()?;
        if field.is_static() {
            return self.store_static(field, &value);
        }
        if !object.stack_type.is_word() {
            return Err(TranslateError::invalid("stfld of something without fields"));
        }
        let class = field.ty()?;
        let offset = self.instance_offset(&object, field)?;
        let size = self.size_of(class)?;
        if self.may_be_remote(&object, field.class, true)? {
            let (cold, join) = self.if_proxy(&object);
            self.store_value(
                class,
                &value,
                object.value,
                offset,
                trusted(),
                Dest::Anywhere,
            )?;
            self.e.b.ins().jump(join, &[]);
            self.e.b.switch_to_block(cold);
            let slot = self.temp(size.next_multiple_of(8).max(8));
            let at = self.e.slot_addr(slot);
            self.store_value(class, &value, at, 0, trusted(), Dest::Frame)?;
            let handle = self.e.symbol(Symbol::FieldHandle(field));
            self.e
                .cold_helper(call::StoreRemoteField, [object.value, handle, at]);
            self.e.b.ins().jump(join, &[]);
            self.e.b.seal_block(join);
            self.e.b.switch_to_block(join);
            self.after_access(field);
            return Ok(());
        }
        let flags = self.null_checked(&object, i64::from(offset), size);
        self.prove_this(object.value);
        let dest = if let ValueFact::Frame = object.fact {
            Dest::Frame
        } else {
            Dest::Anywhere
        };
        self.store_value(class, &value, object.value, offset, flags, dest)?;
        self.after_access(field);
        Ok(())
    }

    /// Whether the operand, seen as an object of a class, may be a transparent proxy. A method of a MarshalByRefObject runs on the object itself; but one of a
    /// ContextBoundObject, or one that it inherits from MarshalByRefObject, has the proxy as `this`, which matters to accesses of fields (`fields`).
    pub(crate) fn may_be_remote(
        &self,
        operand: &StackValue,
        class: ClassRef,
        fields: bool,
    ) -> Res<bool> {
        if operand.stack_type != StackType::Ref
            || matches!(operand.fact, ValueFact::Exact | ValueFact::Frame)
            || !class.is_marshal_by_ref()?
        {
            return Ok(false);
        }
        let is_this = self.body.lowered.has_this
            && self
                .body
                .plan
                .args
                .first()
                .is_some_and(|a| a & WRITTEN == 0)
            && self.body.params.first() == Some(&operand.value);
        let is_own = is_this || self.session.unproxied.contains(&operand.value);
        Ok(!is_own || fields && self.may_be_context_bound(class)?)
    }

    /// Whether `this` of a method of the class may be a transparent proxy: that of a ContextBoundObject, or of what it inherits from MarshalByRefObject.
    pub(crate) fn may_be_context_bound(&self, class: ClassRef) -> Res<bool> {
        let known = |k| self.session.universe.known(k);
        let (base, bound) = (
            known(Known::MarshalByRefObject),
            known(Known::ContextBoundObject),
        );
        Ok(class == base || class.supers()?.get(2).is_some_and(|c| *c == bound))
    }

    /// Goes to the first block, which is cold, if the operand is a transparent proxy, and otherwise on in a new one. Null throws. Both are to end with a jump to
    /// the second block.
    pub(crate) fn if_proxy(&mut self, operand: &StackValue) -> (Block, Block) {
        let vt = self.vtable_of(operand);
        let bits = (self.e.b.ins()).load(I32, trusted(), vt, vtable::REMOTING_OFFSET);
        let proxy = (self.e.b.ins()).band_imm_u(bits, i64::from(vtable::remoting::PROXY));
        let (cold, own, join) = (
            self.e.b.create_block(),
            self.e.b.create_block(),
            self.e.b.create_block(),
        );
        self.e.b.set_cold_block(cold);
        self.e.b.ins().brif(proxy, cold, &[], own, &[]);
        self.e.b.seal_block(cold);
        self.e.b.seal_block(own);
        self.e.b.switch_to_block(own);
        (cold, join)
    }

    /// The address that a field lies `offset` bytes above: the object's, or, if that is a transparent proxy, one in this frame, to which the field's value has been
    /// loaded from wherever the object is.
    fn remote_field_base(
        &mut self,
        object: &StackValue,
        field: FieldRef,
        class: ClassRef,
        offset: i32,
    ) -> Res<Value> {
        let size = self.size_of(class)?.next_multiple_of(8).max(8);
        let slot = self.temp(size);
        let (cold, join) = self.if_proxy(object);
        self.e.b.append_block_param(join, I64);
        let own = [BlockArg::Value(object.value)];
        self.e.b.ins().jump(join, &own);
        self.e.b.switch_to_block(cold);
        let at = self.e.slot_addr(slot);
        self.zero(at, 0, size, trusted());
        let handle = self.e.symbol(Symbol::FieldHandle(field));
        self.e
            .cold_helper(call::LoadRemoteField, [object.value, handle, at]);
        let below = self.i64(-i64::from(offset));
        let base = self.e.b.ins().iadd(at, below);
        self.e.b.ins().jump(join, &[BlockArg::Value(base)]);
        self.e.b.seal_block(join);
        self.e.b.switch_to_block(join);
        Ok(self.e.b.block_params(join)[0])
    }

    /// Loads a static field.
    pub(crate) fn load_static(&mut self, field: FieldRef) -> Res {
        let (base, offset) = self.static_address(field)?;
        let class = field.ty()?;
        let operand = self.load_value(class, base, offset, trusted())?;
        self.push_value(operand);
        self.after_access(field);
        self.on_green_thread(field)
    }

    /// Pushes the address of a static field. That of an RVA field is an unmanaged pointer (ECMA-335
    /// III.4.15).
    fn load_static_address(&mut self, field: FieldRef) -> Res {
        let (base, offset) = self.static_address(field)?;
        let value = self.offset_address(base, offset);
        let kind = if field.has_rva() {
            StackType::Native
        } else {
            StackType::ByRef
        };
        self.push_value(StackValue {
            stack_type: kind,
            value,
            class: None,
            fact: ValueFact::NonNull,
        });
        Ok(())
    }

    /// Stores to a static field. The card of a static reference has a constant address, so its mark
    /// needs no arithmetic.
    fn store_static(&mut self, field: FieldRef, value: &StackValue) -> Res {
        let (base, offset) = self.static_address(field)?;
        let class = field.ty()?;
        // Statics that are structs with references take the general path, which computes the card of
        // each reference.
        if field.static_kind()? == StaticKind::Refs && stack_type_of(class)? == StackType::Ref {
            let value = self.coerce(value, StackType::Ref)?;
            if self.constant(value) != Some(0) {
                barrier::store_static(self.e, field, value, base, offset);
                self.after_access(field);
                return Ok(());
            }
        }
        self.store_value(class, value, base, offset, trusted(), Dest::Anywhere)?;
        self.after_access(field);
        Ok(())
    }

    /// `ldsfld` (ECMA-335 III.4.14).
    pub(crate) fn load_static_token(&mut self, token: Token) -> Res {
        let field = self.static_field(token)?;
        self.load_static(field)
    }
    /// `ldsflda` (ECMA-335 III.4.15).
    pub(crate) fn load_static_address_token(&mut self, token: Token) -> Res {
        let field = self.static_field(token)?;
        self.load_static_address(field)
    }
    /// `stsfld` (ECMA-335 III.4.30).
    pub(crate) fn store_static_token(&mut self, token: Token) -> Res {
        let field = self.static_field(token)?;
        self.spill_aliased(1)?;
        let value = self.pop()?;
        self.store_static(field, &value)
    }

    /// The static field that a token names.
    fn static_field(&mut self, token: Token) -> Res<FieldRef> {
        let field = self.field(token)?;
        if !field.is_static() {
            return Err(TranslateError::invalid(format!(
                "{} is not static",
                field.full_name()
            )));
        }
        Ok(field)
    }
}
