//! Start-up, running Main, and the ways a process ends (docs/class-library.md#start-up).
//!
//! # Invariants
//! * The order of start-up is that of docs/class-library.md#order-of-start-up: String.Empty before any managed code, the preallocated exceptions
//!   first of all managed code, no class constructor of the library before Main.
//! * An internal error prints what and where, and exits with code 70; it never goes on.
use crate::code::icall::Icall;
use crate::cx::{Cx, Result, Value};
use crate::domain::Domain;
use crate::exceptions::make;
use crate::loader::{AssemblyCell, Bridge, Loader};
use crate::memory::roots::Root;
use crate::object::ObjRef;
use crate::runtime::{Options, Preallocated, Runtime, publish, rt};
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, Ordering};
use vervet_abi::ThreadContext;
use vervet_abi::layouts::*;
use vervet_jit::Compiler;
use vervet_metadata::Table;
use vervet_os::Published;
use vervet_types::{Assembly, Known, MethodRef, ModuleRef, Universe};

/// The corlib this runtime is written for.
const CORLIB_VERSION: &str = "ABB721D6-116A-4555-B4FD-9248146D2051";
/// Exit code of an internal error.
pub const INTERNAL_ERROR: i32 = 70;

/// Owner id of the thread that ends the process in the ordinary way and raises ProcessExit; 0: none yet.
static EXITING: AtomicU32 = AtomicU32::new(0);
/// Thread id (of the system) of the thread that is in [`exit_process`]; 0: none yet.
static ENDING: AtomicI32 = AtomicI32::new(0);
static SHUTDOWN: AtomicBool = AtomicBool::new(false);
static AT_CRASH: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Environment.HasShutdownStarted: the handlers of ProcessExit have run.
pub fn has_shutdown_started() -> bool {
    SHUTDOWN.load(Ordering::Acquire)
}
/// What is done before a crash report, if anything; it must be async-signal-safe.
pub fn at_crash(work: extern "C" fn()) {
    AT_CRASH.store(work as *mut (), Ordering::Release);
}
/// Does what was given to [`at_crash`].
pub(crate) fn before_crash_report() {
    let work = AT_CRASH.load(Ordering::Acquire);
    if !work.is_null() {
        // SAFETY: only `at_crash` stores here.
        let work: extern "C" fn() = unsafe { std::mem::transmute(work) };
        work();
    }
}
/// Writes a piece of text to standard error in one go; a descriptor that takes nothing is no reason to fail.
pub(crate) fn write_stderr(text: &str) {
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        // SAFETY: the range is the slice's.
        let n = unsafe { libc::write(libc::STDERR_FILENO, rest.as_ptr().cast(), rest.len()) };
        match n {
            1.. => rest = &rest[n as usize..],
            _ if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
            _ => return,
        }
    }
}
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
        if !crate::threads::attach::is_on_service_stack() {
            internal_error(
                "a panic in the runtime",
                crate::threads::attach::current_context(),
            );
        }
    }));
    open_standard_descriptors();
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
    crate::classes::vtables::initialise(plan.vtables).map_err(failed("the area of VTables"))?;
    crate::code::arena::initialise(plan.code, plan.slots).map_err(failed("the code arena"))?;
    crate::memory::handles::initialise(plan.tables.handle_index_bits)
        .map_err(failed("GC handles"))?;
    crate::memory::gc::initialise(&options.gc, &plan).map_err(failed("the heap"))?;
    crate::arch::initialise();
    crate::safepoint::initialise();
    crate::code::helpers::initialise();
    crate::exceptions::traps::initialise();
    crate::exceptions::report::initialise();

    let loader = Loader::new();
    let universe = Universe::new(Box::new(Bridge(loader)));
    loader.set_universe(universe);
    let corlib = loader.binder().corlib().map_err(|e| e.to_string())?;
    let corlib = loader.open(&corlib).map_err(|e| e.to_string())?;
    check_corlib(corlib.manifest)?;
    universe
        .set_corlib(corlib.manifest)
        .map_err(|e| e.to_string())?;
    crate::classes::layout_check::check(universe)?;
    crate::memory::gc::model::set_known_classes(
        universe.known(Known::Ephemeron),
        universe.known(Known::CriticalFinalizerObject),
    );

    let mut table = rustc_hash::FxHashMap::default();
    for row in icalls {
        table.insert(row.name, row);
    }
    if options.perf_map {
        crate::process::stats::open_perf_map()
            .map_err(|e| format!("cannot write the perf map: {e}"))?;
    }
    let compiler = Compiler::new(vervet_jit::Options {
        verify: options.verify || cfg!(debug_assertions),
        verbose: options.verbose_jit.clone(),
        optimise_all: options.optimise,
        allocation: options.gc.allocator,
        tables: plan.tables,
    });
    let runtime = publish(Runtime {
        universe,
        domain: Box::leak(Box::new(Domain::new(0))),
        compiler,
        loader,
        icalls: table,
        options,
        exit_code: AtomicI32::new(0),
        command_line: Published::new(),
        preallocated: Published::new(),
    });
    crate::threads::attach::attach();
    crate::safepoint::debug::start();
    let cx = Cx::current();
    if prepare(&cx).is_err() {
        return Err(format!("start-up failed: {}", pending_text(&cx)));
    }
    Ok(runtime)
}

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
    let string = cx.known(Known::String);
    let vt = rt.vtable_or_throw(cx, string)?;
    if let Some(empty) = cx.load(string.find_field("Empty"))? {
        let address = cx.load(crate::memory::statics::field_address(
            cx.context(),
            vt,
            empty,
        ))?;
        let object = cx.intern(&[])?;
        // SAFETY: the slot of a static reference field.
        unsafe { crate::object::store_ref(address as *mut usize, object) };
    }
    let setup = cx.alloc(cx.known(Known::AppDomainSetup))?;
    let domain = cx.alloc(cx.known(Known::AppDomain))?;
    domain.write(
        offset_of!(AppDomainObject, mono_app_domain),
        rt.domain as *const Domain as usize,
    );
    *rt.domain.setup.lock() = Some(Root::of(setup));
    *rt.domain.app_domain.lock() = Some(Root::of(domain));
    crate::threads::adopt(cx)?;
    rt.preallocated.put(Preallocated {
        out_of_memory: Root::of(make::new(
            cx,
            cx.known(Known::OutOfMemoryException),
            &["Out of memory"],
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
    let context = cx.alloc(cx.known(Known::Context))?;
    *rt.domain.context.lock() = Some(Root::of(context));
    // SAFETY: the context belongs to this thread; the InternalThread was made above.
    let internal = unsafe { ObjRef::from_addr((*cx.context()).internal_thread) };
    internal.write_ref(
        offset_of!(InternalThreadObject, current_appcontext),
        context,
    );
    Ok(())
}

/// Runs a program: `path` as the user gave it, and its arguments. Returns the exit code.
pub fn run_main(path: &Path, args: &[String]) -> i32 {
    let cx = Cx::current();
    let code = run_program(&cx, path, args);
    finish(&cx, code)
}

fn run_program<'cx>(cx: &'cx Cx<'cx>, path: &Path, args: &[String]) -> i32 {
    let rt = cx.rt();
    let assembly = match rt.loader.open(path) {
        Ok(a) => a,
        Err(e) => {
            if path.exists() {
                tracing::info!("{}: {e}", path.display());
                eprintln!(
                    "Cannot open assembly '{}': File does not contain a valid CIL image.",
                    path.display()
                );
            } else {
                eprintln!(
                    "Cannot open assembly '{}': No such file or directory.",
                    path.display()
                );
            }
            return 2;
        }
    };
    let entry = match entry_point(assembly) {
        Ok(Some(m)) => m,
        Ok(None) => {
            println!(
                "Assembly '{}' doesn't have an entry point.",
                location(assembly, path)
            );
            return 1;
        }
        Err(e) => {
            eprintln!("Cannot open assembly '{}': {e}.", path.display());
            return 2;
        }
    };
    match call_main(cx, path, assembly, entry, args) {
        Ok(code) => code,
        Err(throw) => {
            let exception = cx.take_pending(throw);
            unhandled(cx, exception)
        }
    }
}

/// Where an assembly came from, links followed.
fn location(assembly: &'static Assembly, path: &Path) -> String {
    assembly
        .manifest
        .path
        .clone()
        .unwrap_or_else(|| path.to_string_lossy().into_owned())
}
/// The path made absolute, without `.` and `..`, links not followed.
fn absolute(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in std::path::absolute(path)
        .unwrap_or_else(|_| path.to_path_buf())
        .components()
    {
        match part {
            std::path::Component::ParentDir => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

/// The method a program starts with; a File token leads to another module.
pub fn entry_point(
    assembly: &'static Assembly,
) -> std::result::Result<Option<MethodRef>, vervet_types::LoadError> {
    let module = assembly.manifest;
    let Some(token) = module.image.entry_point().filter(|t| !t.is_nil()) else {
        return Ok(None);
    };
    match token.table() {
        Some(Table::MethodDef) => module.method_def(token.rid()).map(Some),
        Some(Table::File) => {
            let file = module.image.file(token.rid())?;
            let name = module.image.string(file.name)?;
            let other = rt().loader.open_module(module, name)?;
            match other.image.entry_point() {
                Some(t) => other.method_def(t.rid()).map(Some),
                None => Ok(None),
            }
        }
        _ => Ok(None),
    }
}

fn call_main<'cx>(
    cx: &'cx Cx<'cx>,
    path: &Path,
    assembly: &'static Assembly,
    entry: MethodRef,
    args: &[String],
) -> Result<i32> {
    let rt = cx.rt();
    let full = absolute(path);
    let mut line = vec![full.to_string_lossy().into_owned()];
    line.extend(args.iter().cloned());
    rt.command_line.put(line);
    rt.loader.entry.put(AssemblyCell(assembly));
    *rt.domain.friendly_name.lock() = path
        .file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default();
    let setup = rt.domain.setup.lock().expect("made at start-up").get();
    let base: PathBuf = full.parent().map(Path::to_path_buf).unwrap_or_default();
    let config = format!("{}.config", location(assembly, path));
    rt.loader.configure(|b| {
        b.app_base = Some(base.clone());
        if let Ok(c) = vervet_binder::app_config::AppConfig::read(Path::new(&config)) {
            b.configure(&c);
        }
    });
    // With the separator at its end, as mono has it.
    let text = cx.alloc_str(&format!(
        "{}/",
        base.to_string_lossy().trim_end_matches('/')
    ))?;
    setup.write_ref(offset_of!(AppDomainSetupObject, application_base), text);
    let text = cx.alloc_str(&config)?;
    setup.write_ref(offset_of!(AppDomainSetupObject, configuration_file), text);
    // SAFETY: the context belongs to this thread.
    let internal = unsafe { ObjRef::from_addr((*cx.context()).internal_thread) };
    internal.write(
        offset_of!(InternalThreadObject, apartment_state),
        u8::from(!has_attribute(entry, "STAThreadAttribute")),
    );
    // The module's initializer runs before anything else of the assembly.
    let module_class = cx.load(assembly.manifest.type_def(1))?;
    if cx.load(module_class.cctor())?.is_some() {
        cx.run_class_init(module_class)?;
    }
    let array = cx.alloc_ref_array(cx.known(Known::String), args.len(), |i| {
        cx.alloc_str(&args[i])
    })?;
    let sig = cx.load(entry.sig())?;
    let with_args = [Value::Ref(array)];
    let values: &[Value<'_>] = if sig.params.is_empty() {
        &[]
    } else {
        &with_args
    };
    let has_code = std::ptr::eq(sig.ret, cx.known(Known::Int32));
    let result = cx.invoke(entry, None, values);
    if result.is_err() && has_code {
        rt.exit_code.store(-1, Ordering::Relaxed);
    }
    Ok(match result? {
        Value::Int(code) if has_code => {
            rt.exit_code.store(code as i32, Ordering::Relaxed);
            code as i32
        }
        _ => rt.exit_code.load(Ordering::Relaxed),
    })
}

fn has_attribute(method: MethodRef, name: &str) -> bool {
    let image = &method.class.module.image;
    image.custom_attributes_of(method.token()).any(|rid| {
        let Ok(row) = image.custom_attribute(rid) else {
            return false;
        };
        let scope = method.scope();
        scope
            .method(row.constructor)
            .is_ok_and(|m| m.class.name == name)
    })
}

/// The text of the pending exception, for errors before Main.
fn pending_text(cx: &Cx<'_>) -> String {
    let cx = &Cx {
        context: cx.context,
        rt: cx.rt,
        _not_send: std::marker::PhantomData,
    };
    // SAFETY: the context belongs to this thread.
    let exception: ObjRef<'_> =
        unsafe { ObjRef::from_addr(std::mem::take(&mut (*cx.context).pending)) };
    exception_text(cx, exception)
}

/// `ToString()` of an exception, or what can be said of it if that throws.
pub fn exception_text<'cx>(cx: &'cx Cx<'cx>, exception: ObjRef<'cx>) -> String {
    if exception.is_null() {
        return "no exception".into();
    }
    match cx.rt().to_string(cx, exception) {
        Ok(t) => t,
        Err(throw) => {
            let nested = cx.take_pending(throw);
            let message = exception.read_ref(offset_of!(ExceptionObject, message));
            let message = if message.is_null() {
                String::new()
            } else {
                message.text()
            };
            format!(
                "Nested exception trying to figure out what went wrong: {} ({message}); {}",
                exception.class().full_name(),
                if nested.is_null() {
                    String::new()
                } else {
                    nested.class().full_name()
                }
            )
        }
    }
}

/// An exception nobody caught: the event, the text, the exit code.
pub fn unhandled<'cx>(cx: &'cx Cx<'cx>, exception: ObjRef<'cx>) -> i32 {
    unhandled_with(cx, exception, 1)
}

/// As [`unhandled`], with the exit code of exceptions other than ThreadAbortException: that one ends with
/// Environment.ExitCode, which an aborted Main that returns a code leaves at -1.
pub fn unhandled_with<'cx>(cx: &'cx Cx<'cx>, exception: ObjRef<'cx>, code: i32) -> i32 {
    let _region = crate::exceptions::protected::Region::begin();
    let rt = cx.rt();
    let is_abort = exception.class().name == "ThreadAbortException";
    let mut handled = false;
    if !is_abort {
        let domain = rt.domain.app_domain.lock().map(Root::get);
        if let Some(domain) = domain {
            let handler: ObjRef<'_> =
                domain.read_ref(offset_of!(AppDomainObject, unhandled_exception));
            if !handler.is_null() {
                handled = true;
                if let Err(t) = raise_unhandled(cx, domain, handler, exception) {
                    let inside = cx.take_pending(t);
                    let message = inside.read_ref(offset_of!(ExceptionObject, message));
                    let message = if message.is_null() {
                        String::new()
                    } else {
                        message.text()
                    };
                    write_stderr(&format!(
                        "exception inside UnhandledException handler: {}: {message}\n",
                        inside.class().full_name()
                    ));
                }
            }
        }
    }
    let text = exception_text(cx, exception);
    if !handled && !is_abort {
        write_stderr(&format!("\nUnhandled Exception:\n{text}\n"));
    }
    write_stderr(&format!("[ERROR] FATAL UNHANDLED EXCEPTION: {text}\n"));
    crate::process::stats::report();
    if is_abort {
        exit_process(rt.exit_code.load(Ordering::Relaxed))
    } else {
        exit_process(code)
    }
}

fn raise_unhandled<'cx>(
    cx: &'cx Cx<'cx>,
    domain: ObjRef<'cx>,
    handler: ObjRef<'cx>,
    exception: ObjRef<'cx>,
) -> Result<()> {
    let class = cx.known(Known::UnhandledExceptionEventArgs);
    let ctor = cx.load(class.find_method(".ctor", Some(2)))?;
    let Some(ctor) = ctor else { return Ok(()) };
    let args = cx.alloc(class)?;
    cx.invoke(
        ctor,
        Some(Value::Ref(args)),
        &[Value::Ref(exception), Value::Int(1)],
    )?;
    let invoke = crate::interop::delegates::invoke_method(cx, handler.class())?;
    cx.invoke(
        invoke,
        Some(Value::Ref(handler)),
        &[Value::Ref(domain), Value::Ref(args)],
    )?;
    Ok(())
}

