//! Exceptions: regions, landing pads, leave, finally, rethrow, filters' ends.
//!
//! # How it works
//! Every clause has a landing pad, the target of the `try_call`s in its protected range. It reads the variables
//! that are live into the handler from their slots and goes to the handler. A finally or fault is translated once:
//! it is entered with a continuation index in a slot of the frame (0: an exception passes; exception and unwind
//! record are in slots too; n: the n-th place that a `leave` through it goes on to), and `endfinally` goes
//! to the clause's dispatch block, a `br_table` on that index.
//!
//! # Invariants
//! * Which exception and record a finally is running for lies in the frame, never in the context: the finally may
//!   itself throw and catch.
//! * A catch gives back what the frames it ended had of the localloc stack, and nothing of what its own method has: the pad sets
//!   `localloc_next` to what it was when the call that threw was made ([`Translator::note_side_top`]).
//! * What is done where a handler ends has the handlers around the handler. The clauses of its first block are others
//!   where the handler begins with a `try` ([`Plan::around_handler`](crate::translate::control::control_flow::Plan::around_handler)).
use crate::translate::control::control_flow::{in_handler, in_try};
use crate::translate::error::{Fail, Res};
use crate::translate::fast_paths::monitors;
use crate::translate::translator::Translator;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, JumpTableData, StackSlot, types::*};
use smallvec::SmallVec;
use vervet_abi::{call, context};
use vervet_metadata::body::EhKind;
use vervet_metadata::il::Op;
use vervet_types::ClassRef;

/// Where a finally goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Continuation {
    /// At an IL block.
    Block(usize),
    /// In the finally of another clause, with that index.
    Finally(usize, u32),
}

/// A clause while its method is being translated.
#[derive(Default)]
pub struct ClauseState {
    pad: Option<Block>,
    /// The caught exception (for rethrow), or the one that passes through a finally.
    exception: Option<StackSlot>,
    record: Option<StackSlot>,
    index: Option<StackSlot>,
    dispatch: Option<Block>,
    continuations: Vec<Continuation>,
    rethrows: bool,
    class: Option<ClassRef>,
}

impl<'a, 'f> Translator<'a, 'f> {
    pub(crate) fn prepare_clauses(&mut self) -> Res {
        for c in &self.plan.clauses {
            let mut state = ClauseState::default();
            match c.kind {
                EhKind::Catch(token) => {
                    state.class = Some(self.scope.type_(token)?);
                    state.rethrows = self.has_rethrow(c.handler_offset, c.handler_len);
                }
                EhKind::Filter(_) => {
                    state.rethrows = self.has_rethrow(c.handler_offset, c.handler_len)
                }
                EhKind::Finally | EhKind::Fault => {}
            }
            self.clauses.push(state);
        }
        Ok(())
    }

    fn has_rethrow(&self, offset: u32, len: u32) -> bool {
        let first = self.plan.instrs.partition_point(|i| i.offset < offset);
        self.plan.instrs[first..]
            .iter()
            .take_while(|i| i.offset < offset + len)
            .any(|i| i.op == Op::Rethrow)
    }

    fn pad(&mut self, clause: usize) -> Block {
        if let Some(pad) = self.clauses[clause].pad {
            return pad;
        }
        let pad = self.new_pad();
        self.clauses[clause].pad = Some(pad);
        pad
    }

    /// A landing pad: exception and unwind record.
    pub(crate) fn new_pad(&mut self) -> Block {
        let pad = self.e.b.create_block();
        self.e.b.append_block_param(pad, I64);
        self.e.b.append_block_param(pad, I64);
        pad
    }

    /// Calls from here on have the region's handlers.
    pub(crate) fn set_region(&mut self, region: u32) -> Res {
        let plan = self.plan;
        self.set_clauses(&plan.regions[region as usize])
    }

    /// Calls from here on have the handlers of these clauses, innermost first.
    fn set_clauses(&mut self, clauses: &[u32]) -> Res {
        if self.inline.is_some() {
            // The handlers are those of the place of the call.
            return Ok(());
        }
        let plan = self.plan;
        let mut handlers: SmallVec<[(u32, Block); 4]> = SmallVec::new();
        for c in clauses {
            let pad = self.pad(*c as usize);
            handlers.push((*c, pad));
        }
        if let Some((_, pad)) = self.sync {
            handlers.push((plan.clauses.len() as u32, pad));
        }
        self.e.set_handlers(&handlers);
        Ok(())
    }

    fn slot_of(
        &mut self,
        clause: usize,
        which: fn(&mut ClauseState) -> &mut Option<StackSlot>,
    ) -> StackSlot {
        if let Some(slot) = *which(&mut self.clauses[clause]) {
            return slot;
        }
        let slot = self.e.slot(8);
        *which(&mut self.clauses[clause]) = Some(slot);
        slot
    }

