//! Blocks: their size, their kinds, and what is recorded of each.
//!
//! ```text
//!   kind        holds                          becomes                        when
//!   ----------  -----------------------------  -----------------------------  ----------------------------------------------
//!   Free        nothing                        Nursery                        a mutator needs a piece of young memory
//!                                              Survivors, Taken -> Old        a minor collection needs space for copies
//!                                              Taken -> Large + LargeTail     a mutator allocates a large object
//!                                              Taken -> Statics               the runtime needs root memory
//!   Nursery     young objects                  Free                           minor: nothing in it is pinned
//!                                              Nursery (age 1)                minor: it keeps a few pinned objects
//!                                              Old                            minor: many pins, a pinned handle, a parked thread; in place
//!   Survivors   copies of this collection      Nursery (age 1)                the end of that minor collection
//!   Old         old objects up to 8 KiB        Free                           sweep: nothing marked; or evacuated
//!   Large       the beginning of a large one   Free                           a cycle found it dead
//!   LargeTail   its further blocks             Free                           together with its Large
//!   Statics     root memory                    (stays)
//! ```
//!
//! # Invariants
//! * A kind is stored with release after what belongs to it is ready, so a thread that sees the kind sees the block's tables.
//! * Conversions of nursery and old blocks happen while the world is stopped and the gate is shut; free blocks are taken and given back by
//!   running threads under the lock of the free list.
use super::card::CARD;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicUsize};

/// log2 of a block's size.
pub const BLOCK_SHIFT: u32 = 16;
/// Bytes of a block.
pub const BLOCK: usize = 1 << BLOCK_SHIFT;
/// Cards of a block.
pub const CARDS: usize = BLOCK / CARD;

/// A block of a space, by its number.
///
/// It does not say that the block is in use, nor of which space it is: a process has one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(transparent)]
pub struct BlockId(u32);

impl BlockId {
    /// The block with that number.
    #[inline(always)]
    pub fn new(number: usize) -> BlockId {
        debug_assert!(number < u32::MAX as usize);
        BlockId(number as u32)
    }
    /// Its number: 0 for the first of the space.
    #[inline(always)]
    pub fn number(self) -> usize {
        self.0 as usize
    }
    /// The block that is `n` blocks behind it.
    #[inline(always)]
    pub fn plus(self, n: usize) -> BlockId {
        BlockId(self.0 + n as u32)
    }
    /// The block that is `n` blocks before it.
    #[inline(always)]
    pub fn minus(self, n: usize) -> BlockId {
        BlockId(self.0 - n as u32)
    }
    /// `n` adjacent blocks, of which it is the first.
    #[inline]
    pub fn run(self, n: usize) -> impl DoubleEndedIterator<Item = BlockId> {
        (self.0..self.0 + n as u32).map(BlockId)
    }
    /// The blocks whose numbers are `[from, to)`.
    #[inline]
    pub fn range(from: usize, to: usize) -> impl Iterator<Item = BlockId> {
        (from as u32..to as u32).map(BlockId)
    }
}

impl std::fmt::Display for BlockId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// What a block is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum BlockKind {
    /// Nobody's.
    Free = 0,
    /// Young objects.
    Nursery = 1,
    /// Young objects that this minor collection has copied here.
    Survivors = 2,
    /// Old objects of at most [`crate::SMALL`] bytes.
    Old = 3,
    /// The first block of a large object.
    Large = 4,
    /// A further block of a large object.
    LargeTail = 5,
    /// Root memory: words, of which `start` bits mark the references.
    Statics = 6,
    /// Being made into something else.
    Taken = 7,
}
impl BlockKind {
    #[inline(always)]
    pub(super) fn from_u8(n: u8) -> BlockKind {
        debug_assert!(n <= 7);
        // SAFETY: the table holds values of `BlockKind` only.
        unsafe { std::mem::transmute(n) }
    }
}

/// What is recorded of a block, one field a fact. All zero describes a block that was never used.
///
/// The bytes are atomic because workers of a collection and the collector's thread read and write them side by side. Except where a
/// reader says otherwise an access is relaxed: what orders them is a stop of the world, the gate, or the block's `kind`.
#[repr(C)]
pub struct BlockInfo {
    /// Free, and of a large object: how many pages from its start on may hold anything but zeros.
    pub dirty: AtomicU8,
    /// It is in the list of free blocks. A block that became part of a large object may still be: the list drops those lazily.
    pub(crate) listed: AtomicU8,
    /// Nursery: how many minor collections its objects have survived, 0 or 1.
    pub age: AtomicU8,
    /// Nursery: 1 while some of its objects are pinned in the running minor collection.
    pub pinned: AtomicU8,
    /// Nursery: 1 if the block is to become an old one in the running minor collection: a handle pins one of its objects, or a thread that is
    /// parked for long may refer to one.
    pub becomes_old: AtomicU8,
    /// Nursery: 1 if the block stayed in the nursery in an earlier minor collection because some of its objects were pinned.
    pub kept: AtomicU8,
    /// Old: 1 while its `start` bits include dead objects, which are those without `mark` bits.
    pub unswept: AtomicU8,
    /// Old: 1 if the block is to be evacuated at the end of this cycle.
    pub evacuate: AtomicU8,
    /// Old: 1 if a conservative reference, or a pinned handle, points into the block, so that it must not be evacuated.
    pub conservatively_hit: AtomicU8,
    /// Old: 1 while it is in the list of recyclable blocks.
    pub recyclable: AtomicU8,
    /// Large: 1 if the object holds references.
    pub has_references: AtomicU8,
    /// Large: 1 if the object was reached in this cycle, or made while marking runs.
    pub large_marked: AtomicU8,
    /// Large: 1 from when a cycle found the object dead until its blocks are free.
    pub large_dead: AtomicU8,
    /// Old: bytes of the lines in use when the block was last swept or listed. LargeTail: how many blocks lie before it in its object. Nursery: the
    /// round ([`crate::minor::nursery::Nursery::round`]) in which it became one.
    pub live: AtomicU32,
    /// Free: the next block of the list of free blocks.
    pub(super) next: AtomicU32,
    /// Large: bytes of the object.
    pub size: AtomicUsize,
}
