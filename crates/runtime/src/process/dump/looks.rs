//! Looks at all threads, one after the other: which methods ran, and what the threads do in the last one. For who attaches.
//!
//! One look is a snapshot: the world is stopped at any instruction, not at safepoints only, so what a look finds innermost is where the time
//! goes. Between two looks the world runs, and memory of the one before is given back.
//!
//! # Invariants
//! * Names are found after the threads go on again: only addresses are noted while they stand.
//! * A thread that waits or is in native code does not run: methods are counted for threads that ran when the world was stopped.
use super::collect::{Activity, Snapshot};
use super::text;
use crate::exceptions::stack_words;
use rustc_hash::{FxHashMap, FxHashSet};
use std::time::Duration;

/// Threads that do the same at the same place.
pub(crate) struct Group {
    pub(crate) is_green: bool,
    pub(crate) count: u64,
    /// What they do.
    pub(crate) what: String,
    /// The innermost methods, with `<` between them.
    pub(crate) place: String,
}

/// What was seen.
pub(crate) struct Looks {
    /// Threads that ran, in all looks together.
    pub(crate) ran: u64,
    /// Methods: how often they were the innermost of a thread that ran, and how often in its stack. The first one leads.
    pub(crate) methods: Vec<(String, u64, u64)>,
    /// The groups of the last look, the largest first.
    pub(crate) groups: Vec<Group>,
    /// OS threads without managed frames.
    pub(crate) idle: usize,
}

impl Looks {
    /// Looks `count` times. None: there is no memory. The calling thread is not attached.
    pub(crate) fn take(count: u32, every: Duration) -> Option<Looks> {
        let mut methods: FxHashMap<String, (u64, u64)> = FxHashMap::default();
        let mut ran = 0;
        for _ in 1..count {
            note(&Snapshot::take()?, &mut methods, &mut ran);
            std::thread::sleep(every);
        }
        let last = Snapshot::take()?;
        note(&last, &mut methods, &mut ran);
        let mut methods: Vec<_> = methods
            .into_iter()
            .map(|(name, (own, all))| (name, own, all))
            .collect();
        methods.sort_by(|a, b| (b.1, b.2, &a.0).cmp(&(a.1, a.2, &b.0)));
        Some(Looks {
            ran,
            methods,
            groups: text::groups(&last),
            idle: last.idle,
        })
    }
}

fn note(snapshot: &Snapshot, methods: &mut FxHashMap<String, (u64, u64)>, ran: &mut u64) {
    for group in &snapshot.groups {
        // Members of a group have the same stack and the same kind of activity: the first one speaks for all.
        let runs = snapshot
            .members(group)
            .next()
            .is_some_and(|t| t.activity == Activity::Runs);
        let lines = stack_words::lines(snapshot.stack(group).iter().copied());
        if !runs || lines.is_empty() {
            continue;
        }
        let count = u64::from(group.count);
        *ran += count;
        // A recursive method is in the stack once.
        let mut seen = FxHashSet::default();
        for (at, line) in lines.iter().enumerate() {
            let name = without_offset(line);
            let sums = methods.entry(name.to_owned()).or_default();
            sums.0 += if at == 0 { count } else { 0 };
            sums.1 += if seen.insert(name) { count } else { 0 };
        }
    }
}

/// A line of a stack without the offset in the method.
pub(super) fn without_offset(line: &str) -> &str {
    match line.rfind(" [") {
        Some(at) if line.ends_with(']') => &line[..at],
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_cut_off_and_arrays_are_not() {
        assert_eq!(without_offset("A.B (int []) [0x0001f]"), "A.B (int [])");
        assert_eq!(without_offset("A.B () [?]"), "A.B ()");
        assert_eq!(without_offset("(wrapper) A.B ()"), "(wrapper) A.B ()");
    }
}
