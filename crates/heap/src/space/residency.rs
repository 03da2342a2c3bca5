//! Which pages of a run of blocks a large object makes resident: those that it lies on, and no more.
//!
//! # How it works
//! A large object has blocks of its own, and most do not end where a block ends. An array of 9 KB has a block of 64 KiB:
//!
//! ```text
//!   block    |page|page|page|                    not touched                    |
//!            |<- object ->|
//! ```
//! With huge pages the first touch would make two megabytes resident, and each such array 64 KiB. (A program with 381 MB of them took 2.5 GB.) So a part of the range in which such a
//! run lies has small pages from then on. And if the block has been something else before, whose pages are resident, they are given back where there are many of them.
//!
//! # Invariants
//! * `dirty` of a block is the number of pages from its start on that may hold anything but zeros. While a large object has the block, it says so already for the time when the
//!   object is freed.
//! * Parts of the range have small pages from the first such run on. They do not change back and forth, so that the kernel keeps few records; only an object of a GiB has small pages
//!   for as long as it lives.
use super::{HUGE_FROM, Space};
use crate::memory::{avoid_huge_pages, discard};
use crate::space::block::{BLOCK, BlockId};
use std::sync::atomic::{AtomicU8, Ordering::*};

/// Bytes of a small page.
const PAGE: usize = 4096;
/// Pages of a block.
pub(super) const PAGES: u8 = (BLOCK / PAGE) as u8;
/// An object of so many bytes has small pages: a program may touch a few of its elements only, and each would make a huge page resident.
const SPARSE: usize = 1 << 30;
/// So many pages behind an object are given back. For fewer the call costs more than they are worth.
const MANY: u8 = 8;
/// Blocks of a part of the range whose pages are of one size: 8 MiB.
const PART: usize = 128;
/// A stretch of dirty pages longer than this is discarded, so that the kernel zeroes it page by page as it is touched; a shorter one is zeroed here,
/// which needs no page faults: 4 MiB take 60 us, 1,400 with small pages that are discarded and touched again. A collection that begins meanwhile waits for it,
/// a millisecond at most.
pub(super) const ZERO_BY_HAND: usize = 32 << 20;

/// Entries of the table of a space with so many blocks.
pub(super) const fn parts(blocks: usize) -> usize {
    blocks.div_ceil(PART)
}

impl Space {
    /// Makes the first `size` bytes of a run of `blocks` blocks, which was just allocated, read as zeros, and gives back what lies behind them.
    pub(super) fn prepare_run(&self, first: BlockId, blocks: usize, size: usize) {
        let at = self.address(first);
        if blocks * BLOCK >= SPARSE {
            // SAFETY: the blocks were just allocated, and belong to the reservation of the space.
            unsafe { avoid_huge_pages(at, at + blocks * BLOCK) };
        }
        let last = first.plus(blocks - 1);
        let used = (size - (blocks - 1) * BLOCK).div_ceil(PAGE) as u8;
        let unused = usize::from(PAGES - used);
        if unused * 8 >= blocks * usize::from(PAGES) {
            self.use_small_pages(first, blocks);
        }
        let dirty = |b: BlockId| self.info(b).dirty.load(Relaxed);
        let mut behind = dirty(last).max(used);
        if behind - used >= MANY {
            let tail = self.address(last);
            let (from, to) = (
                tail + usize::from(used) * PAGE,
                tail + usize::from(behind) * PAGE,
            );
            // SAFETY: the run was just allocated, and no part of the object lies there.
            unsafe { discard(from, to) };
            behind = used;
        }
        let mut from = at;
        while from < at + size {
            // From each place the stretch of dirty pages, which may go over several blocks.
            let mut to = from;
            let mut block = first.plus((from - at) / BLOCK);
            loop {
                let start = self.address(block);
                to = to.max(start + usize::from(dirty(block)) * PAGE);
                if to < start + BLOCK || block == last {
                    break;
                }
                block = block.plus(1);
            }
            self.zero(from, to.min(at + size));
            from = self.end(block);
        }
        for block in first.run(blocks) {
            self.info(block).dirty.store(PAGES, Relaxed);
        }
        self.info(last).dirty.store(behind, Relaxed);
    }

