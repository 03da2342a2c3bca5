//! `RuntimeHelpers.InitializeArray`, with which compilers fill an array of constants.
//!
//! # How it works
//! ```text
//! newarr T; dup; ldtoken F; call InitializeArray
//!
//!     brif [array + length] == elements of F, copy, call
//! copy:
//!     move F's bytes to the array
//! call: (cold)
//!     the internal call, which checks, and throws
//! ```
//!
//! # Invariants
//! * What a program has stored to the field does not count: the bytes are the image's, as for the internal call.
//! * The array is one of exactly the primitive type that was seen, and F's bytes are as many as the array's: nothing is copied otherwise.
//! * What is copied is little enough for a leaf.
use crate::blob::Symbol;
use crate::emit::sequences::EmitExt;
use crate::emit::trusted;
use crate::signature::LoweredSignature;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackType, ValueFact};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, types::I32};
use vervet_abi::object::{ARRAY_DATA_OFFSET, ARRAY_LENGTH_OFFSET};
use vervet_metadata::il::{Op, Operand};
use vervet_types::{FieldRef, MethodRef};

/// Bytes that are copied in place of the call.
const MOST: u32 = 16 << 10;

impl Translator<'_, '_> {
    /// The `InitializeArray` that is called next.
    fn initializer(&self) -> Res<Option<MethodRef>> {
        let Some(next) = self.next_instruction() else {
            return Ok(None);
        };
        let (Op::Call, Operand::Token(token)) = (next.op, next.operand) else {
            return Ok(None);
        };
        let method = self.body.scope.method(token)?;
        let is_it = method.name == "InitializeArray"
            && method.class.name == "RuntimeHelpers"
            && method.class.module.is_corlib();
        Ok(Some(method).filter(|_| is_it))
    }

    /// `ldtoken` of a field: fills the array on the stack, if that is what comes next. False: nothing was emitted.
    pub(super) fn try_fill_array(&mut self, field: FieldRef) -> Res<bool> {
        let Some(array) = self.body.stack.last().copied() else {
            return Ok(false);
        };
        let element = array
            .class
            .filter(|c| c.is_sz_array())
            .and_then(|c| c.element());
        let (StackType::Ref, ValueFact::Exact, Some(element)) =
            (array.stack_type, array.fact, element)
        else {
            return Ok(false);
        };
        let Some(method) = self.initializer()? else {
            return Ok(false);
        };
        if !field.has_rva() || element.is_ptr() || element.stack_prim()?.is_none() {
            return Ok(false);
        }
        // What is wrong with the field is the call's to say.
        let Ok(data) = field.rva_data() else {
            return Ok(false);
        };
        let (bytes, each) = (data.len() as u32, self.size_of(element)?);
        let lowered = LoweredSignature::of_method(method)?;
        let fits = each != 0
            && bytes.is_multiple_of(each)
            && bytes <= MOST
            && lowered.clif.params.len() == 2;
        if !fits {
            return Ok(false);
        }
        self.body.skip += 1;
        self.pop()?;
        let length = (self.e.b.ins()).load(I32, trusted(), array.value, ARRAY_LENGTH_OFFSET);
        let all = (self.e.b.ins()).icmp_imm_u(IntCC::Equal, length, i64::from(bytes / each));
        let [copy, call, join] = [(); 3].map(|()| self.e.b.create_block());
        self.e.b.set_cold_block(call);
        self.e.b.ins().brif(all, copy, &[], call, &[]);
        self.e.b.seal_block(copy);
        self.e.b.seal_block(call);
        self.e.b.switch_to_block(copy);
        let data = self.e.symbol(Symbol::RvaImage(field));
        self.e
            .copy_bytes(array.value, ARRAY_DATA_OFFSET, data, bytes);
        self.e.b.ins().jump(join, &[]);
        self.e.b.switch_to_block(call);
        let handle = self.e.symbol(Symbol::FieldHandle(field));
        let signature = self.e.b.import_signature(lowered.clif);
        self.e
            .call_method(method, signature, &[array.value, handle]);
        self.e.b.ins().jump(join, &[]);
        self.e.b.seal_block(join);
        self.e.b.switch_to_block(join);
        Ok(true)
    }
}
