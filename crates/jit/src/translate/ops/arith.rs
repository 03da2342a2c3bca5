//! Arithmetic, shifts, comparisons, and arithmetic on addresses.
//!
//! # How it works
//! Two operands are brought to one type first (ECMA-335 III.1.5, tables 2 to 7):
//!
//! ```text
//!              int32    int64    native   F        & / O
//! int32        I32      I64      Native   -        ByRef (add)
//! int64        I64      I64      I64      -        ByRef (add, sub)
//! native int   Native   I64      Native   -        ByRef (add)
//! F            -        -        -        F        -
//! & / O        ByRef    ByRef    ByRef    -        Native (sub)
//! ```
//!
//! ECMA-335 does not allow int64 with native int; mono does on 64-bit machines, and compilers rely
//! on it.
//!
//! # Invariants
//! * Division raises the exceptions itself, by an explicit check before the instruction: inside a
//!   protected region a hardware trap would have no landing pad. Elsewhere Cranelift merges check
//!   and trap.
//! * While the thread is stopped, an object that the code still uses must be reachable by an
//!   address inside it. Arithmetic on addresses must therefore not be regrouped by the optimiser
//!   into sums that lie outside the object ([`Translator::address_arithmetic`]).
use crate::translate::error::{Res, TranslateError};
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackType, StackValue, ValueFact};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{
    Inst, InstBuilder, InstructionData, Opcode, Value, ValueDef, types::*,
};
use vervet_abi::{ThrowKind, call};
use vervet_metadata::il::Op;

/// A comparison of IL (ECMA-335 III.1.5, table 4).
#[derive(Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the IL comparison of that name")]
pub enum Compare {
    Eq,
    Ne,
    Gt,
    Ge,
    Lt,
    Le,
    GtUn,
    GeUn,
    LtUn,
    LeUn,
}

impl Compare {
    /// The condition for integers and addresses.
    fn int(self) -> IntCC {
        match self {
            Compare::Eq => IntCC::Equal,
            Compare::Ne => IntCC::NotEqual,
            Compare::Gt => IntCC::SignedGreaterThan,
            Compare::Ge => IntCC::SignedGreaterThanOrEqual,
            Compare::Lt => IntCC::SignedLessThan,
            Compare::Le => IntCC::SignedLessThanOrEqual,
            Compare::GtUn => IntCC::UnsignedGreaterThan,
            Compare::GeUn => IntCC::UnsignedGreaterThanOrEqual,
            Compare::LtUn => IntCC::UnsignedLessThan,
            Compare::LeUn => IntCC::UnsignedLessThanOrEqual,
        }
    }
    /// The condition for floats. The `.un` forms are true for unordered operands, and so is
    /// `bne.un`.
    fn float(self) -> FloatCC {
        match self {
            Compare::Eq => FloatCC::Equal,
            Compare::Ne => FloatCC::NotEqual,
            Compare::Gt => FloatCC::GreaterThan,
            Compare::Ge => FloatCC::GreaterThanOrEqual,
            Compare::Lt => FloatCC::LessThan,
            Compare::Le => FloatCC::LessThanOrEqual,
            Compare::GtUn => FloatCC::UnorderedOrGreaterThan,
            Compare::GeUn => FloatCC::UnorderedOrGreaterThanOrEqual,
            Compare::LtUn => FloatCC::UnorderedOrLessThan,
            Compare::LeUn => FloatCC::UnorderedOrLessThanOrEqual,
        }
    }
}

impl<'a, 'f> Translator<'a, 'f> {
    /// Brings two numbers to one type. Mixed floats become float64.
    fn unify(&mut self, a: &StackValue, b: &StackValue) -> Res<(StackType, Value, Value)> {
        use StackType::*;
        let kind = match (a.stack_type, b.stack_type) {
            (x, y) if x == y && x != Struct && x != Ref && x != ByRef => x,
            (I32, Native) | (Native, I32) => Native,
            (I64, Native | I32) | (Native | I32, I64) => I64,
            (F32, F64) | (F64, F32) => F64,
            (x, y) => {
                return Err(TranslateError::invalid(format!(
                    "arithmetic on {x:?} and {y:?}"
                )));
            }
        };
        Ok((kind, self.coerce(a, kind)?, self.coerce(b, kind)?))
    }

