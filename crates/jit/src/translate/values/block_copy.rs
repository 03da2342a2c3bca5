//! Moves of blocks of bytes whose length is known only when they run: short ones are done in place.
//!
//! # Invariants
//! * Everything is read before anything is written, so the two ends may overlap.
//! * The only addresses that are formed are the two ends and what is one past them.
use crate::emit::trusted;
use crate::options::Tier;
use crate::translate::inlining::limits::inline_limit;
use crate::translate::translator::Translator;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Type, Value, types::*};
use vervet_abi::call;

/// More bytes are the helper's.
const SHORT: i64 = 32;

impl<'a, 'f> Translator<'a, 'f> {
    /// Moves `size` (64 bits) bytes without references, in units of 1 or 2 bytes, between two addresses that may be
    /// anything if it is 0.
    pub(crate) fn move_bytes(&mut self, to: Value, from: Value, size: Value, unit: i64) {
        // Where compiling shall be quick, code shall be short.
        if self.inline_limit < inline_limit(Tier::Optimised) {
            self.e.helper(call::MemMove, [to, from, size]);
            return;
        }
        let done = self.e.b.create_block();
        let (large, small) = self.fork(size, 8);
        self.enter(large);
        let (call, middle) = self.fork(size, SHORT + 1);
        self.enter(call);
        self.e.helper(call::MemMove, [to, from, size]);
        self.e.b.ins().jump(done, &[]);
        self.enter(middle);
        let (sixteen, eight) = self.fork(size, 16);
        for (block, ty) in [(sixteen, I8X16), (eight, I64)] {
            self.enter(block);
            self.both_ends(to, from, size, ty, done);
        }
        self.enter(small);
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

    /// Two blocks: for sizes of at least that many bytes, and for others.
    fn fork(&mut self, size: Value, least: i64) -> (Block, Block) {
        let (yes, no) = (self.e.b.create_block(), self.e.b.create_block());
        let cc = IntCC::UnsignedGreaterThanOrEqual;
        let enough = self.e.b.ins().icmp_imm_u(cc, size, least);
        self.e.b.ins().brif(enough, yes, &[], no, &[]);
        (yes, no)
    }

    fn enter(&mut self, block: Block) {
        self.e.b.seal_block(block);
        self.e.b.switch_to_block(block);
    }

    /// Moves one to two times the bytes of a type.
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
