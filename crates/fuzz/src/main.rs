//! Runs targets for some seconds each, or one input once.
//!
//! What was found ends the program with code 1. A finding names the file with its input, which
//! `vervet-fuzz --input FILE TARGET` runs again; `--seed`, `--first` and `--end` run the same cases again.

use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use vervet_fuzz::driver::{self, Run};
use vervet_fuzz::{supervisor, targets};

/// Fuzzes what reads bytes from outside.
#[derive(Parser)]
struct Options {
    /// The targets, or all
    targets: Vec<String>,
    /// How long each target runs
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// The seed; a fresh one is drawn and printed otherwise
    #[arg(long)]
    seed: Option<u64>,
    /// The first case
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// The case to stop before
    #[arg(long, default_value_t = u64::MAX)]
    end: u64,
    /// Runs this input only
    #[arg(long)]
    input: Option<PathBuf>,
    /// Where inputs that found something go
    #[arg(long)]
    findings: Option<PathBuf>,
    /// Prints a digest of all inputs of `first..end` instead of running them
    #[arg(long)]
    digest: bool,
    /// Prints the names of the targets
    #[arg(long)]
    list: bool,
    /// Where the number of the case is kept
    #[arg(long, hide = true)]
    progress: Option<PathBuf>,
    /// Runs one target in this process
    #[arg(long, hide = true)]
    child: bool,
}

fn fresh_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(1, |d| d.as_nanos() as u64) & 0xFFFF_FFFF
}

fn main() -> ExitCode {
    let options = Options::parse();
    if options.list {
        targets::ALL
            .iter()
            .for_each(|t| println!("{:12} {}", t.name, t.about));
        return ExitCode::SUCCESS;
    }
    let mut chosen: Vec<_> = targets::ALL.iter().collect();
    if !options.targets.is_empty() {
        chosen.retain(|t| options.targets.iter().any(|n| n == t.name));
        if chosen.len() != options.targets.len() {
            eprintln!("there is no such target; --list prints their names");
            return ExitCode::from(2);
        }
    }
    if let Some(file) = &options.input {
        let input = std::fs::read(file).expect("the input can be read");
        chosen.iter().for_each(|t| (t.run)(&input));
        return ExitCode::SUCCESS;
    }
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let run = Run {
        seed: options.seed.unwrap_or_else(fresh_seed),
        first: options.first,
        end: options.end,
        time: Duration::from_secs_f64(options.seconds),
        progress: options
            .progress
            .unwrap_or_else(|| scratch.path().join("case")),
        findings: options
            .findings
            .unwrap_or_else(|| std::env::temp_dir().join("vervet-fuzz")),
    };
    if options.child {
        print!("{}", supervisor::report(&driver::run(chosen[0], &run)));
        return ExitCode::SUCCESS;
    }
    let mut found = 0;
    for target in chosen {
        if options.digest {
            println!("{}: digest {:x}", target.name, driver::digest(target, &run));
            continue;
        }
        if let Some(reason) = (target.missing)() {
            println!("{}: skipped, {reason}", target.name);
            continue;
        }
        let began = std::time::Instant::now();
        let outcome = supervisor::run(target, &run);
        println!(
            "{}: {} executions in {:.1} s, {} inputs in the corpus, seed {}, the slowest took {:?} (case {})",
            target.name,
            outcome.next - run.first,
            began.elapsed().as_secs_f64(),
            (target.corpus)().inputs.len(),
            run.seed,
            outcome.slowest,
            outcome.slowest_case,
        );
        outcome.findings.iter().for_each(|f| println!("  {f}"));
        found += outcome.findings.len();
    }
    ExitCode::from(u8::from(found > 0))
}
