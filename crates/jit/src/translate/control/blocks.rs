//! The walk over the blocks of a body, the edges between them, and the stack where edges meet.
//!
//! # How it works
//! The translator goes over the reachable blocks in IL order, one CLIF block for each. The values
//! on the IL stack at the end of a block become arguments of the CLIF jump, and parameters of the
//! target:
//!
//! ```text
//!     ldarg.0                         block0:
//!     brtrue L1                           brif v0, block2, block1
//!     ldc.i4.1                        block1:
//!     br L2                               jump block3(v2)       ; v2 = iconst 1
//! L1: ldc.i4.2                        block2:
//! L2: ret                                 jump block3(v3)       ; v3 = iconst 2
//!                                     block3(v4: i32):
//!                                         return v4
//! ```
//!
//! The first edge into a block decides the types of its parameters; the values of later edges are
//! coerced to them. ECMA-335 III.1.8.1.3 demands that the stacks agree, and III.1.7.5 allows a
//! block that is reached only by a backward branch to assume an empty stack.
//!
//! Where paths join with a struct on the stack that their last blocks have pushed, and at a backward
//! branch, each edge goes through a block of its own, which copies the struct to the slot of the
//! target. The target has no parameter for it, so the addresses of the slots go nowhere and scalar
//! replacement makes values of them. The structs below are parameters, mostly of one address from all
//! edges:
//!
//! ```text
//!     brif v0, split, next
//! split:
//!     copy v1 -> stack_addr carried
//!     jump join()
//! ```
//!
//! # Invariants
//! * A block without a backward branch into it is sealed when its translation starts, so that
//!   Cranelift's SSA construction needs no parameters for variables that no edge changes.
//! * A struct on the stack is an address. The slot that edges copy it to belongs to the target and
//!   to the depth on its stack, and only those edges write it. At the head of a loop all structs lie
//!   in such slots. What lies in memory of one iteration is therefore never on the stack of the next.
//! * When a block starts, the facts known about values (`nonnull`, `initialised`) are discarded:
//!   another edge may come from a place where they do not hold.
use crate::emit::trusted;
use crate::translate::control::control_flow::in_handler;
use crate::translate::control::state::{BlockState, CopyingEdge, Entry};
use crate::translate::error::{Res, TranslateError};
use crate::translate::translator::Translator;
use crate::translate::values::memory::Dest;
use crate::translate::values::stack::{StackType, StackValue, ValueFact};
use cranelift_codegen::ir::{
    Block, BlockArg, BlockCall, InstBuilder, JumpTableData, StackSlot, Value,
};
use smallvec::SmallVec;
use vervet_abi::call;
use vervet_metadata::body::EhKind;
use vervet_metadata::il::{Op, Operand};
use vervet_types::{ClassRef, Known};

/// As at the start of a loop, the classes that edges which are still to come bring are not known.
fn forget_classes(entry: &mut Entry) {
    for (kind, class) in entry {
        if *kind == StackType::Ref {
            *class = None;
        }
    }
}

impl<'a, 'f> Translator<'a, 'f> {
    /// Creates the block states, and gives blocks that are not entered by a plain branch their
    /// entry types: handlers (the exception object, or nothing) and the targets of a `leave` that
    /// runs a finally.
    pub(crate) fn prepare_blocks(&mut self) {
        self.body
            .states
            .resize_with(self.body.plan.blocks.len(), BlockState::default);
        for (from, to) in &self.body.plan.leaves {
            let through = self.body.plan.finallys(*from, *to);
            if through.is_empty() {
                continue;
            }
            let handlers = through
                .iter()
                .map(|c| self.body.plan.clauses[*c as usize].handler_offset);
            for offset in handlers.chain([*to]) {
                let b = self.body.plan.block_at[offset as usize] as usize;
                self.body.states[b].late = true;
                self.body.states[b].entry = Some(Entry::new());
            }
        }
        for c in &self.body.plan.clauses {
            let b = self.body.plan.block_at[c.handler_offset as usize] as usize;
            let state = &mut self.body.states[b];
            match c.kind {
                EhKind::Catch(_) | EhKind::Filter(_) => {
                    state.entry = Some(SmallVec::from_elem((StackType::Ref, None), 1))
                }
                _ => {
                    state.entry = Some(Entry::new());
                    state.late = true;
                }
            }
        }
    }

