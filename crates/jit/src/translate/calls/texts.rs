//! Conversions of characters and bytes that are answered before their body runs, if all of them are ASCII.
//!
//! # How it works
//! The encodings of the class library convert between characters and bytes in one method each, which gets pointers. In front of its first block stands:
//!
//! ```text
//!     brif count >= LEAST and space >= count and .., loop(0), first
//! loop(at):
//!     n = umin(count - at, MOST)
//!     done = NarrowAscii(chars + 2 * at, bytes + at, n)
//!     brif done, more, first
//! more:
//!     brif at + n < count, loop(at + n), answer
//! answer:
//!     coder._charsUsed = count              ; if there is a coder
//!     return count
//! first:                                    ; the body, as the class library has it
//! ```
//!
//! | method | helper |
//! |---|---|
//! | `UTF8Encoding.GetBytes(char*, int, byte*, int, EncoderNLS)`, and that of `ASCIIEncoding` | `NarrowAscii` |
//! | `UTF8Encoding.GetChars(byte*, int, char*, int, DecoderNLS)`, and that of `ASCIIEncoding` | `WidenAscii` |
//! | `UTF8Encoding.GetByteCount(char*, int, EncoderNLS)` | `AreAsciiChars` |
//! | `UTF8Encoding.GetCharCount(byte*, int, DecoderNLS)` | `AreAsciiBytes` |
//!
//! # Invariants
//! * What is answered is what the body would return: it makes one unit of each, and asks no fallback.
//! * What has been converted before a unit that is no ASCII is what the body converts too. It begins anew, over memory that is as it was, because ranges that
//!   overlap are left to it.
//! * An encoder or decoder that keeps something from the call before is left to the body.
use crate::blob::Symbol;
use crate::emit::trusted;
use crate::translate::calls::crypto::offset_of;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::StackType;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types::*};
use vervet_abi::{call, vtable};
use vervet_metadata::il::{Op, Operand};
use vervet_types::{ClassRef, Prim};

/// The least number of units that a helper is called for.
const LEAST: i64 = 8;
/// The greatest number of units that a leaf may look at.
const MOST: i64 = 32 << 10;

/// Which conversion.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Conversion {
    /// Characters to bytes.
    Narrow,
    /// Bytes to characters.
    Widen,
    /// How many bytes characters become.
    Chars,
    /// How many characters bytes become.
    Bytes,
}

/// What an encoder or decoder keeps between two calls.
struct Coder {
    class: ClassRef,
    /// Offset of the word that is 0 if it keeps nothing.
    kept: i32,
    /// Offset of its fallback buffer, if it may have one in use.
    fallback: Option<i32>,
    /// Offset of the number of units that it has converted.
    used: i32,
}

impl Translator<'_, '_> {
    /// In front of the body of a conversion: the answer, or the way to the body's `first` block. False: it is none, and nothing was emitted.
    pub(crate) fn answer_conversion(&mut self, first: Block) -> Res<bool> {
        let Some(conversion) = self.conversion()? else {
            return Ok(false);
        };
        let coder = self.coder(conversion)?;
        let writes = matches!(conversion, Conversion::Narrow | Conversion::Widen);
        for n in 1..if writes { 6 } else { 4 } {
            self.load_argument(n)?;
        }
        let given = self.pop_ref()?.value;
        let space = match writes {
            true => Some((self.pop_i32()?, self.pop_address()?.value)),
            false => None,
        };
        let count = self.pop_i32()?;
        let from = self.pop_address()?.value;
        let enough = self
            .e
            .b
            .ins()
            .icmp_imm_s(IntCC::SignedGreaterThanOrEqual, count, LEAST);
        let mapped = self.mapped(from);
        let fits = self.e.b.ins().band(enough, mapped);
        self.require(fits, first);
        // Pointers of a program may be odd; helpers get slices, whose elements are aligned.
        let chars = match (conversion, space) {
            (Conversion::Narrow | Conversion::Chars, _) => Some(from),
            (Conversion::Widen, space) => space.map(|s| s.1),
            (Conversion::Bytes, _) => None,
        };
        if let Some(chars) = chars {
            let low = self.e.b.ins().band_imm_u(chars, 1);
            let even = self.e.b.ins().icmp_imm_u(IntCC::Equal, low, 0);
            self.require(even, first);
        }
        let wide = self.e.b.ins().uextend(I64, count);
        if let Some((space, to)) = space {
            let room = self
                .e
                .b
                .ins()
                .icmp(IntCC::SignedGreaterThanOrEqual, space, count);
            let mapped = self.mapped(to);
            let apart = self.are_apart(conversion, from, to, wide);
            let fits = self.e.b.ins().band(room, mapped);
            let fits = self.e.b.ins().band(fits, apart);
            self.require(fits, first);
        }
        self.require_idle(given, coder.as_ref(), first);
        self.convert_ascii(conversion, (from, space.map(|s| s.1)), wide, first);
        if let Some(coder) = coder.filter(|_| writes) {
            let [note, answer] = [(); 2].map(|()| self.e.b.create_block());
            self.e.b.ins().brif(given, note, &[], answer, &[]);
            self.e.b.seal_block(note);
            self.e.b.switch_to_block(note);
            self.e.b.ins().store(trusted(), count, given, coder.used);
            self.e.b.ins().jump(answer, &[]);
            self.e.b.seal_block(answer);
            self.e.b.switch_to_block(answer);
        }
        self.push(StackType::I32, count);
        self.ret()?;
        Ok(true)
    }

