//! What takes a load into itself has the source location of the load.
//!
//! ```text
//!     v1 = load.i32 user1 v0         ; IL 10: may fault, which is an exception there
//!     v2 = iadd v3, v1               ; IL 15
//!  -> add r3, [r0]                   ; one machine instruction: it faults at IL 10
//! ```
//!
//! Cranelift makes one instruction of a load and what computes with its result, and gives it the location
//! of the latter. A stack trace would name the wrong place.
//!
//! # Invariants
//! * Only instructions get another location that cannot fault themselves.
use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::{Function, Inst, InstructionData, Opcode, Value};

/// Gives such instructions the location of their load.
///
/// Which instructions Cranelift joins is its own affair. It joins a load only with what uses its result
/// alone, in the same block; all those get the location, whether they are joined or not.
pub(super) fn of_loads(func: &mut Function) {
    // How often each value is used, and by what last.
    let mut uses: SecondaryMap<Value, (u32, Option<Inst>)> = SecondaryMap::new();
    let mut loads: Vec<Inst> = Vec::new();
    for block in func.layout.blocks() {
        for inst in func.layout.block_insts(block) {
            for value in func.dfg.inst_values(inst) {
                let of = &mut uses[value];
                *of = (of.0 + 1, Some(inst));
            }
            if let InstructionData::Load { flags, .. } = func.dfg.insts[inst]
                && func.dfg.mem_flags[flags].trap_code().is_some()
            {
                loads.push(inst);
            }
        }
    }
    for load in loads {
        let location = func.srcloc(load);
        let mut made = load;
        // The instruction that computes, and the branch that asks for its result.
        for is_branch in [false, true] {
            let Some((1, Some(by))) = func.dfg.inst_results(made).first().map(|v| uses[*v]) else {
                break;
            };
            let is_wanted = !is_branch || func.dfg.insts[by].opcode() == Opcode::Brif;
            if !is_wanted
                || !takes_loads(func, by)
                || func.layout.inst_block(by) != func.layout.inst_block(load)
            {
                break;
            }
            func.set_srcloc(by, location);
            if func.dfg.inst_results(by).is_empty() {
                break;
            }
            made = by;
        }
    }
}

/// Whether Cranelift may make one machine instruction of it and of a load, and it cannot fault itself.
fn takes_loads(func: &Function, inst: Inst) -> bool {
    let opcode = func.dfg.insts[inst].opcode();
    let is_plain = !opcode.is_call()
        && !opcode.can_load()
        && !opcode.can_store()
        && !opcode.can_trap()
        && !opcode.other_side_effects();
    opcode == Opcode::Brif || is_plain && !opcode.is_terminator()
}

#[cfg(test)]
mod tests {
    use super::of_loads;
    use crate::optimise::testing::parsed;
    use cranelift_codegen::ir::{Inst, SourceLoc};

    #[test]
    fn what_takes_a_load_is_where_the_load_is() {
        let (mut func, ..) = parsed(
            "function %f(i64, i32) -> i32 {
            block0(v0: i64, v1: i32):
                v2 = load.i32 user1 v0
                v3 = iadd v1, v2
                v4 = load.i32 user1 v0+8
                v5 = icmp slt v3, v4
                brif v5, block1, block2
            block1:
                v6 = load.i32 notrap v0+16
                v7 = iadd v6, v3
                return v7
            block2:
                v8 = load.i32 user1 v0+24
                v9 = iadd v8, v8
                v10 = udiv v1, v9
                return v10
            }",
        );
        let all: Vec<Inst> = func
            .layout
            .blocks()
            .flat_map(|b| func.layout.block_insts(b))
            .collect();
        for (n, inst) in all.iter().enumerate() {
            func.set_srcloc(*inst, SourceLoc::new(n as u32));
        }
        of_loads(&mut func);
        let locations: Vec<u32> = all.iter().map(|i| func.srcloc(*i).bits()).collect();
        // (An instruction that computes is followed by what asks for its result; a load whose result is used twice stays one.)
        assert_eq!(locations, [0, 0, 2, 2, 2, 5, 6, 7, 8, 9, 10, 11]);
    }
}