    /// The binary operations, checked ones included (ECMA-335 III.3.1, III.3.2, III.3.48 and
    /// others). The remainder of floats is C's `fmod`, which is a helper call.
    pub fn binary(&mut self, op: Op) -> Res {
        use StackType::*;
        let b = self.pop()?;
        let a = self.pop()?;
        // Addresses: only addition and subtraction.
        if matches!(a.stack_type, ByRef | Ref) || matches!(b.stack_type, ByRef | Ref) {
            return self.address_arithmetic(op, &a, &b);
        }
        let (kind, x, y) = self.unify(&a, &b)?;
        let value = if kind.is_float() {
            match op {
                Op::Add => self.e.b.ins().fadd(x, y),
                Op::Sub => self.e.b.ins().fsub(x, y),
                Op::Mul => self.e.b.ins().fmul(x, y),
                Op::Div => self.e.b.ins().fdiv(x, y),
                Op::Rem if kind == F64 => self.e.helper_value(call::FMod, [x, y]),
                Op::Rem => {
                    let (x, y) = (
                        self.e
                            .b
                            .ins()
                            .fpromote(cranelift_codegen::ir::types::F64, x),
                        self.e
                            .b
                            .ins()
                            .fpromote(cranelift_codegen::ir::types::F64, y),
                    );
                    let r = self.e.helper_value(call::FMod, [x, y]);
                    self.e.b.ins().fdemote(cranelift_codegen::ir::types::F32, r)
                }
                _ => return Err(TranslateError::invalid("an integer operation on floats")),
            }
        } else {
            self.integer(op, x, y)?
        };
        self.push(kind, value);
        Ok(())
    }

    /// Whether the value is a sum or difference with a constant.
    fn has_constant_part(&self, value: Value) -> bool {
        let dfg = &self.e.b.func.dfg;
        let ValueDef::Result(inst, _) = dfg.value_def(dfg.resolve_aliases(value)) else {
            return false;
        };
        matches!(
            dfg.insts[inst],
            InstructionData::Binary { opcode: Opcode::Iadd | Opcode::Isub, args }
                if args.iter().any(|a| self.constant(*a).is_some())
        )
    }

    /// The same value, stored and loaded again, so that the optimiser cannot see how it was
    /// computed.
    fn opaque(&mut self, value: Value) -> Value {
        let slot = self.temp(8);
        self.e.notes.keep(slot);
        self.e.b.ins().stack_store(I64, value, slot, 0);
        self.e.b.ins().sequence_point();
        self.e.b.ins().stack_load(I64, I64, slot, 0)
    }

    /// Arithmetic with a byref or object reference. A difference of two addresses is a number; an
    /// address plus or minus a number is a byref. Other operations are unverifiable and give a
    /// native int: programs align addresses by masking.
    fn address_arithmetic(&mut self, op: Op, a: &StackValue, b: &StackValue) -> Res {
        let (mut x, y) = (self.as_native(a)?, self.as_native(b)?);
        // The optimiser turns `(r + k) + (i + l)` into `(r + i) + (k + l)`. Then `r + i` may be all
        // that is left of the reference in a register while the thread is stopped. It may lie
        // outside the object, where the collector would not find the object by it.
        if self.has_constant_part(x) && self.has_constant_part(y) {
            x = self.opaque(x);
        }
        let kind = match (
            op,
            matches!(a.stack_type, StackType::ByRef | StackType::Ref),
            matches!(b.stack_type, StackType::ByRef | StackType::Ref),
        ) {
            (Op::Sub | Op::SubOvfUn | Op::SubOvf, true, true) => StackType::Native,
            (Op::Add | Op::AddOvfUn | Op::AddOvf | Op::Sub | Op::SubOvfUn | Op::SubOvf, ..) => {
                StackType::ByRef
            }
            // Unverifiable: alignment by masking and the like.
            _ => StackType::Native,
        };
        if kind == StackType::Native {
            self.expose(a);
            self.expose(b);
        }
        let value = self.integer(op, x, y)?;
        let fact = match (a.fact, kind) {
            (ValueFact::Frame, StackType::ByRef) => ValueFact::Frame,
            _ => ValueFact::None,
        };
        self.push_value(StackValue {
            stack_type: kind,
            value,
            class: None,
            fact,
        });
        Ok(())
    }

    /// A product; with 3, 5 or 9 it is one addition of a shifted operand, which x86-64 does in a cycle and a multiplication in three.
    fn product(&mut self, x: Value, y: Value) -> Value {
        let (x, factor) = match self.constant(x) {
            Some(c) => (y, Some(c)),
            None => (x, self.constant(y)),
        };
        let shift = match factor {
            Some(3) => 1,
            Some(5) => 2,
            Some(9) => 3,
            Some(c) => {
                let ty = self.e.b.func.dfg.value_type(x);
                let c = self.e.b.ins().iconst(ty, c);
                return self.e.b.ins().imul(x, c);
            }
            None => return self.e.b.ins().imul(x, y),
        };
        let shifted = self.e.b.ins().ishl_imm_u(x, shift);
        self.e.b.ins().iadd(x, shifted)
    }

