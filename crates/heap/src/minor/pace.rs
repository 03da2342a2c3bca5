//! How many young objects there may be until the next minor collection.
//!
//! # How it works
//! The nursery is as large as it may be without a collection taking longer than a goal, which is [`SHORT`] for most programs. Where much survives, that makes
//! collections many, and a program that keeps what it allocates for a while (items of a queue, say) would spend most of its time in them: what lives for
//! as long as it takes to fill some nurseries is copied, though it would be dead after a few more. So the goal depends on the share of the time that
//! collections take:
//!
//! ```text
//! less than 12 percent     half the goal, but not less than SHORT
//! more than 30 percent     twice the goal, but not more than LONG; or half of it again, if less has not survived by a quarter since the last such step
//! ```
//!
//! # Invariants
//! * A longer goal is kept only if the step to it has saved work. That is told from the bytes that survive: times depend on what else the machine does.
//! * Time that the collecting thread waits for a processor does not make the nursery smaller: it would only be collected more often.

/// How long a minor collection in which much survives should take at most, in nanoseconds. The nursery is made smaller to reach that.
pub(crate) const SHORT: u64 = 1_000_000;
/// The same where collections take much of the time.
const LONG: u64 = 8_000_000;
/// The nursery is not made smaller than this many blocks.
const SMALLEST: usize = 3;
/// How much survives is judged by collections of at least this many bytes.
pub(crate) const ENOUGH: usize = 128 << 10;
/// The goal is judged by so many collections together: the nursery grows to twice its size in them.
const TOGETHER: u32 = 4;
/// A longer goal is worth its memory if at most this percentage survives of what survived.
const WORTH: u64 = 75;
/// For so many judgements a goal that did not pay is not tried again.
const PATIENCE: u32 = 16;

/// What a collection took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    /// When it began, in nanoseconds of the clock.
    pub began: u64,
    /// How long it took, in nanoseconds.
    pub wall: u64,
    /// Nanoseconds of the collecting thread's time on a processor.
    pub cpu: u64,
}

/// The goal, and by what it is judged. See the module.
#[derive(Debug)]
pub(crate) struct Pace {
    /// In nanoseconds.
    goal: u64,
    /// When the last judgement was made.
    since: u64,
    /// Of the collections since then: how many, nanoseconds, bytes allocated before them, and bytes of those that survived.
    collections: u32,
    spent: u64,
    allocated: u64,
    survived: u64,
    /// Bytes of each MiB that survived before the goal was last made longer.
    before: Option<u64>,
    /// Judgements until a longer goal is tried again.
    patience: u32,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace {
            goal: SHORT,
            since: 0,
            collections: 0,
            spent: 0,
            allocated: 0,
            survived: 0,
            before: None,
            patience: 0,
        }
    }
}

impl Pace {
    /// Notes a collection after `allocated` bytes, of which `survived` survived. Returns the goal.
    pub fn collected(&mut self, work: Work, (allocated, survived): (usize, usize)) -> u64 {
        self.collections += 1;
        self.spent += work.wall;
        self.allocated += allocated as u64;
        self.survived += survived as u64;
        if self.collections >= TOGETHER {
            let now = work.began + work.wall;
            let passed = now.saturating_sub(self.since).max(1);
            let survived = (self.survived << 20) / self.allocated.max(1);
            self.judge(self.spent * 100 / passed, survived);
            (self.since, self.collections) = (now, 0);
            (self.spent, self.allocated, self.survived) = (0, 0, 0);
        }
        self.goal
    }

    /// Collections have taken that percentage of the time, and `survived` bytes of each MiB have survived.
    fn judge(&mut self, percent: u64, survived: u64) {
        self.patience = self.patience.saturating_sub(1);
        match percent {
            0..12 => {
                self.goal = (self.goal / 2).max(SHORT);
                self.before = None;
            }
            12..30 => self.before = None,
            _ => match self.before.take() {
                Some(before) if survived * 100 > before * WORTH => {
                    self.goal = (self.goal / 2).max(SHORT);
                    self.patience = PATIENCE;
                }
                _ if self.goal < LONG && self.patience == 0 => {
                    self.goal *= 2;
                    self.before = Some(survived);
                }
                _ => {}
            },
        }
    }
}

