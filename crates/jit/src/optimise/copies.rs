//! Values that begin in a register which the calling convention names, and are used in loops, are
//! copied to one that the register allocator chooses.
//!
//! # Why
//! The allocator gives a value as a whole the register that one of its places demands. A parameter
//! begins in, say, `rsi`. If anything in a loop needs `rsi`, such as an argument of a call, the
//! allocator cuts the parameter in pieces: it moves it into another register before each use and back
//! behind it, in every round, and the back edge needs a block of its own for these moves. A copy has
//! no such place. It lies in one register throughout the loop, where there is one that calls leave
//! alone if they must.
//!
//! # How it works
//! The copy must be an instruction to the allocator, and one whose result may lie elsewhere than its
//! operand: a rotation by nothing, which is `rorx` on x86-64 with BMI2. Elsewhere it is a rotation in
//! place, which does no harm.
//!
//! # Invariants
//! * The pass runs after all that could see through the copy.
//! * The copy has the location of the instruction it comes before, or whose result it copies.
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::entity::EntitySet;
use cranelift_codegen::ir::{Block, Function, Inst, InstBuilder, Opcode, Value, types};
use cranelift_codegen::loop_analysis::LoopAnalysis;
use rustc_hash::FxHashMap;

/// A value that begins in a register which the calling convention names, and the block in which it does.
type Fixed = (Value, Block);

/// Copies such values, if a loop uses them that does not begin them itself.
pub(super) fn copy_fixed(func: &mut Function, loops: &LoopAnalysis) {
    if loops.loops().next().is_none() {
        return;
    }
    let fixed = fixed_values(func);
    if fixed.is_empty() {
        return;
    }
    let wanted = used_in_loops(func, loops, &fixed);
    let mut copies = FxHashMap::default();
    for (value, block) in fixed {
        if wanted.contains(value) {
            copies.insert(value, copy(func, value, block));
        }
    }
    if copies.is_empty() {
        return;
    }
    // Every use comes behind the copy, which stands where the value begins.
    let blocks: Vec<Block> = func.layout.blocks().collect();
    for block in blocks {
        let mut next = func.layout.first_inst(block);
        while let Some(inst) = next {
            next = func.layout.next_inst(inst);
            func.dfg.map_inst_values(inst, |v| match copies.get(&v) {
                // The copy itself goes on to read the value.
                Some((copy, own)) if *own != inst => *copy,
                _ => v,
            });
        }
    }
}

/// The integers, addresses and references among the parameters and the first results of calls, in
/// their order.
///
/// Floats are left alone: the convention passes them in registers that no argument of a loop's calls
/// is likely to need.
fn fixed_values(func: &Function) -> Vec<Fixed> {
    let fits = |v: &Value| matches!(func.dfg.value_type(*v), types::I32 | types::I64);
    let mut fixed: Vec<Fixed> = Vec::new();
    if let Some(entry) = func.layout.entry_block() {
        let params = func.dfg.block_params(entry).iter().copied();
        fixed.extend(params.filter(fits).map(|v| (v, entry)));
    }
    for block in func.layout.blocks() {
        for inst in func.layout.block_insts(block) {
            // What a call with handlers gives is a parameter of the block behind it, which has no register of its own.
            let is_call = matches!(
                func.dfg.insts[inst].opcode(),
                Opcode::Call | Opcode::CallIndirect
            );
            let result = func.dfg.inst_results(inst).first().copied();
            if let Some(v) = result.filter(|v| is_call && fits(v)) {
                fixed.push((v, block));
            }
        }
    }
    fixed
}

