//! A page with everything: flame graphs, tables, a time line of pauses, threads. One file, which loads nothing.
//!
//! The page is `page.html`; what the recording says is put into it as JSON, and its script draws.
//!
//! # Invariants
//! * Nothing of the recording can end the script that it stands in ([`json::text`]).
//! * Tables have at most [`ROWS`] rows, time lines at most [`POINTS`] points, and stacks that weigh too little to be seen are left out: the size
//!   is bounded.
use super::{json, palette};
use crate::profile::{RATE_STEP, Tally};
use crate::stacks::{Frame, ROOT};
use crate::{Error, Measure, Recording, units};
use rustc_hash::FxHashMap;
use std::io::Write;

const PAGE: &str = include_str!("page.html");
const ROWS: usize = 500;
const POINTS: usize = 4000;
/// Stacks below this part of all are left out.
const LEAST: u64 = 5000;
/// Cells of a thread's row in the time line.
const CELLS: usize = 240;

/// Writes the page.
pub fn html(recording: &mut Recording, title: &str, out: &mut dyn Write) -> Result<(), Error> {
    let mut frames = Frames::default();
    let mut views = Vec::new();
    for (_, measure) in Measure::ALL {
        if recording.has(measure) {
            views.push(view(recording, measure, &mut frames)?);
        }
    }
    let p = &recording.profile;
    let fields = [
        ("title", json::text(title)),
        (
            "head",
            json::list(head(recording).iter().map(|l| json::text(l))),
        ),
        ("duration", p.duration().to_string()),
        ("views", json::list(views)),
        ("frames", json::list(frames.all)),
        ("classes", classes(recording)),
        (
            "sites",
            sites(
                recording,
                p.allocations.iter().map(|((node, _), t)| (*node, *t)),
            ),
        ),
        ("rate", rate(recording)),
        (
            "waits",
            sites(recording, p.waits.iter().map(|((node, _), t)| (*node, *t))),
        ),
        ("monitors", monitors(recording)),
        ("pauses", pauses(recording)),
        ("heap", heap(recording)),
        ("threads", threads(recording)),
        ("throws", throws(recording)),
        ("shots", shots(recording)),
        ("counters", counters(recording)),
        (
            "losses",
            json::list(recording.losses.iter().map(|l| json::text(l))),
        ),
    ];
    let data: Vec<String> = fields
        .into_iter()
        .map(|(name, value)| format!("\"{name}\":{value}"))
        .collect();
    let (before, after) = PAGE.split_once("@DATA@").unwrap_or((PAGE, ""));
    write!(out, "{before}{{{}}}{after}", data.join(",\n"))?;
    Ok(())
}

fn numbers(values: &[u64]) -> String {
    json::list(values.iter().map(u64::to_string))
}

fn row(name: &str, values: &[u64]) -> String {
    json::list(std::iter::once(json::text(name)).chain(values.iter().map(u64::to_string)))
}

fn head(recording: &Recording) -> Vec<String> {
    let (h, p) = (&recording.header, &recording.profile);
    let mut lines = vec![
        format!(
            "{} · {} · process {}",
            units::date(h.start_ms),
            units::time(p.duration()),
            h.pid
        ),
        format!(
            "{} on {} · --profile={}",
            h.system, h.architecture, h.arguments
        ),
    ];
    if !p.hits.is_empty() {
        let all = p.hits.len() as u64;
        lines.push(format!(
            "{} samples, {:.1} % in managed code, {:.1} % in native code",
            units::count(all),
            units::percent(p.hit_kinds.managed, all),
            units::percent(p.hit_kinds.native, all)
        ));
    }
    lines
}

/// Names of frames, each once, with whose code it is.
#[derive(Default)]
struct Frames {
    all: Vec<String>,
    of: FxHashMap<Frame, usize>,
}

