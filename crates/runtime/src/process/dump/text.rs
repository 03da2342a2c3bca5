//! The text of a dump.
//!
//! ```text
//! Full thread dump:
//!
//! "Main" #1: sleeps, 9.8 s more
//!   at ...
//!
//! 10000 green threads: wait to read a descriptor
//!   "client 7" #12: waits to read descriptor 9
//!   ...
//!   and 9995 more
//!   at ...
//!
//! Deadlock:
//!   "a" #5: waits for the monitor of System.Object (0x7f...), which "b" #6 owns
//!   "b" #6: waits for the monitor of System.Object (0x7f...), which "a" #5 owns
//!
//! Green threads: 10002, of which 1 runs, 0 are ready and 10001 wait
//! ```
use super::blocked::{self, Waits};
use super::collect::{Activity, FRAMES, Group, Snapshot, Thread};
use super::looks;
use crate::classes::vtables::class_of;
use crate::exceptions::stack_words;
use crate::threads::park::Reason;
use rustc_hash::FxHashMap;
use std::fmt::Write;
use vervet_abi::VTable;

/// How many threads of a group are described.
const DESCRIBED: usize = 5;
/// How many threads of a cycle are described.
const OF_CYCLE: usize = 50;

/// The whole dump.
pub(super) fn of(snapshot: &Snapshot) -> String {
    let waits = Waits::new(snapshot);
    let text = Text { snapshot, waits };
    let mut out = String::from("Full thread dump:\n\n");
    for groups in text.with_same_lines() {
        text.group(&groups, &mut out);
    }
    text.deadlocks(&mut out);
    text.summary(&mut out);
    out
}

/// What the threads do, in groups, the largest first. For [`super::looks`].
pub(super) fn groups(snapshot: &Snapshot) -> Vec<looks::Group> {
    let waits = Waits::new(snapshot);
    let text = Text { snapshot, waits };
    let mut groups: Vec<looks::Group> = Vec::new();
    for same in text.with_same_lines() {
        let Some(first) = text.members(&same).next() else {
            continue;
        };
        let count: u64 = same.groups.iter().map(|g| u64::from(g.count)).sum();
        // One thread is described; of many only what they have in common.
        let what = match count {
            1 => format!("{}: {}", text.who(first), text.does(first)),
            _ => plural(first),
        };
        groups.push(looks::Group {
            is_green: first.is_green,
            count,
            what,
            place: place(&same.lines),
        });
    }
    groups.sort_by_key(|g| std::cmp::Reverse(g.count));
    groups
}

/// The two innermost methods and, if these are the class library's, the innermost one of the program.
fn place(lines: &[String]) -> String {
    let lines = || {
        let own = lines.iter().filter(|l| !l.starts_with("(wrapper"));
        own.map(|l| looks::without_offset(l))
    };
    let is_library = |name: &str| {
        ["System.", "Mono.", "Microsoft."]
            .iter()
            .any(|n| name.starts_with(n))
    };
    let mut shown: Vec<&str> = lines().take(2).collect();
    if shown.iter().all(|name| is_library(name))
        && let Some(own) = lines().find(|name| !is_library(name))
    {
        shown.extend(["..", own]);
    }
    shown.join(" < ")
}

const NOBODY: &str =
    "no thread can go on: every green thread waits, and so does every thread that could wake one";

struct Text<'s> {
    snapshot: &'s Snapshot,
    waits: Waits<'s>,
}

/// Groups whose stacks have the same text, and that text. (Machine code of two tiers has different addresses.)
struct Same<'s> {
    groups: Vec<&'s Group>,
    lines: Vec<String>,
}

