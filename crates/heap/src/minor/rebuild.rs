//! The nursery after a minor collection: evacuated blocks are freed, gaps between pinned objects can be used again, and blocks with many or
//! long-lived pins become old.
//!
//! # Invariants
//! * A block that keeps pinned objects stays in the nursery, with `start` bits for exactly these objects. It becomes an old block instead if there
//!   are more than [`MANY`], if a handle pins one of them, or if a thread that may refer to one of them is parked for long. So later collections
//!   need not deal with these objects one by one, and a thread that stays parked refers to nothing young ([`super::parked`]).
//! * If the collection promoted in place, every block with marked objects becomes an old block, and nothing is young.
//! * When pinned objects become old, the cards are marked on which they refer to young objects; while marking runs they are marked and given
//!   to the marker.
use crate::Heap;
use crate::memory::{List, poison};
use crate::minor::nursery::{FIRST_ROUND, FRAGMENT, Nursery, terminate};
use crate::minor::pace::{ENOUGH, SHORT, Work, eden};
use crate::minor::worker::EvacuationMode;
use crate::model::{Model, World};
use crate::object::each_slot;
use crate::space::lines::Lines;
use crate::space::{BLOCK, BlockId, BlockKind, Card, Space};
use std::sync::atomic::Ordering::*;

/// More pinned objects than this in a block make it old.
const MANY: usize = 64;

impl<M: Model, W: World> Heap<M, W> {
    /// Frees evacuated blocks and starts the nursery anew. `pins` are in ascending order; `copied` is what survived, which took that `work`. The world is
    /// stopped and the gate is shut.
    pub(crate) fn rebuild_nursery(
        &self,
        mode: EvacuationMode,
        marking: bool,
        pins: &[usize],
        copied: usize,
        work: Work,
    ) {
        let space = &self.space;
        let mut nursery = self.nursery.lock();
        nursery.fragments.clear();
        let (mut kept, mut survivors) = (0, 0);
        let mut all = pins;
        for b in space.all_blocks() {
            match space.kind(b) {
                BlockKind::Nursery if mode == EvacuationMode::InPlace => {
                    self.become_old(b, marking);
                }
                BlockKind::Survivors => {
                    space.info(b).live.store(nursery.next_round(), Relaxed);
                    space.set_kind(b, BlockKind::Nursery);
                    survivors += 1;
                }
                BlockKind::Nursery => {
                    let (base, end) = (space.address(b), space.end(b));
                    let first = all.partition_point(|p| *p < base);
                    let count = all[first..].partition_point(|p| *p < end);
                    let pins = &all[first..first + count];
                    all = &all[first + count..];
                    if pins.is_empty() {
                        if self.config.debug.poison {
                            // SAFETY: nothing in the block is pinned, and what was reachable was copied: the block is about to be freed.
                            unsafe { poison(base, end) };
                        }
                        space.clear_marks(b);
                        space.free_block(b);
                        continue;
                    }
                    if space.info(b).becomes_old.load(Relaxed) != 0 || count > MANY {
                        let used = self.become_old(b, marking);
                        self.major.sparse.fetch_add(BLOCK - used, Relaxed);
                        self.remember_promoted(pins, marking);
                        continue;
                    }
                    space.clear_starts(b);
                    space.clear_marks(b);
                    kept += 1;
                    let info = space.info(b);
                    info.age.store(1, Relaxed);
                    info.kept.store(1, Relaxed);
                    info.pinned.store(0, Relaxed);
                    let mut at = base;
                    for &pin in pins {
                        self.gap(&mut nursery.fragments, at, pin);
                        space.set_starts_exclusive(Card::of(pin), Space::bit(pin));
                        at = pin + size::<M>(pin);
                    }
                    self.gap(&mut nursery.fragments, at, end);
                }
                _ => {}
            }
        }
        self.reserve.set_young((kept + survivors) * BLOCK);
        if nursery.handed_out >= ENOUGH {
            let percent = (copied as u64 * 100 / nursery.handed_out as u64) as u32;
            self.survival.store(percent, Relaxed);
            self.promote_all.traced(percent);
        }
        let sizes = (
            self.config.nursery / BLOCK,
            self.config.nursery_most / BLOCK,
        );
        nursery.resize(copied, work, sizes);
        nursery.restart(kept, self.promote_all_blocks());
    }
    fn gap(&self, fragments: &mut List<(usize, usize)>, from: usize, to: usize) {
        if from >= to {
            return;
        }
        if self.config.debug.poison {
            // SAFETY: the gap lies between pinned objects; what was reachable in it was copied.
            unsafe { poison(from, to) };
        }
        // SAFETY: the gap is unused young memory from here on, and at least a word.
        unsafe { terminate(from) };
        if to - from >= FRAGMENT {
            fragments.push((from, to));
        }
    }
    /// Turns a nursery block into an old block that holds its marked objects; frees it if nothing is marked. Returns the bytes of the lines in use.
    fn become_old(&self, block: BlockId, marking: bool) -> usize {
        let space = &self.space;
        let (base, end) = (space.address(block), space.end(block));
        if !space.start_at_marks(block, marking) {
            if self.config.debug.poison {
                // SAFETY: nothing in the block is marked, and it is about to be freed.
                unsafe { poison(base, end) };
            }
            space.free_block(block);
            return 0;
        }
        // SAFETY: the `start` bits of the block were just made of its marked objects; the world is stopped.
        let used = unsafe { Lines::inspect::<M>(space, block) };
        self.is_old_now(block, used.bytes());
        self.old.bytes.fetch_add(used.bytes(), Relaxed);
        self.old.list_if_recyclable(space, block, &used);
        used.bytes()
    }
    /// Makes a nursery block an old one. Its `start` bits are exact already; its objects have `bytes` bytes.
    pub(crate) fn is_old_now(&self, block: BlockId, bytes: usize) {
        let space = &self.space;
        space.clean_cards(space.address(block), BLOCK);
        let info = space.info(block);
        for cell in [
            &info.age,
            &info.unswept,
            &info.conservatively_hit,
            &info.pinned,
            &info.becomes_old,
            &info.kept,
        ] {
            cell.store(0, Relaxed);
        }
        info.live.store(bytes as u32, Relaxed);
        space.set_kind(block, BlockKind::Old);
        if self.config.debug.poison {
            self.poison_gaps(block);
        }
    }
    fn poison_gaps(&self, block: BlockId) {
        let space = &self.space;
        let (base, end) = (space.address(block), space.end(block));
        let mut at = base;
        for card in space.cards_of(block) {
            for object in card.words(space.live_starts(block, card)) {
                // SAFETY: no live object lies between the end of one and the beginning of the next.
                unsafe { poison(at, object) };
                at = object + size::<M>(object);
            }
        }
        // SAFETY: no live object lies behind the last one of the block.
        unsafe { poison(at, end) };
    }
    /// Pinned objects have become old while others stay young: marks the cards on which they refer to young objects, and gives them to the
    /// marker.
    fn remember_promoted(&self, pins: &[usize], marking: bool) {
        let space = &self.space;
        for &object in pins {
            if marking {
                // SAFETY: the pinned object is old now, and marked: pins are `mark` bits.
                unsafe { self.marking(&mut self.major.marker(0)).scan_later(object) };
            }
            // SAFETY: a pinned object with its header.
            unsafe {
                let header = *(object as *const u64);
                each_slot::<M>(object, header, 0, usize::MAX, |field| {
                    let to = field.load(Relaxed);
                    if matches!(space.kind_at(to), BlockKind::Nursery | BlockKind::Survivors) {
                        space.dirty(field.address());
                    }
                });
            }
        }
    }
}

