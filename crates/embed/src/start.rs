//! The runtime in a host: options before it starts, start-up, running a program, the end.
//!
//! # Invariants
//! * One start in a process. A second `mono_jit_init` gives the same domain; after `mono_jit_cleanup` nothing of the API may be called, as in mono.
//! * The host's process is its own: a start that fails gives null, and the end of a run ends no process.
use crate::assemblies;
use crate::config;
use crate::invoke;
use crate::log;
use crate::profiler;
use crate::support::{AssemblyP, Bool, DomainP, MethodP, Object, fail, new_text, read, set};
use clap::Parser;
use std::ffi::{c_char, c_int, c_void};
use std::mem::offset_of;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use vervet::options::Options;
use vervet_abi::layouts::AppDomainSetupObject;
use vervet_os::LeafLock;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::domain::Domain;
use vervet_runtime::memory::roots::Root;
use vervet_runtime::process;
use vervet_runtime::runtime::rt_opt;
use vervet_runtime::threads::foreign;
use vervet_runtime::{ObjRef, rt};
use vervet_types::{Assembly, Known};

/// Options of `mono_jit_parse_options`, for the start.
static OPTIONS: LeafLock<Vec<String>> = LeafLock::new(Vec::new());
type Cleanup = unsafe extern "C" fn(*const Domain, *mut c_void);
static CLEANUP: LeafLock<Option<Cleanup>> = LeafLock::new(None);
static ENDING: AtomicBool = AtomicBool::new(false);

/// What the library answers: the version whose API it has.
const BUILD: &str = "6.8.0.105 (Debian 6.8.0.105+dfsg-3.3+deb12u1)";

/// Makes the symbols of this library visible to the native libraries of the class library, which look functions of the runtime up in the process.
fn show_symbols() {
    // SAFETY: plain queries about this library, which is loaded; the handle is kept for ever.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(show_symbols as *const c_void, &mut info) != 0 {
            let flags =
                libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_GLOBAL | libc::RTLD_NODELETE;
            libc::dlopen(info.dli_fname, flags);
        }
    }
}

/// The options of a command line. They are parsed on a thread with a stack of its own: the parser wants more than the host's may have.
fn parse(words: Vec<String>) -> std::result::Result<Options, String> {
    let parser = std::thread::Builder::new().stack_size(1 << 20);
    let parsed = parser.spawn(|| Options::try_parse_from(words).map_err(|e| e.to_string()));
    let parsed = parsed.map_err(|e| format!("no thread for the options: {e}"))?;
    parsed
        .join()
        .unwrap_or_else(|_| Err("the options cannot be parsed".into()))
}

fn start(name: &str) -> Option<&'static Domain> {
    if let Some(rt) = rt_opt() {
        return Some(rt.root);
    }
    show_symbols();
    let _ = tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_env("VERVET_LOG"))
        .with_writer(std::io::stderr)
        .without_time()
        .try_init();
    let mut words = vec!["vervet".to_string()];
    words.extend(OPTIONS.lock().iter().cloned());
    let options = parse(words).and_then(|o| o.runtime());
    vervet_runtime::exceptions::traps::chain_to_host();
    vervet_runtime::threads::attach::in_a_host();
    let started = options.and_then(|o| process::bootstrap::start(o, vervet_icalls::all()));
    let rt = match started {
        Ok(rt) => rt,
        Err(text) => {
            eprintln!("{text}");
            return None;
        }
    };
    *rt.root.friendly_name.lock() = name.to_string();
    rt.root.loader.configure(config::adopt);
    config::give_maps();
    let token = Cx::current();
    let cx = crate::support::for_the_call(&token);
    vervet_runtime::loader::set_host(assemblies::hooks());
    profiler::started(cx);
    assemblies::tell_of_core(cx);
    foreign::to_host();
    log::info("the runtime has started");
    Some(rt.root)
}

