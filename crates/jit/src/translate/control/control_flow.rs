//! The control-flow graph of a method body: what one pass over the IL finds out before any code is
//! emitted.
//!
//! # How it works
//! [`Plan::new`] works in these steps:
//!
//! 1. It decodes the instructions and marks where blocks start: at branch targets, after branches,
//!    and at both ends of protected ranges, handlers and filters. A block therefore lies in one set
//!    of protected ranges ([`Plan::regions`]).
//! 2. It checks where handlers and filters begin ([`Plan::check_entries`]).
//! 3. It follows branches from the entry and marks the blocks that control can reach. On the way it
//!    checks every edge ([`Plan::check_edge`]) and collects `leave` instructions and backward
//!    branches.
//! 4. It marks the blocks that can only end in a `throw` as cold.
//!
//! A method with exception clauses also gets the [`Liveness`](super::liveness::Liveness) of its variables, because a handler
//! must find the variables it reads in memory.
//!
//! # Invariants
//! * A branch goes to the start of an instruction, or the plan is an error.
//! * Blocks are in order of their IL offset. A block is reachable only if a path of branches leads
//!   to it. The blocks of a filter are reached only from the filter's own entry.
//! * Only an exception, or a `leave` that runs a finally, enters a handler or filter, and only at
//!   its start. The stack slots that hold the exception and the continuation are written by these
//!   entries and by nothing else.
//! * Only `endfilter` leaves a filter, because a filter is compiled as a function of its own
//!   (ECMA-335 I.12.4.2.5).
use crate::translate::error::{Res, TranslateError};
use smallvec::SmallVec;
use vervet_metadata::body::{EhClause, EhKind, MethodBody};
use vervet_metadata::il::{Instr, Op, Operand};

/// Flag of a variable: the code takes its address.
pub const ADDRESS: u8 = 1;
/// Flag of a variable: the code reads it.
pub const READ: u8 = 2;
/// Flag of a variable: the code writes it.
pub const WRITTEN: u8 = 4;
/// Flag of a variable: code of a filter writes it. A filter runs while a call of the method is
/// active, so the method must not hold the variable in a register.
pub const FILTERED: u8 = 8;

/// Flag of a variable: several instructions write it.
pub const REWRITTEN: u8 = 16;

/// What an instruction does to a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum VarOp {
    /// Reads it.
    Load,
    /// Writes it.
    Store,
    /// Takes its address.
    Address,
}

impl VarOp {
    /// The flag that the operation sets.
    fn flag(self) -> u8 {
        match self {
            VarOp::Load => READ,
            VarOp::Store => WRITTEN,
            VarOp::Address => ADDRESS,
        }
    }
}

/// The variable that an instruction names: the operation, whether it is an argument, and the index.
pub fn variable_of(i: &Instr<'_>) -> Option<(VarOp, bool, usize)> {
    use Op::*;
    let var = || match i.operand {
        Operand::Var(v) => v as usize,
        _ => 0,
    };
    Some(match i.op {
        Ldarg0 => (VarOp::Load, true, 0),
        Ldarg1 => (VarOp::Load, true, 1),
        Ldarg2 => (VarOp::Load, true, 2),
        Ldarg3 => (VarOp::Load, true, 3),
        LdargS | Ldarg => (VarOp::Load, true, var()),
        LdargaS | Ldarga => (VarOp::Address, true, var()),
        StargS | Starg => (VarOp::Store, true, var()),
        Ldloc0 => (VarOp::Load, false, 0),
        Ldloc1 => (VarOp::Load, false, 1),
        Ldloc2 => (VarOp::Load, false, 2),
        Ldloc3 => (VarOp::Load, false, 3),
        LdlocS | Ldloc => (VarOp::Load, false, var()),
        LdlocaS | Ldloca => (VarOp::Address, false, var()),
        Stloc0 => (VarOp::Store, false, 0),
        Stloc1 => (VarOp::Store, false, 1),
        Stloc2 => (VarOp::Store, false, 2),
        Stloc3 => (VarOp::Store, false, 3),
        StlocS | Stloc => (VarOp::Store, false, var()),
        _ => return None,
    })
}

