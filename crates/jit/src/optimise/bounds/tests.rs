//! Functions as text: how many checks are left. `load.i32 ... +8` is the length of an array.
use super::*;
use cranelift_codegen::flowgraph::ControlFlowGraph;

/// How many checks are left of the function.
fn left(text: &str) -> usize {
    let mut func = cranelift_reader::parse_functions(text)
        .expect("valid")
        .remove(0);
    let mut notes = FrameNotes::default();
    for block in func.layout.blocks() {
        for inst in func.layout.block_insts(block) {
            let data = &func.dfg.insts[inst];
            if data.opcode() == Opcode::Load && data.load_store_offset() == Some(8) {
                notes.length(func.dfg.first_result(inst));
            }
        }
    }
    let cfg = ControlFlowGraph::with_function(&func);
    let domtree = DominatorTree::with_function(&func, &cfg);
    remove_checks(&mut func, &cfg, &domtree, &notes);
    func.to_string().matches("trapnz").count()
}

/// A loop over the indices of the array v0, which starts with `first`, goes on with what `next` makes v5 of v3 and as long as `test` makes v8 true,
/// and reads at the index `at`; v4 is the length in the loop, and v2 the one before it.
fn loop_of(first: &str, at: &str, next: &str, test: &str) -> usize {
    left(&format!(
        "function %f(i64, i64, i32) {{
        block0(v0: i64, v1: i64, v10: i32):
            v2 = load.i32 v0+8
            v11 = iconst.i32 1
            {first}
            v12 = iconst.i32 0
            v13 = icmp sge v9, v12
            v14 = icmp slt v9, v2
            v15 = band v13, v14
            brif v14, block3, block2
        block3:
            brif v13, block1(v9), block2
        block1(v3: i32):
            v4 = load.i32 v0+8
            v6 = icmp uge {at}, v4
            trapnz v6, user1
            {next}
            {test}
            brif v8, block1(v5), block2
        block2:
            return
        }}"
    ))
}

const ZERO: &str = "v9 = iconst.i32 0";
const UP: &str = "v5 = iadd v3, v11";
const DOWN: &str = "v5 = isub v3, v11";
const BELOW: &str = "v8 = icmp slt v5, v4";

#[test]
fn a_loop_up_to_the_length_needs_no_check() {
    assert_eq!(loop_of(ZERO, "v3", UP, BELOW), 0);
    assert_eq!(loop_of("v9 = iadd v10, v11", "v3", UP, BELOW), 0);
    assert_eq!(loop_of(ZERO, "v3", UP, "v8 = icmp ult v5, v4"), 0);
}

#[test]
fn a_loop_down_to_zero_needs_no_check() {
    assert_eq!(
        loop_of("v9 = isub v2, v11", "v3", DOWN, "v8 = icmp sge v5, v12"),
        0
    );
}

#[test]
fn an_index_beyond_what_was_compared_is_checked() {
    // Another index, another array, a greater bound, one more than the length, and one less than zero.
    assert_eq!(loop_of(ZERO, "v10", UP, BELOW), 1);
    assert_eq!(
        loop_of(ZERO, "v3", UP, "v7 = load.i32 v1+8\nv8 = icmp slt v5, v7"),
        1
    );
    assert_eq!(loop_of(ZERO, "v3", UP, "v8 = icmp slt v5, v10"), 1);
    assert_eq!(loop_of(ZERO, "v3", UP, "v8 = icmp sle v5, v4"), 1);
    assert_eq!(loop_of(ZERO, "v3", DOWN, "v8 = icmp sge v5, v10"), 1);
    assert_eq!(loop_of(ZERO, "v3", DOWN, BELOW), 1);
    assert_eq!(
        loop_of(ZERO, "v3", "v16 = iconst.i32 2\nv5 = iadd v3, v16", BELOW),
        1
    );
    assert_eq!(loop_of(ZERO, "v3", "v5 = iadd v3, v10", BELOW), 1);
}

#[test]
fn another_array_in_every_iteration_is_checked() {
    let text = "function %f(i64) {
    block0(v0: i64):
        v1 = iconst.i32 0
        v2 = load.i32 v0+8
        v3 = icmp slt v1, v2
        brif v3, block1(v1), block2
    block1(v4: i32):
        v5 = load.i64 v0
        v6 = load.i32 v5+8
        v7 = icmp uge v4, v6
        trapnz v7, user1
        v8 = iconst.i32 1
        v9 = iadd v4, v8
        v10 = icmp slt v9, v6
        brif v10, block1(v9), block2
    block2:
        return
    }";
    assert_eq!(left(text), 1);
    // The array of the iteration before.
    let passed = text
        .replace("block1(v1)", "block1(v1, v0)")
        .replace("block1(v4: i32)", "block1(v4: i32, v11: i64)")
        .replace("block1(v9)", "block1(v9, v5)")
        .replace("v5+8", "v11+8");
    assert_eq!(left(&passed), 1);
}

#[test]
fn what_was_checked_or_compared_before_is_not_checked_again() {
    let text = |first: &str, second: &str| {
        left(&format!(
            "function %f(i64, i32) {{
            block0(v0: i64, v1: i32):
                v2 = load.i32 v0+8
                v9 = iconst.i32 3
                {first}
            block1:
                v3 = load.i32 v0+8
                v4 = iconst.i32 {second}
                v5 = icmp uge v4, v3
                trapnz v5, user1
                v6 = icmp uge v1, v3
                trapnz v6, user1
                v7 = icmp uge v1, v3
                trapnz v7, user1
                return
            block2:
                return
            }}"
        ))
    };
    // Of the two checks of v1 one is left.
    assert_eq!(
        text("v8 = icmp sgt v2, v9\nbrif v8, block1, block2", "3"),
        1
    );
    assert_eq!(
        text("v8 = icmp sgt v2, v9\nbrif v8, block1, block2", "4"),
        2
    );
    assert_eq!(
        text("v8 = icmp sgt v2, v9\nbrif v8, block1, block2", "-1"),
        2
    );
    assert_eq!(
        text("v8 = icmp sgt v2, v9\nbrif v8, block2, block1", "3"),
        2
    );
    assert_eq!(
        text("v8 = icmp ult v1, v2\nbrif v8, block1, block2", "0"),
        1
    );
    assert_eq!(
        text("v8 = icmp slt v1, v2\nbrif v8, block1, block2", "0"),
        2
    );
}
