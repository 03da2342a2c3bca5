//! Questions about one number that follow each other become one jump table, and small tables
//! comparisons.
//!
//! ```text
//!     br_table x - 43, next, [A, next, B, C]         br_table x - 43, default, [A, default, B, C, default ..., D, default, E]
//! next:                                         ->
//!     br_table x - 60, default, [D, default, E]
//!
//!     br_table x - 60, default, [D, default, E] ->   brif x == 60, D, next
//!                                                next:
//!                                                    brif x == 62, E, default
//! ```
//!
//! Compilers cut a `switch` over scattered numbers into tables and comparisons. Each is a jump of its
//! own, which the processor has to predict; a jump through a table that it does not predict costs
//! more than a comparison, because the target is known three loads later.
//!
//! # Invariants
//! * Where control goes is found by going through the questions with each number of the range, and
//!   with one number of each kind outside of it, so the table says what they say.
//! * A question that is left out does nothing else: its block is entered from the one before only,
//!   and what it computes is used by itself only.
use super::edges::entries;
use super::slots::constant;
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block, BlockArg, BlockCall, Function, Inst, InstBuilder, InstructionData, JumpTableData,
    Opcode, Value, ValueDef, types::I32,
};
use smallvec::SmallVec;
use std::collections::HashMap;

/// Numbers that a table covers at most.
const MAX_RANGE: i64 = 256;
/// Questions that are asked of one number at most.
const MAX_QUESTIONS: usize = 32;
/// A table with so many [runs](Run) at most becomes comparisons.
const FEW: usize = 3;

/// As many edges as lead to no block: to one that a table of the pass leads to.
const SHARED: u32 = u32::MAX;

/// What a block asks last.
enum Question {
    /// The number, less `from`, is looked up in a table.
    Table { from: i64 },
    /// The number is compared with a constant.
    Compare { how: IntCC, with: i64 },
}

/// A question in the function.
struct Asked {
    branch: Inst,
    question: Question,
}

/// Merges and lowers what there is.
pub(super) fn merge(func: &mut Function) {
    let blocks: Vec<Block> = func.layout.blocks().collect();
    if !blocks.iter().any(|b| table_of(func, *b).is_some()) {
        return;
    }
    let mut entries = entries(func);
    let uses = uses_elsewhere(func);
    for block in blocks {
        if func.layout.is_block_inserted(block) {
            merge_from(func, &mut entries, &uses, block);
        }
    }
    let blocks: Vec<Block> = func.layout.blocks().collect();
    for block in blocks {
        if let Some(branch) = table_of(func, block) {
            compare(func, block, branch);
        }
    }
}

/// The jump through a table that ends a block.
fn table_of(func: &Function, block: Block) -> Option<Inst> {
    let last = func.layout.last_inst(block)?;
    (func.dfg.insts[last].opcode() == Opcode::BrTable).then_some(last)
}

/// By instruction: whether its result is used outside of its block. (Arguments of edges count as used
/// where the edge begins.)
fn uses_elsewhere(func: &Function) -> SecondaryMap<Inst, bool> {
    let mut uses: SecondaryMap<Inst, bool> = SecondaryMap::new();
    for block in func.layout.blocks() {
        for inst in func.layout.block_insts(block) {
            for value in func.dfg.inst_values(inst) {
                if let ValueDef::Result(def, _) = func.dfg.value_def(value)
                    && func.layout.inst_block(def) != Some(block)
                {
                    uses[def] = true;
                }
            }
        }
    }
    uses
}

/// A value as a number and what is added to it.
fn number(func: &Function, value: Value) -> (Value, i64) {
    let value = func.dfg.resolve_aliases(value);
    let ValueDef::Result(inst, _) = func.dfg.value_def(value) else {
        return (value, 0);
    };
    let sum = match func.dfg.insts[inst] {
        InstructionData::Binary {
            opcode: Opcode::Isub,
            args: [a, b],
        } => constant(func, b).map(|c| (a, -c)),
        InstructionData::Binary {
            opcode: Opcode::Iadd,
            args: [a, b],
        } => constant(func, b).map(|c| (a, c)),
        _ => None,
    };
    match sum {
        Some((a, c)) => (func.dfg.resolve_aliases(a), i64::from(c as i32)),
        None => (value, 0),
    }
}

