//! A debugging aid: samples a whole run, checks every sample and sums them up.
//!
//! `VERVET_DEBUG_SAMPLE=real,HZ` or `cpu,HZ` starts sampling with the process;
//! `waits,MICROSECONDS` samples waits, one for each so many microseconds. A thread of its own
//! drains the rings, as the writer of the profiler does. Each frame must be in code of the
//! table, and each method that was left must be one. At the end of the run a line says how many
//! samples there were, and further ones how the innermost methods share them. An error of a
//! check ends the process with exit code 70.
use super::{Mode, off_cpu, start, stop};
use crate::code::table::{self, CodeKind};
use crate::process::fatal::{internal_error, write_stderr};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use vervet_os::{SafeLock, clock};
use vervet_profiler::sample::{
    CUT, FRAMELESS, FrameKind, FrameWord, IN_NATIVE, IN_RUNTIME, MOST_FRAMES, OFF_CPU, REASON,
    Sample, SampleSource,
};
use vervet_types::MethodRef;

#[derive(Default)]
struct Sums {
    samples: u64,
    weight: u64,
    frames: u64,
    frameless: u64,
    cut: u64,
    /// Those of them that had room for more frames, and the program counter, flags and last
    /// frame of the first.
    broken: u64,
    broken_at: Option<(u64, u32, u64)>,
    native: u64,
    runtime: u64,
    green: u64,
    unknown: u64,
    disorder: u64,
    /// Waits and their microseconds, by kind of reason.
    waits: BTreeMap<u8, (u64, u64)>,
    /// The time of the last sample, by thread.
    last: FxHashMap<u64, u64>,
    /// Weights by innermost method.
    methods: FxHashMap<usize, (u64, Option<MethodRef>)>,
}

static SUMS: SafeLock<Option<Sums>> = SafeLock::new(None);
static SOURCE: vervet_os::Published<&'static dyn SampleSource> = vervet_os::Published::new();
static ENDS: AtomicBool = AtomicBool::new(false);

/// Starts sampling if the environment asks for it. Called once, when the first thread has been
/// attached.
pub(crate) fn start_if_wanted() {
    let Ok(wanted) = std::env::var("VERVET_DEBUG_SAMPLE") else {
        return;
    };
    if let Some(us) = wanted.strip_prefix("waits,").and_then(|us| us.parse().ok()) {
        let source = off_cpu::start(Duration::from_micros(us));
        return begin(source);
    }
    let parts = wanted.split_once(',').and_then(|(mode, hz)| {
        let mode = match mode {
            "real" => Mode::Real,
            "cpu" => Mode::Cpu,
            _ => return None,
        };
        Some((mode, hz.parse().ok()?))
    });
    let Some((mode, hz)) = parts else {
        tracing::warn!("VERVET_DEBUG_SAMPLE is real,HZ or cpu,HZ or waits,MICROSECONDS");
        return;
    };
    match start(mode, hz, usize::MAX) {
        Ok(source) => begin(source),
        Err(e) => tracing::warn!("{e}"),
    }
}

/// Starts the thread that drains the samples.
fn begin(source: &'static dyn SampleSource) {
    *SUMS.lock() = Some(Sums::default());
    SOURCE.put(source);
    let drain = || {
        while !ENDS.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(5));
            take(clock::now().saturating_sub(10_000_000));
        }
    };
    if let Err(e) = vervet_os::thread::spawn_detached(256 << 10, drain) {
        tracing::warn!("nobody drains the samples: {e}");
    }
}

/// Sums up the samples up to that time.
fn take(until: u64) {
    let Some(source) = SOURCE.get() else { return };
    let mut sums = SUMS.lock();
    if let Some(sums) = sums.as_mut() {
        source.drain(until, &mut |sample| add(sums, sample));
    }
}

fn add(sums: &mut Sums, s: &Sample<'_>) {
    sums.samples += 1;
    sums.weight += u64::from(s.weight);
    sums.frames += s.frames.len() as u64;
    for (flag, count) in [
        (FRAMELESS, &mut sums.frameless),
        (CUT, &mut sums.cut),
        (IN_NATIVE, &mut sums.native),
        (IN_RUNTIME, &mut sums.runtime),
    ] {
        *count += u64::from(s.flags & flag != 0);
    }
    if s.flags & OFF_CPU != 0 {
        let wait = sums.waits.entry((s.flags >> REASON) as u8).or_default();
        *wait = (wait.0 + 1, wait.1 + u64::from(s.weight));
    }
    sums.green += u64::from(s.green != 0);
    if s.flags & CUT != 0 && s.frames.len() < MOST_FRAMES {
        sums.broken += 1;
        sums.broken_at
            .get_or_insert((s.ip, s.flags, s.frames.last().map_or(0, |f| f.0)));
    }
    let last = sums.last.entry(s.thread).or_default();
    sums.disorder += u64::from(s.time_ns < *last);
    *last = s.time_ns;
    let mut innermost = None;
    for frame in s.frames {
        let method = match (frame.kind(), frame.probe()) {
            (FrameKind::Stub, _) | (_, None) => continue,
            (_, Some(pc)) => match table::find(pc) {
                None => {
                    sums.unknown += 1;
                    continue;
                }
                Some(code) => match code.kind {
                    CodeKind::Method(m) => code.inlined(pc).next().map_or(m, |(m, _)| m),
                    _ => continue,
                },
            },
        };
        innermost = innermost.or(Some(method));
    }
    let key = innermost.map_or(0, |m| std::ptr::from_ref(m) as usize);
    let method = sums.methods.entry(key).or_insert((0, innermost));
    method.0 += u64::from(s.weight);
}

fn name_of(frame: u64) -> String {
    let code = FrameWord(frame).probe().and_then(table::find);
    code.and_then(|code| code.method())
        .map_or(format!("{frame:#x}"), |m| m.full_name())
}

/// Stops sampling, and says what it found. Called at the end of a run.
pub(crate) fn report() {
    if SOURCE.get().is_none() {
        return;
    }
    stop();
    off_cpu::stop();
    ENDS.store(true, Ordering::Relaxed);
    take(u64::MAX);
    let lost = SOURCE.get().map_or(0, |s| s.lost());
    let Some(s) = SUMS.lock().take() else { return };
    let frames = s.frames as f64 / s.samples.max(1) as f64;
    write_stderr(&format!(
        "samples: {} of weight {}, {frames:.1} frames each; {} native, {} runtime, {} green; {} without frames, {} cut, {lost} lost\n",
        s.samples, s.weight, s.native, s.runtime, s.green, s.frameless, s.cut
    ));
    if let Some((pc, flags, last)) = s.broken_at {
        let (count, name) = (s.broken, name_of(last));
        write_stderr(&format!(
            "samples: {count} broken, the first at {pc:#x} with flags {flags}, behind {name}\n"
        ));
    }
    for (kind, (count, us)) in &s.waits {
        write_stderr(&format!("samples: {count} waits of kind {kind}, {us} us\n"));
    }
    let mut methods: Vec<_> = s.methods.into_values().collect();
    methods.sort_by_key(|m| std::cmp::Reverse(m.0));
    for (weight, method) in methods.into_iter().take(8) {
        let name = method.map_or(String::from("-"), |m| m.full_name());
        let share = weight as f64 * 100.0 / s.weight.max(1) as f64;
        write_stderr(&format!("samples: {share:5.1} % {name}\n"));
    }
    if s.unknown != 0 || s.disorder != 0 {
        internal_error(&format!(
            "{} frames of samples are in no code, {} samples are out of order",
            s.unknown, s.disorder
        ));
    }
}
