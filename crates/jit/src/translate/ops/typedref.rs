//! Typed references: mkrefany, refanyval, refanytype.
//!
//! # Invariants
//! A TypedReference is 24 bytes: type handle, address of the value, class.
use crate::blob::Symbol;
use crate::emit::trusted;
use crate::translate::error::{Fail, Res};
use crate::translate::translator::Translator;
use crate::translate::values::stack::{Item, Kind, Note};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, types::*};
use vervet_abi::ThrowKind;
use vervet_types::{ClassRef, Known};

const TYPE: i32 = 0;
const VALUE: i32 = 8;
const CLASS: i32 = 16;

impl<'a, 'f> Translator<'a, 'f> {
    /// mkrefany
    pub(crate) fn make_typed_reference(&mut self, class: ClassRef) -> Res {
        let address = self.pop_address()?;
        let typed = self.universe.known(Known::TypedReference);
        let at = self.temp_of(typed)?;
        let handle = self.e.symbol(Symbol::ClassHandle(class));
        self.e.b.ins().store(trusted(), handle, at, TYPE);
        self.e.b.ins().store(trusted(), address.value, at, VALUE);
        self.e.b.ins().store(trusted(), handle, at, CLASS);
        self.push_item(Item {
            kind: Kind::Struct,
            value: at,
            class: Some(typed),
            note: Note::None,
        });
        Ok(())
    }

    fn pop_typed_reference(&mut self) -> Res<Item> {
        let item = self.pop()?;
        match item.class {
            Some(c)
                if item.kind == Kind::Struct
                    && std::ptr::eq(c, self.universe.known(Known::TypedReference)) =>
            {
                Ok(item)
            }
            _ => Err(Fail::invalid("expected a typed reference")),
        }
    }

    /// refanyval
    pub(crate) fn typed_reference_value(&mut self, class: ClassRef) -> Res {
        let item = self.pop_typed_reference()?;
        let own = self.e.b.ins().load(I64, trusted(), item.value, CLASS);
        let handle = self.e.symbol(Symbol::ClassHandle(class));
        let same = self.e.b.ins().icmp(IntCC::Equal, own, handle);
        self.e.throw_unless(same, ThrowKind::InvalidCast);
        let value = self.e.b.ins().load(I64, trusted(), item.value, VALUE);
        self.push(Kind::ByRef, value);
        Ok(())
    }

    /// refanytype
    pub(crate) fn typed_reference_type(&mut self) -> Res {
        let item = self.pop_typed_reference()?;
        let handle = self.e.b.ins().load(I64, trusted(), item.value, TYPE);
        let class = self.universe.known(Known::RuntimeTypeHandle);
        let at = self.temp_of(class)?;
        self.e.b.ins().store(trusted(), handle, at, 0);
        self.push_item(Item {
            kind: Kind::Struct,
            value: at,
            class: Some(class),
            note: Note::None,
        });
        Ok(())
    }
}
