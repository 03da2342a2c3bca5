//! Conversions of numbers (ECMA-335 III.3.27 to III.3.29).
//!
//! # Invariants
//! * Float to integer follows mono, which uses `cvttsd2si`: NaN and values out of range give the
//!   minimum of the width, and narrower results are cut from 32 bits. ECMA-335 leaves these cases
//!   unspecified, but programs depend on them.
//! * Float to unsigned 64 bits converts values below 2^63 as int64, and from there on as `(x -
//!   2^63) ^ MIN`; NaN and values of 2^64 or more give 0.
//! * A result narrower than 32 bits is extended to int32, signed or unsigned as its name says.
use crate::translate::error::{Res, TranslateError};
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackType, StackValue, ValueFact};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types::*};
use vervet_abi::ThrowKind;

/// The type a conversion gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(
    missing_docs,
    reason = "each is the type of the IL suffix of that name"
)]
pub enum To {
    I1,
    U1,
    I2,
    U2,
    I4,
    U4,
    I8,
    U8,
    I,
    U,
}

impl To {
    /// The width of the result in bits.
    fn bits(self) -> u32 {
        match self {
            To::I1 | To::U1 => 8,
            To::I2 | To::U2 => 16,
            To::I4 | To::U4 => 32,
            _ => 64,
        }
    }
    /// Whether the result is signed.
    fn signed(self) -> bool {
        matches!(self, To::I1 | To::I2 | To::I4 | To::I8 | To::I)
    }
    /// The stack type of the result.
    fn kind(self) -> StackType {
        match self {
            To::I8 | To::U8 => StackType::I64,
            To::I | To::U => StackType::Native,
            _ => StackType::I32,
        }
    }
}

impl<'a, 'f> Translator<'a, 'f> {
    /// `conv.<to>`. An integer is cut or extended; the extension of an int32 to 64 bits is signed
    /// or unsigned as the target is.
    pub fn convert(&mut self, to: To) -> Res {
        let operand = self.pop()?;
        self.expose(&operand);
        let value = match operand.stack_type {
            StackType::Struct => {
                return Err(TranslateError::invalid("a conversion of a value type"));
            }
            StackType::F32 | StackType::F64 => self.float_to_int(&operand, to),
            StackType::I32 => match to.bits() {
                64 if to.signed() => self.e.b.ins().sextend(I64, operand.value),
                64 => self.e.b.ins().uextend(I64, operand.value),
                _ => self.cut(operand.value, to),
            },
            _ => match to.bits() {
                64 => operand.value,
                _ => {
                    let low = self.e.b.ins().ireduce(I32, operand.value);
                    self.cut(low, to)
                }
            },
        };
        let fact = match operand.fact {
            ValueFact::Frame if to.bits() == 64 => ValueFact::Frame,
            _ => ValueFact::None,
        };
        self.push_value(StackValue {
            stack_type: to.kind(),
            value,
            class: None,
            fact,
        });
        Ok(())
    }

    /// An int32 cut to the conversion's width and extended again.
    fn cut(&mut self, value: Value, to: To) -> Value {
        match to {
            To::I1 => {
                let v = self.e.b.ins().ireduce(I8, value);
                self.e.b.ins().sextend(I32, v)
            }
            To::I2 => {
                let v = self.e.b.ins().ireduce(I16, value);
                self.e.b.ins().sextend(I32, v)
            }
            To::U1 => self.e.b.ins().band_imm_u(value, 0xff),
            To::U2 => self.e.b.ins().band_imm_u(value, 0xffff),
            _ => value,
        }
    }

    /// A float as float64. Every float32 is one exactly, so one set of bounds serves both.
    fn as_f64(&mut self, operand: &StackValue) -> Value {
        if operand.stack_type == StackType::F32 {
            self.e.b.ins().fpromote(F64, operand.value)
        } else {
            operand.value
        }
    }

