//! A number that is changed if it is negative becomes a conditional move.
//!
//! ```text
//!     brif x < 0, change, join(x)                y = x + n
//! change:                                        v = select x < 0, y, x
//!     y = x + n                         ->       jump join(v)
//!     jump join(y)
//! ```
//!
//! The sign of a number is often as good as random: of a difference, of a hash, of a sample. A branch
//! that is not predicted costs some twenty cycles, the move one or two.
//!
//! # Invariants
//! * The change is one instruction that neither traps nor touches memory, on the number itself.
//! * A way that is cold stays a branch.
use super::edges::{entries, next};
use super::slots::constant;
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block, BlockArg, Function, Inst, InstBuilder, InstructionData, Opcode, Value, ValueDef,
    types::{I32, I64},
};
use smallvec::SmallVec;

/// A branch that becomes a move.
struct Change {
    branch: Inst,
    condition: Value,
    /// The number.
    number: Value,
    /// Its change, and the block that it alone makes up.
    change: Inst,
    block: Block,
    /// Whether the branch goes to the change if the condition holds.
    if_holds: bool,
    /// The number of the argument in which the ways differ.
    argument: usize,
}

/// Converts what can be converted.
pub(super) fn convert(func: &mut Function) {
    let blocks: Vec<Block> = func.layout.blocks().collect();
    let entries = entries(func);
    for block in blocks {
        // One after the other: a change may have given the next block other arguments.
        if let Some(branch) = func.layout.last_inst(block)
            && let Some(change) = find(func, &entries, branch)
        {
            apply(func, &change);
        }
    }
}

/// The change that a branch decides on.
fn find(func: &Function, entries: &SecondaryMap<Block, u32>, branch: Inst) -> Option<Change> {
    let InstructionData::Brif { arg, blocks, .. } = func.dfg.insts[branch] else {
        return None;
    };
    let number = signed(func, arg)?;
    let [yes, no] = blocks.map(|b| b.block(&func.dfg.value_lists));
    let is_change = |b: Block| entries[b] == 1 && !func.layout.is_cold(b);
    let (if_holds, block) = [(true, yes), (false, no)]
        .into_iter()
        .find(|(_, b)| is_change(*b) && next(func, *b) == Some(if *b == yes { no } else { yes }))?;
    let (change, jump) = only_two(func, block)?;
    let dfg = &func.dfg;
    if func.layout.is_cold(if if_holds { no } else { yes })
        || !func.dfg.block_params(block).is_empty()
        || !is_cheap(dfg.insts[change].opcode())
        || !dfg.inst_args(change).contains(&number)
    {
        return None;
    }
    let around = &blocks[usize::from(if_holds)];
    let InstructionData::Jump { destination, .. } = &dfg.insts[jump] else {
        return None;
    };
    let (one, other): (SmallVec<[_; 4]>, SmallVec<[_; 4]>) = (
        destination.args(&dfg.value_lists).collect(),
        around.args(&dfg.value_lists).collect(),
    );
    let mut differing = (0..one.len()).filter(|n| one[*n] != other[*n]);
    let (Some(argument), None) = (differing.next(), differing.next()) else {
        return None;
    };
    let changed = BlockArg::Value(dfg.first_result(change));
    (one[argument] == changed && other[argument] == BlockArg::Value(number)).then_some(Change {
        branch,
        condition: arg,
        number,
        change,
        block,
        if_holds,
        argument,
    })
}

/// The number whose sign a condition asks for.
fn signed(func: &Function, condition: Value) -> Option<Value> {
    let ValueDef::Result(inst, _) = func.dfg.value_def(condition) else {
        return None;
    };
    let InstructionData::IntCompare {
        cond: IntCC::SignedLessThan | IntCC::SignedGreaterThanOrEqual,
        args: [number, zero],
        ..
    } = func.dfg.insts[inst]
    else {
        return None;
    };
    let ty = func.dfg.value_type(number);
    let is_zero = constant(func, zero) == Some(0);
    (is_zero && (ty == I32 || ty == I64)).then_some(number)
}

/// The instructions of a block that has two, besides constants.
fn only_two(func: &Function, block: Block) -> Option<(Inst, Inst)> {
    let mut insts = func.layout.block_insts(block).filter(|i| {
        let opcode = func.dfg.insts[*i].opcode();
        opcode != Opcode::Iconst
    });
    match (insts.next(), insts.next(), insts.next()) {
        (Some(change), Some(jump), None) => Some((change, jump)),
        _ => None,
    }
}

/// Whether an instruction takes a cycle and has no other effect.
fn is_cheap(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Iadd
            | Opcode::Isub
            | Opcode::Ineg
            | Opcode::Bnot
            | Opcode::Band
            | Opcode::Bor
            | Opcode::Bxor
    )
}

/// Moves the change in front of the branch, which becomes a choice.
fn apply(func: &mut Function, change: &Change) {
    let mut insts: SmallVec<[Inst; 4]> = func.layout.block_insts(change.block).collect();
    let jump = insts.pop().expect("a terminator");
    for inst in insts {
        func.layout.remove_inst(inst);
        func.layout.insert_inst(inst, change.branch);
    }
    let changed = func.dfg.first_result(change.change);
    let (one, other) = match change.if_holds {
        true => (changed, change.number),
        false => (change.number, changed),
    };
    let InstructionData::Jump { destination, .. } = func.dfg.insts[jump] else {
        return;
    };
    let to = destination.block(&func.dfg.value_lists);
    let mut args: SmallVec<[BlockArg; 4]> = destination.args(&func.dfg.value_lists).collect();
    let mut pos = FuncCursor::new(func).at_inst(change.branch);
    pos.use_srcloc(change.branch);
    args[change.argument] = BlockArg::Value(pos.ins().select(change.condition, one, other));
    pos.func.replace(change.branch).jump(to, &args);
    func.layout.remove_inst(jump);
    func.layout.remove_block(change.block);
}

#[cfg(test)]
mod tests {
    use super::convert;
    use crate::optimise::testing::parsed;

    fn converted(change: &str, condition: &str) -> String {
        let (mut func, ..) = parsed(&format!(
            "function %f(i32, i32) -> i32 {{
            block0(v0: i32, v1: i32):
                v2 = isub v0, v1
                v3 = iconst.i32 0
                v4 = icmp {condition} v2, v3
                brif v4, block1, block2(v2)
            block1:
                v5 = iconst.i32 7
                v6 = {change}
                jump block2(v6)
            block2(v7: i32):
                return v7
            }}"
        ));
        convert(&mut func);
        let flags = cranelift_codegen::settings::Flags::new(cranelift_codegen::settings::builder());
        cranelift_codegen::verify_function(&func, &flags).expect("valid");
        func.to_string()
    }

    #[test]
    fn a_negative_number_is_changed_by_a_move() {
        for change in ["iadd v2, v5", "ineg v2", "isub v5, v2"] {
            let text = converted(change, "slt");
            assert!(text.contains("select v4, v6, v2"), "{text}");
            assert!(!text.contains("brif"), "{text}");
        }
    }

    #[test]
    fn other_branches_stay() {
        for (change, condition) in [
            ("sdiv v2, v5", "slt"),
            ("iadd v1, v5", "slt"),
            ("iadd v2, v5", "eq"),
        ] {
            assert!(converted(change, condition).contains("brif"));
        }
    }
}