/// What a block asks last, and of which number.
///
/// Of I32 only: the numbers of a range are tried one by one, and as such.
fn asked(func: &Function, block: Block) -> Option<(Value, Asked)> {
    let branch = func.layout.last_inst(block)?;
    let (of, question) = match func.dfg.insts[branch] {
        InstructionData::BranchTable { arg, table, .. } => {
            // (A longer one is merged with nothing.)
            if func.dfg.jump_tables[table].as_slice().len() > MAX_RANGE as usize {
                return None;
            }
            let (of, plus) = number(func, arg);
            (of, Question::Table { from: -plus })
        }
        InstructionData::Brif { arg, .. } => {
            let ValueDef::Result(inst, _) = func.dfg.value_def(arg) else {
                return None;
            };
            let InstructionData::IntCompare { cond, args, .. } = func.dfg.insts[inst] else {
                return None;
            };
            let with = i64::from(constant(func, args[1])? as i32);
            (
                func.dfg.resolve_aliases(args[0]),
                Question::Compare { how: cond, with },
            )
        }
        _ => return None,
    };
    (func.dfg.value_type(of) == I32).then_some((of, Asked { branch, question }))
}

impl Asked {
    /// Where control goes for a number.
    fn target(&self, func: &Function, number: i64) -> BlockCall {
        match (&self.question, &func.dfg.insts[self.branch]) {
            (Question::Table { from }, InstructionData::BranchTable { table, .. }) => {
                let table = &func.dfg.jump_tables[*table];
                let index = number.wrapping_sub(*from) as u32 as usize;
                let entry = table.as_slice().get(index);
                entry.copied().unwrap_or_else(|| table.default_block())
            }
            (Question::Compare { how, with }, InstructionData::Brif { blocks, .. }) => {
                blocks[usize::from(!holds(*how, number as i32, *with as i32))]
            }
            _ => unreachable!("a question ends with its branch"),
        }
    }
    /// The numbers at which the answer may change: the first and the last.
    fn range(&self, func: &Function) -> (i64, i64) {
        match (&self.question, &func.dfg.insts[self.branch]) {
            (Question::Table { from }, InstructionData::BranchTable { table, .. }) => {
                let len = func.dfg.jump_tables[*table].as_slice().len() as i64;
                (*from, from + len.max(1) - 1)
            }
            (Question::Compare { with, .. }, _) => (*with, *with),
            _ => unreachable!("a question ends with its branch"),
        }
    }
}

fn holds(how: IntCC, a: i32, b: i32) -> bool {
    let (ua, ub) = (a as u32, b as u32);
    match how {
        IntCC::Equal => a == b,
        IntCC::NotEqual => a != b,
        IntCC::SignedLessThan => a < b,
        IntCC::SignedLessThanOrEqual => a <= b,
        IntCC::SignedGreaterThan => a > b,
        IntCC::SignedGreaterThanOrEqual => a >= b,
        IntCC::UnsignedLessThan => ua < ub,
        IntCC::UnsignedLessThanOrEqual => ua <= ub,
        IntCC::UnsignedGreaterThan => ua > ub,
        IntCC::UnsignedGreaterThanOrEqual => ua >= ub,
    }
}

/// The questions that follow a block's, of the same number.
///
/// They are a tree: each is entered from one other, however many of its edges lead there. So all of
/// them but the first can be left out.
fn questions(
    func: &Function,
    entries: &SecondaryMap<Block, u32>,
    uses: &SecondaryMap<Inst, bool>,
    block: Block,
) -> Option<(Value, HashMap<Block, Asked>)> {
    let (of, first) = asked(func, block)?;
    let mut all = HashMap::from([(block, first)]);
    let mut work = vec![block];
    while let Some(from) = work.pop() {
        let mut enters: Vec<Block> = func.block_successors(from).collect();
        enters.sort_unstable();
        for edges in enters.chunk_by(|a, b| a == b) {
            let next = edges[0];
            if all.contains_key(&next)
                || all.len() == MAX_QUESTIONS
                || entries[next] as usize != edges.len()
                || !only_asks(func, uses, next)
            {
                continue;
            }
            if let Some((number, asked)) = asked(func, next)
                && number == of
            {
                all.insert(next, asked);
                work.push(next);
            }
        }
    }
    Some((of, all))
}

