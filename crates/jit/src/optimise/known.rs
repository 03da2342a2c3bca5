//! Conditions that are known where they are asked for: a branch or check on the way there has decided
//! them.
//!
//! ```text
//! block0:  brif v0 == 0, block1, block2                ; key == null
//! block2:  ...                                         ; reached from block0 only: v0 is not 0 here, nor in what block2 dominates
//! block5:  brif v0, block6, block7                     jump block6
//! ```
//!
//! (Known as the removal of redundant branches by dominating conditions.)
//!
//! Inlining brings such branches together: each small method of the class library checks its
//! arguments again.
//!
//! What says something of a condition: a branch with two ways, in the block that one of them leads
//! to, if nothing else leads there; a check, behind it; an access that raises NullReferenceException
//! at null, which the address is not behind it. The fact holds in all that the block dominates,
//! because the values of SSA form that it is about are the same there: to compute one of them anew,
//! control must pass the place that decides it again.
//!
//! # Invariants
//! * Facts are about values only, never about memory.
//! * A load that only asks for null goes only behind an access to the same place or an allocation.
//! * Comparisons are the same if they have the same operands and the same condition, or the opposite
//!   one. A value that is not 0 is one that does not equal 0.
use cranelift_codegen::dominator_tree::DominatorTree;
use cranelift_codegen::entity::EntitySet;
use cranelift_codegen::flowgraph::ControlFlowGraph;
use cranelift_codegen::ir::condcodes::{CondCode, IntCC};
use cranelift_codegen::ir::{
    Block, BlockArg, Function, Inst, InstBuilder, InstructionData, Opcode, TrapCode, Value,
    ValueDef,
};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::slots::constant;

/// How many conversions of a condition to a number are looked through.
const DEPTH: u32 = 4;

/// A comparison of integers.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Condition {
    code: IntCC,
    left: Value,
    right: Operand,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Operand {
    Value(Value),
    Constant(i64),
}

/// By condition: the blocks in which it has been decided, and how.
type Facts = FxHashMap<Condition, SmallVec<[(Block, bool); 2]>>;

/// By address: the blocks in which memory there has been accessed, and where an object has been
/// allocated. That an address is not 0 says less: a pointer to the page of null raises
/// NullReferenceException as well.
type Touched = FxHashMap<Value, SmallVec<[Block; 2]>>;

/// What becomes of an instruction.
enum Change {
    /// A branch goes one way: the number of that way.
    Goes(Inst, usize),
    /// A check that never traps.
    Passes(Inst),
    /// A load that never traps.
    Loads(Inst),
    /// A choice is one of its operands.
    Chooses(Inst, Value),
}

/// Replaces branches, checks and choices whose condition is known, and removes loads that only ask
/// whether a reference is null. Whether an edge went. `null` is the code of accesses that trap at
/// null; `objects` are known not to be null.
pub(super) fn decide(
    func: &mut Function,
    cfg: &ControlFlowGraph,
    domtree: &DominatorTree,
    null: TrapCode,
    objects: impl Iterator<Item = Value>,
) -> bool {
    func.dfg.resolve_all_aliases();
    let mut facts = Facts::default();
    let mut touched = Touched::default();
    for object in objects {
        if let ValueDef::Param(block, _) = func.dfg.value_def(object) {
            facts.insert(is_null(object), smallvec![(block, false)]);
            touched.insert(object, smallvec![block]);
        }
    }
    let mut changes = Vec::new();
    // A block that dominates another comes before it.
    for block in domtree.cfg_postorder().iter().rev() {
        if let Some((condition, holds)) = on_entry(func, cfg, *block) {
            facts.entry(condition).or_default().push((*block, holds));
        }
        for inst in func.layout.block_insts(*block) {
            look_at(
                func,
                domtree,
                (*block, inst),
                (&mut facts, &mut touched),
                &mut changes,
                null,
            );
        }
    }
    let mut edges = false;
    let used = match changes.iter().any(|c| matches!(c, Change::Loads(_))) {
        true => used(func),
        false => EntitySet::new(),
    };
    for change in changes {
        match change {
            Change::Passes(inst) => func.layout.remove_inst(inst),
            Change::Loads(inst) => {
                if !used.contains(func.dfg.first_result(inst)) {
                    func.layout.remove_inst(inst);
                }
            }
            Change::Chooses(inst, chosen) => {
                let result = func.dfg.first_result(inst);
                func.dfg.clear_results(inst);
                func.dfg.change_to_alias(result, chosen);
                func.layout.remove_inst(inst);
            }
            Change::Goes(inst, way) => {
                let InstructionData::Brif { blocks, .. } = func.dfg.insts[inst] else {
                    continue;
                };
                let to = blocks[way].block(&func.dfg.value_lists);
                let args: SmallVec<[BlockArg; 4]> =
                    blocks[way].args(&func.dfg.value_lists).collect();
                func.replace(inst).jump(to, &args);
                edges = true;
            }
        }
    }
    func.dfg.resolve_all_aliases();
    edges
}

