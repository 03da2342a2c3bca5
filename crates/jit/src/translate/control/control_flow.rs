//! The plan of a method body: what one pass over its IL finds out before any code is emitted.
//!
//! # How it works
//! [`Plan::new`] decodes the instructions, cuts them into basic blocks (also at the edges of protected ranges),
//! finds what can be reached from the entry, which clauses enclose each block, which variables have their
//! address taken, and every `leave`.
//!
//! # Invariants
//! * A branch goes to the start of an instruction, or the plan is an error.
//! * Blocks are in order of offset; a block is reachable only if some path of branches leads to it (a filter's
//!   blocks are reached only from the filter's own entry).
//! * A handler or filter is entered at its start by an exception, or by a `leave` that runs a finally, and by nothing else: its
//!   exception and its continuation lie in slots of the frame that only these entries write. A filter is left by `endfilter`
//!   alone, because it is a function of its own ([`Plan::check_edge`]).
use crate::translate::error::{Fail, Res};
use smallvec::SmallVec;
use vervet_metadata::body::{EhClause, EhKind, MethodBody};
use vervet_metadata::il::{Instr, Op, Operand};

/// The address of the variable is taken.
pub const ADDRESS: u8 = 1;
/// The variable is read.
pub const READ: u8 = 2;
/// The variable is written.
pub const WRITTEN: u8 = 4;
/// A filter writes the variable.
pub const FILTERED: u8 = 8;

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
    fn flag(self) -> u8 {
        match self {
            VarOp::Load => READ,
            VarOp::Store => WRITTEN,
            VarOp::Address => ADDRESS,
        }
    }
}

/// The variable an instruction names: operation, is it an argument, index.
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

/// A basic block of IL.
pub struct PlanBlock {
    /// Where it starts.
    pub offset: u32,
    /// Its first instruction.
    pub first: u32,
    /// The instruction after its last one.
    pub end: u32,
    /// Can control get here?
    pub reachable: bool,
    /// Highest offset of a jump here from a reachable block, or -1.
    pub last_source: i64,
    /// Index in [`Plan::regions`].
    pub region: u32,
    /// Whatever way it goes on ends in a `throw`.
    pub cold: bool,
}

/// A body's plan. See the module.
pub struct Plan {
    /// The instructions.
    pub instrs: Vec<Instr<'static>>,
    /// The blocks.
    pub blocks: Vec<PlanBlock>,
    /// By offset: the block that starts there, or u32::MAX.
    pub block_at: Vec<u32>,
    /// Sets of clauses, innermost first, by their try ranges. 0 is the empty set.
    pub regions: Vec<SmallVec<[u32; 4]>>,
    /// The clauses.
    pub clauses: Vec<EhClause>,
    /// Flags of arguments.
    pub args: Vec<u8>,
    /// Flags of locals.
    pub locals: Vec<u8>,
    /// (offset of the instruction, target) of every reachable `leave`.
    pub leaves: Vec<(u32, u32)>,
    /// (target, source) of every branch back.
    pub back_edges: Vec<(u32, u32)>,
    /// Does it call anything (other than to throw)?
    pub has_calls: bool,
    /// Has it a `localloc`?
    pub has_localloc: bool,
}

fn in_range(offset: u32, start: u32, len: u32) -> bool {
    offset >= start && offset - start < len
}

/// Is the offset in the clause's protected range?
pub fn in_try(c: &EhClause, offset: u32) -> bool {
    in_range(offset, c.try_offset, c.try_len)
}

/// Is the offset in the clause's handler?
pub fn in_handler(c: &EhClause, offset: u32) -> bool {
    in_range(offset, c.handler_offset, c.handler_len)
}

/// Is the offset in the clause's filter?
pub fn in_filter(c: &EhClause, offset: u32) -> bool {
    matches!(c.kind, EhKind::Filter(start) if offset >= start && offset < c.handler_offset)
}

/// Where control goes after an instruction, other than to the next one.
pub fn targets(i: &Instr<'_>) -> SmallVec<[u32; 2]> {
    match i.operand {
        Operand::Branch(t) => SmallVec::from_slice(&[t]),
        Operand::Switch(t) => t.iter().collect(),
        _ => SmallVec::new(),
    }
}

