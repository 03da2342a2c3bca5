//! Runs a target in a process of its own and outlives it: overflows of the stack, allocations beyond the limit and cases
//! that do not end are findings like any other, and the run goes on behind them.
//!
//! Invariant: a child is ended by its id, after [`CPU_LIMIT`] of processor time or [`STUCK`] without a new case.

use crate::driver::{self, CPU_LIMIT, ENOUGH, Outcome, Run};
use crate::target::Target;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long a case may take by the clock, on a busy machine.
const STUCK: Duration = Duration::from_secs(120);

/// What a child writes to its output in the end: numbers, then a finding a line.
pub fn report(outcome: &Outcome) -> String {
    let mut text = format!(
        "{} {} {}\n",
        outcome.next,
        outcome.slowest.as_micros(),
        outcome.slowest_case
    );
    for finding in &outcome.findings {
        text.push_str(&finding.replace('\n', " "));
        text.push('\n');
    }
    text
}

fn read_report(text: &str) -> Option<Outcome> {
    let mut lines = text.lines();
    let numbers: Vec<u64> = lines
        .next()?
        .split(' ')
        .map(|n| n.parse().ok())
        .collect::<Option<_>>()?;
    let &[next, slowest, slowest_case] = numbers.as_slice() else {
        return None;
    };
    Some(Outcome {
        next,
        slowest: Duration::from_micros(slowest),
        slowest_case,
        findings: lines.map(str::to_owned).collect(),
    })
}

fn processor_time(child: &Child) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks = |n: usize| fields.get(n)?.parse::<u64>().ok();
    // utime and stime, of which there are 100 in a second.
    Some(Duration::from_millis(10 * (ticks(11)? + ticks(12)?)))
}

fn progress(run: &Run) -> Option<u64> {
    let bytes = std::fs::read(&run.progress).ok()?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

/// Waits for the child; why it was ended, if it was.
fn watch(child: &mut Child, run: &Run) -> (Option<ExitStatus>, Option<String>) {
    let (mut last, mut since, mut spent) = (None, Instant::now(), Duration::ZERO);
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return (Some(status), None);
        }
        std::thread::sleep(Duration::from_millis(20));
        let (now, cpu) = (progress(run), processor_time(child).unwrap_or(spent));
        if now != last {
            (last, since, spent) = (now, Instant::now(), cpu);
        } else if cpu > spent + 2 * CPU_LIMIT || since.elapsed() > STUCK {
            let _ = child.kill();
            let _ = child.wait();
            let text = format!("does not end: {:?} of processor time", cpu - spent);
            return (None, Some(text));
        }
    }
}

fn child_of(target: &Target, run: &Run, left: Duration) -> std::io::Result<Child> {
    Command::new(std::env::current_exe()?)
        .arg("--child")
        .args(["--seed", &run.seed.to_string()])
        .args(["--first", &run.first.to_string()])
        .args(["--end", &run.end.to_string()])
        .args(["--seconds", &left.as_secs_f64().to_string()])
        .arg("--progress")
        .arg(&run.progress)
        .arg("--findings")
        .arg(&run.findings)
        .arg(target.name)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

/// Runs a target for the time of `run`, in as many processes as it takes.
pub fn run(target: &'static Target, run: &Run) -> Outcome {
    let until = Instant::now() + run.time;
    let corpus = (target.corpus)();
    let mut run = run.clone();
    let mut all = Outcome {
        next: run.first,
        ..Outcome::default()
    };
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let replayed = run.first >= corpus.inputs.len() as u64;
        if left.is_zero() && replayed || run.first >= run.end || all.findings.len() >= ENOUGH {
            return all;
        }
        let _ = std::fs::remove_file(&run.progress);
        let mut child = child_of(target, &run, left).expect("this program can be started again");
        // What it says is little; the pipes hold it until it ends.
        let (status, ended) = watch(&mut child, &run);
        let said = |pipe: Option<&mut dyn std::io::Read>| {
            let mut bytes = Vec::new();
            pipe.map(|p| p.read_to_end(&mut bytes));
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let out = said(child.stdout.as_mut().map(|p| p as _));
        let err = said(child.stderr.as_mut().map(|p| p as _));
        let orderly = status.is_some_and(|s| s.success());
        if let (true, Some(part)) = (orderly, read_report(&out)) {
            if part.slowest > all.slowest {
                (all.slowest, all.slowest_case) = (part.slowest, part.slowest_case);
            }
            all.findings.extend(part.findings);
            all.next = part.next;
        } else {
            let number = progress(&run).unwrap_or(run.first);
            let input = driver::case(target, &corpus, run.seed, number);
            let file = driver::keep(target, &run, number, &input);
            let status = status.map(|s| s.to_string()).unwrap_or_default();
            let text = ended.unwrap_or(status);
            let last = err.lines().find(|l| !l.is_empty()).unwrap_or("");
            all.findings
                .push(format!("case {number}: {text}; {last} (input: {file})"));
            all.next = number + 1;
        }
        run.first = all.next;
    }
}
