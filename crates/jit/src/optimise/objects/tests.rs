//! Functions that allocate as translated code does, before and after the pass.
use super::replace;
use crate::optimise::testing::{isa, parsed};
use crate::optimise::{Allocation, FrameNotes};
use cranelift_codegen::Context;
use cranelift_codegen::ir::{Function, Opcode, Value};

/// The text of an allocation of 24 bytes that gives `v{n}`, with names of values and blocks from `n`.
fn allocation(n: u32) -> String {
    let [join, fast, slow] = [n, n + 1, n + 2];
    format!(
        "v{} = symbol_value.i64 gv0
            v{} = iconst.i64 64
            v{} = load.i64 v{}+24
            v{} = icmp ugt v{}, v{}
            brif v{}, block{slow}, block{fast}
        block{fast}:
            jump block{join}(v{})
        block{slow}:
            v{} = call fn0(v{})
            jump block{join}(v{})
        block{join}(v{n}: i64):",
        n + 1,
        n + 2,
        n + 3,
        n + 2,
        n + 4,
        n + 3,
        n + 1,
        n + 4,
        n + 3,
        n + 5,
        n + 1,
        n + 5
    )
}

/// The function after the pass, of which `objects` are allocated, and whether any became a slot.
fn replaced(body: &str, objects: &[u32]) -> (Function, bool) {
    let (mut func, cfg, domtree) = parsed(&format!(
        "function %f(i64, i64) -> i64 tail {{
            gv0 = symbol %vtable
            sig0 = (i64) -> i64
            fn0 = u0:1 sig0
            fn1 = u0:2 sig0
        {body} }}"
    ));
    let mut notes = FrameNotes::default();
    for n in objects {
        let start = func.dfg.value_def(Value::from_u32(n + 2)).inst();
        notes.allocation(Allocation {
            start: start.expect("an instruction"),
            object: Value::from_u32(*n),
            vtable: Value::from_u32(n + 1),
            size: 24,
            references: vec![],
            class: 1,
        });
    }
    let changed = replace(&mut func, &cfg, &domtree, &mut notes);
    let isa = isa();
    let mut context = Context::for_function(func);
    context.compute_cfg();
    context.compute_domtree();
    context.eliminate_unreachable_code(&*isa).expect("valid");
    let valid = context.verify(&*isa);
    valid
        .map_err(|e| format!("{e} {}", context.func))
        .expect("valid");
    (context.func, changed)
}

/// How many instructions of a kind a function has.
fn count(func: &Function, opcode: Opcode) -> usize {
    let insts = func
        .layout
        .blocks()
        .flat_map(|b| func.layout.block_insts(b));
    insts
        .filter(|i| func.dfg.insts[*i].opcode() == opcode)
        .count()
}

#[test]
fn an_object_that_is_read_and_written_becomes_a_slot() {
    let (func, changed) = replaced(
        &format!(
            "block0(v0: i64, v1: i64): {} store v1, v10+8 v2 = load.i64 v10+16 return v2",
            allocation(10)
        ),
        &[10],
    );
    assert!(changed);
    // VTable, two words of zeros, and the field.
    assert_eq!(
        (count(&func, Opcode::StackAddr), count(&func, Opcode::Store)),
        (1, 4),
        "{func}"
    );
    assert_eq!(
        func.sized_stack_slots.values().map(|s| s.size).sum::<u32>(),
        24
    );
}

#[test]
fn an_object_that_others_may_see_stays() {
    for seen in [
        "v2 = call fn1(v10)",
        "store v10, v0",
        "v2 = atomic_load.i64 v10",
        "v2 = load.i64 v10+24",
        "v2 = iadd v10, v1",
        "v2 = icmp eq v10, v10",
        "return v10 block9:",
        "jump block9(v10) block9(v2: i64): v3 = load.i64 v2 brif v3, block9(v0), block8 block8:",
    ] {
        let (func, changed) = replaced(
            &format!(
                "block0(v0: i64, v1: i64): {} {seen} return v1",
                allocation(10)
            ),
            &[10],
        );
        assert!(!changed, "{seen}: {func}");
        assert_eq!(
            func.sized_stack_slots.values().map(|s| s.size).sum::<u32>(),
            0
        );
    }
}

