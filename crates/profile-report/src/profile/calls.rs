//! Calls of methods, from the events at which they are entered and left.
//!
//! # Invariants
//! * A leave that fits no entered method is counted and changes nothing; one that fits an outer method also leaves those within.
//! * The time of a call is its own time and that of the calls in it.
//! * Calls of the time before [`Calls::from`] count nothing, but are entered: what is active then is what later events lie in.
use crate::stacks::{Frame, Node, ROOT, Stacks, Weights};
use rustc_hash::FxHashMap;

/// How far out a leave looks for its method.
const REACH: usize = 64;

struct Call {
    frame: Frame,
    node: Node,
    below: Node,
    entered: u64,
    inner_ns: u64,
}

/// All calls.
#[derive(Default)]
pub(crate) struct Calls {
    /// The time from which on calls count.
    pub from: u64,
    stacks: FxHashMap<u64, Vec<Call>>,
    last: FxHashMap<u64, u64>,
    /// Nanoseconds of each stack without what it called.
    pub own_ns: Weights,
    /// Calls of each method.
    pub counts: FxHashMap<Frame, u64>,
    pub total: u64,
    pub unmatched: u64,
}

impl Calls {
    /// The stack of a thread.
    pub(crate) fn stack(&self, thread: u64) -> Node {
        self.stacks
            .get(&thread)
            .and_then(|s| s.last())
            .map_or(ROOT, |c| c.node)
    }

    /// A thread enters a method.
    pub(crate) fn enter(&mut self, stacks: &mut Stacks, thread: u64, time: u64, frame: Frame) {
        self.last.insert(thread, time);
        let below = self.stack(thread);
        let node = stacks.push(below, frame);
        let call = Call {
            frame,
            node,
            below,
            entered: time.max(self.from),
            inner_ns: 0,
        };
        self.stacks.entry(thread).or_default().push(call);
        if time >= self.from {
            self.total += 1;
            *self.counts.entry(frame).or_default() += 1;
        }
    }

    /// A thread leaves a method.
    pub(crate) fn leave(&mut self, thread: u64, time: u64, frame: Frame) {
        self.last.insert(thread, time);
        let open = self
            .stacks
            .get(&thread)
            .map(Vec::as_slice)
            .unwrap_or_default();
        match open.iter().rev().take(REACH).position(|c| c.frame == frame) {
            Some(inner) => {
                self.unmatched += u64::from(inner > 0 && time >= self.from);
                (0..=inner).for_each(|_| self.pop(thread, time));
            }
            None => self.unmatched += u64::from(time >= self.from),
        }
    }

    fn pop(&mut self, thread: u64, time: u64) {
        let Some(open) = self.stacks.get_mut(&thread) else {
            return;
        };
        let Some(call) = open.pop() else { return };
        if time < self.from {
            return;
        }
        let took = time.saturating_sub(call.entered);
        if let Some(outer) = open.last_mut() {
            outer.inner_ns = outer.inner_ns.saturating_add(took);
        }
        let own = took.saturating_sub(call.inner_ns);
        // Beyond the deepest stack a call's time is that of the stack.
        let node = if call.node == ROOT {
            call.below
        } else {
            call.node
        };
        let sum = self.own_ns.entry(node).or_default();
        *sum = sum.saturating_add(own);
    }

    /// Ends calls that no event ended, at the last event of their threads.
    pub(crate) fn finish(&mut self) {
        let threads: Vec<u64> = self.stacks.keys().copied().collect();
        for thread in threads {
            let time = self.last.get(&thread).copied().unwrap_or(0);
            while self.stacks.get(&thread).is_some_and(|s| !s.is_empty()) {
                self.pop(thread, time);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_are_active_when_counting_begins_are_there() {
        let (mut calls, mut stacks) = (Calls::default(), Stacks::default());
        calls.from = 20;
        calls.enter(&mut stacks, 1, 0, 7);
        calls.enter(&mut stacks, 1, 5, 8);
        let inner = calls.stack(1);
        calls.leave(1, 10, 8);
        calls.leave(1, 11, 9);
        let outer = calls.stack(1);
        calls.enter(&mut stacks, 1, 30, 8);
        calls.leave(1, 40, 8);
        calls.leave(1, 50, 7);
        assert_eq!((calls.own_ns[&inner], calls.own_ns[&outer]), (10, 20));
        assert_eq!((calls.total, calls.unmatched), (1, 0));
        assert_eq!(calls.own_ns.len(), 2);
    }

    #[test]
    fn calls_have_their_own_time_and_that_of_what_they_call() {
        let (mut calls, mut stacks) = (Calls::default(), Stacks::default());
        calls.enter(&mut stacks, 1, 0, 7);
        calls.enter(&mut stacks, 1, 10, 8);
        let inner = calls.stack(1);
        calls.leave(1, 15, 99);
        calls.leave(1, 30, 8);
        let outer = calls.stack(1);
        calls.enter(&mut stacks, 1, 40, 8);
        // An exception left both; only the outer one said so.
        calls.leave(1, 50, 7);
        calls.enter(&mut stacks, 2, 5, 7);
        calls.finish();
        assert_eq!((calls.own_ns[&inner], calls.own_ns[&outer]), (30, 20));
        assert_eq!((calls.total, calls.unmatched), (4, 2));
        assert_eq!(calls.counts[&8], 2);
    }
}
