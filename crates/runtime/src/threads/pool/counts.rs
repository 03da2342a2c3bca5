//! The pool's one word: what is asked for, who works on it, and how many may.
//!
//! # Layout
//! ```text
//! 63        48 47        32 31        16 15         0
//! +-----------+------------+------------+------------+
//! |   goal    | searching  |  working   | requested  |
//! +-----------+------------+------------+------------+
//! ```
//!
//! # How it works
//! `requested` calls of the dispatch loop are wanted; `working` workers run it or are on their way to it; of these
//! `searching` have been woken (or are about to sleep) and have not yet taken a request; `goal` workers may work at once.
//! Every step is one compare-and-swap of the word, so a worker that goes to sleep and a thread that requests one always see each
//! other.
//!
//! # Invariants
//! * `searching <= working`, and `searching <= MOST_SEARCHING`. A worker is sent for only if none searches. A worker that takes a
//!   request while more are left and none searches sends for the next one. So a flood of requests costs no system call while a
//!   worker is coming.
//! * A worker that has run the dispatch loop searches even if one other does. The class library requests a worker at each item, so
//!   while items come one by one, two workers take turns; with one that searches, each item would put one worker to sleep and
//!   wake the other.
//! * If `requested > 0`, `searching == 0` and `working < goal`, the step that made it so sent for a worker.
use std::sync::atomic::{AtomicU64, Ordering};

/// At most so many workers search at once.
const MOST_SEARCHING: u16 = 2;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Counts {
    pub requested: u16,
    pub working: u16,
    pub searching: u16,
    pub goal: u16,
}

/// What the caller of a step does next, besides going on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// A request was taken: run the dispatch loop.
    Dispatch,
    /// Nothing is to be done: look again for a while, then [`Word::give_up`].
    Search,
    /// Nothing is to be done, or too many work: sleep.
    Sleep,
}

/// The result of a step: what the worker does, and whether it must send for another one first.
pub(super) type Step = (Next, bool);

impl Counts {
    fn from_bits(bits: u64) -> Counts {
        Counts {
            requested: bits as u16,
            working: (bits >> 16) as u16,
            searching: (bits >> 32) as u16,
            goal: (bits >> 48) as u16,
        }
    }
    fn bits(self) -> u64 {
        u64::from(self.requested)
            | u64::from(self.working) << 16
            | u64::from(self.searching) << 32
            | u64::from(self.goal) << 48
    }
    /// Keeps the second invariant: true if the caller must send for a worker, which is counted already.
    fn send(&mut self) -> bool {
        let send = self.requested > 0 && self.searching == 0 && self.working < self.goal;
        self.working += u16::from(send);
        self.searching += u16::from(send);
        send
    }
    fn request(&mut self) -> bool {
        self.requested = self.requested.saturating_add(1);
        self.send()
    }
    fn set_goal(&mut self, goal: u16) -> bool {
        self.goal = goal;
        self.send()
    }
    /// A searching worker looks for a request.
    fn take(&mut self) -> Step {
        if self.requested == 0 {
            return (Next::Search, false);
        }
        self.requested -= 1;
        self.searching -= 1;
        (Next::Dispatch, self.send())
    }
    /// A searching worker goes to sleep, unless there is a request.
    fn give_up(&mut self) -> Step {
        if self.requested > 0 {
            return self.take();
        }
        self.searching -= 1;
        self.working -= 1;
        (Next::Sleep, false)
    }
    /// A worker has run the dispatch loop.
    fn dispatched(&mut self) -> Step {
        if self.working > self.goal {
            self.working -= 1;
            return (Next::Sleep, self.send());
        }
        if self.requested > 0 {
            self.requested -= 1;
            return (Next::Dispatch, self.send());
        }
        if self.searching < MOST_SEARCHING {
            self.searching += 1;
            return (Next::Search, false);
        }
        self.working -= 1;
        (Next::Sleep, false)
    }
    /// The worker that was sent for cannot be had. Whoever looks next sends again.
    fn failed(&mut self) {
        self.working -= 1;
        self.searching -= 1;
    }
}

/// [`Counts`] that several threads change.
pub(super) struct Word(AtomicU64);

