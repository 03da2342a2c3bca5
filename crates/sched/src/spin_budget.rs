//! How long a carrier looks at descriptors before it rests.
//!
//! Invariant: a wait that the longest look would have met makes the next look twice as long, a longer wait, or a longer rest for other reasons, half as long, within limits. So a carrier whose
//! threads wait for long spends next to nothing, and one whose threads are answered at once does not sleep.
use crate::sync::SPIN_MOST;

/// Rounds at least.
const LEAST: u32 = 2;
/// Nanoseconds that a wait may last for spinning to be worth it: what the longest takes.
const SHORT: u64 = 50_000;

/// How long a carrier spins.
#[derive(Debug)]
pub(crate) struct SpinBudget {
    /// Rounds, of about a microsecond each.
    rounds: u32,
    /// When the carrier began to look, in nanoseconds.
    since: u64,
}

impl SpinBudget {
    /// Of a carrier that has not waited yet.
    pub(crate) fn new() -> SpinBudget {
        SpinBudget {
            rounds: LEAST,
            since: 0,
        }
    }
    /// How often the carrier looks before it rests.
    pub(crate) fn rounds(&self) -> u32 {
        self.rounds
    }
    /// The carrier has found nothing.
    pub(crate) fn begin(&mut self, now: u64) {
        self.since = now;
    }
    /// Something else than a descriptor ended the carrier's rest.
    pub(crate) fn missed(&mut self, now: u64) {
        if now.saturating_sub(self.since) >= SHORT {
            self.rounds = (self.rounds / 2).max(LEAST);
        }
    }
    /// Descriptors are ready that the carrier has waited for since it began.
    pub(crate) fn met(&mut self, now: u64) {
        self.rounds = match now.saturating_sub(self.since) < SHORT {
            true => (2 * self.rounds).min(SPIN_MOST),
            false => (self.rounds / 2).max(LEAST),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits of 10 us grow the budget up to its limit, waits of a millisecond take it back.
    #[test]
    fn the_budget_follows_the_waits() {
        let mut budget = SpinBudget::new();
        let mut wait = |ns: u64| {
            budget.begin(7);
            budget.met(7 + ns);
            budget.rounds
        };
        assert_eq!(wait(10_000), (2 * LEAST).min(SPIN_MOST));
        assert_eq!((0..9).map(|_| wait(10_000)).last(), Some(SPIN_MOST));
        assert_eq!(wait(1_000_000), (SPIN_MOST / 2).max(LEAST));
        assert_eq!((0..9).map(|_| wait(1_000_000)).last(), Some(LEAST));
    }

    /// Nor does a carrier look for long that rests for other reasons than descriptors.
    #[test]
    fn long_rests_shrink_the_budget() {
        let mut budget = SpinBudget::new();
        for _ in 0..9 {
            budget.begin(0);
            budget.met(1);
        }
        budget.missed(10_000);
        assert_eq!(budget.rounds, SPIN_MOST);
        for _ in 0..9 {
            budget.missed(1_000_000);
        }
        assert_eq!(budget.rounds, LEAST);
    }
}
