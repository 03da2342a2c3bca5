//! The end of a loop's turn stands behind each way that leads there: `if (..) a; else b;` in a loop
//! costs no jump to the place where both ways meet.
//!
//! ```text
//! block2:  v3 = iadd v1, 1                       block2:  v3 = iadd v1, 1
//!          jump block4(v3)                                v7 = iadd v0, 1;  v8 = icmp v7, v9
//! block3:  v4 = iadd v1, 2                                brif v8, block1(v7, v3), block5(v3)
//!          jump block4(v4)                ->     block3:  v4 = iadd v1, 2
//! block4(v5):                                             v10 = iadd v0, 1;  v11 = icmp v10, v9
//!          v6 = iadd v0, 1                                brif v11, block1(v10, v4), block5(v4)
//!          v7 = icmp v6, v9
//!          brif v7, block1(v6, v5), block5(v5)
//! ```
//!
//! (Known as tail duplication; here of latches, the blocks from which a loop goes back to its head.)
//!
//! A processor takes one branch a cycle at most, and a short turn has few cycles. Guards for
//! receivers of several classes make such loops of most that call.
//!
//! # Invariants
//! * What is copied is short, computes numbers and reads memory, and is of use to nobody outside the
//!   block: other blocks get its values as arguments only.
//! * A copy has the source locations of what it copies.
use cranelift_codegen::dominator_tree::DominatorTree;
use cranelift_codegen::entity::{EntitySet, SecondaryMap};
use cranelift_codegen::ir::{Block, BlockArg, Function, Inst, Opcode, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Instructions of a block that is copied, the branch included.
const MOST: usize = 6;
/// How many blocks get a copy.
const COPIES: usize = 4;

/// Copies what can be copied. False: nothing has changed.
pub(super) fn copy(func: &mut Function, domtree: &DominatorTree) -> bool {
    let blocks: Vec<Block> = func.layout.blocks().collect();
    // By block: how many ways lead to it, and those that are jumps from blocks which are not cold.
    let mut entries: SecondaryMap<Block, u32> = SecondaryMap::new();
    let mut jumps: SecondaryMap<Block, SmallVec<[Inst; 2]>> = SecondaryMap::new();
    for block in &blocks {
        for next in func.block_successors(*block) {
            entries[next] += 1;
        }
        if let Some(last) = func.layout.last_inst(*block)
            && func.dfg.insts[last].opcode() == Opcode::Jump
            && !func.layout.is_cold(*block)
            && let Some(to) = func.block_successors(*block).next()
        {
            jumps[to].push(last);
        }
    }
    let mut candidates: Vec<Block> = blocks
        .iter()
        .copied()
        .filter(|b| (2..=COPIES).contains(&jumps[*b].len()) && is_latch(func, domtree, *b))
        .collect();
    if candidates.is_empty() {
        return false;
    }
    keep_own(func, &blocks, &mut candidates);
    for block in &candidates {
        let from = &jumps[*block];
        // One of the ways goes on to the block itself, which lies behind it, unless none needs it any more.
        let all = entries[*block] as usize == from.len();
        for jump in &from[..from.len() - usize::from(!all)] {
            copy_to(func, *block, *jump);
        }
        if all {
            while let Some(inst) = func.layout.first_inst(*block) {
                func.layout.remove_inst(inst);
            }
            func.layout.remove_block(*block);
        }
    }
    !candidates.is_empty()
}

/// Whether a block is short, ends in a branch back to a block that dominates it, and may be executed
/// elsewhere.
fn is_latch(func: &Function, domtree: &DominatorTree, block: Block) -> bool {
    let is_plain = |inst: Inst| {
        let opcode = func.dfg.insts[inst].opcode();
        let is_effect = opcode.is_call()
            || opcode.can_store()
            || opcode.is_terminator()
            || opcode.other_side_effects();
        !is_effect || opcode == Opcode::Brif
    };
    let mut insts = func.layout.block_insts(block);
    !func.layout.is_cold(block)
        && func
            .layout
            .last_inst(block)
            .is_some_and(|last| func.dfg.insts[last].opcode() == Opcode::Brif)
        && insts.by_ref().take(MOST).all(is_plain)
        && insts.next().is_none()
        && func
            .block_successors(block)
            .any(|to| to != block && domtree.block_dominates(to, block))
}

/// Leaves the blocks that make no value which another block uses.
fn keep_own(func: &Function, blocks: &[Block], candidates: &mut Vec<Block>) {
    let mut made: FxHashMap<Value, Block> = FxHashMap::default();
    for block in candidates.iter() {
        made.extend(func.dfg.block_params(*block).iter().map(|v| (*v, *block)));
        for inst in func.layout.block_insts(*block) {
            made.extend(func.dfg.inst_results(inst).iter().map(|v| (*v, *block)));
        }
    }
    let mut shared: EntitySet<Block> = EntitySet::new();
    for block in blocks {
        for inst in func.layout.block_insts(*block) {
            for value in func.dfg.inst_values(inst) {
                if let Some(by) = made.get(&func.dfg.resolve_aliases(value))
                    && by != block
                {
                    shared.insert(*by);
                }
            }
        }
    }
    // The end of a turn that goes on to another such end stays: its copy would be of what is copied.
    let mut taken: EntitySet<Block> = EntitySet::new();
    candidates.retain(|block| {
        let is_free = !shared.contains(*block)
            && !taken.contains(*block)
            && func.block_successors(*block).all(|to| !taken.contains(to));
        if is_free {
            taken.insert(*block);
            for to in func.block_successors(*block) {
                taken.insert(to);
            }
        }
        is_free
    });
}

/// Puts a copy of the block in place of a jump to it.
fn copy_to(func: &mut Function, block: Block, jump: Inst) {
    let mut values: FxHashMap<Value, Value> = FxHashMap::default();
    let [way] =
        func.dfg.insts[jump].branch_destination(&func.dfg.jump_tables, &func.dfg.exception_tables)
    else {
        return;
    };
    let passed: SmallVec<[BlockArg; 4]> = way.args(&func.dfg.value_lists).collect();
    for (param, passed) in func.dfg.block_params(block).iter().zip(passed) {
        if let BlockArg::Value(passed) = passed {
            values.insert(*param, func.dfg.resolve_aliases(passed));
        }
    }
    let insts: SmallVec<[Inst; MOST]> = func.layout.block_insts(block).collect();
    for inst in insts {
        let copy = func.dfg.clone_inst(inst);
        let mapped = |v| values.get(&v).copied().unwrap_or(v);
        func.dfg.map_inst_values(copy, mapped);
        func.layout.insert_inst(copy, jump);
        func.set_srcloc(copy, func.srcloc(inst));
        let results = func.dfg.inst_results(inst).iter();
        let copies = func.dfg.inst_results(copy).iter();
        values.extend(results.zip(copies).map(|(old, new)| (*old, *new)));
    }
    func.layout.remove_inst(jump);
}

#[cfg(test)]
mod tests {
    use super::copy;
    use crate::optimise::testing::parsed;
    use cranelift_codegen::ir::Function;

    fn copied(text: &str) -> (Function, bool) {
        let (mut func, _, domtree) = parsed(text);
        let changed = copy(&mut func, &domtree);
        let flags = cranelift_codegen::settings::Flags::new(cranelift_codegen::settings::builder());
        cranelift_codegen::verify_function(&func, &flags).expect("valid");
        (func, changed)
    }

    /// A loop whose turn has two ways; `after` is what the block behind the loop returns, `more`
    /// another instruction of the end of a turn.
    fn looping(after: &str, more: &str) -> String {
        format!(
            "function %f(i32, i32) -> i32 {{
                sig0 = ()
                fn0 = u0:1 sig0
            block0(v0: i32, v1: i32):
                jump block1(v0, v0)
            block1(v2: i32, v3: i32):
                brif v1, block2, block3
            block2:
                v4 = iadd v3, v1
                jump block4(v4)
            block3:
                v5 = isub v3, v1
                jump block4(v5)
            block4(v6: i32):
                {more}
                v7 = iadd v2, v1
                v8 = icmp slt v7, v0
                brif v8, block1(v7, v6), block5(v6)
            block5(v9: i32):
                return {after}
            }}"
        )
    }

    #[test]
    fn each_way_gets_the_end_of_the_turn() {
        let (func, changed) = copied(&looping("v9", ""));
        let text = func.to_string();
        assert!(changed);
        assert_eq!(text.matches("icmp slt").count(), 2, "{text}");
        assert!(!text.contains("block4"), "{text}");
    }

    #[test]
    fn what_others_use_and_what_calls_stays() {
        for text in [looping("v7", ""), looping("v9", "call fn0()")] {
            let (func, changed) = copied(&text);
            assert!(!changed, "{func}");
        }
    }
}