    /// The result of the 64-bit `cvttsd2si`. Cranelift's saturating conversion gives 0 for NaN and
    /// the maximum above the range, where `cvttsd2si` gives MIN. The comparison is false for NaN
    /// and for values above, so one select corrects both:
    ///
    /// ```text
    ///     v1 = fcvt_to_sint_sat.i64 v0
    ///     v2 = fcmp lt v0, 2^63
    ///     v3 = select v2, v1, MIN
    /// ```
    fn truncate64(&mut self, x: Value) -> Value {
        let saturated = self.e.b.ins().fcvt_to_sint_sat(I64, x);
        let limit = self.e.b.ins().f64const(9223372036854775808.0);
        let in_range = self.e.b.ins().fcmp(FloatCC::LessThan, x, limit);
        let min = self.i64(i64::MIN);
        self.e.b.ins().select(in_range, saturated, min)
    }

    /// The result of the 32-bit `cvttsd2si`.
    fn truncate32(&mut self, x: Value) -> Value {
        let saturated = self.e.b.ins().fcvt_to_sint_sat(I32, x);
        let limit = self.e.b.ins().f64const(2147483648.0);
        let in_range = self.e.b.ins().fcmp(FloatCC::LessThan, x, limit);
        let min = self.i32(i32::MIN);
        self.e.b.ins().select(in_range, saturated, min)
    }

    /// The unchecked conversion of a float.
    fn float_to_int(&mut self, operand: &StackValue, to: To) -> Value {
        let x = self.as_f64(operand);
        match to {
            To::I4 => self.truncate32(x),
            To::I1 | To::I2 | To::U1 | To::U2 => {
                let v = self.truncate32(x);
                self.cut(v, to)
            }
            To::U4 => {
                let v = self.truncate64(x);
                self.e.b.ins().ireduce(I32, v)
            }
            To::I8 | To::I => self.truncate64(x),
            To::U8 | To::U => {
                let below = self.truncate64(x);
                let limit = self.e.b.ins().f64const(9223372036854775808.0);
                let top = self.e.b.ins().f64const(18446744073709551616.0);
                let rest = self.e.b.ins().fsub(x, limit);
                let rest = self.e.b.ins().fcvt_to_sint_sat(I64, rest);
                let bit = self.i64(i64::MIN);
                let above = self.e.b.ins().bxor(rest, bit);
                let zero = self.i64(0);
                let fits = self.e.b.ins().fcmp(FloatCC::LessThan, x, top);
                let above = self.e.b.ins().select(fits, above, zero);
                let is_below = self.e.b.ins().fcmp(FloatCC::LessThan, x, limit);
                self.e.b.ins().select(is_below, below, above)
            }
        }
    }

    /// `conv.r4` and `conv.r8`.
    pub fn convert_float(&mut self, double: bool) -> Res {
        let operand = self.pop()?;
        let ty = if double { F64 } else { F32 };
        let value = match operand.stack_type {
            StackType::F32 if double => self.e.b.ins().fpromote(F64, operand.value),
            StackType::F64 if !double => self.e.b.ins().fdemote(F32, operand.value),
            StackType::F32 | StackType::F64 => operand.value,
            StackType::I32 | StackType::I64 | StackType::Native => {
                self.e.b.ins().fcvt_from_sint(ty, operand.value)
            }
            _ => {
                return Err(TranslateError::invalid(
                    "a conversion of a reference to a float",
                ));
            }
        };
        self.push(
            if double {
                StackType::F64
            } else {
                StackType::F32
            },
            value,
        );
        Ok(())
    }

    /// `conv.r.un`: the integer is unsigned.
    pub fn convert_unsigned_to_float(&mut self) -> Res {
        let operand = self.pop()?;
        let value = match operand.stack_type {
            StackType::I32 | StackType::I64 | StackType::Native => {
                self.e.b.ins().fcvt_from_uint(F64, operand.value)
            }
            StackType::F64 => operand.value,
            StackType::F32 => self.e.b.ins().fpromote(F64, operand.value),
            _ => {
                return Err(TranslateError::invalid(
                    "a conversion of a reference to a float",
                ));
            }
        };
        self.push(StackType::F64, value);
        Ok(())
    }

