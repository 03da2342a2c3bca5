//! Blocks: free ones, recyclable ones, large objects, unused young memory; and what is counted of each.
//!
//! # Invariants that are checked
//! * Every free block below the frontier is in the list of free blocks, once, and they are counted. The list may also have blocks that left it as
//!   parts of a run; a block's `listed` byte says that it is there.
//! * An old block is in the list of recyclable blocks exactly if its `recyclable` byte says so, and `free` is the sum of their free bytes.
//! * The blocks of a large object belong to it alone, and number themselves from the first. Objects that live are listed, once, and the sum of
//!   their bytes is kept; the blocks of others wait to be freed.
//! * Unused pieces of the nursery overlap nothing, end the row of objects before them and hold no object. Together with what was handed out since
//!   the last collection they are what that collection left and the blocks taken since.
//! * The bytes counted for the old generation, except between marking and the end of sweeping, lie between the bytes of its objects and those of
//!   the lines that these touch.
use super::{Verifier, list};
use crate::memory::List;
use crate::model::{Model, World};
use crate::space::{BLOCK, BlockId, BlockKind, Card};
use std::sync::atomic::Ordering::*;

impl<M: Model, W: World> Verifier<'_, M, W> {
    pub(super) fn blocks(&self) {
        self.free_blocks();
        self.recyclable();
        self.large();
        self.old_bytes();
    }
    fn free_blocks(&self) {
        let space = &self.heap.space;
        // (A thread in Native state may take blocks for root memory; the list's lock keeps it out.)
        space.with_free(|free| {
            let (mut listed, mut free_and_listed) = (0, 0);
            for b in free.list() {
                listed += 1;
                if listed > free.used || space.info(b).listed.load(Relaxed) == 0 {
                    self.damaged(&format!("block {b} is in the list of free ones twice"));
                }
                free_and_listed += usize::from(space.kind(b) == BlockKind::Free);
            }
            if let Some((first, n)) = free.missed() {
                self.damaged(&format!("no search for {n} free blocks finds those from {first} on"));
            }
            let marked = |b: &BlockId| space.info(*b).listed.load(Relaxed) != 0;
            let say_so = BlockId::range(0, free.used).filter(marked).count();
            let all = BlockId::range(0, free.used).filter(|b| space.kind(*b) == BlockKind::Free);
            let all = all.count();
            if (say_so, all, free.count) != (listed, free_and_listed, all) {
                self.damaged(&format!(
                    "{all} blocks are free, {free_and_listed} of them listed, {} counted; {listed} are listed, {say_so} say so",
                    free.count
                ));
            }
        });
    }
    fn recyclable(&self) {
        let space = &self.heap.space;
        let (mut listed, mut bytes) = (list(), 0);
        self.heap.old.recyclable.each(|b| {
            let info = space.info(b);
            if space.kind(b) != BlockKind::Old || info.recyclable.load(Relaxed) == 0 {
                self.damaged(&format!(
                    "block {b} has room, and is no old block that says so"
                ));
            }
            bytes += BLOCK - info.live.load(Relaxed) as usize;
            listed.push(b);
        });
        let say_so = |b: &BlockId| {
            space.kind(*b) == BlockKind::Old && space.info(*b).recyclable.load(Relaxed) != 0
        };
        let say_so = space.all_blocks().filter(say_so).count();
        self.twice(&mut listed, "in the list of those with room");
        let counted = self.heap.old.recyclable.free();
        if (say_so, counted) != (listed.len(), bytes) {
            self.damaged(&format!(
                "{} blocks have room, {say_so} say so; they have {bytes} free bytes, and {counted} are counted",
                listed.len()
            ));
        }
    }
    fn twice(&self, blocks: &mut List<BlockId>, place: &str) {
        let blocks = blocks.as_mut_slice();
        blocks.sort_unstable();
        if let Some(two) = blocks.windows(2).find(|two| two[0] == two[1]) {
            self.damaged(&format!("block {} is {place} twice", two[0]));
        }
    }
    fn large(&self) {
        let (heap, space) = (self.heap, &self.heap.space);
        let (mut heads, mut bytes, mut tails) = (list(), 0, 0);
        for &b in heap.large.heads.lock().as_slice() {
            heads.push(b);
            bytes += space.info(b).size.load(Relaxed);
            if space.kind(b) != BlockKind::Large || heap.is_dead_large(b) {
                self.wrong(
                    space.address(b),
                    "is listed as large, and is no such object",
                );
            }
        }
        self.twice(&mut heads, "in the list of large objects");
        let counted = heap.large.bytes.load(Relaxed);
        if counted != bytes {
            self.damaged(&format!(
                "large objects take {bytes} bytes, and {counted} are counted"
            ));
        }
        for b in space
            .all_blocks()
            .filter(|b| space.kind(*b) == BlockKind::Large)
        {
            if !heap.is_dead_large(b) && heads.as_slice().binary_search(&b).is_err() {
                self.wrong(space.address(b), "is large and not listed");
            }
            let blocks = space.info(b).size.load(Relaxed).div_ceil(BLOCK);
            for i in 1..blocks {
                let is_part = space.kind(b.plus(i)) == BlockKind::LargeTail
                    && space.info(b.plus(i)).live.load(Relaxed) as usize == i;
                if !is_part {
                    self.wrong(space.address(b), &format!("has no block {i}"));
                }
            }
            tails += blocks - 1;
        }
        let kept = space
            .all_blocks()
            .filter(|b| space.kind(*b) == BlockKind::LargeTail);
        let kept = kept.count();
        if kept != tails {
            self.damaged(&format!(
                "{kept} blocks are parts of large objects, which have {tails}"
            ));
        }
    }
    pub(super) fn unused_young(&self) {
        let space = &self.heap.space;
        let nursery = self.heap.nursery.lock();
        let mut pieces = list();
        let mut bytes = 0;
        for &piece in nursery.fragments.as_slice() {
            pieces.push(piece);
            bytes += piece.1 - piece.0;
        }
        pieces.as_mut_slice().sort_unstable();
        let mut before = 0;
        for &(from, to) in pieces.as_slice() {
            let inside = space.kind_at(from) == BlockKind::Nursery
                && from < to
                && space.block(from) == space.block(to - 8);
            if !inside || from < before {
                self.damaged(&format!(
                    "unused young memory [{from:#x}, {to:#x}) is not its own"
                ));
            }
            // SAFETY: a word of a nursery block.
            let is_end = unsafe { *(from as *const u64) } == 0;
            let first = Card::between(from, to).find_map(|card| {
                let mut at = card.words(space.start_word(card).load(Relaxed));
                at.find(|at| (from..to).contains(at))
            });
            if !is_end || first.is_some() {
                self.damaged(&format!(
                    "unused young memory [{from:#x}, {to:#x}) holds something"
                ));
            }
            before = to;
        }
        let is_fresh = |b: &BlockId| {
            space.kind(*b) == BlockKind::Nursery && space.info(*b).age.load(Relaxed) == 0
        };
        let fresh = space.all_blocks().filter(is_fresh).count() * BLOCK;
        if bytes + nursery.handed_out != nursery.fragment_bytes + fresh {
            self.damaged(&format!(
                "{} bytes of the nursery are handed out and {bytes} unused, of {} that were left and {fresh} taken",
                nursery.handed_out, nursery.fragment_bytes
            ));
        }
    }
    /// The walk of all objects has met them.
    fn old_bytes(&self) {
        let ((objects, lines), counted) = (self.old.get(), self.heap.old.bytes.load(Relaxed));
        if !self.heap.major.is_sweeping() && !(objects..=lines).contains(&counted) {
            self.damaged(&format!(
                "{counted} bytes are counted as old, {objects} are objects' and {lines} those of their lines"
            ));
        }
    }
}
