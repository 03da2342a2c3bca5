//! Decimal digits of integers, in front of the bodies of `Number` that write and read them: four to
//! eight digits at a time in place of one.
//!
//! | method | answered |
//! |---|---|
//! | `UInt32ToDecStr(uint, int)`, `UInt64ToDecStr(ulong, int)` | values of 4 to 8 digits, of which no least number is asked for |
//! | `TryParseInt32IntegerStyle`, and those of `Int64`, `UInt32` and `UInt64` | texts of 4 to 8 digits and nothing else, where the signs are `+` and `-` |
//!
//! The bodies take the digits one by one, and each waits for the one before: about 5 cycles a digit.
//!
//! # How it works
//! A value is split in halves again and again, and all parts are divided by one multiplication:
//!
//! ```text
//! 12345678                     value
//! 1234|5678                    32 bits each
//! 12|34|56|78                  16 bits each
//! 1|2|3|4|5|6|7|8              8 bits each, the first digit in the lowest
//! ```
//!
//! A text of n digits is read and written as its first and its last four characters. The two words
//! have characters in common if n < 8; digits of the first that the second has too are shifted out.
//!
//! # Invariants
//! * What is answered is what the body would return. A text that has anything but the digits `0` to
//!   `9` is left to the body, and so are cultures with signs of their own, which might be digits.
//! * No character outside of the text is read or written.
use crate::emit::{null_trap, trusted};
use crate::signature::LoweredSignature;
use crate::translate::calls::crypto::offset_of;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::StackType;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, Endianness, InstBuilder, MemFlagsData, Value, types::*};
use vervet_abi::object::{HEADER_SIZE, STRING_CHARS_OFFSET, STRING_LENGTH_OFFSET};
use vervet_types::{ClassRef, Known, MethodRef, Prim};

/// The least and the greatest number of digits.
const LEAST: i64 = 4;
const MOST: i64 = 8;
/// The least value of `LEAST` digits, and the first that has more than `MOST`.
const FROM: i64 = 1_000;
const BEYOND: i64 = 100_000_000;
/// Four times the character `0`.
const ZEROS: i64 = 0x0030_0030_0030_0030;
/// The bytes of four characters.
const WORD: i32 = 8;

/// Of casts between vectors: the first lane is the lowest.
fn lanes() -> MemFlagsData {
    MemFlagsData::new().with_endianness(Endianness::Little)
}

/// The primitive type that a method of `Number` writes to a text.
fn written(method: MethodRef) -> Option<Prim> {
    match method.name {
        "UInt32ToDecStr" => Some(Prim::U4),
        "UInt64ToDecStr" => Some(Prim::U8),
        _ => None,
    }
}

/// The primitive type that a method of `Number` reads from a text.
fn read(method: MethodRef) -> Option<Prim> {
    match method.name {
        "TryParseInt32IntegerStyle" => Some(Prim::I4),
        "TryParseUInt32IntegerStyle" => Some(Prim::U4),
        "TryParseInt64IntegerStyle" => Some(Prim::I8),
        "TryParseUInt64IntegerStyle" => Some(Prim::U8),
        _ => None,
    }
}

/// Whether the method, of `Number`, writes or reads digits.
pub(super) fn has_digits(method: MethodRef) -> bool {
    written(method).is_some() || read(method).is_some()
}

/// Where a string is that holds one sign: the offset of a field, and the string's first bytes as a
/// number: length, character and terminator.
struct Sign {
    field: i32,
    content: i64,
}

/// The field of a culture's numbers that holds a sign, which is meant to be this one.
fn sign(info: ClassRef, string: ClassRef, name: &str, sign: char) -> Res<Option<Sign>> {
    let field = offset_of(info, name, |class| std::ptr::eq(*class, string))?;
    let character =
        i64::from(u32::from(sign)) << (8 * (STRING_CHARS_OFFSET - STRING_LENGTH_OFFSET));
    Ok(field.map(|field| Sign {
        field,
        content: character | 1,
    }))
}

impl Translator<'_, '_> {
    /// Answers for values and texts of 4 to 8 digits, and goes on in `first` with others.
    pub(super) fn answer_digits(&mut self, first: Block) -> Res<bool> {
        let method = self.body.method;
        if !self.e.optimises || method.has_this() {
            return Ok(false);
        }
        match (written(method), read(method)) {
            (Some(prim), _) => self.answer_written(prim, first),
            (_, Some(prim)) => self.answer_read(prim, first),
            _ => Ok(false),
        }
    }

