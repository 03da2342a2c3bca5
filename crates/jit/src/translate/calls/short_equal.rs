//! The comparison of a few bytes, in front of the body of `SpanHelpers.SequenceEqual`, which every
//! comparison of two strings comes to.
//!
//! ```text
//! bytes      looked at
//! 0          nothing
//! 1          the byte
//! 2, 3       two words of 2 bytes, of which the second reaches back over what is known
//! 4 .. 7     of 4 bytes
//! 8 .. 16    of 8 bytes
//! 17 .. 32   twice two words of 8 bytes
//! more       the body, or a leaf helper at the call (module `library`)
//! ```
//!
//! The body looks at fewer than 8 bytes one by one, and the processor predicts the end of such a loop
//! badly.
//!
//! # Invariants
//! * No byte outside of the two ranges is read.
//! * An address that is null raises NullReferenceException, as in the body, unless the ranges are
//!   empty or the same: then nothing is read.
use crate::emit::null_trap;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::StackType;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Type, Value, types::*};

/// Two ranges of one length.
#[derive(Clone, Copy)]
struct Ranges {
    a: Value,
    b: Value,
    /// Bytes of each.
    bytes: Value,
}

impl Translator<'_, '_> {
    /// Answers for up to 32 bytes, and goes on in `first` with more.
    pub(super) fn answer_short_equal(&mut self, first: Block) -> Res<bool> {
        let [a, b, bytes] = self.body.params[..] else {
            return Ok(false);
        };
        let ranges = Ranges { a, b, bytes };
        let [short, most, two, one, same] = [(); 5].map(|()| self.e.b.create_block());
        let is_same = self.e.b.ins().icmp(IntCC::Equal, a, b);
        self.else_here(is_same, same);
        self.if_fewer(ranges, 8, short);
        let beyond = (self.e.b.ins()).icmp_imm_u(IntCC::UnsignedGreaterThan, bytes, 16);
        self.else_here(beyond, most);
        self.return_words(ranges, I64, &[0])?;
        self.begin(most);
        let beyond = (self.e.b.ins()).icmp_imm_u(IntCC::UnsignedGreaterThan, bytes, 32);
        self.else_here(beyond, first);
        self.return_words(ranges, I64, &[0, 8])?;
        self.begin(short);
        self.if_fewer(ranges, 4, two);
        self.return_words(ranges, I32, &[0])?;
        self.begin(two);
        self.if_fewer(ranges, 2, one);
        self.return_words(ranges, I16, &[0])?;
        self.begin(one);
        let is_empty = self.e.b.ins().icmp_imm_u(IntCC::Equal, bytes, 0);
        self.else_here(is_empty, same);
        self.return_words(ranges, I8, &[0])?;
        self.begin(same);
        let yes = self.i32(1);
        self.push(StackType::I32, yes);
        self.ret()?;
        Ok(true)
    }

    fn begin(&mut self, block: Block) {
        self.enter(block);
        self.body.dead = false;
    }

    /// Goes elsewhere if the condition holds, and on otherwise.
    fn else_here(&mut self, condition: Value, elsewhere: Block) {
        let here = self.e.b.create_block();
        self.e.b.ins().brif(condition, elsewhere, &[], here, &[]);
        self.begin(here);
    }

    /// Goes elsewhere if there are fewer bytes.
    fn if_fewer(&mut self, ranges: Ranges, count: i64, elsewhere: Block) {
        let fewer = (self.e.b.ins()).icmp_imm_u(IntCC::UnsignedLessThan, ranges.bytes, count);
        self.else_here(fewer, elsewhere);
    }

    /// Returns whether the words at these offsets from the beginning are the same, and those at the
    /// same distances from the end.
    fn return_words(&mut self, ranges: Ranges, word: Type, offsets: &[i32]) -> Res {
        let size = word.bytes() as i32;
        let ends = [ranges.a, ranges.b].map(|at| self.e.b.ins().iadd(at, ranges.bytes));
        let mut different = None;
        for offset in offsets {
            let places = [([ranges.a, ranges.b], *offset), (ends, -size - *offset)];
            // The only byte there is may be looked at once.
            for ([a, b], offset) in &places[..if size == 1 { 1 } else { 2 }] {
                let [a, b] = [*a, *b].map(|at| self.e.b.ins().load(word, null_trap(), at, *offset));
                let difference = self.e.b.ins().bxor(a, b);
                different = Some(match different {
                    Some(before) => self.e.b.ins().bor(before, difference),
                    None => difference,
                });
            }
        }
        let different = different.unwrap_or(ranges.bytes);
        let same = self.e.b.ins().icmp_imm_u(IntCC::Equal, different, 0);
        let same = self.e.b.ins().uextend(I32, same);
        self.push(StackType::I32, same);
        self.ret()
    }
}
