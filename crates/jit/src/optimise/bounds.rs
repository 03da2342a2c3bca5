//! Removal of bounds checks that cannot fail, and of loads of a length that is known.
//!
//! # How it works
//! The emitter notes which loads give the length of an array
//! ([`FrameNotes::length`](super::FrameNotes::length)). A check is `trapnz` or `brif` of `index >=
//! length`, unsigned. It goes if `0 <= index < length` is known where it stands:
//!
//! ```text
//! block1:  brif 0 < length, block2(0), block3
//! block2(i):                                    every edge into block2 passes an i that is less than the length, and 0 or more
//!     trapnz (i >= length)                      so this goes
//!     j = i + 1
//!     brif j < length, block2(j), block3
//! ```
//!
//! What is known of a value comes from the branches that lead to a block, from checks that have been
//! passed, and from how the value was computed. Of a block parameter that holds which holds of what
//! every edge passes; while that is examined, it is assumed of the parameter itself, as in a proof by
//! induction over the iterations.
//!
//! What shows a claim:
//!
//! ```text
//! claim           computed as                              branch or check on the way
//! natural         constant, length, byte or char,          i >= n or i > n with n natural, i > -1,
//!                 i + 1 with i natural and below some      i < n unsigned with n natural
//! below a         length - 1, i - 1 with i natural         i < length of a, signed or unsigned;
//!                 and below a                              of a constant: length > c, length == c, length != 0
//! below some      constant                                 i < n, signed
//! ```
//!
//! How the example is proved, with the length of array `a`:
//!
//! ```text
//! i below a         edge from block1: 0 < length;  edge from block3's side: j < length
//! i is natural      edge from block1: 0;  the other: j = i + 1, i is natural (assumed), and i is less than the length, so the sum does not overflow
//! ```
//!
//! A loop that goes down, `for (i = length - 1; i >= 0; i--)`:
//!
//! ```text
//! i below a         length - 1;  j = i - 1, i is below a (assumed) and natural, so the difference does not overflow
//! i is natural      the branch into the loop says it of both
//! ```
//!
//! # Invariants
//! * The length of an array never changes and is never negative.
//! * A value of SSA form is another one in every iteration. A fact that relates a block parameter to
//!   an array therefore counts only if the array was made before the block, in a block that dominates
//!   it properly.
//! * `i + 1` is not negative if `i` is not and is less than some other number: it cannot overflow.
//!   Other steps are not followed.
//! * Unsigned and signed comparisons agree on numbers that are not negative. `index < length`,
//!   unsigned, says both parts, because a length is not negative.
//! * A check that is removed may still be what another one relies on: what it says is true.
use super::slots::constant;
use super::{FrameNotes, divisions};
use cranelift_codegen::dominator_tree::DominatorTree;
use cranelift_codegen::flowgraph::ControlFlowGraph;
use cranelift_codegen::ir::condcodes::{CondCode, IntCC};
use cranelift_codegen::ir::{
    Block, BlockCall, Function, Inst, InstBuilder, InstructionData, Opcode, Value, ValueDef,
    types::I32,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// How many blocks and definitions are looked at in one function. The walk up the dominator tree is
/// what takes the time, in long functions with many checks; when the budget is used up the rest of
/// the checks stays.
const BUDGET: u32 = 5_000;
/// How deep proofs nest: each definition and each block parameter on the way to a constant, a length
/// or a branch is one level.
const DEPTH: u32 = 12;

/// A check: the index, and the array.
#[derive(Clone, Copy)]
struct Check {
    index: Value,
    array: Value,
}

/// What is to be shown of a value, a 32-bit integer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Claim {
    /// It is not negative. With `Below` this is what a check asks.
    Natural,
    /// It is less than the length of the array, signed. The array is the claim's, not its length: a
    /// length may be loaded in several places, and where an index was compared with one of them the
    /// others are meant, too.
    Below(Value),
    /// It is less than some number, signed, whatever that is: so one can be added to it without an
    /// overflow.
    BelowSome,
}

/// Where something is to be shown: somewhere in a block, or, with an edge, at its end on the way to
/// another block. Only at the end have all checks of the block been passed, and only on an edge has
/// its branch been taken.
#[derive(Clone, Copy)]
struct Place {
    block: Block,
    edge: Option<(Inst, usize)>,
}

