//! The free blocks of a space: a linked list of single blocks, and a frontier behind which no block was ever used.
//!
//! # Invariants
//! * Every free block below the frontier is in the list exactly once; its `listed` byte says so. Who takes the first of the list marks it as
//!   unlisted.
//! * A run of adjacent blocks is found by kind, not by the list. Blocks taken that way stay in the list, and [`Space::alloc_block`] drops
//!   them when it meets them: their kind is not Free. If such a block is freed again it is already listed, and is not added twice.
//! * No run of `n` free blocks begins below `no_run_below[n - 1]`, but for what was freed since: that lies from `freed_from` on. So the search for a run begins behind
//!   the blocks that it has looked at before. (With 4,000 blocks in use, half of the time of a program that allocated arrays of 10 KB was this search.)
//! * `count` is the number of free blocks below the frontier. The lock of the list is a leaf lock: a collector takes it too.
//! * Pages of a free block behind its first `dirty` ones read as zeros, because nobody ever wrote to them or because they went back to the system.
use super::Space;
use super::block::{BLOCK, BlockId, BlockKind};
use super::residency::PAGES;
use crate::memory::discard;
use std::sync::atomic::{Ordering::*, fence};
use vervet_os::perturb;

/// The end of the list. Every other link is the number of a block.
const NONE: u32 = u32::MAX;

/// Of runs of up to so many blocks it is remembered where none begins.
const SHORT_RUNS: usize = 8;

fn block_of_link(link: u32) -> Option<BlockId> {
    (link != NONE).then(|| BlockId::new(link as usize))
}

pub(super) struct FreeList {
    /// Head of the list of single free blocks.
    pub(super) head: u32,
    /// Free blocks below `used`.
    pub(super) count: usize,
    /// Blocks from here on were never used.
    pub(super) used: usize,
    /// By length less one, the last for all longer ones: where the search for a run of so many free blocks begins.
    pub(super) no_run_below: [usize; SHORT_RUNS],
    /// The lowest block that was freed since `no_run_below` was brought up to date; `usize::MAX`: none.
    pub(super) freed_from: usize,
}
impl FreeList {
    pub(super) const EMPTY: FreeList = FreeList {
        head: NONE,
        count: 0,
        used: 0,
        no_run_below: [0; SHORT_RUNS],
        freed_from: usize::MAX,
    };

    /// Where the search for a run of `n` free blocks begins.
    fn search_from(&mut self, n: usize) -> usize {
        let freed = std::mem::replace(&mut self.freed_from, usize::MAX);
        for (shorter, from) in self.no_run_below.iter_mut().enumerate() {
            // A run that holds the freed block may begin before it.
            *from = (*from).min(freed.saturating_sub(shorter));
        }
        self.no_run_below[n.min(SHORT_RUNS) - 1]
    }

    /// The search for a run of `n` blocks has found none that begins below `end`.
    fn searched(&mut self, n: usize, end: usize) {
        if n <= SHORT_RUNS {
            self.no_run_below[n - 1] = end;
        }
    }
}

/// See [`Space::with_free`].
pub(crate) struct FreeBlocks<'s> {
    space: &'s Space,
    head: u32,
    /// Free blocks below `used`.
    pub count: usize,
    /// Blocks from here on were never used.
    pub used: usize,
    /// Where the search for a run would begin, by length less one.
    search_from: [usize; SHORT_RUNS],
}
impl FreeBlocks<'_> {
    /// A run of free blocks that a search would miss: its first block, and how many.
    pub fn missed(&self) -> Option<(usize, usize)> {
        let mut run = 0;
        (0..self.used).find_map(|b| {
            run = match self.space.kind(BlockId::new(b)) {
                BlockKind::Free => run + 1,
                _ => 0,
            };
            let n = run.min(SHORT_RUNS);
            let first = b + 1 - n;
            let is_missed = n > 0 && first < self.search_from[n - 1];
            is_missed.then_some((first, n))
        })
    }

    /// The blocks of the list in the order of its links. The iterator does not end if they form a ring.
    pub fn list(&self) -> impl Iterator<Item = BlockId> {
        std::iter::successors(block_of_link(self.head), |b| {
            block_of_link(self.space.info(*b).next.load(Relaxed))
        })
    }
}

