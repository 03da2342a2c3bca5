//! Block parameters in which different objects of one class meet.
//!
//! ```text
//! var sum = new V(0);                         block1(v1: i64)                    ; sum, of two allocations
//! while (...) sum = new V(sum.X + x);             v2 = load v1+8
//! ```
//!
//! Such a parameter gets a slot of its own, into which the fields are copied on each way in:
//!
//! ```text
//!     v8 = load v7+8;  jump block1(v8)        block1(v9: i64):  v1 = stack_addr ss1;  store v9, v1+8
//! ```
//!
//! # Invariants
//! * A copy is as good as the object: nobody compares references to it, nothing is stored through
//!   the parameter, and nothing is stored in the object it came from once it is copied, until
//!   control passes its allocation again.
//! * All copies into the parameters of a block are taken before any is written, as block parameters
//!   are: fields travel as such.
//! * No landing pad has such a parameter, because no register reaches it.
use super::{Site, slot, trusted};
use crate::optimise::FrameNotes;
use crate::optimise::slots::{Addresses, Uses};
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::entity::{EntitySet, SecondaryMap};
use cranelift_codegen::flowgraph::ControlFlowGraph;
use cranelift_codegen::ir::{
    Block, BlockArg, Function, InstBuilder, InstructionData, Opcode, StackSlot, Type, Value,
    ValueDef, types::I64,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// More of them than this are not looked at in one function.
const MOST: usize = 32;
/// More copies than this, of one field on one way in, are not made for a group of objects that meet.
const MOST_COPIES: usize = 48;

/// A parameter in which objects meet.
pub(super) struct Merge {
    pub(super) param: Value,
    pub(super) slot: StackSlot,
    block: Block,
    /// An allocation of the class, by its place in the list.
    site: usize,
    /// The slots that its objects come from.
    from: SmallVec<[StackSlot; 4]>,
    /// What is read of the objects here or in other such parameters that get them from here: what is
    /// copied, in the order of the offsets. The header is not among it.
    fields: SmallVec<[Field; 8]>,
}

/// All of a function.
pub(super) struct Merges {
    pub(super) all: Vec<Merge>,
}

/// A place in memory that is copied: its offset and type.
type Field = (u8, Type);

impl Merges {
    /// Finds the parameters that get nothing but objects of one class, or other such parameters.
    pub(super) fn find(
        func: &mut Function,
        order: &[Block],
        addresses: &Addresses,
        sites: &[Site],
    ) -> Merges {
        let site_of: FxHashMap<StackSlot, usize> =
            (sites.iter().enumerate().map(|(n, s)| (s.slot, n))).collect();
        let mut entering = entering(func, order, addresses);
        // What an argument is: an object, if it is the address of its first byte.
        let object = |value: Value| match addresses.of(value) {
            Some((slot, 0)) => site_of.get(&slot).copied(),
            _ => None,
        };
        // Assumed of all, until an argument says otherwise; then of what gets that one, too.
        let mut class: FxHashMap<Value, usize> = FxHashMap::default();
        loop {
            let before = entering.len();
            let known: FxHashSet<Value> = entering.keys().copied().collect();
            entering.retain(|_, args| {
                (args.iter()).all(|arg| known.contains(arg) || object(*arg).is_some())
            });
            if entering.len() < before {
                continue;
            }
            class.clear();
            let mixed = classes(&entering, sites, &object, &mut class);
            entering.retain(|param, _| class.contains_key(param) && !mixed.contains(*param));
            if entering.len() == before {
                break;
            }
        }
        let mut params: Vec<Value> = entering.keys().copied().collect();
        params.sort_unstable();
        let mut all: Vec<Merge> = Vec::new();
        for param in params {
            let ValueDef::Param(block, _) = func.dfg.value_def(param) else {
                continue;
            };
            let site = class[&param];
            all.push(Merge {
                param,
                slot: slot(func, sites[site].size),
                block,
                site,
                from: SmallVec::new(),
                fields: SmallVec::new(),
            });
        }
        let slots: FxHashMap<Value, StackSlot> = all.iter().map(|m| (m.param, m.slot)).collect();
        for merge in &mut all {
            let args = entering[&merge.param].iter();
            let from = args.map(|arg| match slots.get(arg) {
                Some(slot) => *slot,
                None => sites[object(*arg).expect("an object or a merge")].slot,
            });
            merge.from.extend(from);
        }
        Merges { all }
    }

    /// Decides which objects and parameters escape: what meets an escaping one does, too.
    pub(super) fn judge(
        &mut self,
        func: &Function,
        order: &[Block],
        uses: &mut Uses,
        sites: &[Site],
    ) {
        if self.all.is_empty() {
            return;
        }
        if self.all.len() > MOST {
            self.all.iter().for_each(|m| uses.escaped[m.slot] = true);
            return self.spread(uses);
        }
        self.find_fields(uses);
        let stores = stores(order, uses);
        for merge in &self.all {
            if stores.contains_key(&merge.slot) || overlap(&merge.fields) {
                uses.escaped[merge.slot] = true;
            }
        }
        for site in sites {
            let Some(blocks) = stores.get(&site.slot) else {
                continue;
            };
            let copied = self.all.iter().filter(|m| m.from.contains(&site.slot));
            for merge in copied {
                if reaches(func, merge.block, |b| blocks.contains(b), Some(site.head)) {
                    uses.escaped[merge.slot] = true;
                }
            }
        }
        self.weigh(func, uses, sites);
        self.spread(uses);
    }

    /// What meets an escaping object or parameter escapes.
    fn spread(&self, uses: &mut Uses) {
        let mut changed = true;
        while changed {
            changed = false;
            for merge in &self.all {
                let slots = || merge.from.iter().copied().chain([merge.slot]);
                if slots().any(|s| uses.escaped[s]) && !slots().all(|s| uses.escaped[s]) {
                    slots().for_each(|s| uses.escaped[s] = true);
                    changed = true;
                }
            }
        }
    }

    /// Marks groups as escaping whose copies cost more than the allocations that they save: those in a
    /// loop that allocates none of the objects, and those with more than [`MOST_COPIES`].
    fn weigh(&self, func: &Function, uses: &mut Uses, sites: &[Site]) {
        // By merge: the first of those that it is connected with.
        let mut group: Vec<usize> = (0..self.all.len()).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for a in 0..self.all.len() {
                for b in 0..self.all.len() {
                    let of_a = || self.all[a].from.iter().chain([&self.all[a].slot]);
                    let meets =
                        of_a().any(|s| *s == self.all[b].slot || self.all[b].from.contains(s));
                    if meets && group[a] > group[b] {
                        group[a] = group[b];
                        changed = true;
                    }
                }
            }
        }
        for first in 0..self.all.len() {
            let members = || {
                (0..self.all.len())
                    .filter(|n| group[*n] == first)
                    .map(|n| &self.all[n])
            };
            let copies: usize = members().map(|m| m.fields.len() * m.from.len()).sum();
            let is_in_vain = |merge: &Merge| {
                let again = |b: Block| b == merge.block;
                let mut next = func.block_successors(merge.block);
                let is_in_loop = next.any(|b| reaches(func, b, again, None));
                let mut saved = members()
                    .flat_map(|m| &m.from)
                    .filter_map(|slot| sites.iter().find(|s| s.slot == *slot));
                is_in_loop
                    && !saved.any(|site| {
                        reaches(func, merge.block, |b| b == site.head, None)
                            && reaches(func, site.head, again, None)
                    })
            };
            if copies > MOST_COPIES || members().any(is_in_vain) {
                members().for_each(|m| uses.escaped[m.slot] = true);
            }
        }
    }

    /// Finds the fields of each: what is read of its own slot, and of those that are copied from it.
    fn find_fields(&mut self, uses: &Uses) {
        let place: FxHashMap<StackSlot, usize> =
            (self.all.iter().enumerate().map(|(n, m)| (m.slot, n))).collect();
        for access in &uses.accesses {
            if access.offset >= 8
                && access.stored.is_none()
                && let Some(n) = place.get(&access.slot)
            {
                add(&mut self.all[*n].fields, (access.offset, access.ty));
            }
        }
        let mut changed = true;
        while changed {
            changed = false;
            for n in 0..self.all.len() {
                let fields = self.all[n].fields.clone();
                let from = self.all[n].from.clone();
                for source in from.iter().filter_map(|slot| place.get(slot)) {
                    for field in &fields {
                        changed |= add(&mut self.all[*source].fields, *field);
                    }
                }
            }
        }
        for merge in &mut self.all {
            merge.fields.sort_unstable_by_key(|f| f.0);
        }
    }

    /// Gives each parameter that does not escape its slot.
    pub(super) fn rewrite(
        &self,
        func: &mut Function,
        cfg: &ControlFlowGraph,
        uses: &Uses,
        sites: &[Site],
        notes: &mut FrameNotes,
    ) {
        for merge in &self.all {
            if uses.escaped[merge.slot] {
                func.sized_stack_slots[merge.slot].size = 0;
                continue;
            }
            pass_fields(func, cfg, merge);
            receive(func, merge, sites[merge.site].vtable);
            notes.holds(merge.slot, &sites[merge.site].references);
        }
    }
}

