//! Where the addresses of stack slots go: which values are the address of a known byte of a known
//! slot, and what is done with them.
//!
//! # How it works
//! An address is made by `stack_addr` and moves on by `iadd` with a constant, and through block
//! parameters that get the same address on every edge (a struct on the IL stack is an address, and
//! blocks are entered with it). [`Addresses::find`] assumes of every block parameter that it is such
//! an address until an edge says otherwise, and repeats until nothing changes.
//!
//! ```text
//! v1 = stack_addr ss0              the address of ss0+0
//! v2 = iadd v1, 8                  the address of ss0+8
//! store v0, v2+4                   an access of ss0, bytes 12 to 16
//! v3 = iadd v1, v0                 something else, and ss0 escapes
//! jump block1(v1)                  block1(v4): the address of ss0+0, if all other edges pass that, too
//! ```
//!
//! Objects that may become slots have an address already: that of their slot, by a list of *roots*
//! (`optimise/objects`).
//!
//! Then [`Uses::find`] looks at every operand. An address may be the address of a load or store, its
//! card may be marked, and it may be compared with null; anything else lets the slot *escape*: a call
//! gets it, it is stored, compared, or added to something that is no constant.
//!
//! # Invariants
//! * Aliases of values are resolved, and no block is unreachable.
//! * A slot that has not escaped is read and written by the accesses of [`Uses::accesses`] and by
//!   nothing else.
use cranelift_codegen::entity::{EntitySet, SecondaryMap};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block, BlockArg, ExceptionTableItem, Function, Inst, InstructionData, Opcode, StackSlot, Type,
    Value, ValueDef,
    types::{F32, F64, I8, I16, I32, I64},
};

/// What is known of a value.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Known {
    /// No edge has said anything yet.
    #[default]
    Nothing,
    /// The address of that byte of the slot.
    Address(StackSlot, i32),
    /// Something else.
    Other,
}

/// The values that are addresses of slots.
pub struct Addresses {
    known: SecondaryMap<Value, Known>,
    roots: EntitySet<Value>,
}

impl Addresses {
    /// Finds them; `order` is a reverse postorder of the blocks. Each of `roots`, which are block
    /// parameters, is the address of that slot whatever its block is entered with.
    pub fn find(func: &Function, order: &[Block], roots: &[(Value, StackSlot)]) -> Addresses {
        let mut addresses = Addresses {
            known: SecondaryMap::with_capacity(func.dfg.num_values()),
            roots: EntitySet::new(),
        };
        for (value, slot) in roots {
            addresses.known[*value] = Known::Address(*slot, 0);
            addresses.roots.insert(*value);
        }
        // In this order every edge but the backward ones comes from a block that has been seen.
        while addresses.pass(func, order) {}
        addresses
    }
    /// The slot and byte that the value is the address of.
    pub fn of(&self, value: Value) -> Option<(StackSlot, i32)> {
        match self.known[value] {
            Known::Address(slot, offset) => Some((slot, offset)),
            _ => None,
        }
    }

    /// One pass over the function. What is known of a parameter changes twice at most, from nothing
    /// to an address to something else, so the passes end. True if an edge has changed what was
    /// assumed of a parameter.
    fn pass(&mut self, func: &Function, order: &[Block]) -> bool {
        let mut changed = false;
        let entry = order[0];
        for param in func.dfg.block_params(entry) {
            self.known[*param] = Known::Other;
        }
        for block in order {
            for inst in func.layout.block_insts(*block) {
                let data = &func.dfg.insts[inst];
                let known = match *data {
                    InstructionData::StackAddr {
                        stack_slot, offset, ..
                    } => Known::Address(stack_slot, offset.into()),
                    InstructionData::Binary {
                        opcode: Opcode::Iadd,
                        args: [a, b],
                    } => match (self.known[a], constant(func, b)) {
                        (Known::Address(slot, at), Some(by)) => i32::try_from(by)
                            .ok()
                            .and_then(|by| at.checked_add(by))
                            .map_or(Known::Other, |at| Known::Address(slot, at)),
                        (Known::Nothing, Some(_)) => Known::Nothing,
                        _ => Known::Other,
                    },
                    _ => Known::Other,
                };
                for result in func.dfg.inst_results(inst) {
                    self.known[*result] = known;
                }
                let calls =
                    data.branch_destination(&func.dfg.jump_tables, &func.dfg.exception_tables);
                for call in calls {
                    let to = call.block(&func.dfg.value_lists);
                    let args = call.args(&func.dfg.value_lists);
                    for (arg, param) in args.zip(func.dfg.block_params(to)) {
                        if self.roots.contains(*param) {
                            continue;
                        }
                        let before = self.known[*param];
                        let after = meet(before, self.passed(arg));
                        if after != before {
                            self.known[*param] = after;
                            changed = true;
                        }
                    }
                }
            }
        }
        changed
    }
    /// What an argument of a block is.
    fn passed(&self, arg: BlockArg) -> Known {
        arg.as_value()
            .map_or(Known::Other, |value| self.known[value])
    }
}

