//! Copies between arrays: `Array.FastCopy` and `Buffer.InternalBlockCopy`, in place where both arrays are of one class and their elements hold no references.
//!
//! ```text
//!     vt = header of source
//!     brif source and dest are not null, and dest's header == vt, and .., plain, leaf
//! plain:                                     ; a vector without references (FastCopy), or a byte[] (InternalBlockCopy), both ranges fit, and they are short
//!     move_bytes(dest + 16 + to * size, source + 16 + from * size, count * size)
//!     jump join(1)
//! leaf:
//!     brif CopyElements(..), join(1), call   ; references, other pairs of classes, and up to 16 KiB
//! call: (cold)
//!     jump join(the internal call)
//! ```
//!
//! What calls them: `Array.Copy`, and so `List<T>`, `Queue<T>` and the other collections when they grow or move elements; `Buffer.BlockCopy`, and so `MemoryStream`,
//! `BufferedStream` and the ciphers.
//!
//! # Invariants
//! * A range that does not fit is left to the internal call, and so to the exceptions of the method around it.
//! * A copy that is not short is made where the thread can be stopped soon.
//! * Only a copy without references is made in place; [`move_bytes`](crate::translate::values::block_copy) says how.
use crate::blob::Symbol;
use crate::emit::trusted;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types::*};
use vervet_abi::object::{ARRAY_DATA_OFFSET, ARRAY_LENGTH_OFFSET};
use vervet_abi::{call, vtable};
use vervet_types::{Known, MethodRef};

/// At most so many bytes are copied in place. A thread is hardly stopped in the helper for blocks of bytes, and a loop of copies is little else: with 60,000 bytes a collection
/// waited 175 ms. The internal call looks at what is asked of the thread.
const IN_PLACE: i64 = 1 << 10;

/// The operands of a copy: vectors and 32-bit numbers.
struct Copy {
    source: Value,
    from: Value,
    dest: Value,
    to: Value,
    count: Value,
}

impl Translator<'_, '_> {
    /// `Array.FastCopy`, or `Buffer.InternalBlockCopy` in `bytes`.
    pub(crate) fn fast_copy(&mut self, bytes: bool, method: MethodRef) -> Res<bool> {
        self.spill_aliased(5)?;
        let count = self.pop_i32()?;
        let to = self.pop_i32()?;
        let dest = self.pop_ref()?.value;
        let from = self.pop_i32()?;
        let source = self.pop_ref()?.value;
        let args = [source, from, dest, to, count];
        let copy = Copy {
            source,
            from,
            dest,
            to,
            count,
        };
        let [leaf, call, join] = [(); 3].map(|()| self.e.b.create_block());
        self.e.b.append_block_param(join, I32);
        self.e.b.set_cold_block(call);
        self.copy_in_place(&copy, bytes, leaf);
        let one = self.i32(1);
        self.e.b.ins().jump(join, &[BlockArg::Value(one)]);
        self.e.b.seal_block(leaf);
        self.e.b.switch_to_block(leaf);
        let done = match bytes {
            true => self.e.helper_value(call::CopyBytes, args),
            false => self.e.helper_value(call::CopyElements, args),
        };
        (self.e.b.ins()).brif(done, join, &[BlockArg::Value(done)], call, &[]);
        self.or_call(method, &args, call, join)
    }

    /// The copy where it needs neither a card nor a conversion; goes to `otherwise` where it may.
    fn copy_in_place(&mut self, copy: &Copy, bytes: bool, otherwise: Block) {
        let Copy { source, dest, .. } = *copy;
        let some = [source, dest].map(|a| (self.e.b.ins()).icmp_imm_u(IntCC::NotEqual, a, 0));
        let both = self.e.b.ins().band(some[0], some[1]);
        self.only_if(both, otherwise);
        let vt = self.e.b.ins().uload32(trusted(), source, 0);
        let other = self.e.b.ins().uload32(trusted(), dest, 0);
        let same = self.e.b.ins().icmp(IntCC::Equal, vt, other);
        let (kind, size) = match bytes {
            true => {
                let universe = self.session.universe;
                let of_bytes = universe.sz_array(universe.known(Known::Byte));
                let wanted = self.e.symbol(Symbol::VTable(of_bytes));
                (self.e.b.ins().icmp(IntCC::Equal, vt, wanted), None)
            }
            false => {
                let (vector, refs) = (vtable::flags::SZ_ARRAY, vtable::flags::ELEMENT_REFS);
                let flags = (self.e.b.ins()).uload8(I32, trusted(), vt, vtable::FLAGS_OFFSET);
                let both = (self.e.b.ins()).band_imm_u(flags, i64::from(vector | refs));
                let plain = (self.e.b.ins()).icmp_imm_u(IntCC::Equal, both, i64::from(vector));
                let size = (self.e.b.ins()).uload32(trusted(), vt, vtable::SIZE_OFFSET);
                (plain, Some(size))
            }
        };
        let fits = self.e.b.ins().band(same, kind);
        self.only_if(fits, otherwise);
        // A negative number is a great one here, and no array is that long.
        let [from, to, count] =
            [copy.from, copy.to, copy.count].map(|n| self.e.b.ins().uextend(I64, n));
        let [in_source, in_dest] = [(source, from), (dest, to)].map(|(array, at)| {
            let length = (self.e.b.ins()).uload32(trusted(), array, ARRAY_LENGTH_OFFSET);
            let end = self.e.b.ins().iadd(at, count);
            (self.e.b.ins()).icmp(IntCC::UnsignedLessThanOrEqual, end, length)
        });
        let fits = self.e.b.ins().band(in_source, in_dest);
        self.only_if(fits, otherwise);
        let [at, place] = [(source, from), (dest, to)].map(|(array, n)| {
            let offset = match size {
                Some(size) => self.e.b.ins().imul(n, size),
                None => n,
            };
            let data = (self.e.b.ins()).iadd_imm_s(array, i64::from(ARRAY_DATA_OFFSET));
            self.e.b.ins().iadd(data, offset)
        });
        let size = match size {
            Some(size) => self.e.b.ins().imul(count, size),
            None => count,
        };
        let short = (self.e.b.ins()).icmp_imm_u(IntCC::UnsignedLessThanOrEqual, size, IN_PLACE);
        self.only_if(short, otherwise);
        self.move_bytes(place, at, size, 1);
    }

    /// Goes on where the condition holds.
    pub(crate) fn only_if(&mut self, condition: Value, otherwise: Block) {
        let next = self.e.b.create_block();
        (self.e.b.ins()).brif(condition, next, &[], otherwise, &[]);
        self.e.b.seal_block(next);
        self.e.b.switch_to_block(next);
    }
}
