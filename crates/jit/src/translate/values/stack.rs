//! Values on the IL stack: ECMA stack types, and how one becomes another.
//!
//! # Invariants
//! * A struct on the stack is the address of memory that does not change while it is there: a temporary, or a
//!   variable's own slot (noted), which is copied before anything may change it.
//! * Integers narrower than 32 bits are kept extended in I32; what is stored or passed on is narrowed first.
use crate::signature::{Pass, scalar_kind};
use crate::translate::error::{Fail, Res};
use crate::translate::translator::Translator;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    InstBuilder, InstructionData, Opcode, Type, Value, ValueDef, types::*,
};
use vervet_types::{ClassRef, LeafKind, MethodRef};

/// An ECMA stack type; F32 and F64 are both F.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Kind {
    I32,
    I64,
    Native,
    F32,
    F64,
    ByRef,
    Ref,
    Struct,
}

impl Kind {
    /// The CLIF type that represents it.
    pub fn clif(self) -> Type {
        match self {
            Kind::I32 => I32,
            Kind::F32 => F32,
            Kind::F64 => F64,
            _ => I64,
        }
    }
    /// Is it a float?
    pub fn is_float(self) -> bool {
        matches!(self, Kind::F32 | Kind::F64)
    }
    /// Is it an address-sized integer or address?
    pub fn is_word(self) -> bool {
        matches!(self, Kind::I64 | Kind::Native | Kind::ByRef | Kind::Ref)
    }
}

/// What is known of a value beyond its type.
#[derive(Clone, Copy)]
pub enum Note {
    /// Nothing.
    None,
    /// Not null.
    NonNull,
    /// The null constant.
    Null,
    /// Not null, and an instance of exactly `Item::class`.
    Exact,
    /// An address in this frame.
    Frame,
    /// A struct that still lies in the slot of that variable (arguments first, then locals).
    Variable(u32),
    /// An exact instance, `EqualityComparer<T>.Default` by that method, that is not fetched yet (module `comparers`).
    Comparer(MethodRef),
    /// A code address from ldftn (false) or ldvirtftn (true).
    Code(MethodRef, bool),
}

/// A value on the IL stack.
#[derive(Clone, Copy)]
pub struct Item {
    /// Its type.
    pub kind: Kind,
    /// The value; of a struct the address.
    pub value: Value,
    /// The class of a struct; what is statically known of a reference.
    pub class: Option<ClassRef>,
    /// See [`Note`].
    pub note: Note,
}

/// The stack type of a class's values.
pub fn kind_of(class: ClassRef) -> Res<Kind> {
    if class.is_byref() {
        return Ok(Kind::ByRef);
    }
    if class.is_ptr() || class.is_fn_ptr() {
        return Ok(Kind::Native);
    }
    Ok(match Pass::of(class)? {
        Pass::None => return Err(Fail::invalid("a value of type void")),
        Pass::Leaves(_) | Pass::Address => Kind::Struct,
        Pass::Scalar(I32) => Kind::I32,
        Pass::Scalar(F32) => Kind::F32,
        Pass::Scalar(F64) => Kind::F64,
        Pass::Scalar(_) => match scalar_kind(class) {
            LeafKind::I8 => Kind::I64,
            LeafKind::Ref => Kind::Ref,
            _ => Kind::Native,
        },
    })
}