    /// The text of a value.
    fn answer_written(&mut self, prim: Prim, first: Block) -> Res<bool> {
        let sig = self.body.method.sig()?;
        let string = self.session.universe.known(Known::String);
        let is_meant = std::ptr::eq(sig.ret, string)
            && matches!(sig.params[..], [a, b] if a.prim == Some(prim) && b.prim == Some(Prim::I4));
        let allocate = string.find_method("FastAllocateString", Some(1))?;
        let (true, Some(allocate), &[value, least]) = (is_meant, allocate, &self.body.params[..])
        else {
            return Ok(false);
        };
        let beyond = self.e.b.ins().iadd_imm_s(value, -FROM);
        let fits = (self.e.b.ins()).icmp_imm_u(IntCC::UnsignedLessThan, beyond, BEYOND - FROM);
        self.require(fits, first);
        let any = (self.e.b.ins()).icmp_imm_s(IntCC::SignedLessThanOrEqual, least, LEAST);
        self.require(any, first);
        let value = match self.e.b.func.dfg.value_type(value) {
            I64 => value,
            _ => self.e.b.ins().uextend(I64, value),
        };
        let digits = self.digits(value);
        // Zeros in front, which are no digits, as bits: there is a digit that is not 0.
        let zeros = self.e.b.ins().ctz(digits);
        let zeros = self.e.b.ins().band_imm_u(zeros, 0x38);
        let shown = self.e.b.ins().ushr(digits, zeros);
        let words = self.characters(shown, digits);
        let skipped = self.e.b.ins().ushr_imm_u(zeros, 3);
        let most = self.e.b.ins().iconst(I64, MOST);
        let count = self.e.b.ins().isub(most, skipped);
        let length = self.e.b.ins().ireduce(I32, count);
        let lowered = LoweredSignature::of_method(allocate)?;
        let signature = self.e.b.import_signature(lowered.clif);
        self.new_string_of(length, |e| e.call_method(allocate, signature, &[length])[0]);
        let text = self.pop_ref()?.value;
        let bytes = self.e.b.ins().ishl_imm_u(count, 1);
        let behind = self.e.b.ins().iadd(text, bytes);
        let places = [
            (text, STRING_CHARS_OFFSET),
            (behind, STRING_CHARS_OFFSET - WORD),
        ];
        for (lane, (at, offset)) in places.into_iter().enumerate() {
            let word = self.e.b.ins().extractlane(words, lane as u8);
            self.e.b.ins().store(trusted(), word, at, offset);
        }
        self.push_instance(string, text);
        self.ret()?;
        Ok(true)
    }

    /// The eight decimal digits of a value below 10^8, a byte each, the first in the lowest byte.
    ///
    /// Each quotient is a product with the reciprocal, rounded up; it is exact for all values that the
    /// part can have.
    fn digits(&mut self, value: Value) -> Value {
        // Below 10^8: by 10^4.
        let high = self.divided(value, 109_951_163, 40);
        let low = self.remainder(value, high, 10_000);
        let low = self.e.b.ins().ishl_imm_u(low, 32);
        let fours = self.e.b.ins().bor(high, low);
        // Below 10^4: by 100.
        let high = self.divided(fours, 10_486, 20);
        let high = self.e.b.ins().band_imm_u(high, 0x0000_007F_0000_007F);
        let low = self.remainder(fours, high, 100);
        let low = self.e.b.ins().ishl_imm_u(low, 16);
        let twos = self.e.b.ins().bor(high, low);
        // Below 100: by 10.
        let high = self.divided(twos, 103, 10);
        let high = self.e.b.ins().band_imm_u(high, 0x000F_000F_000F_000F);
        let low = self.remainder(twos, high, 10);
        let low = self.e.b.ins().ishl_imm_u(low, 8);
        self.e.b.ins().bor(high, low)
    }

    fn divided(&mut self, value: Value, reciprocal: i64, shift: i64) -> Value {
        let product = self.e.b.ins().imul_imm_s(value, reciprocal);
        self.e.b.ins().ushr_imm_u(product, shift)
    }

    fn remainder(&mut self, value: Value, quotient: Value, divisor: i64) -> Value {
        let product = self.e.b.ins().imul_imm_s(quotient, divisor);
        self.e.b.ins().isub(value, product)
    }

    /// The first four characters and the last four, in two lanes: of the low four bytes of `first`, and
    /// of the high four of `last`.
    fn characters(&mut self, first: Value, last: Value) -> Value {
        let first = self.e.b.ins().band_imm_u(first, 0xFFFF_FFFF);
        let last = self.e.b.ins().band_imm_s(last, !0xFFFF_FFFF);
        let both = self.e.b.ins().bor(first, last);
        let digits = self.e.b.ins().scalar_to_vector(I64X2, both);
        let digits = self.e.b.ins().bitcast(I8X16, lanes(), digits);
        let wide = self.e.b.ins().uwiden_low(digits);
        let zeros = self.e.b.ins().iconst(I64, ZEROS);
        let zeros = self.e.b.ins().splat(I64X2, zeros);
        let words = self.e.b.ins().bitcast(I64X2, lanes(), wide);
        self.e.b.ins().bor(words, zeros)
    }