    /// An operation on integers of one width.
    fn integer(&mut self, op: Op, x: Value, y: Value) -> Res<Value> {
        Ok(match op {
            Op::Add => self.e.b.ins().iadd(x, y),
            Op::Sub => self.e.b.ins().isub(x, y),
            Op::Mul => self.product(x, y),
            Op::And => self.e.b.ins().band(x, y),
            Op::Or => self.e.b.ins().bor(x, y),
            Op::Xor => self.e.b.ins().bxor(x, y),
            Op::Div | Op::Rem => self.signed_division(op == Op::Div, x, y),
            Op::DivUn | Op::RemUn => {
                match self.constant(y) {
                    Some(c) if c != 0 => {}
                    _ => {
                        let zero = self.is_null(y);
                        self.e.throw_if(zero, ThrowKind::DivideByZero);
                    }
                }
                if op == Op::DivUn {
                    self.e.b.ins().udiv(x, y)
                } else {
                    self.e.b.ins().urem(x, y)
                }
            }
            Op::AddOvf => self.checked(|b, x, y| b.sadd_overflow(x, y), x, y),
            Op::AddOvfUn => self.checked(|b, x, y| b.uadd_overflow(x, y), x, y),
            Op::SubOvf => self.checked(|b, x, y| b.ssub_overflow(x, y), x, y),
            Op::SubOvfUn => self.checked(|b, x, y| b.usub_overflow(x, y), x, y),
            Op::MulOvf => self.checked(|b, x, y| b.smul_overflow(x, y), x, y),
            Op::MulOvfUn => self.checked(|b, x, y| b.umul_overflow(x, y), x, y),
            _ => return Err(TranslateError::internal("not an integer operation")),
        })
    }

    /// An operation with an overflow flag. The overflow is an OverflowException (ECMA-335 III.3.2):
    ///
    /// ```text
    ///     v2, v3 = sadd_overflow v0, v1
    ///     trapnz v3, overflow
    /// ```
    fn checked(
        &mut self,
        f: impl FnOnce(cranelift_frontend::FuncInstBuilder<'_, 'f>, Value, Value) -> (Value, Value),
        x: Value,
        y: Value,
    ) -> Value {
        let (value, overflow) = f(self.e.b.ins(), x, y);
        self.e.throw_if(overflow, ThrowKind::Overflow);
        value
    }

    /// Whether the instruction that made the integer shows that it is not negative. Then a signed
    /// division can be an unsigned one, which needs no check for MIN / -1.
    fn is_natural(&self, value: Value) -> bool {
        let dfg = &self.e.b.func.dfg;
        if let Some(c) = self.constant(value) {
            return c >= 0;
        }
        let ValueDef::Result(inst, _) = dfg.value_def(dfg.resolve_aliases(value)) else {
            return false;
        };
        match dfg.insts[inst] {
            InstructionData::Binary {
                opcode: Opcode::Band,
                args,
            } => args
                .iter()
                .any(|a| self.constant(*a).is_some_and(|c| c >= 0)),
            InstructionData::Unary {
                opcode: Opcode::Uextend,
                ..
            } => true,
            // `conv.i4` of a length, which `ldlen` widened.
            InstructionData::Unary {
                opcode: Opcode::Ireduce,
                arg,
            } => {
                let wide = dfg.value_def(dfg.resolve_aliases(arg));
                matches!(wide, ValueDef::Result(inst, _) if self.is_length(inst))
            }
            InstructionData::Load {
                opcode: Opcode::Uload8 | Opcode::Uload16 | Opcode::Uload32,
                ..
            } => true,
            _ => false,
        }
    }

    /// Whether the instruction widens the length of an array.
    fn is_length(&self, inst: Inst) -> bool {
        let dfg = &self.e.b.func.dfg;
        let InstructionData::Unary {
            opcode: Opcode::Uextend,
            arg,
        } = dfg.insts[inst]
        else {
            return false;
        };
        self.body.lengths.contains(&arg)
    }

