//! The text of `vervet report`: what a person looks at first.
//!
//! Sections stand in the order in which questions are asked: what ran, what was allocated, what was waited for, what the collector did. A
//! section of which nothing was recorded is left out.
mod memory;
mod peek;
mod table;

use crate::event::HANDLE_KINDS;
use crate::profile::Tally;
use crate::stacks::{Node, Weights};
use crate::units::{bytes, count, date, percent, time};
use crate::{Measure, Recording};
use std::io::{Result, Write};
use table::Table;

/// What of it is wanted.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Rows of a table.
    pub rows: usize,
    /// Everything: all counters, all methods, numbers of events.
    pub verbose: bool,
}

impl Default for Wanted {
    fn default() -> Wanted {
        Wanted {
            rows: 15,
            verbose: false,
        }
    }
}

impl Wanted {
    fn rows(&self) -> usize {
        if self.verbose { usize::MAX } else { self.rows }
    }
}

impl Recording {
    /// Writes the summary.
    pub fn summary(&mut self, out: &mut dyn Write, wanted: &Wanted) -> Result<()> {
        self.head(out)?;
        self.hot(out, wanted)?;
        self.recorded_calls(out, wanted)?;
        self.allocations(out, wanted)?;
        self.locks(out, wanted)?;
        self.exceptions(out, wanted)?;
        self.collections(out)?;
        self.handles(out, wanted)?;
        self.heapshots(out, wanted)?;
        self.thread_table(out, wanted)?;
        self.counter_table(out, wanted)?;
        if wanted.verbose {
            self.event_table(out)?;
        }
        Ok(())
    }

    /// Writes who calls the methods whose names contain `name`, and whom they call.
    pub fn peek(
        &mut self,
        out: &mut dyn Write,
        name: &str,
        measure: Measure,
    ) -> std::result::Result<(), crate::Error> {
        peek::write(self, out, name, measure)
    }

    fn head(&self, out: &mut dyn Write) -> Result<()> {
        let (h, p) = (&self.header, &self.profile);
        writeln!(
            out,
            "Recorded {} for {}: process {}, {} on {}, --profile={}",
            date(h.start_ms),
            time(p.duration()),
            h.pid,
            h.system,
            h.architecture,
            h.arguments
        )?;
        let (compiled, code) = p.frames.compiled;
        let (stubs, stub_bytes) = p.frames.stub_total;
        writeln!(
            out,
            "{} methods with {} of code, {} stubs ({}), {} assemblies, {} threads",
            count(compiled),
            bytes(code),
            count(stubs),
            bytes(stub_bytes),
            p.assemblies.len(),
            p.threads.all.len()
        )?;
        let named: Vec<&str> = p.domains.values().flatten().map(String::as_str).collect();
        if p.domains.len() > 1 {
            writeln!(
                out,
                "{} application domains: {}",
                p.domains.len(),
                named.join(", ")
            )?;
        }
        Ok(())
    }

    fn hot(&mut self, out: &mut dyn Write, wanted: &Wanted) -> Result<()> {
        let Ok(weights) = self.weights(Measure::Samples) else {
            return Ok(());
        };
        let p = &self.profile;
        let (all, kinds) = (p.hits.len() as u64, p.hit_kinds);
        let period = self.period();
        let rate = match period {
            0 => String::new(),
            _ => format!(", one every {}", time(period)),
        };
        writeln!(
            out,
            "\nSamples: {}{rate}; {:.1} % in managed code, {:.1} % in native code ({:.1} % without a name)",
            count(all),
            percent(kinds.managed, all),
            percent(kinds.native, all),
            percent(kinds.unknown, all)
        )?;
        let mut table = Table::new(&["self", "", "with calls", "", "method"]);
        for (frame, share) in self.sorted(&weights).into_iter().take(wanted.rows()) {
            table.row([
                count(share.own),
                format!("{:.1} %", percent(share.own, all)),
                count(share.all),
                format!("{:.1} %", percent(share.all, all)),
                p.frames.full_name(frame),
            ]);
        }
        table.write(out)
    }

    /// Frames, those that weigh most by themselves first.
    fn sorted(&self, weights: &Weights) -> Vec<(u32, crate::stacks::Share)> {
        let mut all: Vec<_> = self.profile.stacks.by_frame(weights).into_iter().collect();
        all.sort_by_key(|(frame, share)| {
            std::cmp::Reverse((share.own, share.all, std::cmp::Reverse(*frame)))
        });
        all
    }