impl Word {
    pub const fn new() -> Word {
        Word(AtomicU64::new(0))
    }
    pub fn get(&self) -> Counts {
        Counts::from_bits(self.0.load(Ordering::SeqCst))
    }
    fn step<T>(&self, change: impl Fn(&mut Counts) -> T) -> T {
        let mut seen = self.0.load(Ordering::Relaxed);
        loop {
            let mut counts = Counts::from_bits(seen);
            let result = change(&mut counts);
            match self.0.compare_exchange_weak(
                seen,
                counts.bits(),
                Ordering::SeqCst,
                Ordering::Relaxed,
            ) {
                Ok(_) => return result,
                Err(now) => seen = now,
            }
        }
    }
    /// One more run of the dispatch loop is wanted. True: the caller sends for a worker.
    pub fn request(&self) -> bool {
        self.step(Counts::request)
    }
    /// So many may work. True: the caller sends for a worker.
    pub fn set_goal(&self, goal: u16) -> bool {
        self.step(|c| c.set_goal(goal))
    }
    /// Sends again where sending failed. True: the caller sends for a worker.
    pub fn send(&self) -> bool {
        self.step(Counts::send)
    }
    /// See [`Counts::take`]. Looks before it writes.
    pub fn take(&self) -> Step {
        match self.get().requested {
            0 => (Next::Search, false),
            _ => self.step(Counts::take),
        }
    }
    /// See [`Counts::give_up`].
    pub fn give_up(&self) -> Step {
        self.step(Counts::give_up)
    }
    /// See [`Counts::dispatched`].
    pub fn dispatched(&self) -> Step {
        self.step(Counts::dispatched)
    }
    /// See [`Counts::failed`].
    pub fn failed(&self) {
        self.step(Counts::failed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
    enum Worker {
        Asleep,
        Coming,
        Searching,
        Dispatching,
    }
    type State = ((u16, u16, u16, u16), Vec<Worker>, u8);

    fn counts(c: (u16, u16, u16, u16)) -> Counts {
        Counts {
            requested: c.0,
            working: c.1,
            searching: c.2,
            goal: c.3,
        }
    }
    fn plain(c: Counts) -> (u16, u16, u16, u16) {
        (c.requested, c.working, c.searching, c.goal)
    }

    /// Every interleaving of some requests, goals and three workers keeps the invariants, and no request is left while
    /// all workers sleep.
    #[test]
    fn all_interleavings_keep_the_invariants() {
        let start: State = ((0, 0, 0, 2), vec![Worker::Asleep; 4], 4);
        let (mut seen, mut todo) = (HashSet::new(), vec![start]);
        while let Some(state) = todo.pop() {
            if !seen.insert(state.clone()) {
                continue;
            }
            let (c, workers, left) = state;
            let now = counts(c);
            assert!(
                now.searching <= now.working && now.searching <= MOST_SEARCHING,
                "{now:?}"
            );
            let busy = workers.iter().filter(|w| **w != Worker::Asleep).count();
            assert_eq!(busy, usize::from(now.working), "{now:?} {workers:?}");
            assert!(
                now.requested == 0 || now.searching > 0 || now.working >= now.goal,
                "a request is lost: {now:?}"
            );
            let mut go =
                |mut c: Counts,
                 mut workers: Vec<Worker>,
                 left,
                 change: &mut dyn FnMut(&mut Counts, &mut Vec<Worker>) -> bool| {
                    if change(&mut c, &mut workers) {
                        let sleeper = workers.iter_mut().find(|w| **w == Worker::Asleep);
                        *sleeper.expect("working <= 4") = Worker::Coming;
                    }
                    workers.sort();
                    todo.push((plain(c), workers, left));
                };
            if left > 0 {
                go(now, workers.clone(), left - 1, &mut |c, _| c.request());
                for goal in 1..=3 {
                    go(now, workers.clone(), left - 1, &mut |c, _| c.set_goal(goal));
                }
            }
            for i in 0..workers.len() {
                let place = move |next| match next {
                    Next::Dispatch => Worker::Dispatching,
                    Next::Search => Worker::Searching,
                    Next::Sleep => Worker::Asleep,
                };
                let steps: &[fn(&mut Counts) -> Step] = match workers[i] {
                    Worker::Asleep => &[],
                    Worker::Coming | Worker::Searching => &[Counts::take, Counts::give_up],
                    Worker::Dispatching => &[Counts::dispatched],
                };
                for step in steps {
                    go(now, workers.clone(), left, &mut |c, w| {
                        let (next, send) = step(c);
                        w[i] = place(next);
                        send
                    });
                }
            }
        }
        assert!(seen.len() > 100);
    }
}