    /// The CLIF block of an IL block whose entry types are known. Creates it with these parameters
    /// if there is none yet.
    pub(crate) fn clif_block(&mut self, block: usize) -> Block {
        if let Some(b) = self.body.states[block].clif {
            return b;
        }
        let b = self.e.b.create_block();
        if let Some(entry) = &self.body.states[block].entry {
            for (i, (kind, _)) in entry.iter().enumerate() {
                if self.carried(block, i).is_none() {
                    self.e.b.append_block_param(b, kind.clif());
                }
            }
        }
        self.body.states[block].clif = Some(b);
        b
    }

    /// Decides where the structs on the stack at the start of a block lie, which the first edge to it
    /// brings: in slots that the edges copy them to, in loops, and where paths join if the edge's own
    /// block has pushed them. What lay below is most often the same on all paths.
    fn decide_carried(&mut self, target: usize) -> Res {
        let joins = self.body.plan.blocks[target].sources > 1;
        for i in 0..self.body.stack.len() {
            let operand = self.body.stack[i];
            let (StackType::Struct, Some(class)) = (operand.stack_type, operand.class) else {
                continue;
            };
            let is_own = self.body.entered.get(i) != Some(&operand.value);
            if self.loops(target) || joins && is_own {
                self.make_carried(target, i, class)?;
            }
        }
        Ok(())
    }

    /// Whether a backward branch leads to the block.
    fn loops(&self, block: usize) -> bool {
        let b = &self.body.plan.blocks[block];
        b.last_source >= i64::from(b.offset)
    }

    /// Translates all reachable blocks. The current CLIF block is the end of the prologue, which
    /// jumps to the first block; the function of a filter passes the exception object, its second
    /// parameter.
    pub(crate) fn run(&mut self) -> Res {
        if self.body.inline.is_none() {
            self.session.polls = !self.body.plan.clauses.is_empty() || self.body.sync.is_some();
        }
        let head = self.session.replacement.as_ref().and_then(|r| r.head);
        let head = head.filter(|_| self.body.inline.is_none());
        let entry = match self.body.filter {
            None => self.body.plan.block(head.unwrap_or(0))?,
            Some(n) => match self.body.plan.clauses[n].kind {
                EhKind::Filter(at) => self.body.plan.block(at)?,
                _ => return Err(TranslateError::internal("not a filter")),
            },
        };
        if self.body.filter.is_none() {
            self.body.states[entry].entry = Some(Entry::new());
            let first = self.clif_block(entry);
            // What answers a call in front of the body is not asked in its middle.
            let bypass = match head {
                None => self.bypass()?,
                Some(_) => None,
            };
            match bypass {
                None if head.is_some() => self.enter_loop(entry)?,
                None if self.answer_conversion(first)?
                    || self.answer_search(first)?
                    || self.answer_collation(first)?
                    || self.answer_question(first)? => {}
                Some((taken, end)) => {
                    self.body.states[end].entry = Some(Entry::new());
                    let behind = self.clif_block(end);
                    self.e.b.ins().brif(taken, behind, &[], first, &[]);
                }
                None => {
                    self.e.b.ins().jump(first, &[]);
                }
            }
        } else {
            self.body.states[entry].entry = Some(SmallVec::from_elem((StackType::Ref, None), 1));
            let first = self.clif_block(entry);
            let exception = self.body.params[1];
            self.e.b.ins().jump(first, &[BlockArg::Value(exception)]);
        }
        let mut waiting = Vec::new();
        let mut in_order = true;
        for n in 0..self.body.plan.blocks.len() {
            if self.body.plan.blocks[n].reachable && !self.translate_block(n, in_order)? {
                // Only an edge from behind brings such a block back, and with it those that it leads to.
                in_order &= !self.loops(n);
                waiting.push(n);
            }
        }
        if in_order {
            waiting.clear();
        }
        // Edges that came after a block was passed over, from later blocks or from these, have decided what lies on the stack at its start.
        let mut goes_on = true;
        while std::mem::take(&mut goes_on) {
            for n in std::mem::take(&mut waiting) {
                self.begin_late(n);
                match self.translate_block(n, false)? {
                    true => goes_on = true,
                    false => waiting.push(n),
                }
            }
        }
        self.finish_clauses()
    }

