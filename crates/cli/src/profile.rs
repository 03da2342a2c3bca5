//! `vervet profile`: records what a running program does, for a while.
//!
//! # Invariants
//! The program ends the recording when this command ends, however it ends: the conversation is over then.
use crate::attach::Attached;
use clap::Parser;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Has a running program of the same user record what it does, for `vervet report`.
#[derive(Parser, Debug)]
#[command(name = "vervet profile", disable_version_flag = true)]
struct Arguments {
    /// The process
    pid: u32,
    /// How long, in seconds
    #[arg(long, value_name = "N", default_value_t = 10.0, value_parser = seconds)]
    seconds: f64,
    /// Where to, written by the program
    #[arg(long, short, value_name = "FILE", default_value = "output.mlpd")]
    output: PathBuf,
    /// What is recorded, as behind --profile=log: (calls are recorded from the start of a program only)
    #[arg(long, value_name = "LIST", default_value = "sample=1000,monitor,gc")]
    events: String,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(s) if (0.1..=86_400.0).contains(&s) => Ok(s),
        _ => Err("a number of seconds from 0.1 to 86400 is wanted".into()),
    }
}

/// Does what the arguments say; the exit code.
pub fn command(arguments: &[OsString]) -> i32 {
    let words = std::iter::once("vervet profile".into()).chain(arguments.iter().cloned());
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
            eprintln!("vervet profile: {text}");
            1
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    // The program may be in another directory.
    let output = std::path::absolute(&arguments.output).map_err(|e| e.to_string())?;
    let output = output.to_str().ok_or("the file's name is no UTF-8")?;
    if output.contains(['"', '\\', '\n', '%']) {
        return Err(
            "the file's name may not contain quotes, backslashes, percent signs or ends of lines"
                .into(),
        );
    }
    let mut program = Attached::to(arguments.pid)?;
    program.ask(&format!(
        "record log:{},\"output={output}\"",
        arguments.events
    ))?;
    std::thread::sleep(Duration::from_secs_f64(arguments.seconds));
    program.ask("stop")?;
    println!("{output} is written; `vervet report` reads it.");
    Ok(())
}