/// What a parameter is that gets both.
fn meet(a: Known, b: Known) -> Known {
    match (a, b) {
        (Known::Nothing, x) | (x, Known::Nothing) => x,
        (a, b) if a == b => a,
        _ => Known::Other,
    }
}

/// The value of an integer constant.
pub fn constant(func: &Function, value: Value) -> Option<i64> {
    let ValueDef::Result(inst, _) = func.dfg.value_def(value) else {
        return None;
    };
    match func.dfg.insts[inst] {
        InstructionData::UnaryImm {
            opcode: Opcode::Iconst,
            imm,
        } => Some(imm.bits()),
        _ => None,
    }
}

/// Whether the type is a vector that fills a register of 16 bytes.
pub fn is_vector(ty: Type) -> bool {
    ty.is_vector() && ty.bytes() == 16
}

/// Whether the value is the vector of zeros.
pub fn is_zero_vector(func: &Function, value: Value) -> bool {
    let ValueDef::Result(inst, _) = func.dfg.value_def(value) else {
        return false;
    };
    match func.dfg.insts[inst] {
        InstructionData::UnaryConst {
            opcode: Opcode::Vconst,
            constant_handle,
        } => func
            .dfg
            .constants
            .get(constant_handle)
            .iter()
            .all(|b| *b == 0),
        _ => false,
    }
}

/// A load or store of a slot's bytes.
#[derive(Clone, Copy)]
pub struct Access {
    /// The instruction.
    pub inst: Inst,
    /// The slot.
    pub slot: StackSlot,
    /// The first byte.
    pub offset: u8,
    /// How many bytes.
    pub width: u8,
    /// The type of the bytes in memory: an integer, a float, or a vector of 16 bytes.
    pub ty: Type,
    /// The value that a store stores.
    pub stored: Option<Value>,
}

impl Access {
    /// The bytes as a mask.
    pub fn mask(&self) -> u128 {
        bytes(self.offset, self.width)
    }
    /// Whether it covers a vector that begins at that byte, or a lane of it.
    pub fn fits(&self, start: u8) -> bool {
        self.offset >= start
            && self.offset + self.width <= start + 16
            && (self.offset - start).is_multiple_of(self.width)
    }
}

/// A mask of bytes, up to where the mask ends.
pub fn bytes(offset: u8, width: u8) -> u128 {
    (u128::MAX >> (128 - u32::from(width))) << offset
}

/// Addresses below this belong to null: nothing is mapped there.
const GUARD: i64 = 4096;

/// Slots of more bytes than this stay in memory: a mask of bytes has this many bits.
pub const MAX_SLOT: u32 = 128;

/// What is done with slots.
pub struct Uses {
    /// By slot.
    pub escaped: SecondaryMap<StackSlot, bool>,
    /// All accesses, by block in reverse postorder, and in the order of the instructions.
    pub accesses: Vec<Access>,
    /// By position in the order of blocks: where its accesses end in `accesses`. They begin where
    /// those of the block before end.
    pub ends: Vec<u32>,
    /// Computations of addresses.
    pub computed: Vec<(Inst, StackSlot)>,
    /// Stores of what a load gave.
    pub copied: Vec<Inst>,
    /// The values that are used otherwise than as what a whole-width store stores.
    pub used: EntitySet<Value>,
    /// By value: how many stores store it, up to 255.
    pub stores: SecondaryMap<Value, u8>,
    /// Blocks that exceptions lead to.
    pub pads: EntitySet<Block>,
    /// Comparisons of an address with what it cannot be, and branches and checks whose condition is
    /// an address.
    pub tests: Vec<(Inst, StackSlot)>,
    /// The instructions that mark the card of an address, in their order.
    pub marks: Vec<(StackSlot, [Inst; MARK])>,
    marking: EntitySet<Inst>,
}

/// The instructions that mark a card (`emit/barrier.rs`): shift, mask, sum, store.
pub const MARK: usize = 4;

