//! The command line, as mono's users know it.
//!
//! # Invariants
//! Options end at the first argument that is none: everything behind the program belongs to the program.
use crate::plan::Plan;
use clap::{CommandFactory, Parser};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use vervet_profiler::options::Options as Profile;
use vervet_runtime::code::cache::setting::Target;
use vervet_runtime::threads::green::settings::{GreenOptions, Setting};

/// Runs programs built for .NET Framework and Mono.
#[derive(Parser, Debug)]
#[command(
    name = "vervet",
    disable_version_flag = true,
    about,
    override_usage = "vervet [options] program.exe [arguments]\n       vervet [options] run file.cs [more.cs | -r:x.dll] [-- arguments]\n       vervet ref directory\n       vervet cache [clear [--system]]\n       vervet aot [--system] [--profile=FILE] assembly...\n       vervet report [options] recording\n       vervet top [options] process\n       vervet profile [options] process"
)]
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
    #[arg(long = "optimize", value_name = "LIST")]
    pub optimize: Option<String>,
    /// After how many calls a quickly compiled method is compiled again, optimised (default: 3000); 0: never
    #[arg(long, value_name = "N")]
    pub hot_calls: Option<u32>,
    /// Compiled code that is kept for the next run: read (and write; the usual), verify (compile all the same, and compare), off
    #[arg(long, value_name = "MODE")]
    pub cache: Option<String>,
    /// The same as --cache=off
    #[arg(long)]
    pub no_cache: bool,
    /// The collector's parameters: nursery-size=SIZE, max-heap=SIZE (sizes end in k, m or g)
    #[arg(long, value_name = "LIST")]
    pub gc: Option<String>,
    /// Makes errors of the collector visible: verify, verify-before, verify-after, collect-every=N, promote-in-place=N,
    /// concurrent-marking, slow-marker=US, perturb[=SEED], poison, log, heap-shot, no-managed-allocator, store-order-allocator,
    /// unprotected-allocator
    #[arg(long, value_name = "LIST")]
    pub gc_debug: Option<String>,
    /// `all` runs every thread that the program starts, and those of the pool, as green threads
    #[arg(long, value_name = "WHICH")]
    pub green_threads: Option<String>,
    /// How many green threads run at once (default: one for each processor)
    #[arg(long, value_name = "N")]
    pub carriers: Option<String>,
    /// The most bytes of a green thread's managed stack (default: 256m)
    #[arg(long, value_name = "SIZE")]
    pub green_stack: Option<String>,
    /// Says so when every green thread waits and no thread is left that could wake one
    #[arg(long)]
    pub report_deadlocks: bool,
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
    /// Records what the program does, for mprof-report: log[:item,...]; log:help lists the items
    #[arg(long, value_name = "SPEC", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub profile: Option<String>,
    /// Writes /tmp/jit-PID.dump, for `perf inject --jit`
    #[arg(long)]
    pub jitdump: bool,
    /// Runs the CLIF verifier on every method
    #[arg(long)]
    pub verify_clif: bool,
    /// Calls every static test_N_name method of the given assemblies and compares results
    #[arg(long)]
    pub regression: bool,
    /// Says what this is; `--version=number` gives the number only
    #[arg(long, value_name = "number", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub version: Option<String>,
    /// Compiles the given assemblies ahead, as `aot` does; mono's values are accepted. For root: into the system's directory
    #[arg(long, value_name = "LIST", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub aot: Option<String>,
    /// A worker of `aot`
    #[arg(long, hide = true, value_name = "TARGET", require_equals = true)]
    pub aot_worker: Option<String>,
    /// Adds the methods that the program used to a profile, for `aot --profile`
    #[arg(long, value_name = "FILE")]
    pub write_profile: Option<PathBuf>,
    /// Accepted for compatibility
    #[arg(long, hide = true)]
    pub server: bool,
    /// Accepted for compatibility
    #[arg(long, hide = true)]
    pub desktop: bool,
    /// The program and its arguments
    #[arg(last = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    pub rest: Vec<OsString>,
}

