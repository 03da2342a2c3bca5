//! When a cycle begins, how mutators help it to keep up, and how much free memory may stay committed.
//!
//! # Invariants
//! * A cycle is asked for where the world runs, and once.
//! * Assistance is bounded in time, and the mutator that assists waits for nobody.
use crate::Heap;
use crate::model::{Model, World};
use crate::space::BLOCK;
use std::sync::atomic::Ordering::*;
use vervet_os::clock;

/// Beyond this many bytes an old generation counts as large: memory matters more than time.
const LARGE: usize = 256 << 20;
/// One in this many bytes of the old generation may be free in partly used blocks before promotion has to copy into them; of the bytes beyond
/// [`LARGE`] one in `HOLES_BEYOND`.
const HOLES: usize = 6;
const HOLES_BEYOND: usize = 64;
/// What a parked thread counts for, in bytes, when a cycle is due: its stack uses a page at least, and a cycle scans it.
const PARKED: usize = 4 << 10;
/// A cycle begins when the blocks that became old because of pinned objects have so many unused bytes and half of the old generation besides.
const MOST_SPARSE: usize = 32 << 20;

impl<M: Model, W: World> Heap<M, W> {
    /// Begins a cycle if the old generation has grown enough, or has many new blocks that are nearly empty: a cycle frees those whose objects are dead.
    /// Called where the world runs.
    pub(crate) fn consider_major(&self) {
        let old = self.old_bytes();
        let sparse = self.major.sparse.load(Relaxed);
        if self.has_grown(old) || sparse >= MOST_SPARSE + old / 2 {
            let (asked, ended) = (
                self.major.asked.load(Acquire),
                self.major.ended.load(Acquire),
            );
            if asked == ended {
                self.ask_for_major();
            }
        }
    }
    /// Has the old generation grown enough for a cycle? Parked threads count as bytes of live objects do, because a cycle has as much work with them:
    /// without that, a program that starts a million threads would have all of them scanned a dozen times.
    fn has_grown(&self, old: usize) -> bool {
        let threshold = self.major.threshold.load(Relaxed);
        let most = |threshold: usize| threshold.min(self.config.max_heap);
        old >= most(threshold)
            && old
                >= most(threshold.saturating_add(self.growth(self.world.parked_count() * PARKED)))
    }
    /// In the pause of a minor collection, while marking runs: marks for some time if the program promotes faster than the marker marks. The
    /// time increases with the growth of the old generation since the cycle began.
    pub(crate) fn assist(&self) {
        if !self.major.is_marking() {
            return;
        }
        let goal = self.major.goal.load(Relaxed);
        let percent = self.old_bytes().saturating_sub(goal) / (goal / 100 + 1);
        let ns = match percent {
            0..10 => return,
            10..50 => (percent - 10) as u64 * 25_000,
            50..100 => 1_000_000,
            100..200 => 4_000_000,
            _ => 1_000_000_000,
        };
        // One worker only: waiting for a helper may take longer than this is allowed to take.
        self.major.shared_stack.enter();
        self.marking(&mut self.major.marker(0))
            .drain_until(clock::now() + ns);
    }
    /// The size of the old generation, in bytes, at which the next cycle begins. Now the generation has `live` bytes, of which the cycle has
    /// `seen` some; the rest was promoted since the cycle began and may be garbage already, which is no reason to wait longer.
    pub(crate) fn next_threshold(&self, live: usize, seen: usize) -> usize {
        (seen + self.growth(seen))
            .max(live + self.growth(live) / 4)
            .max(self.config.min_major)
    }
    /// By how many bytes the old generation may grow between two cycles that have so many bytes to mark.
    fn growth(&self, bytes: usize) -> usize {
        bytes.min(LARGE) / 100 * self.config.growth_percent
            + bytes.saturating_sub(LARGE) / 100 * self.config.growth_percent_beyond
    }
    /// Is so much of the old generation free in partly used blocks that promotion should fill it? Promotion in place does not, copying does.
    pub(crate) fn has_holes(&self) -> bool {
        let old = self.old.bytes.load(Relaxed);
        self.old.recyclable.free()
            > old.min(LARGE) / HOLES + old.saturating_sub(LARGE) / HOLES_BEYOND
    }
    /// Notes how many blocks are in use, when nothing was freed yet, and again later in the sweep. Gives how many there were at most of late; 0 if the program has asked
    /// for this cycle.
    pub(super) fn note_peak(&self) -> usize {
        let (cycle, asked) = (
            self.major.begun.load(Relaxed),
            self.major.by_program.load(Acquire),
        );
        match cycle.wrapping_sub(asked) as i32 <= 0 {
            true => self.major.peak.forget(),
            false => self.major.peak.note(self.space.in_use(), clock::now()),
        }
    }
    /// How many bytes the program will soon need if it goes on as it did of late, when so many blocks were in use.
    pub(super) fn needed_of_late(&self, peak: usize) -> usize {
        (peak.saturating_sub(self.space.in_use()) * BLOCK).min(LARGE)
    }
    /// Gives the pages of free blocks back to the system, except `soon` bytes that the program will need and some more.
    pub(crate) fn trim(&self, soon: usize) {
        let nursery = self.config.nursery.max(self.nursery.lock().eden * BLOCK);
        let some = nursery * 2 + self.old_bytes() / 8;
        self.space.trim((soon + some) / BLOCK);
    }
}