    /// The next block does not follow on the last that was translated: a trace of its first
    /// instructions names the point behind the last call before it, as if the code there had been
    /// translated.
    fn begin_late(&mut self, n: usize) {
        let first = self.body.plan.blocks[n].first as usize;
        let point = (1..=first).rev().find(|i| self.is_call(i - 1));
        self.body.after_call = false;
        self.body.recorded = self.body.plan.instrs[point.unwrap_or(first)].offset;
    }

    /// Translates one block. False: no edge has been emitted to it yet, and only one can tell what
    /// lies on the stack at its start.
    ///
    /// `in_order`: every edge from a block before it has been emitted, so that the edges which are
    /// still to come are backward branches of the plan. Otherwise any block may get another edge
    /// after its translation:
    /// * its CLIF block is not sealed, since a local variable may have another value on that edge;
    /// * the class of a reference on its stack is not known, since that edge may bring another one;
    /// * its kinds of values are those of the first edge, to which the values of that edge are
    ///   converted.
    fn translate_block(&mut self, n: usize, in_order: bool) -> Res<bool> {
        let plan = self.body.plan;
        let b = &plan.blocks[n];
        // A block with backward branches into it gets more predecessors later, so it is not sealed yet; nor one behind a block that is still to be
        // translated.
        let back = b.last_source >= i64::from(b.offset);
        if self.body.states[n].entry.is_none() {
            // No edge was emitted to this block: the blocks before it end in a throw that the plan
            // did not see, such as a call that never returns.
            // Where none of those before leads here, nothing lies on the stack (ECMA-335 III.1.7.5).
            let is_first = plan.block_at[b.offset as usize] == 0;
            if !is_first && (!back || b.first_source < b.offset) {
                return Ok(false);
            }
            self.body.states[n].entry = Some(Entry::new());
        }
        let clif = self.clif_block(n);
        // Where paths join with values on the stack no statement begins: the one before goes on, in the order of the code.
        let has_values = self.body.states[n]
            .entry
            .as_ref()
            .is_some_and(|e| !e.is_empty());
        let is_handler = plan.clauses.iter().any(|c| {
            c.handler_offset == b.offset
                || matches!(c.kind, EhKind::Filter(start) if start == b.offset)
        });
        // The code before may not have been translated, where a branch on a constant leads past it.
        let before = (b.first as usize).checked_sub(1);
        let after_call = self.body.after_call || before.is_some_and(|i| self.is_call(i));
        if !has_values || is_handler || after_call {
            self.body.recorded = b.offset;
        }
        self.e.at(self.body.recorded);
        self.begin_handlers(n, clif)?;
        self.body.block = n;
        self.e.b.switch_to_block(clif);
        if in_order && !back && !self.body.states[n].late {
            self.e.b.seal_block(clif);
        }
        // The values on the stack at the start are the parameters of the CLIF block, or lie in its slots.
        self.body.stack.clear();
        self.session.nonnull.clear();
        self.session.initialised.clear();
        self.body.dead = false;
        let mut entry = self.body.states[n].entry.take().unwrap_or_default();
        if !in_order {
            forget_classes(&mut entry);
        }
        self.body.entered.clear();
        let mut params = 0;
        for (i, (kind, class)) in entry.iter().enumerate() {
            let value = match self.carried(n, i) {
                Some(slot) => self.e.slot_addr(slot),
                None => {
                    params += 1;
                    self.e.b.block_params(clif)[params - 1]
                }
            };
            self.body.entered.push(value);
            self.body.stack.push(StackValue {
                stack_type: *kind,
                value,
                class: *class,
                fact: ValueFact::None,
            });
        }
        self.body.states[n].entry = Some(entry);
        // A temporary is free as long as no struct on the stack can lie in it.
        if self.body.stack.is_empty() {
            self.session.temps.release()
        } else {
            self.session.temps.retain()
        }
        self.set_region(b.region)?;
        if b.cold {
            self.e.b.set_cold_block(clif);
            if self.outline(n) {
                self.body.after_call = false;
                return Ok(true);
            }
        }
        if back {
            // What was read in front of the loop does not count in it (module `loops`).
            self.e.b.ins().sequence_point();
            self.session.has_stuck_loop |= !self.patchpoint(b.offset)?;
        }
        self.instructions(n)?;
        if self.body.dead {
            return Ok(true);
        }
        if n + 1 >= plan.blocks.len() {
            return Err(TranslateError::invalid(
                "control goes past the end of the code",
            ));
        }
        self.jump_to(n + 1)?;
        Ok(true)
    }