/// Whether a block does nothing but compute what it asks.
fn only_asks(func: &Function, uses: &SecondaryMap<Inst, bool>, block: Block) -> bool {
    let last = func.layout.last_inst(block);
    func.dfg.block_params(block).is_empty()
        && !func.layout.is_cold(block)
        && func.layout.block_insts(block).all(|i| {
            let opcode = func.dfg.insts[i].opcode();
            let computes = matches!(
                opcode,
                Opcode::Iconst | Opcode::Isub | Opcode::Iadd | Opcode::Icmp
            );
            Some(i) == last || computes && !uses[i] && !passed_on(func, block, i)
        })
}

/// Whether a block passes the result of one of its instructions to the next block.
fn passed_on(func: &Function, block: Block, inst: Inst) -> bool {
    let Some(last) = func.layout.last_inst(block) else {
        return false;
    };
    let passes = |call: &BlockCall| {
        call.args(&func.dfg.value_lists).any(|arg| {
            let BlockArg::Value(value) = arg else {
                return false;
            };
            func.dfg.value_def(value) == ValueDef::Result(inst, 0)
        })
    };
    let calls =
        func.dfg.insts[last].branch_destination(&func.dfg.jump_tables, &func.dfg.exception_tables);
    calls.iter().any(passes)
}

/// Merges the questions that begin with a block's.
///
/// The branch of the first question becomes a jump through a table of the whole range, from the least
/// number that any of them names to the greatest. All numbers outside have to go to the same place:
/// it is the table's default.
fn merge_from(
    func: &mut Function,
    entries: &mut SecondaryMap<Block, u32>,
    uses: &SecondaryMap<Inst, bool>,
    block: Block,
) {
    // A comparison before the first table is one of the program's own, and may mostly hold.
    if table_of(func, block).is_none() {
        return;
    }
    let Some((of, all)) = questions(func, entries, uses, block) else {
        return;
    };
    if all.len() < 2 {
        return;
    }
    let ranges: Vec<(i64, i64)> = all.values().map(|a| a.range(func)).collect();
    let low = ranges.iter().map(|r| r.0).min().unwrap_or(0);
    let high = ranges.iter().map(|r| r.1).max().unwrap_or(0);
    // (Unsigned comparisons have numbers below 0 above all others.)
    if low < 0 || high - low >= MAX_RANGE || high >= i64::from(i32::MAX) {
        return;
    }
    let target = |number: i64| {
        let mut at = block;
        loop {
            let call = all[&at].target(func, number);
            at = call.block(&func.dfg.value_lists);
            // (Back to the first is another turn.)
            if at == block || !all.contains_key(&at) {
                return call;
            }
        }
    };
    let default = target(high + 1);
    let outside = [-1, i64::from(i32::MIN), 0, low - 1, i64::from(i32::MAX)];
    let mut outside = outside.into_iter().filter(|n| *n < low || *n > high);
    if !outside.all(|n| same(func, target(n), default)) {
        return;
    }
    let calls: Vec<BlockCall> = (low..=high).map(target).collect();
    // How many edges lead to them has changed, and is not counted again: they are left out of no other table.
    for call in calls.iter().chain([&default]) {
        entries[call.block(&func.dfg.value_lists)] = SHARED;
    }
    let branch = all[&block].branch;
    let calls: Vec<BlockCall> = calls.into_iter().map(|c| copied(func, c)).collect();
    let default = copied(func, default);
    let mut pos = FuncCursor::new(func).at_inst(branch);
    pos.use_srcloc(branch);
    let index = match low {
        0 => of,
        _ => {
            let low = pos.ins().iconst(I32, low);
            pos.ins().isub(of, low)
        }
    };
    let table = JumpTableData::new(default, &calls);
    let table = pos.func.dfg.jump_tables.push(table);
    pos.func.replace(branch).br_table(index, table);
    for left in all.into_keys().filter(|b| *b != block) {
        while let Some(inst) = func.layout.last_inst(left) {
            func.layout.remove_inst(inst);
        }
        func.layout.remove_block(left);
    }
}