/// The program's directory and configuration, unless the host has set them.
fn prepare_domain<'cx>(cx: &'cx Cx<'cx>, assembly: &'static Assembly) -> Result<()> {
    let setup = setup(cx);
    let path = assembly.manifest.path.clone().unwrap_or_default();
    let directory = Path::new(&path)
        .parent()
        .map(|p| p.to_string_lossy().into_owned());
    if setup
        .read_ref(offset_of!(AppDomainSetupObject, application_base))
        .is_null()
        && let Some(directory) = directory
    {
        set_base(cx, &directory)?;
    }
    if setup
        .read_ref(offset_of!(AppDomainSetupObject, configuration_file))
        .is_null()
    {
        let text = cx.alloc_str(&format!("{path}.config"))?;
        setup.write_ref(offset_of!(AppDomainSetupObject, configuration_file), text);
    }
    Ok(())
}

/// The domain's AppDomainSetup.
fn setup<'cx>(cx: &'cx Cx<'cx>) -> ObjRef<'cx> {
    let root: Option<Root> = *cx.domain().setup.lock();
    root.map_or(ObjRef::NULL, Root::get)
}
/// Where the domain's assemblies are looked for.
fn set_base<'cx>(cx: &'cx Cx<'cx>, directory: &str) -> Result<()> {
    let path = std::path::absolute(directory).unwrap_or_else(|_| directory.into());
    let text = format!("{}/", path.to_string_lossy().trim_end_matches('/'));
    let object = cx.alloc_str(&text)?;
    setup(cx).write_ref(offset_of!(AppDomainSetupObject, application_base), object);
    cx.loader().configure(|b| b.app_base = Some(path));
    Ok(())
}

/// What `Environment.GetCommandLineArgs` returns.
fn set_command_line(words: Vec<String>) {
    if rt().command_line.get().is_none() {
        rt().command_line.put(words);
    }
}

/// # Safety
/// `argv` has `argc` strings.
unsafe fn words(argc: c_int, argv: *const *const c_char) -> Vec<String> {
    // SAFETY: the caller's promise.
    (0..argc.max(0) as usize)
        .map(|i| unsafe { read(*argv.add(i)) })
        .collect()
}

/// Calls `Main` of an assembly.
fn exec<'cx>(cx: &'cx Cx<'cx>, assembly: &'static Assembly, args: &[String]) -> Result<i32> {
    let rt = cx.rt();
    let path = assembly.manifest.path.clone().unwrap_or_default();
    let entry = match process::main::entry_point(assembly) {
        Ok(Some(entry)) => entry,
        Ok(None) => {
            eprintln!("Assembly doesn't have an entry point.");
            rt.exit_code.store(1, Ordering::Relaxed);
            return Ok(1);
        }
        Err(e) => return Err(cx.throw_load(e)),
    };
    set_command_line(std::iter::once(path).chain(args.iter().cloned()).collect());
    cx.loader().set_entry(assembly);
    prepare_domain(cx, assembly)?;
    let module_class = cx.load(assembly.manifest.type_def(1))?;
    if cx.load(module_class.cctor())?.is_some() {
        cx.run_class_init(module_class)?;
    }
    let array = cx.alloc_ref_array(cx.known(Known::String), args.len(), |i| {
        cx.alloc_str(&args[i])
    })?;
    invoke::main(cx, entry, array)
}

