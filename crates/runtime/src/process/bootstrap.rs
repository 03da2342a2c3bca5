//! Start-up: from nothing to where managed code can run (docs/class-library.md#start-up).
//!
//! ```text
//!   step                                   needs                          what may go wrong
//!   -------------------------------------  -----------------------------  -------------------------------------
//!   panic hook, standard descriptors       nothing                        nothing
//!   membarrier, locale                     one thread in the process      nothing (the command registers before it comes here)
//!   address plan                           the limits of the process      too little address space
//!   VTable area, code arena, handles,      the plan                       a reservation fails
//!     heap (its threads start later)
//!   arch, safepoint, helpers               the code arena                 nothing
//!   signal handlers                        the stubs they lead to         nothing
//!   loader, type system, mscorlib          files                          no class library, another version
//!   table of icalls, compiler; published   mscorlib                       nothing
//!   attach the main thread, objects        all of it                      an exception: its text is the sentence
//! ```
//!
//! # Invariants
//! * The order of start-up is that of docs/class-library.md#order-of-start-up: String.Empty before any managed code, the preallocated exceptions
//!   first of all managed code, no class constructor of the library before Main.
//! * The address plan is made first, and every reservation before the first thread starts: threads take address space of their own. Where address
//!   space is limited, the collector's threads start with the heap.
//! * An error before the runtime is published is a sentence for the user; nothing is undone, because the process ends.
use crate::code::icall::Icall;
use crate::cx::{Cx, Result};
use crate::domain::Domain;
use crate::domain::binding::Bridge;
use crate::exceptions::make;
use crate::exceptions::unhandled::pending_text;
use crate::loader::Loader;
use crate::memory::roots::Root;
use crate::process::fatal::internal_error;
use crate::runtime::{Options, Preallocated, Runtime, publish};
use std::sync::atomic::AtomicI32;
use vervet_jit::Compiler;
use vervet_metadata::Table;
use vervet_os::Published;
use vervet_types::{Known, ModuleRef, Universe};

/// The corlib this runtime is written for.
const CORLIB_VERSION: &str = "ABB721D6-116A-4555-B4FD-9248146D2051";

/// Opens /dev/null on the standard descriptors that are closed, so that no file of the program gets their numbers.
fn open_standard_descriptors() {
    for fd in 0..3 {
        // SAFETY: plain calls on descriptors; the lowest free one is `fd`, because those below it are open.
        unsafe {
            if libc::fcntl(fd, libc::F_GETFD) == -1 {
                libc::open(
                    c"/dev/null".as_ptr(),
                    if fd == 0 {
                        libc::O_RDONLY
                    } else {
                        libc::O_WRONLY
                    },
                );
            }
        }
    }
}

/// Brings the runtime up to where managed code can run. `Err` is a sentence for the user.
pub fn start(
    options: Options,
    icalls: impl Iterator<Item = &'static Icall>,
) -> std::result::Result<&'static Runtime, String> {
    std::panic::set_hook(Box::new(|info| {
        eprintln!("vervet: internal error: {info}");
        if std::env::var_os("VERVET_BACKTRACE").is_some() {
            eprintln!("{}", std::backtrace::Backtrace::force_capture());
        }
        if !crate::threads::service_stack::is_on_service_stack() {
            internal_error("a panic in the runtime");
        }
    }));
    open_standard_descriptors();
    // Chosen by the command already, if it is the command that starts the runtime: before the process has a second thread.
    crate::safepoint::choose_fence();
    // SAFETY: before any other thread exists.
    unsafe {
        libc::setlocale(libc::LC_ALL, c"".as_ptr());
        libc::setlocale(libc::LC_NUMERIC, c"C".as_ptr());
    }
    let failed = |what: &str| {
        let what = what.to_string();
        move |e: std::io::Error| format!("cannot reserve {what}: {e}")
    };
    let plan = crate::memory::address_plan::AddressPlan::make()?;
    plan.adopt();
    // Before the threads of the collector: they take address space of their own.
    crate::memory::vtable_area::initialise(plan.vtables).map_err(failed("the area of VTables"))?;
    crate::code::arena::initialise(plan.code, plan.slots).map_err(failed("the code arena"))?;
    crate::process::fork::initialise();
    crate::memory::handles::initialise(plan.tables.handle_index_bits)
        .map_err(failed("GC handles"))?;
    crate::memory::gc::initialise(&options.gc, &plan, crate::memory::finalizer::start)
        .map_err(failed("the heap"))?;
    crate::code::perf::open(options.perf_map, options.jitdump)
        .map_err(|e| format!("cannot write the names of generated code: {e}"))?;
    // Stubs into the arena, then the handlers of signals: each needs what stands above it.
    crate::arch::initialise();
    crate::profiler::sampling::single_step::initialise();
    crate::safepoint::initialise();
    crate::code::helpers::initialise();
    crate::exceptions::traps::initialise();
    crate::exceptions::report::initialise(
        crate::interop::marshal::handler_calls::start,
        crate::process::attach::start,
    );

    let root = Domain::make(|_| Loader::new());
    let universe = start_types(&root.loader)?;
    let icalls: Vec<_> = icalls.collect();
    let mut table =
        rustc_hash::FxHashMap::with_capacity_and_hasher(icalls.len(), Default::default());
    table.extend(icalls.into_iter().map(|row| (row.name, row)));
    let compiler = Compiler::new(vervet_jit::Options {
        verify: options.verify || cfg!(debug_assertions),
        verbose: options.verbose_jit.clone(),
        optimise_all: options.optimise,
        fail_guards: std::env::var_os("VERVET_DEBUG_FAIL_GUARDS").is_some(),
        without_aes: std::env::var_os("VERVET_DEBUG_NO_AES").is_some(),
        counts_calls: options.hot_calls != 0,
        // An iteration of a loop counts as three calls: code that is left in a loop is made once more for the next call.
        loop_iterations: options.hot_calls / 3,
        allocation: options.gc.allocator,
        recorded: options.recorded(),
        tables: plan.tables,
    });
    // From here on `rt()` answers.
    let runtime = publish(Runtime {
        universe,
        root,
        compiler,
        icalls: table,
        options,
        exit_code: AtomicI32::new(0),
        command_line: Published::new(),
        preallocated: Published::new(),
    });
    if let Some(options) = &runtime.options.profile {
        crate::profiler::control::begin(options)?;
    }
    runtime.options.green.settle();
    // The first thread becomes a managed one, and the first objects are made.
    let context = crate::threads::attach::attach();
    let name: Vec<u16> = "Main".encode_utf16().collect();
    // SAFETY: the calling thread's context.
    unsafe { crate::profiler::hooks::thread_named(context, &name) };
    crate::safepoint::debug::start();
    crate::profiler::sampling::debug::start_if_wanted();
    let cx = Cx::current();
    if prepare(&cx).is_err() {
        return Err(format!("start-up failed: {}", pending_text()));
    }
    Ok(runtime)
}