impl Space {
    /// Blocks that are not free.
    pub fn in_use(&self) -> usize {
        let f = self.free.lock();
        f.used - f.count
    }
    /// Bytes of the range that are free.
    pub fn available(&self) -> usize {
        (self.blocks - self.in_use()) * BLOCK
    }
    /// Allocates one block as `kind`. None: the address range is used up.
    pub fn alloc_block(&self, kind: BlockKind) -> Option<BlockId> {
        let mut f = self.free.lock();
        let block = loop {
            let Some(b) = block_of_link(f.head) else {
                break self.fresh(&mut f, 1)?;
            };
            f.head = self.info(b).next.load(Relaxed);
            self.info(b).next.store(NONE, Relaxed);
            self.info(b).listed.store(0, Relaxed);
            // A block of the list may meanwhile be part of a large object.
            if self.kind(b) == BlockKind::Free {
                f.count -= 1;
                break b;
            }
        };
        self.set_kind(block, kind);
        Some(block)
    }
    fn fresh(&self, f: &mut FreeList, n: usize) -> Option<BlockId> {
        let b = f.used;
        if b + n > self.blocks {
            return None;
        }
        f.used = b + n;
        self.used.store(f.used, Release);
        Some(BlockId::new(b))
    }
    /// Allocates `n` adjacent blocks, as `Taken`. Their pages may hold anything; see [`Space::prepare_run`]. None: there is no such run.
    pub fn alloc_run(&self, n: usize) -> Option<BlockId> {
        let mut f = self.free.lock();
        let mut found = None;
        if f.count >= n {
            let mut run = 0;
            for b in f.search_from(n)..f.used {
                run = if self.kind(BlockId::new(b)) == BlockKind::Free {
                    run + 1
                } else {
                    0
                };
                if run == n {
                    found = Some(BlockId::new(b + 1 - n));
                    break;
                }
            }
            let end = found.map_or(f.used, |first| first.number() + n);
            f.searched(n, end);
        }
        let first = match found {
            Some(b) => {
                f.count -= n;
                b
            }
            None => self.fresh(&mut f, n)?,
        };
        perturb::here();
        for b in first.run(n) {
            self.set_kind(b, BlockKind::Taken);
        }
        Some(first)
    }
    /// Do the block's pages read as zeros?
    fn is_clean(&self, block: BlockId) -> bool {
        self.info(block).dirty.load(Relaxed) == 0
    }
    /// Frees a block, whose pages may hold anything.
    pub fn free_block(&self, block: BlockId) {
        self.clear_starts(block);
        let mut f = self.free.lock();
        self.info(block).dirty.store(PAGES, Relaxed);
        self.list_free(&mut f, block);
    }
    /// Frees the `n` adjacent blocks of a large object.
    pub fn free_run(&self, first: BlockId, n: usize) {
        let mut f = self.free.lock();
        for block in first.run(n) {
            self.list_free(&mut f, block);
        }
    }
    fn list_free(&self, f: &mut FreeList, block: BlockId) {
        let info = self.info(block);
        for cell in [
            &info.age,
            &info.unswept,
            &info.evacuate,
            &info.conservatively_hit,
            &info.recyclable,
            &info.pinned,
            &info.becomes_old,
            &info.kept,
            &info.has_references,
            &info.large_marked,
            &info.large_dead,
        ] {
            cell.store(0, Relaxed);
        }
        info.live.store(0, Relaxed);
        fence(Release);
        self.set_kind(block, BlockKind::Free);
        f.count += 1;
        f.freed_from = f.freed_from.min(block.number());
        // A block that left as part of a large object may never have left the list.
        if info.listed.swap(1, Relaxed) == 0 {
            info.next.store(f.head, Relaxed);
            f.head = block.number() as u32;
        }
    }
    /// For the verifier: calls `inspect` with the list of free blocks, while no thread can allocate or free one.
    pub(crate) fn with_free(&self, inspect: impl FnOnce(FreeBlocks<'_>)) {
        let mut f = self.free.lock();
        f.search_from(1);
        inspect(FreeBlocks {
            space: self,
            head: f.head,
            count: f.count,
            used: f.used,
            search_from: f.no_run_below,
        });
    }
    /// Gives the pages of dirty free blocks back to the system, except those of `keep` blocks. Returns how many bytes.
    pub fn trim(&self, keep: usize) -> usize {
        let mut kept = 0;
        let mut bytes = 0;
        for b in self.all_blocks() {
            if self.kind(b) != BlockKind::Free || self.is_clean(b) {
                continue;
            }
            if kept < keep {
                kept += 1;
                continue;
            }
            let f = self.free.lock();
            if self.kind(b) == BlockKind::Free && !self.is_clean(b) {
                // SAFETY: the block is free, and the lock of the list keeps it so.
                unsafe { discard(self.address(b), self.end(b)) };
                self.info(b).dirty.store(0, Relaxed);
                bytes += BLOCK;
            }
            drop(f);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::reserve;
    use crate::space::CARD_SHIFT;
    use proptest::prelude::*;

    /// The first run of `n` free blocks, by looking at all.
    fn first_run(space: &Space, used: usize, n: usize) -> Option<usize> {
        let is_free = |b: usize| space.kind(BlockId::new(b)) == BlockKind::Free;
        (0..(used + 1).saturating_sub(n)).find(|first| (*first..*first + n).all(is_free))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_lowest_run_is_found_wherever_the_search_begins(
            steps in prop::collection::vec((0u8..4, 1usize..12, any::<prop::sample::Index>()), 1..200)
        ) {
            let cards = (256 * BLOCK) >> CARD_SHIFT;
            let table = reserve(cards).expect("room");
            let space = Space::new(256 * BLOCK, table, cards.next_power_of_two() - 1).expect("a space");
            let mut taken: Vec<(BlockId, usize)> = Vec::new();
            for (what, n, which) in steps {
                let used = space.free.lock().used;
                match what {
                    0 if !taken.is_empty() => {
                        let (first, n) = taken.swap_remove(which.index(taken.len()));
                        space.free_run(first, n);
                    }
                    1 => taken.extend(space.alloc_block(BlockKind::Taken).map(|b| (b, 1))),
                    _ => {
                        let expected = first_run(&space, used, n);
                        let found = space.alloc_run(n);
                        match (expected, found) {
                            (Some(first), found) => prop_assert_eq!(found.map(|b| b.number()), Some(first)),
                            (None, Some(found)) => prop_assert_eq!(found.number(), used),
                            (None, None) => prop_assert!(used + n > space.blocks),
                        }
                        taken.extend(found.map(|b| (b, n)));
                    }
                }
                space.with_free(|free| assert_eq!(free.missed(), None));
            }
        }
    }
}