    /// If handlers begin at the block: their landing pads, which go to it.
    pub(crate) fn begin_handlers(&mut self, block: usize, clif: Block) -> Res {
        if self.plan.clauses.is_empty() {
            return Ok(());
        }
        let offset = self.plan.blocks[block].offset;
        for n in 0..self.plan.clauses.len() {
            let c = &self.plan.clauses[n];
            if c.handler_offset != offset {
                continue;
            }
            let pad = self.pad(n);
            self.e.b.switch_to_block(pad);
            let (exception, record) =
                (self.e.b.block_params(pad)[0], self.e.b.block_params(pad)[1]);
            self.reload(block);
            match c.kind {
                EhKind::Catch(_) | EhKind::Filter(_) => {
                    if let Some(slot) = self.side_top {
                        let top = self.e.b.ins().stack_load(I64, I64, slot, 0);
                        self.e.store_context(top, context::LOCALLOC_NEXT);
                    }
                    if self.clauses[n].rethrows {
                        let slot = self.slot_of(n, |c| &mut c.exception);
                        self.e.b.ins().stack_store(I64, exception, slot, 0);
                    }
                    self.e.b.ins().jump(clif, &[BlockArg::Value(exception)]);
                }
                EhKind::Finally | EhKind::Fault => {
                    let slot = self.slot_of(n, |c| &mut c.exception);
                    self.e.b.ins().stack_store(I64, exception, slot, 0);
                    let slot = self.slot_of(n, |c| &mut c.record);
                    self.e.b.ins().stack_store(I64, record, slot, 0);
                    let slot = self.slot_of(n, |c| &mut c.index);
                    let zero = self.i32(0);
                    self.e.b.ins().stack_store(I64, zero, slot, 0);
                    self.e.b.ins().jump(clif, &[]);
                }
            }
        }
        Ok(())
    }

    /// throw
    pub(crate) fn throw(&mut self) -> Res {
        let item = self.pop_ref()?;
        self.e.helper_noreturn(call::Throw, [item.value]);
        self.dead = true;
        Ok(())
    }

    /// rethrow
    pub(crate) fn rethrow(&mut self) -> Res {
        let at = self.plan.instrs[self.index].offset;
        let clause = match self.enclosing_catch() {
            Some(clause) if !self.plan.is_filtered_from(at, clause) => clause,
            _ => return Err(Fail::invalid("rethrow outside a catch handler")),
        };
        let slot = self.slot_of(clause, |c| &mut c.exception);
        let exception = self.e.b.ins().stack_load(I64, I64, slot, 0);
        self.e.helper_noreturn(call::Rethrow, [exception]);
        self.dead = true;
        Ok(())
    }

    /// leave
    pub(crate) fn leave(&mut self, target: u32) -> Res {
        let plan = self.plan;
        let from = plan.instrs[self.index].offset;
        self.stack.clear();
        let left_catch = plan.clauses.iter().any(|c| {
            matches!(c.kind, EhKind::Catch(_) | EhKind::Filter(_))
                && in_handler(c, from)
                && !in_handler(c, target)
        });
        if left_catch {
            self.poll_interrupts(call::EndCatch);
        }
        if plan.clauses.iter().any(|c| {
            matches!(c.kind, EhKind::Finally | EhKind::Fault)
                && in_handler(c, from)
                && !in_handler(c, target)
        }) {
            return Err(Fail::invalid("leave out of a finally or fault handler"));
        }
        let to = plan.block(target)?;
        let chain = plan.finallys(from, target);
        let mut next: Option<(usize, u32)> = None;
        for c in chain.iter().rev() {
            let continuation = match next {
                None => Continuation::Block(to),
                Some((clause, index)) => Continuation::Finally(clause, index),
            };
            let list = &mut self.clauses[*c as usize].continuations;
            let at = list
                .iter()
                .position(|x| *x == continuation)
                .unwrap_or_else(|| {
                    list.push(continuation);
                    list.len() - 1
                });
            next = Some((*c as usize, at as u32 + 1));
        }
        match next {
            None => self.branch(target),
            Some((clause, index)) => {
                self.poll(target);
                self.enter_finally(clause, index)?;
                self.dead = true;
                Ok(())
            }
        }
    }

    fn enter_finally(&mut self, clause: usize, index: u32) -> Res {
        let slot = self.slot_of(clause, |c| &mut c.index);
        let index = self.i32(index as i32);
        self.e.b.ins().stack_store(I64, index, slot, 0);
        let handler = self.plan.block(self.plan.clauses[clause].handler_offset)?;
        let handler = self.clif_block(handler);
        self.e.b.ins().jump(handler, &[]);
        Ok(())
    }