/// Makes the type system, and loads the core library and the grafts. No managed code runs yet.
fn start_types(loader: &Loader) -> std::result::Result<&'static Universe, String> {
    let universe = Universe::new(Box::new(Bridge));
    loader.set_universe(universe);
    let corlib = loader.binder().corlib().map_err(|e| e.to_string())?;
    let corlib = loader.open(&corlib).map_err(|e| e.to_string())?;
    check_corlib(corlib.manifest)?;
    universe.set_corlib(corlib.manifest);
    let compared = crate::classes::layout_check::was_compared(corlib.manifest);
    if !compared || cfg!(debug_assertions) {
        universe.check_known().map_err(|e| e.to_string())?;
    }
    crate::classes::grafts::load(universe)?;
    if !compared || cfg!(debug_assertions) {
        crate::classes::layout_check::check(universe)?;
    }
    crate::memory::gc::object_model::set_known_classes(
        universe.known(Known::Ephemeron),
        universe.known(Known::CriticalFinalizerObject),
    );
    Ok(universe)
}

/// Is the core library the one that this runtime is written for? Its version is a constant of `System.Environment`.
fn check_corlib(module: ModuleRef) -> std::result::Result<(), String> {
    let version = |module: ModuleRef| {
        let environment = module.find_type("System", "Environment").ok()??;
        let field = environment.find_field("mono_corlib_version").ok()??;
        let image = &module.image;
        let row = vervet_metadata::Token::new(Table::Field, field.rid);
        let constant = image.constant(image.constant_of(row)?).ok()?;
        let bytes = image.blob(constant.value).ok()?;
        let units: Vec<u16> = bytes
            .chunks_exact(2)
            .map(|b| u16::from_le_bytes([b[0], b[1]]))
            .collect();
        String::from_utf16(&units).ok()
    };
    let found = version(module);
    match found {
        Some(v) if v == CORLIB_VERSION => Ok(()),
        other => Err(format!(
            "Corlib not in sync with this runtime: expected corlib version {CORLIB_VERSION}, found {}.",
            other.unwrap_or_else(|| "none".into())
        )),
    }
}

/// The objects that must exist before Main.
fn prepare<'cx>(cx: &'cx Cx<'cx>) -> Result<()> {
    let rt = cx.rt();
    let setup = cx.alloc(cx.known(Known::AppDomainSetup))?;
    crate::domain::create::fill(cx, setup)?;
    rt.root.set_active();
    crate::threads::adopt::adopt(cx)?;
    rt.preallocated.put(Preallocated {
        out_of_memory: Root::of(make::new(
            cx,
            cx.known(Known::OutOfMemoryException),
            &["Out of memory"],
        )?),
        heap_full: Root::of(make::new(
            cx,
            cx.known(Known::OutOfMemoryException),
            &["Insufficient memory to continue the execution of the program."],
        )?),
        null_reference: Root::of(make::new(
            cx,
            cx.known(Known::NullReferenceException),
            &["A null value was found where an object instance was required"],
        )?),
        stack_overflow: Root::of(make::new(
            cx,
            cx.known(Known::StackOverflowException),
            &["The requested operation caused a stack overflow."],
        )?),
    });
    Ok(())
}
