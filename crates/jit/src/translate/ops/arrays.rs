//! Vectors: length, element access, covariance checks.
//!
//! # How it works
//! ```text
//! ldelem.i4 (array, index)
//!     length = load.i32 array + 8                ; faults on null
//!     trapnz (index >= length, unsigned)         ; or a branch, in a protected region
//!     at = array + (uextend index << 2)
//!     value = load.i32 at + 16
//! ```
//!
//! A vector starts with the header (VTable and sync word, 8 bytes) and the length; the elements
//! follow at offset 16.
//!
//! # Invariants
//! * The bounds check is one unsigned compare, which is also true for a negative index. An int32 index is zero-extended after it, so no address
//!   outside the array is ever formed.
//! * While the thread is stopped the collector must find the array by what is left of the reference in registers: an address inside the array, or one
//!   past its end. `array + index * size` is such an address, because the 16 bytes of the header are added by the access itself. A constant is never
//!   added to the reference first, and the optimiser cannot split one off the index, because the index is extended from 32 bits.
//! * A store of a reference checks the element type, since arrays are covariant (ECMA-335 I.8.7.1), before it changes anything.
use crate::blob::Symbol;
use crate::emit::trusted;
use crate::signature::{load_scalar, scalar_type, store_scalar};
use crate::translate::error::{Res, TranslateError};
use crate::translate::translator::Translator;
use crate::translate::values::memory::Dest;
use crate::translate::values::stack::{StackType, StackValue, ValueFact, stack_type_of};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types::*};
use vervet_abi::object::{
    ARRAY_DATA_OFFSET, ARRAY_LENGTH_OFFSET, BOUND_SIZE, md_array_data_offset,
};
use vervet_abi::{ThrowKind, call, vtable};
use vervet_types::{ClassRef, Known, ScalarKind};

impl<'a, 'f> Translator<'a, 'f> {
    /// `ldlen` (ECMA-335 III.4.12).
    pub(crate) fn array_length(&mut self) -> Res {
        let array = self.pop_ref()?;
        let length = self.length_of(&array);
        self.body.lengths.push(length);
        let value = self.e.b.ins().uextend(I64, length);
        self.push(StackType::Native, value);
        Ok(())
    }

    /// Loads the length; this is also the null check.
    fn length_of(&mut self, array: &StackValue) -> Value {
        // The length is at a small offset, so a null array faults here.
        let flags = self.null_checked(array, i64::from(ARRAY_LENGTH_OFFSET), 4);
        let length = self
            .e
            .b
            .ins()
            .load(I32, flags, array.value, ARRAY_LENGTH_OFFSET);
        self.e.notes.length(length);
        length
    }

    /// The checked address of an element, as base and offset for one access. `check` is false where
    /// the class library has checked the index.
    fn element(
        &mut self,
        array: &StackValue,
        index: &StackValue,
        size: u32,
        check: bool,
    ) -> Res<(Value, i32)> {
        let length = self.length_of(array);
        let wide = match index.stack_type {
            StackType::I32 => {
                if check {
                    let out =
                        self.e
                            .b
                            .ins()
                            .icmp(IntCC::UnsignedGreaterThanOrEqual, index.value, length);
                    self.e.throw_if(out, ThrowKind::IndexOutOfRange);
                }
                // The address of an element with a constant index is a constant offset, part of the
                // access.
                if let Some(c) = self.constant(index.value) {
                    let (base, data) = self.elements_of(array);
                    let offset = c * i64::from(size) + i64::from(data);
                    if c >= 0 && offset < 1 << 30 {
                        return Ok((base, offset as i32));
                    }
                }
                self.e.b.ins().uextend(I64, index.value)
            }
            StackType::Native | StackType::I64 => {
                if check {
                    let length = self.e.b.ins().uextend(I64, length);
                    let out =
                        self.e
                            .b
                            .ins()
                            .icmp(IntCC::UnsignedGreaterThanOrEqual, index.value, length);
                    self.e.throw_if(out, ThrowKind::IndexOutOfRange);
                }
                index.value
            }
            _ => return Err(TranslateError::invalid("an array index must be an integer")),
        };
        let scaled = match size {
            1 => wide,
            s if s.is_power_of_two() => self
                .e
                .b
                .ins()
                .ishl_imm_u(wide, i64::from(s.trailing_zeros())),
            s => self.e.b.ins().imul_imm_s(wide, i64::from(s)),
        };
        let (base, data) = self.elements_of(array);
        Ok((self.e.b.ins().iadd(base, scaled), data))
    }

