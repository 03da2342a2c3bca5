//! The free blocks of a space: a linked list of single blocks, and a frontier behind which no block was ever used.
//!
//! # Invariants
//! * Every free block below the frontier is in the list exactly once; its `listed` byte says so. Who takes the first of the list marks it as
//!   unlisted.
//! * A run of adjacent blocks is found by kind, not by the list. Blocks taken that way stay in the list, and [`Space::alloc_block`] drops
//!   them when it meets them: their kind is not Free. If such a block is freed again it is already listed, and is not added twice.
//! * `count` is the number of free blocks below the frontier. The lock of the list is a leaf lock: a collector takes it too.
//! * Pages of a free block that is not `dirty` read as zeros, because nobody ever wrote to them or because they went back to the system.
use super::Space;
use super::block::{BLOCK, BlockId, BlockKind};
use crate::memory::discard;
use std::sync::atomic::{Ordering::*, fence};
use vervet_os::perturb;

/// The end of the list. Every other link is the number of a block.
pub(super) const NONE: u32 = u32::MAX;

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
}

/// See [`Space::with_free`].
pub(crate) struct FreeBlocks<'s> {
    space: &'s Space,
    head: u32,
    /// Free blocks below `used`.
    pub count: usize,
    /// Blocks from here on were never used.
    pub used: usize,
}
impl FreeBlocks<'_> {
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
    /// Allocates `n` adjacent blocks, as `Taken`. Their pages may hold anything; see [`Space::is_clean`]. None: there is no such run.
    pub fn alloc_run(&self, n: usize) -> Option<BlockId> {
        let mut f = self.free.lock();
        let mut found = None;
        if f.count >= n {
            let mut run = 0;
            for b in 0..f.used {
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
    pub fn is_clean(&self, block: BlockId) -> bool {
        self.info(block).dirty.load(Relaxed) == 0
    }
    /// Frees a block, whose pages may hold anything.
    pub fn free_block(&self, block: BlockId) {
        self.clear_starts(block);
        let mut f = self.free.lock();
        self.list_free(&mut f, block);
    }
    /// Frees `n` adjacent blocks, whose pages may hold anything.
    pub fn free_run(&self, first: BlockId, n: usize) {
        let mut f = self.free.lock();
        for block in first.run(n) {
            self.list_free(&mut f, block);
        }
    }
    fn list_free(&self, f: &mut FreeList, block: BlockId) {
        let info = self.info(block);
        info.dirty.store(1, Relaxed);
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
        // A block that left as part of a large object may never have left the list.
        if info.listed.swap(1, Relaxed) == 0 {
            info.next.store(f.head, Relaxed);
            f.head = block.number() as u32;
        }
    }
    /// For the verifier: calls `inspect` with the list of free blocks, while no thread can allocate or free one.
    pub(crate) fn with_free(&self, inspect: impl FnOnce(FreeBlocks<'_>)) {
        let f = self.free.lock();
        inspect(FreeBlocks {
            space: self,
            head: f.head,
            count: f.count,
            used: f.used,
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
