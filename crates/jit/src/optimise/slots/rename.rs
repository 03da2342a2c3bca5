//! The rewriting of a function whose slots become values.
//!
//! # How it works
//! A walk over the dominator tree knows the current value of every piece. A store gives its pieces
//! new values, cut out of what it stores; a load is replaced by the values of its pieces, put
//! together. Where a block has a parameter for a piece, every edge into it passes the piece's value.
//!
//! ```text
//! load.i64 of two pieces     uextend p0 | uextend p1 << 32
//! store.i64 over two         p0 = ireduce v;  p1 = ireduce (v >> 32)
//! float piece, integer use   bitcast
//! lane of a vector            extractlane, insertlane
//! load of a cut vector       its two words, put together like the above, in the lanes of an i64x2
//! store over a cut vector    the words are the lanes
//! ```
//!
//! A load that only copies to another slot is not put together: the store takes the pieces. What was
//! cut out of a value and is put together in the same order again is that value.
//!
//! # Invariants
//! * The memory outside the slots is read and written by the same instructions as before, in the same
//!   order and with the same widths.
//! * Cranelift may add the constants of two sums, which leaves a sum that lies outside the object
//!   ([`hide_sums`]); an address that comes out of a piece is hidden from that, as the translator
//!   does where it sees both sums.
use super::addresses::{Access, Addresses, MARK, Uses, constant, is_vector, is_zero_vector};
use super::flow::Flow;
use super::pieces::{Pieces, integer};
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::dominator_tree::DominatorTree;
use cranelift_codegen::flowgraph::ControlFlowGraph;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block, BlockArg, Endianness, Function, Inst, InstBuilder, InstructionData, MemFlagsData,
    Opcode, StackSlot, StackSlotData, StackSlotKind, Type, Value, ValueDef,
    types::{F32, F64, I8, I32, I64, I64X2},
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Values of pieces, in the order of their offsets, each with the first byte in the whole.
type Parts = SmallVec<[(u8, Value); 4]>;

/// The state of the walk.
struct Renamer<'a> {
    pos: FuncCursor<'a>,
    uses: &'a Uses,
    pieces: &'a Pieces,
    flow: &'a Flow,
    /// By piece: its value here.
    current: Vec<Option<Value>>,
    /// What `current` was before, for the way back up the tree.
    undo: Vec<(u32, Option<Value>)>,
    /// By value that a load gave: the pieces it was put together of, or would be.
    parts: FxHashMap<Value, Parts>,
    /// By value of a piece: what it was cut out of, and at which byte.
    origin: FxHashMap<Value, (Value, u8)>,
    /// By type: its zero.
    zeros: SmallVec<[(Type, Value); 4]>,
    /// Sums of 64 bits that replaced loads.
    sums: Vec<Value>,
}

/// Rewrites the function: first the walk, then what needs all values to be known, the stores that
/// copy to other memory and the sums that must be hidden. Computations of addresses go last, when
/// nothing uses them: card marks, then tests for null, then sums. True if an edge went.
pub fn rename(
    func: &mut Function,
    cfg: &ControlFlowGraph,
    domtree: &DominatorTree,
    addresses: &Addresses,
    uses: &Uses,
    pieces: &Pieces,
    flow: &Flow,
) -> bool {
    remove_passed_addresses(func, cfg, addresses, pieces);
    let entry = func.layout.entry_block().expect("a function has a block");
    let mut renamer = Renamer {
        pos: FuncCursor::new(func),
        uses,
        pieces,
        flow,
        current: vec![None; pieces.all.len()],
        undo: Vec::new(),
        parts: FxHashMap::default(),
        origin: FxHashMap::default(),
        zeros: SmallVec::new(),
        sums: Vec::new(),
    };
    // A block, and how long `undo` was before it; None: the block is done, and so is all it dominates.
    let mut work: Vec<(Option<Block>, usize)> = vec![(Some(entry), 0)];
    while let Some((block, length)) = work.pop() {
        let Some(block) = block else {
            while renamer.undo.len() > length {
                let (piece, before) = renamer.undo.pop().expect("longer");
                renamer.current[piece as usize] = before;
            }
            continue;
        };
        work.push((None, renamer.undo.len()));
        renamer.block(block);
        work.extend(domtree.children(block).map(|child| (Some(child), 0)));
    }
    let (parts, sums) = (renamer.parts, renamer.sums);
    for inst in &uses.copied {
        if func.layout.inst_block(*inst).is_some() {
            store_pieces(func, *inst, &parts);
        }
    }
    let edges = remove_marks_and_tests(func, uses, pieces);
    for (inst, slot) in &uses.computed {
        if pieces.promotes(*slot) {
            func.layout.remove_inst(*inst);
        }
    }
    let slots: SmallVec<[StackSlot; 16]> = func.sized_stack_slots.keys().collect();
    for slot in slots {
        if pieces.promotes(slot) {
            func.sized_stack_slots[slot].size = 0;
        }
    }
    hide_sums(func, &sums);
    edges
}