/// By parameter that may be a merge: what enters it.
fn entering(
    func: &Function,
    order: &[Block],
    addresses: &Addresses,
) -> FxHashMap<Value, SmallVec<[Value; 4]>> {
    let mut entering: FxHashMap<Value, SmallVec<[Value; 4]>> = FxHashMap::default();
    let mut excluded: EntitySet<Value> = EntitySet::new();
    for block in order {
        let inst = func.layout.last_inst(*block).expect("a terminator");
        let data = &func.dfg.insts[inst];
        let is_exceptional = data.exception_table().is_some();
        let tables = &func.dfg.exception_tables;
        for call in data.branch_destination(&func.dfg.jump_tables, tables) {
            let to = call.block(&func.dfg.value_lists);
            let args = call.args(&func.dfg.value_lists);
            for (arg, param) in args.zip(func.dfg.block_params(to)) {
                let is_object =
                    func.dfg.value_type(*param) == I64 && addresses.of(*param).is_none();
                match arg.as_value() {
                    Some(value) if is_object && !is_exceptional => {
                        entering.entry(*param).or_default().push(value);
                    }
                    _ => {
                        excluded.insert(*param);
                    }
                }
            }
        }
    }
    entering.retain(|param, _| !excluded.contains(*param));
    entering
}

/// By parameter: an allocation of its class. Returns the parameters that get objects of several.
fn classes(
    entering: &FxHashMap<Value, SmallVec<[Value; 4]>>,
    sites: &[Site],
    object: &impl Fn(Value) -> Option<usize>,
    class: &mut FxHashMap<Value, usize>,
) -> EntitySet<Value> {
    let mut mixed = EntitySet::new();
    let mut changed = true;
    while changed {
        changed = false;
        for (param, args) in entering {
            for arg in args {
                let Some(site) = object(*arg).or_else(|| class.get(arg).copied()) else {
                    continue;
                };
                match class.get(param) {
                    None => {
                        class.insert(*param, site);
                        changed = true;
                    }
                    Some(other) if sites[*other].class != sites[site].class => {
                        mixed.insert(*param);
                    }
                    Some(_) => {}
                }
            }
        }
    }
    mixed
}