    fn recorded_calls(&mut self, out: &mut dyn Write, wanted: &Wanted) -> Result<()> {
        let Ok(weights) = self.weights(Measure::Calls) else {
            return Ok(());
        };
        let p = &self.profile;
        writeln!(
            out,
            "\nCalls: {} of {} methods{}",
            count(p.calls.total),
            count(p.calls.counts.len() as u64),
            match p.calls.unmatched {
                0 => String::new(),
                n => format!("; {} were left that had not been entered", count(n)),
            }
        )?;
        let mut table = Table::new(&["calls", "self", "with calls", "method"]);
        for (frame, share) in self.sorted(&weights).into_iter().take(wanted.rows()) {
            table.row([
                count(p.calls.counts.get(&frame).copied().unwrap_or(0)),
                time(share.own),
                time(share.all),
                p.frames.full_name(frame),
            ]);
        }
        table.write(out)
    }

    /// The innermost frames of a stack as one line, without wrappers. If none of them is the program's, its innermost one ends the line.
    fn place(&self, node: Node, depth: usize) -> String {
        let frames = &self.profile.frames;
        let own = |frame: &u32| !frames.is_wrapper(*frame) && !frames.is_of_library(*frame);
        let all = || {
            self.profile
                .stacks
                .frames(node)
                .filter(|f| !frames.is_wrapper(*f))
        };
        let shown: Vec<u32> = all().take(depth).collect();
        let names: Vec<String> = shown.iter().map(|f| frames.short_name(*f)).collect();
        match (names.join(" < "), all().skip(depth).find(own)) {
            (line, _) if line.is_empty() => "[no stack recorded]".into(),
            (line, Some(frame)) if !shown.iter().any(own) => {
                format!("{line} < .. < {}", frames.short_name(frame))
            }
            (line, _) => line,
        }
    }

    /// Tallies of places, merged where they read the same, the largest first.
    pub(crate) fn by_place(
        &self,
        all: impl Iterator<Item = (Node, Tally)>,
        depth: usize,
    ) -> Vec<(String, Tally)> {
        let mut merged = rustc_hash::FxHashMap::<String, Tally>::default();
        for (node, tally) in all {
            merged
                .entry(self.place(node, depth))
                .or_default()
                .merge(tally);
        }
        let mut sorted: Vec<_> = merged.into_iter().collect();
        sorted.sort_by(|a, b| (b.1.sum, b.1.count, &a.0).cmp(&(a.1.sum, a.1.count, &b.0)));
        sorted
    }

    fn locks(&self, out: &mut dyn Write, wanted: &Wanted) -> Result<()> {
        let p = &self.profile;
        if p.contentions == 0 {
            return Ok(());
        }
        let waited = p
            .waits
            .values()
            .fold(0u64, |sum, t| sum.saturating_add(t.sum));
        writeln!(
            out,
            "\nMonitors: {} waits for {} objects, {} in all, {} timed out",
            count(p.contentions),
            count(p.waited_objects.len() as u64),
            time(waited),
            count(p.timeouts)
        )?;
        let mut table = Table::new(&["waits", "in all", "longest", "where"]);
        let sites = p.waits.iter().map(|((node, _), tally)| (*node, *tally));
        for (place, tally) in self.by_place(sites, 3).into_iter().take(wanted.rows()) {
            table.row([count(tally.count), time(tally.sum), time(tally.max), place]);
        }
        table.write(out)?;
        let mut objects: Vec<_> = p.waited_objects.iter().collect();
        objects.sort_by_key(|(address, (tally, _))| {
            std::cmp::Reverse((tally.sum, tally.count, **address))
        });
        let mut table = Table::new(&["waits", "in all", "longest", "object"]);
        for (address, (tally, vtable)) in objects.into_iter().take(wanted.rows()) {
            let class = match vtable {
                0 => String::new(),
                vtable => format!(" {}", p.classes.name_of_vtable(*vtable)),
            };
            table.row([
                count(tally.count),
                time(tally.sum),
                time(tally.max),
                format!("{address:#x}{class}"),
            ]);
        }
        table.write(out)
    }

    fn exceptions(&self, out: &mut dyn Write, wanted: &Wanted) -> Result<()> {
        let p = &self.profile;
        let thrown: u64 = p.throws.values().sum();
        let [catch, filter, finally, fault] = p.clauses;
        if thrown + catch + filter + finally + fault == 0 {
            return Ok(());
        }
        writeln!(
            out,
            "\nExceptions: {} thrown; clauses that ran: {} catch, {} filter, {} finally, {} fault",
            count(thrown),
            count(catch),
            count(filter),
            count(finally),
            count(fault)
        )?;
        if thrown == 0 {
            return Ok(());
        }
        let one = |((node, vtable), n): (&(Node, u64), &u64)| {
            (
                *node,
                *vtable,
                Tally {
                    count: *n,
                    sum: *n,
                    max: 0,
                },
            )
        };
        let mut table = Table::new(&["thrown", "class"]);
        for (class, tally) in p
            .by_class(p.throws.iter().map(one).map(|(_, v, t)| (v, t)))
            .into_iter()
            .take(wanted.rows())
        {
            table.row([count(tally.count), class]);
        }
        table.write(out)?;
        let mut table = Table::new(&["thrown", "where"]);
        let sites = p.throws.iter().map(one).map(|(node, _, t)| (node, t));
        for (place, tally) in self.by_place(sites, 3).into_iter().take(wanted.rows()) {
            table.row([count(tally.count), place]);
        }
        table.write(out)
    }

