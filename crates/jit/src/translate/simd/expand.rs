//! The instructions of operations on vectors.
//!
//! # How it works
//! A vector on the IL stack is the address of memory of this frame, like every struct. An operation
//! loads its vectors and stores its result in a temporary; scalar replacement (`optimise::slots`)
//! makes one value of 16 bytes of each such place, so that nothing of this is left but the
//! instruction:
//!
//! ```text
//! a + b * c              v0 = load.f32x4 b;  v1 = load.f32x4 c;  store (fmul v0, v1), t0
//!                        v2 = load.f32x4 a;  v3 = load.f32x4 t0; store (fadd v2, v3), t1
//! ```
//!
//! # Invariants
//! * Results have the bits that the bodies of the class library compute lane by lane: an operation
//!   that does not is left to the body.
//! * Where a body throws, because of an index, a null reference or a lane without an absolute value,
//!   a cold path calls the body.
use super::Operation;
use super::lanes::{Lanes, has_simd, lanes_of};
use super::operation::{Binary, Constant};
use crate::blob::Symbol;
use crate::emit::trusted;
use crate::optimise::Rarely;
use crate::signature::{LoweredSignature, Pass};
use crate::stubs::cold_call;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackType, stack_type_of};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{
    Block, BlockArg, Endianness, InstBuilder, MemFlagsData, Type, Value, types::*,
};
use vervet_types::{ClassRef, MethodRef};

/// An argument of a body that a cold path calls.
#[derive(Clone, Copy)]
pub(super) enum Argument {
    /// A vector; as the first argument of an instance method it is `this`.
    Vector(Value),
    /// A value that travels in a register.
    Scalar(Value),
}

impl Translator<'_, '_> {
    /// Emits an operation whose arguments are on the stack. False: the call must be made.
    pub(crate) fn vector_operation(
        &mut self,
        operation: Operation,
        method: MethodRef,
    ) -> Res<bool> {
        match operation {
            Operation::IsAccelerated => return self.is_accelerated(),
            Operation::Widen => return self.widen(method),
            Operation::Narrow => return self.narrow_vectors(method),
            Operation::ToFloat => return self.floats_of(method),
            _ => {}
        }
        let sig = method.sig()?;
        // Functions on vectors are members of another class.
        let class = match (lanes_of(method.class), &sig.params[..]) {
            (None, [first, ..]) => *first,
            _ => method.class,
        };
        let Some(lanes) = lanes_of(class) else {
            return Ok(false);
        };
        match operation {
            Operation::Mono(which) => return self.mono_operation(which, method, lanes),
            Operation::Make => return self.make_vector(method, lanes),
            Operation::CopyTo => return self.copy_vector(method, lanes),
            Operation::Item => return self.vector_item(method, lanes),
            Operation::Reinterpret => return self.reinterpret(method),
            Operation::Count => {
                let count = self.i32(lanes.count() as i32);
                self.push(StackType::I32, count);
                return Ok(true);
            }
            Operation::Constant(which) => {
                let value = self.constant_vector(which, lanes);
                self.push_vector(class, value)?;
                return Ok(true);
            }
            Operation::AreEqual(wanted) => return self.are_equal(method, lanes, wanted),
            Operation::Dot => return self.dot(method, lanes),
            Operation::Abs => return self.abs(method, lanes),
            Operation::Binary(which) => return self.combine(which, method, lanes),
            Operation::SquareRoot if !lanes.is_float() => return Ok(false),
            _ => {}
        }
        let value = match operation {
            Operation::Negate => {
                // The body subtracts from zero, so that the negative of 0.0 is 0.0.
                let x = self.pop_vector(class, lanes.ty)?;
                let zero = self.constant_vector(Constant::Zero, lanes);
                match lanes.is_float() {
                    true => self.e.b.ins().fsub(zero, x),
                    false => self.e.b.ins().isub(zero, x),
                }
            }
            Operation::Not => {
                let x = self.pop_vector(class, lanes.bits())?;
                self.e.b.ins().bnot(x)
            }
            Operation::Compare(condition) => {
                let b = self.pop_vector(class, lanes.ty)?;
                let a = self.pop_vector(class, lanes.ty)?;
                self.compare_lanes(condition, a, b, lanes)
            }
            Operation::Select => {
                let b = self.pop_vector(class, lanes.ty)?;
                let a = self.pop_vector(class, lanes.ty)?;
                let condition = self.pop_vector(class, lanes.ty)?;
                self.e.b.ins().bitselect(condition, a, b)
            }
            Operation::Extreme { is_max } => {
                let b = self.pop_vector(class, lanes.ty)?;
                let a = self.pop_vector(class, lanes.ty)?;
                self.extreme_lanes(is_max, a, b, lanes)
            }
            Operation::SquareRoot => {
                let x = self.pop_vector(class, lanes.ty)?;
                self.e.b.ins().sqrt(x)
            }
            _ => return Ok(false),
        };
        self.push_vector(class, value)?;
        Ok(true)
    }

