//! Vectors whose lanes change: `Widen`, `Narrow`, and floats of integers.
//!
//! # How it works
//! ```text
//! Widen(v, out low, out high)     low = uwiden_low v;  high = uwiden_high v          swiden for signed lanes
//!                                 of floats: fvpromote_low v, and of v with its halves exchanged
//! Narrow(low, high)               the lower halves of all lanes: one shuffle of both
//!                                 of doubles: fvdemote low, and the same of high behind it
//! ConvertToSingle(ints)           fcvt_from_sint
//! ```
//!
//! # Invariants
//! Lanes are cut as the casts of the bodies cut them, without saturation.
use super::lanes::lanes_of;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use cranelift_codegen::ir::{InstBuilder, Value, types::*};
use vervet_types::MethodRef;

impl Translator<'_, '_> {
    /// `Widen`. Signed bytes, of which four are shown:
    ///
    /// ```text
    ///     v1 = load.i8x16 value                   <1, -2, 3, -4, ...>
    ///     store (swiden_low v1), low              words <1, -2, ...>
    ///     store (swiden_high v1), high
    /// ```
    ///
    /// Both halves are computed before one is stored, because `low` or `high` may be where the value came from.
    pub(super) fn widen(&mut self, method: MethodRef) -> Res<bool> {
        let [from, low, high] = method.sig()?.params[..] else {
            return Ok(false);
        };
        let pointee = |class: vervet_types::ClassRef| class.element().and_then(lanes_of);
        let (Some(lanes), Some(_), Some(_)) = (lanes_of(from), pointee(low), pointee(high)) else {
            return Ok(false);
        };
        self.spill_aliased(3)?;
        let to_high = self.pop_address()?;
        let to_low = self.pop_address()?;
        let value = self.pop_vector(from, lanes.ty)?;
        let ins = |t: &mut Self, is_high: bool| match (lanes.ty, is_high, lanes.signed) {
            (F32X4, false, _) => t.e.b.ins().fvpromote_low(value),
            (F32X4, true, _) => {
                let bytes = t.as_type(value, I8X16);
                let moved = t.shuffled(bytes, bytes, |n| (n + 8) & 15);
                let moved = t.as_type(moved, F32X4);
                t.e.b.ins().fvpromote_low(moved)
            }
            (_, false, true) => t.e.b.ins().swiden_low(value),
            (_, true, true) => t.e.b.ins().swiden_high(value),
            (_, false, false) => t.e.b.ins().uwiden_low(value),
            (_, true, false) => t.e.b.ins().uwiden_high(value),
        };
        // The body stores the lower half first.
        let (lower, higher) = (ins(self, false), ins(self, true));
        let flags = self.null_checked(&to_low, 0, 16);
        self.e.b.ins().store(flags, lower, to_low.value, 0);
        let flags = self.null_checked(&to_high, 0, 16);
        self.e.b.ins().store(flags, higher, to_high.value, 0);
        Ok(true)
    }
    /// `Narrow`. Words to bytes, the low byte of each:
    ///
    /// ```text
    ///     v1 = load.i8x16 low;  v2 = load.i8x16 high
    ///     v3 = shuffle v1, v2, [0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30]
    /// ```
    pub(super) fn narrow_vectors(&mut self, method: MethodRef) -> Res<bool> {
        let sig = method.sig()?;
        let [low, high] = sig.params[..] else {
            return Ok(false);
        };
        let (Some(lanes), Some(_)) = (lanes_of(low), lanes_of(sig.ret)) else {
            return Ok(false);
        };
        let value = match lanes.is_float() {
            true => {
                let b = self.pop_vector(high, F64X2)?;
                let a = self.pop_vector(low, F64X2)?;
                let (a, b) = (self.e.b.ins().fvdemote(a), self.e.b.ins().fvdemote(b));
                let (a, b) = (self.as_type(a, I8X16), self.as_type(b, I8X16));
                self.shuffled(a, b, |n| n + if n < 8 { 0 } else { 8 })
            }
            false => {
                let b = self.pop_vector(high, I8X16)?;
                let a = self.pop_vector(low, I8X16)?;
                let half = lanes.size() as u8 / 2;
                self.shuffled(a, b, |n| n / half * half * 2 + n % half)
            }
        };
        self.push_vector(sig.ret, value)?;
        Ok(true)
    }
    /// `ConvertToSingle` of ints: one rounding, as in the body's cast.
    ///
    /// ```text
    ///     v2 = fcvt_from_sint.f32x4 v1
    /// ```
    ///
    /// Not `ConvertToDouble`, for which the processor has no instruction below AVX-512. Not of lanes without a sign: the bodies' casts of those go through other types.
    pub(super) fn floats_of(&mut self, method: MethodRef) -> Res<bool> {
        let sig = method.sig()?;
        let [from] = sig.params[..] else {
            return Ok(false);
        };
        let (Some(lanes), Some(to)) = (lanes_of(from), lanes_of(sig.ret)) else {
            return Ok(false);
        };
        if (lanes.ty, lanes.signed) != (I32X4, true) || to.ty != F32X4 {
            return Ok(false);
        }
        let value = self.pop_vector(from, I32X4)?;
        let value = self.e.b.ins().fcvt_from_sint(F32X4, value);
        self.push_vector(sig.ret, value)?;
        Ok(true)
    }
    /// Bytes of two vectors: byte n of the result is byte `from(n)` of both.
    pub(super) fn shuffled(&mut self, a: Value, b: Value, from: impl Fn(u8) -> u8) -> Value {
        let mask: Vec<u8> = (0..16).map(from).collect();
        let mask = self.e.b.func.dfg.immediates.push(mask[..].into());
        self.e.b.ins().shuffle(a, b, mask)
    }
}