/// See the module.
struct Prover<'a> {
    func: &'a Function,
    cfg: &'a ControlFlowGraph,
    domtree: &'a DominatorTree,
    /// By length: the array. Of each array there may be several, loaded where none dominates the other.
    lengths: FxHashMap<Value, Value>,
    /// By index and array: the blocks of checks that have been passed. Blocks are looked at in
    /// reverse postorder, so those that dominate a block have been seen before it.
    passed: FxHashMap<(Value, Value), SmallVec<[Block; 2]>>,
    /// What is assumed of block parameters: the claims that are being shown, from the outermost inwards.
    assumed: Vec<(Value, Claim)>,
    budget: u32,
}

/// Removes the checks, and says whether an edge went with one. Divisions by powers of two whose
/// dividend is not negative become shifts. No block is unreachable; afterwards blocks that only throw
/// may be.
pub fn remove_checks(
    func: &mut Function,
    cfg: &ControlFlowGraph,
    domtree: &DominatorTree,
    notes: &FrameNotes,
) -> bool {
    func.dfg.resolve_all_aliases();
    let order: Vec<Block> = domtree.cfg_postorder().iter().rev().copied().collect();
    let lengths = share_lengths(func, domtree, notes, &order);
    let mut prover = Prover {
        func,
        cfg,
        domtree,
        lengths,
        passed: FxHashMap::default(),
        assumed: Vec::new(),
        budget: BUDGET,
    };
    let mut removed = Vec::new();
    let mut divisions = Vec::new();
    for block in order {
        for inst in prover.func.layout.block_insts(block) {
            let place = Place { block, edge: None };
            if let Some((dividend, _)) = divisions::parts(prover.func, inst)
                && prover.shows(dividend, Claim::Natural, place, 0)
            {
                divisions.push(inst);
            }
            let Some(check) = prover.check(inst) else {
                continue;
            };
            if prover.holds(&check, block) {
                removed.push(inst);
            }
            // In a protected region the check ends the block, and its edge says the same.
            if prover.func.dfg.insts[inst].opcode() == Opcode::Trapnz {
                let passed = prover.passed.entry((check.index, check.array));
                passed.or_default().push(block);
            }
        }
    }
    for inst in divisions {
        divisions::of_natural(func, inst);
    }
    let mut edges = false;
    for inst in removed {
        match func.dfg.insts[inst] {
            InstructionData::Brif {
                blocks: [_, on], ..
            } => {
                let (on, args) = (
                    on.block(&func.dfg.value_lists),
                    on.args(&func.dfg.value_lists).collect::<SmallVec<[_; 4]>>(),
                );
                func.replace(inst).jump(on, &args);
                edges = true;
            }
            _ => func.layout.remove_inst(inst),
        }
    }
    edges
}

/// The array whose length a load gives, if the load is still there. The base of the load is the
/// reference itself: constants stay in the offset field.
fn array_of(func: &Function, length: Value) -> Option<Value> {
    let ValueDef::Result(inst, _) = func.dfg.value_def(length) else {
        return None;
    };
    match func.dfg.insts[inst] {
        InstructionData::Load {
            opcode: Opcode::Load,
            arg,
            ..
        } if func.layout.inst_block(inst).is_some() && func.dfg.first_result(inst) == length => {
            Some(arg)
        }
        _ => None,
    }
}

/// Replaces loads of a length that a dominating load has given, behind which Cranelift itself would
/// have to assume another length if anything was stored; the first load has also found that the array
/// is not null. Returns the arrays of the lengths that are left.
fn share_lengths(
    func: &mut Function,
    domtree: &DominatorTree,
    notes: &FrameNotes,
    order: &[Block],
) -> FxHashMap<Value, Value> {
    let mut lengths = FxHashMap::default();
    let mut known: FxHashMap<Value, SmallVec<[(Block, Value); 2]>> = FxHashMap::default();
    let mut replaced = Vec::new();
    for block in order {
        for inst in func.layout.block_insts(*block) {
            let [length] = func.dfg.inst_results(inst)[..] else {
                continue;
            };
            if !notes.is_length(length) {
                continue;
            }
            let Some(array) = array_of(func, length) else {
                continue;
            };
            let all = known.entry(array).or_default();
            match all
                .iter()
                .find(|(b, _)| domtree.block_dominates(*b, *block))
            {
                Some((_, first)) => replaced.push((inst, length, *first)),
                None => {
                    all.push((*block, length));
                    lengths.insert(length, array);
                }
            }
        }
    }
    for (inst, length, first) in &replaced {
        func.dfg.clear_results(*inst);
        func.dfg.change_to_alias(*length, *first);
        func.layout.remove_inst(*inst);
    }
    if !replaced.is_empty() {
        func.dfg.resolve_all_aliases();
    }
    lengths
}