/// The control-flow graph of a body. See the module. An example, with the regions of each block:
///
/// ```text
/// IL_0000: ldarg.0             block 0   region 0 { }
///          .try {
/// IL_0001:   call F            block 1   region 1 { clause 0 }
/// IL_0006:   leave IL_000d               leaves: (6, 0xd)
///          } finally {
/// IL_0008:   call G            block 2   region 0 { }       a successor of block 1, by the leave
/// IL_000c:   endfinally                                     and by the clause
///          }
/// IL_000d: ret                 block 3   region 0 { }
/// ```
pub struct PlanBlock {
    /// IL offset of its first instruction.
    pub offset: u32,
    /// Index of its first instruction.
    pub first: u32,
    /// Index after its last instruction.
    pub end: u32,
    /// Whether a path from the entry leads here.
    pub reachable: bool,
    /// Highest IL offset of a reachable jump to this block, or -1. A value at or above `offset`
    /// means that a backward branch leads here.
    pub last_source: i64,
    /// Lowest IL offset of a reachable jump to this block, or of the end of a block that goes on here; `u32::MAX`: there is none.
    pub first_source: u32,
    /// How many reachable edges lead here.
    pub sources: u32,
    /// Index in [`Plan::regions`].
    pub region: u32,
    /// Every path from here ends in a `throw`.
    pub cold: bool,
}

/// A body's plan. See the module.
pub struct Plan {
    /// The decoded instructions, in order of offset.
    pub instrs: Vec<Instr<'static>>,
    /// The basic blocks, in order of offset.
    pub blocks: Vec<PlanBlock>,
    /// By IL offset: the index of the block that starts there, or `u32::MAX`.
    pub block_at: Vec<u32>,
    /// Sets of clauses, innermost first, in whose protected range a block can lie. Set 0 is empty.
    pub regions: Vec<SmallVec<[u32; 4]>>,
    /// The exception clauses, in the order of the metadata: inner clauses come before outer ones.
    pub clauses: Vec<EhClause>,
    /// By argument: the flags [`ADDRESS`], [`READ`], [`WRITTEN`], [`FILTERED`].
    pub args: Vec<u8>,
    /// By local: the same flags.
    pub locals: Vec<u8>,
    /// (offset of the instruction, target) of every reachable `leave`.
    pub leaves: Vec<(u32, u32)>,
    /// Every backward branch: target, source.
    pub back_edges: Vec<(u32, u32)>,
    /// Offsets of instructions that mention an argument (true) or a local that the method does not have; `instrs` has a `nop` there. No path leads to them.
    missing: Vec<(u32, bool)>,
    /// Whether the body contains an instruction that may call. Such a method checks its stack in
    /// the prologue.
    pub has_calls: bool,
    /// Whether the body contains a `localloc`.
    pub has_localloc: bool,
}

/// Whether the offset lies in a range.
fn in_range(offset: u32, start: u32, len: u32) -> bool {
    offset >= start && offset - start < len
}

/// Whether the offset lies in the clause's protected range.
pub fn in_try(c: &EhClause, offset: u32) -> bool {
    in_range(offset, c.try_offset, c.try_len)
}

/// Whether the offset lies in the clause's handler.
pub fn in_handler(c: &EhClause, offset: u32) -> bool {
    in_range(offset, c.handler_offset, c.handler_len)
}

/// Whether the offset lies in the clause's filter, which reaches up to its handler (ECMA-335
/// II.25.4.6).
pub fn in_filter(c: &EhClause, offset: u32) -> bool {
    matches!(c.kind, EhKind::Filter(start) if offset >= start && offset < c.handler_offset)
}