/// By slot: the blocks in which it is stored to.
fn stores(order: &[Block], uses: &Uses) -> FxHashMap<StackSlot, EntitySet<Block>> {
    let mut stores: FxHashMap<StackSlot, EntitySet<Block>> = FxHashMap::default();
    let mut first = 0;
    for (block, end) in order.iter().zip(&uses.ends) {
        for access in &uses.accesses[first..*end as usize] {
            if access.stored.is_some() {
                stores.entry(access.slot).or_default().insert(*block);
            }
        }
        first = *end as usize;
    }
    stores
}

/// Adds a field, unless it is there.
fn add(fields: &mut SmallVec<[Field; 8]>, field: Field) -> bool {
    let is_new = !fields.contains(&field);
    if is_new {
        fields.push(field);
    }
    is_new
}

/// Whether two fields, which are in the order of their offsets, share bytes.
fn overlap(fields: &[Field]) -> bool {
    let mut pairs = fields.windows(2);
    pairs.any(|f| u32::from(f[0].0) + f[0].1.bytes() > u32::from(f[1].0))
}

/// Whether control gets from the start of a block to one that is sought without passing `barrier`.
fn reaches(
    func: &Function,
    from: Block,
    is_sought: impl Fn(Block) -> bool,
    barrier: Option<Block>,
) -> bool {
    let mut seen: SecondaryMap<Block, bool> = SecondaryMap::new();
    let mut work = vec![from];
    while let Some(block) = work.pop() {
        if Some(block) == barrier || std::mem::replace(&mut seen[block], true) {
            continue;
        }
        if is_sought(block) {
            return true;
        }
        work.extend(func.block_successors(block));
    }
    false
}

