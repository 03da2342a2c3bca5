//! Running a program: from its path to its exit code.
//!
//! # Exit codes before `Main`
//! | cause | code |
//! |---|---|
//! | the file does not exist, or is no valid assembly | 2 |
//! | the assembly has no entry point | 1 |
//! | an exception leaves `Main`, or comes before it | that of an unhandled exception |
//!
//! # Invariants
//! * The texts of these errors are mono's: scripts read them.
//! * The module's initializer runs before anything else of the assembly, and no class constructor of the class library runs before
//!   `Main` asks for it.
use super::exit::finish;
use crate::cx::{Cx, Result, Value};
use crate::exceptions::unhandled::{unhandled, use_legacy_policy};
use crate::object::ObjRef;
use crate::process::dump;
use crate::runtime::rt;
use crate::threads::green::note_stacks_of_pins;
use crate::threads::green::settings::{GreenOptions, Setting};
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use vervet_abi::layouts::{AppDomainSetupObject, InternalThreadObject};
use vervet_binder::app_config::{AppConfig, GreenThreads};
use vervet_metadata::Table;
use vervet_types::{Assembly, Known, MethodRef};

/// Runs a program: `path` as the user gave it, and its arguments. Returns the exit code.
pub fn run_main(path: &Path, args: &[String]) -> i32 {
    let cx = Cx::current();
    let code = run_program(&cx, path, args);
    finish(&cx, code)
}

/// The exit code of the program, once `Main` has returned; or of the error that kept it from running.
fn run_program<'cx>(cx: &'cx Cx<'cx>, path: &Path, args: &[String]) -> i32 {
    let rt = cx.rt();
    let assembly = match rt.root.loader.open(path) {
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
            let other = rt().root.loader.open_module(module, name)?;
            match other.image.entry_point() {
                Some(t) => other.method_def(t.rid()).map(Some),
                None => Ok(None),
            }
        }
        _ => Ok(None),
    }
}

/// Chooses what the configuration file says about green threads. `Err` is a sentence for the user.
fn add_settings(
    green: &mut GreenOptions,
    element: &GreenThreads,
    file: &str,
) -> std::result::Result<(), String> {
    for (setting, name, value) in [
        (Setting::Mode, "mode", &element.mode),
        (Setting::Carriers, "carriers", &element.carriers),
        (Setting::Stack, "stack", &element.stack),
    ] {
        if let Some(value) = value {
            green.choose(&format!("{file}: GreenThreads {name}"), setting, value)?;
        }
    }
    Ok(())
}

/// Prepares what a program sees of itself (command line, base directory, configuration, apartment), runs the module's initializer
/// and calls `Main`.
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
    crate::profiler::call_spec::program_is(assembly.manifest);
    rt.root.loader.set_entry(assembly);
    *rt.root.friendly_name.lock() = path
        .file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default();
    crate::profiler::hooks::domain_named(0, &rt.root.friendly_name.lock());
    let setup = rt.root.setup.lock().expect("made at start-up").get();
    let base: PathBuf = full.parent().map(Path::to_path_buf).unwrap_or_default();
    let config = format!("{}.config", location(assembly, path));
    let read = AppConfig::read(Path::new(&config)).ok();
    rt.root.loader.configure(|b| {
        b.app_base = Some(base.clone());
        if let Some(c) = &read {
            b.configure(c);
        }
    });
    if (read.as_ref()).is_some_and(|c| c.legacy_unhandled_exceptions) {
        use_legacy_policy();
    }
    let mut green = rt.options.green;
    if let Some(element) = read.and_then(|c| c.green_threads)
        && let Err(text) = add_settings(&mut green, &element, &config)
    {
        eprintln!("{text}");
        return Ok(1);
    }
    green.settle();
    if rt.options.stats {
        note_stacks_of_pins();
    }
    if green.report_deadlocks {
        dump::watch();
    }
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
    // `Main` may be declared with or without arguments, and may return a code or nothing.
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

/// Has the method an attribute whose class has this name? The attribute is not constructed.
fn has_attribute(method: MethodRef, name: &str) -> bool {
    let image = &method.module().image;
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
