//! What the vectors of Mono.Simd can do besides: moves of lanes, saturation, shifts and conversions.
//!
//! # How it works
//! Most are one instruction of CLIF. What moves lanes is a shuffle of the bytes of two vectors:
//!
//! ```text
//! UnpackLow(a, b)         a0 b0 a1 b1 ...                the lower halves in turn
//! Shuffle(a, selector)    two bits of the selector for each lane of the result; Shuffle(a, b, s): the upper half is b's
//! HorizontalAdd(a, b)     fadd (the even lanes of both), (the odd lanes of both)
//! AddSub(a, b)            the even lanes of fsub a, b, and the odd lanes of fadd a, b
//! ```
//!
//! # Invariants
//! * The results are those that mono gives with its own instructions, which are on if nobody turns them off.
//! * Selectors and shifts that are no constants are left to the bodies, which count the bits of a shift modulo 32: the instructions take constants.
use super::lanes::{Lanes, lanes_of};
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::StackType;
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Value, types::*};
use vervet_types::MethodRef;

/// An operation. See the module.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum MonoOperation {
    /// `a AndNot b`: the bits of b that a has not.
    AndNot,
    /// A comparison of floats that integers do not have.
    Compare(FloatCC),
    /// The opposite of one.
    CompareNot(FloatCC),
    /// Sums and differences that stop at the ends of the range.
    Saturate { subtract: bool },
    /// Rounded up.
    Average,
    /// The lower halves in turn, or the upper ones.
    Unpack { high: bool },
    /// Lanes of half the size, cut with saturation.
    Pack { signed: bool },
    /// Lanes by a selector.
    Shuffle,
    /// The lower four words by a selector, or the upper ones.
    ShuffleWords { high: bool },
    /// Sums of neighbours, or differences.
    Horizontal { subtract: bool },
    /// Differences and sums in turn.
    AddSub,
    /// Every lane twice: from the even ones, or from the odd ones.
    Duplicate { odd: bool },
    /// By a constant.
    Shift(Shift),
    /// To float, from integers or doubles.
    ToFloat,
    /// To double, from the lower floats or integers.
    ToDouble,
    /// The highest bits of all bytes.
    ByteMask,
}

/// A shift.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shift {
    Left,
    /// As the lanes have a sign or not.
    Right,
    Logical,
    Arithmetic,
}

/// The operation that a method of `VectorOperations`, or a shift, is.
pub(super) fn mono_operation_of(name: &str) -> Option<MonoOperation> {
    use MonoOperation::*;
    Some(match name {
        "AndNot" => AndNot,
        "CompareUnordered" => Compare(FloatCC::Unordered),
        "CompareOrdered" => Compare(FloatCC::Ordered),
        "CompareNotEqual" => CompareNot(FloatCC::Equal),
        "CompareNotLessThan" => CompareNot(FloatCC::LessThan),
        "CompareNotLessEqual" => CompareNot(FloatCC::LessThanOrEqual),
        "AddWithSaturation" => Saturate { subtract: false },
        "SubtractWithSaturation" => Saturate { subtract: true },
        "Average" => Average,
        "UnpackLow" | "InterleaveLow" => Unpack { high: false },
        "UnpackHigh" | "InterleaveHigh" => Unpack { high: true },
        "PackWithSignedSaturation" | "SignedPackWithSignedSaturation" => Pack { signed: true },
        "PackWithUnsignedSaturation" | "SignedPackWithUnsignedSaturation" => Pack { signed: false },
        "Shuffle" => Shuffle,
        "ShuffleLow" => ShuffleWords { high: false },
        "ShuffleHigh" => ShuffleWords { high: true },
        "HorizontalAdd" => Horizontal { subtract: false },
        "HorizontalSub" => Horizontal { subtract: true },
        "AddSub" => AddSub,
        "Duplicate" | "DuplicateLow" => Duplicate { odd: false },
        "DuplicateHigh" => Duplicate { odd: true },
        "op_LeftShift" => Shift(self::Shift::Left),
        "op_RightShift" => Shift(self::Shift::Right),
        "LogicalRightShift" => Shift(self::Shift::Logical),
        "ArithmeticRightShift" => Shift(self::Shift::Arithmetic),
        "ConvertToFloat" => ToFloat,
        "ConvertToDouble" => ToDouble,
        "ExtractByteMask" => ByteMask,
        _ => return None,
    })
}

