//! Blocks that follow one another as one line become one block, on a function that Cranelift has
//! optimised: the block that a jump leads to, if nothing else leads there, is put in its place.
//!
//! ```text
//! block1:      v2 = iadd v0, v1                 block1:      v2 = iadd v0, v1
//!              jump block2(v2)           ->                  v4 = icmp v2, v1
//! block2(v3):  v4 = icmp v3, v1                              brif v4, block3, block4
//!              brif v4, block3, block4
//! ```
//!
//! Inlined bodies and the arms of guarded calls leave many of them. A later pass sees what such a line
//! ends with ([`super::latches`]), and the register allocator has fewer places where values change
//! registers.
//!
//! # Invariants
//! * A line is all cold or not cold at all, so a rare path stays behind the others.
//! * Instructions keep their order and their source locations.
use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::{Block, BlockArg, Function, Inst, Opcode, Value};
use smallvec::SmallVec;

/// Joins all such blocks. False: nothing has changed.
///
/// One pass over the blocks is enough: a line is followed to its end from where it begins, and no block
/// gets fewer entries by it.
pub(super) fn join(func: &mut Function) -> bool {
    let blocks: Vec<Block> = func.layout.blocks().collect();
    let mut entries: SecondaryMap<Block, u32> = SecondaryMap::new();
    for block in &blocks {
        for next in func.block_successors(*block) {
            entries[next] += 1;
        }
    }
    let mut changed = false;
    for block in blocks {
        // (It may be part of another line by now.)
        if !func.layout.is_block_inserted(block) {
            continue;
        }
        while let Some((jump, next, passed)) = goes_on(func, block)
            && entries[next] == 1
        {
            append(func, block, jump, next, &passed);
            changed = true;
        }
    }
    if changed {
        func.dfg.resolve_all_aliases();
    }
    changed
}

/// The jump that ends the block, where it leads, and what it passes, if that may be one line.
fn goes_on(func: &Function, block: Block) -> Option<(Inst, Block, SmallVec<[Value; 4]>)> {
    let jump = func.layout.last_inst(block)?;
    if func.dfg.insts[jump].opcode() != Opcode::Jump {
        return None;
    }
    let tables = (&func.dfg.jump_tables, &func.dfg.exception_tables);
    let [way] = func.dfg.insts[jump].branch_destination(tables.0, tables.1) else {
        return None;
    };
    let next = way.block(&func.dfg.value_lists);
    let value = |arg| match arg {
        BlockArg::Value(value) => Some(value),
        _ => None,
    };
    let passed: Option<_> = way.args(&func.dfg.value_lists).map(value).collect();
    let alike = func.layout.is_cold(block) == func.layout.is_cold(next);
    (next != block && alike && func.layout.entry_block() != Some(next))
        .then_some((jump, next, passed?))
}

/// Puts the instructions of `next` in the place of the jump to it.
fn append(func: &mut Function, block: Block, jump: Inst, next: Block, passed: &[Value]) {
    func.layout.remove_inst(jump);
    let params = func.dfg.detach_block_params(next);
    let params: SmallVec<[Value; 4]> = params.as_slice(&func.dfg.value_lists).into();
    for (param, value) in params.into_iter().zip(passed) {
        func.dfg.change_to_alias(param, *value);
    }
    while let Some(inst) = func.layout.first_inst(next) {
        func.layout.remove_inst(inst);
        func.layout.append_inst(inst, block);
    }
    func.layout.remove_block(next);
}

#[cfg(test)]
mod tests {
    use super::join;
    use crate::optimise::testing::parsed;

    #[test]
    fn a_line_becomes_one_block_and_a_meeting_place_stays() {
        let (mut func, ..) = parsed(
            "function %f(i32, i32) -> i32 {
            block0(v0: i32, v1: i32):
                v2 = iadd v0, v1
                jump block1(v2)
            block1(v3: i32):
                v4 = iadd v3, v1
                jump block2(v4, v3)
            block2(v5: i32, v6: i32):
                v7 = isub v5, v6
                brif v7, block3, block4(v6)
            block3:
                v8 = imul v7, v5
                jump block4(v8)
            block4(v9: i32):
                jump block5(v9)
            block5(v10: i32) cold:
                return v10
            }",
        );
        assert!(join(&mut func));
        let flags = cranelift_codegen::settings::Flags::new(cranelift_codegen::settings::builder());
        cranelift_codegen::verify_function(&func, &flags).expect("valid");
        let text = func.to_string();
        assert_eq!(func.layout.blocks().count(), 4, "{text}");
        assert!(text.contains("v7 = isub v4, v2"), "{text}");
        assert!(text.contains("block5(v10: i32) cold"), "{text}");
        assert!(!join(&mut func));
    }
}
