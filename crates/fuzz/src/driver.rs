//! Runs the cases of one target, in this process.
//!
//! A case is a number: the first ones are the inputs of the corpus as they are, the others are generated from the seed and
//! the number. The number is in the progress file before the case runs, so whoever watches knows which one ended the
//! process; [`crate::supervisor`] does.
//!
//! Invariants:
//! * A case runs on a stack of [`STACK`] bytes and may allocate [`memory`] bytes; more of either ends the process.
//! * A case that takes more than [`CPU_LIMIT`] of its thread's processor time is a finding.

use crate::corpus::Corpus;
use crate::random::Random;
use crate::target::Target;
use cap::Cap;
use rustix::time::{ClockId, clock_gettime};
use std::alloc::System;
use std::any::Any;
use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
#[expect(
    clippy::disallowed_types,
    reason = "the driver is no part of the runtime"
)]
use std::sync::Mutex;
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// The stack of a case: what a small thread of a program has.
pub const STACK: usize = 1 << 20;
/// How much processor time a case may take.
pub const CPU_LIMIT: Duration = Duration::from_secs(5);
/// A process that holds more than this between two cases is replaced: some targets make what lives for ever.
const PROCESS_LIMIT: usize = 1 << 30;
/// How many different findings end a run.
pub const ENOUGH: usize = 20;

/// How much memory a case may need.
fn memory(target: &Target, input: &[u8]) -> usize {
    target.memory + 512 * input.len()
}

/// What a run is asked for.
#[derive(Debug, Clone)]
pub struct Run {
    /// The seed of the generated cases.
    pub seed: u64,
    /// The first case.
    pub first: u64,
    /// The case to stop before.
    pub end: u64,
    /// How long to go on.
    pub time: Duration,
    /// Where the number of the case is kept.
    pub progress: PathBuf,
    /// Where inputs that found something go.
    pub findings: PathBuf,
}

/// How a run went.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The case to go on with.
    pub next: u64,
    /// The processor time of the slowest case.
    pub slowest: Duration,
    /// Which one that was.
    pub slowest_case: u64,
    /// What was found, a line each.
    pub findings: Vec<String>,
}

/// The input of a case.
pub fn case(target: &Target, corpus: &Corpus, seed: u64, number: u64) -> Vec<u8> {
    match corpus.inputs.get(number as usize) {
        Some((_, data)) => data.clone(),
        None => (target.generate)(&mut Random::of_case(seed, number), corpus),
    }
}

/// A digest of the inputs of all cases of a run (FNV-1a).
pub fn digest(target: &Target, run: &Run) -> u64 {
    let corpus = (target.corpus)();
    (run.first..run.end)
        .flat_map(|number| case(target, &corpus, run.seed, number))
        .fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3)
        })
}

fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// Where and with which words the last panic of the cases' thread was.
#[expect(
    clippy::disallowed_types,
    reason = "the driver is no part of the runtime"
)]
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

fn note_panics() {
    std::panic::set_hook(Box::new(|info| {
        let words: &dyn Any = info.payload();
        let words = words
            .downcast_ref::<&str>()
            .map(|s| (*s).to_owned())
            .or_else(|| words.downcast_ref::<String>().cloned())
            .unwrap_or_default();
        let place = info.location().map(ToString::to_string);
        let text = format!("panic at {}: {words}", place.unwrap_or_default());
        if let Ok(mut last) = LAST_PANIC.lock() {
            *last = text;
        }
    }));
}

/// Runs `input` alone; what it found.
fn one(target: &Target, input: &[u8]) -> (Duration, Option<String>) {
    let began = cpu_time();
    let limit = ALLOCATOR.allocated() + memory(target, input);
    let limited = ALLOCATOR.set_limit(limit).is_ok();
    let ended = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    if limited {
        let _ = ALLOCATOR.set_limit(usize::MAX);
    }
    let took = cpu_time() - began;
    let found = match ended {
        Err(_) => Some(LAST_PANIC.lock().map(|l| l.clone()).unwrap_or_default()),
        Ok(()) if took > CPU_LIMIT => Some(format!("slow: {took:?} for {} bytes", input.len())),
        Ok(()) => None,
    };
    (took, found)
}

fn cases(target: &Target, run: &Run) -> Outcome {
    let corpus = (target.corpus)();
    let progress = File::create(&run.progress).expect("the progress file can be written");
    let until = Instant::now() + run.time;
    let mut outcome = Outcome {
        next: run.first,
        ..Outcome::default()
    };
    let mut places = BTreeSet::new();
    while outcome.next < run.end
        && (Instant::now() < until || outcome.next < corpus.inputs.len() as u64)
        && ALLOCATOR.allocated() < PROCESS_LIMIT
    {
        let number = outcome.next;
        progress
            .write_all_at(&number.to_le_bytes(), 0)
            .expect("the progress file can be written");
        let input = case(target, &corpus, run.seed, number);
        let (took, found) = one(target, &input);
        if took > outcome.slowest {
            (outcome.slowest, outcome.slowest_case) = (took, number);
        }
        outcome.next += 1;
        // One case of each place is enough.
        let place = |text: &str| text.split(": ").next().unwrap_or("").to_owned();
        if let Some(text) = found
            && places.insert(place(&text))
        {
            let file = keep(target, run, number, &input);
            outcome
                .findings
                .push(format!("case {number}: {text} (input: {file})"));
            if places.len() >= ENOUGH {
                break;
            }
        }
    }
    outcome
}

/// Writes an input that found something to a file; its name.
pub fn keep(target: &Target, run: &Run, number: u64, input: &[u8]) -> String {
    let name = format!("{}-{:x}-{number}", target.name, run.seed);
    let path = run.findings.join(name);
    let written =
        std::fs::create_dir_all(&run.findings).and_then(|()| std::fs::write(&path, input));
    match written {
        Ok(()) => path.display().to_string(),
        Err(e) => format!("not written: {e}"),
    }
}

/// Runs cases of a target on a thread of their own.
pub fn run(target: &'static Target, run: &Run) -> Outcome {
    note_panics();
    let run = run.clone();
    std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || cases(target, &run))
        .expect("a thread starts")
        .join()
        .expect("the cases' thread catches panics")
}