/// The end of a run whose Main returned: the threads of the foreground end, then ProcessExit is raised; all of them may
/// change the exit code.
fn finish<'cx>(cx: &'cx Cx<'cx>, code: i32) -> i32 {
    rt().exit_code.store(code, Ordering::Relaxed);
    crate::threads::lifetime::wait_for_foreground(cx);
    process_exit_event(cx);
    crate::threads::shutdown::abort_background(cx);
    crate::memory::finalizer::finish(cx);
    crate::process::stats::report();
    rt().exit_code.load(Ordering::Relaxed)
}

/// Raises ProcessExit, once; what a handler throws ends the event and nothing else. If another thread is ending the
/// process this one stays here.
fn process_exit_event(cx: &Cx<'_>) {
    let cx = &Cx {
        context: cx.context,
        rt: cx.rt,
        _not_send: std::marker::PhantomData,
    };
    let me = crate::threads::park::id(cx);
    match EXITING.compare_exchange(0, me, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => {}
        Err(who) if who == me => return,
        Err(_) => loop {
            crate::threads::park::park(cx, || {}, None);
        },
    }
    let _region = crate::exceptions::protected::Region::begin();
    let raise = || -> Result<()> {
        let Some(root) = *cx.rt().domain.app_domain.lock() else {
            return Ok(());
        };
        let domain: ObjRef<'_> = root.get();
        let handler = domain.read_ref(offset_of!(AppDomainObject, process_exit));
        if !handler.is_null() {
            let invoke = crate::interop::delegates::invoke_method(cx, handler.class())?;
            cx.invoke(
                invoke,
                Some(Value::Ref(handler)),
                &[Value::Ref(domain), Value::Ref(ObjRef::NULL)],
            )?;
        }
        Ok(())
    };
    if let Err(t) = raise() {
        let e = cx.take_pending(t);
        tracing::warn!("a handler of ProcessExit threw {}", e.class().full_name());
    }
    SHUTDOWN.store(true, Ordering::Release);
}

