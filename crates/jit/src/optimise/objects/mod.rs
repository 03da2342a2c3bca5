//! Escape analysis: an object that nothing but the function sees becomes a stack slot, and scalar
//! replacement makes values of it.
//!
//! # How it works
//! The translator notes each allocation ([`Allocation`](super::Allocation)). [`replace`] gives each
//! a slot, as if the reference were the slot's address, and lets `slots` look where that address
//! goes. If it does not escape, memory of the frame takes the place of memory from the TLAB:
//!
//! ```text
//! block0:  v1 = pinned;  ...                           block0:  v1 = stack_addr ss0
//!          brif lacks, full, fast                               store vtable, v1;  store 0, v1+8
//! fast:    ...;  jump join(next)                                jump join(v1)
//! slow:    v2 = call AllocObject;  jump join(v2)
//! join(v0: i64):  store x, v0+8                        join(v0: i64):  store x, v0+8
//! ```
//!
//! An object that is stored in a field of another one escapes until that one is a value. So this
//! repeats, with scalar replacement in between.
//!
//! Where different objects of one class meet in a block parameter, `merges` copies their fields.
//!
//! # Invariants
//! * Nothing can tell that there is no object: no call gets it, no memory holds it, and it is
//!   compared with nothing that may be the same object. Objects with a finalizer are not noted.
//! * One slot is enough for an allocation in a loop. A reference to the object of an earlier turn
//!   would come from a block parameter that another turn's object enters, too, and such a parameter
//!   is no address of the slot.
//! * The class must be one that can be loaded, as if an instance were allocated: the linker still
//!   needs its VTable.
//! * A new object is zero. Each time that control passes the allocation, the slot is cleared.
mod merges;

use super::FrameNotes;
use super::slots::{Addresses, MAX_SLOT, Uses};
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::dominator_tree::DominatorTree;
use cranelift_codegen::entity::EntitySet;
use cranelift_codegen::flowgraph::ControlFlowGraph;
use cranelift_codegen::ir::{
    Block, BlockArg, ExternalName, Function, GlobalValueData, Inst, InstBuilder, InstructionData,
    MemFlagsData, StackSlot, StackSlotData, StackSlotKind, Value, ValueDef, types::I64,
};
use merges::Merges;

/// How many objects are looked at together.
const MOST: usize = 64;

/// An allocation that may become a slot.
struct Site {
    slot: StackSlot,
    start: Inst,
    object: Value,
    vtable: Value,
    size: u32,
    references: Vec<u32>,
    class: usize,
    /// The block that the sequence ends.
    head: Block,
    /// The block where the object is there.
    join: Block,
}

/// Makes slots of the objects that do not escape, and forgets their allocations; the others may
/// follow in the next round. `cfg` and `domtree` are those of the function, of which no block is
/// unreachable. True if there was such an object; then blocks may be left that nothing leads to.
pub(super) fn replace(
    func: &mut Function,
    cfg: &ControlFlowGraph,
    domtree: &DominatorTree,
    notes: &mut FrameNotes,
) -> bool {
    if notes.allocations().is_empty() {
        return false;
    }
    func.dfg.resolve_all_aliases();
    let given = given_away(func);
    let sites = sites(func, notes, &given);
    if sites.is_empty() {
        return false;
    }
    let order: Vec<Block> = domtree.cfg_postorder().iter().rev().copied().collect();
    let mut roots: Vec<(Value, StackSlot)> = sites.iter().map(|s| (s.object, s.slot)).collect();
    let mut addresses = Addresses::find(func, &order, &roots);
    let mut merges = Merges::find(func, &order, &addresses, &sites);
    if !merges.all.is_empty() {
        roots.extend(merges.all.iter().map(|m| (m.param, m.slot)));
        addresses = Addresses::find(func, &order, &roots);
    }
    let mut uses = Uses::find(func, &order, &addresses, notes.marks());
    merges.judge(func, &order, &mut uses, &sites);
    merges.rewrite(func, cfg, &uses, &sites, notes);
    let mut found = false;
    for site in &sites {
        if uses.escaped[site.slot] {
            func.sized_stack_slots[site.slot].size = 0;
        } else {
            put_in_slot(func, site);
            notes.holds(site.slot, &site.references);
            if let Some(name) = name_of(func, site.vtable) {
                notes.need(name);
            }
            found = true;
        }
    }
    notes.retain_allocations(|a| {
        let site = sites.iter().find(|s| s.start == a.start);
        site.is_none_or(|s| uses.escaped[s.slot])
    });
    found
}