    /// Translates the instructions of a block, up to one behind which control does not go on.
    pub(crate) fn instructions(&mut self, block: usize) -> Res {
        let plan = self.body.plan;
        let b = &plan.blocks[block];
        self.body.skip = 0;
        self.zero_late(block);
        for index in b.first..b.end {
            if self.body.skip > 0 {
                self.body.skip -= 1;
                continue;
            }
            self.body.index = index as usize;
            let i = &plan.instrs[index as usize];
            self.record(index as usize);
            if self.body.stack.is_empty() {
                self.session.temps.release();
            }
            self.look_at_addresses(i);
            self.instruction(i)?;
            if self.body.dead {
                break;
            }
        }
        Ok(())
    }

    /// Records the position of an instruction, where traces have one. Mono has sequence points where
    /// the stack is empty and after a call, and prints their offsets in stack traces; so do these. In
    /// a method with symbols it has those of the symbols.
    pub(crate) fn record(&mut self, index: usize) {
        let i = &self.body.plan.instrs[index];
        let is_point = match &self.session.sequence_points {
            Some(points) if self.body.inline.is_none() => points.binary_search(&i.offset).is_ok(),
            _ => self.body.stack.is_empty() || self.body.after_call,
        };
        if is_point {
            self.body.recorded = i.offset;
            self.e.at(i.offset);
        } else {
            self.e.reached(i.offset);
        }
        self.body.after_call = self.is_call(index);
    }

    /// Whether mono has a sequence point behind the instruction.
    fn is_call(&self, index: usize) -> bool {
        let i = &self.body.plan.instrs[index];
        match (i.op, &i.operand) {
            (Op::Call | Op::Callvirt | Op::Calli, _) => true,
            (Op::Newobj, Operand::Token(t)) => self.is_called_by_mono(*t, index),
            _ => false,
        }
    }

    /// The edge from here to a block: the CLIF block to jump to, and the arguments. Emits the
    /// coercions before the jump. For an edge to a join with structs on the stack this is a block of
    /// its own that [`Translator::emit_copying_edges`] fills.
    pub(crate) fn edge(&mut self, target: usize) -> Res<(Block, SmallVec<[BlockArg; 4]>)> {
        self.look_at_branch();
        // The other block cannot know that a struct lies in a variable, so each one gets memory of
        // its own.
        for i in 0..self.body.stack.len() {
            self.materialize(i)?;
        }
        // This is the first edge: its values decide the types.
        if self.body.states[target].entry.is_none() {
            if self.body.states[target].clif.is_some() {
                return Err(TranslateError::internal("a block without entry types"));
            }
            let entry = self
                .body
                .stack
                .iter()
                .map(|i| {
                    (
                        i.stack_type,
                        // What an edge from below would bring is not known yet.
                        match i.stack_type {
                            StackType::Struct => i.class,
                            StackType::Ref if !self.loops(target) => i.class,
                            _ => None,
                        },
                    )
                })
                .collect();
            self.body.states[target].entry = Some(entry);
            self.decide_carried(target)?;
        }
        // The types are known now, so the CLIF block can have its parameters.
        let clif = self.clif_block(target);
        let entry = self.body.states[target].entry.clone().unwrap_or_default();
        if entry.len() != self.body.stack.len() {
            return Err(TranslateError::invalid(
                "the depth of the stack differs between two ways to a block",
            ));
        }
        let mut args = SmallVec::new();
        let mut structs = SmallVec::new();
        for (i, (kind, class)) in entry.into_iter().enumerate() {
            let operand = self.body.stack[i];
            if let (StackType::Struct, Some(class)) = (kind, class) {
                self.check_struct(&operand, class)?;
                if let Some(slot) = self.carried(target, i) {
                    structs.push((class, operand.value, slot));
                    continue;
                }
            }
            if kind == StackType::Ref && operand.class != class {
                self.forget_class(target, i);
            }
            let value = self.coerce(&operand, kind)?;
            args.push(BlockArg::Value(value));
        }
        if structs.is_empty() {
            return Ok((clif, args));
        }
        let split = self.e.b.create_block();
        self.body.copying_edges.push(CopyingEdge {
            split,
            to: (clif, args),
            structs,
            loops: self.loops(target),
        });
        Ok((split, SmallVec::new()))
    }