/// A call of a block with a list of arguments of its own.
fn copied(func: &mut Function, call: BlockCall) -> BlockCall {
    let to = call.block(&func.dfg.value_lists);
    let args: SmallVec<[BlockArg; 8]> = call.args(&func.dfg.value_lists).collect();
    func.dfg.block_call(to, &args)
}

/// Numbers in succession for which a table goes to the same place.
struct Run {
    first: i64,
    count: i64,
    call: BlockCall,
}

/// The runs of a table that do not go to its default; None: there are more than few.
fn runs(func: &Function, table: &JumpTableData) -> Option<SmallVec<[Run; FEW]>> {
    let mut runs: SmallVec<[Run; FEW]> = SmallVec::new();
    let default = table.default_block();
    let mut before = default;
    for (n, call) in table.as_slice().iter().enumerate() {
        if same(func, *call, default) {
            // (The next number begins a run.)
        } else if same(func, *call, before)
            && let Some(run) = runs.last_mut()
        {
            run.count += 1;
        } else if runs.len() < FEW {
            runs.push(Run {
                first: n as i64,
                count: 1,
                call: *call,
            });
        } else {
            return None;
        }
        before = *call;
    }
    Some(runs)
}

/// Makes comparisons of the table that ends a block, if it has few runs.
///
/// They are made in the order of the numbers. A run is compared by what its number is above the run's
/// first, without a sign.
fn compare(func: &mut Function, block: Block, branch: Inst) {
    let InstructionData::BranchTable { arg, table, .. } = func.dfg.insts[branch] else {
        return;
    };
    let table = &func.dfg.jump_tables[table];
    let default = table.default_block();
    let Some(runs) = runs(func, table) else {
        return;
    };
    let Some(last) = runs.len().checked_sub(1) else {
        return;
    };
    let (of, plus) = number(func, arg);
    let loc = func.srcloc(branch);
    func.layout.remove_inst(branch);
    let mut at = block;
    for (n, run) in runs.into_iter().enumerate() {
        let no = match n == last {
            true => copied(func, default),
            false => {
                let next = func.dfg.make_block();
                func.layout.insert_block_after(next, at);
                func.dfg.block_call(next, &[])
            }
        };
        let yes = copied(func, run.call);
        let mut pos = FuncCursor::new(func).at_bottom(at);
        pos.set_srcloc(loc);
        let bits = |n: i64| i64::from(n as u32);
        let condition = match run.count {
            1 => pos
                .ins()
                .icmp_imm_u(IntCC::Equal, of, bits(run.first - plus)),
            count => {
                let from = pos.ins().iconst(I32, bits(run.first - plus));
                let index = pos.ins().isub(of, from);
                pos.ins().icmp_imm_u(IntCC::UnsignedLessThan, index, count)
            }
        };
        let lists = &pos.func.dfg.value_lists;
        let (to, next) = (yes.block(lists), no.block(lists));
        let brif = pos.ins().brif(condition, to, &[], next, &[]);
        if let InstructionData::Brif { blocks, .. } = &mut func.dfg.insts[brif] {
            *blocks = [yes, no];
        }
        at = next;
    }
}

/// Whether two edges lead to the same block with the same arguments.
fn same(func: &Function, a: BlockCall, b: BlockCall) -> bool {
    let lists = &func.dfg.value_lists;
    a.block(lists) == b.block(lists) && a.args(lists).eq(b.args(lists))
}

#[cfg(test)]
mod tests {
    use super::merge;
    use crate::optimise::testing::parsed;

    fn merged(body: &str) -> String {
        let (mut func, ..) = parsed(&format!("function %f(i32, i32) -> i32 {{ {body} }}"));
        merge(&mut func);
        let flags = cranelift_codegen::settings::Flags::new(cranelift_codegen::settings::builder());
        cranelift_codegen::verify_function(&func, &flags).expect("valid");
        func.to_string()
    }
    const LEAVES: &str = "
        block10: v10 = iconst.i32 10
                 return v10
        block11: v11 = iconst.i32 11
                 return v11
        block12: v12 = iconst.i32 12
                 return v12
        block13: v13 = iconst.i32 13
                 return v13
        block14(v14: i32): return v14";

