//! Conversions of numbers.
//!
//! # Invariants
//! Float to int is cvttsd2si as mono has it: out of range and NaN give MIN; narrower results are cut from that.
//! Unsigned 64 bits go by the int64 below 2^63 and by (x - 2^63) above, NaN and overflow as 0.
use crate::translate::error::{Fail, Res};
use crate::translate::translator::Translator;
use crate::translate::values::stack::{Item, Kind, Note};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types::*};
use vervet_abi::ThrowKind;

/// What a conversion gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
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
    fn bits(self) -> u32 {
        match self {
            To::I1 | To::U1 => 8,
            To::I2 | To::U2 => 16,
            To::I4 | To::U4 => 32,
            _ => 64,
        }
    }
    fn signed(self) -> bool {
        matches!(self, To::I1 | To::I2 | To::I4 | To::I8 | To::I)
    }
    fn kind(self) -> Kind {
        match self {
            To::I8 | To::U8 => Kind::I64,
            To::I | To::U => Kind::Native,
            _ => Kind::I32,
        }
    }
}

impl<'a, 'f> Translator<'a, 'f> {
    /// conv.<to>
    pub fn convert(&mut self, to: To) -> Res {
        let item = self.pop()?;
        let value = match item.kind {
            Kind::Struct => return Err(Fail::invalid("a conversion of a value type")),
            Kind::F32 | Kind::F64 => self.float_to_int(&item, to),
            Kind::I32 => match to.bits() {
                64 if to.signed() => self.e.b.ins().sextend(I64, item.value),
                64 => self.e.b.ins().uextend(I64, item.value),
                _ => self.cut(item.value, to),
            },
            _ => match to.bits() {
                64 => item.value,
                _ => {
                    let low = self.e.b.ins().ireduce(I32, item.value);
                    self.cut(low, to)
                }
            },
        };
        let note = match item.note {
            Note::Frame if to.bits() == 64 => Note::Frame,
            _ => Note::None,
        };
        self.push_item(Item {
            kind: to.kind(),
            value,
            class: None,
            note,
        });
        Ok(())
    }

    /// An I32 cut to the conversion's width and extended again.
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

    fn as_f64(&mut self, item: &Item) -> Value {
        if item.kind == Kind::F32 {
            self.e.b.ins().fpromote(F64, item.value)
        } else {
            item.value
        }
    }

    /// cvttsd2si of 64 bits.
    fn truncate64(&mut self, x: Value) -> Value {
        let saturated = self.e.b.ins().fcvt_to_sint_sat(I64, x);
        let limit = self.e.b.ins().f64const(9223372036854775808.0);
        let in_range = self.e.b.ins().fcmp(FloatCC::LessThan, x, limit);
        let min = self.i64(i64::MIN);
        self.e.b.ins().select(in_range, saturated, min)
    }

    /// cvttsd2si of 32 bits.
    fn truncate32(&mut self, x: Value) -> Value {
        let saturated = self.e.b.ins().fcvt_to_sint_sat(I32, x);
        let limit = self.e.b.ins().f64const(2147483648.0);
        let in_range = self.e.b.ins().fcmp(FloatCC::LessThan, x, limit);
        let min = self.i32(i32::MIN);
        self.e.b.ins().select(in_range, saturated, min)
    }

    fn float_to_int(&mut self, item: &Item, to: To) -> Value {
        let x = self.as_f64(item);
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

    /// conv.r4 and conv.r8.
    pub fn convert_float(&mut self, double: bool) -> Res {
        let item = self.pop()?;
        let ty = if double { F64 } else { F32 };
        let value = match item.kind {
            Kind::F32 if double => self.e.b.ins().fpromote(F64, item.value),
            Kind::F64 if !double => self.e.b.ins().fdemote(F32, item.value),
            Kind::F32 | Kind::F64 => item.value,
            Kind::I32 | Kind::I64 | Kind::Native => self.e.b.ins().fcvt_from_sint(ty, item.value),
            _ => return Err(Fail::invalid("a conversion of a reference to a float")),
        };
        self.push(if double { Kind::F64 } else { Kind::F32 }, value);
        Ok(())
    }

    /// conv.r.un
    pub fn convert_unsigned_to_float(&mut self) -> Res {
        let item = self.pop()?;
        let value = match item.kind {
            Kind::I32 | Kind::I64 | Kind::Native => self.e.b.ins().fcvt_from_uint(F64, item.value),
            Kind::F64 => item.value,
            Kind::F32 => self.e.b.ins().fpromote(F64, item.value),
            _ => return Err(Fail::invalid("a conversion of a reference to a float")),
        };
        self.push(Kind::F64, value);
        Ok(())
    }

    /// conv.ovf.<to> and conv.ovf.<to>.un
    pub fn convert_checked(&mut self, to: To, unsigned: bool) -> Res {
        let item = self.pop()?;
        let value = match item.kind {
            Kind::Struct => return Err(Fail::invalid("a conversion of a value type")),
            Kind::F32 | Kind::F64 => self.checked_from_float(&item, to),
            Kind::I32 => self.checked_from_i32(item.value, to, unsigned),
            _ => self.checked_from_i64(item.value, to, unsigned),
        };
        self.push(to.kind(), value);
        Ok(())
    }

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

    /// The truncated value must fit: (low, high) are exclusive bounds of the float.
    fn checked_from_float(&mut self, item: &Item, to: To) -> Value {
        let x = self.as_f64(item);
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
        let above = self.e.b.ins().fcmp(
            if inclusive {
                FloatCC::GreaterThanOrEqual
            } else {
                FloatCC::GreaterThan
            },
            x,
            low,
        );
        let below = self.e.b.ins().fcmp(FloatCC::LessThan, x, high);
        let fits = self.e.b.ins().band(above, below);
        self.e.throw_unless(fits, ThrowKind::Overflow);
        match to.bits() {
            64 if to.signed() => self.e.b.ins().fcvt_to_sint_sat(I64, x),
            64 => self.e.b.ins().fcvt_to_uint_sat(I64, x),
            _ => {
                let wide = self.e.b.ins().fcvt_to_sint_sat(I64, x);
                self.e.b.ins().ireduce(I32, wide)
            }
        }
    }

    /// ckfinite
    pub fn check_finite(&mut self) -> Res {
        let item = self.pop()?;
        if !item.kind.is_float() {
            return Err(Fail::invalid("ckfinite of something else than a float"));
        }
        // x - x is NaN for NaN and the infinities. The exception is the one mono and CoreCLR throw; ECMA-335 III.3.19 names
        // its base class.
        let zero = self.e.b.ins().fsub(item.value, item.value);
        let bad = self.e.b.ins().fcmp(FloatCC::Unordered, zero, zero);
        self.e.throw_if(bad, ThrowKind::Overflow);
        self.push_item(item);
        Ok(())
    }
}
