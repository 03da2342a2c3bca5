//! `vervet aot`: compiles assemblies ahead, each job in a process of its own ([`vervet_runtime::code::aot`]).
//!
//! ```text
//! for each assembly, as many at once as there are processors:
//!   nodes: sets of edges, the small ones first --> a worker with these edges --> methods that want one edge more --> nodes
//! ```
//! # Invariants
//! * What is wrong with one assembly does not keep the others from being compiled; the exit code says it.
//! * No worker outlives this process, however it ends.
//! * The number of workers for an assembly is bounded: what is left is compiled by runs.
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use vervet::options::Options;
use vervet::plan::Plan;
use vervet_os::LeafLock;
use vervet_runtime::code::aot::job::{Edge, Job, Methods, Outcome};
use vervet_runtime::code::aot::{profile, worker};
use vervet_runtime::code::cache::setting::{self, Target};

/// Workers for one assembly, at most.
const MOST_NODES: usize = 64;

/// Compiles; returns the exit code.
pub fn command(options: &Options, plan: &Plan) -> i32 {
    if plan.target == Target::System
        && let Err(text) = setting::may_write_for_all()
    {
        eprintln!("vervet aot: {text}");
        return 1;
    }
    let names = match plan.profile.as_deref().map(profile::read).transpose() {
        Ok(names) => names,
        Err(e) => {
            let file = plan.profile.as_deref().unwrap_or(Path::new(""));
            eprintln!("vervet aot: {}: {e}", file.display());
            return 1;
        }
    };
    let next = AtomicUsize::new(0);
    let failures = AtomicUsize::new(0);
    let output = LeafLock::new(());
    let count = plan
        .assemblies
        .len()
        .min(vervet_os::thread::processors().max(1) as usize);
    std::thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|| {
                while let Some(path) = plan.assemblies.get(next.fetch_add(1, Relaxed)) {
                    let result = assembly(options, plan, path, names.as_deref());
                    let _whole_lines = output.lock();
                    match result {
                        Ok(o) => {
                            let text = format!(
                                "{}: {} methods compiled, {} were there, {} cannot be; {} KiB",
                                path.display(),
                                o.kept,
                                o.known,
                                o.failed,
                                o.bytes / 1024
                            );
                            // The reader of a pipe may be gone; there is nobody to tell.
                            let _ = writeln!(std::io::stdout(), "{text}");
                        }
                        Err(text) => {
                            failures.fetch_add(1, Relaxed);
                            eprintln!("vervet aot: {}: {text}", path.display());
                        }
                    }
                }
            });
        }
    });
    i32::from(failures.load(Relaxed) > 0)
}

/// Methods that are to be compiled with these edges.
struct Node {
    edges: Vec<Edge>,
    methods: Option<Methods>,
}

impl Node {
    /// Nodes with the same edges are one, whatever the order.
    fn key(&self) -> BTreeSet<&Edge> {
        self.edges.iter().collect()
    }
}

/// Compiles one assembly. `Err` is a sentence for the user, without the name of the file.
fn assembly(
    options: &Options,
    plan: &Plan,
    path: &Path,
    names: Option<&[String]>,
) -> Result<Outcome, String> {
    let error = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotFound => "No such file or directory.".to_owned(),
        _ => e.to_string(),
    };
    // Nobody may ever write to a pipe of that name.
    let file = std::fs::File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)
        .map_err(error)?;
    let kind = file.metadata().map_err(error)?;
    if kind.is_dir() {
        return Err("This is a directory.".into());
    }
    if !kind.is_file() {
        return Err("File does not contain a valid CIL image: it is no regular file.".into());
    }
    let mut todo = vec![Node {
        edges: Vec::new(),
        methods: None,
    }];
    let mut total = Outcome::default();
    let mut error_of_node = None;
    for _ in 0..MOST_NODES {
        // Few edges first: what the others leave to a node is there when its turn comes. Of these, what most methods want.
        let weight = |n: &Node| {
            (
                n.edges.len(),
                usize::MAX - n.methods.as_ref().map_or(0, Methods::count),
            )
        };
        let Some(best) = (0..todo.len()).min_by_key(|i| weight(&todo[*i])) else {
            break;
        };
        let node = todo.swap_remove(best);
        let job = Job {
            assembly: path.to_path_buf(),
            edges: node.edges.clone(),
            methods: node.methods,
            names: names.map(<[String]>::to_vec),
        };
        let outcome = match run(options, plan.target, &job) {
            Ok(outcome) => outcome,
            // Something is wrong with all of it.
            Err(text) if job.edges.is_empty() => return Err(text),
            Err(text) => {
                error_of_node = Some(text);
                continue;
            }
        };
        total.kept += outcome.kept;
        total.known += outcome.known;
        total.failed += outcome.failed;
        total.bytes += outcome.bytes;
        for (edge, methods) in outcome.wanted {
            if node.edges.contains(&edge) {
                // It is bound, and wanted all the same.
                total.failed += methods.own.len() as u64;
                continue;
            }
            let mut edges = node.edges.clone();
            edges.push(edge);
            add(&mut todo, edges, methods);
        }
    }
    for node in todo {
        total.failed += node.methods.map_or(0, |m| m.own.len() as u64);
    }
    error_of_node.map_or(Ok(total), Err)
}

