//! Methods of the core library in front of whose bodies a leaf helper is asked: what an enum is
//! called, which number a name stands for, where an element is.
//!
//! ```text
//!     answer = EnumName(this, ..)
//!     brif answer, done, first
//! done:
//!     return answer
//! first:                                    ; the body, as the class library has it
//!     ...
//! ```
//!
//! | method | helper | answers |
//! |---|---|---|
//! | `Enum.ToString()` | `EnumName` | the name of a value, of an enum without FlagsAttribute, once the class library has listed the names |
//! | `Enum.TryParse<T>(string, bool, out T)` | `EnumNumber` | the value of a name that stands alone |
//! | `GenericEqualityComparer<T>.IndexOf(T[], T, int, int)` | `IndexOfElement`, `IndexOfString` | integers; strings |
//! | `SpanHelpers.SequenceEqual(ref byte, ref byte, ulong)` | none: module `short_equal` | up to 32 bytes |
//! | `Number.UInt32ToDecStr(uint, int)` and others of `Number` | none: module `digits` | four to eight digits |
//! | `CompareInfo.GetIgnoreCaseHash(string)` | `HashIgnoringCase` | the hash of a text of ASCII, by the seed that the body uses |
//!
//! The class library keeps the names of an enum at its Type object. A helper gets the offsets of the
//! fields that lead there, because it must not ask for them by name: that takes a lock. They are
//! looked up here, by name and type; if the class library has them in another form, nothing is asked.
//!
//! # Invariants
//! * What is answered is what the body would return. A helper says when it does not know, and then
//!   has written nothing.
//! * These methods are not inlined ([`is_answered`]): an inlined body has no front.
use crate::blob::Symbol;
use crate::signature::LoweredSignature;
use crate::translate::calls::call::Dispatch;
use crate::translate::calls::crypto::offset_of;
use crate::translate::calls::digits::has_digits;
use crate::translate::calls::library::is_sequence_equal;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::StackType;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types::*};
use vervet_abi::call;
use vervet_types::{ClassRef, Known, MethodRef, Prim};

/// Which method.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Question {
    EnumName,
    EnumNumber,
    IndexOf,
    HashIgnoringCase,
    SequenceEqual,
    Digits,
}

/// The question that a method is, by its names and the number of its parameters.
fn question(method: MethodRef) -> Option<Question> {
    let def = method.class.def();
    if !def.module.is_corlib() {
        return None;
    }
    match (def.namespace, def.name, method.name, method.param_count) {
        ("System", "Enum", "ToString", 0) => Some(Question::EnumName),
        ("System", "Enum", "TryParse", 3) => Some(Question::EnumNumber),
        ("System", "SpanHelpers", "SequenceEqual", 3) => Some(Question::SequenceEqual),
        ("System", "Number", ..) if has_digits(method) => Some(Question::Digits),
        ("System.Globalization", "CompareInfo", "GetIgnoreCaseHash", 1) => {
            Some(Question::HashIgnoringCase)
        }
        ("System.Collections.Generic", "GenericEqualityComparer`1", "IndexOf", 4) => {
            Some(Question::IndexOf)
        }
        _ => None,
    }
}

/// Whether something is asked in front of the method's body.
pub(crate) fn is_answered(method: MethodRef) -> bool {
    question(method).is_some()
}

impl Translator<'_, '_> {
    /// In front of the body: the answer, or the way to the body's `first` block. False: it is none,
    /// and nothing was emitted.
    pub(crate) fn answer_question(&mut self, first: Block) -> Res<bool> {
        if self.body.inline.is_some() {
            return Ok(false);
        }
        match question(self.body.method) {
            Some(Question::EnumName) => self.answer_enum_name(first),
            Some(Question::EnumNumber) => self.answer_enum_number(first),
            Some(Question::IndexOf) => self.answer_index(first),
            Some(Question::SequenceEqual) if is_sequence_equal(self.body.method)? => {
                self.answer_short_equal(first)
            }
            Some(Question::SequenceEqual) => Ok(false),
            Some(Question::HashIgnoringCase) => self.answer_hash(first),
            Some(Question::Digits) => self.answer_digits(first),
            None => Ok(false),
        }
    }

    /// Where the class library keeps the names of an enum: the class of the object that
    /// `RuntimeType.GenericCache` refers to then, and the offsets of that field and of the two
    /// vectors in the object, 16 bits each.
    fn places_of_names(&mut self) -> Res<Option<(Value, Value)>> {
        let runtime_type = self.session.universe.known(Known::RuntimeType);
        let of_enums = self.session.universe.known(Known::Enum);
        let Some(kept) = of_enums.module.find_nested(of_enums, "ValuesAndNames")? else {
            return Ok(None);
        };
        let is_ref = |c: &ClassRef| c.prim.is_none();
        let (Some(cache), Some(values), Some(names)) = (
            offset_of(runtime_type, "GenericCache", is_ref)?,
            offset_of(kept, "Values", is_ref)?,
            offset_of(kept, "Names", is_ref)?,
        ) else {
            return Ok(None);
        };
        let packed = i64::from(cache) | i64::from(values) << 16 | i64::from(names) << 32;
        let class = self.e.symbol(Symbol::ClassHandle(kept));
        let places = self.e.b.ins().iconst(I64, packed);
        Ok(Some((class, places)))
    }