    /// The value of a text.
    fn answer_read(&mut self, prim: Prim, first: Block) -> Res<bool> {
        let sig = self.body.method.sig()?;
        let [text, styles, info, to, failed] = sig.params[..] else {
            return Ok(false);
        };
        let string = self.session.universe.known(Known::String);
        // A `ByReference<char>`.
        let is_pointer = |class: &ClassRef| class.layout().is_ok_and(|l| l.size == 8);
        let element = text.args().first().and_then(|class| class.prim);
        let (Some(pointer), Some(length), Some(plus), Some(minus)) = (
            offset_of(text, "_pointer", is_pointer)?,
            offset_of(text, "_length", |c| c.prim == Some(Prim::I4))?,
            sign(info, string, "positiveSign", '+')?,
            sign(info, string, "negativeSign", '-')?,
        ) else {
            return Ok(false);
        };
        let points_to = |class: ClassRef| {
            class
                .element()
                .filter(|_| class.is_byref())
                .and_then(|e| e.prim)
        };
        let is_meant = sig.ret.prim == Some(Prim::Bool)
            && text.is_value_type()?
            && element == Some(Prim::Char)
            && styles.is_enum()?
            && points_to(to) == Some(prim)
            && points_to(failed) == Some(Prim::Bool);
        if !is_meant {
            return Ok(false);
        }
        for n in [3, 2, 0] {
            self.load_argument(n)?;
        }
        let span = self.pop()?.value;
        let info = self.pop_ref()?.value;
        let to = self.pop_address()?.value;
        // A span on the stack has no header.
        let [pointer, length] = [pointer, length].map(|offset| offset - HEADER_SIZE as i32);
        let start = self.e.b.ins().load(I64, trusted(), span, pointer);
        let count = self.e.b.ins().load(I32, trusted(), span, length);
        let beyond = self.e.b.ins().iadd_imm_s(count, -LEAST);
        let fits =
            (self.e.b.ins()).icmp_imm_u(IntCC::UnsignedLessThanOrEqual, beyond, MOST - LEAST);
        self.require(fits, first);
        self.require(info, first);
        for sign in [plus, minus] {
            let text = self.e.b.ins().load(I64, trusted(), info, sign.field);
            self.require(text, first);
            let content = (self.e.b.ins()).load(I64, trusted(), text, STRING_LENGTH_OFFSET);
            let same = self
                .e
                .b
                .ins()
                .icmp_imm_s(IntCC::Equal, content, sign.content);
            self.require(same, first);
        }
        let count = self.e.b.ins().uextend(I64, count);
        let bytes = self.e.b.ins().ishl_imm_u(count, 1);
        let end = self.e.b.ins().iadd(start, bytes);
        let words = [(start, 0), (end, -WORD)].map(|(at, offset)| {
            let word = self.e.b.ins().load(I64, null_trap(), at, offset);
            self.e.b.ins().bxor_imm_u(word, ZEROS)
        });
        // A digit is below 10, so that it has no other bits, and neither has the sum of it and 6.
        let mut others = None;
        for word in words {
            let six = self.e.b.ins().iadd_imm_s(word, 0x0006_0006_0006_0006);
            let bits = self.e.b.ins().bor(word, six);
            others = Some(match others {
                Some(before) => self.e.b.ins().bor(before, bits),
                None => bits,
            });
        }
        let others = others.unwrap_or(count);
        let mask = self.e.b.ins().iconst(I64, 0xFFF0_FFF0_FFF0_FFF0_u64 as i64);
        let others = self.e.b.ins().band(others, mask);
        let none = self.e.b.ins().icmp_imm_u(IntCC::Equal, others, 0);
        self.require(none, first);
        // The digits of the first word that the last has too are shifted out. That may be all, and a
        // shift by 64 bits would be none: it is done in two.
        let most = self.e.b.ins().iconst(I64, MOST);
        let common = self.e.b.ins().isub(most, count);
        let half = self.e.b.ins().ishl_imm_u(common, 3);
        let upper = self.e.b.ins().ishl(words[0], half);
        let upper = self.e.b.ins().ishl(upper, half);
        let [upper, lower] = [upper, words[1]].map(|word| self.value_of_four(word));
        let upper = self.e.b.ins().imul_imm_s(upper, 10_000);
        let value = self.e.b.ins().iadd(upper, lower);
        let value = match prim {
            Prim::I8 | Prim::U8 => value,
            _ => self.e.b.ins().ireduce(I32, value),
        };
        self.e.b.ins().store(null_trap(), value, to, 0);
        let yes = self.i32(1);
        self.push(StackType::I32, yes);
        self.ret()?;
        Ok(true)
    }

    /// The value of four digits of 16 bits, the first of which is the lowest: one product, whose upper
    /// 16 bits are the sum of all digits, each times its power of ten.
    fn value_of_four(&mut self, digits: Value) -> Value {
        let powers = 1 | 10 << 16 | 100 << 32 | 1_000 << 48;
        let product = self.e.b.ins().imul_imm_s(digits, powers);
        self.e.b.ins().ushr_imm_u(product, 48)
    }
}
