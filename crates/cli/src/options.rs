//! The command line, as mono's users know it.
//!
//! # Invariants
//! Options end at the first argument that is none: everything behind the program belongs to the program.
use clap::Parser;
use std::ffi::OsString;
use std::path::PathBuf;

/// Runs programs built for .NET Framework and Mono.
#[derive(Parser, Debug)]
#[command(name = "vervet", version, about, override_usage = "vervet [options] program.exe [arguments]\n       vervet [options] run file.cs [more.cs | -r:x.dll] [-- arguments]")]
pub struct Options {
    /// File and line in stack traces
    #[arg(long)]
    pub debug: bool,
    /// Reads this instead of the machine's and the user's configuration
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Accepted for compatibility: there is one runtime version
    #[arg(long, value_name = "VERSION")]
    pub runtime: Option<String>,
    /// Code generation: `all` optimises every method at its first call; other values are accepted
    #[arg(short = 'O', long = "optimize", value_name = "LIST")]
    pub optimize: Option<String>,
    /// Accepted for compatibility: there is one collector
    #[arg(long, value_name = "GC")]
    pub gc: Option<String>,
    /// Prints methods as they are compiled; with a value, those whose name contains it
    #[arg(long, value_name = "EXPR", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub trace: Option<String>,
    /// Prints counters at exit
    #[arg(long)]
    pub stats: bool,
    /// Prints IL, CLIF and machine code of methods whose full name contains this
    #[arg(long, value_name = "METHOD")]
    pub verbose_jit: Option<String>,
    /// Lists the internal calls a run wanted and did not find
    #[arg(long)]
    pub missing: bool,
    /// Writes /tmp/perf-PID.map
    #[arg(long)]
    pub perf_map: bool,
    /// Runs the CLIF verifier on every method
    #[arg(long)]
    pub verify_clif: bool,
    /// Calls every static test_N_name method of the given assemblies and compares results
    #[arg(long)]
    pub regression: bool,
    /// Accepted for compatibility
    #[arg(long, hide = true)]
    pub server: bool,
    /// Accepted for compatibility
    #[arg(long, hide = true)]
    pub desktop: bool,
    /// The program and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    pub rest: Vec<OsString>,
}

/// What is to be done.
pub enum Command {
    /// Run an assembly.
    Program { path: PathBuf, args: Vec<String> },
    /// Compile and run C#.
    Source { files: Vec<PathBuf>, references: Vec<String>, args: Vec<String> },
    /// Run regression suites.
    Regression { files: Vec<PathBuf> },
}

/// mono writes `-O=x`, `--verbose-jit x`, `-v`; clap wants `-O x`.
pub fn mono_style(args: Vec<OsString>) -> Vec<OsString> {
    let mut out = Vec::with_capacity(args.len());
    let mut options = true;
    for (i, a) in args.into_iter().enumerate() {
        let text = a.to_string_lossy().into_owned();
        if i > 0 && options && !text.starts_with('-') {
            options = false;
        }
        match text.strip_prefix("-O=") {
            Some(v) if options => out.push(format!("--optimize={v}").into()),
            _ => out.push(a),
        }
    }
    out
}

impl Options {
    /// What the arguments ask for.
    pub fn command(&self) -> Result<Command, String> {
        let text = |a: &OsString| a.to_string_lossy().into_owned();
        if self.regression {
            if self.rest.is_empty() {
                return Err("--regression needs at least one assembly".into());
            }
            return Ok(Command::Regression { files: self.rest.iter().map(PathBuf::from).collect() });
        }
        let Some(first) = self.rest.first() else {
            return Err("Usage: vervet [options] program.exe [arguments]\nTry 'vervet --help'.".into());
        };
        let rest = &self.rest[1..];
        if first == "run" && rest.iter().any(|a| text(a).ends_with(".cs")) {
            let split = rest.iter().position(|a| a == "--").unwrap_or(rest.len());
            let (mut files, mut references) = (Vec::new(), Vec::new());
            for a in &rest[..split] {
                let t = text(a);
                if t.starts_with('-') { references.push(t) } else { files.push(PathBuf::from(a)) }
            }
            let args = rest.get(split + 1..).unwrap_or_default().iter().map(text).collect();
            return Ok(Command::Source { files, references, args });
        }
        Ok(Command::Program { path: PathBuf::from(first), args: rest.iter().map(text).collect() })
    }

    /// The runtime's options.
    pub fn runtime(&self) -> vervet_runtime::runtime::Options {
        if let Some(c) = &self.config {
            // SAFETY: no other thread runs yet.
            unsafe { std::env::set_var("MONO_CONFIG", c) };
        }
        vervet_runtime::runtime::Options {
            debug: self.debug,
            stats: self.stats,
            trace: self.trace.clone(),
            verbose_jit: self.verbose_jit.clone(),
            missing: self.missing,
            perf_map: self.perf_map || std::env::var_os("VERVET_PERF_MAP").is_some(),
            verify: self.verify_clif,
            optimise: self.optimize.as_deref() == Some("all"),
        }
    }
}
