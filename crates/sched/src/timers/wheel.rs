//! A hierarchical timing wheel: deadlines of threads in ticks, inserted and removed in constant time.
//!
//! ```text
//!   level 0   [ 64 slots of 1 tick     ]   deadlines that differ from `now` in the lowest 6 bits only
//!   level 1   [ 64 slots of 64 ticks   ]   ... in bits 6 to 11, and not above
//!   level 2   [ 64 slots of 4096 ticks ]   ...
//!   ...
//!   level 6   [ 64 slots of 2^36 ticks ]   up to 2^42 ticks, 139 years of milliseconds
//! ```
//! A timer lies at the level of the highest group of 6 bits in which its deadline differs from `now`, in the slot that these bits say. When `now`
//! reaches the beginning of a slot of a higher level, the slot's timers are placed again, each lower than before (*cascade*).
//!
//! # Invariants
//! * All timers of a level agree with `now` in the bits above the level. So occupied slots of a level lie at or after `now`'s, in their order, and
//!   the lowest bit of `occupied` is the next one.
//! * A slot of a level above 0 that begins at `now` is being cascaded. Nothing is placed there meanwhile: a deadline with the same bits belongs lower.
//! * A timer is in one slot, which `place` names, or in none ([`NOWHERE`]); `index` says where in the slot.
//! * Slots are arrays of ids. A list through the timers would need no memory of its own, but emptying it waits for the memory of each timer in turn;
//!   ids of an array can be looked up side by side.
//! * One call does a bounded number of steps, so that the lock around the wheel is never held for long, however many timers expire at once.
use crate::sync::{AtomicU32, AtomicU64, Ordering::Relaxed};
use crate::table::{Table, Zeroed};

const BITS: u32 = 6;
const SLOTS: usize = 1 << BITS;
const LEVELS: usize = 7;
/// Deadlines from here on are never met.
const END: u64 = 1 << (BITS * LEVELS as u32);
/// The place of a timer that is in no slot; a place is level * SLOTS + slot + 1 otherwise.
const NOWHERE: u32 = 0;
/// Slots that have become empty keep room for so many ids.
const KEEP: usize = 64;

/// The timer of a thread. Its words belong to the wheel, under the lock, except that `shard` is the thread's own.
#[derive(Default, Debug)]
pub(crate) struct Timer {
    place: AtomicU32,
    index: AtomicU32,
    /// In which wheel it was put last.
    pub(crate) shard: AtomicU32,
    deadline: AtomicU64,
}
#[expect(unsafe_code, reason = "promises that zeros are a value")]
// SAFETY: atomics of zero, which need no drop.
unsafe impl Zeroed for Timer {}

#[derive(Debug)]
struct Level {
    /// A bit for each slot that has timers.
    occupied: u64,
    slots: [Vec<u32>; SLOTS],
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Wheel {
    /// No deadline before this tick is in the wheel but in slots that are being emptied.
    now: u64,
    /// `LEVELS` of them; not in place, because a wheel would be 10 KiB on the stack of whoever makes it.
    levels: Box<[Level]>,
}

/// What [`Wheel::advance`] has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Advanced {
    /// How many ids were put into the buffer.
    pub(crate) expired: usize,
    /// There may be more to do up to the same tick.
    pub(crate) more: bool,
}