/// What is to be done.
pub enum Command {
    /// Run an assembly.
    Program {
        /// The assembly.
        path: PathBuf,
        /// Its arguments.
        args: Vec<String>,
    },
    /// Compile and run C#.
    Source {
        /// The C# files.
        files: Vec<PathBuf>,
        /// Options for the compiler.
        references: Vec<String>,
        /// The program's arguments.
        args: Vec<String>,
    },
    /// Write a reference assembly.
    Reference {
        /// Where to.
        directory: PathBuf,
    },
    /// Show or clear what is kept of compiled code.
    Cache {
        /// Whether to clear it.
        clear: Option<Target>,
    },
    /// Report a recording of the profiler.
    Report {
        /// What stands behind the word.
        args: Vec<OsString>,
    },
    /// Show what a running program does.
    Top {
        /// What stands behind the word.
        args: Vec<OsString>,
    },
    /// Record what a running program does.
    Profile {
        /// What stands behind the word.
        args: Vec<OsString>,
    },
    /// Compile ahead.
    Ahead(Plan),
    /// Do a job of such a command.
    Worker,
    /// Run regression suites.
    Regression {
        /// The assemblies.
        files: Vec<PathBuf>,
    },
}

/// Options of mono that change nothing here; those that end in `=` have a value.
pub const IGNORED: &[&str] = &[
    "--aot-path=",
    "--assembly-loader=",
    "--attach=",
    "--bisect=",
    "--break=",
    "--debugger-agent=",
    "--embedding",
    "--full-aot",
    "--handlers=",
    "--hwcap",
    "--hybrid-suspend",
    "--interp",
    "--interp=",
    "--interpreter",
    "--jitmap=",
    "--llvm",
    "--nollvm",
    "--response=",
    "--security",
    "--security=",
    "--soft-breakpoints",
    "--statfile=",
    "--verbose",
    "--verify-all",
    "-v",
];

/// Brings a command line in mono's style into the parser's. `Err` names an option that nobody knows.
pub fn mono_style(args: Vec<OsString>) -> Result<Vec<OsString>, String> {
    let command = Options::command();
    let mut out = Vec::with_capacity(args.len() + 1);
    let mut args = args.into_iter();
    out.extend(args.next());
    while let Some(a) = args.next() {
        let text = a.to_string_lossy().into_owned();
        let (name, value) = match text.split_once('=') {
            Some((n, v)) => (n, Some(v)),
            None => (text.as_str(), None),
        };
        let with_equals = format!("{name}=");
        if !text.starts_with('-') || text == "-" {
            out.push("--".into());
            out.push(a);
            break;
        }
        if IGNORED
            .iter()
            .any(|i| *i == text || value.is_some() && *i == with_equals)
        {
            continue;
        }
        match name {
            "-V" => out.push("--version".into()),
            "-h" => out.push("--help".into()),
            "-O" | "--optimize" => {
                out.push(format!("--optimize={}", value.unwrap_or("all")).into())
            }
            "--debug" => out.push("--debug".into()),
            "--jitmap" => out.push("--perf-map".into()),
            _ => {
                let long = name.strip_prefix("--").unwrap_or("");
                let known = command.get_arguments().find(|k| k.get_long() == Some(long));
                let built_in = ["help", "version"].contains(&long);
                if known.is_none() && !built_in {
                    return Err(format!("Unknown command line option: '{text}'"));
                }
                out.push(a);
                if value.is_none()
                    && known.is_some_and(|k| {
                        k.get_action().takes_values() && !k.is_require_equals_set()
                    })
                {
                    out.extend(args.next());
                }
            }
        }
    }
    out.extend(args);
    Ok(out)
}

/// The name we were called by is mono's: a link that stands in for it.
pub fn called_mono(args: &[OsString]) -> bool {
    args.first()
        .and_then(|a| Path::new(a).file_stem())
        .is_some_and(|n| n == "mono" || n == "mono-sgen")
}

/// What `--version` prints.
pub fn version_text(as_mono: bool) -> String {
    let own = env!("CARGO_PKG_VERSION");
    let first = match as_mono {
        true => format!("Mono JIT compiler version {LIBRARIES} (Vervet {own})"),
        false => format!("Vervet {own}, a runtime for programs built for .NET Framework and Mono"),
    };
    format!(
        "{first}\n\tClass libraries: Mono {LIBRARIES}, /usr/lib/mono/4.5\n\tArchitecture:    amd64"
    )
}
/// What `--version=number` prints.
pub fn version_number(as_mono: bool) -> &'static str {
    if as_mono {
        LIBRARIES
    } else {
        env!("CARGO_PKG_VERSION")
    }
}
/// The version of Mono whose class libraries we run.
const LIBRARIES: &str = "6.8.0.105";

