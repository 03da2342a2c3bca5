//! What the emitter knows of the stack slots and the array lengths of a function, for the passes.
//!
//! # How it works
//! The translator uses the memory of a temporary again as soon as no value can lie there. In
//! optimised code each use is a slot of its own until the passes have run ([`FrameNotes::shares`]): a
//! use whose address is given away does not keep the others in memory. Then the slots that are left
//! take the memory of the slot that they share ([`FrameNotes::share`]).
//!
//! ```text
//! IL                 F(new P(1)); var p = new P(2); G(p.X)
//! memory             t0                t0                       one temporary of 8 bytes
//! slots              ss1 shares t0     ss2 shares t0
//! after the pass     ss1 is in t0, because F gets its address; ss2 is a value
//! ```
//!
//! # Invariants
//! * A slot that is read or written by anything but the loads and stores of the function is *kept*,
//!   or its address is an operand of something else than an address computation. Kept are slots that
//!   are read through the frame pointer, `pinned` locals, which must be in memory for the collector
//!   whenever the thread can be stopped, and slots that hide a value from Cranelift.
//! * Of a slot whose references are not known every word may be one.
use crate::blob::ColdResult;
use cranelift_codegen::ir::{
    Block, ExternalName, Function, Inst, InstructionData, StackSlot, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// An object that the function takes from the TLAB (`translate/fast_paths/alloc.rs`).
#[derive(Clone)]
pub struct Allocation {
    /// The first instruction of the sequence. A branch to the slow path ends it and its block.
    pub start: Inst,
    /// The reference: the only parameter of the block where the fast and the slow path meet.
    pub object: Value,
    /// The address of the VTable.
    pub vtable: Value,
    /// Its bytes, header and padding included.
    pub size: u32,
    /// The 8-byte words of it that hold references; the header is word 0.
    pub references: Vec<u32>,
    /// The same number for the same class.
    pub class: usize,
}

/// When a call is rare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rarely {
    /// It is, wherever its block lies.
    Always,
    /// If its block is cold.
    InColdBlocks,
}

/// A call that may go through a stub which preserves all registers ([`crate::stubs::cold_call`]).
#[derive(Clone, Debug)]
pub struct ColdCall {
    /// A `call_indirect`.
    pub call: Inst,
    /// When it is to go through the stub.
    pub rarely: Rarely,
    /// What the stub is to give back.
    pub result: ColdResult,
    /// The stub.
    pub stub: ExternalName,
}

/// See the module.
///
/// Empty notes allow nothing: stubs, whose emitters say nothing, are compiled as they are.
#[derive(Default)]
pub struct FrameNotes {
    promote: bool,
    kept: FxHashSet<StackSlot>,
    /// The 8-byte words that hold references.
    references: FxHashMap<StackSlot, Vec<u32>>,
    /// A slot, and the one whose memory it takes.
    shared: Vec<(StackSlot, StackSlot)>,
    /// Blocks that call where another way round may need no call.
    slow_paths: Vec<Block>,
    cold_calls: Vec<ColdCall>,
    /// Lengths of arrays, as they were loaded.
    lengths: Vec<Value>,
    is_length: FxHashSet<Value>,
    allocations: Vec<Allocation>,
    /// The external names of VTables of objects that are allocated no longer.
    needed: Vec<u32>,
    /// The stores that mark cards.
    marks: Vec<Inst>,
}

impl FrameNotes {
    /// Says that slots may become values. Without this all stay in memory, as they must where a
    /// filter reads them through the frame pointer.
    pub fn allow(&mut self) {
        self.promote = true;
    }
    /// Says that this slot must stay in memory.
    pub fn keep(&mut self, slot: StackSlot) {
        self.kept.insert(slot);
    }
    /// Says which words of the slot hold references; no other does. A word without a reference may be
    /// cut into pieces, and may travel through a vector register.
    pub fn holds(&mut self, slot: StackSlot, references: &[u32]) {
        self.references.insert(slot, references.to_vec());
    }
    /// Says that `slot` is never in use at the same time as another slot that shares `memory`.
    pub fn shares(&mut self, slot: StackSlot, memory: StackSlot) {
        self.shared.push((slot, memory));
    }