impl Wheel {
    /// An empty wheel.
    pub(crate) fn new() -> Wheel {
        Wheel {
            now: 0,
            levels: (0..LEVELS)
                .map(|_| Level {
                    occupied: 0,
                    slots: [const { Vec::new() }; SLOTS],
                })
                .collect(),
        }
    }
    /// Puts a timer where its deadline says.
    #[inline]
    fn place(&mut self, timer: &Timer, id: u32, deadline: u64) {
        // What is late is due at `now`; what is too late to count is at the end.
        let at = deadline.clamp(self.now, END - 1);
        let differs = (at ^ self.now) | (SLOTS as u64 - 1);
        let level = ((u64::BITS - 1 - differs.leading_zeros()) / BITS) as usize;
        let slot = (at >> (level as u32 * BITS)) as usize % SLOTS;
        let row = &mut self.levels[level];
        row.occupied |= 1 << slot;
        let ids = &mut row.slots[slot];
        let place = (level * SLOTS + slot) as u32 + 1;
        timer.place.store(place, Relaxed);
        timer.index.store(ids.len() as u32, Relaxed);
        ids.push(id);
    }
    /// Takes the last timer out of a slot that is not empty; its place is to be set.
    #[inline]
    fn take_last(&mut self, level: usize, slot: usize) -> u32 {
        let row = &mut self.levels[level];
        let ids = &mut row.slots[slot];
        let id = ids.pop().expect("an occupied slot");
        if ids.is_empty() {
            row.occupied &= !(1 << slot);
            // Very many timers may have had the same tick.
            if ids.capacity() > KEEP {
                *ids = Vec::new();
            }
        }
        id
    }
    /// Brings the wheel to `tick` as far as nothing expires. (A wheel that was left alone lags behind, and would put near timers far up.)
    pub(crate) fn catch_up(&mut self, timers: &Table<Timer>, tick: u64) {
        if self.now < tick {
            self.advance(timers, tick, &mut [], SLOTS);
        }
    }
    /// Puts in the timer of a thread, which is in no wheel.
    pub(crate) fn insert(&mut self, timer: &Timer, id: u32, deadline: u64) {
        debug_assert_eq!(timer.place.load(Relaxed), NOWHERE, "a thread has one timer");
        timer.deadline.store(deadline, Relaxed);
        self.place(timer, id, deadline);
    }
    /// Takes out the timer of a thread; false if it has expired.
    pub(crate) fn remove(&mut self, timers: &Table<Timer>, timer: &Timer) -> bool {
        let place = timer.place.load(Relaxed) as usize;
        if place == NOWHERE as usize {
            return false;
        }
        let (level, slot) = ((place - 1) / SLOTS, (place - 1) % SLOTS);
        let index = timer.index.load(Relaxed);
        // The last one takes its place in the array.
        let last = self.take_last(level, slot);
        if let Some(hole) = self.levels[level].slots[slot].get_mut(index as usize) {
            *hole = last;
            timers.at(last).index.store(index, Relaxed);
        }
        timer.place.store(NOWHERE, Relaxed);
        true
    }
    /// The next slot to be emptied: when it begins, its level and its number. At the same time the higher level comes first, for its timers may be
    /// due then.
    fn next(&self) -> Option<(u64, usize, usize)> {
        let mut best: Option<(u64, usize, usize)> = None;
        for (level, row) in self.levels.iter().enumerate() {
            if row.occupied != 0 {
                let slot = row.occupied.trailing_zeros() as usize;
                let shift = level as u32 * BITS;
                let start = (self.now >> shift >> BITS << BITS | slot as u64) << shift;
                if best.is_none_or(|b| start <= b.0) {
                    best = Some((start, level, slot));
                }
            }
        }
        best
    }
    /// No timer expires before this tick; None: there are none.
    pub(crate) fn nearest(&self) -> Option<u64> {
        self.next().map(|(start, ..)| start.max(self.now))
    }
    /// Takes out timers with deadlines up to `tick`, as many as the buffer holds, and cascades what begins until then, in at most `steps` steps.
    pub(crate) fn advance(
        &mut self,
        timers: &Table<Timer>,
        tick: u64,
        buffer: &mut [u32],
        mut steps: usize,
    ) -> Advanced {
        let mut expired = 0;
        while let Some((start, level, slot)) = self.next().filter(|n| n.0 <= tick) {
            // (A slot that an earlier call has left half empty begins at `now`.)
            debug_assert!(start >= self.now, "time goes back");
            self.now = start;
            while self.levels[level].occupied & 1 << slot != 0 {
                if steps == 0 || level == 0 && expired == buffer.len() {
                    return Advanced {
                        expired,
                        more: true,
                    };
                }
                steps -= 1;
                let id = self.take_last(level, slot);
                let timer = timers.at(id);
                if level == 0 {
                    timer.place.store(NOWHERE, Relaxed);
                    buffer[expired] = id;
                    expired += 1;
                } else {
                    self.place(timer, id, timer.deadline.load(Relaxed));
                }
            }
        }
        self.now = self.now.max(tick.min(END - 1));
        Advanced {
            expired,
            more: false,
        }
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};
    use std::collections::BTreeMap;