    /// `Vector.IsHardwareAccelerated`. The class library asks where it chooses between two bodies,
    /// and the one for processors without vectors is quicker.
    fn is_accelerated(&mut self) -> Res<bool> {
        let asks_itself = self.body.method.class.module.is_corlib();
        if asks_itself || !has_simd() {
            return Ok(false);
        }
        let value = self.i32(1);
        self.push(StackType::I32, value);
        Ok(true)
    }

    /// The operators. `a + b` of floats and `a & b` of any lanes:
    ///
    /// ```text
    ///     v1 = load.f32x4 a;  v2 = load.f32x4 b;  v3 = fadd v1, v2
    ///     v1 = load.i32x4 a;  v2 = load.i32x4 b;  v3 = band v1, v2
    /// ```
    fn combine(&mut self, which: Binary, method: MethodRef, lanes: Lanes) -> Res<bool> {
        let class = method.class;
        let [left, right] = &method.sig()?.params[..] else {
            return Ok(false);
        };
        let is_bitwise = matches!(which, Binary::And | Binary::Or | Binary::Xor);
        // The bodies of integer divisions throw.
        if which == Binary::Divide && !lanes.is_float() {
            return Ok(false);
        }
        let ty = match is_bitwise {
            true => lanes.bits(),
            false => lanes.ty,
        };
        let b = self.pop_operand(right, class, ty)?;
        let a = self.pop_operand(left, class, ty)?;
        let value = match which {
            Binary::And => self.e.b.ins().band(a, b),
            Binary::Or => self.e.b.ins().bor(a, b),
            Binary::Xor => self.e.b.ins().bxor(a, b),
            Binary::Divide => self.e.b.ins().fdiv(a, b),
            Binary::Add if lanes.is_float() => self.e.b.ins().fadd(a, b),
            Binary::Add => self.e.b.ins().iadd(a, b),
            Binary::Subtract if lanes.is_float() => self.e.b.ins().fsub(a, b),
            Binary::Subtract => self.e.b.ins().isub(a, b),
            Binary::Multiply => self.multiply(a, b, lanes),
        };
        self.push_vector(class, value)?;
        Ok(true)
    }
    /// Pops a vector, or an element that stands for a vector of it.
    fn pop_operand(&mut self, param: ClassRef, class: ClassRef, ty: Type) -> Res<Value> {
        if std::ptr::eq(param, class) {
            return self.pop_vector(class, ty);
        }
        let lane = self.pop_lane(param, ty.lane_type())?;
        Ok(self.e.b.ins().splat(ty, lane))
    }
    /// Products. The processor has none of bytes: those of the even and of the odd bytes are computed
    /// as words.
    ///
    /// ```text
    ///     v1 = imul.i16x8 a, b                    its low bytes are those of the even products
    ///     v2 = imul.i16x8 (ushr a, 8), (ushr b, 8)
    ///     v3 = bor (band v1, 0x00ff), (ishl v2, 8)
    /// ```
    fn multiply(&mut self, a: Value, b: Value, lanes: Lanes) -> Value {
        if lanes.is_float() {
            return self.e.b.ins().fmul(a, b);
        }
        if lanes.ty != I8X16 {
            return self.e.b.ins().imul(a, b);
        }
        let (a, b) = (self.as_type(a, I16X8), self.as_type(b, I16X8));
        let even = self.e.b.ins().imul(a, b);
        let high_a = self.e.b.ins().ushr_imm_u(a, 8);
        let high_b = self.e.b.ins().ushr_imm_u(b, 8);
        let odd = self.e.b.ins().imul(high_a, high_b);
        let odd = self.e.b.ins().ishl_imm_u(odd, 8);
        let mask = self.e.b.ins().iconst(I16, 0xff);
        let mask = self.e.b.ins().splat(I16X8, mask);
        let even = self.e.b.ins().band(even, mask);
        let both = self.e.b.ins().bor(even, odd);
        self.as_type(both, I8X16)
    }

