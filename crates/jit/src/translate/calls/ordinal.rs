//! Comparisons of strings without case and searches in them, by the numbers of the characters: a leaf helper is asked before the method.
//!
//! ```text
//!     answer = CompareIgnoringCase(a, index of a, length of a, b, index of b, length of b)
//!     brif answer == UNKNOWN, call, join(answer)
//! call: (cold)
//!     jump join(method(..))
//! ```
//!
//! | method | helper | what calls it in the class library |
//! |---|---|---|
//! | `CompareInfo.CompareOrdinalIgnoreCase(string, int, int, string, int, int)` | `CompareIgnoringCase` | `string.Equals`, `Compare`, `StartsWith` and `EndsWith` with `OrdinalIgnoreCase`, and its `StringComparer` |
//! | `string.IndexOfUnchecked(string, int, int)` | `IndexOfText` | `string.Contains`, `IndexOf` with `Ordinal` |
//!
//! # Invariants
//! What a helper answers is what the method would return.
use crate::translate::calls::library::Routine;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types::*};
use vervet_abi::{UNKNOWN_ORDER, call};
use vervet_types::{ClassRef, Known, MethodRef, Prim};

/// Whether the parameters are those, `s` for a string and `i` for an integer of 32 bits.
fn are(params: &[ClassRef], shape: &str) -> bool {
    let is = |(class, wanted): (&ClassRef, char)| match wanted {
        's' => std::ptr::eq(*class, class.universe().known(Known::String)),
        _ => class.prim == Some(Prim::I4),
    };
    params.len() == shape.len() && params.iter().zip(shape.chars()).all(is)
}

impl Translator<'_, '_> {
    /// A call of the method whose arguments are on the stack. False: the call must be made.
    pub(crate) fn ask_ordinal(&mut self, routine: Routine, method: MethodRef) -> Res<bool> {
        let params = &method.sig()?.params;
        match routine {
            Routine::CompareIgnoringCase if are(params, "siisii") && !method.has_this() => {
                let args = self.pop_words("siisii")?;
                let answer = self.e.helper_value(call::CompareIgnoringCase, args);
                self.answer_or_call(answer, method, &args)
            }
            Routine::IndexOfText if are(params, "sii") && method.has_this() => {
                let args = self.pop_words("ssii")?;
                let answer = self.e.helper_value(call::IndexOfText, args);
                self.answer_or_call(answer, method, &args)
            }
            _ => Ok(false),
        }
    }

    /// Takes arguments of a shape from the stack: the first is the first.
    fn pop_words<const N: usize>(&mut self, shape: &str) -> Res<[Value; N]> {
        self.spill_aliased(N)?;
        let mut args = [Value::from_u32(0); N];
        for (arg, kind) in args.iter_mut().rev().zip(shape.chars().rev()) {
            *arg = match kind {
                's' => self.pop_ref()?.value,
                _ => self.pop_i32()?,
            };
        }
        Ok(args)
    }

    /// The answer of a helper, or the method where it is [`UNKNOWN_ORDER`].
    pub(crate) fn answer_or_call(
        &mut self,
        answer: Value,
        method: MethodRef,
        args: &[Value],
    ) -> Res<bool> {
        let [call, join] = [(); 2].map(|()| self.e.b.create_block());
        self.e.b.append_block_param(join, I32);
        self.e.b.set_cold_block(call);
        let unknown = i64::from(UNKNOWN_ORDER);
        let is_unknown = (self.e.b.ins()).icmp_imm_s(IntCC::Equal, answer, unknown);
        (self.e.b.ins()).brif(is_unknown, call, &[], join, &[BlockArg::Value(answer)]);
        self.or_call(method, args, call, join)
    }
}
