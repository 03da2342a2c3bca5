//! `vervet top`: what a running program does, again and again.
//!
//! # Invariants
//! Rates are differences of two answers over the time between them, both by the program's clock.
use crate::attach::Attached;
use clap::Parser;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

/// Shows what a running program of the same user does: hot methods, allocation, pauses, threads by what they wait for.
#[derive(Parser, Debug)]
#[command(name = "vervet top", disable_version_flag = true)]
struct Arguments {
    /// The process
    pid: u32,
    /// Seconds between two pictures
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0, value_parser = seconds)]
    every: f64,
    /// How many pictures (default: until Ctrl-C, or until the program ends)
    #[arg(long, value_name = "N")]
    times: Option<u32>,
    /// Looks at the threads for each picture; each stops them for a moment
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=200))]
    looks: u32,
    /// Rows of each table
    #[arg(long, value_name = "N", default_value_t = 12)]
    rows: usize,
    /// Prints the stacks of all threads and ends
    #[arg(long)]
    stacks: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(s) if (0.1..=60.0).contains(&s) => Ok(s),
        _ => Err("a number of seconds from 0.1 to 60 is wanted".into()),
    }
}

/// Does what the arguments say; the exit code.
pub fn command(arguments: &[OsString]) -> i32 {
    let words = std::iter::once("vervet top".into()).chain(arguments.iter().cloned());
    let arguments = match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        Err(e) => {
            let _ = e.print();
            return i32::from(e.use_stderr());
        }
    };
    match run(&arguments) {
        Ok(()) => 0,
        Err(text) => {
            eprintln!("vervet top: {text}");
            1
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let mut program = Attached::to(arguments.pid)?;
    if arguments.stacks {
        let lines = program.ask("stacks")?;
        let text: Vec<&str> = lines.iter().map(|l| l.trim_start_matches('\t')).collect();
        // The reader of a pipe may be gone; there is nobody to tell.
        let _ = writeln!(io::stdout(), "{}", text.join("\n"));
        return Ok(());
    }
    let mut before = Picture::of(&program.ask("look 1 1")?)?;
    let mut left = arguments.times;
    let apart = (arguments.every * 1000.0 / f64::from(arguments.looks)).max(1.0) as u64;
    while left != Some(0) {
        // One look takes no time: the pause is made here.
        if arguments.looks == 1 {
            std::thread::sleep(Duration::from_secs_f64(arguments.every));
        }
        let now = match program.ask(&format!("look {} {apart}", arguments.looks)) {
            Ok(lines) => Picture::of(&lines)?,
            // What was asked for until the program ends has its end.
            Err(_) if left.is_none() => return Ok(()),
            Err(text) => return Err(text),
        };
        let mut text = now.text(&before, arguments);
        if io::stdout().is_terminal() {
            text.insert_str(0, "\x1b[H\x1b[2J");
        } else {
            text.push('\n');
        }
        if io::stdout()
            .write_all(text.as_bytes())
            .and_then(|()| io::stdout().flush())
            .is_err()
        {
            return Ok(());
        }
        before = now;
        left = left.map(|n| n - 1);
    }
    Ok(())
}

/// Pauses of a kind: number, nanoseconds in all, 99 of 100 below, longest.
type Pauses = [u64; 4];

/// An answer.
#[derive(Debug, Default, PartialEq)]
struct Picture {
    time: u64,
    allocated: u64,
    heap: u64,
    minor: Pauses,
    major: Pauses,
    idle: u64,
    /// Threads that ran, in all looks together; looks.
    ran: (u64, u64),
    methods: Vec<(u64, u64, String)>,
    /// Green or not, how many, what they do, where.
    groups: Vec<(bool, u64, String, String)>,
}

impl Picture {
    /// From the lines of an answer. Lines that are not known are left out: the program may be newer.
    fn of(lines: &[String]) -> Result<Picture, String> {
        let mut picture = Picture::default();
        let number = |text: &str| {
            text.parse::<u64>()
                .map_err(|_| format!("the program answers '{text}' in place of a number"))
        };
        for line in lines {
            let fields: Vec<&str> = line.split('\t').collect();
            match fields.as_slice() {
                ["vervet", _, time] => picture.time = number(time)?,
                ["allocated", n] => picture.allocated = number(n)?,
                ["heap", bytes, ..] => picture.heap = number(bytes)?,
                ["pauses", kind, a, b, c, d] => {
                    let pauses = [number(a)?, number(b)?, number(c)?, number(d)?];
                    match *kind {
                        "minor" => picture.minor = pauses,
                        _ => picture.major = pauses,
                    }
                }
                ["idle", n] => picture.idle = number(n)?,
                ["ran", n, looks] => picture.ran = (number(n)?, number(looks)?),
                ["method", own, all, name] => {
                    picture
                        .methods
                        .push((number(own)?, number(all)?, (*name).into()))
                }
                ["group", kind, n, what, place] => {
                    picture.groups.push((
                        *kind == "green",
                        number(n)?,
                        (*what).into(),
                        (*place).into(),
                    ));
                }
                _ => {}
            }
        }
        match picture.time {
            0 => Err("the program's answer cannot be read: it may be of another version".into()),
            _ => Ok(picture),
        }
    }

    fn text(&self, before: &Picture, arguments: &Arguments) -> String {
        let mut out = String::new();
        let seconds = self.time.saturating_sub(before.time).max(1) as f64 / 1e9;
        let mib = |bytes: f64| bytes / f64::from(1 << 20);
        let _ = writeln!(
            out,
            "Process {}: {:.1} MiB a second allocated, heap {:.1} MiB; {:.2} threads ran on average",
            arguments.pid,
            mib(self.allocated.saturating_sub(before.allocated) as f64 / seconds),
            mib(self.heap as f64),
            self.ran.0 as f64 / self.ran.1.max(1) as f64
        );
        for (name, now, then) in [
            ("minor", self.minor, before.minor),
            ("major", self.major, before.major),
        ] {
            let _ = writeln!(
                out,
                "Pauses, {name}: {} ({:.2} % of the time); so far {}, 99 of 100 below {:.2} ms, longest {:.2} ms",
                now[0].saturating_sub(then[0]),
                now[1].saturating_sub(then[1]) as f64 / seconds / 1e7,
                now[0],
                now[2] as f64 / 1e6,
                now[3] as f64 / 1e6
            );
        }
        let _ = writeln!(out, "\n   self  with calls  method");
        for (own, all, name) in self.methods.iter().take(arguments.rows) {
            let share = |n: &u64| *n as f64 * 100.0 / self.ran.0.max(1) as f64;
            let _ = writeln!(out, "{:5.1} %     {:5.1} %  {name}", share(own), share(all));
        }
        let count = |green: bool| -> u64 {
            self.groups
                .iter()
                .filter(|g| g.0 == green)
                .map(|g| g.1)
                .sum()
        };
        let _ = writeln!(
            out,
            "\nThreads: {} and {} without managed code; green threads: {}",
            count(false),
            self.idle,
            count(true)
        );
        for (is_green, n, what, place) in self.groups.iter().take(arguments.rows) {
            let kind = match (is_green, *n) {
                (true, 1) => "green thread",
                (true, _) => "green threads",
                (false, 1) => "thread",
                (false, _) => "threads",
            };
            let _ = writeln!(out, "{n:>9} {kind}: {what}");
            if !place.is_empty() {
                let _ = writeln!(out, "            at {place}");
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn rates_are_differences_by_the_programs_clock() {
        let before = Picture::of(&lines(
            "vervet\t0.1\t1000000000\nallocated\t0\npauses\tminor\t1\t1000000\t1000\t1000000",
        ))
        .unwrap();
        let now = Picture::of(&lines(
            "vervet\t0.1\t3000000000\nallocated\t4194304\nheap\t1048576\t0\npauses\tminor\t3\t41000000\t9000000\t30000000\n\
             idle\t2\nran\t30\t20\nmethod\t15\t30\tA.B ()\nnew in a later version\t7\ngroup\tgreen\t1000\twait for a monitor\tC.D () < E.F ()",
        ))
        .unwrap();
        let arguments = Arguments::try_parse_from(["vervet top", "17"]).unwrap();
        let text = now.text(&before, &arguments);
        for part in [
            "Process 17: 2.0 MiB a second allocated, heap 1.0 MiB; 1.50 threads ran",
            "Pauses, minor: 2 (2.00 % of the time); so far 3, 99 of 100 below 9.00 ms, longest 30.00 ms",
            " 50.0 %     100.0 %  A.B ()",
            "Threads: 0 and 2 without managed code; green threads: 1000",
            "     1000 green threads: wait for a monitor\n            at C.D () < E.F ()",
        ] {
            assert!(text.contains(part), "'{part}' is not in\n{text}");
        }
    }

    #[test]
    fn an_answer_that_cannot_be_read_is_said() {
        assert!(Picture::of(&lines("vervet\t0.1\tsoon")).is_err());
        assert!(Picture::of(&lines("hello")).is_err());
        assert!(Picture::of(&[]).is_err());
    }
}