    /// A mask: all bits of the lanes where the condition holds. The condition of integers that have
    /// no sign is that of signed ones, said in their terms.
    pub(super) fn compare_lanes(
        &mut self,
        condition: IntCC,
        a: Value,
        b: Value,
        lanes: Lanes,
    ) -> Value {
        if lanes.is_float() {
            let condition = match condition {
                IntCC::SignedLessThan => FloatCC::LessThan,
                IntCC::SignedLessThanOrEqual => FloatCC::LessThanOrEqual,
                IntCC::SignedGreaterThan => FloatCC::GreaterThan,
                IntCC::SignedGreaterThanOrEqual => FloatCC::GreaterThanOrEqual,
                _ => FloatCC::Equal,
            };
            return self.e.b.ins().fcmp(condition, a, b);
        }
        if lanes.signed || condition == IntCC::Equal {
            return self.e.b.ins().icmp(condition, a, b);
        }
        if lanes.ty != I64X2 {
            return self.e.b.ins().icmp(condition.unsigned(), a, b);
        }
        // The processor compares signed words of 64 bits only.
        let sign = self.i64(i64::MIN);
        let sign = self.e.b.ins().splat(I64X2, sign);
        let (a, b) = (self.e.b.ins().bxor(a, sign), self.e.b.ins().bxor(b, sign));
        self.e.b.ins().icmp(condition, a, b)
    }
    /// `a < b ? a : b`, or `a > b ? a : b`, lane by lane: the second if they are not ordered.
    ///
    /// ```text
    ///     v3 = smin a, b                          integers of up to 32 bits
    ///     v3 = bitselect (fcmp lt a, b), a, b     floats: one instruction of the processor
    /// ```
    fn extreme_lanes(&mut self, is_max: bool, a: Value, b: Value, lanes: Lanes) -> Value {
        if lanes.is_float() || lanes.ty == I64X2 {
            // Written in the one form that Cranelift knows as the processor's minimum and maximum.
            let (x, y) = if is_max { (b, a) } else { (a, b) };
            let mask = self.compare_lanes(IntCC::SignedLessThan, x, y, lanes);
            let mask = self.as_type(mask, lanes.ty);
            return self.e.b.ins().bitselect(mask, a, b);
        }
        match (is_max, lanes.signed) {
            (true, true) => self.e.b.ins().smax(a, b),
            (true, false) => self.e.b.ins().umax(a, b),
            (false, true) => self.e.b.ins().smin(a, b),
            (false, false) => self.e.b.ins().umin(a, b),
        }
    }

    /// `==`, `!=` and `Equals`: all lanes are equal. A NaN is equal to nothing, 0.0 to -0.0.
    ///
    /// ```text
    ///     v3 = fcmp eq v1, v2;  v4 = vall_true v3
    /// ```
    fn are_equal(&mut self, method: MethodRef, lanes: Lanes, wanted: bool) -> Res<bool> {
        let class = method.class;
        let params = &method.sig()?.params;
        // `Equals(object)` has the same name.
        if !params.iter().all(|p| std::ptr::eq(*p, class)) {
            return Ok(false);
        }
        let b = self.pop_vector(class, lanes.ty)?;
        let a = match method.has_this() {
            true => self.pop_this_simd(lanes.ty)?,
            false => self.pop_vector(class, lanes.ty)?,
        };
        let equal = self.compare_lanes(IntCC::Equal, a, b, lanes);
        let mut all = self.e.b.ins().vall_true(equal);
        if !wanted {
            all = self.e.b.ins().bxor_imm_u(all, 1);
        }
        let value = self.e.b.ins().uextend(I32, all);
        self.push(StackType::I32, value);
        Ok(true)
    }

