//! Exception handling: landing pads, `leave`, finally handlers, `rethrow`, the end of a filter.
//!
//! # How it works
//! Every clause has a landing pad, the target of the `try_call`s in its protected range. The
//! unwinder enters it with the exception object and the unwind record. The pad reads the variables
//! that are live into the handler from their slots and jumps to the handler.
//!
//! A finally or fault handler is translated once. Its clause has three slots: the exception, the
//! unwind record, and an index that says where `endfinally` goes:
//!
//! ```text
//!   leave L  (n-th continuation)          exception passes
//!       index = n                             exception, record = parameters of the pad
//!       jump handler                          index = 0
//!            \                               /
//!             v                             v
//!            handler:  ... endfinally --> dispatch:
//!                                             br_table index
//!                                                0: call ContinueUnwind(exception, record)
//!                                                n: jump to L, or to the next finally on the way to L
//! ```
//!
//! Dispatch blocks are emitted after the walk, when every `leave` is known.
//!
//! A `leave` through two finally handlers registers its continuation from the outside inwards:
//!
//! ```text
//! try { try { leave L; } finally { F } } finally { G }
//!
//!     F.index = 1;  jump F                   ; continuation 1 of F: go on in G with index 1
//!     F: ... endfinally -> dispatch F:  1: G.index = 1; jump G
//!     G: ... endfinally -> dispatch G:  1: jump L
//! ```
//!
//! # Invariants
//! * The exception and the record that a finally runs for lie in the frame and never in the thread
//!   context, because the finally may itself throw and catch.
//! * A catch handler frees the localloc memory of the frames that the unwinder removed, and none of
//!   its own method. The pad sets the thread's localloc pointer to what it was when the call that
//!   threw was made ([`Translator::record_localloc_top`]).
//! * What is emitted at the end of a handler has the handlers around that handler. The set of the
//!   handler's first block would be wrong where a handler begins with a `try`
//!   ([`Plan::around_handler`](crate::translate::control::control_flow::Plan::around_handler)).
use crate::blob::Symbol;
use crate::translate::control::control_flow::{in_handler, in_try};
use crate::translate::control::state::{ClauseState, Continuation};
use crate::translate::error::{Res, TranslateError};
use crate::translate::fast_paths::monitors;
use crate::translate::translator::Translator;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, JumpTableData, StackSlot, types::*};
use smallvec::SmallVec;
use vervet_abi::{call, context};
use vervet_metadata::body::EhKind;
use vervet_metadata::il::Op;

impl<'a, 'f> Translator<'a, 'f> {
    /// Creates the clause states, and loads the classes of catch clauses.
    pub(crate) fn prepare_clauses(&mut self) -> Res {
        for c in &self.body.plan.clauses {
            let mut state = ClauseState::default();
            match c.kind {
                EhKind::Catch(token) => {
                    let class = self.body.scope.type_(token)?;
                    class.check_named()?;
                    state.class = Some(class);
                    state.rethrows = self.has_rethrow(c.handler_offset, c.handler_len);
                }
                EhKind::Filter(_) => {
                    state.rethrows = self.has_rethrow(c.handler_offset, c.handler_len)
                }
                EhKind::Finally | EhKind::Fault => {}
            }
            self.body.clauses.push(state);
        }
        Ok(())
    }

    /// Whether a range of IL contains a `rethrow`.
    fn has_rethrow(&self, offset: u32, len: u32) -> bool {
        let first = self.body.plan.instrs.partition_point(|i| i.offset < offset);
        self.body.plan.instrs[first..]
            .iter()
            .take_while(|i| i.offset < offset + len)
            .any(|i| i.op == Op::Rethrow)
    }

    /// The landing pad of a clause.
    fn pad(&mut self, clause: usize) -> Block {
        if let Some(pad) = self.body.clauses[clause].pad {
            return pad;
        }
        let pad = self.new_pad();
        self.body.clauses[clause].pad = Some(pad);
        pad
    }

    /// A new landing pad. Its parameters are the exception object and the unwind record, which the
    /// unwinder passes in rax and rdx.
    pub(crate) fn new_pad(&mut self) -> Block {
        let pad = self.e.b.create_block();
        self.e.b.append_block_param(pad, I64);
        self.e.b.append_block_param(pad, I64);
        pad
    }

    /// Makes the handlers of a region those of the calls that follow.
    pub(crate) fn set_region(&mut self, region: u32) -> Res {
        let plan = self.body.plan;
        self.set_clauses(&plan.regions[region as usize])
    }