    fn answer_enum_name(&mut self, first: Block) -> Res<bool> {
        if !self.body.method.has_this() {
            return Ok(false);
        }
        let Some((class, places)) = self.places_of_names()? else {
            return Ok(false);
        };
        let this = self.body.params[0];
        let name = self.e.helper_value(call::EnumName, [this, class, places]);
        self.go_on_unless(name, first);
        self.push_instance(self.session.universe.known(Known::String), name);
        self.ret()?;
        Ok(true)
    }

    fn answer_enum_number(&mut self, first: Block) -> Res<bool> {
        let method = self.body.method;
        let &[class] = method.method_args() else {
            return Ok(false);
        };
        let params = &method.sig()?.params;
        let is_meant = !method.has_this()
            && std::ptr::eq(params[0], self.session.universe.known(Known::String))
            && params[1].prim == Some(Prim::Bool)
            && params[2].is_byref();
        if !is_meant || !class.is_enum()? {
            return Ok(false);
        }
        let Some((kept, places)) = self.places_of_names()? else {
            return Ok(false);
        };
        let p: Vec<Value> = self.body.params.to_vec();
        let vt = self.e.symbol(Symbol::VTable(class));
        let args = [vt, p[0], p[1], p[2], kept, places];
        let found = self.e.helper_value(call::EnumNumber, args);
        self.go_on_unless(found, first);
        self.push(StackType::I32, found);
        self.ret()?;
        Ok(true)
    }

    /// The seed is what the class library's own property says, so that both ways give one hash.
    fn answer_hash(&mut self, first: Block) -> Res<bool> {
        let method = self.body.method;
        let sig = method.sig()?;
        let module = method.class.module;
        let Some(marvin) = module.find_type("System", "Marvin")? else {
            return Ok(false);
        };
        let Some(seed) = marvin.find_method("get_DefaultSeed", Some(0))? else {
            return Ok(false);
        };
        if method.has_this() || sig.ret.prim != Some(Prim::I4) || seed.has_this() {
            return Ok(false);
        }
        let text = self.body.params[0];
        let lowered = LoweredSignature::of_method(seed)?;
        self.emit_call(Dispatch::Direct(seed), &lowered, false)?;
        let seed = self.pop()?.value;
        let hash = self.e.helper_value(call::HashIgnoringCase, [text, seed]);
        let known = (self.e.b.ins()).icmp_imm_s(IntCC::SignedGreaterThanOrEqual, hash, 0);
        self.go_on_unless(known, first);
        let hash = self.e.b.ins().ireduce(I32, hash);
        self.push(StackType::I32, hash);
        self.ret()?;
        Ok(true)
    }

    /// Goes on where the helper has an answer, which is not 0.
    fn go_on_unless(&mut self, answer: Value, first: Block) {
        let done = self.e.b.create_block();
        self.e.b.ins().brif(answer, done, &[], first, &[]);
        self.e.b.seal_block(done);
        self.e.b.switch_to_block(done);
    }

    /// An enum has a comparer of its own, and so have bytes. Of floats bits are not what is compared:
    /// zeros of both signs are equal, and a NaN is equal to any other.
    ///
    /// The comparer itself is not looked at, because the body asks the elements too.
    fn answer_index(&mut self, first: Block) -> Res<bool> {
        let method = self.body.method;
        let &[class] = method.class.args() else {
            return Ok(false);
        };
        let p: Vec<Value> = self.body.params.to_vec();
        let shift = match class.prim {
            Some(Prim::I1) => Some(0),
            Some(Prim::I2 | Prim::U2 | Prim::Char) => Some(1),
            Some(Prim::I4 | Prim::U4) => Some(2),
            Some(Prim::I8 | Prim::U8) => Some(3),
            None if std::ptr::eq(class, self.session.universe.known(Known::String)) => None,
            _ => return Ok(false),
        };
        if class.is_enum()? {
            return Ok(false);
        }
        let answer = match shift {
            Some(shift) => {
                let wide = match self.e.b.func.dfg.value_type(p[2]) {
                    I64 => p[2],
                    _ => self.e.b.ins().uextend(I64, p[2]),
                };
                let shift = self.i32(shift);
                let args = [p[1], wide, p[3], p[4], shift];
                self.e.helper_value(call::IndexOfElement, args)
            }
            None => (self.e).helper_value(call::IndexOfString, [p[1], p[2], p[3], p[4]]),
        };
        self.answer_or(answer, first)?;
        Ok(true)
    }
}
