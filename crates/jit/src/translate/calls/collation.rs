//! Comparisons by the rules of a culture, in front of whose bodies a helper is asked.
//!
//! ```text
//!     answer = CompareTexts(a, range of a, b, range of b, rules)      ; or IsPrefixText
//!     brif answer == UNKNOWN, first, done
//! done:
//!     return answer
//! first:                                    ; the body, as the class library has it
//!     ...
//! ```
//!
//! | method of `SimpleCollator` | helper |
//! |---|---|
//! | `Compare(string, int, int, string, int, int, CompareOptions)` | `CompareTexts` |
//! | `IsPrefix(string, string, int, int, CompareOptions)` | `IsPrefixText` |
//! | `IndexOf(string, string, int, int, CompareOptions)` without options | `IndexOfAsciiText` |
//!
//! # Invariants
//! * What a helper answers is what the body would return. It looks at nothing but the two strings.
use crate::emit::null_trap;
use crate::translate::calls::crypto::offset_of;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::StackType;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types::*};
use vervet_abi::{UNKNOWN_ORDER, call};
use vervet_types::{Known, Prim};

impl Translator<'_, '_> {
    /// In front of the body of a comparison: the answer, or the way to the body's `first` block. False: it is none, and nothing was emitted.
    pub(crate) fn answer_collation(&mut self, first: Block) -> Res<bool> {
        let method = self.body.method;
        let class = method.class;
        if self.body.inline.is_some()
            || class.name != "SimpleCollator"
            || class.namespace != "Mono.Globalization.Unicode"
            || !class.module.is_corlib()
            || !method.has_this()
        {
            return Ok(false);
        }
        let sig = method.sig()?;
        // `s` a string, `i` an integer, `o` an enum.
        let mut shape = String::new();
        for c in &sig.params {
            shape.push(match c.prim {
                _ if std::ptr::eq(*c, c.universe().known(Known::String)) => 's',
                _ if c.is_enum()? => 'o',
                Some(Prim::I4) => 'i',
                _ => '?',
            });
        }
        let compares = match (method.name, sig.ret.prim, shape.as_str()) {
            ("IndexOf", Some(Prim::I4), "ssiio") => return self.answer_index_of(first),
            ("Compare", Some(Prim::I4), "siisiio") => true,
            ("IsPrefix", Some(Prim::Bool), "ssiio") => false,
            _ => return Ok(false),
        };
        let Some(lcid) = offset_of(class, "lcid", |c| c.prim == Some(Prim::I4))? else {
            return Ok(false);
        };
        let p: Vec<Value> = self.body.params.to_vec();
        let culture = self.e.b.ins().load(I32, null_trap(), p[0], lcid);
        let answer = match compares {
            true => {
                let (a, b) = (self.pair(p[2], p[3]), self.pair(p[5], p[6]));
                let rules = self.pair(p[7], culture);
                self.e
                    .helper_value(call::CompareTexts, [p[1], a, p[4], b, rules])
            }
            false => {
                let (range, rules) = (self.pair(p[3], p[4]), self.pair(p[5], culture));
                self.e
                    .helper_value(call::IsPrefixText, [p[1], range, p[2], rules])
            }
        };
        self.answer_or(answer, first)?;
        Ok(true)
    }

    /// `IndexOf` looks for characters of ASCII by their numbers, whatever the culture, if there are no options.
    fn answer_index_of(&mut self, first: Block) -> Res<bool> {
        let p: Vec<Value> = self.body.params.to_vec();
        let ask = self.e.b.create_block();
        self.e.b.ins().brif(p[5], first, &[], ask, &[]);
        self.e.b.seal_block(ask);
        self.e.b.switch_to_block(ask);
        let args = [p[1], p[2], p[3], p[4]];
        let answer = self.e.helper_value(call::IndexOfAsciiText, args);
        self.answer_or(answer, first)?;
        Ok(true)
    }

    /// Returns the answer, or goes on with the body.
    pub(crate) fn answer_or(&mut self, answer: Value, first: Block) -> Res {
        let done = self.e.b.create_block();
        let unknown = i64::from(UNKNOWN_ORDER);
        let is_unknown = (self.e.b.ins()).icmp_imm_s(IntCC::Equal, answer, unknown);
        self.e.b.ins().brif(is_unknown, first, &[], done, &[]);
        self.e.b.seal_block(done);
        self.e.b.switch_to_block(done);
        self.push(StackType::I32, answer);
        self.ret()
    }

    /// Two numbers of 32 bits in one word.
    fn pair(&mut self, upper: Value, lower: Value) -> Value {
        let upper = self.e.b.ins().uextend(I64, upper);
        let lower = self.e.b.ins().uextend(I64, lower);
        let upper = self.e.b.ins().ishl_imm_u(upper, 32);
        self.e.b.ins().bor(upper, lower)
    }
}