/// Removes the marks of cards of slots that have become values, and decides what asked whether their
/// address is null. True if an edge went.
fn remove_marks_and_tests(func: &mut Function, uses: &Uses, pieces: &Pieces) -> bool {
    for (slot, insts) in &uses.marks {
        if pieces.promotes(*slot) {
            // What keeps the store and the mark together stands behind them.
            let behind = func.layout.next_inst(insts[MARK - 1]);
            let point = behind.filter(|i| func.dfg.insts[*i].opcode() == Opcode::SequencePoint);
            for inst in insts.iter().copied().chain(point) {
                func.layout.remove_inst(inst);
            }
        }
    }
    let mut edges = false;
    for (inst, slot) in &uses.tests {
        if !pieces.promotes(*slot) {
            continue;
        }
        match func.dfg.insts[*inst] {
            InstructionData::Brif { blocks, .. } => {
                let to = blocks[0].block(&func.dfg.value_lists);
                let args: SmallVec<[BlockArg; 4]> = blocks[0].args(&func.dfg.value_lists).collect();
                func.replace(*inst).jump(to, &args);
                edges = true;
            }
            InstructionData::IntCompare { cond, .. } => {
                let differs = i64::from(cond == IntCC::NotEqual);
                func.replace(*inst).iconst(I8, differs);
            }
            _ => func.layout.remove_inst(*inst),
        }
    }
    edges
}

/// Removes the block parameters that are addresses of slots which become values, and what is passed
/// for them: the slot has no address any more. From the last parameter to the first, so that the
/// numbers of the others stay.
fn remove_passed_addresses(
    func: &mut Function,
    cfg: &ControlFlowGraph,
    addresses: &Addresses,
    pieces: &Pieces,
) {
    let blocks: Vec<Block> = func.layout.blocks().collect();
    for block in blocks {
        for n in (0..func.dfg.num_block_params(block)).rev() {
            let param = func.dfg.block_params(block)[n];
            let Some((slot, _)) = addresses.of(param) else {
                continue;
            };
            if !pieces.promotes(slot) {
                continue;
            }
            func.dfg.remove_block_param(param);
            for pred in cfg.pred_iter(block) {
                let dfg = &mut func.dfg;
                let tables = (&mut dfg.jump_tables, &mut dfg.exception_tables);
                for call in dfg.insts[pred.inst].branch_destination_mut(tables.0, tables.1) {
                    if call.block(&dfg.value_lists) == block {
                        call.remove(n, &mut dfg.value_lists);
                    }
                }
            }
        }
    }
}

/// A store of a load of one float piece stores the float. The load was put together as an integer of
/// the same width, which is needed no more:
///
/// ```text
/// v1 = bitcast.i64 piece
/// store v1, v0+8               ->  store piece, v0+8
/// ```
fn store_pieces(func: &mut Function, store: Inst, parts: &FxHashMap<Value, Parts>) {
    let InstructionData::Store {
        args: [value, _], ..
    } = func.dfg.insts[store]
    else {
        return;
    };
    if let Some(parts) = parts.get(&value)
        && let [(_, piece)] = parts[..]
    {
        let wide = func.dfg.value_type(value);
        if func.dfg.value_type(piece).bytes() == wide.bytes() {
            func.dfg.inst_args_mut(store)[0] = piece;
        }
    }
}