    /// Makes fresh memory read as zeros. Behind it, nothing is needed up to the end of the page.
    fn zero(&self, from: usize, to: usize) {
        let bytes = to - from;
        // SAFETY: the blocks were just allocated, so nobody needs what is in them.
        unsafe {
            match bytes > self.zero_by_hand {
                // Of whole pages only.
                true => discard(from, to.next_multiple_of(PAGE)),
                false => std::ptr::write_bytes(from as *mut u8, 0, bytes),
            }
        }
    }

    /// Has the parts of the range in which the run lies use small pages.
    fn use_small_pages(&self, first: BlockId, blocks: usize) {
        let end = first.number() + blocks;
        for part in first.number() / PART..end.div_ceil(PART) {
            if self.small_pages(part).swap(1, Relaxed) != 0 {
                continue;
            }
            let from = (self.base + part * PART * BLOCK).max(self.base + HUGE_FROM);
            let to = self.base + ((part + 1) * PART).min(self.blocks) * BLOCK;
            if from < to {
                // SAFETY: the range is a part of the reservation of the space.
                unsafe { avoid_huge_pages(from, to) };
            }
        }
    }

    /// A run is about to be freed: what was told to use small pages for its object alone may use huge ones again.
    pub(super) fn release_run(&self, first: BlockId, blocks: usize) {
        if blocks * BLOCK < SPARSE {
            return;
        }
        self.prefer_huge_pages(first, blocks);
        let end = first.number() + blocks;
        for part in first.number() / PART..end.div_ceil(PART) {
            self.small_pages(part).store(0, Relaxed);
        }
    }

    /// 1 if the part of the range uses small pages.
    fn small_pages(&self, part: usize) -> &AtomicU8 {
        debug_assert!(part < parts(self.blocks));
        // SAFETY: the table has an entry for each part, lives as long as the space, and is accessed as atomics only.
        unsafe { &*((self.small_pages + part) as *const AtomicU8) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::reserve;
    use crate::space::{BlockKind, CARD_SHIFT};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_prepared_run_reads_as_zeros_whatever_its_blocks_held(
            steps in prop::collection::vec((0u8..4, 1usize..5 * BLOCK, any::<prop::sample::Index>()), 1..100)
        ) {
            let cards = (64 * BLOCK) >> CARD_SHIFT;
            let table = reserve(cards).expect("room");
            let mut space = Space::new(64 * BLOCK, table, cards - 1).expect("a space");
            space.zero_by_hand = 2 * BLOCK;
            let fill = |from: usize, size: usize| {
                // SAFETY: memory of the test's space, which nobody else uses.
                let bytes = unsafe { std::slice::from_raw_parts_mut(from as *mut u8, size) };
                let is_zero = bytes.iter().all(|b| *b == 0);
                bytes.fill(0xA5);
                is_zero
            };
            let mut runs: Vec<(BlockId, usize)> = Vec::new();
            for (what, size, which) in steps {
                match what {
                    0 if !runs.is_empty() => {
                        let (first, blocks) = runs.swap_remove(which.index(runs.len()));
                        space.free_run(first, blocks);
                    }
                    1 => {
                        if let Some(block) = space.alloc_block(BlockKind::Taken) {
                            fill(space.address(block), BLOCK);
                            space.free_block(block);
                        }
                    }
                    2 => {
                        space.trim(which.index(8));
                    }
                    _ => {
                        let blocks = size.div_ceil(BLOCK);
                        if let Some(first) = space.alloc_run(blocks) {
                            space.prepare_run(first, blocks, size);
                            prop_assert!(fill(space.address(first), size));
                            runs.push((first, blocks));
                        }
                    }
                }
            }
        }
    }
}
