//! Questions about a type or a method that a word answers: `Type.IsAbstract`, `IsGenericType`, `HasElementType`, `MethodBase.IsPublic` and their like.
//!
//! # How it works
//! They all end in a few internal calls, each of which gets a RuntimeType. What they answer never changes, and fits into one word of the class, which the first of
//! them fills:
//!
//! ```text
//!     brif type, some, call
//! some:
//!     class = load [type + _impl]
//!     brif class, named, call
//! named:
//!     facts = load [class + FACTS]
//!     brif facts, known, call                  ; 0: nobody has asked yet, or the type is being defined
//! known:
//!     jump join((facts >> shift) & mask)
//! call: (cold)
//!     jump join(the internal call)
//! ```
//!
//! | internal call | answer |
//! |---|---|
//! | `RuntimeTypeHandle.GetAttributes` | the lower half of the word |
//! | `RuntimeTypeHandle.GetCorElementType` | a byte |
//! | `RuntimeTypeHandle.IsGenericVariable`, `HasInstantiation`, `IsGenericTypeDefinition` | a bit |
//! | `MonoMethodInfo.get_method_attributes` | the word of the method's attributes, which every method has from the start |
//!
//! # Invariants
//! A word is filled once, and not for a type whose module grows: what defines types may still change them.
use crate::emit::trusted;
use crate::translate::calls::crypto::offset_of;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, types::*};
use vervet_types::class::facts;
use vervet_types::{Known, MethodRef, method};

/// What is asked: how far the answer is shifted in the word, and its bits there.
#[derive(Clone, Copy)]
pub(crate) struct Fact {
    shift: u32,
    mask: u32,
}

/// The fact that an internal call of `RuntimeTypeHandle` asks for.
pub(crate) fn fact(name: &str) -> Option<Fact> {
    let (shift, mask) = match name {
        "GetAttributes" => (0, u32::MAX),
        "GetCorElementType" => (facts::ELEMENT_TYPE_SHIFT, 0xFF),
        "IsGenericVariable" => (facts::GENERIC_VARIABLE.trailing_zeros(), 1),
        "HasInstantiation" => (facts::INSTANTIATION.trailing_zeros(), 1),
        "IsGenericTypeDefinition" => (facts::GENERIC_DEFINITION.trailing_zeros(), 1),
        _ => return None,
    };
    Some(Fact { shift, mask })
}

impl Translator<'_, '_> {
    /// A RuntimeType is on the stack. False: the call must be made.
    pub(crate) fn type_fact(&mut self, fact: Fact, method: MethodRef) -> Res<bool> {
        let runtime_type = self.session.universe.known(Known::RuntimeType);
        let sig = method.sig()?;
        let is_meant = !sig.has_this
            && matches!(sig.params[..], [p] if std::ptr::eq(p, runtime_type))
            && self.body.stack.last().is_some_and(|v| v.class.is_some());
        // The handle is a struct of one word, which is the class.
        let of_types = self.session.universe.known(Known::Type);
        let Some(handle) = offset_of(of_types, "_impl", |c| c.prim.is_none())? else {
            return Ok(false);
        };
        if !is_meant {
            return Ok(false);
        }
        self.spill_aliased(1)?;
        let ty = self.pop_ref()?.value;
        let (call, join) = self.cold_call_and_join();
        self.only_if(ty, call);
        let class = self.e.b.ins().load(I64, trusted(), ty, handle);
        self.only_if(class, call);
        let offset = facts::OFFSET as i32;
        let word = self.e.b.ins().load(I64, trusted(), class, offset);
        self.only_if(word, call);
        let shifted = (self.e.b.ins()).ushr_imm_u(word, i64::from(fact.shift));
        let low = self.e.b.ins().ireduce(I32, shifted);
        let answer = match fact.mask {
            u32::MAX => low,
            mask => self.e.b.ins().band_imm_u(low, i64::from(mask)),
        };
        self.e.b.ins().jump(join, &[BlockArg::Value(answer)]);
        self.or_call(method, &[ty], call, join)
    }

    /// A method's handle is on the stack. False: the call must be made.
    pub(crate) fn method_flags(&mut self, method: MethodRef) -> Res<bool> {
        let sig = method.sig()?;
        if sig.has_this || sig.params.len() != 1 {
            return Ok(false);
        }
        self.spill_aliased(1)?;
        let handle = self.pop_address()?.value;
        let (call, join) = self.cold_call_and_join();
        self.only_if(handle, call);
        let offset = method::FLAGS_OFFSET as i32;
        let flags = self.e.b.ins().load(I32, trusted(), handle, offset);
        self.e.b.ins().jump(join, &[BlockArg::Value(flags)]);
        self.or_call(method, &[handle], call, join)
    }

    /// A cold block for the call, and one where the ways meet with an answer of 32 bits.
    fn cold_call_and_join(&mut self) -> (Block, Block) {
        let [call, join] = [(); 2].map(|()| self.e.b.create_block());
        self.e.b.append_block_param(join, I32);
        self.e.b.set_cold_block(call);
        (call, join)
    }
}