impl Translator<'_, '_> {
    /// Emits an operation. False: the call must be made.
    pub(super) fn mono_operation(
        &mut self,
        which: MonoOperation,
        method: MethodRef,
        lanes: Lanes,
    ) -> Res<bool> {
        let sig = method.sig()?;
        let vectors = sig.params.iter().take_while(|p| lanes_of(p).is_some());
        let (vectors, params) = (vectors.count(), sig.params.len());
        // Behind the vectors there may be a constant.
        let constant = match (params - vectors, self.body.stack.last()) {
            (0, _) => None,
            (1, Some(top)) if top.stack_type == StackType::I32 => match self.constant(top.value) {
                Some(constant) => Some(constant as u32),
                None => return Ok(false),
            },
            _ => return Ok(false),
        };
        if !is_known(which, vectors, constant, lanes) {
            return Ok(false);
        }
        if constant.is_some() {
            self.pop()?;
        }
        let b = match vectors {
            2 => Some(self.pop_vector(sig.params[1], lanes.ty)?),
            _ => None,
        };
        let a = self.pop_vector(sig.params[0], lanes.ty)?;
        if which == MonoOperation::ByteMask {
            let mask = self.e.b.ins().vhigh_bits(I32, a);
            self.push(StackType::I32, mask);
            return Ok(true);
        }
        let value = match (b, constant) {
            (Some(b), Some(selector)) => self.shuffle_two(a, b, selector, lanes),
            (Some(b), None) => self.mono_of_two(which, a, b, lanes),
            (None, _) => self.mono_of_one(which, a, constant.unwrap_or(0), lanes),
        };
        self.push_vector(sig.ret, value)?;
        Ok(true)
    }
    /// Operations on one vector, and perhaps a constant.
    ///
    /// ```text
    /// Shuffle         lane n of the result is lane (selector >> 2n & 3)
    /// ShuffleLow      the same for words 0 to 3; ShuffleHigh for words 4 to 7
    /// Duplicate       <x, x>;  DuplicateLow <x, x, z, z>;  DuplicateHigh <y, y, w, w>
    /// ToFloat         of two doubles: the upper two floats are zero
    /// ToDouble        of the lower two lanes
    /// ```
    fn mono_of_one(&mut self, which: MonoOperation, a: Value, n: u32, lanes: Lanes) -> Value {
        use MonoOperation::*;
        let size = lanes.size() as u8;
        match which {
            Shuffle => self.moved(a, a, |byte| selected(n, byte, 4)),
            ShuffleWords { high } => self.moved(a, a, |byte| match (byte >= 8, high) {
                (true, true) => 8 + selected(n, byte - 8, 2),
                (false, false) => selected(n, byte, 2),
                _ => byte,
            }),
            Duplicate { odd } => self.moved(a, a, |byte| {
                byte / (2 * size) * (2 * size) + size * odd as u8 + byte % size
            }),
            Shift(how) => self.shift_lanes(how, a, n, lanes),
            ToFloat if lanes.ty == F64X2 => self.e.b.ins().fvdemote(a),
            ToFloat => self.e.b.ins().fcvt_from_sint(F32X4, a),
            ToDouble if lanes.ty == F32X4 => self.e.b.ins().fvpromote_low(a),
            _ => {
                let low = self.e.b.ins().swiden_low(a);
                self.e.b.ins().fcvt_from_sint(F64X2, low)
            }
        }
    }
    /// Shifts. By more bits than a lane has nothing is left but the sign, as the processor's instructions have it.
    fn shift_lanes(&mut self, how: Shift, a: Value, n: u32, lanes: Lanes) -> Value {
        let most = 8 * lanes.size() - 1;
        let by = self.i32(n.min(most) as i32);
        if is_arithmetic(how, lanes) {
            return self.e.b.ins().sshr(a, by);
        }
        if n > most {
            return self.zero_vector(lanes.ty);
        }
        match how {
            Shift::Left => self.e.b.ins().ishl(a, by),
            _ => self.e.b.ins().ushr(a, by),
        }
    }
    /// Operations on two vectors.
    ///
    /// ```text
    /// AndNot          ~a & b
    /// Unpack          low: <a0, b0, a1, b1 ...>;  high: the same of the upper halves
    /// Pack            the lanes of a and behind them those of b, each cut to half its size
    /// Horizontal      <a0 + a1, a2 + a3, b0 + b1, b2 + b3>
    /// AddSub          <a0 - b0, a1 + b1, a2 - b2, a3 + b3>
    /// ```
    fn mono_of_two(&mut self, which: MonoOperation, a: Value, b: Value, lanes: Lanes) -> Value {
        use MonoOperation::*;
        let size = lanes.size() as u8;
        match which {
            AndNot => {
                let (a, b) = (self.as_type(a, lanes.bits()), self.as_type(b, lanes.bits()));
                self.e.b.ins().band_not(b, a)
            }
            Compare(condition) => self.e.b.ins().fcmp(condition, a, b),
            CompareNot(condition) => {
                let mask = self.e.b.ins().fcmp(condition, a, b);
                self.e.b.ins().bnot(mask)
            }
            Saturate { subtract } => match (subtract, lanes.signed) {
                (false, true) => self.e.b.ins().sadd_sat(a, b),
                (false, false) => self.e.b.ins().uadd_sat(a, b),
                (true, true) => self.e.b.ins().ssub_sat(a, b),
                (true, false) => self.e.b.ins().usub_sat(a, b),
            },
            Average => self.e.b.ins().avg_round(a, b),
            Unpack { high } => self.moved(a, b, |byte| {
                let lane = byte / size;
                lane / 2 * size + 8 * high as u8 + 16 * (lane % 2) + byte % size
            }),
            Pack { signed: true } => self.e.b.ins().snarrow(a, b),
            Pack { signed: false } => self.e.b.ins().unarrow(a, b),
            Horizontal { subtract } => {
                let [even, odd] = [0, size].map(|first| {
                    self.moved(a, b, |byte| byte / size * (2 * size) + first + byte % size)
                });
                let (even, odd) = (self.as_type(even, lanes.ty), self.as_type(odd, lanes.ty));
                match subtract {
                    true => self.e.b.ins().fsub(even, odd),
                    false => self.e.b.ins().fadd(even, odd),
                }
            }
            _ => {
                let (even, odd) = (self.e.b.ins().fsub(a, b), self.e.b.ins().fadd(a, b));
                self.moved(even, odd, |byte| byte + 16 * (byte / size % 2))
            }
        }
    }
    /// `Shuffle` of two vectors: the lower half of the result is chosen from a, the upper half from b.
    ///
    /// ```text
    /// four lanes      <a[s & 3], a[s >> 2 & 3], b[s >> 4 & 3], b[s >> 6 & 3]>
    /// two lanes       <a[s & 1], b[s >> 1 & 1]>
    /// ```
    fn shuffle_two(&mut self, a: Value, b: Value, selector: u32, lanes: Lanes) -> Value {
        match lanes.size() {
            4 => self.moved(a, b, |byte| {
                selected(selector, byte, 4) + 16 * (byte >= 8) as u8
            }),
            _ => self.moved(a, b, |byte| {
                let upper = byte / 8;
                (selector >> upper & 1) as u8 * 8 + 16 * upper + byte % 8
            }),
        }
    }
    /// Bytes of two vectors of any lanes.
    fn moved(&mut self, a: Value, b: Value, from: impl Fn(u8) -> u8) -> Value {
        let (a, b) = (self.as_type(a, I8X16), self.as_type(b, I8X16));
        self.shuffled(a, b, from)
    }
}