/// Environment.Exit: ProcessExit fires on this thread, then the process ends with this code, whatever the handlers
/// make of Environment.ExitCode.
pub fn exit(cx: &Cx<'_>, code: i32) -> ! {
    rt().exit_code.store(code, Ordering::Relaxed);
    process_exit_event(cx);
    crate::memory::finalizer::finish(cx);
    crate::process::stats::report();
    exit_process(code)
}

/// Ends the process at once, in Native state. Of several threads the first does; the others stay here.
pub fn exit_process(code: i32) -> ! {
    // SAFETY: plain system calls.
    unsafe {
        let me = libc::syscall(libc::SYS_gettid) as i32;
        match ENDING.compare_exchange(0, me, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {}
            Err(who) if who == me => libc::_exit(code),
            Err(_) => {
                crate::threads::attach::native(crate::threads::attach::current_context(), || {
                    loop {
                        libc::pause();
                    }
                })
            }
        }
    }
    // What runs now (exit handlers of libraries) may wait for a lock whose owner is stopped by somebody who waits for us.
    let end = || std::process::exit(code);
    if vervet_os::lock::holds_leaf_lock() {
        end();
    }
    crate::threads::attach::native(crate::threads::attach::current_context(), end)
}

/// A hole in an invariant of ours: says what and the managed stack, and ends with code 70.
pub fn internal_error(what: &str, context: *mut ThreadContext) -> ! {
    before_crash_report();
    write_stderr(&format!("vervet: internal error: {what}\n"));
    if !context.is_null() {
        for line in crate::exceptions::walk::describe(context) {
            write_stderr(&format!("  at {line}\n"));
        }
    }
    exit_process(INTERNAL_ERROR)
}