api! {
    /// Starts the runtime; the name is that of the root domain.
    fn mono_jit_init(name: *const c_char) -> Option<&'static Domain> { start(&read(name)) }
    /// As `mono_jit_init`: there is one version of the class library.
    fn mono_jit_init_version(name: *const c_char, version: *const c_char) -> Option<&'static Domain> {
        let _ = version;
        start(&read(name))
    }
    fn mono_jit_init_version_for_test_only(name: *const c_char, version: *const c_char) -> Option<&'static Domain> {
        let _ = version;
        start(&read(name))
    }
    fn mono_init(name: *const c_char) -> Option<&'static Domain> { start(&read(name)) }
    fn mono_init_from_assembly(name: *const c_char, file: *const c_char) -> Option<&'static Domain> {
        let _ = file;
        start(&read(name))
    }
    fn mono_init_version(name: *const c_char, version: *const c_char) -> Option<&'static Domain> {
        let _ = version;
        start(&read(name))
    }
    /// What a command line would give the runtime. As in mono, an option that there is not ends the process.
    fn mono_jit_parse_options(argc: c_int, argv: *const *const c_char) {
        for word in words(argc, argv) {
            let usual = ["--optimize=", "-O=", "--trace", "--stats", "--gc-params=", "--gc-debug=", "--verbose", "-v"];
            let ignored = ["--debugger-agent=", "--soft-breakpoints", "--breakonex", "--break", "--llvm", "--nollvm"];
            if ignored.iter().any(|o| word.starts_with(o)) {
                continue;
            }
            if !usual.iter().any(|o| word.starts_with(o)) {
                eprintln!("Unsupported command line option: '{word}'");
                libc::exit(1);
            }
            let word = match word.strip_prefix("--gc-params=") {
                Some(parameters) => {
                    std::env::set_var("MONO_GC_PARAMS", parameters);
                    continue;
                }
                None => word,
            };
            if word != "-v" && !word.starts_with("--verbose") && !word.starts_with("-O") && !word.starts_with("--optimize") {
                OPTIONS.lock().push(word);
            }
        }
    }
    fn mono_jit_set_trace_options(options: *const c_char) -> Bool {
        OPTIONS.lock().push(format!("--trace={}", read(options)));
        1
    }
    fn mono_get_runtime_build_info() -> *mut c_char { new_text(BUILD) }
    fn mono_check_corlib_version() -> *const c_char { std::ptr::null() }
    fn mono_debug_init(format: c_int) {
        if format != 0 {
            OPTIONS.lock().push("--debug".into());
        }
    }
    fn mono_debug_enabled() -> Bool { Bool::from(rt_opt().is_some_and(|rt| rt.options.debug)) }
    fn mono_debug_cleanup() {}
    fn mono_debug_close_image(_image: *const c_void) {}
    fn mono_debug_domain_unload(_domain: *const Domain) {}
    fn mono_debug_domain_create(_domain: *const Domain) {}
    fn mono_runtime_set_shutting_down() { ENDING.store(true, Ordering::Release); }
    fn mono_runtime_is_shutting_down() -> Bool { Bool::from(ENDING.load(Ordering::Acquire)) }
    fn mono_environment_exitcode_get() -> i32 { rt_opt().map_or(0, |rt| rt.exit_code.load(Ordering::Relaxed)) }
    fn mono_environment_exitcode_set(value: i32) {
        if let Some(rt) = rt_opt() {
            rt.exit_code.store(value, Ordering::Relaxed);
        }
    }
    fn mono_runtime_set_main_args(argc: c_int, argv: *const *const c_char) -> c_int {
        if rt_opt().is_none() {
            fail("mono_runtime_set_main_args: the runtime has not been started");
        }
        set_command_line(words(argc, argv));
        0
    }
    /// What `mono_runtime_quit` calls.
    fn mono_install_runtime_cleanup(function: Option<Cleanup>) { *CLEANUP.lock() = function; }
    fn mono_set_use_llvm(_llvm: Bool) {}
    fn mono_jit_set_aot_only(_only: Bool) {}
    fn mono_jit_set_aot_mode(_mode: c_int) {}
    fn mono_jit_aot_compiling() -> Bool { 0 }
    /// Code that mono compiled ahead is not used: the assembly's IL is.
    fn mono_aot_register_module(_info: *const *const c_void) {}
    fn mono_set_break_policy(_policy: *const c_void) {}
    /// Handlers from before the start are always chained to.
    fn mono_set_signal_chaining(_chain: Bool) {}
    fn mono_set_crash_chaining(_chain: Bool) {}
    fn mono_set_is_debugger_attached(_attached: Bool) {}
    fn mono_is_debugger_attached() -> Bool { 0 }
    fn mono_runtime_resource_limit(_resource: c_int, _soft: usize, _hard: usize) -> c_int { 1 }
    fn mono_runtime_resource_set_callback(_callback: *const c_void) {}
    fn mono_runtime_resource_check_limit(_resource: c_int, _value: usize) {}
    fn mono_runtime_init(_domain: *const c_void, _start: *const c_void, _attach: *const c_void) {}
    fn mono_set_allocator_vtable(_table: *const c_void) -> Bool { 0 }
}