impl<'s> Text<'s> {
    /// OS threads first, then green ones; of each kind in the order in which they were found.
    fn with_same_lines(&self) -> Vec<Same<'s>> {
        let mut all: Vec<Same<'s>> = Vec::new();
        let mut known: FxHashMap<(bool, String, Vec<String>), usize> = FxHashMap::default();
        for group in &self.snapshot.groups {
            let words = self.snapshot.stack(group);
            let mut lines = stack_words::lines(words.iter().copied());
            if words.len() == FRAMES {
                lines.push("...".into());
            }
            let Some(first) = self.snapshot.members(group).next() else {
                continue;
            };
            let key = (first.is_green, plural(first), lines.clone());
            let number = *known.entry(key).or_insert_with(|| {
                all.push(Same {
                    groups: Vec::new(),
                    lines,
                });
                all.len() - 1
            });
            all[number].groups.push(group);
        }
        all.sort_by_key(|same| {
            let thread = self.members(same).next();
            thread.map(|t| (t.is_green, t.managed_id.unsigned_abs()))
        });
        all
    }

    fn members<'a>(&'a self, same: &'a Same<'s>) -> impl Iterator<Item = &'s Thread> + 'a {
        same.groups.iter().flat_map(|g| self.snapshot.members(g))
    }

    fn group(&self, same: &Same<'s>, out: &mut String) {
        let count: u32 = same.groups.iter().map(|g| g.count).sum();
        let Some(first) = self.members(same).next() else {
            return;
        };
        let kind = if first.is_green {
            "green thread"
        } else {
            "thread"
        };
        if count == 1 {
            let green = if first.is_green { ", green" } else { "" };
            let _ = writeln!(out, "{}{green}: {}", self.who(first), self.does(first));
        } else {
            let _ = writeln!(out, "{count} {kind}s: {}", plural(first));
            if first.activity != Activity::New {
                for thread in self.members(same).take(DESCRIBED) {
                    let _ = writeln!(out, "  {}: {}", self.who(thread), self.does(thread));
                }
                if count as usize > DESCRIBED {
                    let _ = writeln!(out, "  and {} more", count as usize - DESCRIBED);
                }
            }
        }
        for line in &same.lines {
            let _ = writeln!(out, "  at {line}");
        }
        out.push('\n');
    }

    /// A thread, by its name and Thread.ManagedThreadId.
    fn who(&self, thread: &Thread) -> String {
        let name = match self.snapshot.name(thread) {
            Some(name) => format!("\"{name}\" "),
            // SAFETY: a plain system call.
            None if thread.tid == unsafe { libc::getpid() } && !thread.is_green => {
                "\"Main\" ".into()
            }
            None => String::new(),
        };
        match thread.managed_id {
            0 => format!("{name}(thread {})", thread.owner_id),
            id => format!("{name}#{id}"),
        }
    }

    fn does(&self, thread: &Thread) -> String {
        let on = match (thread.is_green, thread.tid) {
            (false, _) | (true, 0) => String::new(),
            (true, tid) => format!(" on carrier {tid}"),
        };
        let wait = match thread.activity {
            Activity::Runs => return format!("runs{on}"),
            Activity::Native => return format!("is in native code{on}"),
            Activity::Ready => return "is ready".into(),
            Activity::New => return "has not begun".into(),
            Activity::Waits(wait) => wait,
        };
        let mut text = match wait.reason {
            Reason::Unknown => "waits".into(),
            Reason::Monitor(object) => {
                format!("waits for the monitor of {}", class(thread, object))
            }
            Reason::Pulse(object) => format!("waits for a pulse of {}", class(thread, object)),
            Reason::Handles { count, all, .. } => match (thread.handle, count, all) {
                (Some(kind), 1, _) => format!("waits for {} {kind}", article(kind)),
                (_, n, true) => format!("waits for all of {n} handles"),
                (_, n, false) => format!("waits for one of {n} handles"),
            },
            Reason::Sleep => "sleeps".into(),
            Reason::Join(_) => "waits for the end of".into(),
            Reason::Descriptor(fd, writes) => {
                let verb = if writes { "write" } else { "read" };
                format!("waits to {verb} descriptor {fd}")
            }
            Reason::Constructor(_) => {
                format!("waits for the class constructor of {}", name(thread.vtable))
            }
            Reason::Suspended => "is suspended".into(),
            Reason::Work => "waits for work".into(),
            Reason::Foreground => "waits for the end of the foreground threads".into(),
            Reason::Helper => "waits for a call that a helper thread makes".into(),
            Reason::Code => "waits for the code of a method that another thread compiles".into(),
        };
        let whom = self.waits.whom(thread).map(|i| &self.snapshot.threads[i]);
        match (wait.reason, whom) {
            (Reason::Join(_), Some(other)) => {
                let _ = write!(text, " {}", self.who(other));
            }
            (Reason::Join(_), None) => text.push_str(" a thread"),
            (Reason::Constructor(_), Some(other)) => {
                let _ = write!(text, ", which {} runs", self.who(other));
            }
            (_, Some(other)) => {
                let _ = write!(text, ", which {} owns", self.who(other));
            }
            _ => {}
        }
        if wait.until != 0 {
            let left = wait.until.saturating_sub(self.snapshot.taken_at);
            let _ = write!(text, ", {:.1} s more", left as f64 / 1e9);
        }
        if !on.is_empty() {
            let _ = write!(text, ", and keeps carrier {}", thread.tid);
        }
        text
    }

    fn deadlocks(&self, out: &mut String) {
        for cycle in self.waits.cycles() {
            let _ = writeln!(out, "Deadlock:");
            for index in cycle.iter().take(OF_CYCLE) {
                let thread = &self.snapshot.threads[*index];
                let _ = writeln!(out, "  {}: {}", self.who(thread), self.does(thread));
            }
            if cycle.len() > OF_CYCLE {
                let _ = writeln!(out, "  and {} more", cycle.len() - OF_CYCLE);
            }
            out.push('\n');
        }
        if blocked::nobody_goes_on(self.snapshot) {
            let _ = writeln!(out, "Deadlock: {NOBODY}\n");
        }
    }

    fn summary(&self, out: &mut String) {
        let green = || self.snapshot.threads.iter().filter(|t| t.is_green);
        let (mut run, mut ready, mut wait) = (0, 0, 0);
        for thread in green() {
            match thread.activity {
                Activity::Runs | Activity::Native => run += 1,
                Activity::Ready | Activity::New => ready += 1,
                Activity::Waits(_) => wait += 1,
            }
        }
        let all = run + ready + wait;
        if all != 0 {
            let _ = writeln!(
                out,
                "Green threads: {all}; running {run}, ready {ready}, waiting {wait}\n"
            );
        }
        if self.snapshot.left_out != 0 {
            let _ = writeln!(
                out,
                "There was no room for {} threads\n",
                self.snapshot.left_out
            );
        }
    }
}

