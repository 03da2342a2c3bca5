//! The space: the range of addresses that holds every object, cut into blocks, with the side tables that describe them.
//!
//! ```text
//!  reserved at start-up, committed by the kernel page by page
//!  base                                                          base + blocks * 64 KiB
//!  | block 0 | block 1 | block 2 | ........ | never used ....... |
//!                                           ^ used (grows only)
//!  kinds        1 byte a block    what the block is               [block]
//!  infos       32 bytes a block   what is recorded of it          [block]
//!  start        1 bit per 8 bytes an object begins here           [bitmaps]
//!  mark         1 bit per 8 bytes reached, or pinned              [bitmaps]
//!  finalizable  1 bit per 8 bytes its finalizer is to run         [bitmaps]
//!  cards        1 byte per 512 B  a reference was stored here     [card_table]
//!  mod_union    1 bit per 512 B   card cleaned during marking     [card_table]
//! ```
//!
//! What is built on it: [`old`] (bump allocation into the holes of old blocks, found by [`lines`] and listed in [`recyclable`]) and
//! [`large`] (objects with blocks of their own).
//!
//! # Invariants
//! * The range is cut into blocks of 64 KiB. The kind of a block is one byte of a table, so the test "is this object young" is one load.
//! * A block changes its kind only while the world is stopped, except that a mutator may turn a free block into a nursery block, a large
//!   object or root memory.
//! * One word of a bitmap describes one card: 64 bits for the 64 words of 512 bytes.
//! * The tables are reserved once and never move. An entry of a block that was never used is zero.
pub mod bitmaps;
pub mod block;
pub mod block_bits;
pub mod card;
pub mod card_marks;
pub mod card_table;
pub mod free_blocks;
pub mod large;
pub mod large_objects;
pub mod lines;
pub mod old;
pub mod recyclable;
pub(crate) mod reserve;
mod residency;

pub use block::{BLOCK, BLOCK_SHIFT, BlockId, BlockInfo, BlockKind, CARDS};
pub use card::{CARD, CARD_SHIFT, Card};
pub use card_marks::CLEAN;

use crate::memory::{prefer_huge_pages, reserve};
use free_blocks::FreeList;
use std::io;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering::*};
use vervet_os::LeafLock;

/// Behind this many bytes of the range huge pages are preferred: they make walks of a large heap much faster, and a small heap should stay
/// small.
const HUGE_FROM: usize = 32 << 20;

/// See the module.
pub struct Space {
    base: usize,
    /// Blocks of the range.
    blocks: usize,
    kinds: usize,
    infos: usize,
    start: usize,
    mark: usize,
    finalizable: usize,
    cards: usize,
    card_mask: usize,
    mod_union: usize,
    small_pages: usize,
    /// See [`residency::ZERO_BY_HAND`].
    zero_by_hand: usize,
    used: AtomicUsize,
    free: LeafLock<FreeList>,
}

/// Bytes of address space that a space of `size` bytes takes.
pub(crate) const fn address_space(size: usize) -> usize {
    let bitmaps = 3 * (size / 64) + mod_union_bytes(size);
    size + BLOCK + bitmaps + size / BLOCK * (1 + size_of::<BlockInfo>())
}
const fn mod_union_bytes(size: usize) -> usize {
    (size >> CARD_SHIFT) / 8 + 8
}

impl Space {
    /// Reserves `size` bytes, or what the card table covers if that is less. `cards` is the card table, with `card_mask + 1` cards.
    pub fn new(size: usize, cards: usize, card_mask: usize) -> io::Result<Space> {
        let size = (size.min((card_mask + 1) << CARD_SHIFT)).max(16 * BLOCK) & !(BLOCK - 1);
        let base = (reserve(size + BLOCK)? + BLOCK - 1) & !(BLOCK - 1);
        let blocks = size / BLOCK;
        let space = Space {
            base,
            blocks,
            kinds: reserve(blocks)?,
            infos: reserve(blocks * size_of::<BlockInfo>())?,
            start: reserve(size / 64)?,
            mark: reserve(size / 64)?,
            finalizable: reserve(size / 64)?,
            cards,
            card_mask,
            mod_union: reserve(mod_union_bytes(size))?,
            small_pages: reserve(residency::parts(blocks))?,
            zero_by_hand: residency::ZERO_BY_HAND,
            used: AtomicUsize::new(0),
            free: LeafLock::new(FreeList::EMPTY),
        };
        space.prefer_huge_pages(BlockId::new(0), blocks);
        Ok(space)
    }
    /// Prefers huge pages in `n` blocks, as far as they lie behind the first 32 MiB of the space.
    pub(super) fn prefer_huge_pages(&self, first: BlockId, n: usize) {
        let from = self.address(first).max(self.base + HUGE_FROM);
        let to = self.address(first) + n * BLOCK;
        if from < to {
            // SAFETY: the range is a part of the reservation of the space.
            unsafe { prefer_huge_pages(from, to) };
        }
    }