    /// Says that a block calls something in a method of which the fast path, if it has one, calls
    /// nothing.
    pub fn slow_path(&mut self, block: Block) {
        self.slow_paths.push(block);
    }
    /// The blocks of which that was said.
    pub fn slow_paths(&self) -> &[Block] {
        &self.slow_paths
    }

    /// Says that a call may go through a stub.
    pub fn cold_call(&mut self, call: ColdCall) {
        self.cold_calls.push(call);
    }
    /// The calls of which that was said.
    pub fn cold_calls(&self) -> &[ColdCall] {
        &self.cold_calls
    }

    /// Says that the value is the length of an array, which a load has given. The load's address is
    /// the reference to the array; no other value may be noted, not even one that is equal.
    pub fn length(&mut self, length: Value) {
        self.lengths.push(length);
        self.is_length.insert(length);
    }

    /// The lengths of arrays, in the order in which they were loaded.
    pub fn lengths(&self) -> &[Value] {
        &self.lengths
    }
    /// Whether the value is the length of an array.
    pub fn is_length(&self, value: Value) -> bool {
        self.is_length.contains(&value)
    }
    /// Says that the function allocates an object.
    pub fn allocation(&mut self, allocation: Allocation) {
        self.allocations.push(allocation);
    }
    /// The allocations that are left, in the order in which they were emitted.
    pub fn allocations(&self) -> &[Allocation] {
        &self.allocations
    }
    /// Forgets the allocations of which `keep` says no.
    pub fn retain_allocations(&mut self, keep: impl FnMut(&Allocation) -> bool) {
        self.allocations.retain(keep);
    }

    /// Says that the external name of that index must have a meaning where the code is linked: a
    /// class of which an instance would have been allocated must be one that can be loaded.
    pub fn need(&mut self, name: u32) {
        self.needed.push(name);
    }
    /// The names of which that was said.
    pub fn needed(&self) -> &[u32] {
        &self.needed
    }

    /// Says that an instruction marks the card of an address, which is computed in front of it and
    /// for it alone.
    pub fn mark(&mut self, inst: Inst) {
        self.marks.push(inst);
    }
    /// The instructions of which that was said.
    pub fn marks(&self) -> &[Inst] {
        &self.marks
    }
    /// Whether any slot may become values.
    pub fn promote(&self) -> bool {
        self.promote
    }
    /// Whether the slot must stay in memory.
    pub fn is_kept(&self, slot: StackSlot) -> bool {
        self.kept.contains(&slot)
    }
    /// Whether the word can hold no reference.
    pub fn is_plain(&self, slot: StackSlot, word: u32) -> bool {
        self.references
            .get(&slot)
            .is_some_and(|words| !words.contains(&word))
    }

    /// Puts the slots that share memory into that memory.
    pub fn share(&self, func: &mut Function) {
        if self.shared.is_empty() {
            return;
        }
        let memory: FxHashMap<StackSlot, StackSlot> = self.shared.iter().copied().collect();
        let mut used: FxHashSet<StackSlot> = FxHashSet::default();
        let mut blocks = func.layout.entry_block();
        while let Some(block) = blocks {
            let mut insts = func.layout.first_inst(block);
            while let Some(inst) = insts {
                if let InstructionData::StackAddr { stack_slot, .. } = &mut func.dfg.insts[inst]
                    && let Some(shared) = memory.get(stack_slot)
                {
                    *stack_slot = *shared;
                    used.insert(*shared);
                }
                insts = func.layout.next_inst(inst);
            }
            blocks = func.layout.next_block(block);
        }
        for (slot, shared) in &self.shared {
            func.sized_stack_slots[*slot].size = 0;
            if !used.contains(shared) {
                func.sized_stack_slots[*shared].size = 0;
            }
        }
    }
}
