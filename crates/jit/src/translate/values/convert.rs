//! Pushing and popping values of the IL stack, and the implicit conversions between stack types.
//!
//! # Invariants
//! A value that is popped has the representation of its stack type. What mono would not convert
//! implicitly is [`TranslateError::Invalid`], never a panic.
use crate::signature::scalar_kind;
use crate::translate::error::{Res, TranslateError};
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackType, StackValue, ValueFact, stack_type_of};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, InstructionData, Opcode, Value, ValueDef, types::*};
use vervet_types::{ClassRef, ScalarKind};

impl<'a, 'f> Translator<'a, 'f> {
    /// Pushes a value.
    pub fn push_value(&mut self, operand: StackValue) {
        self.body.stack.push(operand);
    }
    /// Pushes a managed pointer that is not null.
    pub fn push_address(&mut self, value: Value) {
        self.push_value(StackValue {
            stack_type: StackType::ByRef,
            value,
            class: None,
            fact: ValueFact::NonNull,
        });
    }
    /// Pushes a value of which only the type is known.
    pub fn push(&mut self, kind: StackType, value: Value) {
        self.body.stack.push(StackValue {
            stack_type: kind,
            value,
            class: None,
            fact: ValueFact::None,
        });
    }
    /// Pushes an object that is not null and of exactly that class.
    pub fn push_instance(&mut self, class: ClassRef, value: Value) {
        self.body.stack.push(StackValue {
            stack_type: StackType::Ref,
            value,
            class: Some(class),
            fact: ValueFact::Exact,
        });
    }
    /// Pushes a value of a class, of which nothing else is known.
    pub fn push_class(&mut self, class: ClassRef, value: Value) -> Res {
        let kind = stack_type_of(class)?;
        self.body.stack.push(StackValue {
            stack_type: kind,
            value,
            class: Some(class),
            fact: ValueFact::None,
        });
        Ok(())
    }
    /// Pops a value. This is where a default comparer that is still to be loaded is loaded.
    pub fn pop(&mut self) -> Res<StackValue> {
        let operand = self
            .body
            .stack
            .pop()
            .ok_or_else(|| TranslateError::invalid("the stack is empty"))?;
        self.comparer(operand)
    }
    /// Pops an int32. Of a native int the low 32 bits are taken, as mono does.
    pub fn pop_i32(&mut self) -> Res<Value> {
        let operand = self.pop()?;
        match operand.stack_type {
            StackType::I32 => Ok(operand.value),
            StackType::Native | StackType::I64 => Ok(self.e.b.ins().ireduce(I32, operand.value)),
            _ => Err(TranslateError::invalid("expected an int32")),
        }
    }
    /// Pops an object reference. Mono accepts a native int or byref too, which unverifiable code
    /// produces.
    pub fn pop_ref(&mut self) -> Res<StackValue> {
        let operand = self.pop()?;
        self.expose(&operand);
        match operand.stack_type {
            StackType::Ref | StackType::Native | StackType::ByRef => Ok(operand),
            _ => Err(TranslateError::invalid("expected an object reference")),
        }
    }
    /// Pops an address: a byref, a native int, or an object reference used as one.
    pub fn pop_address(&mut self) -> Res<StackValue> {
        let mut operand = self.pop()?;
        match operand.stack_type {
            StackType::I32 => operand.value = self.e.b.ins().sextend(I64, operand.value),
            k if k.is_word() => {}
            _ => return Err(TranslateError::invalid("expected an address")),
        }
        Ok(operand)
    }
    /// Pops `n` values. The first one returned was the lowest.
    pub fn pop_n(&mut self, n: usize) -> Res<smallvec::SmallVec<[StackValue; 8]>> {
        if self.body.stack.len() < n {
            return Err(TranslateError::invalid("too few values on the stack"));
        }
        for at in self.body.stack.len() - n..self.body.stack.len() {
            self.body.stack[at] = self.comparer(self.body.stack[at])?;
        }
        Ok(self.body.stack.drain(self.body.stack.len() - n..).collect())
    }

    /// The value as a native int.
    pub fn as_native(&mut self, operand: &StackValue) -> Res<Value> {
        match operand.stack_type {
            StackType::I32 => Ok(self.e.b.ins().sextend(I64, operand.value)),
            k if k.is_word() => Ok(operand.value),
            _ => Err(TranslateError::invalid("expected a native int")),
        }
    }

