//! An exception that nobody caught: its text, the event of the application domain, and the end of the process.
//!
//! ```text
//!   thread                                           what an exception that leaves it does
//!   ----------------------------------------------   ------------------------------------------------------------------
//!   main thread, Thread.Start, thread of a library   AppDomain.UnhandledException; the text, if no handler; exit code 1
//!   the same, ThreadAbortException                   main thread: exit code Environment.ExitCode; others: they end
//! ```
//! With `<legacyUnhandledExceptionPolicy enabled="1"/>` in the program's configuration it ends threads that the program started, work of the pool and
//! finalizers only, and nothing is said of it ([`of_thread`]).
//!
//! The order is mono's: handlers, "Unhandled Exception:" with the trace, "[ERROR] FATAL UNHANDLED EXCEPTION" with the trace, the exit.
//!
//! # Invariants
//! * The handlers of AppDomain.UnhandledException run before anything is printed, and no abort disturbs them.
//! * The process ends; nothing returns to where the exception was thrown.
use crate::code::cache;
use crate::cx::{Cx, Result, Value};
use crate::exceptions::protected::Region;
use crate::exceptions::{symbols, trace, wrapped};
use crate::interop::delegates::invoke_method;
use crate::memory::gc;
use crate::memory::roots::Root;
use crate::object::ObjRef;
use crate::process::fatal::{exit_process, write_stderr, write_stdout};
use crate::process::stats;
use crate::profiler::heapshot;
use crate::threads::park;
use std::mem::offset_of;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use vervet_abi::layouts::AppDomainObject;
use vervet_types::Known;

/// Owner id of the thread that ends the process, once finalizers run for the last time; 0: not yet.
static LAST: AtomicU32 = AtomicU32::new(0);

/// The calling thread ends the process: from now on no other thread's exception does.
pub(crate) fn begin_last_steps(cx: &Cx<'_>) {
    LAST.store(park::id(cx), Ordering::Release);
}

/// Keeps a thread whose exception nobody caught, if another one is at its last steps: finalizers take away what other threads use, and what these
/// throw then is no end of the program. (Mono has suspended them by then.)
fn keep_out(cx: &Cx<'_>) {
    let last = LAST.load(Ordering::Acquire);
    if last == 0 || last == park::id(cx) {
        return;
    }
    loop {
        park::reason::set(cx, park::Reason::Foreground, None);
        park::park(cx, || {}, None);
    }
}

/// The text of the pending exception, for errors before Main.
pub(crate) fn pending_text() -> String {
    // A token of its own: the caller's lives for less than what it names.
    let cx = &Cx::current();
    // SAFETY: the context belongs to this thread; the word is 0 or a live object.
    let exception: ObjRef<'_> =
        unsafe { ObjRef::from_addr(std::mem::take(&mut (*cx.context).pending)) };
    exception_text(cx, exception)
}

/// `ToString()` of an exception up to the first zero, or what can be said of it if that throws or gives null.
pub fn exception_text<'cx>(cx: &'cx Cx<'cx>, exception: ObjRef<'cx>) -> String {
    text_if_any(cx, exception, String::new())
        .unwrap_or_else(|| "Nested exception trying to figure out what went wrong".to_owned())
}

/// As [`exception_text`]; None if `ToString()` gives null. `before`: the trace that the exception keeps if `ToString` throws it again.
fn text_if_any<'cx>(cx: &'cx Cx<'cx>, exception: ObjRef<'cx>, before: String) -> Option<String> {
    if exception.is_null() {
        return Some("no exception".to_owned());
    }
    match cx.rt().to_string_or_null(cx, exception) {
        Ok(text) => text.map(|text| text.split('\0').next().unwrap_or_default().to_owned()),
        Err(throw) => {
            let nested = cx.take_pending(throw);
            let [mut first, mut second] = [exception, nested].map(|e| backtrace(cx, e));
            if nested == exception {
                first = before + &first;
                second.clone_from(&first);
            }
            Some(format!(
                "Nested exception detected.\nOriginal Exception: {first}\nNested exception:{second}\n"
            ))
        }
    }
}

/// The trace of an exception without its text, a line for each frame.
fn backtrace(cx: &Cx<'_>, exception: ObjRef<'_>) -> String {
    let mut text = String::new();
    if exception.is_null() || !wrapped::is_exception(cx, exception) {
        return text;
    }
    for frame in trace::frames_of_exception(cx, exception) {
        let il = frame.il_offset.unwrap_or(0);
        let Some(method) = frame.method else {
            let name = frame.internal_name.unwrap_or_default();
            text += &format!("at {name} <0x{:05x}>\n", frame.native_offset);
            continue;
        };
        let name = method.signed_name().replace(':', ".");
        text += &match symbols::source_line(method, il) {
            Some(at) => format!("at {name} [0x{il:05x}] in {}:{}\n", at.file, at.line),
            None => {
                let mvid = method.module().image.mvid().unwrap_or_default();
                format!("at {name} [0x{il:05x}] in <{}>:0\n", mvid_text(mvid))
            }
        };
    }
    text
}

