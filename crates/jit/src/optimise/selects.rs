//! A choice between two constants becomes a conditional move: `c ? 1 : -1`.
//!
//! ```text
//!     brif c, one, other                  v = select c, 1, -1
//! one:                                    jump join(v)
//!     jump join(1)               ->
//! other:
//!     jump join(-1)
//! ```
//!
//! A branch whose condition is random costs some twenty cycles every other time. A conditional move
//! waits for the condition, which costs little where the result is a constant: nothing else is
//! computed either way. A choice between values that were computed stays a branch: in `if (x > most)
//! most = x` it is predicted well, and a move would make each turn of the loop wait for the one
//! before.
//!
//! # Invariants
//! * Both ways lead to the same block with the same arguments but one, and compute nothing else.
//! * A way that is cold stays a branch.
use super::edges::entries;
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::{
    Block, BlockArg, BlockCall, Function, Inst, InstBuilder, InstructionData, Opcode, Type, Value,
    ValueDef, types,
};
use smallvec::SmallVec;

/// What a way brings to the block where both meet.
#[derive(Clone, Copy, PartialEq)]
enum Arrival {
    /// An integer of that type.
    Constant(Type, i64),
    /// Anything else. It was computed before the branch, so both ways can bring it.
    Value(Value),
}
/// One for each parameter of that block.
type Arrivals = SmallVec<[Arrival; 4]>;

/// Converts what can be converted.
pub(super) fn convert(func: &mut Function) {
    let blocks: Vec<Block> = func.layout.blocks().collect();
    let entries = entries(func);
    for block in blocks {
        let Some(branch) = func.layout.last_inst(block) else {
            continue;
        };
        let InstructionData::Brif {
            arg, blocks: ways, ..
        } = func.dfg.insts[branch]
        else {
            continue;
        };
        let [Some((to, one)), Some((and, other))] = ways.map(|way| follow(func, &entries, way))
        else {
            continue;
        };
        if to == and && one.len() == other.len() && !func.layout.is_cold(to) {
            choose(func, branch, arg, to, &one, &other);
        }
    }
}

/// Replaces a branch whose ways differ in one constant.
fn choose(
    func: &mut Function,
    branch: Inst,
    condition: Value,
    to: Block,
    one: &Arrivals,
    other: &Arrivals,
) {
    let mut differing = (0..one.len()).filter(|n| one[*n] != other[*n]);
    let (Some(n), None) = (differing.next(), differing.next()) else {
        return;
    };
    let (Arrival::Constant(ty, a), Arrival::Constant(_, b)) = (one[n], other[n]) else {
        return;
    };
    if ty != types::I32 && ty != types::I64 {
        return;
    }
    // The constants of a way lie in its own block, so they are made anew here.
    let mut at = FuncCursor::new(func).at_inst(branch);
    at.set_srcloc(at.func.srcloc(branch));
    let mut arguments: SmallVec<[BlockArg; 4]> = SmallVec::new();
    for (number, arrival) in one.iter().enumerate() {
        let value = match *arrival {
            _ if number == n => {
                let (a, b) = (at.ins().iconst(ty, a), at.ins().iconst(ty, b));
                at.ins().select(condition, a, b)
            }
            Arrival::Constant(ty, c) => at.ins().iconst(ty, c),
            Arrival::Value(v) => v,
        };
        arguments.push(BlockArg::Value(value));
    }
    at.ins().jump(to, &arguments);
    at.remove_inst();
}

/// Where a way leads, through a block that does nothing but jump, and with what. None: it does
/// something else, or is cold.
fn follow(
    func: &Function,
    entries: &SecondaryMap<Block, u32>,
    way: BlockCall,
) -> Option<(Block, Arrivals)> {
    let block = way.block(&func.dfg.value_lists);
    if func.layout.is_cold(block) {
        return None;
    }
    let last = func.layout.last_inst(block)?;
    let does_nothing = entries[block] == 1
        && func
            .layout
            .block_insts(block)
            .all(|i| i == last || func.dfg.insts[i].opcode() == Opcode::Iconst);
    let call = match func.dfg.insts[last] {
        InstructionData::Jump { destination, .. } if does_nothing => destination,
        _ => way,
    };
    // Results of calls with handlers are no values yet.
    let value_of = |arg| match arg {
        BlockArg::Value(v) => Some(func.dfg.resolve_aliases(v)),
        _ => None,
    };
    let given: Option<SmallVec<[Value; 4]>> =
        way.args(&func.dfg.value_lists).map(value_of).collect();
    let given = given?;
    let mut arrivals = Arrivals::new();
    for arg in call.args(&func.dfg.value_lists) {
        let v = value_of(arg)?;
        // A parameter of the block that does nothing is what the way brings.
        let own = func.dfg.block_params(block).iter().position(|p| *p == v);
        let v = match own.filter(|_| does_nothing) {
            Some(n) => *given.get(n)?,
            None => v,
        };
        arrivals.push(arrival(func, v));
    }
    Some((call.block(&func.dfg.value_lists), arrivals))
}

/// What a value is to the block that it is brought to.
fn arrival(func: &Function, value: Value) -> Arrival {
    if let ValueDef::Result(inst, _) = func.dfg.value_def(value)
        && let InstructionData::UnaryImm {
            opcode: Opcode::Iconst,
            imm,
        } = func.dfg.insts[inst]
    {
        return Arrival::Constant(func.dfg.value_type(value), imm.bits());
    }
    Arrival::Value(value)
}

#[cfg(test)]
mod tests {
    use super::convert;

    /// The function after the pass.
    fn after(text: &str) -> String {
        let mut func = cranelift_reader::parse_functions(text)
            .expect("valid")
            .remove(0);
        convert(&mut func);
        func.to_string()
    }

    /// A choice whose ways bring what is given to a block with two parameters.
    fn choice(one: &str, other: &str, in_other: &str) -> String {
        after(&format!(
            "function %f(i32, i64) -> i32 {{
            block0(v0: i32, v9: i64):
                v1 = iconst.i32 7
                brif v0, block1(v1), block2(v0)
            block1(v2: i32):
                v3 = iconst.i32 1
                jump block3({one})
            block2(v4: i32):
                v5 = iconst.i32 -1
                {in_other}
                jump block3({other})
            block3(v6: i32, v7: i32):
                v8 = isub v6, v7
                return v8
            }}"
        ))
    }

    #[test]
    fn a_choice_between_constants_is_a_move() {
        let text = choice("v1, v3", "v1, v5", "");
        assert!(
            text.contains("select v0") && !text.contains("brif"),
            "{text}"
        );
        // What the way brings is looked at through the block's own parameter.
        let text = choice("v2, v0", "v5, v0", "");
        assert!(
            text.contains("select v0") && !text.contains("brif"),
            "{text}"
        );
    }

    #[test]
    fn other_choices_stay_branches() {
        for (one, other, in_other) in [
            ("v1, v3", "v0, v5", ""),
            ("v0, v3", "v0, v4", ""),
            ("v1, v3", "v1, v5", "store v0, v9"),
            ("v1, v1", "v1, v1", ""),
        ] {
            let text = choice(one, other, in_other);
            assert!(text.contains("brif") && !text.contains("select"), "{text}");
        }
    }
}