impl Options {
    /// What the arguments ask for.
    pub fn what(&self) -> Result<Command, String> {
        let text = |a: &OsString| a.to_string_lossy().into_owned();
        self.check_rights(vervet_codecache::trust::is_unprivileged())?;
        if self.aot_worker.is_some() {
            return Ok(Command::Worker);
        }
        if self.aot.is_some() {
            if self.rest.is_empty() {
                return Err("--aot needs at least one assembly".into());
            }
            return Ok(Command::Ahead(Plan::of_mono(&self.rest)));
        }
        if self.regression {
            if self.rest.is_empty() {
                return Err("--regression needs at least one assembly".into());
            }
            return Ok(Command::Regression {
                files: self.rest.iter().map(PathBuf::from).collect(),
            });
        }
        let Some(first) = self.rest.first() else {
            return Err(
                "Usage: vervet [options] program.exe [arguments]\nTry 'vervet --help'.".into(),
            );
        };
        let rest = &self.rest[1..];
        if first == "run"
            && (!Path::new("run").exists() || rest.iter().any(|a| text(a).ends_with(".cs")))
        {
            let split = rest.iter().position(|a| a == "--").unwrap_or(rest.len());
            let (mut files, mut references) = (Vec::new(), Vec::new());
            for a in &rest[..split] {
                let t = text(a);
                if t.starts_with('-') {
                    references.push(t)
                } else {
                    files.push(PathBuf::from(a))
                }
            }
            if files.is_empty() {
                return Err("vervet run: no C# file is given.\nUsage: vervet run file.cs [more.cs | -r:x.dll] [-- arguments]".into());
            }
            let args = rest
                .get(split + 1..)
                .unwrap_or_default()
                .iter()
                .map(text)
                .collect();
            return Ok(Command::Source {
                files,
                references,
                args,
            });
        }
        if first == "ref" && !Path::new("ref").is_file() {
            return match rest {
                [directory] => Ok(Command::Reference {
                    directory: PathBuf::from(directory),
                }),
                _ => Err("Usage: vervet ref directory".into()),
            };
        }
        if first == "aot" && !Path::new("aot").is_file() {
            return Plan::of_arguments(rest).map(Command::Ahead);
        }
        if first == "report" && !Path::new("report").is_file() {
            return Ok(Command::Report {
                args: rest.to_vec(),
            });
        }
        if first == "top" && !Path::new("top").is_file() {
            return Ok(Command::Top {
                args: rest.to_vec(),
            });
        }
        if first == "profile" && !Path::new("profile").is_file() {
            return Ok(Command::Profile {
                args: rest.to_vec(),
            });
        }
        if first == "cache" && !Path::new("cache").is_file() {
            return match rest {
                [] => Ok(Command::Cache { clear: None }),
                [word] if word == "clear" => Ok(Command::Cache {
                    clear: Some(Target::User),
                }),
                [word, place] if word == "clear" && place == "--system" => Ok(Command::Cache {
                    clear: Some(Target::System),
                }),
                _ => Err("Usage: vervet cache [clear [--system]]".into()),
            };
        }
        Ok(Command::Program {
            path: PathBuf::from(first),
            args: rest.iter().map(text).collect(),
        })
    }

    /// A process with more rights than its user writes nothing for who started it: the words may be those of `MONO_ENV_OPTIONS`.
    fn check_rights(&self, is_unprivileged: bool) -> Result<(), String> {
        let option = if self.aot.is_some() || self.aot_worker.is_some() {
            "--aot"
        } else if self.write_profile.is_some() {
            "--write-profile"
        } else if self.profile.is_some() {
            "--profile"
        } else {
            return Ok(());
        };
        match is_unprivileged {
            true => Ok(()),
            false => Err(format!(
                "{option} is not for a process that has other rights than its user"
            )),
        }
    }

