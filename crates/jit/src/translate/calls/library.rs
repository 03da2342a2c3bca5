//! Calls of routines of the class library that the runtime has in better form: module
//! `code/library.rs` of `vervet-runtime`.
//!
//! # How it works
//! A search or comparison is a leaf helper for lengths between a few elements, below which the call of
//! a helper costs more than it saves, and 64 KiB, which is what a leaf may look at. All other lengths
//! are left to the method itself:
//!
//! ```text
//!     brif (length - LEAST) <u (MOST - LEAST), leaf, call
//! leaf:
//!     jump join(helper(..))
//! call: (cold)
//!     jump join(method(..))
//! ```
//!
//! A sort is a helper of effect Runtime whatever the length. Copies of elements are in module `copies`.
//!
//! | routine | what calls it in the class library |
//! |---|---|
//! | `IndexOf` | `string.IndexOf(char)`, `Span<T>.IndexOf`, `Array.IndexOf` of bytes |
//! | `SequenceEqual` | `string ==`, `string.Equals`, `Span<T>.SequenceEqual` |
//! | `Sort` | `Array.Sort` and `List<T>.Sort` without a comparer |
//!
//! # Invariants
//! * A routine does what the method does; a program cannot tell them apart.
//! * An overload that is not meant is called.
use crate::signature::LoweredSignature;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::StackType;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types::*};
use vervet_abi::call;
use vervet_types::{ClassRef, MethodRef, Prim};

/// The least number of bytes that a leaf is called for.
const LEAST: i64 = 32;
/// The greatest.
const MOST: i64 = 64 << 10;

/// Addresses below this one are never mapped.
const UNMAPPED: i64 = 64 << 10;

/// Which search.
#[derive(Clone, Copy)]
pub(crate) enum Routine {
    /// `SpanHelpers.IndexOf(ref char, char, int)` and `(ref byte, byte, int)`.
    IndexOf,
    /// `SpanHelpers.SequenceEqual(ref byte, ref byte, ulong)`.
    SequenceEqual,
    /// `Array.FastCopy(Array, int, Array, int, int)`.
    Copy,
    /// `Buffer.InternalBlockCopy(Array, int, Array, int, int)`.
    BlockCopy,
    /// `ArraySortHelper<T>.Sort(T[], int, int, IComparer<T>)`.
    Sort,
    /// `CompareInfo.CompareOrdinalIgnoreCase(string, int, int, string, int, int)`, module `ordinal`.
    CompareIgnoringCase,
    /// `string.IndexOfUnchecked(string, int, int)`, as well.
    IndexOfText,
}

/// Whether the method is the comparison of two ranges of bytes, and not one of other elements.
pub(super) fn is_sequence_equal(method: MethodRef) -> Res<bool> {
    let sig = method.sig()?;
    Ok(!sig.has_this
        && method.method_args().is_empty()
        && sig.ret.prim == Some(Prim::Bool)
        && matches!(sig.params[..], [a, b, count] if pointee(a) == Some(Prim::U1)
            && pointee(b) == Some(Prim::U1)
            && count.prim == Some(Prim::U8)))
}

/// The primitive type that a managed pointer points to.
fn pointee(class: ClassRef) -> Option<Prim> {
    class.element().filter(|_| class.is_byref())?.prim
}

impl Translator<'_, '_> {
    /// A call whose arguments are on the stack. False: the call must be made.
    pub(crate) fn library_routine(&mut self, routine: Routine, method: MethodRef) -> Res<bool> {
        let sig = method.sig()?;
        if matches!(routine, Routine::CompareIgnoringCase | Routine::IndexOfText) {
            return self.ask_ordinal(routine, method);
        }
        if sig.has_this != matches!(routine, Routine::Sort) || !method.method_args().is_empty() {
            return Ok(false);
        }
        match (routine, &sig.params[..]) {
            (Routine::IndexOf, [at, value, count]) if count.prim == Some(Prim::I4) => {
                match (pointee(at), value.prim) {
                    (Some(Prim::Char), Some(Prim::Char)) => self.index_of(method, 1),
                    (Some(Prim::U1), Some(Prim::U1)) => self.index_of(method, 0),
                    _ => Ok(false),
                }
            }
            (Routine::SequenceEqual, [a, b, count])
                if pointee(a) == Some(Prim::U1)
                    && pointee(b) == Some(Prim::U1)
                    && count.prim == Some(Prim::U8) =>
            {
                self.sequence_equal(method)
            }
            (Routine::Copy | Routine::BlockCopy, [_, _, _, _, _]) => {
                self.fast_copy(matches!(routine, Routine::BlockCopy), method)
            }
            (Routine::Sort, [array, from, count, _])
                if from.prim == Some(Prim::I4) && count.prim == Some(Prim::I4) =>
            {
                self.sort(method, array)
            }
            _ => Ok(false),
        }
    }

    /// `IndexOf` in elements of `1 << shift` bytes.
    fn index_of(&mut self, method: MethodRef, shift: i64) -> Res<bool> {
        self.spill_aliased(3)?;
        let count = self.pop_i32()?;
        let value = self.pop_i32()?;
        let at = self.pop_address()?.value;
        let wide = self.e.b.ins().uextend(I64, count);
        let bytes = self.e.b.ins().ishl_imm_u(wide, shift);
        // A span of characters that was made of one of bytes may lie anywhere.
        let low = self.e.b.ins().band_imm_u(at, (1 << shift) - 1);
        let aligned = self.e.b.ins().icmp_imm_u(IntCC::Equal, low, 0);
        let mapped = self.mapped(at);
        let good = self.e.b.ins().band(aligned, mapped);
        self.leaf_or_call(method, bytes, good, &[at, value, count], |t| match shift {
            0 => t.e.helper_value(call::IndexOfByte, [at, value, count]),
            _ => t.e.helper_value(call::IndexOfChar, [at, value, count]),
        })
    }

