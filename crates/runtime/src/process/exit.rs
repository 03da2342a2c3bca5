//! The ordinary ends of a run: `Main` returned, or `Environment.Exit` was called.
//!
//! # Order
//! | | `Main` returned | `Environment.Exit` |
//! |---|---|---|
//! | 1 | foreground threads are waited for | |
//! | 2 | ProcessExit is raised, once | the same |
//! | 3 | background threads are aborted | |
//! | 4 | finalizers run | the same |
//! | 5 | a recording gets its last heapshot, if it is to have one | the same |
//! | 6 | compiled code is kept for the next process | the same |
//! | 7 | `--stats`; the exit code is Environment.ExitCode | `--stats`; the exit code is the argument |
//!
//! # Invariants
//! One thread ends the process; another that tries to stays in [`process_exit_event`] for ever, and the one that ends the process does not
//! wait for it. From step 4 on an exception that nobody
//! caught does not end the process either ([`unhandled::begin_last_steps`]).
use crate::cx::{Cx, Value};
use crate::domain;
use crate::exceptions::protected::Region;
use crate::exceptions::unhandled;
use crate::interop::delegates::invoke_method;
use crate::memory::{finalizer, gc};
use crate::object::ObjRef;
use crate::process::fatal::exit_process;
use crate::process::stats;
use crate::profiler::{heapshot, sampling};
use crate::runtime::rt;
use crate::threads::{lifetime, park, shutdown};
use std::mem::offset_of;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use vervet_abi::layouts::AppDomainObject;

/// Owner id of the thread that ends the process in the ordinary way and raises ProcessExit; 0: none yet.
static EXITING: AtomicU32 = AtomicU32::new(0);

static SHUTDOWN: AtomicBool = AtomicBool::new(false);

/// Environment.HasShutdownStarted: the handlers of ProcessExit have run.
pub fn has_shutdown_started() -> bool {
    SHUTDOWN.load(Ordering::Acquire)
}

/// The last steps: finalizers run, compiled code is kept.
fn last_steps(cx: &Cx<'_>) {
    unhandled::begin_last_steps(cx);
    finalizer::finish(cx);
    if heapshot::ends_with_one() {
        gc::collect(cx, 1, true);
    }
    cx.native(crate::code::cache::at_exit);
    if let Some(file) = &rt().options.write_profile
        && let Err(e) = cx.native(|| crate::code::aot::profile::write(file))
    {
        eprintln!("vervet: {}: {e}", file.display());
    }
}

/// The end of a run whose Main returned: the threads of the foreground end, then ProcessExit is raised; all of them may
/// change the exit code.
pub(super) fn finish<'cx>(cx: &'cx Cx<'cx>, code: i32) -> i32 {
    rt().exit_code.store(code, Ordering::Relaxed);
    lifetime::wait_for_foreground(cx);
    process_exit_event();
    shutdown::abort_background(cx);
    last_steps(cx);
    sampling::debug::report();
    stats::report();
    rt().exit_code.load(Ordering::Relaxed)
}

/// The end of a run in a host, whose process goes on: as [`finish`], and the exit code stays as it is.
pub fn end_run<'cx>(cx: &'cx Cx<'cx>) {
    let code = rt().exit_code.load(Ordering::Relaxed);
    finish(cx, code);
}

/// Raises ProcessExit, once; what a handler throws ends the event and nothing else. If another thread is ending the
/// process this one stays here.
fn process_exit_event() {
    let cx = &Cx::current();
    let me = park::id(cx);
    match EXITING.compare_exchange(0, me, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => {}
        Err(who) if who == me => return,
        Err(_) => {
            finalizer::leave_for_good(cx);
            loop {
                park::reason::set(cx, park::Reason::Foreground, None);
                park::park(cx, || {}, None);
            }
        }
    }
    let _region = Region::begin(cx);
    // In each domain, the root domain first.
    for domain in domain::all().filter(|d| d.state() == domain::State::Active) {
        let raised = cx.within(domain, |cx| {
            let object = domain.app_domain.lock().map_or(ObjRef::NULL, |r| r.get());
            let Some(object) = object.non_null() else {
                return Ok(());
            };
            let handler = object.read_ref(offset_of!(AppDomainObject, process_exit));
            if handler.is_null() {
                return Ok(());
            }
            let invoke = invoke_method(cx, handler.class())?;
            let args = [Value::Ref(object), Value::Ref(ObjRef::NULL)];
            cx.invoke(invoke, Some(Value::Ref(handler)), &args)
                .map(drop)
        });
        if let Err(t) = raised {
            let e = cx.take_pending(t);
            tracing::warn!("a handler of ProcessExit threw {}", e.class().full_name());
        }
    }
    SHUTDOWN.store(true, Ordering::Release);
}

/// Environment.Exit: ProcessExit fires on this thread, then the process ends with this code, whatever the handlers
/// make of Environment.ExitCode.
pub fn exit(cx: &Cx<'_>, code: i32) -> ! {
    rt().exit_code.store(code, Ordering::Relaxed);
    process_exit_event();
    last_steps(cx);
    sampling::debug::report();
    stats::report();
    exit_process(code)
}
