//! Memory that the program says it holds and the collector does not see (GC.AddMemoryPressure and RemoveMemoryPressure).
//!
//! # Invariants
//! * The balance is what was added less what was removed, and never less than nothing: removing more than there is removes all.
//! * A cycle is asked for when the balance has grown, since one was last asked for, by as much as the old generation holds (or
//!   [`LEAST`]). Removing asks for nothing and leaves no debt: what is added after it counts in full.
use vervet_os::LeafLock;

/// Growth by less than this is not worth a cycle.
const LEAST: u64 = 32 << 20;

#[derive(Default)]
struct Balance {
    bytes: u64,
    /// What `bytes` was when a cycle was last asked for, or less, if it has been less since.
    asked_at: u64,
}

impl Balance {
    /// So many bytes come, or go if they are negative, while the old generation holds `old`. Is it time for a cycle?
    fn change(&mut self, bytes: i64, old: u64) -> bool {
        if bytes < 0 {
            self.bytes = self.bytes.saturating_sub(bytes.unsigned_abs());
            self.asked_at = self.asked_at.min(self.bytes);
            return false;
        }
        self.bytes = self.bytes.saturating_add(bytes.unsigned_abs());
        let due = self.bytes - self.asked_at > old.max(LEAST);
        if due {
            self.asked_at = self.bytes;
        }
        due
    }
}

static BALANCE: LeafLock<Balance> = LeafLock::new(Balance {
    bytes: 0,
    asked_at: 0,
});

/// The program has (or, if negative, has no longer) so many bytes more that the collector does not see. Is it time for a cycle?
pub(super) fn change(bytes: i64, old: usize) -> bool {
    BALANCE.lock().change(bytes, old as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    const MB: i64 = 1 << 20;

    #[test]
    fn a_cycle_is_due_when_the_balance_has_grown_as_much_as_the_heap() {
        let mut b = Balance::default();
        assert!(!b.change(32 * MB, 0));
        assert!(b.change(1, 0), "more than the least");
        assert!(!b.change(32 * MB, 0) && b.change(1, 0), "and again");
        assert!(!b.change(100 * MB, 100 << 20) && b.change(1, 100 << 20));
    }
    #[test]
    fn what_was_removed_leaves_no_debt_and_asks_for_nothing() {
        let mut b = Balance::default();
        for _ in 0..3 {
            assert!(b.change(100 * MB, 0));
            assert!(!b.change(-100 * MB, 0));
            assert_eq!((b.bytes, b.asked_at), (0, 0));
        }
        // More is removed than there is, the most there can be at last.
        assert!(!b.change(-MB, 0) && !b.change(i64::MIN, 0));
        assert!(
            !b.change(1, 0),
            "a balance below nothing would be a large one"
        );
        assert!(b.change(32 * MB, 0), "nor is there a debt to be paid first");
    }
    #[test]
    fn the_balance_has_no_end_to_run_over() {
        let mut b = Balance::default();
        assert!(b.change(i64::MAX, 0) && b.change(i64::MAX, 0));
        b.change(i64::MAX, 0);
        assert!(!b.change(i64::MAX, 0), "it is as large as it gets");
        assert!(!b.change(-1, 0));
    }
}