    /// Where the elements of an array begin that is not null. The instructions for vectors take other arrays as well, whose index then counts all
    /// elements: mcs compiles `fixed (int* p = table)` so, and mono allows it. Of an array whose class is not known here the VTable says the rank.
    pub(crate) fn elements_of(&mut self, array: &StackValue) -> (Value, i32) {
        match array.class {
            Some(class) if class.is_sz_array() => (array.value, ARRAY_DATA_OFFSET),
            Some(class) if class.is_array() => {
                let rank = class.rank().unwrap_or(1);
                (array.value, md_array_data_offset(rank))
            }
            _ => {
                let vt = self.e.b.ins().uload32(trusted(), array.value, 0);
                let rank = vtable::RANK_OFFSET;
                let rank = self.e.b.ins().uload8(I64, trusted(), vt, rank);
                let flags = vtable::FLAGS_OFFSET;
                let flags = self.e.b.ins().uload8(I32, trusted(), vt, flags);
                let vector = i64::from(vtable::flags::SZ_ARRAY);
                let vector = self.e.b.ins().band_imm_u(flags, vector);
                let bounds = self.e.b.ins().imul_imm_s(rank, i64::from(BOUND_SIZE));
                let none = self.e.b.ins().iconst(I64, 0);
                let bounds = self.e.b.ins().select(vector, none, bounds);
                let base = self.e.b.ins().iadd(array.value, bounds);
                (base, ARRAY_DATA_OFFSET)
            }
        }
    }

    /// `Array.GetRawSzArrayData()`: the address of the first element, of whatever array.
    pub(crate) fn array_data(&mut self) -> Res {
        let array = self.pop_ref()?;
        self.length_of(&array);
        let (base, offset) = self.elements_of(&array);
        let value = self.offset_address(base, offset);
        self.push_address(value);
        Ok(())
    }

    /// Pops an index and the array below it.
    fn pop_array(&mut self) -> Res<(StackValue, StackValue)> {
        let index = self.pop()?;
        let array = self.pop_ref()?;
        Ok((array, index))
    }

    /// `ldelem.<type>` (ECMA-335 III.4.8).
    pub(crate) fn load_scalar_element(&mut self, leaf: ScalarKind, kind: StackType) -> Res {
        let (array, index) = self.pop_array()?;
        let (base, offset) = self.element(&array, &index, leaf.size(), true)?;
        let value = load_scalar(&mut self.e.b, trusted(), leaf, base, offset);
        let class = if kind == StackType::Ref {
            array.class.and_then(|c| c.element())
        } else {
            None
        };
        self.push_value(StackValue {
            stack_type: kind,
            value,
            class,
            fact: ValueFact::None,
        });
        Ok(())
    }

    /// `ldelem` (ECMA-335 III.4.7).
    pub(crate) fn load_element(&mut self, class: ClassRef, check: bool) -> Res {
        let (array, index) = self.pop_array()?;
        let size = self.size_of(class)?;
        let (base, offset) = self.element(&array, &index, size, check)?;
        let operand = self.load_value(class, base, offset, trusted())?;
        self.push_value(operand);
        Ok(())
    }

    /// `stelem.<type>` for types other than references (ECMA-335 III.4.27).
    pub(crate) fn store_scalar_element(&mut self, leaf: ScalarKind) -> Res {
        let value = self.pop()?;
        let (array, index) = self.pop_array()?;
        let kind = match leaf {
            ScalarKind::R4 => StackType::F32,
            ScalarKind::R8 => StackType::F64,
            ScalarKind::I8 => StackType::I64,
            ScalarKind::Ptr => StackType::Native,
            _ => StackType::I32,
        };
        let value = self.coerce(&value, kind)?;
        debug_assert_eq!(scalar_type(leaf), kind.clif());
        let (base, offset) = self.element(&array, &index, leaf.size(), true)?;
        store_scalar(&mut self.e.b, trusted(), leaf, value, base, offset);
        Ok(())
    }

