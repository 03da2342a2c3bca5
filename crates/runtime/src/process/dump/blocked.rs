//! Who waits for whom: threads that wait for each other in a circle, and the moment when nobody is left to wake anybody.
//!
//! # How it works
//! A thread without time limit that waits for a monitor, a mutex, a class constructor or the end of a thread waits for one other thread. So the
//! waits are arrows, at most one from each thread, and a deadlock is a cycle of arrows.
//!
//! # Invariants
//! * A cycle is a deadlock: none of its waits has a time limit, and each ends only by the next thread. (An interrupt or an abort by a thread
//!   outside would end it all the same.)
//! * [`nobody_goes_on`] says so only if every thread of the program waits, without time limit, for what only threads of the program do.
use super::collect::{Activity, Snapshot, Thread};
use crate::threads::park::Reason;
use rustc_hash::FxHashMap;

/// The threads by what others wait for.
pub(super) struct Waits<'s> {
    snapshot: &'s Snapshot,
    by_owner: FxHashMap<u32, usize>,
    by_lifetime: FxHashMap<usize, usize>,
}

impl<'s> Waits<'s> {
    pub(super) fn new(snapshot: &'s Snapshot) -> Waits<'s> {
        let threads = || snapshot.threads.iter().enumerate();
        Waits {
            snapshot,
            by_owner: threads().map(|(i, t)| (t.owner_id, i)).collect(),
            by_lifetime: threads()
                .filter(|(_, t)| t.lifetime != 0)
                .map(|(i, t)| (t.lifetime, i))
                .collect(),
        }
    }

    /// The thread that has what this one waits for, or whose end it waits for.
    pub(super) fn whom(&self, thread: &Thread) -> Option<usize> {
        let Activity::Waits(wait) = thread.activity else {
            return None;
        };
        match wait.reason {
            Reason::Join(lifetime) => self.by_lifetime.get(&lifetime).copied(),
            // Its owner is the one that would pulse, not the one that it waits for.
            Reason::Pulse(_) => None,
            _ => self.by_owner.get(&thread.held_by).copied(),
        }
    }

    /// As [`Waits::whom`], if the wait has no time limit.
    fn next(&self, index: usize) -> Option<usize> {
        let thread = &self.snapshot.threads[index];
        match thread.activity {
            Activity::Waits(wait) if wait.until == 0 => self.whom(thread),
            _ => None,
        }
    }

    /// The cycles: each the indices of threads of which each waits for the one after it, and the last for the first.
    pub(super) fn cycles(&self) -> Vec<Vec<usize>> {
        cycles(self.snapshot.threads.len(), |index| self.next(index))
    }
}

/// The cycles of a graph with at most one arrow from each node. Each begins with its smallest node.
fn cycles(count: usize, next: impl Fn(usize) -> Option<usize>) -> Vec<Vec<usize>> {
    // 0: not visited; otherwise the walk that came there first, plus 1.
    let mut visited = vec![0usize; count];
    let mut found = Vec::new();
    for start in 0..count {
        let mut at = Some(start);
        while let Some(node) = at.filter(|n| visited[*n] == 0) {
            visited[node] = start + 1;
            at = next(node);
        }
        // This walk met itself, not an older one.
        let Some(meeting) = at.filter(|n| visited[*n] == start + 1) else {
            continue;
        };
        let mut cycle = vec![meeting];
        let mut node = next(meeting);
        while let Some(n) = node.filter(|n| *n != meeting) {
            cycle.push(n);
            node = next(n);
        }
        let smallest = (0..cycle.len()).min_by_key(|i| cycle[*i]).unwrap_or(0);
        cycle.rotate_left(smallest);
        found.push(cycle);
    }
    found
}

/// Is there a green thread, and does every thread wait for another?
pub(super) fn nobody_goes_on(snapshot: &Snapshot) -> bool {
    let waits_for_thread = |thread: &Thread| match thread.activity {
        Activity::Waits(wait) => match wait.reason {
            // A worker without work, until it ends.
            Reason::Work => true,
            _ if wait.until != 0 => false,
            Reason::Handles { count, .. } => {
                count == 1 && thread.handle.is_some_and(|kind| kind != "process")
            }
            Reason::Monitor(_)
            | Reason::Pulse(_)
            | Reason::Join(_)
            | Reason::Constructor(_)
            | Reason::Suspended
            | Reason::Foreground => true,
            Reason::Unknown
            | Reason::Sleep
            | Reason::Descriptor(..)
            | Reason::Helper
            | Reason::Code => false,
        },
        _ => false,
    };
    snapshot.left_out == 0
        && snapshot.threads.iter().any(|t| t.is_green)
        && snapshot.threads.iter().all(waits_for_thread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cycle_is_found_once_and_what_leads_to_it_is_not_part_of_it() {
        let next = [Some(1), Some(2), Some(1), None, Some(4), Some(3), Some(2)];
        assert_eq!(cycles(7, |n| next[n]), [vec![1, 2], vec![4]]);
    }

    #[test]
    fn a_long_chain_is_no_cycle() {
        assert!(cycles(100_000, |n| (n + 1 < 100_000).then_some(n + 1)).is_empty());
    }
}
