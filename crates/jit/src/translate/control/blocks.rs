//! IL blocks as CLIF blocks: the walk, edges, and what the stack holds where edges meet.
//!
//! # How it works
//! Blocks are translated in IL order. The first edge into a block decides the types of the values on the stack
//! there; they become the CLIF block's parameters and later edges coerce to them. A block that is reached only by
//! a branch back starts with an empty stack.
//!
//! # Invariants
//! * A block without a branch back is sealed when it starts, so that its variables need no parameters that turn
//!   out to be superfluous.
//! * Structs on the stack over a branch back lie in slots of the block they go to, one for each place on its stack, which
//!   nothing but such branches writes ([`Translator::go_back`]). So no temporary that a loop uses in one round is on the
//!   stack in the next.
use crate::emit::trusted;
use crate::translate::control::control_flow::in_handler;
use crate::translate::error::{Fail, Res};
use crate::translate::translator::Translator;
use crate::translate::values::memory::Dest;
use crate::translate::values::stack::{Item, Kind, Note};
use cranelift_codegen::ir::{
    Block, BlockArg, BlockCall, InstBuilder, JumpTableData, StackSlot, Value, types::*,
};
use smallvec::SmallVec;
use vervet_abi::helpers::result::Nothing;
use vervet_abi::{Declared, call, context};
use vervet_metadata::body::EhKind;
use vervet_metadata::il::{Op, Operand};
use vervet_types::ClassRef;

/// What is on the stack at the start of a block.
type Entry = SmallVec<[(Kind, Option<ClassRef>); 2]>;

/// A block while it is being translated.
#[derive(Default)]
pub struct BlockState {
    /// Its CLIF block.
    pub clif: Option<Block>,
    /// The types of its parameters.
    pub entry: Option<Entry>,
    /// Edges may come from code emitted at the end: never sealed early, never dead.
    pub late: bool,
    /// By place on the stack at the block's start: where a branch back puts a struct.
    carried: SmallVec<[Option<StackSlot>; 2]>,
}

/// A branch back with structs on the stack, whose code is still to be emitted.
pub(crate) struct BackEdge {
    /// Where the branch goes.
    split: Block,
    /// Where that goes on, and with what.
    to: (Block, SmallVec<[BlockArg; 4]>),
    /// Structs: class, place in the arguments, where it lies, where it is put.
    structs: SmallVec<[(ClassRef, usize, Value, StackSlot); 2]>,
}

impl<'a, 'f> Translator<'a, 'f> {
    pub(crate) fn prepare_blocks(&mut self) {
        self.states
            .resize_with(self.plan.blocks.len(), BlockState::default);
        for (from, to) in &self.plan.leaves {
            let through = self.plan.finallys(*from, *to);
            if through.is_empty() {
                continue;
            }
            let handlers = through
                .iter()
                .map(|c| self.plan.clauses[*c as usize].handler_offset);
            for offset in handlers.chain([*to]) {
                let b = self.plan.block_at[offset as usize] as usize;
                self.states[b].late = true;
                self.states[b].entry = Some(Entry::new());
            }
        }
        for c in &self.plan.clauses {
            let b = self.plan.block_at[c.handler_offset as usize] as usize;
            let state = &mut self.states[b];
            match c.kind {
                EhKind::Catch(_) | EhKind::Filter(_) => {
                    state.entry = Some(SmallVec::from_elem((Kind::Ref, None), 1))
                }
                _ => {
                    state.entry = Some(Entry::new());
                    state.late = true;
                }
            }
        }
    }

    /// The CLIF block of an IL block whose entry is known.
    pub(crate) fn clif_block(&mut self, block: usize) -> Block {
        if let Some(b) = self.states[block].clif {
            return b;
        }
        let b = self.e.b.create_block();
        if let Some(entry) = &self.states[block].entry {
            for (kind, _) in entry {
                self.e.b.append_block_param(b, kind.clif());
            }
        }
        self.states[block].clif = Some(b);
        b
    }

    /// The walk over all blocks. The current CLIF block is the end of the prologue.
    pub(crate) fn run(&mut self) -> Res {
        let entry = match self.filter {
            None => self.plan.block(0)?,
            Some(n) => match self.plan.clauses[n].kind {
                EhKind::Filter(at) => self.plan.block(at)?,
                _ => return Err(Fail::internal("not a filter")),
            },
        };
        if self.filter.is_none() {
            self.states[entry].entry = Some(Entry::new());
            let first = self.clif_block(entry);
            self.e.b.ins().jump(first, &[]);
        } else {
            self.states[entry].entry = Some(SmallVec::from_elem((Kind::Ref, None), 1));
            let first = self.clif_block(entry);
            let exception = self.params[1];
            self.e.b.ins().jump(first, &[BlockArg::Value(exception)]);
        }
        for n in 0..self.plan.blocks.len() {
            if self.plan.blocks[n].reachable {
                self.translate_block(n)?;
            }
        }
        self.finish_clauses()
    }