fn article(noun: &str) -> &'static str {
    match noun.starts_with(['a', 'e', 'i', 'o', 'u']) {
        true => "an",
        false => "a",
    }
}

/// What the threads of a group do.
fn plural(thread: &Thread) -> String {
    let text = match thread.activity {
        Activity::Runs => "run",
        Activity::Native => "are in native code",
        Activity::Ready => "are ready",
        Activity::New => "have not begun",
        Activity::Waits(wait) => match wait.reason {
            Reason::Unknown => "wait",
            Reason::Monitor(_) => "wait for a monitor",
            Reason::Pulse(_) => "wait for a pulse",
            Reason::Handles { .. } => "wait for handles",
            Reason::Sleep => "sleep",
            Reason::Join(_) => "wait for the end of a thread",
            Reason::Descriptor(_, false) => "wait to read a descriptor",
            Reason::Descriptor(_, true) => "wait to write a descriptor",
            Reason::Constructor(_) => "wait for a class constructor",
            Reason::Suspended => "are suspended",
            Reason::Work => "wait for work",
            Reason::Foreground => "wait for the end of the foreground threads",
            Reason::Helper => "wait for calls that helper threads make",
            Reason::Code => "wait for the code of methods that other threads compile",
        },
    };
    text.into()
}

/// The class of an object, and its address at that moment.
fn class(thread: &Thread, object: usize) -> String {
    format!("{} ({object:#x})", name(thread.vtable))
}

fn name(vtable: usize) -> String {
    // SAFETY: it was noted as the address of a VTable, which lives for ever.
    match unsafe { (vtable as *const VTable).as_ref() } {
        Some(vtable) => class_of(vtable).full_name().to_string(),
        None => "?".into(),
    }
}
