//! Fields: instance and static, class initialisation, and access through references that may be null.
//!
//! # Invariants
//! * Outside protected regions a null reference faults at the access; offsets past the guard page and protected
//!   regions get an explicit check.
//! * An address (a byref or native int) may be that of a field behind null: whatever points to the guard page counts as null.
//! * A constant offset goes into the access, never into a reference that outlives it.
use crate::blob::Symbol;
use crate::emit::barrier;
use crate::emit::{null_trap, trusted};
use crate::translate::error::{Fail, Res};
use crate::translate::translator::Translator;
use crate::translate::values::memory::Dest;
use crate::translate::values::stack::{Item, Kind, Note, kind_of};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, MemFlagsData, Value, types::*};
use vervet_abi::object::HEADER_SIZE;
use vervet_abi::{ThrowKind, call, context, vtable};
use vervet_metadata::Token;
use vervet_types::check::can_access_field;
use vervet_types::field::StaticKind;
use vervet_types::{ClassRef, FieldRef, LoadError, MethodRef};

/// What is surely unmapped above address 0.
const GUARD: i64 = 4096;

impl<'a, 'f> Translator<'a, 'f> {
    /// Makes sure that an access of `size` bytes at `offset` raises NullReferenceException if the address is null;
    /// gives the access's flags.
    pub(crate) fn null_checked(&mut self, item: &Item, offset: i64, size: u32) -> MemFlagsData {
        match item.note {
            Note::Frame => return trusted(),
            Note::NonNull | Note::Exact => return null_trap(),
            _ => {}
        }
        if self.e.has_handlers() || offset + i64::from(size) > GUARD {
            if item.kind == Kind::Ref {
                self.explicit_null_check(item.value);
            } else {
                self.explicit_address_check(item.value);
            }
            return trusted();
        }
        null_trap()
    }

    /// Throws NullReferenceException if the address lies in the guard page.
    pub(crate) fn explicit_address_check(&mut self, value: Value) {
        if self.nonnull.contains(&value) {
            return;
        }
        let low = self.is_low(value);
        self.e.throw_if(low, ThrowKind::NullReference);
        self.nonnull.push(value);
    }

    /// Does the address lie in the guard page?
    pub(crate) fn is_low(&mut self, value: Value) -> Value {
        self.e
            .b
            .ins()
            .icmp_imm_u(IntCC::UnsignedLessThan, value, GUARD)
    }

    /// Throws NullReferenceException if the word is null.
    pub(crate) fn explicit_null_check(&mut self, value: Value) {
        if self.nonnull.contains(&value) {
            return;
        }
        self.e.throw_unless(value, ThrowKind::NullReference);
        self.nonnull.push(value);
    }

    /// Throws NullReferenceException if an object reference is null, by touching it where that faults.
    pub(crate) fn touch(&mut self, item: &Item) {
        match item.note {
            Note::Frame | Note::Exact | Note::Comparer(_) => return,
            Note::NonNull if self.e.has_handlers() => {}
            _ if self.e.has_handlers() => self.explicit_null_check(item.value),
            _ => {
                self.e.b.ins().load(I32, null_trap(), item.value, 0);
            }
        }
        self.prove_this(item.value);
    }

    /// Does a call of the method run its class's constructor first? ECMA-335 II.10.5.3.1, for classes without
    /// beforefieldinit: static methods, constructors, and all methods of value types, whose instances need no constructor.
    pub(crate) fn triggers(method: MethodRef) -> Res<bool> {
        Ok(!method.class.is_before_field_init()
            && !method.is_cctor()
            && (method.is_static() || method.is_ctor() || method.class.is_value_type()?))
    }

    /// Runs the class constructor if that has not been done.
    pub(crate) fn class_init(&mut self, class: ClassRef) -> Res {
        if self.env.is_initialized(class)
            || self.initialised.iter().any(|c| std::ptr::eq(*c, class))
            || self.method.is_cctor() && std::ptr::eq(self.method.class, class)
        {
            return Ok(());
        }
        self.initialised.push(class);
        if class.cctor()?.is_none() {
            return Ok(());
        }
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
        self.e.helper(call::ClassInit, [vt]);
        self.e.b.ins().jump(on, &[]);
        self.e.b.seal_block(on);
        self.e.b.switch_to_block(on);
        Ok(())
    }