/// The branch targets of an instruction, without the next instruction.
pub fn targets(i: &Instr<'_>) -> SmallVec<[u32; 2]> {
    match i.operand {
        Operand::Branch(t) => SmallVec::from_slice(&[t]),
        Operand::Switch(t) => t.iter().collect(),
        _ => SmallVec::new(),
    }
}

impl Plan {
    /// Makes the plan of a body with that many arguments and locals. `entry` is 0 for the method,
    /// or the offset of the filter that is compiled as a function of its own.
    ///
    /// # Errors
    /// [`TranslateError::Invalid`] if the IL cannot be decoded or violates one of the module's
    /// invariants.
    pub fn new(body: &MethodBody<'static>, entry: u32, args: usize, locals: usize) -> Res<Plan> {
        let len = body.code.len();
        let mut plan = Plan {
            instrs: Vec::with_capacity(len / 2 + 1),
            blocks: Vec::new(),
            block_at: vec![u32::MAX; len + 1],
            regions: vec![SmallVec::new()],
            clauses: body.clauses.clone(),
            args: vec![0; args],
            locals: vec![0; locals],
            leaves: Vec::new(),
            back_edges: Vec::new(),
            missing: Vec::new(),
            has_calls: false,
            has_localloc: false,
        };
        if len == 0 {
            return Err(TranslateError::invalid("the method has no code"));
        }
        let marks = plan.decode(body)?;
        plan.make_blocks(&marks)?;
        plan.check_entries()?;
        plan.find_regions(entry);
        plan.reach(entry)?;
        plan.find_cold()?;
        Ok(plan)
    }

    /// Decodes the instructions, and returns by IL offset what starts there. Bit 0: an instruction
    /// starts here. Bit 1: a block starts here. The last entry stands for the end of the code, where
    /// a branch may not go but a range may end.
    fn decode(&mut self, body: &MethodBody<'static>) -> Res<Vec<u8>> {
        let len = body.code.len();
        let mut marks = vec![0u8; len + 1];
        marks[0] |= 2;
        for i in body.instructions() {
            let i = i.map_err(|e| TranslateError::invalid(e.to_string()))?;
            marks[i.offset as usize] |= 1;
            if i.op.ends_block() {
                marks[i.end() as usize] |= 2;
            }
            match i.operand {
                Operand::Branch(t) => {
                    marks[t as usize] |= 2;
                    marks[i.end() as usize] |= 2;
                }
                Operand::Switch(t) => {
                    t.iter().for_each(|t| marks[t as usize] |= 2);
                    marks[i.end() as usize] |= 2;
                }
                _ => {}
            }
            match i.op {
                Op::Localloc => self.has_localloc = true,
                op if may_call(op) => self.has_calls = true,
                _ => {}
            }
            if let Some((op, is_arg, index)) = variable_of(&i) {
                let flags = if is_arg {
                    &mut self.args
                } else {
                    &mut self.locals
                };
                let Some(flags) = flags.get_mut(index) else {
                    self.missing.push((i.offset, is_arg));
                    self.instrs.push(Instr {
                        op: Op::Nop,
                        operand: Operand::None,
                        ..i
                    });
                    continue;
                };
                if op == VarOp::Store && *flags & WRITTEN != 0 {
                    *flags |= REWRITTEN;
                }
                *flags |= op.flag();
                if op == VarOp::Store && body.clauses.iter().any(|c| in_filter(c, i.offset)) {
                    *flags |= FILTERED;
                }
            }
            self.instrs.push(i);
        }
        // Both ends of every range start a block, so that all instructions of a block have the same
        // handlers.
        for c in &body.clauses {
            for at in [
                c.try_offset,
                c.try_offset + c.try_len,
                c.handler_offset,
                c.handler_offset + c.handler_len,
            ] {
                marks[at as usize] |= 2;
            }
            if let EhKind::Filter(at) = c.kind {
                marks[at as usize] |= 2;
            }
        }
        Ok(marks)
    }