    /// `stelem` and, with `None`, `stelem.ref` (ECMA-335 III.4.26, III.4.27). Arrays of sealed
    /// classes need no covariance check: no array of another class can have this static type.
    pub(crate) fn store_element(&mut self, class: Option<ClassRef>, check: bool) -> Res {
        self.spill_aliased(3)?;
        let value = self.pop()?;
        let (array, index) = self.pop_array()?;
        let class = class.unwrap_or_else(|| self.session.universe.known(Known::Object));
        let kind = stack_type_of(class)?;
        let size = self.size_of(class)?;
        let (base, offset) = self.element(&array, &index, size, check)?;
        if kind == StackType::Ref && check && !matches!(value.fact, ValueFact::Null) {
            let exact = class.is_sealed() && !class.is_array() && !class.is_delegate()?;
            if !exact {
                let v = self.coerce(&value, StackType::Ref)?;
                self.check_store(array.value, v);
            }
        }
        self.store_value(class, &value, base, offset, trusted(), Dest::Anywhere)
    }

    /// Throws ArrayTypeMismatchException unless the value fits the array's elements. Neither
    /// reference faults any more. Two cases are decided here: the class is the element class, or
    /// the array is an `object[]`. The helper decides the rest:
    ///
    /// ```text
    ///     brif value, look, on                  ; null fits everywhere
    /// look:
    ///     element = vtable(array).element_class
    ///     brif element == class(value), on, compare
    /// compare:
    ///     brif element == Object, on, cold
    /// cold:
    ///     call CheckArrayStore(array, value)
    ///     jump on
    /// ```
    fn check_store(&mut self, array: Value, value: Value) {
        if self.e.is_brief {
            self.e.helper(call::CheckArrayStore, [array, value]);
            return;
        }
        let (look, compare, cold, on) = (
            self.e.b.create_block(),
            self.e.b.create_block(),
            self.e.b.create_block(),
            self.e.b.create_block(),
        );
        self.e.b.set_cold_block(cold);
        self.e.b.ins().brif(value, look, &[], on, &[]);
        self.e.b.seal_block(look);
        self.e.b.switch_to_block(look);
        // VTables lie below 2 GiB; the header holds 32 bits of the address.
        let array_vt = self.e.b.ins().uload32(trusted(), array, 0);
        let element = self
            .e
            .b
            .ins()
            .load(I64, trusted(), array_vt, vtable::ELEMENT_CLASS_OFFSET);
        let vt = self.e.b.ins().uload32(trusted(), value, 0);
        let class = self
            .e
            .b
            .ins()
            .load(I64, trusted(), vt, vtable::CLASS_OFFSET);
        let same = self.e.b.ins().icmp(IntCC::Equal, element, class);
        self.e.b.ins().brif(same, on, &[], compare, &[]);
        self.e.b.seal_block(compare);
        self.e.b.switch_to_block(compare);
        let object = self.e.symbol(Symbol::ClassHandle(
            self.session.universe.known(Known::Object),
        ));
        let any = self.e.b.ins().icmp(IntCC::Equal, element, object);
        self.e.b.ins().brif(any, on, &[], cold, &[]);
        self.e.b.seal_block(cold);
        self.e.b.switch_to_block(cold);
        self.e.cold_helper(call::CheckArrayStore, [array, value]);
        self.e.b.ins().jump(on, &[]);
        self.e.b.seal_block(on);
        self.e.b.switch_to_block(on);
    }

    /// `ldelema` (ECMA-335 III.4.9). Without `readonly.` the element type must be exactly the
    /// class, because the address can be used for a store.
    pub(crate) fn element_address(&mut self, class: ClassRef) -> Res {
        class.check()?;
        let (array, index) = self.pop_array()?;
        let size = self.size_of(class)?;
        let (base, offset) = self.element(&array, &index, size, true)?;
        if stack_type_of(class)? == StackType::Ref
            && !self.body.prefixes.readonly
            && !(class.is_sealed() && !class.is_array() && !class.is_delegate()?)
        {
            // The length has been read, so the array is not null.
            let vt = self.e.b.ins().uload32(trusted(), array.value, 0);
            let element = self
                .e
                .b
                .ins()
                .load(I64, trusted(), vt, vtable::ELEMENT_CLASS_OFFSET);
            let handle = self.e.symbol(Symbol::ClassHandle(class));
            let same = self.e.b.ins().icmp(IntCC::Equal, element, handle);
            let (cold, on) = (self.e.b.create_block(), self.e.b.create_block());
            self.e.b.set_cold_block(cold);
            self.e.b.ins().brif(same, on, &[], cold, &[]);
            self.e.b.seal_block(cold);
            self.e.b.switch_to_block(cold);
            self.e.helper(call::CheckLdelema, [array.value, handle]);
            self.e.b.ins().jump(on, &[]);
            self.e.b.seal_block(on);
            self.e.b.switch_to_block(on);
        }
        let value = self.offset_address(base, offset);
        self.push_address(value);
        Ok(())
    }
}
