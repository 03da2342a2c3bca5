//! Questions about a character: `char.IsLetter` and the like, and the case of the invariant culture.
//!
//! # How it works
//! Of the 128 characters of ASCII a mask of two words answers; all others are left to the method:
//!
//! ```text
//!     brif c <u 128, ascii, call
//! ascii:
//!     word = select c <u 64, low, high
//!     jump join((word >> (c & 63)) & 1)
//! call: (cold)
//!     jump join(method(c))
//! ```
//!
//! # Invariants
//! The answers are those of the class library, which for these characters depend on no culture. A test asks all of them (`Code/Characters`).
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types::*};
use vervet_abi::call;
use vervet_types::{MethodRef, Prim};

/// What is asked about a character.
#[derive(Clone, Copy)]
pub(crate) enum CharQuestion {
    /// Is its bit set in the mask, by number of the character?
    In(u128),
    /// `ToUpperInvariant`.
    Upper,
    /// `ToLowerInvariant`.
    Lower,
}

/// The bits of a range of characters.
const fn range(first: char, last: char) -> u128 {
    (u128::MAX >> (127 - (last as u32 - first as u32))) << first as u32
}

/// The question of a method of `System.Char`, if it is one.
pub(crate) fn question(method: &str) -> Option<CharQuestion> {
    use CharQuestion::*;
    const UPPER: u128 = range('A', 'Z');
    const LOWER: u128 = range('a', 'z');
    const DIGIT: u128 = range('0', '9');
    Some(match method {
        "IsUpper" => In(UPPER),
        "IsLower" => In(LOWER),
        "IsLetter" => In(UPPER | LOWER),
        "IsDigit" => In(DIGIT),
        "IsLetterOrDigit" => In(UPPER | LOWER | DIGIT),
        "IsWhiteSpace" => In(range('\t', '\r') | range(' ', ' ')),
        "ToUpperInvariant" => Upper,
        "ToLowerInvariant" => Lower,
        _ => return None,
    })
}

impl Translator<'_, '_> {
    /// The argument is on the stack. False: this overload is not meant.
    pub(crate) fn ask_character(&mut self, asked: CharQuestion, method: MethodRef) -> Res<bool> {
        let sig = method.sig()?;
        if sig.has_this || sig.params.len() != 1 || sig.params[0].prim != Some(Prim::Char) {
            return Ok(false);
        }
        let (c, call, join) = self.pop_ascii()?;
        let answer = match asked {
            CharQuestion::In(mask) => self.in_mask(c, mask),
            CharQuestion::Upper => self.with_case(c, 'a', -32),
            CharQuestion::Lower => self.with_case(c, 'A', 32),
        };
        self.e.b.ins().jump(join, &[BlockArg::Value(answer)]);
        self.or_call(method, &[c], call, join)
    }

    /// Takes a character from the stack, and goes on where it is one of ASCII: the character, the cold block for all others, and a block where both ways
    /// meet with an answer.
    fn pop_ascii(&mut self) -> Res<(Value, Block, Block)> {
        let given = self.pop_i32()?;
        let c = self.e.b.ins().band_imm_u(given, 0xffff);
        let [ascii, call, join] = [(); 3].map(|()| self.e.b.create_block());
        self.e.b.append_block_param(join, I32);
        self.e.b.set_cold_block(call);
        let is_ascii = self.e.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, c, 128);
        self.e.b.ins().brif(is_ascii, ascii, &[], call, &[]);
        self.e.b.seal_block(ascii);
        self.e.b.switch_to_block(ascii);
        Ok((c, call, join))
    }

    /// `RegexCharClass.CharInClass(char, string)`.
    pub(crate) fn char_in_class(&mut self, method: MethodRef) -> Res<bool> {
        let sig = method.sig()?;
        let fits = match sig.params[..] {
            [c, set] => c.prim == Some(Prim::Char) && set.name == "String",
            _ => false,
        };
        if sig.has_this || !fits {
            return Ok(false);
        }
        self.spill_aliased(2)?;
        let set = self.pop_ref()?.value;
        let (c, call, join) = self.pop_ascii()?;
        let answer = self.e.helper_value(call::CharInSet, [set, c]);
        let is_none = self.e.b.ins().icmp_imm_s(IntCC::SignedLessThan, answer, 0);
        self.e
            .b
            .ins()
            .brif(is_none, call, &[], join, &[BlockArg::Value(answer)]);
        self.or_call(method, &[c, set], call, join)
    }

    /// The bit of an ASCII character.
    fn in_mask(&mut self, c: Value, mask: u128) -> Value {
        let low = self.e.b.ins().iconst(I64, mask as u64 as i64);
        let high = self.e.b.ins().iconst(I64, (mask >> 64) as u64 as i64);
        let is_low = self.e.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, c, 64);
        let word = self.e.b.ins().select(is_low, low, high);
        // A shift takes the amount modulo 64.
        let shifted = self.e.b.ins().ushr(word, c);
        let bit = self.e.b.ins().band_imm_u(shifted, 1);
        self.e.b.ins().ireduce(I32, bit)
    }

    /// An ASCII character, moved by `by` if it is one of the 26 from `first` on.
    fn with_case(&mut self, c: Value, first: char, by: i64) -> Value {
        let letter = self.e.b.ins().iadd_imm_s(c, -i64::from(first as u32));
        let moves = self
            .e
            .b
            .ins()
            .icmp_imm_u(IntCC::UnsignedLessThan, letter, 26);
        let moved = self.e.b.ins().iadd_imm_s(c, by);
        self.e.b.ins().select(moves, moved, c)
    }
}