impl Frames {
    fn number(&mut self, recording: &Recording, frame: Frame) -> usize {
        *self.of.entry(frame).or_insert_with(|| {
            let frames = &recording.profile.frames;
            let name = frames.full_name(frame);
            let owner = palette::owner(frames, frame);
            let short = json::text(&frames.short_name(frame));
            let brief = json::text(&frames.brief_name(frame));
            self.all
                .push(format!("[{},{short},{owner},{brief}]", json::text(&name)));
            self.all.len() - 1
        })
    }
}

/// A tree in the order of its stacks: depth, frame, weight, and so on.
fn view(recording: &mut Recording, measure: Measure, frames: &mut Frames) -> Result<String, Error> {
    let weights = recording.weights(measure)?;
    let p = &recording.profile;
    let subtrees = p.stacks.subtrees(&weights);
    let children = p.stacks.children(&subtrees);
    let all = subtrees[ROOT as usize];
    let mut tree = Vec::new();
    let mut todo = vec![(ROOT, 0usize)];
    while let Some((node, depth)) = todo.pop() {
        let weight = subtrees[node as usize];
        if let Some(frame) = p.stacks.frame(node) {
            tree.push(format!(
                "{depth},{},{weight}",
                frames.number(recording, frame)
            ));
        }
        let below = children.get(&node).into_iter().flatten();
        // In reverse: what is pushed last is drawn first.
        let seen: Vec<_> = below
            .filter(|n| subtrees[**n as usize] > all / LEAST)
            .collect();
        todo.extend(seen.into_iter().rev().map(|n| (*n, depth + 1)));
    }
    Ok(format!(
        "{{\"word\":{},\"title\":{},\"unit\":{},\"all\":{all},\"tree\":[{}]}}",
        json::text(measure.word()),
        json::text(measure.title()),
        json::text(measure.unit()),
        tree.join(",")
    ))
}

fn classes(recording: &Recording) -> String {
    let p = &recording.profile;
    let all = p.by_class(p.allocations.iter().map(|((_, vtable), t)| (*vtable, *t)));
    json::list(
        all.iter()
            .take(ROWS)
            .map(|(name, t)| row(name, &[t.sum, t.count])),
    )
}

fn sites(recording: &Recording, tallies: impl Iterator<Item = (u32, Tally)>) -> String {
    let all = recording.by_place(tallies, 4);
    json::list(
        all.iter()
            .take(ROWS)
            .map(|(place, t)| row(place, &[t.sum, t.count, t.max])),
    )
}

fn rate(recording: &Recording) -> String {
    let mut all: Vec<(u64, u64)> = recording
        .profile
        .allocation_rate
        .iter()
        .map(|(k, v)| (*k, *v))
        .collect();
    all.sort_unstable();
    // Steps are merged until they can be drawn.
    let factor = (all.last().map_or(0, |l| l.0) / 1000).saturating_add(1);
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (step, bytes) in all {
        match merged.last_mut() {
            Some((last, sum)) if *last == step / factor => *sum = sum.saturating_add(bytes),
            _ => merged.push((step / factor, bytes)),
        }
    }
    let width = RATE_STEP.saturating_mul(factor);
    let points = merged
        .iter()
        .map(|(step, bytes)| numbers(&[step.saturating_mul(width), *bytes]));
    format!("{{\"step\":{width},\"points\":{}}}", json::list(points))
}

fn monitors(recording: &Recording) -> String {
    let p = &recording.profile;
    let mut all: Vec<_> = p.waited_objects.iter().collect();
    all.sort_by_key(|(address, (tally, _))| std::cmp::Reverse((tally.sum, tally.count, **address)));
    json::list(
        all.into_iter()
            .take(ROWS)
            .map(|(address, (tally, vtable))| {
                let class = if *vtable == 0 {
                    String::new()
                } else {
                    p.classes.name_of_vtable(*vtable)
                };
                row(
                    &format!("{address:#x} {class}"),
                    &[tally.sum, tally.count, tally.max],
                )
            }),
    )
}