/// A module's id, as traces show it.
fn mvid_text(id: [u8; 16]) -> String {
    // The first three parts are little-endian numbers.
    [3usize, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15]
        .iter()
        .map(|&at| format!("{:02x}", id[at]))
        .collect()
}

/// An exception nobody caught: the event, the text, the exit code.
pub fn unhandled<'cx>(cx: &'cx Cx<'cx>, exception: ObjRef<'cx>) -> i32 {
    unhandled_with(cx, exception, 1)
}

/// As [`unhandled`], with the exit code of exceptions other than ThreadAbortException: that one ends with
/// Environment.ExitCode, which an aborted Main that returns a code leaves at -1.
pub fn unhandled_with<'cx>(cx: &'cx Cx<'cx>, exception: ObjRef<'cx>, code: i32) -> i32 {
    keep_out(cx);
    end_with(cx, exception, code)
}

/// Is what leaves a thread, or a finalizer, the end of that only?
static IS_LEGACY: AtomicBool = AtomicBool::new(false);

/// The program's configuration wants the policy of .NET Framework 1.1. Called before the program runs.
pub(crate) fn use_legacy_policy() {
    IS_LEGACY.store(true, Ordering::Relaxed);
}

/// As [`unhandled_with`], for what left a thread that the program started, or work of the pool.
pub fn of_thread<'cx>(cx: &'cx Cx<'cx>, exception: ObjRef<'cx>, code: i32) {
    if !IS_LEGACY.load(Ordering::Relaxed) {
        unhandled_with(cx, exception, code);
    }
}

/// The same for what left a finalizer: the process ends also while another thread is at its last steps.
pub(crate) fn of_finalizer<'cx>(cx: &'cx Cx<'cx>, exception: ObjRef<'cx>) {
    if !IS_LEGACY.load(Ordering::Relaxed) {
        end_with(cx, exception, 255);
    }
}

/// As [`unhandled_with`], also while another thread is at its last steps: for the finalizer thread, on which these wait.
fn end_with<'cx>(cx: &'cx Cx<'cx>, exception: ObjRef<'cx>, code: i32) -> i32 {
    let _region = Region::begin(cx);
    let rt = cx.rt();
    let is_abort = exception.class().name == "ThreadAbortException";
    let mut handled = false;
    if !is_abort {
        // The root domain's handlers hear of all exceptions, those of the thread's domain of its own.
        let own = cx.domain();
        let asked = [Some(rt.root), (!own.is_root()).then_some(own)];
        for domain in asked.into_iter().flatten() {
            let Some(object) = domain.app_domain.lock().map(Root::get) else {
                continue;
            };
            let handler: ObjRef<'_> =
                object.read_ref(offset_of!(AppDomainObject, unhandled_exception));
            if !handler.is_null() {
                handled = true;
                let raised =
                    cx.within(domain, |cx| raise_unhandled(cx, object, handler, exception));
                if let Err(t) = raised {
                    let class = cx.take_pending(t).class().def();
                    let module = class.module;
                    let file = module.path.as_deref().unwrap_or(module.name);
                    // As mono writes an error that has no text of its own.
                    write_stdout(&format!(
                        "exception inside UnhandledException handler: (null) assembly:{file} type:{} member:(null)\n\n",
                        class.name
                    ));
                }
            }
        }
    }
    if !handled && !is_abort {
        // Nobody has caught the exception yet.
        let trace = backtrace(cx, exception);
        let text = text_if_any(cx, exception, trace).unwrap_or_default();
        write_stderr(&format!("\nUnhandled Exception:\n{text}\n"));
    }
    // `ToString` is called once more, as in mono.
    let text = exception_text(cx, exception);
    write_stderr(&format!("[ERROR] FATAL UNHANDLED EXCEPTION: {text}\n"));
    if heapshot::ends_with_one() {
        gc::collect(cx, 1, true);
    }
    // The next run, which may well end the same way, finds what this one compiled.
    cx.native(cache::at_exit);
    stats::report();
    if is_abort {
        exit_process(rt.exit_code.load(Ordering::Relaxed))
    } else {
        exit_process(code)
    }
}

/// Raises AppDomain.UnhandledException with the exception and `isTerminating` true.
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
    let invoke = invoke_method(cx, handler.class())?;
    cx.invoke(
        invoke,
        Some(Value::Ref(handler)),
        &[Value::Ref(domain), Value::Ref(args)],
    )?;
    Ok(())
}