impl Uses {
    /// Looks at every operand of every instruction. `marks` are the stores that mark cards.
    pub fn find(func: &Function, order: &[Block], addresses: &Addresses, marks: &[Inst]) -> Uses {
        let mut uses = Uses {
            escaped: SecondaryMap::new(),
            accesses: Vec::new(),
            ends: Vec::with_capacity(order.len()),
            computed: Vec::new(),
            copied: Vec::new(),
            used: EntitySet::with_capacity(func.dfg.num_values()),
            stores: SecondaryMap::with_capacity(func.dfg.num_values()),
            pads: EntitySet::new(),
            tests: Vec::new(),
            marks: Vec::new(),
            marking: EntitySet::new(),
        };
        for mark in marks {
            if let Some((slot, insts)) = marking(func, addresses, *mark) {
                uses.marks.push((slot, insts));
                uses.marking.extend(insts);
            }
        }
        for block in order {
            for inst in func.layout.block_insts(*block) {
                uses.inst(func, inst, addresses);
            }
            uses.ends.push(uses.accesses.len() as u32);
        }
        uses
    }

    /// Looks at one instruction.
    fn inst(&mut self, func: &Function, inst: Inst, addresses: &Addresses) {
        if self.marking.contains(inst) {
            // The reference that is stored is marked, too, if the slot stays.
            for value in func.dfg.inst_args(inst) {
                self.used.insert(*value);
            }
            return;
        }
        match func.dfg.insts[inst] {
            InstructionData::StackAddr { stack_slot, .. } => {
                self.computed.push((inst, stack_slot));
            }
            InstructionData::Load {
                opcode,
                arg,
                offset,
                ..
            } if addresses.of(arg).is_some() => {
                let result = func.dfg.value_type(func.dfg.first_result(inst));
                self.access(
                    func,
                    inst,
                    addresses,
                    (arg, offset.into()),
                    accessed(opcode, result),
                );
            }
            InstructionData::Store {
                opcode,
                args: [value, address],
                offset,
                ..
            } => {
                self.escapes(addresses, value);
                let whole = opcode == Opcode::Store;
                match whole {
                    true => self.stores[value] = self.stores[value].saturating_add(1),
                    false => {
                        self.used.insert(value);
                    }
                }
                if whole && is_load(func, value) {
                    self.copied.push(inst);
                }
                if addresses.of(address).is_some() {
                    let ty = accessed(opcode, func.dfg.value_type(value));
                    self.access(func, inst, addresses, (address, offset.into()), ty);
                } else {
                    self.used.insert(address);
                }
            }
            InstructionData::Binary {
                opcode: Opcode::Iadd,
                args: [a, _],
            } if addresses.of(func.dfg.first_result(inst)).is_some() => {
                let (slot, _) = addresses.of(a).expect("the address that was added to");
                self.computed.push((inst, slot));
            }
            InstructionData::Brif { arg, .. }
            | InstructionData::CondTrap {
                opcode: Opcode::Trapz,
                arg,
                ..
            } if addresses.of(arg).is_some() => {
                let (slot, _) = addresses.of(arg).expect("an address");
                self.tests.push((inst, slot));
                self.branches(func, inst, addresses);
            }
            InstructionData::IntCompare {
                cond, args: [a, b], ..
            } if let Some((slot, other)) = tested(func, addresses, cond, a, b) => {
                self.tests.push((inst, slot));
                self.used.insert(other);
            }
            _ => self.other(func, inst, addresses),
        }
    }

    /// Looks at an instruction that is neither an access nor the computation of an address: all its
    /// operands escape, except that a branch may pass an address to a parameter which is known to be
    /// that address.
    fn other(&mut self, func: &Function, inst: Inst, addresses: &Addresses) {
        for value in func.dfg.inst_args(inst) {
            self.escapes(addresses, *value);
            self.used.insert(*value);
        }
        self.branches(func, inst, addresses);
    }

    /// Looks at what an instruction passes to other blocks.
    fn branches(&mut self, func: &Function, inst: Inst, addresses: &Addresses) {
        let data = &func.dfg.insts[inst];
        let tables = &func.dfg.exception_tables;
        for call in data.branch_destination(&func.dfg.jump_tables, tables) {
            let to = call.block(&func.dfg.value_lists);
            let args = call.args(&func.dfg.value_lists);
            for (arg, param) in args.zip(func.dfg.block_params(to)) {
                let Some(value) = arg.as_value() else {
                    continue;
                };
                self.used.insert(value);
                if addresses.of(*param).is_none() {
                    self.escapes(addresses, value);
                }
            }
        }
        let Some(table) = data.exception_table() else {
            return;
        };
        for item in tables[table].items() {
            match item {
                ExceptionTableItem::Tag(_, pad) | ExceptionTableItem::Default(pad) => {
                    self.pads.insert(pad.block(&func.dfg.value_lists));
                }
                ExceptionTableItem::Context(value) => {
                    self.escapes(addresses, value);
                    self.used.insert(value);
                }
            }
        }
    }

