//! How many workers may work at once: a goal that follows what was measured.
//!
//! # The policy
//! Once in each interval the monitor tells how many items were completed, whether work is waiting, and the policy answers
//! with a new goal, between the minimum and the maximum that the program set:
//! * *Starvation*: work is waiting and nothing at all was completed. The workers block: one more.
//! * *Climbing*: work is waiting and items are completed. The goal is moved by one and the throughput of the next interval
//!   compared with the one before (both smoothed). If the move gained at least 5 % for each worker added in proportion,
//!   the next move goes on in its direction; otherwise it is taken back, and the policy rests, twice as long each time
//!   (up to 32 intervals), so that a load that gains nothing by more workers stays where it is.
//! * *Shrinking*: nothing is waiting, or the processors are busy without more throughput: the goal goes down by one in
//!   each quiet interval until it is the minimum again.
//!
//! # Invariants
//! The goal stays within the limits it is given; the policy has no clock and no state but its own.

/// What the monitor measured in one interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    /// Items completed in a second.
    pub rate: f64,
    /// Requests are waiting that no worker has taken.
    pub waiting: bool,
    /// Workers that work.
    pub working: u16,
    /// The goal now.
    pub goal: u16,
    /// The program's limits.
    pub min: u16,
    /// See `min`.
    pub max: u16,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Policy {
    /// Throughput before the last move; None: no move is being tried.
    before: Option<f64>,
    step: i32,
    rest: u32,
    patience: u32,
}

const LONGEST_REST: u32 = 32;
/// A move is worth keeping if it gains this share of what one more worker would bring if all scaled.
const WORTH: f64 = 0.25;

impl Policy {
    pub const fn new() -> Policy {
        Policy {
            before: None,
            step: 1,
            rest: 0,
            patience: 1,
        }
    }
    /// The new goal.
    pub fn goal(&mut self, m: &Measured) -> u16 {
        let wanted = self.decide(m);
        wanted.clamp(i32::from(m.min), i32::from(m.max)) as u16
    }
    fn decide(&mut self, m: &Measured) -> i32 {
        let goal = i32::from(m.goal);
        if m.rate == 0.0 {
            self.before = None;
            return match m.waiting && m.working >= m.goal {
                true => goal + 1,
                false => goal - i32::from(!m.waiting && m.working < m.goal),
            };
        }
        if !m.waiting || m.working < m.goal {
            // Fewer would do.
            self.before = None;
            return goal - 1;
        }
        if let Some(before) = self.before.take() {
            let share = f64::from(self.step) / f64::from(m.goal.max(1));
            let gained = (m.rate - before) / before;
            // Going down is worth it if it costs nothing; going up if it brings something.
            let keep = match self.step > 0 {
                true => gained > (WORTH * share).max(0.05),
                false => gained > -0.02,
            };
            if !keep {
                let back = goal - self.step;
                self.step = -self.step;
                self.rest = self.patience;
                self.patience = (self.patience * 2).min(LONGEST_REST);
                return back;
            }
            self.patience = 1;
        }
        if self.rest > 0 {
            self.rest -= 1;
            return goal;
        }
        let next = goal + self.step;
        if next < i32::from(m.min) || next > i32::from(m.max) {
            self.step = -self.step;
            self.rest = self.patience;
            self.patience = (self.patience * 2).min(LONGEST_REST);
            return goal;
        }
        self.before = Some(m.rate);
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the policy against a load whose throughput is a function of the workers; the goals of all intervals.
    fn run(intervals: usize, waiting: bool, rate: impl Fn(u16) -> f64) -> Vec<u16> {
        let mut policy = Policy::new();
        let mut goal = 2;
        let mut goals = Vec::new();
        for _ in 0..intervals {
            let m = Measured {
                rate: rate(goal),
                waiting,
                working: if waiting { goal } else { 0 },
                goal,
                min: 2,
                max: 50,
            };
            goal = policy.goal(&m);
            goals.push(goal);
        }
        goals
    }

    #[test]
    fn blocked_workers_are_joined_by_others() {
        assert_eq!(run(60, true, |_| 0.0).last(), Some(&50));
    }
    #[test]
    fn work_that_waits_for_something_gets_more_workers() {
        let goals = run(100, true, |w| f64::from(w.min(20)) * 10.0);
        let settled = *goals.last().expect("goals");
        assert!((14..=24).contains(&settled), "{goals:?}");
    }
    #[test]
    fn work_that_keeps_the_processors_busy_does_not() {
        let goals = run(100, true, |_| 1000.0);
        assert!(goals.iter().all(|g| *g <= 3), "{goals:?}");
        let many = goals.iter().filter(|g| **g == 3).count();
        assert!(many < 20, "{goals:?}");
    }
    #[test]
    fn a_quiet_pool_shrinks_to_its_minimum() {
        let mut policy = Policy::new();
        let mut goal = 30;
        for _ in 0..40 {
            goal = policy.goal(&Measured {
                rate: 3.0,
                waiting: false,
                working: 1,
                goal,
                min: 2,
                max: 50,
            });
        }
        assert_eq!(goal, 2);
    }
}