    /// Address of a block.
    #[inline(always)]
    pub fn address(&self, block: BlockId) -> usize {
        self.base + (block.number() << BLOCK_SHIFT)
    }
    /// Address of the byte behind the last of a block.
    #[inline(always)]
    pub fn end(&self, block: BlockId) -> usize {
        self.address(block) + BLOCK
    }
    /// The cards of a block, in ascending order.
    #[inline]
    pub fn cards_of(&self, block: BlockId) -> impl Iterator<Item = Card> + Clone {
        Card::between(self.address(block), self.end(block))
    }
    /// The number of a card among those of the range.
    #[inline(always)]
    fn card_number(&self, card: Card) -> usize {
        (card.address() - self.base) >> CARD_SHIFT
    }
    /// All blocks that were ever used, in ascending order.
    #[inline]
    pub fn all_blocks(&self) -> impl Iterator<Item = BlockId> + Clone + use<> {
        (0..self.used()).map(BlockId::new)
    }
    /// The block an address lies in, if it was ever used.
    #[inline(always)]
    pub fn block_of(&self, address: usize) -> Option<BlockId> {
        let b = address.wrapping_sub(self.base) >> BLOCK_SHIFT;
        (b < self.used.load(Relaxed)).then(|| BlockId::new(b))
    }
    /// The block of an address known to lie in the heap.
    #[inline]
    pub fn block(&self, address: usize) -> BlockId {
        debug_assert!(
            self.block_of(address).is_some(),
            "{address:#x} is not in the heap"
        );
        BlockId::new((address - self.base) >> BLOCK_SHIFT)
    }
    /// Number of blocks ever used.
    pub fn used(&self) -> usize {
        self.used.load(Relaxed)
    }
    /// The whole reserved range.
    pub fn range(&self) -> (usize, usize) {
        (self.base, self.base + self.blocks * BLOCK)
    }
    #[inline(always)]
    fn kind_cell(&self, block: BlockId) -> &AtomicU8 {
        // SAFETY: the table was reserved with a byte for each block, and is never released.
        unsafe { &*((self.kinds + block.number()) as *const AtomicU8) }
    }
    /// What a block is.
    #[inline(always)]
    pub fn kind(&self, block: BlockId) -> BlockKind {
        BlockKind::from_u8(self.kind_cell(block).load(Relaxed))
    }
    /// What a block is, for a thread that reads the block's tables while others may give blocks their kinds: it sees what they wrote to
    /// these tables before [`Space::set_kind`].
    #[inline]
    pub fn published_kind(&self, block: BlockId) -> BlockKind {
        BlockKind::from_u8(self.kind_cell(block).load(Acquire))
    }
    /// What the block of an address is; Free outside the heap.
    #[inline(always)]
    pub fn kind_at(&self, address: usize) -> BlockKind {
        match self.block_of(address) {
            Some(b) => self.kind(b),
            None => BlockKind::Free,
        }
    }
    /// Changes what a block is.
    #[inline]
    pub fn set_kind(&self, block: BlockId, kind: BlockKind) {
        self.kind_cell(block).store(kind as u8, Release);
    }
    /// What is recorded of a block.
    #[inline(always)]
    pub fn info(&self, block: BlockId) -> &BlockInfo {
        debug_assert!(block.number() < self.blocks);
        // SAFETY: the table was reserved with an entry for each block; zero bytes are a valid entry, and it is never released.
        unsafe { &*((self.infos as *const BlockInfo).add(block.number())) }
    }
}
