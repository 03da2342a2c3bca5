//! `vervet-load`: asks an HTTP server for one page over many kept connections, and says how often it answered and how late.
//!
//! Without `--rate` each connection asks again as soon as it has its answer (a closed loop), which measures the most requests per
//! second that the server answers. With `--rate` the requests are due at fixed times, whatever the server does, and the time of an
//! answer counts from the time at which its request was due, so that a server that stalls is charged for the requests that it kept
//! from being sent.
//!
//! In a closed loop a connection that is not served makes few requests, so that percentiles hardly show it. Therefore the share of the
//! connection with the fewest answers is printed, in percent of the mean.
//!
//! # Invariants
//! * A wrong answer, an early end of a connection or a missing answer ends the run with an error. A number that is printed is about
//!   answers that were all checked.
//! * The times of answers are those of the requests that were due within the measured seconds, each of which is waited for. The rate
//!   counts the answers that came within these seconds.
#![forbid(unsafe_code)]

mod client;
mod limits;
mod measure;
mod response;

use clap::Parser;
use hdrhistogram::Histogram;
use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Loads an HTTP server over kept connections and prints requests per second and percentiles of the time to an answer.
#[derive(Parser, Debug, Clone)]
#[command(version)]
pub struct Options {
    /// Address and port of the server, as 127.0.0.1:8080
    pub server: SocketAddr,
    /// Connections, each with at most one request under way
    #[arg(long, default_value_t = 64)]
    pub connections: usize,
    /// Seconds that are measured
    #[arg(long, default_value_t = 5.0)]
    pub seconds: f64,
    /// Seconds before the measured ones
    #[arg(long, default_value_t = 2.0)]
    pub warm_up: f64,
    /// Requests per second over all connections; without it, as many as are answered
    #[arg(long)]
    pub rate: Option<f64>,
    /// Path that is asked for
    #[arg(long, default_value = "/plaintext")]
    pub path: String,
    /// Body that every answer must have
    #[arg(long)]
    pub expect: Option<String>,
    /// Threads of the load generator
    #[arg(long, default_value_t = 1)]
    pub threads: usize,
    /// Seconds to wait for the server to listen
    #[arg(long, default_value_t = 10.0)]
    pub patience: f64,
    /// What the names of the printed figures begin with
    #[arg(long, default_value = "http")]
    pub name: String,
}

/// The time of an answer that is longer than this counts as this: a minute, in nanoseconds.
const LONGEST_NS: u64 = 60_000_000_000;

/// An empty histogram of nanoseconds, with three significant digits.
fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(100, LONGEST_NS, 3).expect("bounds that are in order")
}

/// What one thread of the load generator measured.
pub struct Measured {
    /// Nanoseconds from when a request was due to its answer.
    pub times: Histogram<u64>,
    /// Answers within the measured seconds.
    pub answers: u64,
    /// Answers within these of the connection that got the fewest.
    pub fewest: u64,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("vervet-load: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    let day = f64::MIN_POSITIVE..=86_400.0;
    if options.connections == 0 || options.threads == 0 {
        return Err("connections and threads must be more than 0".to_owned());
    }
    if !day.contains(&options.seconds) || !(0.0..=*day.end()).contains(&options.warm_up) {
        return Err("a time must be more than 0 and at most a day".to_owned());
    }
    if options
        .rate
        .is_some_and(|rate| !(0.001..=1e9).contains(&rate))
    {
        return Err("the rate must be more than 0".to_owned());
    }
    limits::allow_descriptors(options.connections)?;
    let threads = options.threads.min(options.connections);
    let streams = client::connect_all(options)?;
    // All threads share one plan, so that they measure the same seconds.
    let plan = measure::Plan::new(options, Instant::now() + Duration::from_millis(50));
    let mut shares: Vec<Vec<_>> = (0..threads).map(|_| Vec::new()).collect();
    for (number, stream) in streams.into_iter().enumerate() {
        shares[number % threads].push((number, stream));
    }
    let results: Vec<Result<Measured, String>> = std::thread::scope(|scope| {
        let running: Vec<_> = shares
            .into_iter()
            .map(|share| scope.spawn(|| measure::measure(&plan, share)))
            .collect();
        running
            .into_iter()
            .map(|thread| thread.join().expect("a thread that does not panic"))
            .collect()
    });
    let mut all = Measured {
        times: histogram(),
        answers: 0,
        fewest: u64::MAX,
    };
    for result in results {
        let one = result?;
        all.times
            .add(&one.times)
            .expect("histograms of the same bounds");
        all.answers += one.answers;
        all.fewest = all.fewest.min(one.fewest);
    }
    std::io::stdout()
        .write_all(report(options, &all).as_bytes())
        .map_err(|e| format!("the figures cannot be written: {e}"))
}

/// Lines `name value unit`.
fn report(options: &Options, measured: &Measured) -> String {
    let name = &options.name;
    let rate = measured.answers as f64 / options.seconds;
    let mean = measured.answers as f64 / options.connections as f64;
    let fewest = measured.fewest as f64 * 100.0 / mean.max(1.0);
    let mut lines = format!("{name}-requests {rate:.1} 1/s\n{name}-fewest {fewest:.1} %\n");
    for (label, quantile) in [
        ("p50", 0.5),
        ("p90", 0.9),
        ("p95", 0.95),
        ("p99", 0.99),
        ("max", 1.0),
    ] {
        let time = measured.times.value_at_quantile(quantile) as f64 / 1000.0;
        lines.push_str(&format!("{name}-{label} {time:.1} us\n"));
    }
    lines
}
