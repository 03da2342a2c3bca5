//! What the scheduler has done, in numbers: the lines of `--stats`, and the figures of Vervet.Threading.
//!
//! Invariant: nothing is printed by a process that has started no green thread.
use super::{host, pins, put_away, record, settings, trim};
use crate::threads::managed_stack;
use std::fmt::Write;

/// What the scheduler has counted, a line for each group of figures.
pub(crate) fn report() -> String {
    let mut text = String::new();
    let Some(scheduler) = host::scheduler_in_use() else {
        return text;
    };
    let s = scheduler.stats();
    let mut line = |name: &str, figures: &[(&str, u64)]| {
        let figures: Vec<String> = figures
            .iter()
            .map(|(what, n)| format!("{what} {n}"))
            .collect();
        let _ = writeln!(text, "{name:<22}{}", figures.join(", "));
    };
    line(
        "green threads",
        &[
            ("started", s.spawned),
            ("switches", s.switches),
            ("parks", s.parks),
            ("yields", s.yields),
            ("preempted", s.preempted),
        ],
    );
    line(
        "green carriers",
        &[
            ("started", s.carriers_started),
            ("ended", s.carriers_ended),
            ("refused", s.carriers_refused),
            ("wakes", s.wakes),
            ("steals", s.steals),
        ],
    );
    // A carrier that was held by its thread, and what became of its processor.
    line(
        "green held carriers",
        &[
            ("retaken", s.retaken),
            ("handed over", s.handed_over),
            ("waited for a processor", s.lost),
        ],
    );
    line(
        "green waits",
        &[
            ("timers", s.timers_set),
            ("expired", s.timers_fired),
            ("polls", s.polls),
        ],
    );
    line(
        "green stacks",
        &[("trimmed", trim::count()), ("put away", put_away::count())],
    );
    text.push_str(&pins::report());
    text
}

/// The figures of `Vervet.Threading.Native::Read`: the carriers, then the fields of SchedulerStatistics in their order.
pub fn statistics() -> [u64; 12] {
    let carriers = u64::from(settings::carriers());
    let Some(scheduler) = host::scheduler_in_use() else {
        return [carriers, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    };
    let s = scheduler.stats();
    let (runnable, running) = scheduler.load();
    let alive = s.spawned.saturating_sub(s.ended);
    [
        carriers,
        s.spawned,
        s.ended,
        runnable,
        running,
        alive.saturating_sub(runnable + running),
        s.switches,
        s.steals,
        s.preempted,
        pins::count(),
        s.retaken + s.handed_over,
        managed_stack::further_bytes() + record::first_segment_bytes(),
    ]
}