    /// `conv.ovf.<to>` and `conv.ovf.<to>.un`: OverflowException if the value does not fit.
    pub fn convert_checked(&mut self, to: To, unsigned: bool) -> Res {
        let operand = self.pop()?;
        self.expose(&operand);
        let value = match operand.stack_type {
            StackType::Struct => {
                return Err(TranslateError::invalid("a conversion of a value type"));
            }
            StackType::F32 | StackType::F64 => self.checked_from_float(&operand, to),
            StackType::I32 => self.checked_from_i32(operand.value, to, unsigned),
            _ => self.checked_from_i64(operand.value, to, unsigned),
        };
        self.push(to.kind(), value);
        Ok(())
    }

    /// The checked conversion of an int32. Where the target is smaller, one unsigned comparison
    /// with its maximum finds negative values too; only signed to signed compares the value with
    /// its cut form.
    fn checked_from_i32(&mut self, v: Value, to: To, unsigned: bool) -> Value {
        match (to, unsigned) {
            (To::I8 | To::I, false) => self.e.b.ins().sextend(I64, v),
            (To::I8 | To::U8 | To::I | To::U, true) => self.e.b.ins().uextend(I64, v),
            (To::U8 | To::U, false) => {
                let negative = self.e.b.ins().icmp_imm_s(IntCC::SignedLessThan, v, 0);
                self.e.throw_if(negative, ThrowKind::Overflow);
                self.e.b.ins().uextend(I64, v)
            }
            (To::I4, false) | (To::U4, true) => v,
            (To::U4, false) | (To::I4, true) => {
                let negative = self.e.b.ins().icmp_imm_s(IntCC::SignedLessThan, v, 0);
                self.e.throw_if(negative, ThrowKind::Overflow);
                v
            }
            (To::U1 | To::U2, _) | (To::I1 | To::I2, true) => {
                let max = if to.signed() {
                    (1i64 << (to.bits() - 1)) - 1
                } else {
                    (1i64 << to.bits()) - 1
                };
                let out = self
                    .e
                    .b
                    .ins()
                    .icmp_imm_u(IntCC::UnsignedGreaterThan, v, max);
                self.e.throw_if(out, ThrowKind::Overflow);
                v
            }
            (To::I1 | To::I2, false) => {
                let cut = self.cut(v, to);
                let out = self.e.b.ins().icmp(IntCC::NotEqual, cut, v);
                self.e.throw_if(out, ThrowKind::Overflow);
                cut
            }
        }
    }

    /// The checked conversion of a 64-bit integer.
    fn checked_from_i64(&mut self, v: Value, to: To, unsigned: bool) -> Value {
        match to {
            To::I8 | To::I if !unsigned => v,
            To::U8 | To::U if unsigned => v,
            To::I8 | To::I | To::U8 | To::U => {
                let negative = self.e.b.ins().icmp_imm_s(IntCC::SignedLessThan, v, 0);
                self.e.throw_if(negative, ThrowKind::Overflow);
                v
            }
            _ => {
                let bits = to.bits();
                let low = self.e.b.ins().ireduce(I32, v);
                if to.signed() && !unsigned {
                    let cut = self.cut(low, to);
                    let again = self.e.b.ins().sextend(I64, cut);
                    let out = self.e.b.ins().icmp(IntCC::NotEqual, again, v);
                    self.e.throw_if(out, ThrowKind::Overflow);
                    return cut;
                }
                let max = if to.signed() {
                    (1i64 << (bits - 1)) - 1
                } else {
                    (1i64 << bits) - 1
                };
                let max = self.i64(max);
                let out = self.e.b.ins().icmp(IntCC::UnsignedGreaterThan, v, max);
                self.e.throw_if(out, ThrowKind::Overflow);
                low
            }
        }
    }