    /// Takes out everything up to a tick, in small steps.
    fn advance(wheel: &mut Wheel, timers: &Table<Timer>, tick: u64) -> Vec<u32> {
        let mut all = Vec::new();
        loop {
            let mut buffer = [0; 3];
            let done = wheel.advance(timers, tick, &mut buffer, 5);
            all.extend_from_slice(&buffer[..done.expired]);
            if !done.more {
                return all;
            }
        }
    }

    #[test]
    fn timers_expire_at_their_tick_at_every_distance() {
        for start in [0, 1, 63, 64, 4095, 1 << 30, (1 << 36) - 2] {
            for distance in (0..40).flat_map(|b| [(1u64 << b) - 1, 1 << b, (1 << b) + 1]) {
                let (timers, mut wheel) = (Table::new(), Wheel::new());
                assert!(advance(&mut wheel, &timers, start).is_empty());
                let deadline = start + distance;
                wheel.insert(timers.at(1), 1, deadline);
                if distance > 0 {
                    assert!(advance(&mut wheel, &timers, deadline - 1).is_empty());
                    assert!(wheel.nearest().unwrap() <= deadline);
                }
                assert_eq!(advance(&mut wheel, &timers, deadline), [1]);
                assert_eq!(wheel.nearest(), None);
            }
        }
    }

    #[test]
    fn what_is_late_expires_at_once_and_what_is_too_far_never() {
        let (timers, mut wheel) = (Table::new(), Wheel::new());
        advance(&mut wheel, &timers, 1000);
        wheel.insert(timers.at(1), 1, 3);
        wheel.insert(timers.at(2), 2, u64::MAX);
        wheel.insert(timers.at(3), 3, 1000);
        assert_eq!(wheel.nearest(), Some(1000));
        let mut both = advance(&mut wheel, &timers, 1000);
        both.sort();
        assert_eq!(both, [1, 3]);
        assert!(advance(&mut wheel, &timers, END - 2).is_empty());
        assert!(wheel.remove(&timers, timers.at(2)));
        assert!(!wheel.remove(&timers, timers.at(2)));
    }

    /// The wheel against a sorted map, with random distances of all sizes, cancelled timers and leaps of time.
    #[test]
    fn the_wheel_is_a_sorted_map() {
        let rounds = if cfg!(miri) { 1 } else { 40 };
        for seed in 0..rounds {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let (timers, mut wheel) = (Table::new(), Wheel::new());
            let mut model: BTreeMap<u32, u64> = BTreeMap::new();
            let mut now = 0;
            for _ in 0..if cfg!(miri) { 200 } else { 3000 } {
                let id = 1 + random.next_u32() % 300;
                let distance = random.next_u64() >> (20 + random.next_u32() % 44);
                match random.next_u32() % 8 {
                    0..4 => {
                        if model.insert(id, (now + distance).min(END - 1)).is_some() {
                            assert!(wheel.remove(&timers, timers.at(id)));
                        }
                        wheel.insert(timers.at(id), id, now + distance);
                    }
                    4..6 => assert_eq!(
                        wheel.remove(&timers, timers.at(id)),
                        model.remove(&id).is_some()
                    ),
                    _ => {
                        now = (now + distance / 2).min(END - 1);
                        let mut expired = advance(&mut wheel, &timers, now);
                        expired.sort();
                        let due: Vec<u32> = model
                            .extract_if(.., |_, d| *d <= now)
                            .map(|e| e.0)
                            .collect();
                        assert_eq!(expired, due, "seed {seed}");
                    }
                }
                let nearest = model.values().min().copied();
                assert_eq!(wheel.nearest().is_some(), nearest.is_some());
                assert!(nearest.is_none_or(|n| wheel.nearest().unwrap() <= n));
            }
        }
    }
}