impl Prover<'_> {
    /// The check that an instruction is: a trap, or in a protected region a branch to a cold block
    /// that throws.
    fn check(&self, inst: Inst) -> Option<Check> {
        let condition = match self.func.dfg.insts[inst] {
            InstructionData::CondTrap {
                opcode: Opcode::Trapnz,
                arg,
                ..
            } => arg,
            InstructionData::Brif {
                arg,
                blocks: [out, _],
                ..
            } if self
                .func
                .layout
                .is_cold(out.block(&self.func.dfg.value_lists)) =>
            {
                arg
            }
            _ => return None,
        };
        let (IntCC::UnsignedGreaterThanOrEqual, index, length) = self.compare(condition)? else {
            return None;
        };
        let array = *self.lengths.get(&length)?;
        Some(Check { index, array })
    }

    /// Whether the index is in bounds where the check stands: the same check was passed before, or
    /// both parts can be shown.
    fn holds(&mut self, check: &Check, block: Block) -> bool {
        let place = Place { block, edge: None };
        let passed = self.passed.get(&(check.index, check.array));
        passed.is_some_and(|all| all.iter().any(|b| self.domtree.block_dominates(*b, block)))
            || self.shows(check.index, Claim::Below(check.array), place, 0)
                && self.shows(check.index, Claim::Natural, place, 0)
    }

    /// The operands of a comparison of 32-bit integers. An index of 64 bits is compared with a length
    /// of 64 bits; such checks stay. What `conv.i4` of a length becomes is the length.
    fn compare(&self, condition: Value) -> Option<(IntCC, Value, Value)> {
        let ValueDef::Result(inst, _) = self.func.dfg.value_def(condition) else {
            return None;
        };
        match self.func.dfg.insts[inst] {
            InstructionData::IntCompare {
                opcode: Opcode::Icmp,
                cond,
                args: [a, b],
            } if self.func.dfg.value_type(a) == I32 => Some((cond, self.plain(a), self.plain(b))),
            _ => None,
        }
    }

    /// `ldlen` gives a native int, which C# narrows again: the value without an extension to 64 bits
    /// and back.
    fn plain(&self, value: Value) -> Value {
        let dfg = &self.func.dfg;
        let operand = |value, wanted| match dfg.value_def(value) {
            ValueDef::Result(inst, _) => match dfg.insts[inst] {
                InstructionData::Unary { opcode, arg } if opcode == wanted => Some(arg),
                _ => None,
            },
            _ => None,
        };
        let narrow = operand(value, Opcode::Ireduce)
            .and_then(|wide| operand(wide, Opcode::Uextend).or(operand(wide, Opcode::Sextend)));
        match narrow {
            Some(narrow) if dfg.value_type(narrow) == dfg.value_type(value) => narrow,
            _ => value,
        }
    }

    /// Whether the claim holds of the value at the place. First what the value is computed from is
    /// looked at, which is near, and then the branches on the way, which may be many.
    fn shows(&mut self, value: Value, claim: Claim, place: Place, depth: u32) -> bool {
        if depth > DEPTH || self.budget == 0 {
            return false;
        }
        self.budget -= 1;
        let value = self.plain(value);
        self.computed(value, claim, depth) || self.branched(value, claim, place, depth)
    }

    /// Whether the claim follows from how the value was computed. What its operands were then is
    /// shown for the place where it was computed: facts from behind it would be true of the same
    /// values as well, but facts of another iteration would not.
    fn computed(&mut self, value: Value, claim: Claim, depth: u32) -> bool {
        let (inst, block) = match self.func.dfg.value_def(value) {
            ValueDef::Param(block, n) => return self.parameter(value, (block, n), claim, depth),
            ValueDef::Result(inst, 0) => match self.func.layout.inst_block(inst) {
                Some(block) => (inst, block),
                None => return false,
            },
            _ => return false,
        };
        if claim == Claim::Natural && self.lengths.contains_key(&value) {
            return true;
        }
        let place = Place { block, edge: None };
        match (self.func.dfg.insts[inst], claim) {
            (InstructionData::UnaryImm { imm, .. }, Claim::Natural) => imm.bits() as i32 >= 0,
            (InstructionData::UnaryImm { imm, .. }, Claim::BelowSome) => {
                (imm.bits() as i32) < i32::MAX
            }
            (
                InstructionData::Load {
                    opcode: Opcode::Uload8 | Opcode::Uload16,
                    ..
                },
                Claim::Natural,
            ) => true,
            (
                InstructionData::Binary {
                    opcode: opcode @ (Opcode::Iadd | Opcode::Isub),
                    args: [x, by],
                },
                _,
            ) => {
                let Some(by) = constant(self.func, by).map(|by| by as i32) else {
                    return false;
                };
                match (opcode == Opcode::Iadd, by, claim) {
                    (true, 1, Claim::Natural) => {
                        self.shows(x, Claim::Natural, place, depth + 1)
                            && self.shows(x, Claim::BelowSome, place, depth + 1)
                    }
                    (false, 1, Claim::Below(array)) | (true, -1, Claim::Below(array)) => {
                        let x = self.plain(x);
                        self.lengths.get(&x) == Some(&array)
                            || self.shows(x, claim, place, depth + 1)
                                && self.shows(x, Claim::Natural, place, depth + 1)
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// Whether the claim holds of what every edge passes for a block parameter.
    ///
    /// The parameter is another value each time the block is entered. An edge passes values that were
    /// computed before, so if one of them depends on the parameter, it is the one of an earlier time,
    /// of which the claim may be assumed.
    fn parameter(
        &mut self,
        value: Value,
        (block, n): (Block, usize),
        claim: Claim,
        depth: u32,
    ) -> bool {
        if let Claim::Below(array) = claim {
            let made = match self.func.dfg.value_def(array) {
                ValueDef::Param(made, _) => Some(made),
                ValueDef::Result(inst, _) => self.func.layout.inst_block(inst),
                ValueDef::Union(..) => None,
            };
            if !made.is_some_and(|made| made != block && self.domtree.block_dominates(made, block))
            {
                return false;
            }
        }
        if self.assumed.contains(&(value, claim)) {
            return true;
        }
        self.assumed.push((value, claim));
        let preds: SmallVec<[(Block, Inst); 4]> = self
            .cfg
            .pred_iter(block)
            .map(|pred| (pred.block, pred.inst))
            .collect();
        let mut holds = !preds.is_empty();
        for (from, inst) in preds {
            for (at, call) in self.calls(inst).into_iter().enumerate() {
                if call.block(&self.func.dfg.value_lists) != block {
                    continue;
                }
                let arg = call.args(&self.func.dfg.value_lists).nth(n);
                let place = Place {
                    block: from,
                    edge: Some((inst, at)),
                };
                holds = holds
                    && arg
                        .and_then(|arg| arg.as_value())
                        .is_some_and(|arg| self.shows(arg, claim, place, depth + 1));
            }
        }
        self.assumed.pop();
        holds
    }

    /// The edges out of a block, in the order in which `brif` names them: if the condition is true,
    /// if it is false. A jump table and a call with handlers have edges, too, which say nothing of
    /// any value.
    fn calls(&self, end: Inst) -> SmallVec<[BlockCall; 4]> {
        let dfg = &self.func.dfg;
        let calls = dfg.insts[end].branch_destination(&dfg.jump_tables, &dfg.exception_tables);
        calls.iter().copied().collect()
    }

    /// Whether the claim follows from a branch on the way to the place, or from a check that was passed.
    ///
    /// A block with one edge into it is reached by that branch only, and so is all that it dominates.
    /// So the blocks are asked from the place up the dominator tree.
    fn branched(&mut self, value: Value, claim: Claim, place: Place, depth: u32) -> bool {
        let passes = |array: &Value, passed: &FxHashMap<_, SmallVec<[Block; 2]>>| {
            let all = passed.get(&(value, *array));
            all.is_some_and(|all| {
                let before = |b: &Block| *b != place.block || place.edge.is_some();
                all.iter()
                    .any(|b| before(b) && self.domtree.block_dominates(*b, place.block))
            })
        };
        if let Claim::Below(array) = claim
            && passes(&array, &self.passed)
        {
            return true;
        }
        if let Some((inst, at)) = place.edge
            && self.edge(inst, at, value, claim, depth)
        {
            return true;
        }
        let mut block = place.block;
        loop {
            if self.budget == 0 {
                return false;
            }
            self.budget -= 1;
            let mut preds = self.cfg.pred_iter(block);
            if let (Some(pred), None) = (preds.next(), preds.next()) {
                let calls = self.calls(pred.inst);
                let mut to = calls
                    .iter()
                    .enumerate()
                    .filter(|(_, c)| c.block(&self.func.dfg.value_lists) == block);
                if let (Some((at, _)), None) = (to.next(), to.next())
                    && self.edge(pred.inst, at, value, claim, depth)
                {
                    return true;
                }
            }
            match self.domtree.idom(block) {
                Some(up) => block = up,
                None => return false,
            }
        }
    }

    /// Whether the claim follows from a branch having taken that edge: edge 0 if the comparison is
    /// true, 1 if it is false. The comparison is turned so that the value is its first operand.
    fn edge(&mut self, inst: Inst, at: usize, value: Value, claim: Claim, depth: u32) -> bool {
        let InstructionData::Brif { arg, .. } = self.func.dfg.insts[inst] else {
            return false;
        };
        let Some((mut cond, mut a, mut b)) = self.compare(arg) else {
            return false;
        };
        if at == 1 {
            cond = cond.complement();
        }
        if a != value {
            (a, b, cond) = (b, a, cond.swap_args());
        }
        if let Claim::Below(array) = claim
            && let Some(index) = constant(self.func, value)
        {
            return self.constant_below(index as i32, (cond, a, b), array);
        }
        if a != value {
            return false;
        }
        use IntCC::*;
        let place = |p: &Self| {
            p.func
                .layout
                .inst_block(inst)
                .map(|block| Place { block, edge: None })
        };
        match (claim, cond) {
            (Claim::Natural, SignedGreaterThan)
                if constant(self.func, b).is_some_and(|c| c as i32 == -1) =>
            {
                true
            }
            // More than a number that is not negative, or less, unsigned.
            (Claim::Natural, SignedGreaterThanOrEqual | SignedGreaterThan | UnsignedLessThan) => {
                let place = place(self);
                place.is_some_and(|p| self.shows(b, Claim::Natural, p, depth + 1))
            }
            (Claim::BelowSome, SignedLessThan) => true,
            (Claim::BelowSome, UnsignedLessThan) => self.lengths.contains_key(&b),
            (Claim::Below(array), SignedLessThan | UnsignedLessThan) => {
                self.lengths.get(&b) == Some(&array)
            }
            _ => false,
        }
    }

    /// Whether a comparison says that the constant is less than the array's length: the length was
    /// compared with another constant, as in `if (a.Length > 3) ... a[2]`. There is a value for each
    /// mention of a constant, so the numbers are compared, not the values.
    fn constant_below(
        &self,
        index: i32,
        (cond, a, b): (IntCC, Value, Value),
        array: Value,
    ) -> bool {
        let (cond, length, other) = match self.lengths.get(&a) == Some(&array) {
            true => (cond, a, b),
            false => (cond.swap_args(), b, a),
        };
        let other = constant(self.func, other).map(|c| c as i32);
        self.lengths.get(&length) == Some(&array)
            && match (cond, other) {
                (IntCC::SignedGreaterThan | IntCC::UnsignedGreaterThan, Some(c)) => {
                    c >= 0 && index <= c
                }
                (IntCC::SignedGreaterThanOrEqual | IntCC::UnsignedGreaterThanOrEqual, Some(c)) => {
                    c >= 0 && index < c
                }
                (IntCC::Equal, Some(c)) => index < c,
                (IntCC::NotEqual, Some(0)) => index < 1,
                _ => false,
            }
    }
}

#[cfg(test)]
mod tests;