impl<'a, 'f> Translator<'a, 'f> {
    /// Pushes an item.
    pub fn push_item(&mut self, item: Item) {
        self.stack.push(item);
    }
    /// Pushes a value of which only the type is known.
    pub fn push(&mut self, kind: Kind, value: Value) {
        self.stack.push(Item {
            kind,
            value,
            class: None,
            note: Note::None,
        });
    }
    /// Pushes an object that is not null and of exactly that class.
    pub fn push_instance(&mut self, class: ClassRef, value: Value) {
        self.stack.push(Item {
            kind: Kind::Ref,
            value,
            class: Some(class),
            note: Note::Exact,
        });
    }
    /// Pushes a value of a class in its stack form.
    pub fn push_class(&mut self, class: ClassRef, value: Value) -> Res {
        let kind = kind_of(class)?;
        self.stack.push(Item {
            kind,
            value,
            class: Some(class),
            note: Note::None,
        });
        Ok(())
    }
    /// Pops an item.
    pub fn pop(&mut self) -> Res<Item> {
        let item = self
            .stack
            .pop()
            .ok_or_else(|| Fail::invalid("the stack is empty"))?;
        self.comparer(item)
    }
    /// Pops an int32 (a native int is cut).
    pub fn pop_i32(&mut self) -> Res<Value> {
        let item = self.pop()?;
        match item.kind {
            Kind::I32 => Ok(item.value),
            Kind::Native | Kind::I64 => Ok(self.e.b.ins().ireduce(I32, item.value)),
            _ => Err(Fail::invalid("expected an int32")),
        }
    }
    /// Pops an object reference.
    pub fn pop_ref(&mut self) -> Res<Item> {
        let item = self.pop()?;
        match item.kind {
            Kind::Ref | Kind::Native | Kind::ByRef => Ok(item),
            _ => Err(Fail::invalid("expected an object reference")),
        }
    }
    /// Pops an address: a byref, native int, or a reference used as one.
    pub fn pop_address(&mut self) -> Res<Item> {
        let mut item = self.pop()?;
        match item.kind {
            Kind::I32 => item.value = self.e.b.ins().sextend(I64, item.value),
            k if k.is_word() => {}
            _ => return Err(Fail::invalid("expected an address")),
        }
        Ok(item)
    }
    /// Pops the stack down by `n` items, returned bottom first.
    pub fn pop_n(&mut self, n: usize) -> Res<smallvec::SmallVec<[Item; 8]>> {
        if self.stack.len() < n {
            return Err(Fail::invalid("too few values on the stack"));
        }
        for at in self.stack.len() - n..self.stack.len() {
            self.stack[at] = self.comparer(self.stack[at])?;
        }
        Ok(self.stack.drain(self.stack.len() - n..).collect())
    }

    /// A value as a native int.
    pub fn as_native(&mut self, item: &Item) -> Res<Value> {
        match item.kind {
            Kind::I32 => Ok(self.e.b.ins().sextend(I64, item.value)),
            k if k.is_word() => Ok(item.value),
            _ => Err(Fail::invalid("expected a native int")),
        }
    }

    /// The value as one of that stack type: the implicit conversions.
    pub fn coerce(&mut self, item: &Item, to: Kind) -> Res<Value> {
        let v = item.value;
        if item.kind == to {
            return Ok(v);
        }
        Ok(match (item.kind, to) {
            (Kind::I32, Kind::Native | Kind::I64 | Kind::ByRef) => self.e.b.ins().sextend(I64, v),
            (Kind::Native | Kind::I64, Kind::I32) => self.e.b.ins().ireduce(I32, v),
            (Kind::F32, Kind::F64) => self.e.b.ins().fpromote(F64, v),
            (Kind::F64, Kind::F32) => self.e.b.ins().fdemote(F32, v),
            (a, b) if a.is_word() && b.is_word() => v,
            (a, b) => {
                return Err(Fail::invalid(format!(
                    "a value of type {a:?} where {b:?} is expected"
                )));
            }
        })
    }

    /// The value as a variable or parameter of the class holds it: coerced, and narrowed to small integers. Of a
    /// struct, the address.
    pub fn coerce_to_class(&mut self, item: &Item, class: ClassRef) -> Res<Value> {
        let to = kind_of(class)?;
        if to == Kind::Struct {
            self.check_struct(item, class)?;
            return Ok(item.value);
        }
        let value = self.coerce(item, to)?;
        Ok(if to == Kind::I32 {
            self.narrow(value, scalar_kind(class))
        } else {
            value
        })
    }

    /// A struct must be there, and be at least as large as the class wants.
    pub fn check_struct(&mut self, item: &Item, class: ClassRef) -> Res {
        match item.class {
            Some(c) if item.kind == Kind::Struct => {
                if std::ptr::eq(c, class) || c.layout()?.size >= class.layout()?.size {
                    return Ok(());
                }
                Err(Fail::invalid("a value of another value type"))
            }
            _ => Err(Fail::invalid("expected a value type")),
        }
    }