/// The values that anything uses.
fn used(func: &Function) -> EntitySet<Value> {
    let mut used = EntitySet::with_capacity(func.dfg.num_values());
    for block in func.layout.blocks() {
        for inst in func.layout.block_insts(block) {
            used.extend(func.dfg.inst_values(inst));
        }
    }
    used
}

/// What an instruction asks, and what it says from there on.
fn look_at(
    func: &Function,
    domtree: &DominatorTree,
    (block, inst): (Block, Inst),
    (facts, touched): (&mut Facts, &mut Touched),
    changes: &mut Vec<Change>,
    null: TrapCode,
) {
    match func.dfg.insts[inst] {
        InstructionData::Brif { arg, blocks, .. } => {
            let known = truth(func, domtree, facts, block, arg);
            if let Some(holds) = known
                && blocks[0].block(&func.dfg.value_lists) != blocks[1].block(&func.dfg.value_lists)
            {
                changes.push(Change::Goes(inst, usize::from(!holds)));
            }
        }
        InstructionData::CondTrap { opcode, arg, .. } => {
            let traps = opcode == Opcode::Trapnz;
            match truth(func, domtree, facts, block, arg) {
                Some(holds) if holds != traps => changes.push(Change::Passes(inst)),
                Some(_) => {}
                None => {
                    if let Some((condition, holds)) = condition(func, arg, DEPTH) {
                        let known = facts.entry(condition).or_default();
                        known.push((block, holds != traps));
                    }
                }
            }
        }
        InstructionData::Ternary {
            opcode: Opcode::Select,
            args: [arg, one, other],
        } => {
            if let Some(holds) = truth(func, domtree, facts, block, arg) {
                changes.push(Change::Chooses(inst, if holds { one } else { other }));
            }
        }
        InstructionData::Load { arg, flags, .. }
        | InstructionData::Store {
            args: [_, arg],
            flags,
            ..
        } if func.dfg.mem_flags[flags].trap_code() == Some(null) => {
            let condition = is_null(arg);
            if is_known(domtree, facts, block, &condition).is_none() {
                facts.entry(condition).or_default().push((block, false));
            }
            let blocks = touched.entry(arg).or_default();
            if !blocks.iter().any(|by| domtree.block_dominates(*by, block)) {
                blocks.push(block);
            } else if func.dfg.insts[inst].opcode() == Opcode::Load {
                // It goes if nothing uses what it loads.
                changes.push(Change::Loads(inst));
            }
        }
        _ => {}
    }
}

/// The condition that a reference is null.
fn is_null(reference: Value) -> Condition {
    Condition {
        code: IntCC::Equal,
        left: reference,
        right: Operand::Constant(0),
    }
}

/// What is known of a condition.
fn truth(
    func: &Function,
    domtree: &DominatorTree,
    facts: &Facts,
    block: Block,
    value: Value,
) -> Option<bool> {
    let (condition, holds) = condition(func, value, DEPTH)?;
    is_known(domtree, facts, block, &condition).map(|known| known == holds)
}

/// Whether a condition is known in a block, and what.
fn is_known(
    domtree: &DominatorTree,
    facts: &Facts,
    block: Block,
    condition: &Condition,
) -> Option<bool> {
    let decided = facts.get(condition)?.iter();
    let mut here = decided.filter(|(by, _)| domtree.block_dominates(*by, block));
    here.next().map(|(_, holds)| *holds)
}

/// What the only edge into a block says.
fn on_entry(func: &Function, cfg: &ControlFlowGraph, block: Block) -> Option<(Condition, bool)> {
    let mut edges = cfg.pred_iter(block);
    let (Some(edge), None) = (edges.next(), edges.next()) else {
        return None;
    };
    let InstructionData::Brif { arg, blocks, .. } = func.dfg.insts[edge.inst] else {
        return None;
    };
    let [yes, no] = blocks.map(|b| b.block(&func.dfg.value_lists));
    let (condition, holds) = condition(func, arg, DEPTH).filter(|_| yes != no)?;
    Some((condition, holds == (block == yes)))
}

