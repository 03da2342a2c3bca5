//! Inlined methods whose answer a branch asks for: each `ret` goes where the branch would.
//!
//! ```text
//! if (IsWhite(c)) A(); else B();           static bool IsWhite(int c) => c == ' ' || c - 9 <= 4u
//!
//!     with a join                               with a fork
//!     brif c == ' ', block1, block2             brif c == ' ', yes, block2
//! block1:
//!     jump join(1)
//! block2:                                   block2:
//!     jump join(c - 9 <= 4)                     brif c - 9 <= 4, yes, no
//! join(v):                                  yes:
//!     brif v, A, B                              jump A
//!                                           no:
//!                                               jump B
//! ```
//!
//! (Known as jump threading; done here because the builder of CLIF then makes the phis.)
//!
//! The branch may be the next instruction, or be that of the caller of an inlined method which
//! returns the answer, and the answer may be negated in between.
//!
//! # Invariants
//! * Nothing lies on the stack but the answer, so the two ways bring nothing with them but local
//!   variables, which the builder of CLIF follows.
//! * A way that no `ret` takes is left out in an inlined body without loops, as the side of a branch
//!   on a constant is.
use crate::signature::{LoweredSignature, scalar_kind};
use crate::translate::control::join::{Fork, Join, result_type};
use crate::translate::error::{Res, TranslateError};
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackType, StackValue, ValueFact};
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use vervet_metadata::il::{Instr, Op, Operand};
use vervet_types::ClassRef;

/// Who asks.
struct Asking {
    /// The index of the branch, or of the `ret`.
    at: usize,
    /// It asks for the opposite.
    negated: bool,
}

impl<'a> Translator<'a, '_> {
    /// The instruction at an index, if it is in the current block.
    fn instruction_at(&self, index: usize) -> Option<&'a Instr<'static>> {
        let block = &self.body.plan.blocks[self.body.block];
        (index < block.end as usize).then(|| &self.body.plan.instrs[index])
    }

    /// The branch that follows the call, the current instruction.
    ///
    /// A `ret` makes the answer a value of the method's own type, which the branch would see: only an
    /// answer of that type goes past it.
    fn asking(&self, answer: ClassRef) -> Option<Asking> {
        let mut at = self.body.index + 1;
        let mut negated = false;
        while self.instruction_at(at)?.op == Op::LdcI40
            && self.instruction_at(at + 1)?.op == Op::Ceq
        {
            at += 2;
            negated = !negated;
        }
        let asks = match self.instruction_at(at)?.op {
            Op::Brtrue | Op::BrtrueS | Op::Brfalse | Op::BrfalseS => true,
            // Where more than whether it is 0 is of interest, the number itself is returned.
            Op::Ret => {
                let inline = self.body.inline.as_ref();
                let fits =
                    negated || scalar_kind(answer) == scalar_kind(self.body.lowered.ret_class);
                fits && inline.is_some_and(|i| i.join.is_some_and(|j| j.fork.is_some()))
            }
            _ => false,
        };
        asks.then_some(Asking { at, negated })
    }

    /// A fork for the result of the call which is the current instruction, and whose arguments have
    /// been popped. None: nothing but a branch may ask for the result.
    pub(crate) fn new_fork(&mut self, lowered: &LoweredSignature) -> Res<Option<Join>> {
        if self.body.skip > 0
            || !self.body.stack.is_empty()
            || result_type(lowered)? != Some(StackType::I32)
            || self.asking(lowered.ret_class).is_none()
        {
            return Ok(None);
        }
        let [no, yes] = [(); 2].map(|()| self.e.b.create_block());
        Ok(Some(Join::forked(Fork { no, yes })))
    }

    /// Whether a block only returns the answer that lies on the stack: compilers let all ways meet in
    /// front of one `ret`. Each of them takes its own way here.
    pub(crate) fn answers_fork(&self, target: usize) -> bool {
        let first = self.body.plan.blocks[target].first as usize;
        self.body.stack.len() == 1
            && self.body.plan.instrs[first].op == Op::Ret
            && (self.body.inline.as_ref()).is_some_and(|i| i.join.is_some_and(|j| j.fork.is_some()))
    }

    /// Ends a way that brings an answer.
    pub(crate) fn jump_to_fork(&mut self, fork: Fork, answer: Value) {
        match self.constant(answer) {
            Some(0) => self.jump_to_way(fork.no),
            Some(_) => self.jump_to_way(fork.yes),
            None => {
                self.session.reached.extend([fork.no, fork.yes]);
                self.e.b.ins().brif(answer, fork.yes, &[], fork.no, &[]);
            }
        }
    }

    fn jump_to_way(&mut self, way: Block) {
        self.session.reached.insert(way);
        self.e.b.ins().jump(way, &[]);
    }

    /// Behind the inlined body: each way goes where the branch goes with its answer.
    pub(crate) fn end_fork(&mut self, lowered: &LoweredSignature, fork: Fork) -> Res {
        let asking = self
            .asking(lowered.ret_class)
            .ok_or_else(|| TranslateError::internal("nobody asks for the answer"))?;
        let (index, recorded) = (self.body.index, self.body.recorded);
        let after_call = self.body.after_call;
        self.body.index = asking.at;
        self.record(asking.at);
        for (way, answer) in [(fork.yes, true), (fork.no, false)] {
            let is_reached = self.session.reached.remove(&way);
            self.e.b.seal_block(way);
            if is_reached || !self.body.leaves_out {
                self.e.b.switch_to_block(way);
                self.body.dead = false;
                self.answer(asking.at, answer != asking.negated)?;
            }
        }
        // In an arm of a guarded call the next arm is translated as if nothing had been.
        (self.body.index, self.body.recorded) = (index, recorded);
        self.body.after_call = after_call;
        self.e.at(recorded);
        self.body.dead = true;
        Ok(())
    }

    /// The branch at an index, or the `ret`, with that answer.
    fn answer(&mut self, at: usize, answer: bool) -> Res {
        let instruction = &self.body.plan.instrs[at];
        let is_taken = match instruction.op {
            Op::Ret => {
                let value = self.i32(i32::from(answer));
                self.push_value(StackValue {
                    stack_type: StackType::I32,
                    value,
                    class: None,
                    fact: ValueFact::None,
                });
                return self.inlined_ret();
            }
            Op::Brtrue | Op::BrtrueS => answer,
            _ => !answer,
        };
        let Operand::Branch(target) = instruction.operand else {
            return Err(TranslateError::internal("no branch target"));
        };
        if is_taken {
            self.poll(target);
            let taken = self.body.plan.block(target)?;
            return self.jump_to(taken);
        }
        let next = self.body.block + 1;
        if next >= self.body.plan.blocks.len() {
            return Err(TranslateError::invalid(
                "control goes past the end of the code",
            ));
        }
        self.jump_to(next)
    }
}
