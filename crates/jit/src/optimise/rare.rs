//! Branches that are taken rarely, by the look of what they ask: whether the low bits of a number, or
//! the rest of a division, are one value of many.
//!
//! ```text
//! if ((i & 1023) == 0) Flush();         if (i % 1000 == 0) Report();
//! ```
//!
//! What such a branch leads to is cold. Nothing has counted how often it is taken; a program that
//! writes this wants it rarely.
//!
//! # Invariants
//! * A block becomes cold only if nothing else leads to it, and only in the innermost loop of the
//!   branch: what follows a loop is not rare because the loop takes long to end.
use cranelift_codegen::dominator_tree::DominatorTree;
use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::flowgraph::ControlFlowGraph;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, Function, InstructionData, Opcode, Value};
use cranelift_codegen::loop_analysis::LoopAnalysis;

/// One of so many values, or of more, is rare.
const MANY: u64 = 32;

/// Marks what such branches lead to.
pub(super) fn mark(func: &mut Function, cfg: &ControlFlowGraph, domtree: &DominatorTree) {
    let blocks: Vec<Block> = func.layout.blocks().collect();
    let rare: Vec<(Block, Block)> = blocks
        .iter()
        .filter_map(|b| Some((*b, rare_way(func, *b)?)))
        .collect();
    if rare.is_empty() {
        return;
    }
    let mut entries: SecondaryMap<Block, u32> = SecondaryMap::new();
    for block in &blocks {
        for next in func.block_successors(*block) {
            entries[next] += 1;
        }
    }
    let mut loops = LoopAnalysis::new();
    loops.compute(func, cfg, domtree);
    for (block, way) in rare {
        let around = loops.innermost_loop(block);
        if entries[way] == 1 && around.is_some() && loops.innermost_loop(way) == around {
            func.layout.set_cold(way);
        }
    }
}

/// Where the branch leads that ends the block, in the rare case.
fn rare_way(func: &Function, block: Block) -> Option<Block> {
    let last = func.layout.last_inst(block)?;
    let InstructionData::Brif { arg, blocks, .. } = func.dfg.insts[last] else {
        return None;
    };
    let [yes, no] = blocks.map(|way| way.block(&func.dfg.value_lists));
    let (question, is_ne) = match definition(func, arg)? {
        (
            InstructionData::IntCompare {
                cond: cond @ (IntCC::Equal | IntCC::NotEqual),
                args: [of, with],
                ..
            },
            _,
        ) => {
            constant(func, with)?;
            (of, cond == IntCC::NotEqual)
        }
        // The number itself is asked for: not 0.
        _ => (arg, true),
    };
    (values(func, question)? >= MANY).then_some(if is_ne { no } else { yes })
}

/// How many values the number can have that the instruction makes, if it takes bits or a rest.
/// (The one that is asked for may be none of them. Then the way is as rare as can be.)
fn values(func: &Function, number: Value) -> Option<u64> {
    let (data, opcode) = definition(func, number)?;
    let InstructionData::Binary { args: [_, by], .. } = data else {
        return None;
    };
    let by = constant(func, by)?;
    match opcode {
        // Of other bits, such as those that say whether a character is more than ASCII, some are always 0.
        Opcode::Band if (0..1 << 31).contains(&by) && (by as u64 + 1).is_power_of_two() => {
            Some(by as u64 + 1)
        }
        Opcode::Srem | Opcode::Urem => Some(by.unsigned_abs()),
        _ => None,
    }
}

/// The instruction that makes the value.
fn definition(func: &Function, value: Value) -> Option<(InstructionData, Opcode)> {
    let inst = func.dfg.value_def(func.dfg.resolve_aliases(value)).inst()?;
    let data = func.dfg.insts[inst];
    Some((data, data.opcode()))
}

/// The number that the value always is.
fn constant(func: &Function, value: Value) -> Option<i64> {
    match definition(func, value)?.0 {
        InstructionData::UnaryImm {
            opcode: Opcode::Iconst,
            imm,
        } => Some(imm.bits()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::mark;
    use crate::optimise::testing::parsed;
    use cranelift_codegen::ir::Function;

    /// A loop that asks for something; `ways` are where the branch leads.
    ///
    /// ```text
    /// block1: question; brif block2 or block3
    /// block2: a call                               rare, or not
    /// block3: the end of the turn
    /// ```
    fn marked(question: &str, ways: &str) -> Function {
        let (mut func, cfg, domtree) = parsed(&format!(
            "function %f(i32) {{
                sig0 = ()
                fn0 = u0:1 sig0
            block0(v0: i32):
                jump block1(v0)
            block1(v1: i32):
                v2 = iconst.i32 1023
                v3 = iconst.i32 7
                v9 = iconst.i32 0
                {question}
                brif v5, {ways}
            block2:
                call fn0()
                jump block3
            block3:
                v6 = iadd v1, v3
                v7 = icmp slt v6, v0
                brif v7, block1(v6), block4
            block4:
                return
            }}"
        ));
        mark(&mut func, &cfg, &domtree);
        func
    }

    #[test]
    fn one_value_of_many_is_rare() {
        let rare = |question, ways| marked(question, ways).to_string().contains("block2 cold");
        assert!(rare("v5 = band v1, v2", "block3, block2"));
        assert!(rare(
            "v4 = band v1, v2\nv5 = icmp eq v4, v9",
            "block2, block3"
        ));
        assert!(rare(
            "v4 = srem v1, v2\nv5 = icmp ne v4, v9",
            "block3, block2"
        ));
        // Of few, the other way, and another question.
        assert!(!rare("v5 = band v1, v3", "block3, block2"));
        assert!(!rare("v5 = band v1, v2", "block2, block3"));
        // Not low bits: ASCII is not rare.
        let ascii = "v8 = iconst.i32 -128\nv4 = band v1, v8\nv5 = icmp eq v4, v9";
        assert!(!rare(ascii, "block2, block3"));
        assert!(!rare(
            "v4 = band v1, v2\nv5 = icmp slt v4, v9",
            "block2, block3"
        ));
    }

    #[test]
    fn what_follows_the_loop_is_not() {
        let func = marked("v5 = band v1, v2", "block3, block4");
        assert!(!func.to_string().contains("cold"), "{func}");
    }
}
