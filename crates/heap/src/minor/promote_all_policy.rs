//! How many minor collections may promote everything before one has to trace again.
//!
//! # Invariants
//! Credit is earned by collections that trace and find that nearly everything survives, and it doubles: 1, 3, then 7 collections. One that
//! finds less takes all credit away.
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// At this percentage of survivors nearly everything survives.
const NEARLY_ALL: u32 = 95;
/// At most this many collections promote everything before one traces.
const MOST: u32 = 7;

/// The credit of collections that trace. See the module.
#[derive(Default)]
pub(crate) struct PromoteAllPolicy {
    /// Collections that may still promote everything.
    left: AtomicU32,
    /// What the last collection that traced earned.
    earned: AtomicU32,
}

impl PromoteAllPolicy {
    /// A collection has traced, and `percent` of the young bytes survived.
    pub fn traced(&self, percent: u32) {
        let earned = match percent {
            NEARLY_ALL.. => (self.earned.load(Relaxed) * 2 + 1).min(MOST),
            _ => 0,
        };
        self.earned.store(earned, Relaxed);
        self.left.store(earned, Relaxed);
    }
    /// Should the next collection promote everything?
    pub fn is_left(&self) -> bool {
        self.left.load(Relaxed) > 0
    }
    /// As [`PromoteAllPolicy::is_left`], for the collection that begins: it uses one up.
    pub fn take(&self) -> bool {
        let left = self.left.load(Relaxed);
        self.left.store(left.saturating_sub(1), Relaxed);
        left > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn trust_is_earned_slowly_and_lost_at_once() {
        let t = PromoteAllPolicy::default();
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