    fn translate_block(&mut self, n: usize) -> Res {
        let plan = self.plan;
        let b = &plan.blocks[n];
        let back = b.last_source >= i64::from(b.offset);
        if self.states[n].entry.is_none() {
            if !back && plan.block_at[b.offset as usize] != 0 {
                // Its predecessors turned out to end early.
                return Ok(());
            }
            self.states[n].entry = Some(Entry::new());
        }
        let clif = self.clif_block(n);
        self.e.at(b.offset);
        self.begin_handlers(n, clif)?;
        self.block = n;
        self.e.b.switch_to_block(clif);
        if !back && !self.states[n].late {
            self.e.b.seal_block(clif);
        }
        self.stack.clear();
        self.nonnull.clear();
        self.initialised.clear();
        self.dead = false;
        let entry = self.states[n].entry.take().unwrap_or_default();
        for (i, (kind, class)) in entry.iter().enumerate() {
            let value = self.e.b.block_params(clif)[i];
            self.stack.push(Item {
                kind: *kind,
                value,
                class: *class,
                note: Note::None,
            });
        }
        self.states[n].entry = Some(entry);
        if self.stack.is_empty() {
            self.temps.release()
        } else {
            self.temps.retain()
        }
        self.set_region(b.region)?;
        if b.cold {
            self.e.b.set_cold_block(clif);
            if self.give_up(n) {
                return Ok(());
            }
        }
        self.skip = 0;
        let mut after_call = false;
        for index in b.first..b.end {
            if self.skip > 0 {
                self.skip -= 1;
                continue;
            }
            self.index = index as usize;
            let i = &plan.instrs[index as usize];
            // Mono's sequence points, which its traces show: where the stack is empty, and behind a call.
            if self.stack.is_empty() || after_call {
                self.e.at(i.offset);
            } else {
                self.e.reached(i.offset);
            }
            after_call = match (i.op, &i.operand) {
                (Op::Call | Op::Callvirt | Op::Calli, _) => true,
                // Mono makes the core library's exceptions by a helper where they are thrown at once.
                (Op::Newobj, Operand::Token(t)) => {
                    let thrown = plan
                        .instrs
                        .get(index as usize + 1)
                        .is_some_and(|n| n.op == Op::Throw);
                    !(thrown
                        && self
                            .scope
                            .method(*t)
                            .is_ok_and(|m| m.class.module.is_corlib()))
                }
                _ => false,
            };
            if self.stack.is_empty() {
                self.temps.release();
            }
            self.instruction(i)?;
            if self.dead {
                return Ok(());
            }
        }
        if n + 1 >= plan.blocks.len() {
            return Err(Fail::invalid("control goes past the end of the code"));
        }
        self.jump_to(n + 1)
    }

    /// The edge to a block from here: its CLIF block and the arguments. Emits coercions.
    pub(crate) fn edge(&mut self, target: usize) -> Res<(Block, SmallVec<[BlockArg; 4]>)> {
        for i in 0..self.stack.len() {
            self.settle_item(i)?;
        }
        if self.states[target].entry.is_none() {
            if self.states[target].clif.is_some() {
                return Err(Fail::internal("a block without entry types"));
            }
            let entry = self
                .stack
                .iter()
                .map(|i| {
                    (
                        i.kind,
                        if i.kind == Kind::Struct {
                            i.class
                        } else {
                            None
                        },
                    )
                })
                .collect();
            self.states[target].entry = Some(entry);
        }
        let clif = self.clif_block(target);
        let entry = self.states[target].entry.clone().unwrap_or_default();
        if entry.len() != self.stack.len() {
            return Err(Fail::invalid(
                "the depth of the stack differs between two ways to a block",
            ));
        }
        let back = target <= self.block;
        let mut args = SmallVec::new();
        let mut structs = SmallVec::new();
        for (i, (kind, class)) in entry.into_iter().enumerate() {
            let item = self.stack[i];
            if let (Kind::Struct, Some(class)) = (kind, class) {
                self.check_struct(&item, class)?;
                if back {
                    let slot = self.carried(target, i, class)?;
                    structs.push((class, i, item.value, slot));
                }
            }
            let value = self.coerce(&item, kind)?;
            args.push(BlockArg::Value(value));
        }
        if structs.is_empty() {
            return Ok((clif, args));
        }
        let split = self.e.b.create_block();
        self.back_edges.push(BackEdge {
            split,
            to: (clif, args),
            structs,
        });
        Ok((split, SmallVec::new()))
    }

    /// Where branches back to the block put the struct at that place of its stack.
    fn carried(&mut self, target: usize, place: usize, class: ClassRef) -> Res<StackSlot> {
        let carried = &mut self.states[target].carried;
        if carried.len() <= place {
            carried.resize(place + 1, None);
        }
        if let Some(slot) = carried[place] {
            return Ok(slot);
        }
        let slot = self.e.slot(class.layout()?.size);
        self.states[target].carried[place] = Some(slot);
        Ok(slot)
    }

