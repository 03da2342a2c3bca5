//! Hash codes of the keys of `Dictionary<string, V>`.
//!
//! # How it works
//! A dictionary without a comparer calls `GetHashCode` of its keys. It keeps what that returns to
//! itself: the order of its entries does not depend on it. So a hash of our own, which takes a
//! fraction of the time, is as good as that of `string`, which programs see (and which mono computes
//! with a constant seed).
//!
//! ```text
//!     ldarga key;  constrained. TKey;  callvirt object::GetHashCode     TKey is string
//!     brif key.length - 4 <= 12, short, other
//! short:
//!     jump join(what vervet_abi::string_hash says, of 4 to 16 characters)
//! other:
//!     jump join(call HashKey(key))
//! ```
//!
//! Code that is compiled quickly makes the call in all cases.
//!
//! # Invariants
//! * In the methods of `Dictionary<string, V>` of the core library every such call is replaced, in
//!   code of every tier. A dictionary with a comparer asks that.
use crate::emit::trusted;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackType, StackValue, ValueFact};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value};
use cranelift_frontend::FunctionBuilder;
use vervet_abi::object::{STRING_CHARS_OFFSET, STRING_LENGTH_OFFSET};
use vervet_abi::{call, string_hash};
use vervet_types::{Known, MethodRef};

impl Translator<'_, '_> {
    /// The constrained call of a method that is being translated: the hash of a dictionary's key.
    /// False: it is another call, and nothing was emitted.
    pub(crate) fn hash_of_key(&mut self, method: MethodRef) -> Res<bool> {
        let string = self.session.universe.known(Known::String);
        let object = self.session.universe.known(Known::Object);
        let is_string = (self.body.prefixes.constrained).is_some_and(|c| std::ptr::eq(c, string));
        if !is_string
            || method.name != "GetHashCode"
            || method.param_count != 0
            || !std::ptr::eq(method.class, object)
        {
            return Ok(false);
        }
        let caller = self.body.method.class;
        let def = caller.def();
        let is_dictionary = def.module.is_corlib()
            && (def.namespace, def.name) == ("System.Collections.Generic", "Dictionary`2")
            && caller
                .args()
                .first()
                .is_some_and(|key| std::ptr::eq(*key, string));
        if !is_dictionary {
            return Ok(false);
        }
        let at = self.pop_address()?;
        let flags = self.null_checked(&at, 0, 8);
        let key = self.e.b.ins().load(I64, flags, at.value, 0);
        self.null_check(&StackValue {
            stack_type: StackType::Ref,
            value: key,
            class: Some(string),
            fact: ValueFact::None,
        });
        let hash = match self.e.optimises {
            true => self.short_or_called(key),
            false => self.e.helper_value(call::HashKey, [key]),
        };
        self.push(StackType::I32, hash);
        Ok(true)
    }

    /// The hash of a key that is not null: computed in place of one that is read by words, else by the
    /// helper. Very short keys are left to it, because they would need a way of their own.
    fn short_or_called(&mut self, key: Value) -> Value {
        let [short, other, join] = [(); 3].map(|()| self.e.b.create_block());
        let hash = self.e.b.append_block_param(join, I32);
        let ins = self.e.b.ins();
        let count = ins.load(I32, trusted(), key, STRING_LENGTH_OFFSET);
        let over = self
            .e
            .b
            .ins()
            .iadd_imm_s(count, -(string_hash::WORDS as i64));
        let range = (string_hash::MOST - string_hash::WORDS) as i64;
        let is_short = (self.e.b.ins()).icmp_imm_u(IntCC::UnsignedLessThanOrEqual, over, range);
        self.e.b.ins().brif(is_short, short, &[], other, &[]);
        self.e.b.seal_block(short);
        self.e.b.switch_to_block(short);
        let of_short = self.short_hash(key, count);
        self.e.b.ins().jump(join, &[BlockArg::Value(of_short)]);
        self.e.b.seal_block(other);
        self.e.b.switch_to_block(other);
        let called = self.e.helper_value(call::HashKey, [key]);
        self.e.b.ins().jump(join, &[BlockArg::Value(called)]);
        self.e.b.seal_block(join);
        self.e.b.switch_to_block(join);
        hash
    }

    /// Of a string that is read by words.
    ///
    /// ```text
    /// chars     0        8        16       24       32      bytes, of a string of 13 characters
    ///           |first   |second  |        |
    ///                      |third   |fourth  |              up to its last byte, 26
    /// ```
    ///
    /// Of one of 8 characters, third and fourth are first and second again; of one of 4 all are the same.
    ///
    /// All reads lie within the characters, so that what lies behind the string has no say.
    fn short_hash(&mut self, key: Value, count: Value) -> Value {
        let b = &mut self.e.b;
        let count = b.ins().uextend(I64, count);
        let bytes = b.ins().ishl_imm_u(count, 1);
        // Where the other words are, from the first and from the last on.
        let last = b.ins().iadd_imm_s(bytes, -8);
        let eight = b.ins().iconst(I64, 8);
        let second = b.ins().umin(last, eight);
        let back = b.ins().isub(last, second);
        let word = |b: &mut FunctionBuilder<'_>, at: Option<Value>, seed: u64| {
            let at = at.map_or(key, |at| b.ins().iadd(key, at));
            let word = b.ins().load(I64, trusted(), at, STRING_CHARS_OFFSET);
            let seed = b.ins().iconst(I64, seed as i64);
            b.ins().bxor(word, seed)
        };
        let [s0, s1, s2, s3] = string_hash::SEEDS;
        let words = [
            (None, s0),
            (Some(second), s1),
            (Some(back), s2),
            (Some(last), s3),
        ];
        let [first, second, third, fourth] = words.map(|(at, seed)| word(b, at, seed));
        let fourth = b.ins().bxor(fourth, count);
        let fold = |b: &mut FunctionBuilder<'_>, x: Value, y: Value| {
            let (low, high) = (b.ins().imul(x, y), b.ins().umulhi(x, y));
            b.ins().bxor(low, high)
        };
        let halves = (fold(b, first, second), fold(b, third, fourth));
        let hash = b.ins().bxor(halves.0, halves.1);
        b.ins().ireduce(I32, hash)
    }
}