    /// `DotProduct`.
    ///
    /// ```text
    ///     floats      ((0 + p0) + p1) + p2 ...
    ///     integers    s = p + (p rotated by 8 bytes);  s = s + (s rotated by 4) ...;  extractlane s, 0
    /// ```
    ///
    /// Products of floats are added from the first to the last, to zero, as the body adds them.
    fn dot(&mut self, method: MethodRef, lanes: Lanes) -> Res<bool> {
        let class = method.class;
        let b = self.pop_vector(class, lanes.ty)?;
        let a = self.pop_vector(class, lanes.ty)?;
        let products = self.multiply(a, b, lanes);
        let sum = match lanes.ty {
            F32X4 | F64X2 => {
                let mut sum = match lanes.ty {
                    F32X4 => self.e.b.ins().f32const(0.0),
                    _ => self.e.b.ins().f64const(0.0),
                };
                for n in 0..lanes.count() {
                    let lane = self.e.b.ins().extractlane(products, n as u8);
                    sum = self.e.b.ins().fadd(sum, lane);
                }
                sum
            }
            ty => {
                // Halves upon halves: sums of integers do not depend on the order.
                let mut sums = products;
                let mut distance = 8;
                while distance >= lanes.size() as u8 {
                    let bytes = self.as_type(sums, I8X16);
                    let moved = self.shuffled(bytes, bytes, |n| (n + distance) & 15);
                    let moved = self.as_type(moved, ty);
                    sums = self.e.b.ins().iadd(sums, moved);
                    distance /= 2;
                }
                self.e.b.ins().extractlane(sums, 0)
            }
        };
        self.push_lane(method.sig()?.ret, sum, lanes)?;
        Ok(true)
    }

    /// `Abs`.
    ///
    /// ```text
    ///     v2 = iabs v1                            the smallest integer stays as it is
    ///     brif (any lane of v2 < 0), slow, join
    /// ```
    ///
    /// The body throws for a signed integer that has no absolute value.
    fn abs(&mut self, method: MethodRef, lanes: Lanes) -> Res<bool> {
        let class = method.class;
        let x = self.pop_vector(class, lanes.ty)?;
        let value = if lanes.is_float() {
            self.e.b.ins().fabs(x)
        } else if !lanes.signed {
            x
        } else {
            let value = self.e.b.ins().iabs(x);
            let zero = self.constant_vector(Constant::Zero, lanes);
            let wrong = (self.e.b.ins()).icmp(IntCC::SignedLessThan, value, zero);
            let wrong = self.e.b.ins().vany_true(wrong);
            let good = self.e.b.ins().icmp_imm_u(IntCC::Equal, wrong, 0);
            let args = [Argument::Vector(x)];
            match self.or_body(|_, _| good, method, &args, |_| Some(value))? {
                Some(value) => value,
                None => return Ok(false),
            }
        };
        self.push_vector(class, value)?;
        Ok(true)
    }

    /// The explicit operators.
    fn reinterpret(&mut self, method: MethodRef) -> Res<bool> {
        let sig = method.sig()?;
        let [from] = sig.params[..] else {
            return Ok(false);
        };
        if lanes_of(from).is_none() || lanes_of(sig.ret).is_none() {
            return Ok(false);
        }
        let value = self.pop_vector(from, I8X16)?;
        self.push_vector(sig.ret, value)?;
        Ok(true)
    }

    /// A vector of constants.
    fn constant_vector(&mut self, which: Constant, lanes: Lanes) -> Value {
        let bytes = match which {
            Constant::Zero => return self.zero_vector(lanes.ty),
            Constant::AllBits => 0xff,
            Constant::One => {
                let one = match lanes.ty.lane_type() {
                    F32 => self.e.b.ins().f32const(1.0),
                    F64 => self.e.b.ins().f64const(1.0),
                    lane => self.e.b.ins().iconst(lane, 1),
                };
                return self.e.b.ins().splat(lanes.ty, one);
            }
        };
        let bytes = self.e.b.func.dfg.constants.insert([bytes; 16][..].into());
        self.e.b.ins().vconst(lanes.ty, bytes)
    }
}

impl Translator<'_, '_> {
    /// Pops a vector of a class as lanes of a type.
    pub(super) fn pop_vector(&mut self, class: ClassRef, ty: Type) -> Res<Value> {
        let operand = self.pop()?;
        self.check_struct(&operand, class)?;
        Ok(self.e.b.ins().load(ty, trusted(), operand.value, 0))
    }
    /// Pops the address of a vector, and loads it.
    pub(super) fn pop_this_simd(&mut self, ty: Type) -> Res<Value> {
        let at = self.pop_address()?;
        let flags = self.null_checked(&at, 0, 16);
        Ok(self.e.b.ins().load(ty, flags, at.value, 0))
    }
    /// Pushes a vector.
    pub(super) fn push_vector(&mut self, class: ClassRef, value: Value) -> Res {
        let at = self.temp_of(class)?;
        self.e.b.ins().store(trusted(), value, at, 0);
        self.push_class(class, at)
    }
    /// Pops an element as a lane.
    pub(super) fn pop_lane(&mut self, class: ClassRef, ty: Type) -> Res<Value> {
        let operand = self.pop()?;
        let value = self.coerce(&operand, stack_type_of(class)?)?;
        Ok(match ty {
            I8 | I16 => self.e.b.ins().ireduce(ty, value),
            F32 | F64 | I32 | I64 => value,
            _ => unreachable!("a lane of type {ty}"),
        })
    }
    /// Pushes a lane as an element.
    pub(super) fn push_lane(&mut self, class: ClassRef, lane: Value, lanes: Lanes) -> Res {
        let value = match lanes.ty.lane_type() {
            I8 | I16 if lanes.signed => self.e.b.ins().sextend(I32, lane),
            I8 | I16 => self.e.b.ins().uextend(I32, lane),
            _ => lane,
        };
        self.push_class(class, value)
    }
    /// The bits of a vector as lanes of another type.
    pub(super) fn as_type(&mut self, value: Value, ty: Type) -> Value {
        if self.e.b.func.dfg.value_type(value) == ty {
            return value;
        }
        let flags = MemFlagsData::new().with_endianness(Endianness::Little);
        self.e.b.ins().bitcast(ty, flags, value)
    }

