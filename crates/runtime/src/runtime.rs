//! The runtime of this process: its parts, and the one way to reach them.
//!
//! # Invariants
//! There is one `Runtime`; it is published complete, before any managed code runs, and never goes.
pub use crate::code::hot::CALLS as HOT_CALLS;
use crate::code::icall::Icall;
use crate::cx::{Cx, Result, Throw};
use crate::domain::Domain;
use crate::memory::roots::Root;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};
use vervet_abi::VTable;
use vervet_jit::{Compiler, Recorded};
use vervet_os::Published;
use vervet_profiler::options::sets;
use vervet_types::{ClassRef, Known, LoadError, Universe};

/// See the module.
pub struct Runtime {
    /// The type system.
    pub universe: &'static Universe,
    /// The root domain.
    pub root: &'static Domain,
    /// The compiler.
    pub compiler: Compiler,
    /// Internal calls by `Class::Name`, and by `Class::Name(sig)`.
    pub icalls: FxHashMap<&'static str, &'static Icall>,
    /// What the command line asked for.
    pub options: Options,
    /// The process's exit code as Environment.ExitCode sees it.
    pub exit_code: AtomicI32,
    /// Arguments as Environment.GetCommandLineArgs returns them.
    pub command_line: Published<Vec<String>>,
    /// Exceptions that must be throwable without allocating.
    pub preallocated: Published<Preallocated>,
}

/// Options of a run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `--debug`: file and line in traces.
    pub debug: bool,
    /// `--stats`.
    pub stats: bool,
    /// `--trace`: method entries.
    pub trace: Option<String>,
    /// `--verbose-jit METHOD`.
    pub verbose_jit: Option<String>,
    /// `--missing`: list icalls that were wanted and not found.
    pub missing: bool,
    /// Write /tmp/perf-PID.map.
    pub perf_map: bool,
    /// Write /tmp/jit-PID.dump.
    pub jitdump: bool,
    /// What the command line and the environment choose about green threads.
    pub green: crate::threads::green::settings::GreenOptions,
    /// Run the CLIF verifier.
    pub verify: bool,
    /// `--gc`, `--gc-debug` and MONO_GC_PARAMS.
    pub gc: crate::memory::gc::options::GcOptions,
    /// `--cache`: compiled code that is kept.
    pub cache: crate::code::cache::setting::Mode,
    /// This process compiles ahead, for that directory; it runs no program.
    pub aot: Option<crate::code::cache::setting::Target>,
    /// `--write-profile`: the methods that were used are added to this file at the end.
    pub write_profile: Option<std::path::PathBuf>,
    /// `--profile`: what is recorded.
    pub profile: Option<vervet_profiler::options::Options>,
    /// `--optimize` / `-O=`: everything optimised.
    pub optimise: bool,
    /// `--hot-calls`: after how many calls a quickly compiled method is compiled again; 0: never.
    pub hot_calls: u32,
}

impl Options {
    /// What compiled code tells the profiler of.
    pub fn recorded(&self) -> Recorded {
        let events = self.profile.as_ref().map_or(0, |p| p.events);
        Recorded {
            allocations: events & sets::GC_ALLOC != 0,
            handles: events & sets::GC_HANDLE != 0,
            finallys: self.profile.as_ref().is_some_and(|p| p.finallys()),
            calls: self.profile.as_ref().is_some_and(|p| p.calls),
        }
    }
}

/// See [`Runtime::preallocated`].
pub struct Preallocated {
    /// OutOfMemoryException, for what no memory would be enough for.
    pub out_of_memory: Root,
    /// OutOfMemoryException, where the heap has no room left. Mono has another text for it.
    pub heap_full: Root,
    /// NullReferenceException.
    pub null_reference: Root,
    /// StackOverflowException.
    pub stack_overflow: Root,
}

static RUNTIME: AtomicPtr<Runtime> = AtomicPtr::new(std::ptr::null_mut());

/// Publishes the runtime.
pub fn publish(runtime: Runtime) -> &'static Runtime {
    let r = Box::leak(Box::new(runtime));
    RUNTIME.store(r, Ordering::Release);
    r
}
/// The runtime. Panics before start-up has published it.
#[inline]
pub fn rt() -> &'static Runtime {
    rt_opt().expect("the runtime has not been started")
}
/// The runtime, if it has been started.
#[inline]
pub fn rt_opt() -> Option<&'static Runtime> {
    // SAFETY: only `publish` stores here, and what it stores is leaked.
    unsafe { RUNTIME.load(Ordering::Acquire).as_ref() }
}

impl Runtime {
    /// The VTable of a class in the thread's current domain, or the exception for why there is none. What only the program's resolve events can
    /// supply is asked for.
    #[inline]
    pub fn vtable_or_throw(&self, cx: &Cx<'_>, class: ClassRef) -> Result<&'static VTable> {
        match cx.domain().vtable_if_made(class) {
            Some(vt) => Ok(vt),
            None => self.first_vtable(class),
        }
    }
    #[cold]
    fn first_vtable(&self, class: ClassRef) -> Result<&'static VTable> {
        let cx = &Cx::current();
        loop {
            match cx.domain().vtable(class) {
                Err(LoadError::Need(need)) => cx.supply(&need)?,
                answer => return cx.load(answer),
            }
        }
    }
    /// Leaves the preallocated OutOfMemoryException pending.
    pub fn throw_out_of_memory(&self, cx: &Cx<'_>) -> Throw {
        cx.throw_object(self.prepared().out_of_memory.get())
    }
    /// Leaves that of a heap without room pending.
    pub fn throw_heap_full(&self, cx: &Cx<'_>) -> Throw {
        cx.throw_object(self.prepared().heap_full.get())
    }
    fn prepared(&self) -> &Preallocated {
        let prepared = self.preallocated.get();
        prepared.unwrap_or_else(|| panic!("out of memory before start-up was complete"))
    }
    /// Has the class been initialized in the root domain? The background compiler serves that domain.
    pub fn is_initialized(&self, class: ClassRef) -> bool {
        self.root.is_initialized(class)
    }
}

impl<'cx> Cx<'cx> {
    /// The runtime.
    #[inline]
    pub fn rt(&self) -> &'static Runtime {
        rt()
    }
    /// The type system.
    #[inline]
    pub fn universe(&self) -> &'static Universe {
        self.rt().universe
    }
    /// A well-known class.
    #[inline]
    pub fn known(&self, k: Known) -> ClassRef {
        self.rt().universe.known(k)
    }
}
