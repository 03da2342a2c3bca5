//! Copies of byte blocks whose length is known only at run time (`cpblk`, `Buffer.Memmove`,
//! `string.wstrcpy`).
//!
//! # How it works
//! Up to [`SHORT`] bytes are copied by emitted code: one load from the start and one from the end,
//! of the largest type that is not larger than the block, or two. They may overlap. A call would cost
//! more than the copy: most strings that are concatenated are short.
//!
//! ```text
//! size >= 65       call MemMove
//! size 33 .. 64    i8x16 at 0, 16, size - 32 and size - 16
//! size 16 .. 32    i8x16 at 0 and at size - 16
//! size  8 .. 15    i64   at 0 and at size - 8
//! size  4 ..  7    i32   at 0 and at size - 4
//! size  1 ..  3    i8    at 0, size / 2 and size - 1   (or one i16, if the unit is 2 bytes)
//! ```
//!
//! # Invariants
//! * Everything is loaded before anything is stored, so the two blocks may overlap.
//! * The only addresses formed are those of the two blocks and one past their ends. The blocks may
//!   lie in objects, and the collector finds an object by these.
//! * The blocks hold no references: vector registers are not scanned.
use crate::emit::trusted;
use crate::options::Tier;
use crate::translate::inlining::limits::inline_limit;
use crate::translate::translator::Translator;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Type, Value, types::*};
use vervet_abi::call;

/// Up to this many bytes are copied in place; longer blocks go to the helper.
const SHORT: i64 = 64;

impl<'a, 'f> Translator<'a, 'f> {
    /// Copies `size` (64 bits) bytes, a multiple of `unit` (1 or 2), that hold no references.
    /// Either address may be invalid if `size` is 0.
    pub(crate) fn move_bytes(&mut self, to: Value, from: Value, size: Value, unit: i64) {
        // At the quick tier less code is better than faster code.
        if self.session.inline_limit < inline_limit(Tier::Optimised) {
            self.e.helper(call::MemMove, [to, from, size]);
            return;
        }
        let done = self.e.b.create_block();
        let (large, small) = self.fork(size, 8);
        self.enter(large);
        // At least 8 bytes: the longest blocks go to the helper.
        let (call, middle) = self.fork(size, SHORT + 1);
        self.enter(call);
        self.e.helper(call::MemMove, [to, from, size]);
        self.e.b.ins().jump(done, &[]);
        self.enter(middle);
        let (more, middle) = self.fork(size, 33);
        self.enter(more);
        self.four_vectors(to, from, size);
        self.e.b.ins().jump(done, &[]);
        self.enter(middle);
        let (sixteen, eight) = self.fork(size, 16);
        for (block, ty) in [(sixteen, I8X16), (eight, I64)] {
            self.enter(block);
            self.both_ends(to, from, size, ty, done);
        }
        self.enter(small);
        // Fewer than 8 bytes.
        let (four, less) = self.fork(size, 4);
        self.enter(four);
        self.both_ends(to, from, size, I32, done);
        self.enter(less);
        let some = self.e.b.create_block();
        self.e.b.ins().brif(size, some, &[], done, &[]);
        self.enter(some);
        if unit == 2 {
            let value = self.e.b.ins().load(I16, trusted(), from, 0);
            self.e.b.ins().store(trusted(), value, to, 0);
        } else {
            // One to three bytes: the first, the middle one and the last.
            let half = self.e.b.ins().ushr_imm_u(size, 1);
            let middle = self.e.b.ins().iadd(from, half);
            let end = self.e.b.ins().iadd(from, size);
            let a = self.e.b.ins().load(I8, trusted(), from, 0);
            let b = self.e.b.ins().load(I8, trusted(), middle, 0);
            let c = self.e.b.ins().load(I8, trusted(), end, -1);
            let middle = self.e.b.ins().iadd(to, half);
            let end = self.e.b.ins().iadd(to, size);
            self.e.b.ins().store(trusted(), a, to, 0);
            self.e.b.ins().store(trusted(), b, middle, 0);
            self.e.b.ins().store(trusted(), c, end, -1);
        }
        self.e.b.ins().jump(done, &[]);
        self.enter(done);
    }

    /// Branches on the size: the first block is for at least `least` bytes, the second for fewer.
    fn fork(&mut self, size: Value, least: i64) -> (Block, Block) {
        let (yes, no) = (self.e.b.create_block(), self.e.b.create_block());
        let cc = IntCC::UnsignedGreaterThanOrEqual;
        let enough = self.e.b.ins().icmp_imm_u(cc, size, least);
        self.e.b.ins().brif(enough, yes, &[], no, &[]);
        (yes, no)
    }

    /// Continues in a block that has no other predecessors to come.
    pub(crate) fn enter(&mut self, block: Block) {
        self.e.b.seal_block(block);
        self.e.b.switch_to_block(block);
    }

    /// Copies 32 to 64 bytes, by two vectors at each end.
    fn four_vectors(&mut self, to: Value, from: Value, size: Value) {
        let end = self.e.b.ins().iadd(from, size);
        let loads = [(from, 0), (from, 16), (end, -32), (end, -16)];
        let values = loads.map(|(at, offset)| (self.e.b.ins()).load(I8X16, trusted(), at, offset));
        let end = self.e.b.ins().iadd(to, size);
        let stores = [(to, 0), (to, 16), (end, -32), (end, -16)];
        for (value, (at, offset)) in values.into_iter().zip(stores) {
            self.e.b.ins().store(trusted(), value, at, offset);
        }
    }

    /// Copies between one and two times the size of `ty`, by one access at each end, and goes to
    /// `done`.
    fn both_ends(&mut self, to: Value, from: Value, size: Value, ty: Type, done: Block) {
        let back = -(ty.bytes() as i32);
        let end = self.e.b.ins().iadd(from, size);
        let first = self.e.b.ins().load(ty, trusted(), from, 0);
        let last = self.e.b.ins().load(ty, trusted(), end, back);
        let end = self.e.b.ins().iadd(to, size);
        self.e.b.ins().store(trusted(), first, to, 0);
        self.e.b.ins().store(trusted(), last, end, back);
        self.e.b.ins().jump(done, &[]);
    }
}
