//! The `vervet` command: options, then one of: run a program, run C# source, write a reference assembly, compile ahead,
//! report what the profiler recorded, look at a running program, run regression suites.
mod aot;
mod attach;
mod cache;
mod exports;
mod profile;
mod reference;
mod report;
mod signals;
mod source;
mod top;

use clap::Parser;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use vervet::options::{self, Command, Options};

#[global_allocator]
static ALLOCATOR: vervet_os::allocator::OrExit = vervet_os::allocator::OrExit;

/// What the first thread's stack must be allowed to grow to, else the program runs on a stack of our own.
const LEAST_STACK: u64 = 1 << 20;
const OWN_STACK: usize = 8 << 20;

fn main() -> ExitCode {
    // The order that makes registering for membarrier cheap; `Once`s of the standard library start no threads.
    debug_assert!(
        vervet_os::thread::count().is_none_or(|n| n == 1),
        "the fence is chosen before there is a second thread"
    );
    vervet_runtime::safepoint::choose_fence();
    vervet_os::allocator::prefer_large_steps();
    // SAFETY: a complete record that getrlimit fills.
    let limit = unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_STACK, &mut limit);
        limit.rlim_cur
    };
    if limit < LEAST_STACK
        && let Ok(thread) = std::thread::Builder::new()
            .stack_size(OWN_STACK)
            .spawn(command)
    {
        return thread.join().unwrap_or(ExitCode::from(70));
    }
    command()
}

fn command() -> ExitCode {
    let mut args: Vec<OsString> = std::env::args_os().collect();
    if let Some(extra) = std::env::var_os("MONO_ENV_OPTIONS") {
        let extra = extra.to_string_lossy().into_owned();
        let words: Vec<OsString> = extra.split_whitespace().map(OsString::from).collect();
        args.splice(1..1, words);
    }
    let as_mono = options::called_mono(&args);
    let args = match options::mono_style(args) {
        Ok(args) => args,
        Err(text) => {
            eprintln!("{text}");
            return ExitCode::from(1);
        }
    };
    let options = match Options::try_parse_from(args) {
        Ok(o) => o,
        Err(e) => {
            let _ = e.print();
            return ExitCode::from(if e.use_stderr() { 1 } else { 0 });
        }
    };
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_env("VERVET_LOG"))
        .with_writer(std::io::stderr)
        .without_time()
        .init();
    if let Some(version) = &options.version {
        let text = match version.as_str() {
            "number" => options::version_number(as_mono).to_string(),
            _ => options::version_text(as_mono),
        };
        // The reader of a pipe may be gone (`vervet --version | head -1`); there is nobody to tell.
        let _ = writeln!(std::io::stdout(), "{text}");
        return ExitCode::SUCCESS;
    }
    if let Ok(Some(profile)) = options.profile()
        && profile.help
    {
        let _ = write!(std::io::stdout(), "{}", vervet_profiler::options::HELP);
        return ExitCode::SUCCESS;
    }
    let code = match options.what() {
        Ok(Command::Program { path, args }) => run(&options, |_| {
            vervet_runtime::process::main::run_main(&path, &args)
        }),
        Ok(Command::Source {
            files,
            references,
            args,
        }) => match reference::for_sources(&files).and_then(|own| {
            let references: Vec<String> = references.into_iter().chain(own.threading).collect();
            source::compile(&files, &references, options.debug, own.library.as_deref())
        }) {
            Ok(exe) => run(&options, |_| {
                vervet_runtime::process::main::run_main(&exe, &args)
            }),
            Err(e) => {
                eprintln!("{}", e.text);
                e.code
            }
        },
        Ok(Command::Reference { directory }) => match reference::write(&directory) {
            Ok(()) => 0,
            Err(e) => {
                eprintln!("{}", e.text);
                e.code
            }
        },
        Ok(Command::Worker) => run(&options, |_| aot::work()),
        Ok(Command::Ahead(plan)) => aot::command(&options, &plan),
        Ok(Command::Report { args }) => report::command(&args),
        Ok(Command::Top { args }) => top::command(&args),
        Ok(Command::Profile { args }) => profile::command(&args),
        Ok(Command::Cache { clear }) => match cache::command(clear) {
            Ok(()) => 0,
            Err(text) => {
                eprintln!("{text}");
                1
            }
        },
        Ok(Command::Regression { files }) => run(&options, |_| {
            let mut failed = 0;
            for f in &files {
                failed += vervet_runtime::process::regression::run(f).1;
            }
            i32::from(failed > 0)
        }),
        Err(text) => {
            eprintln!("{text}");
            1
        }
    };
    vervet_runtime::process::fatal::exit_process(code)
}

fn run(options: &Options, work: impl FnOnce(&'static vervet_runtime::Runtime) -> i32) -> i32 {
    let started = options
        .runtime()
        .and_then(|o| vervet_runtime::process::bootstrap::start(o, vervet_icalls::all()));
    match started {
        Ok(rt) => work(rt),
        Err(text) => {
            eprintln!("{text}");
            1
        }
    }
}
