//! Vectors: length, element access, covariance checks.
//!
//! # Invariants
//! * The bounds check is one unsigned compare; an int32 index is zero-extended after it, so that no address outside
//!   the array is ever formed.
//! * What is left of a reference in a register must be an address the collector finds the object by: inside it or
//!   one past its end. `array + index * size` is (the header's 16 bytes are added by the access itself), and may
//!   live as long as it likes; a constant is never added to a reference first, and none is split off an index in
//!   64 bits, so the optimiser has nothing to regroup.
use crate::blob::Symbol;
use crate::emit::trusted;
use crate::signature::{leaf_type, load_leaf, store_leaf};
use crate::translate::error::{Fail, Res};
use crate::translate::translator::Translator;
use crate::translate::values::memory::Dest;
use crate::translate::values::stack::{Item, Kind, Note, kind_of};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types::*};
use vervet_abi::object::{ARRAY_DATA_OFFSET, ARRAY_LENGTH_OFFSET};
use vervet_abi::{ThrowKind, call, vtable};
use vervet_types::{ClassRef, Known, LeafKind};

impl<'a, 'f> Translator<'a, 'f> {
    /// ldlen
    pub(crate) fn array_length(&mut self) -> Res {
        let array = self.pop_ref()?;
        let length = self.length_of(&array);
        self.lengths.push(length);
        let value = self.e.b.ins().uextend(I64, length);
        self.push(Kind::Native, value);
        Ok(())
    }

    fn length_of(&mut self, array: &Item) -> Value {
        let flags = self.null_checked(array, i64::from(ARRAY_LENGTH_OFFSET), 4);
        self.e
            .b
            .ins()
            .load(I32, flags, array.value, ARRAY_LENGTH_OFFSET)
    }

    /// The checked address of an element, as base and offset for one access.
    fn element(&mut self, array: &Item, index: &Item, size: u32, check: bool) -> Res<(Value, i32)> {
        let length = self.length_of(array);
        let wide = match index.kind {
            Kind::I32 => {
                if check {
                    let out =
                        self.e
                            .b
                            .ins()
                            .icmp(IntCC::UnsignedGreaterThanOrEqual, index.value, length);
                    self.e.throw_if(out, ThrowKind::IndexOutOfRange);
                }
                if let Some(c) = self.constant(index.value) {
                    let offset = c * i64::from(size) + i64::from(ARRAY_DATA_OFFSET);
                    if c >= 0 && offset < 1 << 30 {
                        return Ok((array.value, offset as i32));
                    }
                }
                self.e.b.ins().uextend(I64, index.value)
            }
            Kind::Native | Kind::I64 => {
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
            _ => return Err(Fail::invalid("an array index must be an integer")),
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
        Ok((self.e.b.ins().iadd(array.value, scaled), ARRAY_DATA_OFFSET))
    }

    fn pop_array(&mut self) -> Res<(Item, Item)> {
        let index = self.pop()?;
        let array = self.pop_ref()?;
        Ok((array, index))
    }

    /// ldelem.<primitive>
    pub(crate) fn load_element_leaf(&mut self, leaf: LeafKind, kind: Kind) -> Res {
        let (array, index) = self.pop_array()?;
        let (base, offset) = self.element(&array, &index, leaf.size(), true)?;
        let value = load_leaf(&mut self.e.b, trusted(), leaf, base, offset);
        let class = if kind == Kind::Ref {
            array.class.and_then(|c| c.element())
        } else {
            None
        };
        self.push_item(Item {
            kind,
            value,
            class,
            note: Note::None,
        });
        Ok(())
    }

    /// ldelem T
    pub(crate) fn load_element(&mut self, class: ClassRef, check: bool) -> Res {
        let (array, index) = self.pop_array()?;
        let size = self.size_of(class)?;
        let (base, offset) = self.element(&array, &index, size, check)?;
        let item = self.load_value(class, base, offset, trusted())?;
        self.push_item(item);
        Ok(())
    }

    /// stelem.<primitive>
    pub(crate) fn store_element_leaf(&mut self, leaf: LeafKind) -> Res {
        let value = self.pop()?;
        let (array, index) = self.pop_array()?;
        let kind = match leaf {
            LeafKind::R4 => Kind::F32,
            LeafKind::R8 => Kind::F64,
            LeafKind::I8 => Kind::I64,
            LeafKind::Ptr => Kind::Native,
            _ => Kind::I32,
        };
        let value = self.coerce(&value, kind)?;
        debug_assert_eq!(leaf_type(leaf), kind.clif());
        let (base, offset) = self.element(&array, &index, leaf.size(), true)?;
        store_leaf(&mut self.e.b, trusted(), leaf, value, base, offset);
        Ok(())
    }

    /// stelem T and stelem.ref (None)
    pub(crate) fn store_element(&mut self, class: Option<ClassRef>, check: bool) -> Res {
        self.settle(3)?;
        let value = self.pop()?;
        let (array, index) = self.pop_array()?;
        let class = class.unwrap_or_else(|| self.universe.known(Known::Object));
        let kind = kind_of(class)?;
        let size = self.size_of(class)?;
        let (base, offset) = self.element(&array, &index, size, check)?;
        if kind == Kind::Ref && check && !matches!(value.note, Note::Null) {
            let exact = class.is_sealed() && !class.is_array() && !class.is_delegate()?;
            if !exact {
                let v = self.coerce(&value, Kind::Ref)?;
                self.check_store(array.value, v);
            }
        }
        self.store_value(class, &value, base, offset, trusted(), Dest::Anywhere)
    }

    /// ArrayTypeMismatchException unless the value fits the array; both are known not to fault.
    fn check_store(&mut self, array: Value, value: Value) {
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
        let object = self
            .e
            .symbol(Symbol::ClassHandle(self.universe.known(Known::Object)));
        let any = self.e.b.ins().icmp(IntCC::Equal, element, object);
        self.e.b.ins().brif(any, on, &[], cold, &[]);
        self.e.b.seal_block(cold);
        self.e.b.switch_to_block(cold);
        self.e.helper(call::CheckArrayStore, [array, value]);
        self.e.b.ins().jump(on, &[]);
        self.e.b.seal_block(on);
        self.e.b.switch_to_block(on);
    }

    /// ldelema
    pub(crate) fn element_address(&mut self, class: ClassRef) -> Res {
        class.check()?;
        let (array, index) = self.pop_array()?;
        let size = self.size_of(class)?;
        let (base, offset) = self.element(&array, &index, size, true)?;
        if kind_of(class)? == Kind::Ref
            && !self.prefixes.readonly
            && !(class.is_sealed() && !class.is_array() && !class.is_delegate()?)
        {
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
        self.push_item(Item {
            kind: Kind::ByRef,
            value,
            class: None,
            note: Note::NonNull,
        });
        Ok(())
    }
}