    /// Signed division and remainder (ECMA-335 III.3.31, III.3.55). MIN / -1 throws
    /// OverflowException; so does the remainder, as in mono, where ECMA-335 leaves it open. What
    /// the operands show saves checks:
    ///
    /// ```text
    /// divisor is a constant but 0 and -1     no check
    /// both are never negative                zero check; unsigned division
    /// one is never negative                  zero check
    /// otherwise                              zero check; trap if x == MIN and y == -1
    /// ```
    fn signed_division(&mut self, quotient: bool, x: Value, y: Value) -> Value {
        let naturals = (self.is_natural(x), self.is_natural(y));
        match self.constant(y) {
            Some(c) if c != 0 && c != -1 => {}
            _ if naturals.0 || naturals.1 => {
                let zero = self.is_null(y);
                self.e.throw_if(zero, ThrowKind::DivideByZero);
            }
            _ => {
                let zero = self.is_null(y);
                self.e.throw_if(zero, ThrowKind::DivideByZero);
                let wide = self.e.b.func.dfg.value_type(x) == I64;
                let min = if wide {
                    self.i64(i64::MIN)
                } else {
                    self.i32(i32::MIN)
                };
                let is_min = self.e.b.ins().icmp(IntCC::Equal, x, min);
                let is_minus_one = self.e.b.ins().icmp_imm_s(IntCC::Equal, y, -1);
                let both = self.e.b.ins().band(is_min, is_minus_one);
                self.e.throw_if(both, ThrowKind::Overflow);
            }
        }
        match (quotient, naturals) {
            (true, (true, true)) => self.e.b.ins().udiv(x, y),
            (false, (true, true)) => self.e.b.ins().urem(x, y),
            (true, _) => self.e.b.ins().sdiv(x, y),
            (false, _) => self.e.b.ins().srem(x, y),
        }
    }

    /// Shifts. ECMA-335 III.3.58 leaves a count of the width or more unspecified; here, as on x86,
    /// it is taken modulo the width.
    pub fn shift(&mut self, op: Op) -> Res {
        let count = self.pop()?;
        let a = self.pop()?;
        if !matches!(
            a.stack_type,
            StackType::I32 | StackType::I64 | StackType::Native
        ) || !matches!(
            count.stack_type,
            StackType::I32 | StackType::Native | StackType::I64
        ) {
            return Err(TranslateError::invalid(
                "a shift of something else than integers",
            ));
        }
        let (x, n) = (a.value, count.value);
        let value = match op {
            Op::Shl => self.e.b.ins().ishl(x, n),
            Op::Shr => self.e.b.ins().sshr(x, n),
            _ => self.e.b.ins().ushr(x, n),
        };
        self.push(a.stack_type, value);
        Ok(())
    }

    /// `neg` and `not` (ECMA-335 III.3.50, III.3.52).
    pub fn unary(&mut self, op: Op) -> Res {
        let a = self.pop()?;
        let value = match (op, a.stack_type) {
            (Op::Neg, k) if k.is_float() => self.e.b.ins().fneg(a.value),
            (
                _,
                StackType::Struct
                | StackType::Ref
                | StackType::ByRef
                | StackType::F32
                | StackType::F64,
            ) => {
                return Err(TranslateError::invalid(
                    "neg or not of something else than a number",
                ));
            }
            (Op::Neg, _) => self.e.b.ins().ineg(a.value),
            _ => self.e.b.ins().bnot(a.value),
        };
        self.push(a.stack_type, value);
        Ok(())
    }

    /// The I8 result of a comparison of the two topmost values.
    pub fn compare_values(&mut self, how: Compare) -> Res<Value> {
        let b = self.pop()?;
        let a = self.pop()?;
        use StackType::*;
        let kind = match (a.stack_type, b.stack_type) {
            (Struct, _) | (_, Struct) => {
                return Err(TranslateError::invalid("a comparison of value types"));
            }
            (x, y) if x == y => x,
            (F32, F64) | (F64, F32) => F64,
            (x, y) if x.is_float() || y.is_float() => {
                return Err(TranslateError::invalid("a float compared with an integer"));
            }
            _ => I64,
        };
        // (A comparison makes no pointer of an address.)
        let (x, y) = match kind {
            I64 => (self.as_native(&a)?, self.as_native(&b)?),
            kind => (self.coerce(&a, kind)?, self.coerce(&b, kind)?),
        };
        Ok(if kind.is_float() {
            self.e.b.ins().fcmp(how.float(), x, y)
        } else if let Some(c) = self.constant(y).filter(|c| i32::try_from(*c).is_ok()) {
            self.e.b.ins().icmp_imm_s(how.int(), x, c)
        } else {
            self.e.b.ins().icmp(how.int(), x, y)
        })
    }

    /// ceq, cgt, clt and their unordered forms.
    pub fn compare(&mut self, how: Compare) -> Res {
        let result = self.compare_values(how)?;
        let value = self.e.b.ins().uextend(I32, result);
        self.push(StackType::I32, value);
        Ok(())
    }
}