    fn sequence_equal(&mut self, method: MethodRef) -> Res<bool> {
        self.spill_aliased(3)?;
        let bytes = self.pop()?;
        let bytes = self.coerce(&bytes, StackType::I64)?;
        let b = self.pop_address()?.value;
        let a = self.pop_address()?.value;
        let (first, second) = (self.mapped(a), self.mapped(b));
        let good = self.e.b.ins().band(first, second);
        self.leaf_or_call(method, bytes, good, &[a, b, bytes], |t| {
            t.e.helper_value(call::SequenceEqual, [a, b, bytes])
        })
    }

    /// A bool or an integer of 32 bits as the latter.
    fn widened(&mut self, value: Value) -> Value {
        match self.e.b.func.dfg.value_type(value) {
            I32 => value,
            _ => self.e.b.ins().uextend(I32, value),
        }
    }

    /// Whether an address lies beyond the pages that are never mapped: a null or nearly null one is
    /// left to the method, which throws.
    pub(crate) fn mapped(&mut self, address: Value) -> Value {
        self.e
            .b
            .ins()
            .icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, address, UNMAPPED)
    }

    /// The helper for a range of `bytes` that a leaf may look at, if its addresses are `good`; else the
    /// method with its own arguments.
    fn leaf_or_call(
        &mut self,
        method: MethodRef,
        bytes: Value,
        good: Value,
        args: &[Value],
        leaf: impl FnOnce(&mut Self) -> Value,
    ) -> Res<bool> {
        let [here, call, join] = [(); 3].map(|()| self.e.b.create_block());
        self.e.b.append_block_param(join, I32);
        self.e.b.set_cold_block(call);
        // One comparison for both limits: what is below the least wraps around to a large number, and so does what is negative.
        let beyond = self.e.b.ins().iadd_imm_s(bytes, -LEAST);
        let fits = self
            .e
            .b
            .ins()
            .icmp_imm_u(IntCC::UnsignedLessThanOrEqual, beyond, MOST - LEAST);
        let fits = self.e.b.ins().band(fits, good);
        self.e.b.ins().brif(fits, here, &[], call, &[]);
        self.e.b.seal_block(here);
        self.e.b.switch_to_block(here);
        let found = leaf(self);
        self.e.b.ins().jump(join, &[BlockArg::Value(found)]);
        self.or_call(method, args, call, join)
    }

    /// The end of an expansion that leaves some cases to the method: fills the block `call` with the
    /// call, and goes on in `join`, whose parameter is the result, a bool or an integer of 32 bits.
    pub(crate) fn or_call(
        &mut self,
        method: MethodRef,
        args: &[Value],
        call: Block,
        join: Block,
    ) -> Res<bool> {
        let lowered = LoweredSignature::of_method(method)?;
        self.e.b.seal_block(call);
        self.e.b.switch_to_block(call);
        let signature = self.e.b.import_signature(lowered.clif);
        let called = self.e.call_method(method, signature, args)[0];
        let called = self.widened(called);
        self.e.b.ins().jump(join, &[BlockArg::Value(called)]);
        self.e.b.seal_block(join);
        self.e.b.switch_to_block(join);
        let result = self.e.b.block_params(join)[0];
        self.push(StackType::I32, result);
        Ok(true)
    }

    /// The sort of a vector of integers without a comparer; with one, the method is called. Floats
    /// are left to the method: which of two equal ones comes first is seen in their bits.
    fn sort(&mut self, method: MethodRef, array: &ClassRef) -> Res<bool> {
        let Some(element) = array.element().filter(|_| array.is_sz_array()) else {
            return Ok(false);
        };
        let Some(prim) = element.prim.filter(|p| is_integer(*p)) else {
            return Ok(false);
        };
        if element.is_enum()? {
            return Ok(false);
        }
        let lowered = LoweredSignature::of_method(method)?;
        self.spill_aliased(5)?;
        let comparer = self.pop_ref()?.value;
        let count = self.pop_i32()?;
        let from = self.pop_i32()?;
        let vector = self.pop_ref()?.value;
        let this = self.pop_ref()?.value;
        let kind = self.i32(prim as i32);
        // Most calls give no comparer. One that is the default comparer itself is called like any other.
        let [here, call, join] = [(); 3].map(|()| self.e.b.create_block());
        self.e.b.set_cold_block(call);
        self.e.b.ins().brif(comparer, call, &[], here, &[]);
        self.e.b.seal_block(here);
        self.e.b.switch_to_block(here);
        self.e
            .helper(vervet_abi::call::SortIntegers, [vector, from, count, kind]);
        self.e.b.ins().jump(join, &[]);
        self.e.b.seal_block(call);
        self.e.b.switch_to_block(call);
        let signature = self.e.b.import_signature(lowered.clif);
        self.e
            .call_method(method, signature, &[this, vector, from, count, comparer]);
        self.e.b.ins().jump(join, &[]);
        self.e.b.seal_block(join);
        self.e.b.switch_to_block(join);
        Ok(true)
    }
}

/// Is it a type whose values are equal only if their bits are?
fn is_integer(prim: Prim) -> bool {
    use Prim::*;
    matches!(prim, I1 | U1 | I2 | U2 | Char | I4 | U4 | I8 | U8)
}