/// A loop in which an object of this turn takes the place of that of the turn before. `then` is done behind that.
fn looping(inside: &str, then: &str) -> String {
    format!(
        "block0(v0: i64, v1: i64): {} store v1, v10+8
            jump block1(v10, v1)
        block1(v2: i64, v3: i64):
            v4 = load.i64 v2+8
            brif v3, block2, block3
        block2:
            {} v5 = iadd v4, v3 store v5, v20+8 {inside}
            jump block1(v20, v5)
        block3: {then} return v4",
        allocation(10),
        allocation(20)
    )
}

#[test]
fn where_objects_meet_their_fields_are_passed() {
    let (func, changed) = replaced(&looping("", ""), &[10, 20]);
    assert!(changed);
    let block = func
        .layout
        .blocks()
        .find(|b| b.as_u32() == 1)
        .expect("block1");
    // v3, and the field; the object is none any more.
    assert_eq!(func.dfg.block_params(block).len(), 2, "{func}");
    assert_eq!(count(&func, Opcode::StackAddr), 3, "{func}");
}

#[test]
fn objects_that_meet_stay_if_a_copy_would_show() {
    for (inside, then) in [
        // A store through the parameter.
        ("store v1, v2+8", ""),
        // The object that was there before, and the parameter, escape together.
        ("", "v6 = call fn1(v2)"),
        ("v6 = call fn1(v20)", ""),
        // Fields of two types at one place.
        ("v6 = load.i32 v2+8", ""),
        ("v6 = icmp eq v2, v20", ""),
    ] {
        let (func, changed) = replaced(&looping(inside, then), &[10, 20]);
        assert!(!changed, "{inside} {then}: {func}");
    }
}

/// The object is stored to once its copy has been taken.
#[test]
fn an_object_that_changes_behind_the_copy_stays() {
    let text = format!(
        "block0(v0: i64, v1: i64): {} {} brif v1, block1(v10), block1(v20)
        block1(v2: i64):
            store v0, v10+8
            v3 = load.i64 v2+8
            return v3",
        allocation(10),
        allocation(20)
    );
    let (func, changed) = replaced(&text, &[10, 20]);
    assert!(!changed, "{func}");
}

/// In the loop nothing is allocated: the copies would save nothing.
#[test]
fn objects_that_only_change_places_stay() {
    let text = format!(
        "block0(v0: i64, v1: i64): {} {} jump block1(v10, v20)
        block1(v2: i64, v3: i64):
            v4 = load.i64 v2+8
            v5 = load.i64 v3+16
            brif v4, block1(v3, v2), block2
        block2: return v5",
        allocation(10),
        allocation(20)
    );
    let (func, changed) = replaced(&text, &[10, 20]);
    assert!(!changed, "{func}");
}

/// The passes over merges are not linear in their number.
#[test]
fn very_many_merges_are_left_alone() {
    let count = 40;
    let mut text = format!(
        "block0(v0: i64, v1: i64): {} {} jump block100(v10, v20)",
        allocation(10),
        allocation(20)
    );
    for n in 0..count {
        let (block, a) = (100 + n, 100 + 2 * n);
        let b = a + 1;
        text += &format!(
            " block{block}(v{a}: i64, v{b}: i64): brif v1, block{}(v{a}, v{b}), block{}(v{b}, v{a})",
            block + 1,
            block + 1
        );
    }
    let (block, a) = (100 + count, 100 + 2 * count);
    text += &format!(
        " block{block}(v{a}: i64, v{}: i64): v2 = load.i64 v{a}+8 return v2",
        a + 1
    );
    let (func, changed) = replaced(&text, &[10, 20]);
    assert!(!changed, "{func}");
}