/// The byte of a vector that a selector puts at a byte, for lanes of so many bytes: two bits for each of four lanes.
fn selected(selector: u32, byte: u8, size: u8) -> u8 {
    (selector >> (2 * (byte / size)) & 3) as u8 * size + byte % size
}

/// Does the shift keep the sign?
fn is_arithmetic(how: Shift, lanes: Lanes) -> bool {
    how == Shift::Arithmetic || how == Shift::Right && lanes.signed
}

/// Are there instructions for so many vectors, that constant behind them, and these lanes?
fn is_known(which: MonoOperation, vectors: usize, constant: Option<u32>, lanes: Lanes) -> bool {
    use MonoOperation::*;
    let size = lanes.size();
    match (which, vectors, constant) {
        (Shuffle, 1, Some(_)) => size == 4,
        (Shuffle, 2, Some(_)) => size >= 4,
        (ShuffleWords { .. }, 1, Some(_)) => size == 2,
        // The processor has no arithmetic shift of 64 bits, and none of bytes.
        (Shift(how), 1, Some(_)) => size > 1 && !(is_arithmetic(how, lanes) && size == 8),
        (ToFloat, 1, None) => lanes.ty == F64X2 || (lanes.ty, lanes.signed) == (I32X4, true),
        (ToDouble, 1, None) => lanes.ty == F32X4 || (lanes.ty, lanes.signed) == (I32X4, true),
        (ByteMask, 1, None) => size == 1,
        (Duplicate { .. }, 1, None) => lanes.is_float(),
        (AndNot | Unpack { .. }, 2, None) => true,
        (Compare(_) | CompareNot(_) | Horizontal { .. } | AddSub, 2, None) => lanes.is_float(),
        (Saturate { .. }, 2, None) => size <= 2,
        (Average, 2, None) => size <= 2 && !lanes.signed,
        (Pack { .. }, 2, None) => matches!(lanes.ty, I16X8 | I32X4),
        _ => false,
    }
}