fn pauses(recording: &Recording) -> String {
    let p = &recording.profile;
    let mut all: Vec<_> = p.collections.pauses.iter().collect();
    all.sort_by_key(|c| std::cmp::Reverse(c.pause_ns));
    all.truncate(POINTS);
    all.sort_by_key(|c| c.began);
    json::list(all.into_iter().map(|c| {
        numbers(&[
            p.since_zero(c.began),
            u64::from(c.generation),
            c.pause_ns,
            c.stopping_ns,
            c.work_ns,
        ])
    }))
}

fn heap(recording: &Recording) -> String {
    let p = &recording.profile;
    let every = p.collections.heap.len() / POINTS + 1;
    let points = p.collections.heap.iter().step_by(every);
    json::list(points.map(|(time, bytes)| numbers(&[p.since_zero(*time), *bytes])))
}

fn threads(recording: &Recording) -> String {
    let p = &recording.profile;
    let step = p.duration() / CELLS as u64 + 1;
    let mut cells: FxHashMap<u32, Vec<u64>> = FxHashMap::default();
    for hit in &p.hits {
        let row = cells.entry(hit.thread).or_insert_with(|| vec![0; CELLS]);
        row[((p.since_zero(hit.time) / step) as usize).min(CELLS - 1)] += 1;
    }
    let mut order: Vec<u32> = (0..p.threads.all.len() as u32).collect();
    order.sort_by_key(|t| {
        let info = &p.threads.all[*t as usize];
        (
            std::cmp::Reverse((info.samples, info.allocated, info.waited_ns)),
            *t,
        )
    });
    json::list(order.into_iter().take(ROWS).map(|thread| {
        let info = &p.threads.all[thread as usize];
        let began = info.began.map_or(0, |t| p.since_zero(t));
        let ended = info.ended.map_or(p.duration(), |t| p.since_zero(t));
        let values = [
            began,
            ended,
            info.samples,
            info.allocated,
            info.waited_ns,
            info.throws,
        ];
        let cells = cells.get(&thread).map(Vec::as_slice).unwrap_or_default();
        format!(
            "[{},{},{}]",
            json::text(&p.threads.label(thread)),
            numbers(&values),
            numbers(cells)
        )
    }))
}

fn throws(recording: &Recording) -> String {
    let p = &recording.profile;
    let tally = |n: u64| Tally {
        count: n,
        sum: n,
        max: 0,
    };
    let classes = p.by_class(p.throws.iter().map(|((_, vtable), n)| (*vtable, tally(*n))));
    let places = p.throws.iter().map(|((node, _), n)| (*node, tally(*n)));
    format!(
        "{{\"classes\":{},\"sites\":{},\"clauses\":{}}}",
        json::list(
            classes
                .iter()
                .take(ROWS)
                .map(|(name, t)| row(name, &[t.count]))
        ),
        sites(recording, places),
        numbers(&p.clauses)
    )
}

fn shots(recording: &Recording) -> String {
    let p = &recording.profile;
    json::list(p.shots.iter().take(50).map(|shot| {
        let classes = p.by_class(shot.classes.iter().map(|(vtable, t)| (*vtable, *t)));
        let rows = classes
            .iter()
            .take(ROWS)
            .map(|(name, t)| row(name, &[t.sum, t.count]));
        format!(
            "{{\"time\":{},\"bytes\":{},\"objects\":{},\"roots\":{},\"classes\":{}}}",
            p.since_zero(shot.time),
            shot.objects.sum,
            shot.objects.count,
            shot.roots,
            json::list(rows)
        )
    }))
}

fn counters(recording: &Recording) -> String {
    let shown = recording
        .profile
        .counters
        .all
        .iter()
        .filter(|c| !c.is_zero());
    json::list(shown.map(|c| {
        let every = c.history.len() / 200 + 1;
        let points = c
            .history
            .iter()
            .step_by(every)
            .filter(|(_, v)| v.is_finite());
        let points = points.map(|(t, v)| format!("[{},{v:e}]", recording.profile.since_zero(*t)));
        format!(
            "[{},{},{},{}]",
            json::text(&c.section),
            json::text(&c.name),
            json::text(&c.text()),
            json::list(points)
        )
    }))
}
