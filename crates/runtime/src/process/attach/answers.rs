//! What is answered to who attaches: lines of fields with tabs between them, a line with a full stop at the end.
//!
//! | question | answer |
//! |---|---|
//! | `look N MS` | figures of the collector; methods that ran in `N` looks at all threads, `MS` apart; what the threads do in the last one |
//! | `record OPTIONS` | starts a recording of the log profiler; what it answers is empty |
//! | `stop` | ends the recording, and answers when it is written |
//! | `stacks` | the dump of all threads, each line with a tab before it |
//!
//! Anything else is answered by a line that begins with `error`.
//!
//! # Invariants
//! * A recording that was started by who attaches ends with the conversation at the latest.
//! * A look stops the world, as a dump does; how many and how often is bounded.
use crate::memory::gc::heap;
use crate::process::dump::{self, Looks};
use crate::profiler::{control, recording};
use std::fmt::Write;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use vervet_profiler::options::Options;

/// Looks for one answer, and milliseconds between two of them.
const MOST: (u32, u64) = (200, 10_000);
/// Methods and groups of threads in an answer.
const ROWS: usize = 60;

/// The answers to one who attaches.
#[derive(Default)]
pub(super) struct Answers {
    has_started_recording: bool,
}

impl Answers {
    /// Has the one who attaches started a recording that runs?
    pub(super) fn records(&self) -> bool {
        self.has_started_recording
    }
    #[cfg(test)]
    pub(super) fn recording(has_started_recording: bool) -> Answers {
        Answers {
            has_started_recording,
        }
    }

    /// The answer to a question, without its last line.
    pub(super) fn to(&mut self, question: &str) -> String {
        if let Some(options) = question.strip_prefix("record ") {
            return match record(options) {
                Ok(()) => {
                    self.has_started_recording = true;
                    String::new()
                }
                Err(why) => format!("error\t{}\n", plain(&why)),
            };
        }
        match (question, self.has_started_recording) {
            ("stop", true) => match self.stop() {
                true => String::new(),
                false => "error\tthe recording is still being written\n".into(),
            },
            ("stop", false) => "error\tno recording was started\n".into(),
            _ => to(question),
        }
    }

    /// Ends the recording, if one was started. False: it is still being written.
    fn stop(&mut self) -> bool {
        !std::mem::take(&mut self.has_started_recording) || recording::stop()
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        self.stop();
    }
}

fn record(options: &str) -> Result<(), String> {
    let options = Options::parse(options).map_err(|e| e.to_string())?;
    control::start(&options)
}

/// The answer to a question that starts and ends nothing.
fn to(question: &str) -> String {
    let words: Vec<&str> = question.split(' ').collect();
    match words.as_slice() {
        ["look", count, every] => match (count.parse(), every.parse()) {
            (Ok(count), Ok(every))
                if (1..=MOST.0).contains(&count) && (1..=MOST.1).contains(&every) =>
            {
                look(count, Duration::from_millis(every))
            }
            _ => format!("error\tat most {} looks, {} ms apart\n", MOST.0, MOST.1),
        },
        ["stacks"] => match dump::text_of_all() {
            Some(text) => text.lines().map(|l| format!("\t{l}\n")).collect(),
            None => "error\tthere is no memory for a dump\n".into(),
        },
        _ => "error\tthe questions are 'look N MS', 'stacks', 'record OPTIONS' and 'stop'\n".into(),
    }
}

fn look(count: u32, every: Duration) -> String {
    let Some(looks) = Looks::take(count, every) else {
        return "error\tthere is no memory for a look at the threads\n".into();
    };
    // The figures are read after the looks, together with the clock: rates are taken over the same span of time.
    let mut out = String::new();
    let h = heap();
    let _ = writeln!(
        out,
        "vervet\t{}\t{}",
        env!("CARGO_PKG_VERSION"),
        vervet_os::clock::now()
    );
    let _ = writeln!(out, "allocated\t{}", h.stats.allocated.load(Relaxed));
    let _ = writeln!(out, "heap\t{}\t{}", h.bytes(), h.committed());
    for (name, pauses) in [("minor", &h.stats.minor), ("major", &h.stats.major)] {
        let _ = writeln!(
            out,
            "pauses\t{name}\t{}\t{}\t{}\t{}",
            pauses.count(),
            pauses.total(),
            pauses.quantile(0.99).saturating_mul(1000),
            pauses.longest()
        );
    }
    let _ = writeln!(out, "idle\t{}", looks.idle);
    let _ = writeln!(out, "ran\t{}\t{count}", looks.ran);
    for (method, own, all) in looks.methods.iter().take(ROWS) {
        let _ = writeln!(out, "method\t{own}\t{all}\t{}", plain(method));
    }
    for group in looks.groups.iter().take(ROWS) {
        let kind = if group.is_green { "green" } else { "os" };
        let (what, place) = (plain(&group.what), plain(&group.place));
        let _ = writeln!(out, "group\t{kind}\t{}\t{what}\t{place}", group.count);
    }
    out
}

/// A text without what ends a field or a line.
fn plain(text: &str) -> String {
    text.replace(|c: char| c.is_control(), "?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_is_answered_by_an_error() {
        for question in [
            "",
            "look",
            "look 0 10",
            "look 201 10",
            "look 1 0",
            "look 1 99999",
            "look x 1",
            "stacks now",
            "look 1 1 1",
        ] {
            assert!(to(question).starts_with("error\t"), "{question}");
        }
        assert_eq!(plain("a\tb\nc"), "a?b?c");
    }
}