/// On each way to the parameter's block: loads the fields and passes them in place of the object.
fn pass_fields(func: &mut Function, cfg: &ControlFlowGraph, merge: &Merge) {
    let n = (func.dfg.block_params(merge.block).iter())
        .position(|p| *p == merge.param)
        .expect("a parameter of its block");
    let mut ways: Vec<_> = cfg.pred_iter(merge.block).map(|p| p.inst).collect();
    ways.sort_unstable();
    ways.dedup();
    for inst in ways {
        let data = &func.dfg.insts[inst];
        let count =
            (data.branch_destination(&func.dfg.jump_tables, &func.dfg.exception_tables)).len();
        for way in 0..count {
            let dfg = &func.dfg;
            let calls = dfg.insts[inst].branch_destination(&dfg.jump_tables, &dfg.exception_tables);
            if calls[way].block(&dfg.value_lists) != merge.block {
                continue;
            }
            let object = calls[way].args(&dfg.value_lists).nth(n);
            let object = object.and_then(|a| a.as_value()).expect("an object");
            let object = dfg.resolve_aliases(object);
            let mut pos = FuncCursor::new(func).at_inst(inst);
            pos.use_srcloc(inst);
            let values: SmallVec<[Value; 8]> = (merge.fields)
                .iter()
                .map(|(offset, ty)| pos.ins().load(*ty, trusted(), object, i32::from(*offset)))
                .collect();
            let dfg = &mut pos.func.dfg;
            let tables = (&mut dfg.jump_tables, &mut dfg.exception_tables);
            let call = &mut dfg.insts[inst].branch_destination_mut(tables.0, tables.1)[way];
            for value in values {
                call.append_argument(BlockArg::Value(value), &mut dfg.value_lists);
            }
            call.remove(n, &mut dfg.value_lists);
        }
    }
}

/// At the start of the block: the parameter is the address of its slot, where the fields are stored.
fn receive(func: &mut Function, merge: &Merge, vtable: Value) {
    let params: SmallVec<[Value; 8]> = (merge.fields)
        .iter()
        .map(|(_, ty)| func.dfg.append_block_param(merge.block, *ty))
        .collect();
    func.dfg.remove_block_param(merge.param);
    let symbol = func.dfg.value_def(vtable).inst();
    let symbol = symbol.and_then(|i| match func.dfg.insts[i] {
        InstructionData::UnaryGlobalValue {
            opcode: Opcode::SymbolValue,
            global_value,
        } => Some(global_value),
        _ => None,
    });
    let first = func.layout.first_inst(merge.block).expect("a terminator");
    let mut pos = FuncCursor::new(func).at_inst(first);
    pos.use_srcloc(first);
    let at = pos.ins().stack_addr(I64, merge.slot, 0);
    if let Some(symbol) = symbol {
        let vtable = pos.ins().symbol_value(I64, symbol);
        pos.ins().store(trusted(), vtable, at, 0);
    }
    for ((offset, _), param) in merge.fields.iter().zip(params) {
        pos.ins().store(trusted(), param, at, i32::from(*offset));
    }
    pos.func.dfg.change_to_alias(merge.param, at);
}