    /// The paths to a block bring objects of different static classes.
    fn forget_class(&mut self, target: usize, place: usize) {
        if let Some(entry) = &mut self.body.states[target].entry {
            entry[place].1 = None;
        }
    }

    /// The slot that the edges to a block copy the struct at that depth of its stack to, if they do.
    fn carried(&self, target: usize, place: usize) -> Option<StackSlot> {
        *self.body.states[target].carried.get(place)?
    }

    /// Makes that slot.
    fn make_carried(&mut self, target: usize, place: usize, class: ClassRef) -> Res {
        let slot = self.e.slot(class.layout()?.size);
        self.note_class(slot, class)?;
        let carried = &mut self.body.states[target].carried;
        carried.resize(place + 1, None);
        carried[place] = Some(slot);
        Ok(())
    }

    /// Emits the copies of the edges of the branch that was just emitted. Each edge has a
    /// block of its own, because its slot may still be on the stack of another edge of the same
    /// branch.
    fn emit_copying_edges(&mut self) -> Res {
        for edge in std::mem::take(&mut self.body.copying_edges) {
            let (to, args) = edge.to;
            self.e.b.seal_block(edge.split);
            self.e.b.switch_to_block(edge.split);
            let mut structs = edge.structs;
            if edge.loops && structs.len() > 1 {
                // The slot of one struct may be the source of another, as after a swap, so all are
                // copied to temporaries first. Nothing on the stack lies in slots of a block before its first
                // start, and the way back to one that is no loop's head leads over such a head.
                for (class, from, _) in &mut structs {
                    let to = self.temp_of(class)?;
                    self.copy(class, to, 0, trusted(), *from, 0, trusted(), Dest::Frame)?;
                    *from = to;
                }
            }
            for (class, from, slot) in structs {
                let to = self.e.slot_addr(slot);
                self.copy(class, to, 0, trusted(), from, 0, trusted(), Dest::Frame)?;
            }
            self.e.b.ins().jump(to, &args);
        }
        Ok(())
    }

    /// Gives the value at a stack index memory of its own: a struct that still lies in its variable
    /// is copied to a temporary, and a default comparer is fetched.
    pub(crate) fn materialize(&mut self, index: usize) -> Res {
        let operand = self.comparer(self.body.stack[index])?;
        self.body.stack[index] = operand;
        if let (ValueFact::Variable(_), Some(class)) = (operand.fact, operand.class) {
            let to = self.temp_of(class)?;
            self.copy(
                class,
                to,
                0,
                trusted(),
                operand.value,
                0,
                trusted(),
                Dest::Frame,
            )?;
            self.body.stack[index] = StackValue {
                value: to,
                fact: ValueFact::None,
                ..operand
            };
        }
        Ok(())
    }

    /// Called before an instruction that may write through a pointer. Copies the structs on the
    /// stack, except the `keep` topmost, that lie in variables whose address is known outside. IL
    /// pushed their value, so the write must not change them.
    pub(crate) fn spill_aliased(&mut self, keep: usize) -> Res {
        let end = self.body.stack.len().saturating_sub(keep);
        for i in 0..end {
            if let ValueFact::Variable(v) = self.body.stack[i].fact
                && self.body.variables[v as usize].address_taken
            {
                self.materialize(i)?;
            }
        }
        Ok(())
    }

    /// Jumps to a block and ends the current one.
    pub(crate) fn jump_to(&mut self, target: usize) -> Res {
        if self.answers_fork(target) {
            return self.inlined_ret();
        }
        let (block, args) = self.edge(target)?;
        self.e.b.ins().jump(block, &args);
        self.body.dead = true;
        self.emit_copying_edges()
    }

    /// `br` (ECMA-335 III.3.15).
    pub(crate) fn branch(&mut self, target: u32) -> Res {
        self.poll(target);
        let target = self.body.plan.block(target)?;
        match self.is_loop_test(target) {
            true => self.copy_test(target),
            false => self.jump_to(target),
        }
    }

