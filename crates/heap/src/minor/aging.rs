//! Whether copying survivors within the nursery, before they are promoted, is worth it.
//!
//! # Invariants
//! Objects are promoted at their first survival only while nearly all that survived one collection survived the next as well. Two collections
//! of every [`ROUND`] still age, to find out whether that is so.
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

/// If at least this percentage of once-survived bytes survives again, aging saves too little to be worth a copy.
const NEARLY_ALL: usize = 90;
/// Collections that left fewer bytes young are not judged.
const ENOUGH: usize = 128 << 10;
/// Collections that promote at once before two that age.
const ROUND: u32 = 14;

/// See the module.
#[derive(Default)]
pub(crate) struct Aging {
    /// Bytes that the last collection left in the nursery.
    left_young: AtomicUsize,
    /// Collections that may still promote at the first survival.
    at_once: AtomicU32,
}

impl Aging {
    /// A collection aged: it promoted `promoted` bytes of those that the one before had left young, and left `left_young` bytes young.
    pub fn aged(&self, promoted: usize, left_young: usize) {
        let before = self.left_young.swap(left_young, Relaxed);
        if before >= ENOUGH && promoted >= before / 100 * NEARLY_ALL {
            self.at_once.store(ROUND, Relaxed);
        }
    }
    /// May the collection that begins promote at the first survival?
    pub fn take(&self) -> bool {
        let n = self.at_once.load(Relaxed);
        if n > 0 {
            self.at_once.store(n - 1, Relaxed);
            self.left_young.store(0, Relaxed);
        }
        n > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn objects_are_promoted_at_once_while_aging_finds_nothing() {
        let a = Aging::default();
        a.aged(0, ENOUGH);
        assert!(!a.take(), "nothing is known of one collection");
        a.aged(ENOUGH / 2, ENOUGH);
        assert!(!a.take(), "half of them died");
        a.aged(ENOUGH, ENOUGH);
        for _ in 0..ROUND {
            assert!(a.take());
        }
        assert!(!a.take(), "now one is to age");
        a.aged(0, ENOUGH);
        assert!(!a.take(), "and the next tells");
        a.aged(ENOUGH * 95 / 100, ENOUGH);
        assert!(a.take());
    }
}