    /// Does a float fit? The bounds are those of the float before truncation:
    /// -128.9 fits int8, because it is truncated to -128. All bounds are exact in float64; the
    /// lower bound of int64 is inclusive, because the next lower float64 is far below.
    fn float_fits(&mut self, x: Value, to: To) -> Value {
        // Low bound: exclusive, but for int64 the minimum itself fits.
        let (low, inclusive, high) = match to {
            To::I1 => (-129.0, false, 128.0),
            To::U1 => (-1.0, false, 256.0),
            To::I2 => (-32769.0, false, 32768.0),
            To::U2 => (-1.0, false, 65536.0),
            To::I4 => (-2147483649.0, false, 2147483648.0),
            To::U4 => (-1.0, false, 4294967296.0),
            To::I8 | To::I => (-9223372036854775808.0, true, 9223372036854775808.0),
            To::U8 | To::U => (-1.0, false, 18446744073709551616.0),
        };
        let low = self.e.b.ins().f64const(low);
        let high = self.e.b.ins().f64const(high);
        let above = if inclusive {
            FloatCC::GreaterThanOrEqual
        } else {
            FloatCC::GreaterThan
        };
        let above = self.e.b.ins().fcmp(above, x, low);
        let below = self.e.b.ins().fcmp(FloatCC::LessThan, x, high);
        self.e.b.ins().band(above, below)
    }

    /// The checked conversion of a float.
    fn checked_from_float(&mut self, operand: &StackValue, to: To) -> Value {
        let x = self.as_f64(operand);
        let fits = self.float_fits(x, to);
        // Mono converts to 64 bits by a function, and narrows the result in place.
        let wide = if to.signed() { To::I8 } else { To::U8 };
        let kind = match (operand.stack_type, to.signed()) {
            (StackType::F32, true) => ThrowKind::SingleToI8,
            (StackType::F32, false) => ThrowKind::SingleToU8,
            (_, true) => ThrowKind::DoubleToI8,
            (_, false) => ThrowKind::DoubleToU8,
        };
        if to.bits() == 64 {
            self.e.throw_unless(fits, kind);
        } else {
            let (cold, on) = (self.e.b.create_block(), self.e.b.create_block());
            self.e.b.set_cold_block(cold);
            self.e.b.ins().brif(fits, on, &[], cold, &[]);
            self.e.b.seal_block(cold);
            self.e.b.seal_block(on);
            self.e.b.switch_to_block(cold);
            let fits_wide = self.float_fits(x, wide);
            self.e.throw_unless(fits_wide, kind);
            self.e.throw(ThrowKind::Overflow);
            self.e.b.switch_to_block(on);
        }
        match to.bits() {
            64 if to.signed() => self.e.b.ins().fcvt_to_sint_sat(I64, x),
            64 => self.e.b.ins().fcvt_to_uint_sat(I64, x),
            _ => {
                let wide = self.e.b.ins().fcvt_to_sint_sat(I64, x);
                self.e.b.ins().ireduce(I32, wide)
            }
        }
    }

    /// `ckfinite` (ECMA-335 III.3.24).
    pub fn check_finite(&mut self) -> Res {
        let operand = self.pop()?;
        if !operand.stack_type.is_float() {
            return Err(TranslateError::invalid(
                "ckfinite of something else than a float",
            ));
        }
        // x - x is NaN for NaN and the infinities, and 0 otherwise. Mono and CoreCLR throw
        // OverflowException; ECMA-335 names its base class ArithmeticException.
        let zero = self.e.b.ins().fsub(operand.value, operand.value);
        let bad = self.e.b.ins().fcmp(FloatCC::Unordered, zero, zero);
        self.e.throw_if(bad, ThrowKind::Overflow);
        self.push_value(operand);
        Ok(())
    }
}