    #[test]
    fn tables_and_comparisons_of_one_number_become_one_table() {
        let text = merged(&format!(
            "block0(v0: i32, v1: i32):
                v2 = iconst.i32 43
                v3 = isub v0, v2
                br_table v3, block1, [block10, block1, block11]
            block1:
                v4 = iconst.i32 60
                v5 = icmp eq v0, v4
                brif v5, block14(v1), block2
            block2:
                v6 = iconst.i32 50
                v7 = isub v0, v6
                br_table v7, block13, [block12, block13, block12]
            {LEAVES}"
        ));
        let default = ["block13"; 4].join(", ");
        assert!(
            text.contains(&format!(
                "br_table v16, block13, [block10, block13, block11, {default}, block12, block13, block12, {}, block14(v1)]",
                ["block13"; 7].join(", ")
            )),
            "{text}"
        );
        assert!(!text.contains("brif"), "{text}");
    }

    /// What a question computes is used elsewhere, another number is asked, a block is entered from
    /// elsewhere, the range is long, or numbers on both sides go to different places.
    #[test]
    fn other_questions_stay() {
        for (second, leaves) in [
            (
                "v4 = iconst.i32 60 \n v5 = isub v1, v4 \n br_table v5, block13, [block12, block10, block11, block12, block10]",
                LEAVES,
            ),
            (
                "v4 = iconst.i32 60 \n v5 = isub v0, v4 \n br_table v5, block14(v5), [block12, block10, block11, block12, block10]",
                LEAVES,
            ),
            (
                "v4 = iconst.i32 6000 \n v5 = isub v0, v4 \n br_table v5, block13, [block12, block10, block11, block12, block10]",
                LEAVES,
            ),
            (
                "v4 = iconst.i32 60 \n v5 = icmp slt v0, v4 \n brif v5, block12, block13",
                LEAVES,
            ),
            (
                "v4 = udiv v0, v1 \n br_table v0, block13, [block12, block10, block11, block12, block10]",
                LEAVES,
            ),
        ] {
            let text = merged(&format!(
                "block0(v0: i32, v1: i32):
                    v2 = iconst.i32 43
                    v3 = isub v0, v2
                    br_table v3, block1, [block10, block11, block10, block11, block10, block12]
                block1: {second}
                {leaves}"
            ));
            assert!(text.contains("br_table v3, block1, [block10"), "{text}");
        }
    }

    #[test]
    fn a_table_that_a_question_leads_back_to_is_left() {
        let text = merged(
            "block0(v0: i32, v1: i32): jump block1
            block1:
                br_table v0, block2, [block3, block4, block3, block4, block3]
            block2:
                v4 = iconst.i32 60
                v5 = icmp eq v0, v4
                brif v5, block1, block3
            block3: return v0
            block4: return v1",
        );
        assert!(text.contains("block1"), "{text}");
    }

    /// A leads to X by a number between its tables and by default, as many edges as led to X before; Z leads there, too. R may not take X away.
    #[test]
    fn what_a_merged_table_leads_to_is_left() {
        let text = merged(
            "block0(v0: i32, v1: i32): jump block2
            block1:
                br_table v0, block3, [block10, block11, block12, block10, block11]
            block3:
                v5 = iconst.i32 6
                v6 = isub v0, v5
                br_table v6, block4, [block11, block12, block10, block11, block12]
            block2:
                v7 = iconst.i32 20
                v8 = isub v0, v7
                br_table v8, block1, [block5, block10, block12, block10, block11]
            block5: jump block4
            block4:
                v9 = iconst.i32 30
                v13 = icmp eq v0, v9
                brif v13, block10, block11
            block10: return v0
            block11: return v1
            block12: v12 = iconst.i32 1
                     return v12",
        );
        assert!(
            text.contains("jump block4") && text.contains("block4:"),
            "{text}"
        );
    }

    #[test]
    fn small_tables_become_comparisons() {
        let text = merged(&format!(
            "block0(v0: i32, v1: i32):
                v2 = iconst.i32 60
                v3 = isub v0, v2
                br_table v3, block13, [block10, block13, block11, block11, block13, block13, block14(v1)]
            {LEAVES}"
        ));
        assert!(!text.contains("br_table"), "{text}");
        for part in [
            "iconst.i32 62",
            "icmp eq v0",
            "icmp ult",
            "block14(v1), block13",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