    /// If the value is the address of a slot: the slot escapes.
    fn escapes(&mut self, addresses: &Addresses, value: Value) {
        if let Some((slot, _)) = addresses.of(value) {
            self.escaped[slot] = true;
        }
    }

    /// Records an access, or that the slot escapes by it: the access goes beyond the slot's end, or
    /// is of a type that values are not made of.
    fn access(
        &mut self,
        func: &Function,
        inst: Inst,
        addresses: &Addresses,
        (address, offset): (Value, i32),
        ty: Option<Type>,
    ) {
        let (slot, at) = addresses.of(address).expect("the address of a slot");
        let size = func.sized_stack_slots[slot].size;
        let offset = at.checked_add(offset).and_then(|at| u32::try_from(at).ok());
        let (Some(ty), Some(offset), true) = (ty, offset, size <= MAX_SLOT) else {
            self.escaped[slot] = true;
            return;
        };
        if offset + ty.bytes() > size {
            self.escaped[slot] = true;
            return;
        }
        let stored = match func.dfg.insts[inst] {
            InstructionData::Store { args, .. } => Some(args[0]),
            _ => None,
        };
        self.accesses.push(Access {
            inst,
            slot,
            offset: offset as u8,
            width: ty.bytes() as u8,
            ty,
            stored,
        });
    }
}

/// The slot whose card a store marks, and the instructions that do it: these, and nothing else, use
/// what they compute.
fn marking(
    func: &Function,
    addresses: &Addresses,
    mark: Inst,
) -> Option<(StackSlot, [Inst; MARK])> {
    let computed = |value| func.dfg.value_def(value).inst();
    func.layout.inst_block(mark)?;
    let [_, card] = func.dfg.inst_args(mark) else {
        return None;
    };
    let sum = computed(*card)?;
    let mask = computed(func.dfg.inst_args(sum)[1])?;
    let shift = computed(func.dfg.inst_args(mask)[0])?;
    let (slot, _) = addresses.of(func.dfg.inst_args(shift)[0])?;
    Some((slot, [shift, mask, sum, mark]))
}

/// If the comparison is one of an address in a slot with what cannot be the same: the slot, and the
/// other operand. An address that does not escape is equal to nothing but addresses that are known to
/// be of that slot; and all lie above the guard page.
fn tested(
    func: &Function,
    addresses: &Addresses,
    cond: IntCC,
    a: Value,
    b: Value,
) -> Option<(StackSlot, Value)> {
    let (slot, other) = match (addresses.of(a), addresses.of(b)) {
        (Some((slot, _)), None) => (slot, b),
        (None, Some((slot, _))) => (slot, a),
        _ => return None,
    };
    let known = match cond {
        IntCC::Equal | IntCC::NotEqual => true,
        IntCC::UnsignedLessThan => {
            other == b && constant(func, b).is_some_and(|n| (0..=GUARD).contains(&n))
        }
        _ => false,
    };
    known.then_some((slot, other))
}

/// Whether a load of the whole width gave the value.
pub fn is_load(func: &Function, value: Value) -> bool {
    matches!(
        func.dfg.value_def(value),
        ValueDef::Result(inst, _) if func.dfg.insts[inst].opcode() == Opcode::Load
    )
}

/// The type of the bytes that a load or store accesses, if it is one that a value can be made of:
/// atomic accesses are not. `value` is what is loaded or stored, which a narrow access extends or
/// cuts.
fn accessed(opcode: Opcode, value: Type) -> Option<Type> {
    match opcode {
        Opcode::Load | Opcode::Store => {
            let is_scalar = matches!(value, I8 | I16 | I32 | I64 | F32 | F64);
            (is_scalar || is_vector(value)).then_some(value)
        }
        Opcode::Uload8 | Opcode::Sload8 | Opcode::Istore8 => Some(I8),
        Opcode::Uload16 | Opcode::Sload16 | Opcode::Istore16 => Some(I16),
        Opcode::Uload32 | Opcode::Sload32 | Opcode::Istore32 => Some(I32),
        _ => None,
    }
}
