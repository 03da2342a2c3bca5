//! Promotion en bloc: while nearly everything young survives, most minor collections do not even ask what does.
//!
//! # Invariants
//! * Every nursery block becomes an old one with all its objects, the dead included; then nothing is young, so no slot changes, no
//!   card is needed (and those that are marked need no look), and every field of a dead object still refers to an object that is there. The next major collection finds
//!   the dead. (Before its first stop looks at anything, it collects the nursery by tracing, as after every few collections
//!   en bloc, to see whether nearly everything still survives: [`Trust`].)
//! * It is not done while marking runs: the marker would have to look at all that, and fall behind.
use crate::Heap;
use crate::memory::poison;
use crate::minor::Outcome;
use crate::model::{Model, World};
use crate::roots::conservative::each_young;
use crate::space::lines::Lines;
use crate::space::old;
use crate::space::{BLOCK, CARD, CARDS, CLEAN, Kind, Space};
use crate::threads::gate::Stop;
use std::sync::atomic::{AtomicU32, Ordering::*};

/// From this percentage of survivors on it is taken that nearly everything survives.
const NEARLY_ALL: u32 = 95;
/// At most so many collections en bloc follow one another.
const MOST: u32 = 7;

/// What is promoted en bloc at a time is at most this part of the old generation.
const PART: usize = 32;

/// How many minor collections may be en bloc before one has to trace again.
#[derive(Default)]
pub(crate) struct Trust {
    left: AtomicU32,
    earned: AtomicU32,
}

impl Trust {
    /// A collection has traced, and so many percent survived.
    pub fn traced(&self, percent: u32) {
        let earned = match percent {
            NEARLY_ALL.. => (self.earned.load(Relaxed) * 2 + 1).min(MOST),
            _ => 0,
        };
        self.earned.store(earned, Relaxed);
        self.left.store(earned, Relaxed);
    }
    /// Is the next collection to be en bloc?
    fn is_left(&self) -> bool {
        self.left.load(Relaxed) > 0
    }
    /// As [`Trust::is_left`], for the collection that is next.
    pub fn take(&self) -> bool {
        let left = self.left.load(Relaxed);
        self.left.store(left.saturating_sub(1), Relaxed);
        left > 0
    }
}

impl<M: Model, W: World> Heap<M, W> {
    /// Makes everything young old. The world is stopped, and this thread collects. The gate is shut afterwards.
    pub(crate) fn promote_en_bloc(&self, stop: &mut Stop<'_>) -> Outcome {
        stop.shut();
        let space = &self.space;
        let mut threads = 0;
        self.world.mutators(&mut |m| {
            threads += 1;
            m.window.give_up();
        });
        let mut promoted = 0;
        for b in 0..space.used() {
            match space.kind(b) {
                Kind::Nursery => promoted += self.become_old_whole(b),
                Kind::Old | Kind::Statics => self.forget_cards(b, BLOCK),
                Kind::Large if space.info(b).flag.load(Relaxed) != 0 => {
                    self.forget_cards(b, space.info(b).size.load(Relaxed));
                }
                _ => {}
            }
        }
        self.old.bytes.fetch_add(promoted, Relaxed);
        let stays = &mut |object| (object, false);
        self.world.strong_handles(true, stays);
        for long in [false, true] {
            self.world.weak_handles(long, true, &mut |o| Some(stays(o)));
        }
        self.world.noted(true, &mut |o| Some((o, false)));
        self.finalizers.young_are_old(space);
        self.room.left_young(0);
        let mut nursery = self.nursery.lock();
        nursery.fragments.clear();
        nursery.threads = threads;
        nursery.again(0, self.en_bloc_next());
        Outcome {
            promoted,
            ..Outcome::default()
        }
    }
    /// Nothing is young any more that what lies on the block's marked cards could refer to.
    fn forget_cards(&self, block: usize, size: usize) {
        let space = &self.space;
        let base = space.address(block);
        space.dirty_cards(base, base + size.next_multiple_of(8 * CARD), |card| {
            space.card(card).store(CLEAN, Relaxed);
        });
    }
    /// Blocks that the nursery may have if the next collection is en bloc, which takes little time, whatever is young: a small part of
    /// what is old, since it may all be garbage. Otherwise 0.
    pub(crate) fn en_bloc_next(&self) -> usize {
        if !self.trust.is_left() || self.has_holes() || self.major.is_marking() {
            return 0;
        }
        (self.old_bytes() / PART).min(self.config.nursery / 2) / BLOCK
    }
    /// A nursery block becomes old with all its objects. Their bytes.
    fn become_old_whole(&self, block: usize) -> usize {
        let space = &self.space;
        let base = space.address(block);
        let mut starts = [0u64; CARDS];
        let mut bytes = 0;
        each_young::<M>(space, block, |object, size| {
            starts[(object - base) / CARD] |= Space::bit(object);
            bytes += size;
        });
        if bytes == 0 {
            if self.config.debug.poison {
                poison(base, base + BLOCK);
            }
            space.clear_marks(block);
            space.give(block);
            return 0;
        }
        for (i, bits) in starts.into_iter().enumerate() {
            space.start_word(base + i * CARD).store(bits, Relaxed);
            space.mark_word(base + i * CARD).store(0, Relaxed);
        }
        self.is_old_now(block, bytes);
        if old::has_room(bytes) {
            let used = Lines::look::<M>(space, block);
            self.old.note_room(space, block, &used);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn trust_is_earned_slowly_and_lost_at_once() {
        let t = Trust::default();
        assert!(!t.take());
        for earned in [1, 3, 7, 7] {
            t.traced(NEARLY_ALL);
            for _ in 0..earned {
                assert!(t.take());
            }
            assert!(!t.take());
        }
        t.traced(NEARLY_ALL - 1);
        assert!(!t.take());
        t.traced(100);
        assert!(t.take() && !t.take());
    }
}