    /// The address (base and offset) of a static field.
    pub(crate) fn static_address(&mut self, field: FieldRef) -> Res<(Value, i32)> {
        let class = field.class;
        if class.is_open {
            return Err(Fail::invalid("a static field of an open type"));
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
        })
    }

    /// This thread's block of the class's thread statics.
    fn thread_statics(&mut self, class: ClassRef) -> Value {
        let vt = self.e.symbol(Symbol::VTable(class));
        let (look, slow, join) = (
            self.e.b.create_block(),
            self.e.b.create_block(),
            self.e.b.create_block(),
        );
        self.e.b.set_cold_block(slow);
        self.e.b.append_block_param(join, I64);
        let index = self
            .e
            .b
            .ins()
            .uload32(trusted(), vt, vtable::THREAD_STATIC_INDEX_OFFSET);
        let count = self.e.load_context(I64, context::THREAD_STATICS_LEN);
        let known = self.e.b.ins().icmp(IntCC::UnsignedLessThan, index, count);
        self.e.b.ins().brif(known, look, &[], slow, &[]);
        self.e.b.seal_block(look);
        self.e.b.switch_to_block(look);
        let table = self.e.load_context(I64, context::THREAD_STATICS);
        let at = self.e.b.ins().ishl_imm_u(index, 3);
        let at = self.e.b.ins().iadd(table, at);
        let block = self.e.b.ins().load(I64, trusted(), at, 0);
        self.e
            .b
            .ins()
            .brif(block, join, &[BlockArg::Value(block)], slow, &[]);
        self.e.b.seal_block(slow);
        self.e.b.switch_to_block(slow);
        let block = self.e.helper_value(call::ThreadStatics, [vt]);
        self.e.b.ins().jump(join, &[BlockArg::Value(block)]);
        self.e.b.seal_block(join);
        self.e.b.switch_to_block(join);
        self.e.b.block_params(join)[0]
    }

    fn field(&mut self, token: Token) -> Res<FieldRef> {
        let field = self.scope.field(token)?;
        if !can_access_field(self.method, field)? {
            return Err(LoadError::field_access(self.method, field).into());
        }
        if field.is_literal() {
            return Err(Fail::invalid(format!(
                "access to the literal field {}",
                field.full_name()
            )));
        }
        Ok(field)
    }

    fn instance_offset(&self, item: &Item, field: FieldRef) -> Res<i32> {
        let offset = field.offset()? as i32;
        Ok(if item.kind == Kind::Ref {
            offset + HEADER_SIZE as i32
        } else {
            offset
        })
    }

    fn after_access(&mut self, field: FieldRef) {
        if self.prefixes.volatile || field.is_volatile() {
            self.e.b.ins().sequence_point();
        }
    }

    /// ldfld
    pub(crate) fn load_field(&mut self, token: Token) -> Res {
        let field = self.field(token)?;
        let object = self.pop()?;
        if field.is_static() {
            return self.load_static(field);
        }
        let class = field.ty()?;
        let item = match object.kind {
            Kind::Struct => {
                let offset = field.offset()? as i32;
                if object.class.is_none_or(|c| !std::ptr::eq(c, field.class)) {
                    self.check_struct(&object, field.class)?;
                }
                self.load_value(class, object.value, offset, trusted())?
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
                Item { ..object }
            }
            _ => return Err(Fail::invalid("ldfld of something without fields")),
        };
        self.push_item(item);
        self.after_access(field);
        Ok(())
    }

    /// ldflda
    pub(crate) fn load_field_address(&mut self, token: Token) -> Res {
        let field = self.field(token)?;
        let object = self.pop()?;
        if field.is_static() {
            return self.load_static_address(field);
        }
        // Not of a value on the stack either: it has no address that lasts.
        if !object.kind.is_word() {
            return Err(Fail::invalid("ldflda of something without fields"));
        }
        let offset = self.instance_offset(&object, field)?;
        if object.kind == Kind::Ref {
            self.touch(&object);
        }
        let value = self.offset_address(object.value, offset);
        if object.kind == Kind::Ref && self.e.has_handlers() {
            // It lies further from null than the object, which was touched.
            self.nonnull.push(value);
        }
        let note = if let Note::Frame = object.note {
            Note::Frame
        } else {
            Note::None
        };
        self.push_item(Item {
            kind: Kind::ByRef,
            value,
            class: None,
            note,
        });
        Ok(())
    }

    /// stfld
    pub(crate) fn store_field(&mut self, token: Token) -> Res {
        let field = self.field(token)?;
        self.settle(2)?;
        let value = self.pop()?;
        let object = self.pop()?;
        if field.is_static() {
            return self.store_static(field, &value);
        }
        if !object.kind.is_word() {
            return Err(Fail::invalid("stfld of something without fields"));
        }
        let class = field.ty()?;
        let offset = self.instance_offset(&object, field)?;
        let size = self.size_of(class)?;
        let flags = self.null_checked(&object, i64::from(offset), size);
        self.prove_this(object.value);
        let dest = if let Note::Frame = object.note {
            Dest::Frame
        } else {
            Dest::Anywhere
        };
        self.store_value(class, &value, object.value, offset, flags, dest)?;
        self.after_access(field);
        Ok(())
    }

    fn load_static(&mut self, field: FieldRef) -> Res {
        let (base, offset) = self.static_address(field)?;
        let class = field.ty()?;
        let item = self.load_value(class, base, offset, trusted())?;
        self.push_item(item);
        self.after_access(field);
        Ok(())
    }

    fn load_static_address(&mut self, field: FieldRef) -> Res {
        let (base, offset) = self.static_address(field)?;
        let value = self.offset_address(base, offset);
        let kind = if field.has_rva() {
            Kind::Native
        } else {
            Kind::ByRef
        };
        self.push_item(Item {
            kind,
            value,
            class: None,
            note: Note::NonNull,
        });
        Ok(())
    }

    fn store_static(&mut self, field: FieldRef, value: &Item) -> Res {
        let (base, offset) = self.static_address(field)?;
        let class = field.ty()?;
        if field.static_kind()? == StaticKind::Refs && kind_of(class)? == Kind::Ref {
            let value = self.coerce(value, Kind::Ref)?;
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

    /// ldsfld
    pub(crate) fn load_static_token(&mut self, token: Token) -> Res {
        let field = self.static_field(token)?;
        self.load_static(field)
    }
    /// ldsflda
    pub(crate) fn load_static_address_token(&mut self, token: Token) -> Res {
        let field = self.static_field(token)?;
        self.load_static_address(field)
    }
    /// stsfld
    pub(crate) fn store_static_token(&mut self, token: Token) -> Res {
        let field = self.static_field(token)?;
        self.settle(1)?;
        let value = self.pop()?;
        self.store_static(field, &value)
    }

    fn static_field(&mut self, token: Token) -> Res<FieldRef> {
        let field = self.field(token)?;
        if !field.is_static() {
            return Err(Fail::invalid(format!(
                "{} is not static",
                field.full_name()
            )));
        }
        Ok(field)
    }
}