/// Whether the value is a sum or difference with a constant.
fn has_constant_part(func: &Function, value: Value) -> bool {
    let ValueDef::Result(inst, _) = func.dfg.value_def(func.dfg.resolve_aliases(value)) else {
        return false;
    };
    matches!(
        func.dfg.insts[inst],
        InstructionData::Binary { opcode: Opcode::Iadd | Opcode::Isub, args }
            if args.iter().any(|a| constant(func, func.dfg.resolve_aliases(*a)).is_some())
    )
}

/// Hides what a sum that replaced a load was made of, where it is added to another sum with a
/// constant: Cranelift turns `(r + k) + (i + l)` into `(r + i) + (k + l)`, and then `r + i` may be
/// all that is left of a reference while the thread is stopped.
fn hide_sums(func: &mut Function, sums: &[Value]) {
    if sums.is_empty() {
        return;
    }
    let sums: SmallVec<[Value; 8]> = sums.iter().map(|v| func.dfg.resolve_aliases(*v)).collect();
    let mut found: Vec<(Inst, usize)> = Vec::new();
    for block in func.layout.blocks() {
        for inst in func.layout.block_insts(block) {
            let InstructionData::Binary {
                opcode: Opcode::Iadd | Opcode::Isub,
                args,
            } = func.dfg.insts[inst]
            else {
                continue;
            };
            let at = args
                .iter()
                .position(|a| sums.contains(&func.dfg.resolve_aliases(*a)));
            if let Some(at) = at
                && has_constant_part(func, args[0])
                && has_constant_part(func, args[1])
            {
                found.push((inst, at));
            }
        }
    }
    if found.is_empty() {
        return;
    }
    let data = StackSlotData::new(StackSlotKind::ExplicitSlot, 8, 3);
    let slot = func.create_sized_stack_slot(data);
    for (inst, at) in found {
        let sum = func.dfg.inst_args(inst)[at];
        let mut pos = FuncCursor::new(func).at_inst(inst);
        pos.use_srcloc(inst);
        pos.ins().stack_store(I64, sum, slot, 0);
        pos.ins().sequence_point();
        let hidden = pos.ins().stack_load(I64, I64, slot, 0);
        pos.func.dfg.inst_args_mut(inst)[at] = hidden;
    }
}