    /// The conversion that the method is, if it is one.
    fn conversion(&self) -> Res<Option<Conversion>> {
        let method = self.body.method;
        if self.body.inline.is_some()
            || !method.class.module.is_corlib()
            || method.class.namespace != "System.Text"
        {
            return Ok(None);
        }
        let conversion = match (method.class.name, method.name, method.param_count) {
            ("UTF8Encoding" | "ASCIIEncoding", "GetBytes", 5) => Conversion::Narrow,
            ("UTF8Encoding" | "ASCIIEncoding", "GetChars", 5) => Conversion::Widen,
            ("UTF8Encoding", "GetByteCount", 3) => Conversion::Chars,
            ("UTF8Encoding", "GetCharCount", 3) => Conversion::Bytes,
            _ => return Ok(None),
        };
        let sig = method.sig()?;
        let pointer = |c: ClassRef| c.element().filter(|_| c.is_ptr()).and_then(|e| e.prim);
        let is_int = |c: ClassRef| c.prim == Some(Prim::I4);
        let (chars, bytes) = (Some(Prim::Char), Some(Prim::U1));
        let (from, to) = match conversion {
            Conversion::Narrow | Conversion::Chars => (chars, bytes),
            Conversion::Widen | Conversion::Bytes => (bytes, chars),
        };
        let is_meant = sig.has_this
            && is_int(sig.ret)
            && match sig.params[..] {
                [a, n, b, m, _] => pointer(a) == from && is_int(n) && pointer(b) == to && is_int(m),
                [a, n, _] => pointer(a) == from && is_int(n),
                _ => false,
            };
        Ok(is_meant.then_some(conversion))
    }

    /// What the method casts its coder to, if it does and the class has the fields of UTF-8. Without one, a call with a coder is left to the body.
    fn coder(&self, conversion: Conversion) -> Res<Option<Coder>> {
        let scope = self.body.method.scope();
        let cast = self
            .body
            .plan
            .instrs
            .iter()
            .find_map(|i| match (i.op, i.operand) {
                (Op::Castclass, Operand::Token(token)) => Some(token),
                _ => None,
            });
        let Some(token) = cast else { return Ok(None) };
        let class = scope.type_(token)?;
        let is_encoder = matches!(conversion, Conversion::Narrow | Conversion::Chars);
        let (kept, used) = match is_encoder {
            true => ("surrogateChar", "_charsUsed"),
            false => ("bits", "_bytesUsed"),
        };
        let is_int = |c: &ClassRef| c.prim == Some(Prim::I4);
        let Some(base) = class.parent()? else {
            return Ok(None);
        };
        let Some(top) = base.parent()? else {
            return Ok(None);
        };
        let (Some(kept), Some(used), Some(fallback)) = (
            offset_of(class, kept, is_int)?,
            offset_of(base, used, is_int)?,
            offset_of(top, "_fallbackBuffer", |c| c.prim.is_none())?,
        ) else {
            return Ok(None);
        };
        Ok(Some(Coder {
            class,
            kept,
            fallback: is_encoder.then_some(fallback),
            used,
        }))
    }

    /// Goes on where the condition holds, else to another block.
    pub(super) fn require(&mut self, condition: Value, otherwise: Block) {
        let next = self.e.b.create_block();
        self.e.b.ins().brif(condition, next, &[], otherwise, &[]);
        self.e.b.seal_block(next);
        self.e.b.switch_to_block(next);
    }