    /// Cuts the instructions into blocks.
    fn make_blocks(&mut self, marks: &[u8]) -> Res {
        for (index, i) in self.instrs.iter().enumerate() {
            if marks[i.offset as usize] & 2 != 0 {
                if let Some(last) = self.blocks.last_mut() {
                    last.end = index as u32;
                }
                self.block_at[i.offset as usize] = self.blocks.len() as u32;
                self.blocks.push(PlanBlock {
                    offset: i.offset,
                    first: index as u32,
                    end: self.instrs.len() as u32,
                    reachable: false,
                    last_source: -1,
                    first_source: u32::MAX,
                    sources: 0,
                    region: 0,
                    cold: false,
                });
            }
        }
        // A mark that is left with bit 1 alone lies inside an instruction.
        if marks[..self.block_at.len() - 1].contains(&2) {
            return Err(TranslateError::invalid(
                "a branch or clause goes into the middle of an instruction",
            ));
        }
        Ok(())
    }

    /// Finds the set of clauses that protect each block, for the method (`entry` 0) or a filter.
    fn find_regions(&mut self, entry: u32) {
        // A filter's function sees only the clauses inside the filter. An exception that leaves a
        // filter is discarded by the runtime (ECMA-335 I.12.4.2.5), so the method's own handlers
        // have no part in it.
        let filter = self
            .clauses
            .iter()
            .find(|c| entry != 0 && c.kind == EhKind::Filter(entry));
        let counts = |c: &EhClause| {
            filter.is_none_or(|f| c.try_offset >= entry && c.try_offset < f.handler_offset)
        };
        if !self.clauses.is_empty() {
            for b in &mut self.blocks {
                let set: SmallVec<[u32; 4]> = (0u32..)
                    .zip(&self.clauses)
                    .filter(|(_, c)| in_try(c, b.offset) && counts(c))
                    .map(|(n, _)| n)
                    .collect();
                let found = self.regions.iter().rposition(|r| *r == set);
                b.region = found.unwrap_or_else(|| {
                    self.regions.push(set);
                    self.regions.len() - 1
                }) as u32;
            }
        }
    }

    /// Checks that handlers and filters begin at instructions, and that no two entries with
    /// different stacks share a block. The start of the method finds an empty stack, a catch
    /// handler or filter finds the exception object, a finally or fault handler finds an empty
    /// stack and its own continuation.
    fn check_entries(&self) -> Res {
        let takes_exception = |c: &EhClause| matches!(c.kind, EhKind::Catch(_) | EhKind::Filter(_));
        for c in &self.clauses {
            self.block(c.handler_offset)?;
            let mut shared = self
                .clauses
                .iter()
                .filter(|d| d.handler_offset == c.handler_offset);
            let differs = shared.any(|d| takes_exception(d) != takes_exception(c));
            let filter = match c.kind {
                EhKind::Filter(at) => {
                    self.block(at)?;
                    at == 0 || self.clauses.iter().any(|d| d.handler_offset == at)
                }
                _ => false,
            };
            if c.handler_offset == 0 || differs || filter {
                return Err(TranslateError::invalid(
                    "a handler or filter begins where the method or another handler does",
                ));
            }
        }
        Ok(())
    }

    /// The index of the block that starts at an offset.
    ///
    /// # Errors
    /// [`TranslateError::Invalid`] if no block starts there.
    pub fn block(&self, offset: u32) -> Res<usize> {
        match self.block_at.get(offset as usize) {
            Some(&b) if b != u32::MAX => Ok(b as usize),
            _ => Err(TranslateError::invalid("no instruction at the target")),
        }
    }

