//! `Array.GetLowerBound` and `Array.GetLength` of a vector, which class library code asks before it copies, clears or searches.
//!
//! ```text
//!     vt = vtable array                             ; faults on null
//!     brif dimension == 0 && vt is a vector's, here, call
//! here:
//!     jump join(0)                                  ; the length: load.i32 array + 8
//! call: (cold)
//!     jump join(method(array, dimension))           ; throws if there is no such dimension
//! ```
//!
//! # Invariants
//! * What is not dimension 0 of a vector is left to the method.
use crate::emit::trusted;
use crate::signature::LoweredSignature;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::StackType;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, types::*};
use vervet_abi::object::ARRAY_LENGTH_OFFSET;
use vervet_abi::vtable;
use vervet_types::{MethodRef, Prim};

/// What is asked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    /// `GetLowerBound(int)`.
    Lower,
    /// `GetLength(int)`.
    Length,
}

impl Translator<'_, '_> {
    /// A call whose arguments are on the stack. False: the call must be made.
    pub(crate) fn array_bound(&mut self, which: Bound, method: MethodRef) -> Res<bool> {
        let sig = method.sig()?;
        if !sig.has_this || !matches!(&sig.params[..], [p] if p.prim == Some(Prim::I4)) {
            return Ok(false);
        }
        let lowered = LoweredSignature::of_method(method)?;
        self.spill_aliased(2)?;
        let dimension = self.pop_i32()?;
        let array = self.pop_ref()?;
        let vt = self.vtable_of(&array);
        let [here, call, join] = [(); 3].map(|()| self.e.b.create_block());
        let result = self.e.b.append_block_param(join, I32);
        self.e.b.set_cold_block(call);
        let ins = self.e.b.ins();
        let flags = ins.uload8(I32, trusted(), vt, vtable::FLAGS_OFFSET);
        let vector = self
            .e
            .b
            .ins()
            .band_imm_u(flags, i64::from(vtable::flags::SZ_ARRAY));
        let is_vector = self.e.b.ins().icmp_imm_u(IntCC::NotEqual, vector, 0);
        let is_first = self.e.b.ins().icmp_imm_u(IntCC::Equal, dimension, 0);
        let both = self.e.b.ins().band(is_vector, is_first);
        self.e.b.ins().brif(both, here, &[], call, &[]);
        self.e.b.seal_block(here);
        self.e.b.switch_to_block(here);
        let known = match which {
            Bound::Lower => self.i32(0),
            Bound::Length => {
                let ins = self.e.b.ins();
                ins.load(I32, trusted(), array.value, ARRAY_LENGTH_OFFSET)
            }
        };
        self.e.b.ins().jump(join, &[BlockArg::Value(known)]);
        self.e.b.seal_block(call);
        self.e.b.switch_to_block(call);
        let signature = self.e.b.import_signature(lowered.clif);
        let asked = self
            .e
            .call_method(method, signature, &[array.value, dimension])[0];
        self.e.b.ins().jump(join, &[BlockArg::Value(asked)]);
        self.e.b.seal_block(join);
        self.e.b.switch_to_block(join);
        self.push(StackType::I32, result);
        Ok(true)
    }
}