fn add(todo: &mut Vec<Node>, edges: Vec<Edge>, methods: Methods) {
    let new = Node {
        edges,
        methods: Some(methods),
    };
    match todo.iter_mut().find(|n| n.key() == new.key()) {
        Some(Node {
            methods: Some(known),
            ..
        }) => {
            known.extend(&new.methods.unwrap_or_default());
            known.normalise();
        }
        _ => todo.push(new),
    }
}

/// Lets a worker do a job.
fn run(options: &Options, target: Target, job: &Job) -> Result<Outcome, String> {
    let mut command = Command::new("/proc/self/exe");
    command.arg(match target {
        Target::User => "--aot-worker=user",
        Target::System => "--aot-worker=system",
    });
    // Code depends on these.
    for (name, value) in [
        ("--optimize", &options.optimize),
        ("--gc", &options.gc),
        ("--gc-debug", &options.gc_debug),
    ] {
        command.args(value.iter().map(|v| format!("{name}={v}")));
    }
    if let Some(config) = &options.config {
        command.arg("--config").arg(config);
    }
    // Its words have been read, and their effects are among the options above.
    command.env_remove("MONO_ENV_OPTIONS");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    end_with_us(&mut command);
    let mut child = command
        .spawn()
        .map_err(|e| format!("/proc/self/exe: {e}"))?;
    // A worker that has ended reads nothing; its exit code says why.
    let _ = child.stdin.take().map(|mut i| i.write_all(&job.encode()));
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    let text = || String::from_utf8_lossy(&output.stdout).trim().to_owned();
    match output.status.code() {
        Some(0) => {
            Outcome::decode(&output.stdout).map_err(|_| "The worker's answer is cut off.".into())
        }
        Some(1) => Err(text()),
        _ => Err(format!("The worker was ended: {}.", output.status)),
    }
}

/// Has the kernel end the child when this thread ends, which waits for the child: so nothing goes on when this process is killed.
fn end_with_us(command: &mut Command) {
    let parent = std::process::id();
    let ask = move || {
        // SAFETY: the signal is the only argument that counts.
        let asked = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        // SAFETY: it cannot fail.
        match asked == 0 && unsafe { libc::getppid() } as u32 == parent {
            true => Ok(()),
            // It was killed before the kernel was asked.
            false => Err(std::io::Error::from_raw_os_error(libc::ESRCH)),
        }
    };
    // SAFETY: what runs between fork and exec is two system calls; it allocates nothing and takes no lock.
    unsafe { command.pre_exec(ask) };
}

/// The worker: a job from the standard input, the outcome to the standard output, or a sentence and code 1.
pub fn work() -> i32 {
    let mut bytes = Vec::new();
    let read = std::io::stdin().read_to_end(&mut bytes);
    let job = read.ok().and_then(|_| Job::decode(&bytes).ok());
    let done = job
        .ok_or_else(|| "The job is cut off.".to_owned())
        .and_then(|job| worker::work(&job));
    let (answer, code) = match done {
        Ok(outcome) => (outcome.encode(), 0),
        Err(text) => (text.into_bytes(), 1),
    };
    let mut out = std::io::stdout();
    match out.write_all(&answer).and_then(|()| out.flush()) {
        Ok(()) => code,
        Err(_) => 2,
    }
}