    /// Behind the branch: the edges back that carry structs. Each edge has a block of its own, because what it writes may be
    /// on the stack of another way out of the same branch.
    fn go_back(&mut self) -> Res {
        for edge in std::mem::take(&mut self.back_edges) {
            let (to, mut args) = edge.to;
            self.e.b.seal_block(edge.split);
            self.e.b.switch_to_block(edge.split);
            let mut structs = edge.structs;
            if structs.len() > 1 {
                // One may lie where another goes.
                for (class, _, from, _) in &mut structs {
                    let to = self.temp_of(class)?;
                    self.copy(class, to, 0, trusted(), *from, 0, trusted(), Dest::Frame)?;
                    *from = to;
                }
            }
            for (class, place, from, slot) in structs {
                let to = self.e.slot_addr(slot);
                self.copy(class, to, 0, trusted(), from, 0, trusted(), Dest::Frame)?;
                args[place] = BlockArg::Value(to);
            }
            self.e.b.ins().jump(to, &args);
        }
        Ok(())
    }

    /// A struct that still lies in its variable is copied.
    pub(crate) fn settle_item(&mut self, index: usize) -> Res {
        let item = self.comparer(self.stack[index])?;
        self.stack[index] = item;
        if let (Note::Variable(_), Some(class)) = (item.note, item.class) {
            let to = self.temp_of(class)?;
            self.copy(
                class,
                to,
                0,
                trusted(),
                item.value,
                0,
                trusted(),
                Dest::Frame,
            )?;
            self.stack[index] = Item {
                value: to,
                note: Note::None,
                ..item
            };
        }
        Ok(())
    }

    /// Before something that may write through a pointer: structs on the stack, but for the `keep` topmost, that
    /// lie in variables whose address is known outside are copied.
    pub(crate) fn settle(&mut self, keep: usize) -> Res {
        let end = self.stack.len().saturating_sub(keep);
        for i in 0..end {
            if let Note::Variable(v) = self.stack[i].note
                && self.homes[v as usize].address_taken
            {
                self.settle_item(i)?;
            }
        }
        Ok(())
    }

    pub(crate) fn jump_to(&mut self, target: usize) -> Res {
        let (block, args) = self.edge(target)?;
        self.e.b.ins().jump(block, &args);
        self.dead = true;
        self.go_back()
    }

    /// br
    pub(crate) fn branch(&mut self, target: u32) -> Res {
        self.poll(target);
        let target = self.plan.block(target)?;
        self.jump_to(target)
    }

    /// A conditional branch; `negate`: taken if the condition is zero.
    pub(crate) fn branch_if(&mut self, condition: Value, negate: bool, target: u32) -> Res {
        self.poll(target);
        let taken = self.plan.block(target)?;
        let next = self.block + 1;
        if next >= self.plan.blocks.len() {
            return Err(Fail::invalid("control goes past the end of the code"));
        }
        // What an inlined body's arguments decide; with branches back a block could seem to be reached that is not.
        if self.inline.is_some()
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
        self.dead = true;
        self.go_back()
    }

    /// switch
    pub(crate) fn switch(&mut self, targets: impl Iterator<Item = u32>) -> Res {
        let index = self.pop_i32()?;
        let next = self.block + 1;
        if next >= self.plan.blocks.len() {
            return Err(Fail::invalid("control goes past the end of the code"));
        }
        let mut calls: Vec<BlockCall> = Vec::new();
        let mut polled = false;
        for t in targets {
            if !polled && t <= self.plan.instrs[self.index].offset {
                self.poll(t);
                polled = true;
            }
            let target = self.plan.block(t)?;
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
        self.dead = true;
        self.go_back()
    }

    /// Code with handlers looks at every branch back whether its thread is wanted: it cannot be redirected where it is,
    /// because handlers are found by calls. (What a loop calls may be inlined, or too small to look.)
    pub(crate) fn poll(&mut self, target: u32) {
        let from = self.plan.instrs[self.index].offset;
        if target <= from && (!self.plan.clauses.is_empty() || self.sync.is_some()) {
            self.poll_interrupts(call::Poll);
        }
    }

    /// Calls a helper if the thread is wanted.
    pub(crate) fn poll_interrupts(&mut self, helper: impl Declared<0, Nothing>) {
        let wanted = self.e.load_context(I32, context::INTERRUPTS);
        let (cold, on) = (self.e.b.create_block(), self.e.b.create_block());
        self.e.b.set_cold_block(cold);
        self.e.b.ins().brif(wanted, cold, &[], on, &[]);
        self.e.b.seal_block(cold);
        self.e.b.switch_to_block(cold);
        self.e.helper(helper, []);
        self.e.b.ins().jump(on, &[]);
        self.e.b.seal_block(on);
        self.e.b.switch_to_block(on);
    }

    /// The innermost catch clause whose handler holds the current instruction.
    pub(crate) fn enclosing_catch(&self) -> Option<usize> {
        let at = self.plan.instrs[self.index].offset;
        self.plan.clauses.iter().position(|c| {
            in_handler(c, at) && matches!(c.kind, EhKind::Catch(_) | EhKind::Filter(_))
        })
    }
}