    /// endfinally, endfault
    pub(crate) fn end_finally(&mut self) -> Res {
        let at = self.plan.instrs[self.index].offset;
        let found =
            self.plan.clauses.iter().position(|c| {
                in_handler(c, at) && matches!(c.kind, EhKind::Finally | EhKind::Fault)
            });
        let clause = match found {
            Some(clause) if !self.plan.is_filtered_from(at, clause) => clause,
            _ => return Err(Fail::invalid("endfinally outside a handler")),
        };
        let dispatch = match self.clauses[clause].dispatch {
            Some(b) => b,
            None => {
                let b = self.e.b.create_block();
                self.clauses[clause].dispatch = Some(b);
                b
            }
        };
        self.stack.clear();
        self.e.b.ins().jump(dispatch, &[]);
        self.dead = true;
        Ok(())
    }

    /// endfilter
    pub(crate) fn end_filter(&mut self) -> Res {
        if self.filter.is_none() {
            return Err(Fail::invalid("endfilter outside a filter"));
        }
        let value = self.pop_i32()?;
        if !self.stack.is_empty() {
            return Err(Fail::invalid(
                "endfilter with more than its value on the stack",
            ));
        }
        self.e.b.ins().return_(&[value]);
        self.dead = true;
        Ok(())
    }

    /// What was put off until every `leave` was seen.
    pub(crate) fn finish_clauses(&mut self) -> Res {
        let plan = self.plan;
        self.stack.clear();
        for n in 0..self.clauses.len() {
            let Some(dispatch) = self.clauses[n].dispatch else {
                continue;
            };
            let c = &plan.clauses[n];
            self.e
                .at(c.handler_offset + c.handler_len.saturating_sub(1));
            self.set_clauses(&plan.around_handler(n)?)?;
            self.e.b.switch_to_block(dispatch);
            let unwind = self.e.b.create_block();
            let slot = self.slot_of(n, |c| &mut c.index);
            let index = self.e.b.ins().stack_load(I64, I32, slot, 0);
            let mut targets = vec![unwind];
            let mut through = Vec::new();
            let mut out = Vec::new();
            for continuation in self.clauses[n].continuations.clone() {
                let block = match continuation {
                    Continuation::Block(to) => {
                        let block = self.e.b.create_block();
                        out.push((block, to));
                        block
                    }
                    Continuation::Finally(clause, index) => {
                        let block = self.e.b.create_block();
                        through.push((block, clause, index));
                        block
                    }
                };
                targets.push(block);
            }
            match targets[..] {
                [_] => {
                    self.e.b.ins().jump(unwind, &[]);
                }
                // Nearly always: `lock`, `using`, `foreach`.
                [_, out] => {
                    self.e.b.ins().brif(index, out, &[], unwind, &[]);
                    self.e.b.set_cold_block(unwind);
                }
                _ => {
                    let dfg = &mut self.e.b.func.dfg;
                    let calls: Vec<_> = targets.iter().map(|b| dfg.block_call(*b, &[])).collect();
                    let table = self
                        .e
                        .b
                        .create_jump_table(JumpTableData::new(calls[0], &calls));
                    self.e.b.ins().br_table(index, table);
                }
            }
            for (block, clause, index) in through {
                self.e.b.switch_to_block(block);
                self.enter_finally(clause, index)?;
            }
            self.e.b.switch_to_block(unwind);
            let slot = self.slot_of(n, |c| &mut c.exception);
            let exception = self.e.b.ins().stack_load(I64, I64, slot, 0);
            let slot = self.slot_of(n, |c| &mut c.record);
            let record = self.e.b.ins().stack_load(I64, I64, slot, 0);
            self.e
                .helper_noreturn(call::ContinueUnwind, [exception, record]);
            for (block, to) in out {
                // An abort that had to wait for the handler comes where it has ended.
                self.e.b.switch_to_block(block);
                self.e.at(plan.blocks[to].offset);
                self.set_region(plan.blocks[to].region)?;
                self.poll_interrupts(call::Poll);
                self.jump_to(to)?;
            }
        }
        if let Some((slot, pad)) = self.sync {
            self.e.set_handlers(&[]);
            self.e.b.switch_to_block(pad);
            let (exception, record) =
                (self.e.b.block_params(pad)[0], self.e.b.block_params(pad)[1]);
            let object = self.e.b.ins().stack_load(I64, I64, slot, 0);
            monitors::exit(self.e, object, |e| {
                e.helper(call::MonitorExit, [object]);
            });
            self.e
                .helper_noreturn(call::ContinueUnwind, [exception, record]);
        }
        Ok(())
    }

    /// Is the current instruction in a protected range?
    pub(crate) fn in_protected(&self) -> bool {
        let at = self.plan.instrs[self.index].offset;
        self.plan.clauses.iter().any(|c| in_try(c, at))
    }
}
