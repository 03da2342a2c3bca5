//! Sweeping: dead objects are forgotten and empty blocks freed, on the collector's thread, beside the program.
//!
//! # Invariants
//! * A block is swept inside a step of the gate, so it does not become anything else meanwhile; minor collections may read its bits.
//! * Blocks are freed between two stops: no minor collection that runs has cards of them to scan.
use crate::Heap;
use crate::model::{Model, World};
use crate::space::lines::Lines;
use crate::space::{BlockId, BlockKind, old};
use std::sync::atomic::Ordering::*;

/// Blocks that are dealt with in one step of the gate, or freed at a time.
pub(super) const BATCH: usize = 64;
impl<M: Model, W: World> Heap<M, W> {
    /// Sweeps every unswept block, frees dead large objects, computes when the next cycle begins, and trims free memory. The collector's thread
    /// does it while the world runs.
    pub(super) fn sweep(&self) {
        let space = &self.space;
        // What is promoted meanwhile adds to the figure; what the swept blocks were counted as is corrected at the end.
        let before = self.old.at_mark.load(Relaxed);
        let peak = self.note_peak();
        let mut live = 0;
        let (mut empty, mut empties) = ([BlockId::new(0); BATCH], 0);
        self.free_unmarked_blocks();
        for b in space.all_blocks() {
            if space.kind(b) != BlockKind::Old || space.info(b).unswept.load(Acquire) == 0 {
                continue;
            }
            self.gate.step(|| {
                // SAFETY: marking has ended, and inside a step of the gate the block stays an unswept old one.
                let used = unsafe { old::sweep::<M>(space, b) };
                if used == Lines::EMPTY {
                    empty[empties] = b;
                    empties += 1;
                    return;
                }
                live += used.bytes();
                self.old.list_if_recyclable(space, b, &used);
            });
            if empties == empty.len() {
                self.free_blocks(&empty);
                empties = 0;
            }
        }
        self.free_blocks(&empty[..empties]);
        // The program has gone on, and what large objects it left behind has not been freed yet.
        let peak = self.note_peak().max(peak);
        self.gate
            .between_stops(|| self.free_large(&mut self.major.dead_large.lock()));
        self.old.bytes.fetch_add(live, Relaxed);
        self.old.bytes.fetch_sub(before, Relaxed);
        let live = self.old_bytes();
        let promoted = self.stats.promoted.load(Relaxed) - self.major.promoted.load(Relaxed);
        let threshold = self.next_threshold(live, live.saturating_sub(promoted as usize));
        self.major
            .threshold
            .store(threshold.min(self.config.max_heap), Relaxed);
        // What the program will fill before the next cycle has ended would only have to be asked for again, and touched for the first time again. It will if it has
        // done so before.
        let soon = threshold - live.min(threshold) + promoted as usize;
        self.trim(soon.max(self.needed_of_late(peak)));
    }
    /// Frees the blocks without a `mark` bit before the others are swept: that needs no look at objects, and the program needs the space.
    fn free_unmarked_blocks(&self) {
        let space = &self.space;
        let used = space.used();
        for first in (0..used).step_by(BATCH) {
            let (mut empty, mut empties) = ([BlockId::new(0); BATCH], 0);
            self.gate.step(|| {
                for b in BlockId::range(first, (first + BATCH).min(used)) {
                    if space.kind(b) == BlockKind::Old
                        && space.info(b).unswept.load(Acquire) != 0
                        && space.has_no_marks(b)
                    {
                        empty[empties] = b;
                        empties += 1;
                    }
                }
            });
            if empties > 0 {
                self.free_blocks(&empty[..empties]);
            }
        }
    }
    /// Frees empty blocks between two stops, while no minor collection scans their cards.
    fn free_blocks(&self, blocks: &[BlockId]) {
        self.gate.between_stops(|| {
            for &b in blocks {
                if self.config.debug.poison {
                    // SAFETY: sweeping found no live object in the block, and no stop is under way that could look at it.
                    unsafe { crate::memory::poison(self.space.address(b), self.space.end(b)) };
                }
                self.space.free_block(b);
            }
        });
    }
}