/// Blocks of young objects until the next collection: so many that it takes `goal` nanoseconds, if it goes like this one, in which `copied`
/// of `handed_out` bytes survived and which took `ns`. The result is at least half of `now`, and at most a quarter larger.
pub(crate) fn eden(
    now: usize,
    most: usize,
    (handed_out, copied): (usize, usize),
    ns: u64,
    goal: u64,
) -> usize {
    let fit = match copied {
        0..ENOUGH => most,
        _ => (handed_out as u64 * goal / ns.max(1) / crate::space::BLOCK as u64) as usize,
    };
    fit.clamp(now / 2, now + now / 4 + 1)
        .clamp(SMALLEST.min(most), most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nursery_shrinks_while_much_survives_and_grows_again() {
        let all = 4 << 20;
        let of =
            |now, most, handed_out, copied, ns| eden(now, most, (handed_out, copied), ns, SHORT);
        // It took too long, by half and by far; it took as long as it may; little survived.
        assert_eq!(of(64, 64, all, all, 2 * SHORT), 32);
        assert_eq!(of(64, 64, all, all, 100 * SHORT), 32);
        assert_eq!(of(5, 64, all / 8, all / 8, 100 * SHORT), SMALLEST);
        assert_eq!(of(64, 64, all, all / 8, SHORT), 64);
        assert_eq!(of(16, 64, all / 4, 0, 0), 21);
        assert_eq!(of(64, 64, all, ENOUGH - 1, 100 * SHORT), 64);
        assert_eq!(of(2, 2, all, all, SHORT), 2);
    }

    /// The goal after `count` collections that take `percent` of the time, where as much survives as `survived` says for the goal.
    fn goal_of(pace: &mut Pace, count: u32, percent: u64, survived: impl Fn(u64) -> usize) -> u64 {
        let (mut goal, wall) = (pace.goal, SHORT);
        for _ in 0..count {
            let began = pace.since + u64::from(pace.collections + 1) * wall * 100 / percent - wall;
            let work = Work {
                began,
                wall,
                cpu: wall,
            };
            goal = pace.collected(work, (4 << 20, survived(goal)));
        }
        goal
    }

    #[test]
    fn collections_may_take_longer_while_that_saves_work() {
        let mut pace = Pace::default();
        let same = |_| 2 << 20;
        // The first judgement has no beginning.
        goal_of(&mut pace, TOGETHER, 5, same);
        assert_eq!(goal_of(&mut pace, 40, 5, same), SHORT);
        assert_eq!(goal_of(&mut pace, 40, 20, same), SHORT);
        // Half of it survives after each step.
        let less = |goal| (2 << 20) * SHORT as usize / goal as usize;
        assert_eq!(goal_of(&mut pace, 100, 50, less), LONG);
        // It stays while it is worth something, and goes when it is not.
        assert_eq!(goal_of(&mut pace, 40, 20, same), LONG);
        assert_eq!(goal_of(&mut pace, 100, 5, same), SHORT);
    }

    #[test]
    fn a_step_that_saves_nothing_is_taken_back() {
        let mut pace = Pace::default();
        let same = |_| 2 << 20;
        goal_of(&mut pace, TOGETHER, 5, same);
        let mut longer = 0;
        for _ in 0..100 {
            let goal = goal_of(&mut pace, TOGETHER, 50, same);
            assert!(goal <= 2 * SHORT);
            longer += u32::from(goal > SHORT);
        }
        assert!((1..=100 / PATIENCE + 1).contains(&longer), "{longer}");
    }
}
