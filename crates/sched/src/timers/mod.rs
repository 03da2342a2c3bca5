//! Deadlines of parked threads: one wheel for each processor, so that carriers that set timers do not meet.
//!
//! # Why a wheel for each processor
//! Setting and cancelling a timer take a lock that nobody else wants. Whoever is idle empties the wheels of processors that are busy, and the
//! watcher those that nobody comes to, so a timer does not depend on the carrier that set it.
//!
//! # Invariants
//! * A thread has one timer at most. Only the thread itself (or the carrier, after it has left the thread's stack) sets and cancels it.
//! * A timer expires at the first look at or after its tick, and its deadline is rounded up to a tick: never early.
//! * `nearest` of a wheel is not later than its earliest deadline. It may be earlier, after a cancellation and before a cascade.
//! * An expired timer may unpark its thread after a cancellation came too late: the thread then has a token, and tests its condition again.
mod wheel;

use crate::deadline::NEVER;
use crate::sync::{
    AtomicU64, LeafLock,
    Ordering::{Acquire, Relaxed, Release},
    Padded,
};
use crate::table::Table;
use wheel::{Advanced, Timer, Wheel};

/// Nanoseconds of a tick, the granularity of deadlines.
pub const TICK: u64 = 1_000_000;

/// How many timers are moved under one lock.
const STEPS: usize = 256;

struct Shard {
    wheel: LeafLock<Wheel>,
    /// The wheel's nearest tick, changed under its lock; NEVER if it has no timers.
    nearest: AtomicU64,
}

/// See the module.
pub(crate) struct Timers {
    shards: Box<[Padded<Shard>]>,
    timers: Table<Timer>,
}

impl Timers {
    /// So many empty wheels.
    pub(crate) fn new(shards: u32) -> Timers {
        let shard = |_| {
            Padded(Shard {
                wheel: LeafLock::new(Wheel::new()),
                nearest: AtomicU64::new(NEVER),
            })
        };
        Timers {
            shards: (0..shards).map(shard).collect(),
            timers: Table::new(),
        }
    }
    /// The tick at whose beginning that time, in nanoseconds, has come.
    pub(crate) fn tick_of(deadline: u64) -> u64 {
        deadline.div_ceil(TICK)
    }
    /// Sets the timer of a thread in that wheel. `now` is a tick that has come.
    pub(crate) fn set(&self, shard: u32, id: u32, tick: u64, now: u64) {
        let timer = self.timers.at(id);
        timer.shard.store(shard, Relaxed);
        let shard = &self.shards[shard as usize];
        let mut wheel = shard.wheel.lock();
        // Mostly a comparison: once a tick for each wheel it does something.
        wheel.catch_up(&self.timers, now);
        wheel.insert(timer, id, tick);
        if tick < shard.nearest.load(Relaxed) {
            shard.nearest.store(tick, Release);
        }
    }
    /// Cancels the timer of a thread. False: it has expired, or was never set.
    pub(crate) fn cancel(&self, id: u32) -> bool {
        // The thread's own word: it says in which wheel the timer was set.
        let timer = self.timers.at(id);
        let shard = timer.shard.load(Relaxed);
        let mut wheel = self.shards[shard as usize].wheel.lock();
        wheel.remove(&self.timers, timer)
    }
    /// The nearest tick of a wheel.
    #[inline]
    pub(crate) fn nearest_of(&self, shard: u32) -> u64 {
        self.shards[shard as usize].nearest.load(Acquire)
    }
    /// The nearest tick of all wheels; NEVER if there are no timers.
    pub(crate) fn nearest(&self) -> u64 {
        let all = 0..self.shards.len() as u32;
        all.map(|s| self.nearest_of(s)).min().unwrap_or(NEVER)
    }
    /// Takes expired timers out of a wheel: how many are in the buffer, and whether there may be more.
    pub(crate) fn take_due(&self, shard: u32, tick: u64, buffer: &mut [u32]) -> (usize, bool) {
        let shard = &self.shards[shard as usize];
        let mut wheel = shard.wheel.lock();
        let Advanced { expired, more } = wheel.advance(&self.timers, tick, buffer, STEPS);
        shard
            .nearest
            .store(wheel.nearest().unwrap_or(NEVER), Release);
        (expired, more)
    }
}