    /// An int32 as a small integer type holds it.
    pub fn narrow(&mut self, value: Value, kind: LeafKind) -> Value {
        let (ty, signed, low, high) = match kind {
            LeafKind::I1 => (I8, true, -128, 127),
            LeafKind::U1 => (I8, false, 0, 255),
            LeafKind::I2 => (I16, true, -32768, 32767),
            LeafKind::U2 => (I16, false, 0, 65535),
            _ => return value,
        };
        if let Some(c) = self.constant(value)
            && (low..=high).contains(&c)
        {
            return value;
        }
        if let ValueDef::Result(inst, _) = self.e.b.func.dfg.value_def(value) {
            let fits = match &self.e.b.func.dfg.insts[inst] {
                InstructionData::Load {
                    opcode: Opcode::Uload8,
                    ..
                } => low == 0 || ty == I16,
                InstructionData::Load {
                    opcode: Opcode::Sload8,
                    ..
                } => low < 0,
                InstructionData::Load {
                    opcode: Opcode::Uload16,
                    ..
                } => high == 65535,
                InstructionData::Load {
                    opcode: Opcode::Sload16,
                    ..
                } => low == -32768,
                InstructionData::Unary {
                    opcode: Opcode::Uextend,
                    arg,
                } => {
                    self.e.b.func.dfg.value_type(*arg) == I8 && high >= 255
                        || self.e.b.func.dfg.value_type(*arg) == I8 && self.is_comparison(*arg)
                }
                _ => false,
            };
            if fits {
                return value;
            }
        }
        if signed {
            let cut = self.e.b.ins().ireduce(ty, value);
            self.e.b.ins().sextend(I32, cut)
        } else {
            self.e.b.ins().band_imm_u(value, high)
        }
    }

    fn is_comparison(&self, value: Value) -> bool {
        match self.e.b.func.dfg.value_def(value) {
            ValueDef::Result(inst, _) => {
                matches!(
                    self.e.b.func.dfg.insts[inst].opcode(),
                    Opcode::Icmp | Opcode::Fcmp
                )
            }
            _ => false,
        }
    }

    /// The constant an integer value is, if it is one.
    pub fn constant(&self, value: Value) -> Option<i64> {
        let ValueDef::Result(inst, _) = self.e.b.func.dfg.value_def(value) else {
            return None;
        };
        match self.e.b.func.dfg.insts[inst] {
            InstructionData::UnaryImm {
                opcode: Opcode::Iconst,
                imm,
            } => {
                let bits = i64::from(imm);
                Some(if self.e.b.func.dfg.value_type(value) == I32 {
                    i64::from(bits as i32)
                } else {
                    bits
                })
            }
            InstructionData::Unary {
                opcode: Opcode::Sextend,
                arg,
            } => self.constant(arg),
            _ => None,
        }
    }

    /// An int32 constant.
    pub fn i32(&mut self, value: i32) -> Value {
        self.e.b.ins().iconst(I32, i64::from(value))
    }
    /// A 64-bit constant.
    pub fn i64(&mut self, value: i64) -> Value {
        self.e.b.ins().iconst(I64, value)
    }

    /// The value, if it is an I8 comparison widened to I32 and compared with zero, is what `brif` can take.
    pub fn truth(&mut self, item: &Item) -> Res<Value> {
        if item.kind.is_float() || item.kind == Kind::Struct {
            return match item.kind {
                Kind::Struct => Err(Fail::invalid("a value type as a condition")),
                Kind::F32 => {
                    let zero = self.e.b.ins().f32const(0.0);
                    Ok(self.e.b.ins().fcmp(
                        cranelift_codegen::ir::condcodes::FloatCC::NotEqual,
                        item.value,
                        zero,
                    ))
                }
                _ => {
                    let zero = self.e.b.ins().f64const(0.0);
                    Ok(self.e.b.ins().fcmp(
                        cranelift_codegen::ir::condcodes::FloatCC::NotEqual,
                        item.value,
                        zero,
                    ))
                }
            };
        }
        if let ValueDef::Result(inst, _) = self.e.b.func.dfg.value_def(item.value)
            && let InstructionData::Unary {
                opcode: Opcode::Uextend,
                arg,
            } = self.e.b.func.dfg.insts[inst]
            && self.is_comparison(arg)
        {
            return Ok(arg);
        }
        Ok(item.value)
    }

    /// Is the word null or zero?
    pub fn is_null(&mut self, value: Value) -> Value {
        self.e.b.ins().icmp_imm_u(IntCC::Equal, value, 0)
    }
}