    fn handles(&self, out: &mut dyn Write, wanted: &Wanted) -> Result<()> {
        let p = &self.profile;
        if p.handles.iter().all(|h| h.made + h.freed == 0) {
            return Ok(());
        }
        writeln!(out, "\nGC handles")?;
        let mut table = Table::new(&["made", "freed", "most at a time", "kind"]);
        for (handles, (_, kind)) in p.handles.iter().zip(HANDLE_KINDS) {
            if handles.made + handles.freed > 0 {
                table.row([
                    count(handles.made),
                    count(handles.freed),
                    count(handles.most),
                    kind.into(),
                ]);
            }
        }
        table.write(out)?;
        if p.living_handles.is_empty() {
            return Ok(());
        }
        let mut table = Table::new(&["never freed", "made where"]);
        let sites = p.living_handles.values().map(|(node, _)| {
            (
                *node,
                Tally {
                    count: 1,
                    sum: 1,
                    max: 0,
                },
            )
        });
        for (place, tally) in self.by_place(sites, 3).into_iter().take(wanted.rows()) {
            table.row([count(tally.count), place]);
        }
        table.write(out)
    }

    fn thread_table(&self, out: &mut dyn Write, wanted: &Wanted) -> Result<()> {
        let p = &self.profile;
        if p.threads.all.is_empty() {
            return Ok(());
        }
        writeln!(out, "\nThreads: {}", count(p.threads.all.len() as u64))?;
        let mut order: Vec<usize> = (0..p.threads.all.len()).collect();
        let rank = |t: usize| {
            let info = &p.threads.all[t];
            (info.samples, info.allocated, info.waited_ns)
        };
        order.sort_by_key(|t| (std::cmp::Reverse(rank(*t)), *t));
        let mut table = Table::new(&[
            "samples",
            "allocated",
            "waited",
            "thrown",
            "from",
            "to",
            "thread",
        ]);
        let moment = |t: Option<u64>| {
            t.map_or("-".into(), |t| {
                format!("{:.2} s", p.since_zero(t) as f64 / 1e9)
            })
        };
        for thread in order.into_iter().take(wanted.rows()) {
            let info = &p.threads.all[thread];
            table.row([
                count(info.samples),
                bytes(info.allocated),
                time(info.waited_ns),
                count(info.throws),
                moment(info.began),
                moment(info.ended),
                p.threads.label(thread as u32),
            ]);
        }
        table.write(out)
    }

    fn counter_table(&self, out: &mut dyn Write, wanted: &Wanted) -> Result<()> {
        // Those that say something about any program; --verbose shows all.
        const USUAL: [&str; 12] = [
            "Methods from AOT",
            "Methods JITted using mono JIT",
            "Total time spent JITting (sec)",
            "Total time spent JITting",
            "User Time",
            "System Time",
            "Total Time",
            "Working Set",
            "Private Bytes",
            "Virtual Bytes",
            "Page Faults",
            "CPU Load Average - 1min",
        ];
        let counters = &self.profile.counters.all;
        let mut shown: Vec<_> = counters
            .iter()
            .filter(|c| !c.is_zero() && (wanted.verbose || USUAL.contains(&c.name.as_str())))
            .collect();
        if shown.is_empty() {
            return Ok(());
        }
        shown.sort_by(|a, b| (&a.section, &a.name).cmp(&(&b.section, &b.name)));
        writeln!(out, "\nCounters at the end")?;
        let mut table = Table::new(&["value", "counter"]);
        for counter in shown {
            table.row([
                counter.text(),
                format!("{}: {}", counter.section, counter.name),
            ]);
        }
        table.write(out)
    }

    fn event_table(&self, out: &mut dyn Write) -> Result<()> {
        let p = &self.profile;
        writeln!(out, "\nEvents in {} buffers", count(p.buffers))?;
        let mut kinds: Vec<_> = p.kinds.iter().collect();
        kinds.sort_by_key(|(kind, _)| **kind);
        let mut table = Table::new(&["events", "bytes", "kind"]);
        for (kind, tally) in kinds {
            table.row([count(tally.count), count(tally.sum), format!("{kind:#04x}")]);
        }
        table.write(out)
    }
}
