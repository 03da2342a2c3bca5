//! Runtimes that run a program, and what they print.
//!
//! Invariant: a run always ends, by itself or by its time limit, and how it ended is kept beside what it printed.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A way to run a program.
#[derive(Clone, Debug)]
pub struct Lane {
    /// What reports call it.
    pub name: String,
    /// Command and its first arguments.
    pub command: Vec<String>,
    /// Whether it says what is right, instead of being tested.
    pub peer: bool,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With an exit code.
    Exit(i32),
    /// By a signal.
    Signal,
    /// By the time limit.
    Timeout,
}

/// What a run printed and how it ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Lines of the standard output.
    pub lines: Vec<String>,
    /// The standard error, its beginning.
    pub errors: String,
    /// End.
    pub end: End,
}

impl Outcome {
    /// What the line that begins with `name` says after it.
    pub fn result<'a>(&'a self, name: &str) -> Option<&'a str> {
        let of = |l: &'a String| {
            let at = l.find(name)?;
            l[at + name.len()..].strip_prefix(' ')
        };
        self.lines.iter().find_map(of)
    }
}

impl Lane {
    /// Runs `exe` with arguments, as long as the limit allows.
    pub fn run(&self, exe: &Path, args: &[&str], limit: Duration) -> io::Result<Outcome> {
        let (stdout, stderr) = (exe.with_extension("out"), exe.with_extension("err"));
        let mut child = Command::new(&self.command[0])
            // Programs that run once.
            .env("VERVET_CACHE", "off")
            .args(&self.command[1..])
            .arg(exe)
            .args(args)
            .env("MONO_GC_PARAMS", "max-heap-size=1g")
            .env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1")
            .stdin(Stdio::null())
            .stdout(File::create(&stdout)?)
            .stderr(File::create(&stderr)?)
            .spawn()?;
        let began = Instant::now();
        let end = loop {
            if let Some(status) = child.try_wait()? {
                break status.code().map_or(End::Signal, End::Exit);
            }
            if began.elapsed() > limit {
                child.kill()?;
                child.wait()?;
                break End::Timeout;
            }
            std::thread::sleep(Duration::from_millis(4));
        };
        let text = String::from_utf8_lossy(&std::fs::read(&stdout)?).into_owned();
        let mut errors = String::from_utf8_lossy(&std::fs::read(&stderr)?).into_owned();
        let keep = errors
            .char_indices()
            .nth(2000)
            .map_or(errors.len(), |c| c.0);
        errors.truncate(keep);
        Ok(Outcome {
            lines: text.lines().map(str::to_string).collect(),
            errors,
            end,
        })
    }
}

/// Makes an assembly of IL text; what `ilasm` says against it is the error.
pub fn assemble(il: &str, exe: &Path) -> Result<(), String> {
    let source = exe.with_extension("il");
    std::fs::write(&source, il).map_err(|e| format!("{}: {e}", source.display()))?;
    let out = Command::new("ilasm")
        .arg("/quiet")
        .arg(format!("/output:{}", exe.display()))
        .arg(&source)
        .output()
        .map_err(|e| format!("ilasm (Debian package mono-devel): {e}"))?;
    match out.status.success() && exe.exists() {
        true => Ok(()),
        false => Err(format!(
            "{}{}",
            String::from_utf8_lossy(&out.stdout),
            String::from_utf8_lossy(&out.stderr)
        )),
    }
}
