//! Processes of the runtime that a target starts, and the programs they run.
//!
//! The runtime is the one that `VERVET` names; the programs are made by `mcs` from `corpus/sources`, once for each process of
//! the driver. A machine without either has none, and says so.
//!
//! Invariant: however a process ends, it is waited for, and its files go away with [`Programs`].

use crate::corpus::Corpus;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a process may take by the clock, on a busy machine.
const LIMIT: Duration = Duration::from_secs(90);

/// How a process ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code, or 128 and the signal that ended it; None if it had to be killed.
    pub code: Option<i32>,
    /// What it wrote to its output.
    pub out: String,
    /// What it wrote to its error output.
    pub err: String,
}

impl Ended {
    /// Panics unless the process ended in an orderly way: not by a signal, not by a panic or crash of the runtime, and in time.
    pub fn check_orderly(&self) {
        let code = self
            .code
            .unwrap_or_else(|| panic!("does not end: {self:?}"));
        assert!(
            code != 70 && code < 128 && !self.err.contains("panicked at"),
            "ended with {code}: {}",
            self.err.lines().take(12).collect::<Vec<_>>().join(" | ")
        );
    }
}

/// The programs, in a directory of their own.
#[derive(Debug)]
pub struct Programs {
    folder: TempDir,
    vervet: PathBuf,
}

/// Why processes cannot be run here; None if they can.
pub fn missing() -> Option<String> {
    let Some(vervet) = std::env::var_os("VERVET") else {
        return Some("VERVET names no runtime".into());
    };
    if !Path::new(&vervet).is_file() {
        return Some(format!("there is no {}", vervet.display()));
    }
    let mcs = Command::new("mcs").arg("--version").output();
    mcs.is_err().then(|| "there is no mcs".into())
}

impl Programs {
    /// Compiles them; None if [`missing`].
    pub fn new() -> Option<Programs> {
        if missing().is_some() {
            return None;
        }
        let vervet = std::fs::canonicalize(std::env::var_os("VERVET")?).ok()?;
        let folder = tempfile::tempdir().ok()?;
        let programs = Programs { folder, vervet };
        const LIBRARY: &[&str] = &["-target:library", "-unsafe"];
        programs.compile("marks.dll", &["marks.cs"], LIBRARY);
        let with_marks = &["-target:library", "-unsafe", "-r:marks.dll"];
        programs.compile("shapes.dll", &["shapes.cs"], with_marks);
        programs.compile("reflect.exe", &["reflect.cs"], &["-r:marks.dll"]);
        let whole = &["marks.cs", "shapes.cs", "program.cs"];
        programs.compile("program.exe", whole, &["-unsafe", "-r:System.Core.dll"]);
        Some(programs)
    }

    fn compile(&self, to: &str, sources: &[&str], options: &[&str]) {
        let sources = sources.iter().map(|s| Corpus::folder("sources").join(s));
        let ended = Command::new("mcs")
            .args(["-nologo", "-warn:0", "-langversion:latest"])
            .args(options)
            .arg(format!("-out:{to}"))
            .args(sources)
            .current_dir(self.folder.path())
            .output()
            .expect("mcs runs");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "{to}: {said}");
    }

    /// The bytes of a program.
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).expect("the program was made")
    }

    /// Where a program or file is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file beside the programs.
    pub fn write(&self, name: &str, data: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, data).expect("the file can be written");
        path
    }

    /// The runtime, to be run beside the programs; memory is limited.
    pub fn runtime(&self) -> Command {
        let mut command = Command::new(&self.vervet);
        command.env("VERVET_CACHE", "off");
        command
            .current_dir(self.folder.path())
            // What is compiled ahead by a case is kept nowhere.
            .env("VERVET_CACHE_DIR", "/nonexistent/code")
            .env("VERVET_SYSTEM_CACHE_DIR", "/nonexistent/code")
            .env("MONO_GC_PARAMS", "max-heap-size=256m");
        command
    }
}

/// Runs a command to its end.
pub fn run(command: &mut Command) -> Ended {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the runtime starts");
    let read = |mut pipe: Box<dyn Read + Send>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = pipe.by_ref().take(1 << 20).read_to_end(&mut bytes);
            // The rest is read, so that the process is not held up, and forgotten.
            let _ = std::io::copy(&mut pipe, &mut std::io::sink());
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let out = child.stdout.take().map(|p| read(Box::new(p)));
    let err = child.stderr.take().map(|p| read(Box::new(p)));
    let began = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            _ if began.elapsed() > LIMIT => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let text = |reader: Option<std::thread::JoinHandle<String>>| {
        reader.and_then(|r| r.join().ok()).unwrap_or_default()
    };
    Ended {
        code: status.map(|s| s.code().unwrap_or_else(|| 128 + s.signal().unwrap_or(0))),
        out: text(out),
        err: text(err),
    }
}