impl Nursery {
    /// Adapts the size of the nursery to a collection in which `survived` bytes were copied. The nursery has the first number of blocks at most while
    /// collections take little of the time, and the second otherwise.
    fn resize(&mut self, survived: usize, work: Work, (usual, most): (usize, usize)) {
        let goal = self.pace.collected(work, (self.handed_out, survived));
        let most = if goal > SHORT { most } else { usual };
        self.eden = eden(self.eden, most, (self.handed_out, survived), work.cpu, goal);
    }
    /// The number of the round behind this one.
    pub(super) fn next_round(&self) -> u32 {
        self.round.wrapping_add(1).max(2 * FIRST_ROUND)
    }
    /// Begins a new round of allocation in at least `least` blocks; `kept` blocks of the nursery are still in use.
    pub(crate) fn restart(&mut self, kept: usize, least: usize) {
        let eden = self.eden.max(least);
        self.blocks_left = eden.saturating_sub(kept).max(eden / 2);
        self.handed_out = 0;
        self.round = self.next_round();
        self.fragment_bytes = self.fragments.as_slice().iter().map(|f| f.1 - f.0).sum();
        self.size_tlabs();
    }
}

fn size<M: Model>(object: usize) -> usize {
    // SAFETY: callers pass pinned objects, which keep their headers.
    unsafe { M::size(object, *(object as *const u64)) }
}
