//! How many blocks the program has used of late: so many it will need again soon.
//!
//! # Invariants
//! A number counts for [`OF_LATE`] at least, and twice as long at most. The collector's thread writes it, and nobody else.
use std::sync::atomic::Ordering::*;
use std::sync::atomic::{AtomicU64, AtomicUsize};

/// The length of a period, in nanoseconds.
const OF_LATE: u64 = 1_000_000_000;

/// How many blocks were in use at most, in the period that runs and in the one before. (Numbers of cycles say nothing: a program that leaves large objects behind has hundreds in a
/// second, and between them the blocks in use differ by a third. What is given back then is zeroed by page faults soon after.)
#[derive(Default)]
pub(super) struct Peak {
    now: AtomicUsize,
    before: AtomicUsize,
    since: AtomicU64,
}
impl Peak {
    /// Notes that so many blocks are in use at that time. Gives how many were at most of late.
    pub(super) fn note(&self, blocks: usize, time: u64) -> usize {
        if time.saturating_sub(self.since.load(Relaxed)) >= OF_LATE {
            self.before.store(self.now.swap(0, Relaxed), Relaxed);
            self.since.store(time, Relaxed);
        }
        self.now.fetch_max(blocks, Relaxed);
        self.now.load(Relaxed).max(self.before.load(Relaxed))
    }
    /// What was in use counts no more. Gives 0.
    pub(super) fn forget(&self) -> usize {
        self.now.store(0, Relaxed);
        self.before.store(0, Relaxed);
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_counts_for_one_period_at_least_and_two_at_most() {
        let peak = Peak::default();
        let at = |periods: u64, part: u64| 5 * OF_LATE + periods * OF_LATE + part;
        assert_eq!(peak.note(10, at(0, 0)), 10);
        assert_eq!(peak.note(90, at(0, OF_LATE - 1)), 90);
        assert_eq!(peak.note(20, at(1, 0)), 90);
        assert_eq!(peak.note(30, at(1, OF_LATE - 1)), 90);
        assert_eq!(peak.note(20, at(2, 0)), 30);
        assert_eq!(peak.forget(), 0);
        assert_eq!(peak.note(5, at(2, 1)), 5);
    }
}