object_api! {
    /// Runs an assembly's `Main` with the words behind the first.
    fn mono_jit_exec(cx; domain: DomainP, assembly: AssemblyP, argc: c_int, argv: *const *const c_char) -> c_int {
        let Some(assembly) = assembly else { return 1 };
        if let Some(domain) = domain {
            crate::domains::go(cx, domain);
        }
        let mut args = words(argc, argv);
        if !args.is_empty() {
            args.remove(0);
        }
        match exec(cx, assembly, &args) {
            Ok(code) => code,
            Err(throw) => {
                let exception = cx.take_pending(throw);
                crate::exceptions::unhandled(cx, exception)
            }
        }
    }
    fn mono_runtime_run_main(cx; method: MethodP, argc: c_int, argv: *const *const c_char, exc: *mut Object) -> c_int {
        let Some(method) = method else { return 1 };
        let mut args = words(argc, argv);
        set_command_line(args.clone());
        if !args.is_empty() {
            args.remove(0);
        }
        let run = || {
            if let Some(assembly) = method.module().assembly() {
                prepare_domain(cx, assembly)?;
            }
            let array = cx.alloc_ref_array(cx.known(Known::String), args.len(), |i| cx.alloc_str(&args[i]))?;
            invoke::main(cx, method, array)
        };
        match run() {
            Ok(code) => {
                set(exc, std::ptr::null_mut());
                code
            }
            Err(throw) => {
                crate::exceptions::give(cx, throw, exc);
                -1
            }
        }
    }
    fn mono_runtime_exec_main(cx; method: MethodP, args: Object, exc: *mut Object) -> c_int {
        let Some(method) = method else { return 1 };
        match invoke::main(cx, method, crate::support::object(args)) {
            Ok(code) => {
                set(exc, std::ptr::null_mut());
                code
            }
            Err(throw) => {
                crate::exceptions::give(cx, throw, exc);
                -1
            }
        }
    }
    fn mono_runtime_get_main_args(cx;) -> Object {
        let words = cx.rt().command_line.get().cloned().unwrap_or_default();
        crate::support::or_null(cx, cx.alloc_ref_array(cx.known(Known::String), words.len(), |i| cx.alloc_str(&words[i])))
    }
    fn mono_runtime_exec_managed_code(cx; domain: DomainP, main: Option<unsafe extern "C" fn(*mut c_void)>, arg: *mut c_void) {
        if let Some(domain) = domain {
            crate::domains::go(cx, domain);
        }
        if let Some(main) = main {
            crate::support::outside(|| main(arg));
        }
        vervet_runtime::threads::lifetime::wait_for_foreground(cx);
    }
    /// The base directory and the configuration file of a domain.
    fn mono_domain_set_config(cx; domain: DomainP, base: *const c_char, file: *const c_char) {
        crate::support::in_domain(cx, domain, || {
            let setup = setup(cx);
            let done = set_base(cx, &read(base)).and_then(|()| {
                let text = cx.alloc_str(&read(file))?;
                setup.write_ref(offset_of!(AppDomainSetupObject, configuration_file), text);
                Ok(())
            });
            if let Err(throw) = done {
                let _ = cx.take_pending(throw);
            }
        });
    }
    /// Waits for the threads of the foreground.
    fn mono_thread_manage(cx;) { vervet_runtime::threads::lifetime::wait_for_foreground(cx); }
    /// Ends the run: foreground threads end, ProcessExit is raised, background threads are aborted, finalizers run.
    fn mono_runtime_cleanup(cx; _domain: *const Domain) { clean_up(cx); }
    fn mono_jit_cleanup(cx; _domain: *const Domain) { clean_up(cx); }
    /// The host's function for the end of a run takes the place of ours.
    fn mono_runtime_quit(cx;) {
        let cleanup = *CLEANUP.lock();
        match cleanup {
            Some(cleanup) => {
                let root: *const Domain = cx.rt().root;
                crate::support::outside(|| cleanup(root, std::ptr::null_mut()));
            }
            None => clean_up(cx),
        }
    }
}

fn clean_up(cx: &'static Cx<'static>) {
    if !ENDING.swap(true, Ordering::AcqRel) {
        profiler::ending(cx);
        process::exit::end_run(cx);
    }
}