/// The values that are passed to calls, returned or stored. Most objects are among them, and need no closer look.
fn given_away(func: &Function) -> EntitySet<Value> {
    let mut given = EntitySet::with_capacity(func.dfg.num_values());
    for block in func.layout.blocks() {
        for inst in func.layout.block_insts(block) {
            match func.dfg.insts[inst] {
                InstructionData::Store { args, .. } => {
                    given.insert(args[0]);
                }
                ref data => {
                    let opcode = data.opcode();
                    if opcode.is_call() || opcode.is_return() {
                        given.extend(func.dfg.inst_args(inst).iter().copied());
                    }
                }
            }
        }
    }
    given
}

/// The allocations that are still as they were emitted, small enough and not given away.
fn sites(func: &mut Function, notes: &FrameNotes, given: &EntitySet<Value>) -> Vec<Site> {
    let mut sites = Vec::new();
    for a in notes.allocations() {
        let object = func.dfg.resolve_aliases(a.object);
        if given.contains(object) {
            continue;
        }
        let (Some(head), ValueDef::Param(join, 0)) =
            (func.layout.inst_block(a.start), func.dfg.value_def(object))
        else {
            continue;
        };
        let ends = func.layout.last_inst(head);
        let is_sequence =
            ends.is_some_and(|i| matches!(func.dfg.insts[i], InstructionData::Brif { .. }));
        if !is_sequence
            || !func.layout.is_block_inserted(join)
            || func.dfg.num_block_params(join) != 1
            || a.size > MAX_SLOT
            || sites.len() == MOST
        {
            continue;
        }
        sites.push(Site {
            slot: slot(func, a.size),
            start: a.start,
            object,
            vtable: func.dfg.resolve_aliases(a.vtable),
            size: a.size,
            references: a.references.clone(),
            class: a.class,
            head,
            join,
        });
    }
    sites
}

/// A new slot of that many bytes.
fn slot(func: &mut Function, size: u32) -> StackSlot {
    func.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, size, 3))
}

/// Memory flags of accesses to slots.
fn trusted() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

/// The index of the external name that a value is the address of.
fn name_of(func: &Function, value: Value) -> Option<u32> {
    let InstructionData::UnaryGlobalValue { global_value, .. } =
        func.dfg.insts[func.dfg.value_def(value).inst()?]
    else {
        return None;
    };
    match &func.global_values[global_value] {
        GlobalValueData::Symbol {
            name: ExternalName::User(name),
            ..
        } => Some(func.params.user_named_funcs()[*name].index),
        _ => None,
    }
}

/// Takes the object's memory from the frame in place of the TLAB.
fn put_in_slot(func: &mut Function, site: &Site) {
    let end = func.layout.last_inst(site.head).expect("a terminator");
    let mut inst = site.start;
    while inst != end {
        let next = func.layout.next_inst(inst).expect("the end comes later");
        func.layout.remove_inst(inst);
        inst = next;
    }
    let mut pos = FuncCursor::new(func).at_inst(end);
    pos.use_srcloc(end);
    let at = pos.ins().stack_addr(I64, site.slot, 0);
    // VTable and sync word (0) in one store.
    pos.ins().store(trusted(), site.vtable, at, 0);
    let zero = pos.ins().iconst(I64, 0);
    for offset in (8..site.size as i32).step_by(8) {
        pos.ins().store(trusted(), zero, at, offset);
    }
    pos.func
        .replace(end)
        .jump(site.join, &[BlockArg::Value(at)]);
}

#[cfg(test)]
mod tests;