    /// The value converted to another stack type, where an implicit conversion exists (ECMA-335
    /// III.1.6, and what mono accepts beyond it).
    pub fn coerce(&mut self, operand: &StackValue, to: StackType) -> Res<Value> {
        let v = operand.value;
        if operand.stack_type == to {
            return Ok(v);
        }
        self.expose(operand);
        Ok(match (operand.stack_type, to) {
            (StackType::I32, StackType::Native | StackType::I64 | StackType::ByRef) => {
                self.e.b.ins().sextend(I64, v)
            }
            (StackType::Native | StackType::I64, StackType::I32) => self.e.b.ins().ireduce(I32, v),
            (StackType::F32, StackType::F64) => self.e.b.ins().fpromote(F64, v),
            (StackType::F64, StackType::F32) => self.e.b.ins().fdemote(F32, v),
            (a, b) if a.is_word() && b.is_word() => v,
            (a, b) => {
                return Err(TranslateError::invalid(format!(
                    "a value of type {a:?} where {b:?} is expected"
                )));
            }
        })
    }

    /// The value in the form in which a variable or parameter of the class holds it: coerced, and
    /// narrowed to small integers. Of a struct, the address.
    pub fn coerce_to_class(&mut self, operand: &StackValue, class: ClassRef) -> Res<Value> {
        let to = stack_type_of(class)?;
        if to == StackType::Struct {
            self.check_struct(operand, class)?;
            return Ok(operand.value);
        }
        let value = self.coerce(operand, to)?;
        Ok(if to == StackType::I32 {
            self.narrow(value, scalar_kind(class))
        } else {
            value
        })
    }

    /// Checks that the value is a struct, and that a value of `class` can be read from its memory.
    /// ECMA-335 demands the same type; the size is what memory safety needs.
    pub fn check_struct(&mut self, operand: &StackValue, class: ClassRef) -> Res {
        match operand.class {
            Some(c) if operand.stack_type == StackType::Struct => {
                if std::ptr::eq(c, class) || c.layout()?.size >= class.layout()?.size {
                    return Ok(());
                }
                Err(TranslateError::invalid("a value of another value type"))
            }
            _ => Err(TranslateError::invalid("expected a value type")),
        }
    }

    /// An int32 in the form in which a small integer type holds it. Emits nothing if the
    /// instruction that made the value shows that it fits:
    ///
    /// ```text
    /// I1:  v1 = ireduce.i8 v0;  v2 = sextend.i32 v1
    /// U2:  v1 = band_imm v0, 0xffff
    /// ```
    pub fn narrow(&mut self, value: Value, kind: ScalarKind) -> Value {
        let (ty, signed, low, high) = match kind {
            ScalarKind::I1 => (I8, true, -128, 127),
            ScalarKind::U1 => (I8, false, 0, 255),
            ScalarKind::I2 => (I16, true, -32768, 32767),
            ScalarKind::U2 => (I16, false, 0, 65535),
            _ => return value,
        };
        if let Some(c) = self.constant(value)
            && (low..=high).contains(&c)
        {
            return value;
        }
        // A load of the same or a smaller width has extended the value already, and a comparison
        // gives 0 or 1.
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

    /// Whether the value is the 8-bit result of a comparison.
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

    /// The constant that an integer value is, if it is one.
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

    /// The condition that `brtrue` tests, for `brif`. A comparison that IL widened to int32 is used
    /// without the widening, so that Cranelift merges it with the branch.
    pub fn truth(&mut self, operand: &StackValue) -> Res<Value> {
        if operand.stack_type.is_float() || operand.stack_type == StackType::Struct {
            return match operand.stack_type {
                StackType::Struct => Err(TranslateError::invalid("a value type as a condition")),
                StackType::F32 => {
                    let zero = self.e.b.ins().f32const(0.0);
                    Ok(self.e.b.ins().fcmp(
                        cranelift_codegen::ir::condcodes::FloatCC::NotEqual,
                        operand.value,
                        zero,
                    ))
                }
                _ => {
                    let zero = self.e.b.ins().f64const(0.0);
                    Ok(self.e.b.ins().fcmp(
                        cranelift_codegen::ir::condcodes::FloatCC::NotEqual,
                        operand.value,
                        zero,
                    ))
                }
            };
        }
        if let ValueDef::Result(inst, _) = self.e.b.func.dfg.value_def(operand.value)
            && let InstructionData::Unary {
                opcode: Opcode::Uextend,
                arg,
            } = self.e.b.func.dfg.insts[inst]
            && self.is_comparison(arg)
        {
            return Ok(arg);
        }
        Ok(operand.value)
    }

    /// Whether the word is null or zero, as an 8-bit value.
    pub fn is_null(&mut self, value: Value) -> Value {
        self.e.b.ins().icmp_imm_u(IntCC::Equal, value, 0)
    }
}