impl Renamer<'_> {
    /// Gives a piece a new value.
    fn set(&mut self, piece: usize, value: Value) {
        self.undo.push((piece as u32, self.current[piece]));
        self.current[piece] = Some(value);
    }
    /// The value of a piece here.
    fn get(&mut self, piece: usize) -> Value {
        match self.current[piece] {
            Some(value) => value,
            None => self.zero(self.pieces.all[piece].ty),
        }
    }
    /// The zero of a type, made at the start of the function, where it dominates every use. It stands
    /// for what is read before it is written: memory that IL left uninitialised has no defined
    /// content, and zero is a valid reference.
    fn zero(&mut self, ty: Type) -> Value {
        if let Some((_, zero)) = self.zeros.iter().find(|z| z.0 == ty) {
            return *zero;
        }
        let (position, location) = (self.pos.position(), self.pos.srcloc());
        let entry = self
            .pos
            .layout()
            .entry_block()
            .expect("a function has a block");
        self.pos.goto_first_insertion_point(entry);
        let first = self.pos.current_inst().expect("a block has an instruction");
        self.pos.use_srcloc(first);
        let zero = match ty {
            F32 => self.pos.ins().f32const(0.0),
            F64 => self.pos.ins().f64const(0.0),
            ty if is_vector(ty) => {
                let zeros = self.pos.func.dfg.constants.insert([0; 16][..].into());
                self.pos.ins().vconst(ty, zeros)
            }
            ty => self.pos.ins().iconst(ty, 0),
        };
        self.pos.set_position(position);
        self.pos.set_srcloc(location);
        self.zeros.push((ty, zero));
        zero
    }

    /// Rewrites a block.
    fn block(&mut self, block: Block) {
        let (uses, flow) = (self.uses, self.flow);
        for piece in &flow.params[block] {
            let ty = self.pieces.all[*piece as usize].ty;
            let param = self.pos.func.dfg.append_block_param(block, ty);
            self.set(*piece as usize, param);
        }
        let n = flow.position[block] as usize;
        let first = n.checked_sub(1).map_or(0, |n| uses.ends[n] as usize);
        for (at, access) in uses.accesses[first..uses.ends[n] as usize]
            .iter()
            .enumerate()
        {
            if self.pieces.promotes(access.slot) {
                self.pos.goto_inst(access.inst);
                self.pos.use_srcloc(access.inst);
                match access.stored {
                    None => self.load(first + at, access),
                    Some(value) => self.store(access, value),
                }
                self.pos.func.layout.remove_inst(access.inst);
            }
        }
        self.pass(block);
    }

    /// Passes the values of pieces to the blocks behind this one. A branch may name a block twice;
    /// each of its edges passes the values.
    fn pass(&mut self, block: Block) {
        let end = self.pos.func.layout.last_inst(block).expect("a terminator");
        let dfg = &self.pos.func.dfg;
        let calls = dfg.insts[end].branch_destination(&dfg.jump_tables, &dfg.exception_tables);
        let to: SmallVec<[Block; 4]> = calls.iter().map(|c| c.block(&dfg.value_lists)).collect();
        for (n, to) in to.into_iter().enumerate() {
            for piece in &self.flow.params[to] {
                let value = self.get(*piece as usize);
                let dfg = &mut self.pos.func.dfg;
                let tables = (&mut dfg.jump_tables, &mut dfg.exception_tables);
                let calls = dfg.insts[end].branch_destination_mut(tables.0, tables.1);
                calls[n].append_argument(BlockArg::Value(value), &mut dfg.value_lists);
            }
        }
    }

    /// Replaces a load: its result becomes another name of the value. The load itself goes, and what
    /// a narrow load does to the bytes stays, as `sextend` or `uextend`.
    fn load(&mut self, at: usize, access: &Access) {
        if self.pieces.is_lane(access) {
            let lane = self.lane(access);
            return self.replace_load(access, lane);
        }
        let result = self.pos.func.dfg.first_result(access.inst);
        let parts: Parts = self
            .pieces
            .covered(access)
            .map(|n| (self.pieces.all[n].offset - access.offset, self.get(n)))
            .collect();
        if !self.pieces.only_copies(at, self.uses) {
            let whole = self.whole(&parts, access.ty);
            self.replace_load(access, whole);
        }
        self.parts.insert(result, parts);
    }
    /// Makes the result of a load another name of what was loaded.
    fn replace_load(&mut self, access: &Access, whole: Value) {
        let dfg = &self.pos.func.dfg;
        let result = dfg.first_result(access.inst);
        let (opcode, ty) = (dfg.insts[access.inst].opcode(), dfg.value_type(result));
        let value = match opcode {
            Opcode::Load => whole,
            Opcode::Sload8 | Opcode::Sload16 | Opcode::Sload32 => self.pos.ins().sextend(ty, whole),
            _ => self.pos.ins().uextend(ty, whole),
        };
        if ty == I64 && has_constant_part(self.pos.func, value) {
            self.sums.push(value);
        }
        let dfg = &mut self.pos.func.dfg;
        dfg.clear_results(access.inst);
        dfg.change_to_alias(result, value);
    }

    /// The vector that an access covers a lane of: its piece, and as lanes of that type; the number
    /// of the lane.
    fn lanes(&mut self, access: &Access) -> (usize, Value, u8) {
        let n = self.pieces.covered(access).start;
        let lane = (access.offset - self.pieces.all[n].offset) / access.width;
        let ty = access.ty.by(16 / u32::from(access.width));
        let vector = self.get(n);
        let vector = self.cast(vector, ty.expect("a vector of 16 bytes"));
        (n, vector, lane)
    }
    /// The lane that an access loads.
    fn lane(&mut self, access: &Access) -> Value {
        let (_, vector, lane) = self.lanes(access);
        self.pos.ins().extractlane(vector, lane)
    }
    /// Puts a lane into its vector. A store of a float to byte 4 of a piece with the value v0:
    ///
    /// ```text
    /// v1 = bitcast.f32x4 v0
    /// v2 = insertlane v1, float, 1;  v3 = bitcast.i8x16 v2
    /// ```
    fn store_lane(&mut self, access: &Access, value: Value) {
        let is_whole = self.pos.func.dfg.insts[access.inst].opcode() == Opcode::Store;
        let value = match is_whole {
            true => value,
            false => self.pos.ins().ireduce(access.ty, value),
        };
        let (n, vector, lane) = self.lanes(access);
        let vector = self.pos.ins().insertlane(vector, value, lane);
        let vector = self.cast(vector, self.pieces.all[n].ty);
        self.set(n, vector);
    }

    /// Puts parts together to a value of a type. An `int?` with the value in `p0` and its flag in `p1`:
    ///
    /// ```text
    /// v1 = uextend.i64 p0
    /// v2 = ishl (uextend.i64 p1), 32
    /// v3 = bor v1, v2
    /// ```
    fn whole(&mut self, parts: &Parts, ty: Type) -> Value {
        if let [(0, part)] = parts[..] {
            return self.cast(part, ty);
        }
        if is_vector(ty) {
            return self.whole_vector(parts, ty);
        }
        let bits = integer(ty.bytes() as u8);
        if let Some((origin, 0)) = self.origin.get(&parts[0].1)
            && self.pos.func.dfg.value_type(*origin) == bits
            && parts
                .iter()
                .all(|(at, part)| self.origin.get(part) == Some(&(*origin, *at)))
        {
            return self.cast(*origin, ty);
        }
        let mut whole = None;
        for (at, part) in parts {
            let size = self.pos.func.dfg.value_type(*part).bytes();
            let part = self.cast(*part, integer(size as u8));
            let mut part = match size == bits.bytes() {
                true => part,
                false => self.pos.ins().uextend(bits, part),
            };
            if *at > 0 {
                let by = self.pos.ins().iconst(I32, 8 * i64::from(*at));
                part = self.pos.ins().ishl(part, by);
            }
            whole = Some(match whole {
                Some(whole) => self.pos.ins().bor(whole, part),
                None => part,
            });
        }
        self.cast(whole.expect("an access covers a piece"), ty)
    }

    /// Puts the pieces of a vector together: none crosses its middle.
    ///
    /// ```text
    /// v1 = scalar_to_vector.i64x2 (the pieces of the lower word)
    /// v2 = insertlane v1, (those of the upper word), 1
    /// ```
    fn whole_vector(&mut self, parts: &Parts, ty: Type) -> Value {
        let middle = parts.partition_point(|(at, _)| *at < 8);
        let low: Parts = parts[..middle].into();
        let high: Parts = parts[middle..].iter().map(|(at, p)| (at - 8, *p)).collect();
        let (low, high) = (self.whole(&low, I64), self.whole(&high, I64));
        let vector = self.pos.ins().scalar_to_vector(I64X2, low);
        let vector = self.pos.ins().insertlane(vector, high, 1);
        self.cast(vector, ty)
    }
    /// Gives the pieces that a vector covers, which is cut, their values.
    fn store_vector(&mut self, covered: std::ops::Range<usize>, access: &Access, value: Value) {
        if is_zero_vector(self.pos.func, value) {
            for n in covered {
                let zero = self.zero(self.pieces.all[n].ty);
                self.set(n, zero);
            }
            return;
        }
        let lanes = self.cast(value, I64X2);
        let middle = access.offset + 8;
        let first_high =
            covered.start + self.pieces.all[covered.clone()].partition_point(|p| p.offset < middle);
        for (lane, pieces) in [(0, covered.start..first_high), (1, first_high..covered.end)] {
            let word = self.pos.ins().extractlane(lanes, lane);
            self.store_parts(pieces, access.offset + 8 * lane, 8, word);
        }
    }

    /// The bits of a value as a type of the same width.
    fn cast(&mut self, value: Value, ty: Type) -> Value {
        if self.pos.func.dfg.value_type(value) == ty {
            return value;
        }
        if is_vector(ty) {
            return self.cast_vector(value, ty);
        }
        match (constant(self.pos.func, value), ty) {
            (Some(0), F32 | F64) => self.zero(ty),
            _ => self.pos.ins().bitcast(ty, MemFlagsData::new(), value),
        }
    }

    /// The same for vectors. What is a cast itself is not cast again: Cranelift knows what a mask is
    /// behind one.
    fn cast_vector(&mut self, value: Value, ty: Type) -> Value {
        let dfg = &self.pos.func.dfg;
        let value = match dfg.value_def(value) {
            ValueDef::Result(inst, _) => match dfg.insts[inst] {
                InstructionData::LoadNoOffset {
                    opcode: Opcode::Bitcast,
                    arg,
                    ..
                } if is_vector(dfg.value_type(arg)) => arg,
                _ => value,
            },
            _ => value,
        };
        if dfg.value_type(value) == ty {
            return value;
        }
        let flags = MemFlagsData::new().with_endianness(Endianness::Little);
        self.pos.ins().bitcast(ty, flags, value)
    }

    /// Replaces a store: from here on its pieces have other values. Three cases, the most frequent
    /// first: the value is a copy and brings pieces of the same sizes; the store covers one piece; it
    /// covers several, which are cut out of the value.
    fn store(&mut self, access: &Access, value: Value) {
        if self.pieces.is_lane(access) {
            return self.store_lane(access, value);
        }
        let covered = self.pieces.covered(access);
        let is_whole = self.pos.func.dfg.insts[access.inst].opcode() == Opcode::Store;
        // A copy hands the pieces on.
        if let Some(parts) = self.parts.get(&value).filter(|_| is_whole) {
            let parts = parts.clone();
            let same = covered.clone().map(|n| {
                let piece = &self.pieces.all[n];
                (piece.offset - access.offset, u32::from(piece.size))
            });
            let sizes = parts
                .iter()
                .map(|(at, v)| (*at, self.pos.func.dfg.value_type(*v).bytes()));
            if same.eq(sizes) {
                for (n, (_, part)) in covered.zip(parts) {
                    let part = self.cast(part, self.pieces.all[n].ty);
                    self.set(n, part);
                }
                return;
            }
        }
        if let [n] = covered.clone().collect::<SmallVec<[usize; 8]>>()[..] {
            let value = match is_whole {
                true => self.retyped(value, self.pieces.all[n].ty),
                false => self.pos.ins().ireduce(access.ty, value),
            };
            let value = self.cast(value, self.pieces.all[n].ty);
            self.set(n, value);
            return;
        }
        if is_vector(access.ty) {
            return self.store_vector(covered, access, value);
        }
        let bits = integer(access.width);
        let value = match is_whole {
            true => self.cast(value, bits),
            false => self.pos.ins().ireduce(bits, value),
        };
        self.store_parts(covered, access.offset, access.width, value);
    }

    /// Gives pieces, of which the first byte of a value lies at `offset` and which it covers with
    /// `width` bytes, their parts of the value.
    fn store_parts(
        &mut self,
        covered: std::ops::Range<usize>,
        offset: u8,
        width: u8,
        value: Value,
    ) {
        for n in covered {
            let piece = self.pieces.all[n];
            let at = piece.offset - offset;
            let mut part = value;
            if at > 0 {
                let by = self.pos.ins().iconst(I32, 8 * i64::from(at));
                part = self.pos.ins().ushr(part, by);
            }
            if piece.size < width {
                part = self.pos.ins().ireduce(integer(piece.size), part);
            }
            let part = self.cast(part, piece.ty);
            self.origin.insert(part, (value, at));
            self.set(n, part);
        }
    }

    /// The value as a type of the same width: if it is a load that only this store uses, the load
    /// gives that type.
    fn retyped(&mut self, value: Value, ty: Type) -> Value {
        let dfg = &self.pos.func.dfg;
        let ValueDef::Result(inst, _) = dfg.value_def(value) else {
            return value;
        };
        let InstructionData::Load {
            opcode: Opcode::Load,
            arg,
            flags,
            offset,
        } = dfg.insts[inst]
        else {
            return value;
        };
        let is_single = self.uses.stores[value] == 1 && !self.uses.used.contains(value);
        if !is_single
            || dfg.value_type(value) == ty
            || dfg.first_result(inst) != value
            || self.pos.func.layout.inst_block(inst).is_none()
        {
            return value;
        }
        let flags = dfg.mem_flags[flags];
        self.pos.func.dfg.clear_results(inst);
        self.pos.func.replace(inst).load(ty, flags, arg, offset)
    }
}