    /// The last instruction of a block.
    pub fn last(&self, block: usize) -> &Instr<'static> {
        &self.instrs[self.blocks[block].end as usize - 1]
    }

    /// Marks the blocks that can be reached from `entry`. A handler counts as a successor of every
    /// block that its clause protects.
    fn reach(&mut self, entry: u32) -> Res {
        let mut work = vec![self.block(entry)?];
        self.blocks[work[0]].reachable = true;
        while let Some(at) = work.pop() {
            let from = self.last(at).offset;
            self.check_variables(at)?;
            self.check_edges(at)?;
            let mut next = self.successors(at)?;
            for n in 0..self.regions[self.blocks[at].region as usize].len() {
                let clause = self.regions[self.blocks[at].region as usize][n];
                next.push(self.block(self.clauses[clause as usize].handler_offset)?);
            }
            for to in next {
                let b = &mut self.blocks[to];
                b.last_source = b.last_source.max(i64::from(from));
                b.first_source = b.first_source.min(from);
                b.sources += 1;
                if !b.reachable {
                    b.reachable = true;
                    work.push(to);
                }
            }
            let last = *self.last(at);
            if let (Op::Leave | Op::LeaveS, Operand::Branch(t)) = (last.op, last.operand) {
                self.leaves.push((last.offset, t));
            }
            if let Operand::Branch(_) | Operand::Switch(_) = last.operand {
                for t in targets(&last) {
                    if t <= last.offset {
                        self.back_edges.push((t, last.offset));
                    }
                }
            }
        }
        Ok(())
    }

    /// Checks that the arguments and locals which a block mentions exist.
    fn check_variables(&self, at: usize) -> Res {
        let within = self.blocks[at].offset..=self.last(at).offset;
        match self.missing.iter().find(|m| within.contains(&m.0)) {
            Some((_, true)) => Err(TranslateError::invalid("no such argument")),
            Some((_, false)) => Err(TranslateError::invalid("no such local")),
            None => Ok(()),
        }
    }

    /// Checks the edges out of a block: no branch, and no fall-through, enters a handler or filter
    /// or leaves a filter.
    fn check_edges(&self, at: usize) -> Res {
        let last = self.last(at);
        for to in targets(last) {
            self.check_edge(last.offset, to)?;
        }
        match self.blocks.get(at + 1) {
            Some(next) if !last.op.ends_block() => self.check_edge(last.offset, next.offset),
            _ => Ok(()),
        }
    }

    /// Checks one edge against the module's invariants. Leaving a handler by a branch other than
    /// `leave` is invalid IL too (ECMA-335 I.12.4.2.8), but does no harm, because a handler is
    /// ordinary code of the same function.
    fn check_edge(&self, from: u32, to: u32) -> Res {
        let enters = |c: &EhClause| {
            in_handler(c, to) && !in_handler(c, from) || in_filter(c, to) != in_filter(c, from)
        };
        if self.clauses.iter().any(enters) {
            return Err(TranslateError::invalid(
                "control enters a handler or filter, or leaves a filter",
            ));
        }
        Ok(())
    }

    /// Whether the instruction lies in a filter that does not contain the clause's handler. A
    /// `rethrow` or `endfinally` there would refer to a handler of another function.
    pub fn is_filtered_from(&self, offset: u32, clause: usize) -> bool {
        let handler = self.clauses[clause].handler_offset;
        self.clauses
            .iter()
            .any(|c| in_filter(c, offset) && !in_filter(c, handler))
    }

    /// Marks the blocks from which every path ends in a `throw`. The pass goes from the last block
    /// to the first and never follows a backward branch, so a loop is never cold.
    fn find_cold(&mut self) -> Res {
        if !self.instrs.iter().any(|i| i.op == Op::Throw) {
            return Ok(());
        }
        for at in (1..self.blocks.len()).rev() {
            self.blocks[at].cold = match self.last(at).op {
                Op::Throw => true,
                Op::Leave | Op::LeaveS => false,
                _ => {
                    let next = self.successors(at)?;
                    !next.is_empty() && next.iter().all(|n| *n > at && self.blocks[*n].cold)
                }
            };
        }
        Ok(())
    }

    /// Computes the variables' flags again without the blocks for which `gone` is true. An inlined
    /// body uses this for the blocks that are outlined: a variable that only they write stays a
    /// constant.
    pub fn forget(&mut self, gone: impl Fn(usize) -> bool) {
        self.args.fill(0);
        self.locals.fill(0);
        for (n, b) in self.blocks.iter().enumerate() {
            if gone(n) {
                continue;
            }
            for i in &self.instrs[b.first as usize..b.end as usize] {
                if let Some((op, is_arg, index)) = variable_of(i) {
                    let flags = if is_arg {
                        &mut self.args
                    } else {
                        &mut self.locals
                    };
                    flags[index] |= op.flag();
                }
            }
        }
    }

    /// The blocks that control can go to from a block: branch targets, the next block, and the
    /// handlers of the finally clauses that a `leave` runs.
    pub fn successors(&self, at: usize) -> Res<SmallVec<[usize; 4]>> {
        let last = self.last(at);
        let mut next = SmallVec::new();
        for t in targets(last) {
            next.push(self.block(t)?);
            if matches!(last.op, Op::Leave | Op::LeaveS) {
                for c in self.finallys(last.offset, t) {
                    next.push(self.block(self.clauses[c as usize].handler_offset)?);
                }
            }
        }
        if !last.op.ends_block() && at + 1 < self.blocks.len() {
            next.push(at + 1);
        }
        Ok(next)
    }

    /// The finally clauses that a `leave` from one offset to another runs, innermost first
    /// (ECMA-335 III.3.46).
    pub fn finallys(&self, from: u32, to: u32) -> SmallVec<[u32; 4]> {
        (0u32..)
            .zip(&self.clauses)
            .filter(|(_, c)| c.kind == EhKind::Finally && in_try(c, from) && !in_try(c, to))
            .map(|(n, _)| n)
            .collect()
    }

    /// Whether a clause with a filter protects code that begins between the two offsets.
    pub fn has_filters_within(&self, from: u32, to: u32) -> bool {
        self.clauses.iter().any(|c| {
            matches!(c.kind, EhKind::Filter(_)) && c.try_offset >= from && c.try_offset < to
        })
    }

    /// The clauses whose protected range contains the whole handler of a clause, innermost first.
    /// The clauses of the handler's first block may be more: a `try` may begin where the handler
    /// begins, and end before it.
    pub fn around_handler(&self, clause: usize) -> Res<SmallVec<[u32; 4]>> {
        let c = &self.clauses[clause];
        let first = self.block(c.handler_offset)?;
        Ok(self.regions[self.blocks[first].region as usize]
            .iter()
            .copied()
            .filter(|n| !in_handler(c, self.clauses[*n as usize].try_offset))
            .collect())
    }

    /// Whether the offset lies between the target and the source of a backward branch.
    pub fn in_loop(&self, offset: u32) -> bool {
        self.back_edges
            .iter()
            .any(|(target, source)| *target <= offset && offset <= *source)
    }
}

/// Whether the instruction may call something that needs stack. A helper that is not a leaf counts,
/// because it runs on the thread's stack too.
fn may_call(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Call | Callvirt
            | Calli
            | Newobj
            | Newarr
            | Box
            | Castclass
            | Isinst
            | Unbox
            | UnboxAny
            | Ldsfld
            | Stsfld
            | Ldsflda
            | Throw
            | Rethrow
            | Ldvirtftn
            | Stelem
            | StelemRef
            | Ldelema
            | Endfinally
            | Jmp
            | Localloc
            | Mkrefany
            | Refanyval
            | Stobj
            | Cpobj
            | Stfld
            | Initobj
            | Cpblk
            | Initblk
            | Rem
            | Arglist
    )
}