    /// What `fast` gives where the condition that `check` emits holds; else a cold path calls the
    /// body of the method, and what that gives counts: its result, or `this` after a constructor.
    /// None: the operation gives nothing. `check` may also branch to the cold path's block, which it
    /// gets.
    ///
    /// ```text
    ///     brif check, fast, slow
    /// fast:
    ///     jump join(the instructions' result)
    /// slow: (cold)
    ///     jump join(body(arguments))
    /// ```
    pub(super) fn or_body(
        &mut self,
        check: impl FnOnce(&mut Self, Block) -> Value,
        method: MethodRef,
        args: &[Argument],
        fast: impl FnOnce(&mut Self) -> Option<Value>,
    ) -> Res<Option<Value>> {
        let [on, slow, join] = [(); 3].map(|()| self.e.b.create_block());
        self.e.b.set_cold_block(slow);
        let good = check(self, slow);
        self.e.b.ins().brif(good, on, &[], slow, &[]);
        self.e.b.seal_block(on);
        self.e.b.seal_block(slow);
        self.e.b.switch_to_block(on);
        let result = fast(self);
        let ty = result.map(|r| self.e.b.func.dfg.value_type(r));
        let passed = |value: Option<Value>| value.map(BlockArg::Value);
        self.e.b.ins().jump(join, passed(result).as_slice());
        self.e.b.switch_to_block(slow);
        let result = self.call_body(method, args, ty)?;
        self.e.b.ins().jump(join, passed(result).as_slice());
        let result = ty.map(|ty| self.e.b.append_block_param(join, ty));
        self.e.b.seal_block(join);
        self.e.b.switch_to_block(join);
        Ok(result)
    }
    /// Calls the body of a method from a cold path. The vectors that it gets are copies in memory of
    /// their own, so that their slots do not escape.
    fn call_body(
        &mut self,
        method: MethodRef,
        args: &[Argument],
        ty: Option<Type>,
    ) -> Res<Option<Value>> {
        let lowered = LoweredSignature::of_method(method)?;
        let mut values: smallvec::SmallVec<[Value; 6]> = smallvec::SmallVec::new();
        let mut result = None;
        for (n, arg) in args.iter().enumerate() {
            values.push(match *arg {
                Argument::Scalar(value) => value,
                Argument::Vector(value) => {
                    let slot = self.temp(16);
                    let at = self.e.slot_addr(slot);
                    self.e.b.ins().store(trusted(), value, at, 0);
                    if n == 0 && method.has_this() {
                        result = Some(at);
                    }
                    at
                }
            });
        }
        if lowered.ret == Pass::Address {
            let slot = self.temp(16);
            let at = self.e.slot_addr(slot);
            values.insert(lowered.has_this as usize, at);
            result = Some(at);
        }
        let cold = cold_call::result_of(&lowered);
        let target = self.e.load_symbol(I64, Symbol::MethodSlot(method), 0);
        let signature = self.e.b.import_signature(lowered.clif.clone());
        let results = self
            .e
            .call_indirect_rarely(signature, Rarely::Always, cold, target, &values);
        Ok(match (ty, result, results.first()) {
            (None, _, _) => None,
            (Some(_), _, Some(scalar)) => Some(*scalar),
            (Some(ty), Some(at), None) => Some(self.e.b.ins().load(ty, trusted(), at, 0)),
            (Some(_), None, None) => unreachable!("a body that gives nothing"),
        })
    }
}
