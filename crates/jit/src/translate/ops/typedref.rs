//! Typed references: `mkrefany`, `refanyval`, `refanytype` (ECMA-335 III.4.19, III.4.22, III.4.23).
//!
//! # Invariants
//! A System.TypedReference is a struct of 24 bytes:
//!
//! ```text
//!  0  RuntimeTypeHandle of the type
//!  8  address of the value; may point into an object
//! 16  the class
//! ```
use crate::blob::Symbol;
use crate::emit::trusted;
use crate::translate::error::{Res, TranslateError};
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackType, StackValue, ValueFact};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, types::*};
use vervet_abi::ThrowKind;
use vervet_types::{ClassRef, Known};

/// Offset of the type handle.
const TYPE: i32 = 0;
/// Offset of the address of the value.
const VALUE: i32 = 8;
/// Offset of the class.
const CLASS: i32 = 16;

impl<'a, 'f> Translator<'a, 'f> {
    /// `mkrefany`: an address and its type as one value.
    pub(crate) fn make_typed_reference(&mut self, class: ClassRef) -> Res {
        let address = self.pop_address()?;
        self.expose(&address);
        let typed = self.session.universe.known(Known::TypedReference);
        let at = self.temp_of(typed)?;
        let handle = self.e.symbol(Symbol::ClassHandle(class));
        self.e.b.ins().store(trusted(), handle, at, TYPE);
        self.e.b.ins().store(trusted(), address.value, at, VALUE);
        self.e.b.ins().store(trusted(), handle, at, CLASS);
        self.push_value(StackValue {
            stack_type: StackType::Struct,
            value: at,
            class: Some(typed),
            fact: ValueFact::None,
        });
        Ok(())
    }

    /// Pops a typed reference.
    fn pop_typed_reference(&mut self) -> Res<StackValue> {
        let operand = self.pop()?;
        match operand.class {
            Some(c)
                if operand.stack_type == StackType::Struct
                    && std::ptr::eq(c, self.session.universe.known(Known::TypedReference)) =>
            {
                Ok(operand)
            }
            _ => Err(TranslateError::invalid("expected a typed reference")),
        }
    }

    /// `refanyval`: the address, if the type is exactly the class; else InvalidCastException.
    pub(crate) fn typed_reference_value(&mut self, class: ClassRef) -> Res {
        let operand = self.pop_typed_reference()?;
        let own = self.e.b.ins().load(I64, trusted(), operand.value, CLASS);
        let handle = self.e.symbol(Symbol::ClassHandle(class));
        let same = self.e.b.ins().icmp(IntCC::Equal, own, handle);
        self.e.throw_unless(same, ThrowKind::InvalidCast);
        let value = self.e.b.ins().load(I64, trusted(), operand.value, VALUE);
        self.push(StackType::ByRef, value);
        Ok(())
    }

    /// `refanytype`: the type handle.
    pub(crate) fn typed_reference_type(&mut self) -> Res {
        let operand = self.pop_typed_reference()?;
        let handle = self.e.b.ins().load(I64, trusted(), operand.value, TYPE);
        let class = self.session.universe.known(Known::RuntimeTypeHandle);
        let at = self.temp_of(class)?;
        self.e.b.ins().store(trusted(), handle, at, 0);
        self.push_value(StackValue {
            stack_type: StackType::Struct,
            value: at,
            class: Some(class),
            fact: ValueFact::None,
        });
        Ok(())
    }
}