    /// A conditional branch (ECMA-335 III.3.5 to III.3.18). With `negate` it is taken if the
    /// condition is zero.
    pub(crate) fn branch_if(&mut self, condition: Value, negate: bool, target: u32) -> Res {
        self.poll(target);
        let taken = self.body.plan.block(target)?;
        let next = self.body.block + 1;
        if next >= self.body.plan.blocks.len() {
            return Err(TranslateError::invalid(
                "control goes past the end of the code",
            ));
        }
        // In an inlined body a constant argument decides the branch here, and the other side is
        // never emitted. Where nothing branches backward, no later edge can need the block that was
        // left out.
        if self.body.leaves_out
            && let Some(c) = self.constant(condition)
        {
            return self.jump_to(if (c != 0) != negate { taken } else { next });
        }
        let (taken, taken_args) = self.edge(taken)?;
        let (next, next_args) = self.edge(next)?;
        if negate {
            self.e
                .b
                .ins()
                .brif(condition, next, &next_args, taken, &taken_args);
        } else {
            self.e
                .b
                .ins()
                .brif(condition, taken, &taken_args, next, &next_args);
        }
        self.body.dead = true;
        self.emit_copying_edges()
    }

    /// `switch` (ECMA-335 III.3.66): a jump table. The index is unsigned, and one beyond the table
    /// goes on with the next instruction:
    ///
    /// ```text
    ///     br_table v0, block9, [block1, block2(v3), block1]
    /// ```
    pub(crate) fn switch(&mut self, targets: impl Iterator<Item = u32>) -> Res {
        let index = self.pop_i32()?;
        let next = self.body.block + 1;
        if next >= self.body.plan.blocks.len() {
            return Err(TranslateError::invalid(
                "control goes past the end of the code",
            ));
        }
        let mut calls: Vec<BlockCall> = Vec::new();
        let mut polled = false;
        for t in targets {
            if !polled && t <= self.body.plan.instrs[self.body.index].offset {
                self.poll(t);
                polled = true;
            }
            let target = self.body.plan.block(t)?;
            let (block, args) = self.edge(target)?;
            calls.push(self.e.b.func.dfg.block_call(block, &args));
        }
        let (block, args) = self.edge(next)?;
        let default = self.e.b.func.dfg.block_call(block, &args);
        let table = self
            .e
            .b
            .create_jump_table(JumpTableData::new(default, &calls));
        self.e.b.ins().br_table(index, table);
        self.body.dead = true;
        self.emit_copying_edges()
    }

    /// Emits a check for interrupt requests at a backward branch of a method with handlers, or of
    /// what is inlined in it. The runtime stops a loop in other methods by redirecting the thread,
    /// which it cannot do here: the landing pads of a protected region are found by the return
    /// address of a call, so an exception can only start at a call.
    pub(crate) fn poll(&mut self, target: u32) {
        let from = self.body.plan.instrs[self.body.index].offset;
        if target <= from && self.session.polls {
            self.e.poll_interrupts(call::Poll);
        }
    }

    /// The innermost catch clause whose handler contains the current instruction.
    pub(crate) fn enclosing_catch(&self) -> Option<usize> {
        let at = self.body.plan.instrs[self.body.index].offset;
        self.body.plan.clauses.iter().position(|c| {
            in_handler(c, at) && matches!(c.kind, EhKind::Catch(_) | EhKind::Filter(_))
        })
    }

    /// Whether mono calls the constructor that the `newobj` at an index names. Otherwise it is no
    /// sequence point: mono makes a delegate without a call (but for `ldvirtftn` in code that generic
    /// instances share), and it creates an exception of the core library that is thrown at once, from
    /// no more than two strings, by a helper call.
    fn is_called_by_mono(&self, ctor: vervet_metadata::Token, index: usize) -> bool {
        let plan = self.body.plan;
        let is_in_block = index + 1 < plan.blocks[self.body.block].end as usize;
        if is_in_block && plan.instrs[index + 1].op == Op::Throw && self.is_of_strings(ctor) {
            return false;
        }
        let class = self.body.scope.method(ctor).map(|m| m.class);
        if !class.is_ok_and(|c| c.is_delegate().unwrap_or(false)) {
            return true;
        }
        let is_virtual = index > 0 && plan.instrs[index - 1].op == Op::Ldvirtftn;
        let arguments = self.body.method.class.args();
        is_virtual && arguments.iter().any(|a| !a.is_value_type().unwrap_or(true))
    }
    /// Whether a token names a constructor of the core library that takes no more than two strings.
    fn is_of_strings(&self, token: vervet_metadata::Token) -> bool {
        let string = self.session.universe.known(Known::String);
        self.body.scope.method(token).is_ok_and(|m| {
            m.class.module.is_corlib()
                && m.sig()
                    .is_ok_and(|s| s.params.len() <= 2 && s.params.iter().all(|p| *p == string))
        })
    }
}