/// The condition that a value is not 0, and whether it must hold or not.
fn condition(func: &Function, value: Value, depth: u32) -> Option<(Condition, bool)> {
    let not_zero = (
        Condition {
            code: IntCC::Equal,
            left: value,
            right: Operand::Constant(0),
        },
        false,
    );
    let ValueDef::Result(inst, _) = func.dfg.value_def(value) else {
        return Some(not_zero);
    };
    let Some(depth) = depth.checked_sub(1) else {
        return Some(not_zero);
    };
    match func.dfg.insts[inst] {
        InstructionData::IntCompare {
            opcode: Opcode::Icmp,
            cond,
            args: [left, right],
        } => {
            let (code, holds) = match cond {
                IntCC::NotEqual
                | IntCC::SignedGreaterThanOrEqual
                | IntCC::SignedGreaterThan
                | IntCC::UnsignedGreaterThanOrEqual
                | IntCC::UnsignedGreaterThan => (cond.complement(), false),
                _ => (cond, true),
            };
            let right = match constant(func, right) {
                // The bits beyond the type are whatever made the constant.
                Some(c) => Operand::Constant(truncated(c, func.dfg.value_type(left).bits())),
                None => Operand::Value(right),
            };
            match (code, right) {
                // A comparison of a comparison.
                (IntCC::Equal, Operand::Constant(0)) => {
                    condition(func, left, depth).map(|(c, is)| (c, is != holds))
                }
                _ => Some((Condition { code, left, right }, holds)),
            }
        }
        InstructionData::Unary {
            opcode: Opcode::Uextend | Opcode::Sextend,
            arg,
        } => condition(func, arg, depth),
        _ => Some(not_zero),
    }
}

/// The lowest bits of a constant, with the highest of them repeated.
fn truncated(constant: i64, bits: u32) -> i64 {
    let unused = 64 - bits.min(64);
    constant << unused >> unused
}

#[cfg(test)]
mod tests {
    use super::decide;
    use crate::optimise::testing::parsed;
    use cranelift_codegen::ir::TrapCode;

    fn decided(text: &str) -> (String, bool) {
        let (mut func, cfg, domtree) = parsed(text);
        let edges = decide(
            &mut func,
            &cfg,
            &domtree,
            TrapCode::unwrap_user(1),
            std::iter::empty(),
        );
        (func.to_string(), edges)
    }

    #[test]
    fn what_a_branch_has_decided_is_not_asked_again() {
        let (text, edges) = decided(
            "function %f(i64, i64) -> i32 {
            block0(v0: i64, v1: i64):
                v2 = iconst.i64 0
                v3 = icmp eq v0, v2
                brif v3, block1, block2
            block1:
                v4 = iconst.i32 1
                return v4
            block2:
                brif v0, block3, block4
            block3:
                v5 = iconst.i64 0
                v6 = icmp ne v0, v5
                v7 = uextend.i32 v6
                v8 = iconst.i32 7
                v9 = iconst.i32 8
                v10 = select v7, v8, v9
                brif v1, block4, block5
            block5:
                return v10
            block4:
                brif v1, block5, block6
            block6:
                return v9
            }",
        );
        assert!(edges);
        assert!(text.contains("jump block3"), "{text}");
        assert!(!text.contains("select"), "{text}");
        // Of block4 and block5 more than one branch leads there: nothing is known of v1.
        assert_eq!(text.matches("brif.i64 v1").count(), 2, "{text}");
    }

    #[test]
    fn what_is_not_null_is_not_touched_again() {
        let (text, _) = decided(
            "function %f(i64, i64) -> i32 {
            block0(v0: i64, v1: i64):
                v2 = load.i32 user1 v0+8
                v3 = load.i32 user1 v0
                v4 = load.i32 user1 v1
                jump block1(v2)
            block1(v5: i32):
                v6 = load.i32 user1 v1
                v7 = load.i32 user1 v0
                brif v5, block1(v7), block2
            block2:
                return v2
            }",
        );
        // What v7 loads is used, and only the first load from v1 finds whether it is null.
        assert_eq!(text.matches("load.i32").count(), 3, "{text}");
        assert!(
            text.contains("v4 = load") && text.contains("v7 = load"),
            "{text}"
        );
    }

    /// A pointer that is not 0 may point to the page of null.
    #[test]
    fn what_was_only_compared_with_null_is_touched() {
        let (text, _) = decided(
            "function %f(i64) -> i32 {
            block0(v0: i64):
                v1 = iconst.i32 1
                brif v0, block1, block2
            block1:
                v2 = load.i32 user1 v0
                return v1
            block2:
                return v1
            }",
        );
        assert_eq!(text.matches("load.i32").count(), 1, "{text}");
    }

    #[test]
    fn checks_and_accesses_say_what_holds_behind_them() {
        let (text, edges) = decided(
            "function %f(i64, i32, i32) -> i32 {
            block0(v0: i64, v1: i32, v2: i32):
                brif v0, block1, block1
            block1:
                v3 = load.i32 user1 v0+8
                v4 = icmp uge v1, v3
                trapnz v4, user2
                v5 = icmp ult v1, v3
                trapz v5, user2
                v6 = icmp ult v2, v3
                trapz v6, user2
                brif v0, block2, block3
            block2:
                return v3
            block3:
                return v1
            }",
        );
        assert!(edges);
        assert!(text.contains("jump block2"), "{text}");
        assert_eq!(text.matches("trapnz").count(), 1, "{text}");
        assert!(text.contains(" v6, user2"), "{text}");
        assert_eq!(text.matches("trapz").count(), 1, "{text}");
    }
}
