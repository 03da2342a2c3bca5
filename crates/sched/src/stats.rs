//! What the scheduler has done, in numbers, for `--stats`.
//!
//! # Invariants
//! * A processor's counters are written by the carrier that holds it, without a locked instruction; others only read. What is counted by anybody
//!   is in [`Shared`], which rarely changes.
//! * A sum is not the state at one moment: counters go on while they are read.
use crate::sync::{AtomicU64, Ordering::Relaxed};

macro_rules! counters {
    ($(#[$of:meta])* $name:ident { $($(#[$doc:meta])* $field:ident),* $(,)? }) => {
        $(#[$of])*
        #[derive(Debug, Default)]
        pub(crate) struct $name { $($(#[$doc])* pub(crate) $field: AtomicU64),* }
        impl $name {
            /// Adds the counters to the sums of the same names.
            pub(crate) fn add_to(&self, stats: &mut Stats) {
                $(stats.$field += self.$field.load(Relaxed);)*
            }
        }
    };
}
counters! {
    /// A processor's.
    Counters { spawned, ended, switches, slot_runs, yields, parks, not_parked, preempted, steals, stolen, overflows, timers_set, unparks }
}
counters! {
    /// Everybody's.
    Shared {
        preempt_requests, handed_over, retaken, lost, slots_flushed, wakes, carriers_started, carriers_ended, carriers_refused, timers_fired, polls, spawned,
        ended, unparks
    }
}

/// Counts one more, for the only writer.
#[inline]
pub(crate) fn bump(counter: &AtomicU64) {
    counter.store(counter.load(Relaxed).wrapping_add(1), Relaxed);
}
/// Counts more, whoever does.
#[inline]
pub(crate) fn count(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Relaxed);
}

/// Sums since the scheduler was made.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Stats {
    /// Green threads that were started.
    pub spawned: u64,
    /// Green threads that have ended.
    pub ended: u64,
    /// Times that a carrier switched to a green thread.
    pub switches: u64,
    /// Of these, threads that came from the slot.
    pub slot_runs: u64,
    /// Times that a thread let others run.
    pub yields: u64,
    /// Times that a thread parked.
    pub parks: u64,
    /// Times that a thread was unparked before it was parked, and went on.
    pub not_parked: u64,
    /// Times that a thread was made to let others run.
    pub preempted: u64,
    /// Times that a carrier stole from another processor.
    pub steals: u64,
    /// Threads that were stolen.
    pub stolen: u64,
    /// Times that a full local queue handed half of it over.
    pub overflows: u64,
    /// Timers that were set.
    pub timers_set: u64,
    /// Requests for preemption.
    pub preempt_requests: u64,
    /// Processors that were handed over before a call that blocks.
    pub handed_over: u64,
    /// Processors that were retaken from a carrier in a native call.
    pub retaken: u64,
    /// Times that a carrier came back from a native call and found no processor.
    pub lost: u64,
    /// Threads that the watcher took out of a slot.
    pub slots_flushed: u64,
    /// Carriers that were woken.
    pub wakes: u64,
    /// OS threads that were started as carriers.
    pub carriers_started: u64,
    /// OS threads that ended, because there were too many.
    pub carriers_ended: u64,
    /// OS threads that could not be started.
    pub carriers_refused: u64,
    /// Parked threads that were made ready.
    pub unparks: u64,
    /// Timers that expired.
    pub timers_fired: u64,
    /// Polls for descriptors.
    pub polls: u64,
}

impl Stats {
    /// Adds what [`Counters`] and [`Shared`] hold.
    pub(crate) fn sum<'a>(shared: &Shared, all: impl Iterator<Item = &'a Counters>) -> Stats {
        let mut stats = Stats::default();
        shared.add_to(&mut stats);
        all.for_each(|counters| counters.add_to(&mut stats));
        stats
    }
}