/// Which of the values are used at a deeper level of loops than they begin at, or are what a parameter of such a block begins with: the allocator takes both for
/// one value.
fn used_in_loops(func: &Function, loops: &LoopAnalysis, fixed: &[Fixed]) -> EntitySet<Value> {
    let level = |block| loops.loop_level(block).level();
    let origin: FxHashMap<Value, Block> = fixed.iter().copied().collect();
    let mut used = EntitySet::new();
    for block in func.layout.blocks() {
        let last = func.layout.last_inst(block);
        let (tables, exceptions) = (&func.dfg.jump_tables, &func.dfg.exception_tables);
        let calls = last.map_or(&[][..], |last| {
            func.dfg.insts[last].branch_destination(tables, exceptions)
        });
        for call in calls {
            let to = level(call.block(&func.dfg.value_lists));
            for v in call
                .args(&func.dfg.value_lists)
                .filter_map(|arg| arg.as_value())
            {
                if origin.get(&v).is_some_and(|from| level(*from) < to) {
                    used.insert(v);
                }
            }
        }
    }
    for block in func.layout.blocks().filter(|b| level(*b) > 0) {
        for inst in func.layout.block_insts(block) {
            // Arguments of blocks count: a value may be carried around a loop by them.
            for v in func.dfg.inst_values(inst) {
                if origin
                    .get(&v)
                    .is_some_and(|from| level(*from) < level(block))
                {
                    used.insert(v);
                }
            }
        }
    }
    used
}

/// Copies a value where it begins. Gives the copy and the instruction that makes it.
fn copy(func: &mut Function, value: Value, block: Block) -> (Value, Inst) {
    let mut at = FuncCursor::new(func);
    match at.func.dfg.value_def(value).inst() {
        // Behind the call.
        Some(inst) => {
            at.set_srcloc(at.func.srcloc(inst));
            at.goto_inst(inst);
            at.next_inst();
        }
        // In front of everything else.
        None => {
            at.goto_first_insertion_point(block);
            if let Some(first) = at.current_inst() {
                at.set_srcloc(at.func.srcloc(first));
            }
        }
    }
    let none = at.ins().iconst(types::I8, 0);
    let copy = at.ins().rotr(value, none);
    let own = at.func.dfg.value_def(copy).unwrap_inst();
    (copy, own)
}

#[cfg(test)]
mod tests {
    use super::copy_fixed;
    use cranelift_codegen::dominator_tree::DominatorTree;
    use cranelift_codegen::flowgraph::ControlFlowGraph;
    use cranelift_codegen::loop_analysis::LoopAnalysis;

    /// The copies that the pass makes in a function.
    fn copied(text: &str) -> String {
        let mut func = cranelift_reader::parse_functions(text)
            .expect("valid")
            .remove(0);
        let cfg = ControlFlowGraph::with_function(&func);
        let domtree = DominatorTree::with_function(&func, &cfg);
        let mut loops = LoopAnalysis::new();
        loops.compute(&func, &cfg, &domtree);
        copy_fixed(&mut func, &loops);
        cranelift_codegen::verify_function(
            &func,
            &cranelift_codegen::settings::Flags::new(cranelift_codegen::settings::builder()),
        )
        .expect("valid");
        func.to_string()
    }

    #[test]
    fn what_a_loops_variables_begin_with_is_copied() {
        let text = copied(
            "function %f(i32, i32, i32) -> i32 {
            block0(v0: i32, v1: i32, v2: i32):
                brif v2, block1(v0), block2(v1)
            block1(v3: i32):
                v4 = iadd v3, v2
                brif v4, block1(v4), block2(v4)
            block2(v5: i32):
                return v5
            }",
        );
        assert_eq!(text.matches("= rotr ").count(), 2, "{text}");
        assert!(text.contains("rotr v0"), "{text}");
        assert!(text.contains("rotr v2"), "{text}");
    }

    #[test]
    fn what_loops_use_is_copied_once() {
        let text = copied(
            "function %f(i32, i64, i64, f64) {
                sig0 = () -> i32
            block0(v0: i32, v1: i64, v2: i64, v3: f64):
                v4 = call_indirect sig0, v2()
                store v3, v1
                jump block1
            block1:
                v5 = call_indirect sig0, v1()
                v6 = iadd v5, v4
                v7 = icmp slt v6, v0
                brif v7, block1, block2
            block2:
                return
            }",
        );
        // v0, v1 and v4; v2 and v3 are used before the loop only, and v5 in the loop where it begins.
        assert_eq!(text.matches("= rotr ").count(), 3, "{text}");
        for copied in ["rotr v0", "rotr v1", "rotr v4"] {
            assert!(text.contains(copied), "{text}");
        }
        let (_, body) = text.split_once("block1:").expect("it is there");
        for used in ["v0", "v1(", "v4"] {
            assert!(!body.contains(used), "{text}");
        }
    }
}
