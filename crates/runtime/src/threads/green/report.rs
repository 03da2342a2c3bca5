//! The lines of `--stats` about green threads.
//!
//! Invariant: nothing is printed by a process that has started no green thread.
use super::{host, pins};
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
    text.push_str(&pins::report());
    text
}