impl Plan {
    /// Makes the plan. `entry` is 0, or the offset of the filter that is compiled as a function of its own.
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
            has_calls: false,
            has_localloc: false,
        };
        if len == 0 {
            return Err(Fail::invalid("the method has no code"));
        }
        // 1: the start of an instruction; 2: of a block.
        let mut marks = vec![0u8; len + 1];
        marks[0] |= 2;
        for i in body.instructions() {
            let i = i.map_err(|e| Fail::invalid(e.to_string()))?;
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
                Op::Localloc => plan.has_localloc = true,
                op if may_call(op) => plan.has_calls = true,
                _ => {}
            }
            if let Some((op, is_arg, index)) = variable_of(&i) {
                let flags = if is_arg {
                    &mut plan.args
                } else {
                    &mut plan.locals
                };
                let Some(flags) = flags.get_mut(index) else {
                    return Err(Fail::invalid(if is_arg {
                        "no such argument"
                    } else {
                        "no such local"
                    }));
                };
                *flags |= op.flag();
                if op == VarOp::Store && body.clauses.iter().any(|c| in_filter(c, i.offset)) {
                    *flags |= FILTERED;
                }
            }
            plan.instrs.push(i);
        }
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
        for (index, i) in plan.instrs.iter().enumerate() {
            if marks[i.offset as usize] & 2 != 0 {
                if let Some(last) = plan.blocks.last_mut() {
                    last.end = index as u32;
                }
                plan.block_at[i.offset as usize] = plan.blocks.len() as u32;
                plan.blocks.push(PlanBlock {
                    offset: i.offset,
                    first: index as u32,
                    end: plan.instrs.len() as u32,
                    reachable: false,
                    last_source: -1,
                    region: 0,
                    cold: false,
                });
            }
        }
        if marks[..len].contains(&2) {
            return Err(Fail::invalid(
                "a branch or clause goes into the middle of an instruction",
            ));
        }
        plan.check_entries()?;
        // In a filter only the clauses inside it count: what escapes a filter is no concern of its method's handlers.
        let filter = body
            .clauses
            .iter()
            .find(|c| entry != 0 && c.kind == EhKind::Filter(entry));
        let counts = |c: &EhClause| {
            filter.is_none_or(|f| c.try_offset >= entry && c.try_offset < f.handler_offset)
        };
        if !body.clauses.is_empty() {
            for b in &mut plan.blocks {
                let set: SmallVec<[u32; 4]> = (0u32..)
                    .zip(&body.clauses)
                    .filter(|(_, c)| in_try(c, b.offset) && counts(c))
                    .map(|(n, _)| n)
                    .collect();
                let found = plan.regions.iter().rposition(|r| *r == set);
                b.region = found.unwrap_or_else(|| {
                    plan.regions.push(set);
                    plan.regions.len() - 1
                }) as u32;
            }
        }
        plan.reach(entry)?;
        plan.find_cold()?;
        Ok(plan)
    }

    /// What a block finds on the stack when it is entered is one thing: the beginning of the method finds nothing, a catch
    /// handler or a filter the exception, a finally or fault handler nothing from a way of its own. So these begin at
    /// instructions, and never at the same one.
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
                return Err(Fail::invalid(
                    "a handler or filter begins where the method or another handler does",
                ));
            }
        }
        Ok(())
    }

    /// The block that starts at an offset.
    pub fn block(&self, offset: u32) -> Res<usize> {
        match self.block_at.get(offset as usize) {
            Some(&b) if b != u32::MAX => Ok(b as usize),
            _ => Err(Fail::invalid("no instruction at the target")),
        }
    }

    /// The last instruction of a block.
    pub fn last(&self, block: usize) -> &Instr<'static> {
        &self.instrs[self.blocks[block].end as usize - 1]
    }

    fn reach(&mut self, entry: u32) -> Res {
        let mut work = vec![self.block(entry)?];
        self.blocks[work[0]].reachable = true;
        while let Some(at) = work.pop() {
            let from = self.last(at).offset;
            self.check_edges(at)?;
            let mut next = self.successors(at)?;
            for n in 0..self.regions[self.blocks[at].region as usize].len() {
                let clause = self.regions[self.blocks[at].region as usize][n];
                next.push(self.block(self.clauses[clause as usize].handler_offset)?);
            }
            for to in next {
                let b = &mut self.blocks[to];
                b.last_source = b.last_source.max(i64::from(from));
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

    /// No way out of the block but an exception leads into a handler or filter, or out of a filter.
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

    /// See the module's invariants. A way out of a handler that is no `leave` does no harm.
    fn check_edge(&self, from: u32, to: u32) -> Res {
        let enters = |c: &EhClause| {
            in_handler(c, to) && !in_handler(c, from) || in_filter(c, to) != in_filter(c, from)
        };
        if self.clauses.iter().any(enters) {
            return Err(Fail::invalid(
                "control enters a handler or filter, or leaves a filter",
            ));
        }
        Ok(())
    }

    /// Is the instruction in a filter that the clause's handler is not in?
    pub fn is_filtered_from(&self, offset: u32, clause: usize) -> bool {
        let handler = self.clauses[clause].handler_offset;
        self.clauses
            .iter()
            .any(|c| in_filter(c, offset) && !in_filter(c, handler))
    }

    /// Finds the blocks that can only throw. (One that goes back is never thought cold.)
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

    /// Takes what those blocks do to variables out of the flags.
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

    /// Where control goes from a block: branch targets, the next block, the finallys a `leave` runs.
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

    /// The finally clauses that a `leave` from one offset to another runs, innermost first.
    pub fn finallys(&self, from: u32, to: u32) -> SmallVec<[u32; 4]> {
        (0u32..)
            .zip(&self.clauses)
            .filter(|(_, c)| c.kind == EhKind::Finally && in_try(c, from) && !in_try(c, to))
            .map(|(n, _)| n)
            .collect()
    }

    /// Is there a `try` with a filter between the two offsets?
    pub fn has_filters_within(&self, from: u32, to: u32) -> bool {
        self.clauses.iter().any(|c| {
            matches!(c.kind, EhKind::Filter(_)) && c.try_offset >= from && c.try_offset < to
        })
    }

    /// The clauses whose protected range holds the whole of a clause's handler, innermost first. (A `try` may begin
    /// where the handler does, and end before it.)
    pub fn around_handler(&self, clause: usize) -> Res<SmallVec<[u32; 4]>> {
        let c = &self.clauses[clause];
        let first = self.block(c.handler_offset)?;
        Ok(self.regions[self.blocks[first].region as usize]
            .iter()
            .copied()
            .filter(|n| !in_handler(c, self.clauses[*n as usize].try_offset))
            .collect())
    }

    /// Does it lie in a loop, as far as branches back show?
    pub fn in_loop(&self, offset: u32) -> bool {
        self.back_edges
            .iter()
            .any(|(target, source)| *target <= offset && offset <= *source)
    }

    /// Live variables at the entry of every block, arguments first, then locals: for the write-through rule.
    pub fn liveness(&self) -> Res<Liveness> {
        Liveness::new(self)
    }
}

/// Bit sets of live variables, one per block.
pub struct Liveness {
    words: usize,
    live_in: Vec<u64>,
}

impl Liveness {
    fn new(plan: &Plan) -> Res<Liveness> {
        let count = plan.args.len() + plan.locals.len();
        let words = count.div_ceil(64).max(1);
        let blocks = plan.blocks.len();
        let mut gen_kill = vec![0u64; blocks * words * 2];
        for (n, b) in plan.blocks.iter().enumerate() {
            for i in &plan.instrs[b.first as usize..b.end as usize] {
                let Some((op, is_arg, index)) = variable_of(i) else {
                    continue;
                };
                let v = if is_arg {
                    index
                } else {
                    plan.args.len() + index
                };
                let (word, bit) = (n * words * 2 + v / 64, 1u64 << (v % 64));
                match op {
                    VarOp::Load if gen_kill[word + words] & bit == 0 => gen_kill[word] |= bit,
                    VarOp::Store => gen_kill[word + words] |= bit,
                    _ => {}
                }
            }
        }
        let mut next: Vec<SmallVec<[usize; 4]>> = Vec::with_capacity(blocks);
        for n in 0..blocks {
            next.push(plan.successors(n)?);
        }
        // After a finally: wherever a leave through it goes on.
        for (n, b) in plan.blocks.iter().enumerate() {
            if plan.last(n).op != Op::Endfinally {
                continue;
            }
            for (from, to) in &plan.leaves {
                let through = plan.finallys(*from, *to);
                if through
                    .iter()
                    .any(|c| in_handler(&plan.clauses[*c as usize], b.offset))
                {
                    next[n].push(plan.block(*to)?);
                    for c in through {
                        next[n].push(plan.block(plan.clauses[c as usize].handler_offset)?);
                    }
                }
            }
        }
        // What runs when an instruction of the block throws: live throughout the block.
        let mut pads: Vec<SmallVec<[usize; 4]>> = Vec::with_capacity(plan.regions.len());
        for r in &plan.regions {
            let mut set = SmallVec::new();
            for c in r {
                let c = &plan.clauses[*c as usize];
                set.push(plan.block(c.handler_offset)?);
                if let EhKind::Filter(at) = c.kind {
                    set.push(plan.block(at)?);
                }
            }
            pads.push(set);
        }
        let mut live = Liveness {
            words,
            live_in: vec![0; blocks * words],
        };
        loop {
            let mut changed = false;
            for n in (0..blocks).rev() {
                for w in 0..words {
                    let out = next[n]
                        .iter()
                        .fold(0, |a, s| a | live.live_in[s * words + w]);
                    let (used, killed) = (
                        gen_kill[n * words * 2 + w],
                        gen_kill[n * words * 2 + words + w],
                    );
                    let thrown = pads[plan.blocks[n].region as usize]
                        .iter()
                        .fold(0, |a, s| a | live.live_in[s * words + w]);
                    let set = used | out & !killed | thrown;
                    if set != live.live_in[n * words + w] {
                        live.live_in[n * words + w] = set;
                        changed = true;
                    }
                }
            }
            if !changed {
                return Ok(live);
            }
        }
    }
    /// Is the variable live at the entry of the block?
    pub fn is_live(&self, block: usize, variable: usize) -> bool {
        self.live_in[block * self.words + variable / 64] & 1 << (variable % 64) != 0
    }
}

/// May the instruction call something in a way that needs stack (any non-leaf helper counts)?
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
