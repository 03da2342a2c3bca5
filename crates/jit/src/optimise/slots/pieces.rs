//! The pieces of a slot: ranges of bytes that every access covers whole or not at all. Each becomes a
//! value of its own.
//!
//! # How it works
//! A mask says for every byte of a slot whether a piece starts there. An access starts one and ends one:
//!
//! ```text
//! struct { int a; byte b; }     load.i32 +0, load.i8 +4, and copies by load.i64 +0
//!     starts                    0, 4, 5, and 8 is the end
//!     pieces                    0..4 a    4..5 b    5..7 and 7..8 padding
//! ```
//!
//! Copies are loads whose value is stored to another slot. They are cut alike on both sides, so that
//! a copy hands pieces on and puts nothing together ([`Pieces::find`]).
//!
//! A piece of 16 bytes is a vector. Accesses of its lanes do not cut it: they take a lane out of it,
//! or put one in ([`Vectors`]). Where a vector's bytes are accessed otherwise, it is cut in the
//! middle, too, so that it can be put together of two words.
//!
//! A piece of 4 or 8 bytes may be a float. A copy by integers says nothing about the type:
//! [`Pieces::types`] asks the other accesses of all pieces that a copy connects.
//!
//! # Invariants
//! * An aligned 8-byte word that may be a reference is one piece of type I64, or all that is stored
//!   to it are constants. Otherwise the slot stays in memory. So a reference never exists in halves
//!   or in a vector register alone, where the collector would not find it.
//! * Pieces have 1, 2, 4, 8 or 16 bytes. A vector is one piece, or none of its pieces crosses its
//!   middle.
use super::addresses::{Access, MAX_SLOT, Uses, bytes, constant, is_load, is_zero_vector};
use crate::optimise::FrameNotes;
use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::{
    Function, Opcode, StackSlot, Type, Value,
    types::{F32, F64, I8, I8X16, I16, I32, I64},
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// More pieces than this are not made in one function. It bounds the sets of live pieces; slots that
/// come later stay in memory, which is as right as it was.
const MAX_PIECES: usize = 1024;

/// A piece of a slot.
#[derive(Clone, Copy)]
pub struct Piece {
    /// The slot.
    pub slot: StackSlot,
    /// The first byte.
    pub offset: u8,
    /// How many bytes: 1, 2, 4, 8 or 16.
    pub size: u8,
    /// Its type.
    pub ty: Type,
}

/// The pieces of all slots that become values.
pub struct Pieces {
    /// By number.
    pub all: Vec<Piece>,
    /// By slot: the numbers of its pieces, in the order of their offsets. Empty: the slot stays in
    /// memory.
    of: SecondaryMap<StackSlot, std::ops::Range<u32>>,
    /// By access that stores what a load of a slot gave: that load's place in the accesses.
    sources: FxHashMap<usize, usize>,
    /// By access that loads a value which nothing but stores to slots uses: those stores.
    copies: FxHashMap<usize, SmallVec<[usize; 2]>>,
}

/// A copy from slot to slot: the accesses' places in [`Uses::accesses`].
type Copy = (usize, usize);

impl Pieces {
    /// Cuts the slots that can become values: those that have not escaped, are not kept, and hide no
    /// reference when they are cut.
    pub fn find(func: &Function, uses: &Uses, notes: &FrameNotes) -> Pieces {
        let mut is_candidate: SecondaryMap<StackSlot, bool> = SecondaryMap::new();
        for slot in func.sized_stack_slots.keys() {
            is_candidate[slot] = !uses.escaped[slot]
                && !notes.is_kept(slot)
                && func.sized_stack_slots[slot].size <= MAX_SLOT;
        }
        let mut copies = copies(func, uses, &is_candidate);
        let vectors = Vectors::find(func, uses, &copies);
        let is_lane = |access: usize| vectors.has_lane(&uses.accesses[access]);
        copies.retain(|(from, to)| !is_lane(*from) && !is_lane(*to));
        let mut starts: SecondaryMap<StackSlot, u128> = SecondaryMap::new();
        let mut covered: SecondaryMap<StackSlot, u128> = SecondaryMap::new();
        for access in &uses.accesses {
            covered[access.slot] |= access.mask();
            if !vectors.has_lane(access) {
                let end = u32::from(access.offset + access.width);
                starts[access.slot] |= 1 << access.offset | 1u128.checked_shl(end).unwrap_or(0);
            }
        }
        unify(uses, &copies, &mut starts);
        for access in &uses.accesses {
            if is_candidate[access.slot] && hides_reference(func, access, &starts, notes) {
                is_candidate[access.slot] = false;
            }
        }
        let mut pieces = Pieces {
            all: Vec::new(),
            of: SecondaryMap::new(),
            sources: copies.iter().map(|(from, to)| (*to, *from)).collect(),
            copies: FxHashMap::default(),
        };
        pieces.find_copies(func, uses, &copies);
        for slot in func.sized_stack_slots.keys() {
            if is_candidate[slot] && pieces.all.len() < MAX_PIECES {
                pieces.cut(slot, starts[slot], covered[slot]);
            }
        }
        pieces.types(func, uses, &copies, notes);
        pieces
    }

    /// Whether the slot becomes values.
    pub fn promotes(&self, slot: StackSlot) -> bool {
        !self.of[slot].is_empty()
    }
    /// Leaves a slot in memory.
    pub fn give_up(&mut self, slot: StackSlot) {
        self.of[slot] = 0..0;
    }
    /// Whether an access is one of a lane of a piece, not of the whole.
    pub fn is_lane(&self, access: &Access) -> bool {
        let covered = self.covered(access);
        covered.len() == 1 && self.all[covered.start].size > access.width
    }
    /// The numbers of the pieces that an access covers. Of a lane: that of the piece it is in.
    pub fn covered(&self, access: &Access) -> std::ops::Range<usize> {
        let of = &self.of[access.slot];
        let (first, end) = (of.start as usize, of.end as usize);
        let pieces = &self.all[first..end];
        let from = pieces.partition_point(|p| p.offset + p.size <= access.offset);
        let to = pieces.partition_point(|p| p.offset < access.offset + access.width);
        first + from..first + to
    }

    /// The load of a slot that becomes values whose value an access stores, by their places.
    pub fn copied_from(&self, access: usize) -> Option<usize> {
        self.sources.get(&access).copied()
    }
    /// Whether nothing but stores to slots that become values uses what an access loads. Such a load
    /// makes no value.
    pub fn only_copies(&self, access: usize, uses: &Uses) -> bool {
        let stores = self.copies.get(&access);
        stores.is_some_and(|to| to.iter().all(|to| self.promotes(uses.accesses[*to].slot)))
    }

    /// Finds the loads whose value nothing but stores to slots uses.
    fn find_copies(&mut self, func: &Function, uses: &Uses, copies: &[Copy]) {
        for (from, to) in copies {
            let value = func.dfg.first_result(uses.accesses[*from].inst);
            if !uses.used.contains(value) {
                self.copies.entry(*from).or_default().push(*to);
            }
        }
        // It may be stored elsewhere, too.
        self.copies.retain(|from, to| {
            let value = func.dfg.first_result(uses.accesses[*from].inst);
            to.len() == usize::from(uses.stores[value]) && to.len() < usize::from(u8::MAX)
        });
    }

    /// Makes the pieces of a slot. Between two starts there may be a number of bytes that is no power
    /// of two, as the padding behind a bool: it becomes several pieces. Both sides of a copy are cut
    /// there in the same way, because a copy starts and ends a piece on both.
    fn cut(&mut self, slot: StackSlot, starts: u128, covered: u128) {
        let first = self.all.len() as u32;
        let mut at = 0;
        while at < MAX_SLOT as u8 {
            if covered >> at & 1 == 0 {
                at += 1;
                continue;
            }
            // Up to where another piece starts or nothing is accessed.
            let ends = (starts & !(1 << at) | !covered) >> at;
            let len = (ends.trailing_zeros() as u8).min(MAX_SLOT as u8 - at);
            let size = [16, 8, 4, 2, 1]
                .into_iter()
                .find(|s| *s <= len)
                .expect("1 byte");
            self.all.push(Piece {
                slot,
                offset: at,
                size,
                ty: integer(size),
            });
            at += size;
        }
        self.of[slot] = first..self.all.len() as u32;
    }

    /// Decides which pieces are floats: those of groups that are read or written as floats and never
    /// as integers.
    ///
    /// ```text
    /// double X;  loads and stores of f64, copies by i64        F64: a copy from memory loads an f64
    /// long Y;    loads and stores of i64                       I64
    /// a union    both                                          I64, and bitcasts
    /// ```
    ///
    /// A word that may be a reference counts as an integer.
    fn types(&mut self, func: &Function, uses: &Uses, copies: &[Copy], notes: &FrameNotes) {
        let mut groups: Vec<usize> = (0..self.all.len()).collect();
        for (from, to) in copies {
            let (from, to) = (&uses.accesses[*from], &uses.accesses[*to]);
            if self.promotes(from.slot) && self.promotes(to.slot) {
                for (a, b) in self.covered(from).zip(self.covered(to)) {
                    let (a, b) = (root(&mut groups, a), root(&mut groups, b));
                    groups[a.max(b)] = a.min(b);
                }
            }
        }
        // By group: a float access, and an integer one that is no copy.
        let mut votes = vec![(false, false); self.all.len()];
        for (n, piece) in self.all.iter().enumerate() {
            if !notes.is_plain(piece.slot, u32::from(piece.offset / 8)) {
                votes[root(&mut groups, n)].1 = true;
            }
        }
        for access in uses.accesses.iter().filter(|a| self.promotes(a.slot)) {
            let covered = self.covered(access);
            let [n] = covered.clone().collect::<SmallVec<[usize; 8]>>()[..] else {
                continue;
            };
            let vote = &mut votes[root(&mut groups, n)];
            match access.ty.is_float() {
                true => vote.0 = true,
                false => vote.1 |= !is_neutral(func, uses, access),
            }
        }
        for n in 0..self.all.len() {
            if votes[root(&mut groups, n)] == (true, false) {
                let piece = &mut self.all[n];
                piece.ty = match piece.size {
                    4 => F32,
                    8 => F64,
                    _ => piece.ty,
                };
            }
        }
    }
}

/// The places in slots that are accessed as vectors, and otherwise as their lanes only.
struct Vectors {
    /// By slot: a bit for each byte where a vector begins.
    starts: SecondaryMap<StackSlot, u128>,
}

impl Vectors {
    /// Finds them. A slot has none if any access covers a part of a vector that is no lane, and both
    /// sides of a copy have one or none.
    fn find(func: &Function, uses: &Uses, copies: &[Copy]) -> Vectors {
        let mut vectors = Vectors {
            starts: SecondaryMap::new(),
        };
        for access in uses.accesses.iter().filter(|a| a.width == 16) {
            // Zeros are stored without regard to what lies there.
            if !access.stored.is_some_and(|v| is_zero_vector(func, v)) {
                vectors.starts[access.slot] |= 1 << access.offset;
            }
        }
        for access in &uses.accesses {
            if !vectors.starts(access).all(|start| access.fits(start)) {
                vectors.starts[access.slot] = 0;
            }
        }
        let mut changed = true;
        while changed {
            changed = false;
            for (from, to) in copies {
                let (from, to) = (&uses.accesses[*from], &uses.accesses[*to]);
                let [a, b] = [from, to].map(|access| vectors.starts[access.slot] != 0);
                if from.width == 16 && a != b {
                    (vectors.starts[from.slot], vectors.starts[to.slot]) = (0, 0);
                    changed = true;
                }
            }
        }
        vectors
    }
    /// Where the vectors begin of which an access covers bytes.
    fn starts(&self, access: &Access) -> impl Iterator<Item = u8> {
        let (starts, mask) = (self.starts[access.slot], access.mask());
        (0..MAX_SLOT as u8).filter(move |n| starts >> n & 1 != 0 && bytes(*n, 16) & mask != 0)
    }
    /// Whether an access is one of a lane.
    fn has_lane(&self, access: &Access) -> bool {
        access.width < 16 && self.starts(access).next().is_some()
    }
}

/// The type that stands for the bits of that many bytes: an integer, or for 16 bytes a vector.
pub fn integer(size: u8) -> Type {
    match size {
        1 => I8,
        2 => I16,
        4 => I32,
        8 => I64,
        _ => I8X16,
    }
}

/// The representative of a group: its least piece. Paths are halved on the way, so that long chains
/// of copies take no time.
///
/// The groups are those of a union-find structure.
fn root(groups: &mut [usize], mut n: usize) -> usize {
    while groups[n] != n {
        groups[n] = groups[groups[n]];
        n = groups[n];
    }
    n
}

/// The copies between slots that may become values: the store has the whole width of the load.
fn copies(func: &Function, uses: &Uses, is_candidate: &SecondaryMap<StackSlot, bool>) -> Vec<Copy> {
    let mut loads: FxHashMap<Value, usize> = FxHashMap::default();
    for (n, access) in uses.accesses.iter().enumerate() {
        if access.stored.is_none() && is_candidate[access.slot] {
            loads.insert(func.dfg.first_result(access.inst), n);
        }
    }
    let mut copies = Vec::new();
    for (n, access) in uses.accesses.iter().enumerate() {
        if let Some(from) = access.stored.and_then(|value| loads.get(&value))
            && is_candidate[access.slot]
            && uses.accesses[*from].width == access.width
            && is_load(func, func.dfg.first_result(uses.accesses[*from].inst))
            && func.dfg.insts[access.inst].opcode() == Opcode::Store
        {
            copies.push((*from, n));
        }
    }
    copies
}

/// Cuts both sides of every copy alike, and vectors that are cut anywhere in the middle, too. A cut
/// may go on to further copies, so this repeats until nothing changes.
fn unify(uses: &Uses, copies: &[Copy], starts: &mut SecondaryMap<StackSlot, u128>) {
    let mut changed = true;
    while changed {
        changed = false;
        for (from, to) in copies {
            let (from, to) = (&uses.accesses[*from], &uses.accesses[*to]);
            let mask = bytes(0, from.width);
            let both = (starts[from.slot] >> from.offset | starts[to.slot] >> to.offset) & mask;
            for access in [from, to] {
                let after = starts[access.slot] | both << access.offset;
                changed |= after != starts[access.slot];
                starts[access.slot] = after;
            }
        }
        for access in uses.accesses.iter().filter(|a| a.width == 16) {
            let inside = starts[access.slot] >> access.offset & bytes(1, 15);
            if inside != 0 && inside & 1 << 8 == 0 {
                starts[access.slot] |= 1 << (access.offset + 8);
                changed = true;
            }
        }
    }
}

/// Whether an access might move a reference that does not stay whole. References are moved by
/// accesses of 8 bytes; null, a constant, may be cut. So the access covers a word, or crosses one,
/// that may be a reference and is not one piece.
fn hides_reference(
    func: &Function,
    access: &Access,
    starts: &SecondaryMap<StackSlot, u128>,
    notes: &FrameNotes,
) -> bool {
    let is_constant = |v| constant(func, v).is_some() || is_zero_vector(func, v);
    if access.width < 8 || access.stored.is_some_and(is_constant) {
        return false;
    }
    let (first, last) = (access.offset / 8, (access.offset + access.width - 1) / 8);
    (first..=last).any(|word| {
        let inside = bytes(8 * word + 1, 7) & starts[access.slot];
        (inside != 0 || first != last) && !notes.is_plain(access.slot, u32::from(word))
    })
}

/// Whether an access says nothing about the type of what it moves: it is one half of a copy, or
/// stores zero. The other half may be an access of other memory, which moves the same bytes as a
/// float just as well.
fn is_neutral(func: &Function, uses: &Uses, access: &Access) -> bool {
    match access.stored {
        None => {
            is_load(func, func.dfg.first_result(access.inst))
                && !uses.used.contains(func.dfg.first_result(access.inst))
        }
        Some(value) => {
            constant(func, value) == Some(0) || is_load(func, value) && !uses.used.contains(value)
        }
    }
}
