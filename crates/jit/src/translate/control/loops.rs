//! Loops whose test stands at the bottom: the test is translated once more where the loop is entered.
//!
//! # How it works
//! C# compilers put the test of a loop behind its body, and a `br` to it in front:
//!
//! ```text
//!         br TEST                         test once more; if it fails, go on behind the loop
//! BODY:   ...                     BODY:   ...
//! TEST:   ldloc i; ldloc n        TEST:   ldloc i; ldloc n
//!         blt BODY                        blt BODY
//! ```
//! An iteration then takes one branch. With a jump to the test, the test would be the loop's head, and Cranelift would lay it out in front, with a
//! jump back at the end of the body. A `continue` is such a `br`, too.
//!
//! # Memory that a loop reads
//! `while (!finished) { }` waits for another thread, and programs that do so without `volatile` work on mono. Where the field was read in front of the
//! loop, by the copy or by the program itself, and nothing in the loop writes, Cranelift would take that value for the one that the loop reads. So each
//! loop's head begins with a `sequence_point`, behind which nothing that was read before counts:
//!
//! ```text
//!     v0 = load finished; brif v0, on, head         ; in front of the loop
//! head:
//!     sequence_point
//!     v1 = load finished; brif v1, on, head         ; without the point: v0
//! ```
//!
//! # Invariants
//! * What a loop reads from memory it reads in each iteration. The length of an array does not change, so it may be read once (`jit/optimise/bounds.rs`).
//! * The copy is code of the test's block: its edges, handlers and positions are those of that block.
//! * The stack is empty where the copy begins, so nothing is carried into it.
use crate::options::Tier;
use crate::translate::control::control_flow::{in_handler, targets};
use crate::translate::error::Res;
use crate::translate::inlining::limits::inline_limit;
use crate::translate::translator::Translator;
use vervet_metadata::il::{Op, Operand};

/// The longest test that is copied, in instructions.
const TEST: usize = 12;
/// How many calls it may have. A call of a property is mostly inlined.
const CALLS: usize = 1;

impl<'a, 'f> Translator<'a, 'f> {
    /// Whether a block, reached by a forward branch from here, is the test at the bottom of a loop that may be copied.
    pub(crate) fn is_loop_test(&self, block: usize) -> bool {
        let plan = self.body.plan;
        let (test, here) = (&plan.blocks[block], &plan.blocks[self.body.block]);
        let instrs = &plan.instrs[test.first as usize..test.end as usize];
        let last = plan.last(block);
        let is_branch_back = matches!(last.operand, Operand::Branch(to) if to <= test.offset)
            && !matches!(last.op, Op::Br | Op::BrS | Op::Leave | Op::LeaveS);
        let is_call = |op| matches!(op, Op::Call | Op::Callvirt | Op::Calli | Op::Newobj);
        // Both lie in the same handlers: only `leave` may go from one to another, but IL that is wrong may do otherwise.
        let is_same_place = test.region == here.region
            && plan
                .clauses
                .iter()
                .all(|c| in_handler(c, test.offset) == in_handler(c, here.offset));
        self.session.inline_limit >= inline_limit(Tier::Optimised)
            && block > self.body.block
            && is_branch_back
            && instrs.len() <= TEST
            && instrs.iter().filter(|i| is_call(i.op)).count() <= CALLS
            && is_same_place
            && !test.cold
            && !self.body.states[block].late
            && self.body.stack.is_empty()
            && targets(last).len() == 1
    }

    /// Translates a test's instructions here; its branch ends the current CLIF block.
    pub(crate) fn copy_test(&mut self, block: usize) -> Res {
        // What follows is the test's block: where a branch falls through to is asked of it.
        self.body.block = block;
        self.body.recorded = self.body.plan.blocks[block].offset;
        self.e.at(self.body.recorded);
        self.instructions(block)
    }
}