    /// Whether what is read and what is written have no byte in common. A body that reads what it has written gives
    /// something else than a helper that reads a group first.
    fn are_apart(&mut self, conversion: Conversion, from: Value, to: Value, count: Value) -> Value {
        let double = self.e.b.ins().ishl_imm_u(count, 1);
        let (read, written) = match conversion {
            Conversion::Narrow => (double, count),
            _ => (count, double),
        };
        let (read, written) = (
            self.e.b.ins().iadd(from, read),
            self.e.b.ins().iadd(to, written),
        );
        let cc = IntCC::UnsignedLessThanOrEqual;
        let before = self.e.b.ins().icmp(cc, written, from);
        let behind = self.e.b.ins().icmp(cc, read, to);
        self.e.b.ins().bor(before, behind)
    }

    /// Goes on if the coder is null, or is of the class of UTF-8 and keeps nothing.
    fn require_idle(&mut self, given: Value, coder: Option<&Coder>, otherwise: Block) {
        let idle = self.e.b.create_block();
        match coder {
            None => {
                self.e.b.ins().brif(given, otherwise, &[], idle, &[]);
            }
            Some(coder) => {
                let some = self.e.b.create_block();
                self.e.b.ins().brif(given, some, &[], idle, &[]);
                self.e.b.seal_block(some);
                self.e.b.switch_to_block(some);
                // The cast of the body objects to a coder of another encoding, so that is left to it.
                let vt = self.e.b.ins().uload32(trusted(), given, 0);
                let class = self
                    .e
                    .b
                    .ins()
                    .load(I64, trusted(), vt, vtable::CLASS_OFFSET);
                let wanted = self.e.symbol(Symbol::ClassHandle(coder.class));
                let same = self.e.b.ins().icmp(IntCC::Equal, class, wanted);
                self.require(same, otherwise);
                let kept = self.e.b.ins().load(I32, trusted(), given, coder.kept);
                let nothing = self.e.b.ins().icmp_imm_u(IntCC::Equal, kept, 0);
                self.require(nothing, otherwise);
                if let Some(fallback) = coder.fallback {
                    let buffer = self.e.b.ins().load(I64, trusted(), given, fallback);
                    let none = self.e.b.ins().icmp_imm_u(IntCC::Equal, buffer, 0);
                    self.require(none, otherwise);
                }
                self.e.b.ins().jump(idle, &[]);
            }
        }
        self.e.b.seal_block(idle);
        self.e.b.switch_to_block(idle);
    }

    /// The loop over the units; goes on when all of them are converted.
    fn convert_ascii(
        &mut self,
        conversion: Conversion,
        (from, to): (Value, Option<Value>),
        count: Value,
        otherwise: Block,
    ) {
        let [header, more, done] = [(); 3].map(|()| self.e.b.create_block());
        let at = self.e.b.append_block_param(header, I64);
        let zero = self.e.b.ins().iconst(I64, 0);
        self.e.b.ins().jump(header, &[BlockArg::Value(zero)]);
        self.e.b.switch_to_block(header);
        let rest = self.e.b.ins().isub(count, at);
        let most = self.e.b.ins().iconst(I64, MOST);
        let n = self.e.b.ins().umin(rest, most);
        let double = self.e.b.ins().ishl_imm_u(at, 1);
        let (read, written) = match conversion {
            Conversion::Narrow | Conversion::Chars => (double, at),
            Conversion::Widen | Conversion::Bytes => (at, double),
        };
        let from = self.e.b.ins().iadd(from, read);
        let to = to.map(|to| self.e.b.ins().iadd(to, written));
        let good = match (conversion, to) {
            (Conversion::Narrow, Some(to)) => self.e.helper_value(call::NarrowAscii, [from, to, n]),
            (Conversion::Widen, Some(to)) => self.e.helper_value(call::WidenAscii, [from, to, n]),
            (Conversion::Chars, _) => self.e.helper_value(call::AreAsciiChars, [from, n]),
            _ => self.e.helper_value(call::AreAsciiBytes, [from, n]),
        };
        self.e.b.ins().brif(good, more, &[], otherwise, &[]);
        self.e.b.seal_block(more);
        self.e.b.switch_to_block(more);
        let next = self.e.b.ins().iadd(at, n);
        let again = self.e.b.ins().icmp(IntCC::UnsignedLessThan, next, count);
        self.e
            .b
            .ins()
            .brif(again, header, &[BlockArg::Value(next)], done, &[]);
        self.e.b.seal_block(header);
        self.e.b.seal_block(done);
        self.e.b.switch_to_block(done);
    }
}