    /// What is chosen about green threads. `Err` is a sentence for the user.
    fn green(&self) -> Result<GreenOptions, String> {
        let mut green = GreenOptions::new(self.report_deadlocks);
        for (setting, name, value) in [
            (Setting::Mode, "--green-threads", &self.green_threads),
            (Setting::Carriers, "--carriers", &self.carriers),
            (Setting::Stack, "--green-stack", &self.green_stack),
        ] {
            if let Some(value) = value {
                green.choose(name, setting, value)?;
            }
        }
        green.environment()?;
        Ok(green)
    }

    /// What is done with compiled code that is kept. `Err` is a sentence for the user.
    fn cache(&self) -> Result<vervet_runtime::code::cache::setting::Mode, String> {
        use vervet_runtime::code::cache::setting::Mode;
        if self.aot_worker.is_some() {
            return Ok(Mode::Read);
        }
        if self.no_cache || self.regression {
            return Ok(Mode::Off);
        }
        let variable = std::env::var("VERVET_CACHE").ok();
        match (&self.cache, variable.as_deref()) {
            (Some(mode), _) => mode.parse(),
            (None, Some("")) | (None, None) => Ok(Mode::Read),
            (None, Some(mode)) => mode.parse(),
        }
    }

    /// Where this process compiles ahead to, if it does. `Err` is a sentence for the user.
    fn target(&self) -> Result<Option<Target>, String> {
        match self.aot_worker.as_deref() {
            None => Ok(None),
            Some("user") => Ok(Some(Target::User)),
            Some("system") => Ok(Some(Target::System)),
            Some(other) => Err(format!("--aot-worker: '{other}' is none of user, system")),
        }
    }

    /// After how many calls a method is compiled again. `Err` is a sentence for the user.
    fn hot_calls(&self) -> Result<u32, String> {
        match (self.hot_calls, std::env::var("VERVET_HOT_CALLS")) {
            (Some(calls), _) => Ok(calls),
            (None, Ok(text)) if !text.is_empty() => (text.parse())
                .map_err(|_| format!("VERVET_HOT_CALLS: '{text}' is not a number of calls")),
            (None, _) => Ok(vervet_runtime::runtime::HOT_CALLS),
        }
    }

    /// What is recorded. `Err` is a sentence for the user.
    pub fn profile(&self) -> Result<Option<Profile>, String> {
        let parse = |text: &String| Profile::parse(text).map_err(|e| format!("--profile: {e}"));
        self.profile.as_ref().map(parse).transpose()
    }

    /// The runtime's options. `Err` is a sentence for the user.
    pub fn runtime(&self) -> Result<vervet_runtime::runtime::Options, String> {
        let mut gc = vervet_runtime::memory::gc::options::GcOptions::default();
        gc.environment()?;
        gc.parameters(self.gc.as_deref().unwrap_or(""))?;
        gc.debug(self.gc_debug.as_deref().unwrap_or(""))?;
        if let Some(c) = &self.config {
            // SAFETY: no other thread runs yet.
            unsafe { std::env::set_var("MONO_CONFIG", c) };
        }
        Ok(vervet_runtime::runtime::Options {
            gc,
            debug: self.debug,
            stats: self.stats,
            trace: self.trace.clone(),
            verbose_jit: self.verbose_jit.clone(),
            missing: self.missing,
            jitdump: self.jitdump,
            perf_map: self.perf_map || std::env::var_os("VERVET_PERF_MAP").is_some(),
            verify: self.verify_clif,
            cache: self.cache()?,
            aot: self.target()?,
            write_profile: self.write_profile.clone(),
            profile: self.profile()?,
            optimise: self.optimize.as_deref() == Some("all"),
            hot_calls: self.hot_calls()?,
            green: self.green()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_more_rights_than_its_user_writes_nothing() {
        for (words, is_refused) in [
            (&["vervet", "--aot"][..], true),
            (&["vervet", "--aot-worker=system"], true),
            (&["vervet", "--write-profile=/etc/x"], true),
            (&["vervet", "--profile=log:output=/etc/x"], true),
            (&["vervet", "--stats"], false),
        ] {
            let options = Options::try_parse_from(words).unwrap();
            assert_eq!(options.check_rights(false).is_err(), is_refused);
            assert!(options.check_rights(true).is_ok());
        }
    }
}
