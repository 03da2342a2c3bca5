//! `vervet report`: reads what the log profiler recorded and writes it as a text, a picture, a page, or for other tools.
//!
//! # Invariants
//! * Nothing is written before the recording was read; a file that cannot be written whole is removed.
//! * A recording that was cut off is no error: what was lost is said on the error stream.
use clap::Parser;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use vervet_profile_report::summary::Wanted;
use vervet_profile_report::{Error, Filter, Measure, Recording, write};

/// Says what a recording of the log profiler says: a summary, or in other forms. `-` is the standard input or output.
#[derive(Parser, Debug)]
#[command(name = "vervet report", disable_version_flag = true)]
struct Arguments {
    /// The recording, packed by gzip or not
    file: PathBuf,
    /// Writes a flame graph that zooms and searches in a browser (SVG)
    #[arg(long, value_name = "OUT")]
    flamegraph: Option<PathBuf>,
    /// Writes a page with everything: flame graphs, allocations, locks, pauses, threads. One file
    #[arg(long, value_name = "OUT")]
    html: Option<PathBuf>,
    /// Writes a file for speedscope.app
    #[arg(long, value_name = "OUT")]
    speedscope: Option<PathBuf>,
    /// Writes a file for `go tool pprof`
    #[arg(long, value_name = "OUT")]
    pprof: Option<PathBuf>,
    /// Writes a line for each stack, with semicolons between its frames, and what it weighs
    #[arg(long, value_name = "OUT")]
    collapsed: Option<PathBuf>,
    /// What stacks weigh: samples, calls, bytes, objects, waits, throws (default: the first of these that was recorded)
    #[arg(long, value_name = "WHAT", value_parser = Measure::from_word)]
    value: Option<Measure>,
    /// Shows who calls the methods whose names contain this, and whom they call
    #[arg(long, value_name = "NAME")]
    peek: Option<String>,
    /// Only what threads did whose names contain this
    #[arg(long, value_name = "NAME")]
    thread: Option<String>,
    /// Only what happened between two moments, in seconds since the beginning
    #[arg(long, value_name = "FROM-TO", value_parser = span)]
    time: Option<(u64, u64)>,
    /// Rows of each table
    #[arg(long, value_name = "N", default_value_t = Wanted::default().rows)]
    rows: usize,
    /// All rows, all counters, and how many events of each kind there are
    #[arg(long)]
    verbose: bool,
}

/// `FROM-TO` in seconds, as nanoseconds.
fn span(text: &str) -> Result<(u64, u64), String> {
    let number = |text: &str| text.parse::<f64>().ok().filter(|s| (0.0..1e9).contains(s));
    let nanoseconds = |text: &str| number(text).map(|s| (s * 1e9) as u64);
    let moments = text.split_once('-').and_then(|(from, to)| {
        let from = if from.is_empty() {
            Some(0)
        } else {
            nanoseconds(from)
        };
        let to = if to.is_empty() {
            Some(u64::MAX)
        } else {
            nanoseconds(to)
        };
        from.zip(to)
    });
    match moments {
        Some((from, to)) if from < to => Ok((from, to)),
        _ => Err("two moments in seconds are wanted, as 1.5-3, 2- or -0.5".into()),
    }
}

/// Does what the arguments say; the exit code.
pub fn command(arguments: &[OsString]) -> i32 {
    let words = std::iter::once("vervet report".into()).chain(arguments.iter().cloned());
    let arguments = match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        Err(e) => {
            let _ = e.print();
            return i32::from(e.use_stderr());
        }
    };
    match report(&arguments) {
        Ok(()) => 0,
        // The reader of a pipe has seen enough (`vervet report x.mlpd | head`).
        Err(Error::Write(e)) if e.kind() == io::ErrorKind::BrokenPipe => 0,
        Err(e) => {
            eprintln!("vervet report: {e}");
            1
        }
    }
}

fn report(arguments: &Arguments) -> Result<(), Error> {
    let named = |e: io::Error, path: &Path| {
        Error::Write(io::Error::new(e.kind(), format!("{}: {e}", path.display())))
    };
    let filter = Filter {
        time: arguments.time,
        thread: arguments.thread.clone(),
    };
    let mut recording = match arguments.file.as_os_str() == "-" {
        true => Recording::read(io::stdin().lock(), &filter),
        false => {
            let file = File::open(&arguments.file).map_err(|e| named(e, &arguments.file))?;
            Recording::read(file, &filter)
        }
    }?;
    for loss in &recording.losses {
        eprintln!("vervet report: {loss}");
    }
    let title = arguments
        .file
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let measure = || {
        let there = arguments.value.or(recording.default_measure());
        there.ok_or_else(|| Error::NothingThere("the recording has nothing with a stack".into()))
    };
    let weight = measure();
    let one = || match &weight {
        Ok(measure) => Ok(*measure),
        Err(e) => Err(Error::NothingThere(e.to_string())),
    };
    let mut wrote = false;
    for (path, form) in [
        (&arguments.flamegraph, Form::Flamegraph),
        (&arguments.html, Form::Html),
        (&arguments.speedscope, Form::Speedscope),
        (&arguments.pprof, Form::Pprof),
        (&arguments.collapsed, Form::Collapsed),
    ] {
        let Some(path) = path else { continue };
        wrote = true;
        to(path, &mut |out| match form {
            Form::Flamegraph => write::flamegraph(&mut recording, one()?, &title, out),
            Form::Html => write::html(&mut recording, &title, out),
            Form::Speedscope => write::speedscope(&mut recording, arguments.value, out),
            Form::Pprof => write::pprof(&mut recording, arguments.value, out),
            Form::Collapsed => write::collapsed(&mut recording, one()?, out),
        })?;
    }
    let mut out = BufWriter::new(io::stdout().lock());
    if let Some(name) = &arguments.peek {
        recording.peek(&mut out, name, one()?)?;
    } else if !wrote {
        let wanted = Wanted {
            rows: arguments.rows,
            verbose: arguments.verbose,
        };
        recording.summary(&mut out, &wanted)?;
    }
    out.flush()?;
    Ok(())
}

#[derive(Clone, Copy)]
enum Form {
    Flamegraph,
    Html,
    Speedscope,
    Pprof,
    Collapsed,
}

/// Writes a file, or the standard output for `-`.
fn to(
    path: &Path,
    write: &mut dyn FnMut(&mut dyn Write) -> Result<(), Error>,
) -> Result<(), Error> {
    if path.as_os_str() == "-" {
        let mut out = BufWriter::new(io::stdout().lock());
        write(&mut out)?;
        return Ok(out.flush()?);
    }
    let named = |e: io::Error| Error::Write(io::Error::other(format!("{}: {e}", path.display())));
    let mut out = BufWriter::new(File::create(path).map_err(named)?);
    let written = write(&mut out).and_then(|()| out.flush().map_err(named));
    if written.is_err() && path.is_file() {
        let _ = std::fs::remove_file(path);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_seconds() {
        assert_eq!(span("1.5-3"), Ok((1_500_000_000, 3_000_000_000)));
        assert_eq!(span("2-"), Ok((2_000_000_000, u64::MAX)));
        assert_eq!(span("-0.5"), Ok((0, 500_000_000)));
        for wrong in ["", "3", "3-1", "a-b", "1-nan", "1-1"] {
            assert!(span(wrong).is_err(), "{wrong}");
        }
    }
}
