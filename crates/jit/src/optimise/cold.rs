//! Rare paths cost the others nothing: blocks that only cold blocks lead to are cold, and have their
//! own addresses.
//!
//! Cranelift places cold blocks behind all others. The translator marks the block in which a rare
//! path begins; what follows on the path is often made by code that does not know where it is called.
//! This pass marks the rest, so that a rare path lies behind the function as a whole and the others
//! have no jumps around it.
//!
//! A small method of the core library that has a fast path without a call, as `List.Add` has, is
//! inlined with its slow path, which calls. Nothing says how often each is taken, but such methods
//! are written for the fast one: the slow path is cold.
//!
//! # Invariants
//! * A block that can be reached without entering a cold block keeps its place.
//! * Only places change: of blocks, and of addresses and vectors that are constants.
use super::FrameNotes;
use super::edges::next;
use cranelift_codegen::entity::EntitySet;
use cranelift_codegen::ir::{Block, Function, Inst, Opcode, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Marks slow paths: blocks that call, where a branch goes round them to the same place by a way
/// without a call.
///
/// ```text
///     brif v0, fast, slow
/// fast:                           without a call
///     jump join
/// slow:
///     call fn0();  jump join
/// ```
pub(super) fn mark_slow_paths(func: &mut Function, notes: &FrameNotes) {
    if notes.slow_paths().is_empty() {
        return;
    }
    // What branches to each block, if it is one branch only.
    let mut branches: FxHashMap<Block, Option<Inst>> = FxHashMap::default();
    let blocks: Vec<Block> = func.layout.blocks().collect();
    for block in &blocks {
        let Some(last) = func.layout.last_inst(*block) else {
            continue;
        };
        for to in func.block_successors(*block) {
            let only = branches.entry(to).or_insert(Some(last));
            if *only != Some(last) {
                *only = None;
            }
        }
    }
    for slow in notes.slow_paths() {
        let Some(Some(branch)) = branches.get(slow) else {
            continue;
        };
        let from = func
            .layout
            .inst_block(*branch)
            .expect("a branch is in a block");
        let others: SmallVec<[Block; 2]> =
            func.block_successors(from).filter(|b| b != slow).collect();
        if func.dfg.insts[*branch].opcode() == Opcode::Brif
            && let [fast] = others[..]
            && let Some(join) = next(func, *slow)
            && (fast == join || next(func, fast) == Some(join) && !calls(func, fast))
        {
            func.layout.set_cold(*slow);
        }
    }
}

/// Does the block call anything?
fn calls(func: &Function, block: Block) -> bool {
    func.layout
        .block_insts(block)
        .any(|inst| func.dfg.insts[inst].opcode().is_call())
}

/// Marks what can be reached through cold blocks only.
pub(super) fn spread(func: &mut Function) {
    let Some(entry) = func.layout.entry_block() else {
        return;
    };
    let mut blocks: Vec<Block> = func.layout.blocks().collect();
    if !blocks.iter().any(|b| func.layout.is_cold(*b)) {
        return;
    }
    // What can be reached from the entry past no cold block.
    let mut warm = EntitySet::with_capacity(func.dfg.num_blocks());
    let mut open = vec![entry];
    warm.insert(entry);
    while let Some(block) = open.pop() {
        for next in func.block_successors(block) {
            if !func.layout.is_cold(next) && warm.insert(next) {
                open.push(next);
            }
        }
    }
    blocks.retain(|b| !warm.contains(*b));
    for block in blocks {
        func.layout.set_cold(block);
    }
}

/// Gives cold blocks constants of their own, on a function that Cranelift has optimised: it has
/// computed what does not change in a loop before the loop, where it occupies a register throughout,
/// also for what is needed on a rare path only.
pub(super) fn sink_constants(func: &mut Function) {
    let blocks: Vec<Block> = func.layout.blocks().collect();
    let mut constants: FxHashMap<Value, Constant> = FxHashMap::default();
    for block in blocks.iter().filter(|b| !func.layout.is_cold(**b)) {
        for inst in func.layout.block_insts(*block) {
            if let Opcode::SymbolValue | Opcode::StackAddr | Opcode::Vconst =
                func.dfg.insts[inst].opcode()
            {
                let is_used = false;
                constants.insert(func.dfg.first_result(inst), Constant { inst, is_used });
            }
        }
    }
    if constants.is_empty() {
        return;
    }
    // In a cold block: a constant that it uses, and its own copy of it.
    let mut own: Vec<(Value, Value)> = Vec::new();
    for block in blocks {
        let is_cold = func.layout.is_cold(block);
        own.clear();
        let mut next = func.layout.first_inst(block);
        while let Some(inst) = next {
            next = func.layout.next_inst(inst);
            let used: SmallVec<[Value; 8]> = func
                .dfg
                .inst_values(inst)
                .filter(|v| constants.contains_key(v))
                .collect();
            for v in used {
                let constant = constants.get_mut(&v).expect("found above");
                if !is_cold {
                    constant.is_used = true;
                } else if !own.iter().any(|(known, _)| *known == v) {
                    own.push((v, copy_before(func, inst, constant.inst)));
                }
            }
            if is_cold {
                func.dfg.map_inst_values(inst, |v| {
                    own.iter()
                        .find(|(known, _)| *known == v)
                        .map_or(v, |(_, copy)| *copy)
                });
            }
        }
    }
    // Nobody uses these any more: the removal of unused code has been before this.
    for constant in constants.values().filter(|c| !c.is_used) {
        func.layout.remove_inst(constant.inst);
    }
}

/// Copies an instruction without operands, and gives what the copy gives.
fn copy_before(func: &mut Function, before: Inst, constant: Inst) -> Value {
    let location = func.srcloc(before);
    let ty = func.dfg.value_type(func.dfg.first_result(constant));
    let data = func.dfg.insts[constant];
    let copy = func.dfg.make_inst(data);
    func.dfg.make_inst_results(copy, ty);
    func.set_srcloc(copy, location);
    func.layout.insert_inst(copy, before);
    func.dfg.first_result(copy)
}

/// A constant that is computed in a block that is not cold.
struct Constant {
    inst: Inst,
    /// In such a block.
    is_used: bool,
}

#[cfg(test)]
mod tests {
    use super::{mark_slow_paths, sink_constants, spread};
    use crate::optimise::FrameNotes;
    use cranelift_codegen::entity::EntityRef;
    use cranelift_codegen::ir::{Block, Function};

    fn parsed(text: &str) -> Function {
        cranelift_reader::parse_functions(text)
            .expect("valid")
            .remove(0)
    }

    #[test]
    fn what_only_cold_blocks_lead_to_is_cold() {
        let mut func = parsed(
            "function %f(i32) {
            block0(v0: i32):
                brif v0, block1, block2
            block1 cold:
                brif v0, block3, block4
            block3:
                jump block4
            block4:
                brif v0, block4, block5
            block2:
                jump block5
            block5:
                return
            }",
        );
        spread(&mut func);
        let cold: Vec<bool> = (0..6).map(|n| func.layout.is_cold(Block::new(n))).collect();
        assert_eq!(cold, [false, true, false, true, true, false]);
    }

    #[test]
    fn a_path_that_calls_is_cold_where_another_does_not() {
        let mut func = parsed(
            "function %f(i32) {
                sig0 = ()
                fn0 = u0:1 sig0
            block0(v0: i32):
                brif v0, block1, block2
            block1:
                jump block3
            block2:
                call fn0()
                jump block3
            block3:
                brif v0, block4, block5
            block4:
                call fn0()
                jump block6
            block5:
                call fn0()
                jump block6
            block6:
                brif v0, block7, block8
            block7:
                call fn0()
                jump block8
            block8:
                brif v0, block9, block9
            block9:
                call fn0()
                jump block10
            block10:
                return
            }",
        );
        let mut notes = FrameNotes::default();
        for block in [2, 4, 5, 7, 9] {
            notes.slow_path(Block::new(block));
        }
        mark_slow_paths(&mut func, &notes);
        let cold: Vec<usize> = (0..11)
            .filter(|n| func.layout.is_cold(Block::new(*n)))
            .collect();
        assert_eq!(cold, [2, 7]);
    }

    #[test]
    fn constants_for_cold_blocks_are_made_there() {
        let mut func = parsed(
            "function %f(i32) -> i64 {
                gv0 = symbol userextname0
                gv1 = symbol userextname1
                ss0 = explicit_slot 16
                const0 = 0x00000000000000000000000000000000
            block0(v0: i32):
                v1 = symbol_value.i64 gv0
                v2 = symbol_value.i64 gv1
                v4 = stack_addr.i64 ss0
                v5 = vconst.i8x16 const0
                jump block1
            block1:
                v3 = load.i64 v1
                brif v0, block2, block3
            block2 cold:
                store v3, v1
                store v3, v2+8
                store v3, v2
                store v5, v4
                jump block1
            block3:
                return v3
            }",
        );
        sink_constants(&mut func);
        let text = func.to_string();
        let (warm, cold) = text.split_once("block2 cold:").expect("it is there");
        assert_eq!(warm.matches("symbol_value.i64 gv0").count(), 1, "{text}");
        assert_eq!(warm.matches("symbol_value.i64 gv1").count(), 0, "{text}");
        assert_eq!(cold.matches("symbol_value.i64 gv0").count(), 1, "{text}");
        assert_eq!(cold.matches("symbol_value.i64 gv1").count(), 1, "{text}");
        assert!(
            !warm.contains("stack_addr") && !warm.contains("vconst"),
            "{text}"
        );
        assert_eq!(cold.matches("stack_addr.i64 ss0").count(), 1, "{text}");
    }
}
