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
//! # Memory that a test reads
//! `while (!finished) { }` waits for another thread, and programs that do so without `volatile` work on mono. The copy reads `finished` in front of the
//! loop; if nothing in the loop writes, Cranelift would take that value for the one that the loop reads. So a test that reads memory begins with a
//! `sequence_point`, behind which nothing that was read before counts:
//!
//! ```text
//!     v0 = load finished; brif v0, on, test         ; the copy
//! test:
//!     sequence_point
//!     v1 = load finished; brif v1, on, test         ; without the point: v0
//! ```
//!
//! # Invariants
//! * A test that reads memory reads it in each iteration.
//! * The copy is code of the test's block: its edges, handlers and positions are those of that block.
//! * The stack is empty where the copy begins, so nothing is carried into it.
use crate::options::Tier;
use crate::translate::control::control_flow::{in_handler, targets};
use crate::translate::error::Res;
use crate::translate::inlining::limits::inline_limit;
use crate::translate::translator::Translator;
use cranelift_codegen::ir::InstBuilder;
use vervet_metadata::il::{Op, Operand};

/// The longest test that is copied, in instructions.
const TEST: usize = 12;
/// How many calls it may have. A call of a property is mostly inlined.
const CALLS: usize = 1;

/// Whether an instruction may read memory that another thread writes: anything but what deals with variables, constants and numbers. The length of an array
/// does not change.
fn may_read(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Ldsfld
            | Ldfld
            | Ldobj
            | Ldelem
            | LdelemI
            | LdelemI1
            | LdelemI2
            | LdelemI4
            | LdelemI8
            | LdelemU1
            | LdelemU2
            | LdelemU4
            | LdelemR4
            | LdelemR8
            | LdelemRef
            | LdindI
            | LdindI1
            | LdindI2
            | LdindI4
            | LdindI8
            | LdindU1
            | LdindU2
            | LdindU4
            | LdindR4
            | LdindR8
            | LdindRef
            | Call
            | Callvirt
            | Calli
    )
}

impl<'a, 'f> Translator<'a, 'f> {
    /// At the start of a block: if it is a test at the bottom of a loop that reads memory, what was read before does not count.
    pub(crate) fn begin_test(&mut self, block: usize) {
        let plan = self.body.plan;
        let test = &plan.blocks[block];
        let instrs = &plan.instrs[test.first as usize..test.end as usize];
        let goes_back = targets(plan.last(block))
            .iter()
            .any(|to| *to <= test.offset);
        if goes_back && instrs.iter().any(|i| may_read(i.op)) {
            self.e.b.ins().sequence_point();
        }
    }

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