    /// Makes these clauses, innermost first, the handlers of the calls that follow. The fault
    /// handler of a synchronized method, which leaves the monitor, is the outermost one.
    fn set_clauses(&mut self, clauses: &[u32]) -> Res {
        if self.body.inline.is_some() {
            // An inlined body has no clauses. Its calls keep the handlers that surround the inlined
            // call.
            return Ok(());
        }
        let plan = self.body.plan;
        let mut handlers: SmallVec<[(u32, Block); 4]> = SmallVec::new();
        for c in clauses {
            let pad = self.pad(*c as usize);
            handlers.push((*c, pad));
        }
        if let Some((_, pad)) = self.body.sync {
            handlers.push((plan.clauses.len() as u32, pad));
        }
        self.e.set_handlers(&handlers);
        Ok(())
    }

    /// A slot of a clause, created on first use.
    fn slot_of(
        &mut self,
        clause: usize,
        which: fn(&mut ClauseState) -> &mut Option<StackSlot>,
    ) -> StackSlot {
        if let Some(slot) = *which(&mut self.body.clauses[clause]) {
            return slot;
        }
        let slot = self.e.slot(8);
        *which(&mut self.body.clauses[clause]) = Some(slot);
        slot
    }

    /// If handlers begin at the block: emits their landing pads. That of a catch clause:
    ///
    /// ```text
    /// pad(exception: i64, record: i64):
    ///     x = stack_load shadow of x              ; for each variable that is live at the handler
    ///     context.localloc_next = localloc_top    ; if the method has the slot
    ///     stack_store exception, slot             ; if the handler contains a rethrow
    ///     jump handler(exception)
    /// ```
    pub(crate) fn begin_handlers(&mut self, block: usize, clif: Block) -> Res {
        if self.body.plan.clauses.is_empty() {
            return Ok(());
        }
        let offset = self.body.plan.blocks[block].offset;
        for n in 0..self.body.plan.clauses.len() {
            let c = &self.body.plan.clauses[n];
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
                    // The frames between the throw and this handler are gone, and so is what they
                    // took by `localloc`.
                    if let Some(slot) = self.body.localloc_top {
                        let top = self.e.b.ins().stack_load(I64, I64, slot, 0);
                        self.e.store_context(top, context::LOCALLOC_NEXT);
                    }
                    if self.body.clauses[n].rethrows {
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

    /// `throw` (ECMA-335 III.4.31). The helper throws NullReferenceException for null.
    pub(crate) fn throw(&mut self) -> Res {
        let operand = self.pop_ref()?;
        self.e.helper_noreturn(call::Throw, [operand.value]);
        self.body.dead = true;
        Ok(())
    }

    /// `rethrow` (ECMA-335 III.4.24): throws the caught exception again, with its stack trace kept.
    /// Allowed only in the body of a catch handler.
    pub(crate) fn rethrow(&mut self) -> Res {
        let at = self.body.plan.instrs[self.body.index].offset;
        let clause = match self.enclosing_catch() {
            Some(clause) if !self.body.plan.is_filtered_from(at, clause) => clause,
            _ => return Err(TranslateError::invalid("rethrow outside a catch handler")),
        };
        let slot = self.slot_of(clause, |c| &mut c.exception);
        let exception = self.e.b.ins().stack_load(I64, I64, slot, 0);
        self.e.helper_noreturn(call::Rethrow, [exception]);
        self.body.dead = true;
        Ok(())
    }

    /// `leave` (ECMA-335 III.3.46): empties the stack and jumps out of a protected range or
    /// handler, through the finally handlers on the way. The continuations are registered from the
    /// outermost finally inwards, because each inner one goes on in the next outer one.
    pub(crate) fn leave(&mut self, target: u32) -> Res {
        let plan = self.body.plan;
        let from = plan.instrs[self.body.index].offset;
        self.body.stack.clear();
        // The exception that a catch handler was entered with is done with when the handler is
        // left.
        let left_catch = plan.clauses.iter().any(|c| {
            matches!(c.kind, EhKind::Catch(_) | EhKind::Filter(_))
                && in_handler(c, from)
                && !in_handler(c, target)
        });
        if left_catch {
            // A thread abort is raised again at the end of every catch handler
            // (System.Threading.ThreadAbortException).
            self.e.poll_interrupts(call::EndCatch);
        }
        if plan.clauses.iter().any(|c| {
            matches!(c.kind, EhKind::Finally | EhKind::Fault)
                && in_handler(c, from)
                && !in_handler(c, target)
        }) {
            return Err(TranslateError::invalid(
                "leave out of a finally or fault handler",
            ));
        }
        let to = plan.block(target)?;
        let through = plan.finallys(from, target);
        let mut next: Option<(usize, u32)> = None;
        for c in through.iter().rev() {
            let continuation = match next {
                None => Continuation::Block(to),
                Some((clause, index)) => Continuation::Finally(clause, index),
            };
            let list = &mut self.body.clauses[*c as usize].continuations;
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
                self.body.dead = true;
                Ok(())
            }
        }
    }

    /// Jumps to a finally handler that goes on with that index.
    fn enter_finally(&mut self, clause: usize, index: u32) -> Res {
        if self.e.recorded.finallys {
            let method = self.e.symbol(Symbol::MethodHandle(self.body.method));
            let number = self.i32(clause as i32);
            self.e.helper(call::RecordFinally, [method, number]);
        }
        let slot = self.slot_of(clause, |c| &mut c.index);
        let index = self.i32(index as i32);
        self.e.b.ins().stack_store(I64, index, slot, 0);
        let handler = self
            .body
            .plan
            .block(self.body.plan.clauses[clause].handler_offset)?;
        let handler = self.clif_block(handler);
        self.e.b.ins().jump(handler, &[]);
        Ok(())
    }

    /// `endfinally` and `endfault`, one opcode (ECMA-335 III.3.35).
    pub(crate) fn end_finally(&mut self) -> Res {
        let at = self.body.plan.instrs[self.body.index].offset;
        let found =
            self.body.plan.clauses.iter().position(|c| {
                in_handler(c, at) && matches!(c.kind, EhKind::Finally | EhKind::Fault)
            });
        let clause = match found {
            Some(clause) if !self.body.plan.is_filtered_from(at, clause) => clause,
            _ => return Err(TranslateError::invalid("endfinally outside a handler")),
        };
        let dispatch = match self.body.clauses[clause].dispatch {
            Some(b) => b,
            None => {
                let b = self.e.b.create_block();
                self.body.clauses[clause].dispatch = Some(b);
                b
            }
        };
        self.body.stack.clear();
        self.e.b.ins().jump(dispatch, &[]);
        self.body.dead = true;
        Ok(())
    }

    /// `endfilter` (ECMA-335 III.3.34): returns from the filter's function. 1 means that the
    /// handler runs, 0 that the search goes on.
    pub(crate) fn end_filter(&mut self) -> Res {
        if self.body.filter.is_none() {
            return Err(TranslateError::invalid("endfilter outside a filter"));
        }
        let value = self.pop_i32()?;
        if !self.body.stack.is_empty() {
            return Err(TranslateError::invalid(
                "endfilter with more than its value on the stack",
            ));
        }
        self.e.b.ins().return_(&[value]);
        self.body.dead = true;
        Ok(())
    }

    /// Emits what had to wait until every `leave` was seen: the dispatch blocks of the finally
    /// handlers, and the fault handler of a synchronized method.
    pub(crate) fn finish_clauses(&mut self) -> Res {
        let plan = self.body.plan;
        self.body.stack.clear();
        for n in 0..self.body.clauses.len() {
            let Some(dispatch) = self.body.clauses[n].dispatch else {
                continue;
            };
            let c = &plan.clauses[n];
            self.e
                .at(c.handler_offset + c.handler_len.saturating_sub(1));
            self.set_clauses(&plan.around_handler(n)?)?;
            self.e.b.switch_to_block(dispatch);
            // Index 0: an exception is passing, and unwinding goes on.
            let unwind = self.e.b.create_block();
            let slot = self.slot_of(n, |c| &mut c.index);
            let index = self.e.b.ins().stack_load(I64, I32, slot, 0);
            let mut targets = vec![unwind];
            let mut through = Vec::new();
            let mut out = Vec::new();
            for continuation in self.body.clauses[n].continuations.clone() {
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
                // One continuation, as `lock`, `using` and `foreach` have it: a branch does, and
                // the exceptional side is cold.
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
                // A request that had to wait for the handler (a thread abort is not raised inside a
                // finally) is served where the handler has ended.
                self.e.b.switch_to_block(block);
                self.e.at(plan.blocks[to].offset);
                self.set_region(plan.blocks[to].region)?;
                self.e.poll_interrupts(call::Poll);
                self.jump_to(to)?;
            }
        }
        // The monitor of a synchronized method is left with the exception still on its way. No
        // handler is set here: an exception of the exit itself goes to the caller.
        if let Some((slot, pad)) = self.body.sync {
            self.e.set_handlers(&[]);
            self.e.b.switch_to_block(pad);
            let (exception, record) =
                (self.e.b.block_params(pad)[0], self.e.b.block_params(pad)[1]);
            let object = self.e.b.ins().stack_load(I64, I64, slot, 0);
            monitors::exit(self.e, object, false, |e| {
                e.helper(call::MonitorExit, [object]);
            });
            self.e
                .helper_noreturn(call::ContinueUnwind, [exception, record]);
        }
        Ok(())
    }

    /// Whether the current instruction lies in a protected range.
    pub(crate) fn in_protected(&self) -> bool {
        let at = self.body.plan.instrs[self.body.index].offset;
        self.body.plan.clauses.iter().any(|c| in_try(c, at))
    }
}
