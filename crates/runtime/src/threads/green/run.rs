//! From the start of a green thread to its end.
//!
//! # Invariants
//! * What a green thread calls is in two words of its context, which are roots, until it begins.
//! * A green thread is a managed thread with the properties of a pool's worker: a background thread whose Thread object goes to the next green
//!   thread that uses the same record.
use super::large_localloc;
use super::record::{self, Work};
use super::wait::end;
use crate::arch::FloatModes;
use crate::code::invoke;
use crate::cx::{Cx, Result, Throw};
use crate::domain;
use crate::exceptions::unhandled;
use crate::object::ObjRef;
use crate::safepoint::registry::Thread;
use crate::threads::managed_stack;
use crate::threads::start::{FirstCall, Seed};
use crate::threads::{self, adopt, attach, current_context, current_internal, name, start, state};
use std::mem::offset_of;
use std::sync::atomic::Ordering;
use vervet_abi::ThreadContext;
use vervet_abi::context::interrupts::{ABORT, END_CALL, SUSPEND};
use vervet_abi::layouts::InternalThreadObject as Internal;
use vervet_os::Published;
use vervet_types::{ClassRef, Known, LoadError, MethodRef};

/// ThreadPriority.Normal.
const NORMAL: i32 = 2;

/// Starts a green thread that calls `target.Run(argument)`.
///
/// # Errors
/// OutOfMemoryException: there is no memory for another thread.
pub fn spawn<'cx>(cx: &'cx Cx<'cx>, target: ObjRef<'cx>, argument: ObjRef<'cx>) -> Result<()> {
    let target = cx.non_null(target)?;
    let Ok(green) = record::take() else {
        return Err(cx.throw(
            Known::OutOfMemoryException,
            "There is no memory for another green thread.",
        ));
    };
    // SAFETY: the record was free, and is the caller's until the scheduler knows its id. The words are roots from now on.
    unsafe {
        domain::crossing::will_begin(target);
        (*green.context).start_target = target.addr();
        (*green.context).start_argument = argument.addr();
        Thread::of(cx.context()).own.changed.add(green.context);
    }
    super::wait::spawn(green.id());
    Ok(())
}

/// Starts a green thread that runs `work`, in Runtime state, and becomes a managed thread by itself. False: there is no memory for it.
pub(in crate::threads) fn spawn_work(work: impl FnOnce() + Send + 'static) -> bool {
    let Ok(green) = record::take() else {
        return false;
    };
    green.work.set(Some(Box::new(Work::Call(Box::new(work)))));
    super::wait::spawn(green.id());
    true
}

/// Starts a green thread for one that the program starts, and that asked for so many bytes of stack, or 0. False: there is no memory for it.
pub(in crate::threads) fn spawn_thread(seed: Seed, stack: usize) -> bool {
    let Ok(green) = record::take() else {
        return false;
    };
    green
        .work
        .set(Some(Box::new(Work::Thread(seed.handles(), stack))));
    // An OS thread, too, computes as the thread that starts it.
    green.modes.set(FloatModes::current());
    super::wait::spawn(green.id());
    true
}

/// The first frame of a green thread, on its native stack.
pub(super) extern "C" fn main() -> ! {
    let context = current_context();
    // SAFETY: the context is the calling thread's.
    let green = unsafe { record::of_context(context) }.expect("a green thread");
    let work = green.work.take().map(|work| *work);
    green.is_own.set(matches!(work, Some(Work::Thread(..))));
    if work.is_some() {
        // A thread of the program's own begins without the statics, and the Thread object, of the thread that had the record before.
        let cx = Cx::current();
        let before = current_internal(&cx);
        if !before.is_null() {
            adopt::forget(before);
        }
        // SAFETY: the calling thread's context, in Runtime state, with no managed code on its stack.
        unsafe { attach::end_managed(context) };
    }
    let seed = match work {
        Some(Work::Call(work)) => {
            work();
            // SAFETY: the calling thread's context, in Runtime state; what it called has returned.
            unsafe {
                attach::end_managed(context);
                end(context)
            }
        }
        Some(Work::Thread(handles, stack)) => {
            managed_stack::allow(context, stack);
            // SAFETY: the calling thread's context, in Runtime state, with no managed code on its stack.
            unsafe { large_localloc::fit(context, stack) };
            Some(Seed::of(handles))
        }
        None => None,
    };
    let throw = begin(&Cx::current(), seed);
    has_ended(context, Err(throw))
}

/// Makes the first call of the calling thread, which does not return here. Otherwise there is an exception.
fn begin<'cx>(cx: &'cx Cx<'cx>, seed: Option<Seed>) -> Throw {
    let call = match seed {
        Some(seed) => FirstCall::of(cx, &seed, || ()),
        None => first_call_of_task(cx),
    };
    match call {
        // SAFETY: the calling thread is a green one without managed code on its stack. This frame and its caller hold nothing that must be dropped.
        Ok(call) => unsafe { invoke::first_call(cx, call.method, call.this, call.argument) },
        Err(throw) => throw,
    }
}

fn first_call_of_task<'cx>(cx: &'cx Cx<'cx>) -> Result<FirstCall<'cx>> {
    // SAFETY: a token's context is the calling thread's. The words are objects, which are kept by the references from now on.
    let (target, argument): (ObjRef<'cx>, ObjRef<'cx>) = unsafe {
        let context = cx.context();
        let target = std::mem::take(&mut (*context).start_target);
        let argument = std::mem::take(&mut (*context).start_argument);
        (ObjRef::from_addr(target), ObjRef::from_addr(argument))
    };
    domain::crossing::begin_in(cx, domain::by_id(target.vtable().domain))?;
    become_managed(cx)?;
    Ok(FirstCall {
        method: run_method(cx, target.class())?,
        this: target,
        argument: Some(argument),
    })
}

/// The method of a class that green threads call. One class asks for it nearly always.
fn run_method(cx: &Cx<'_>, class: ClassRef) -> Result<MethodRef> {
    static LAST: Published<(ClassRef, MethodRef)> = Published::new();
    match LAST.get() {
        Some((of, method)) if std::ptr::eq(*of, class) => return Ok(*method),
        _ => {}
    }
    match cx.load(class.find_method("Run", Some(1)))? {
        Some(method) => {
            if LAST.get().is_none() {
                LAST.put((class, method));
            }
            Ok(method)
        }
        None => Err(cx.throw_load(LoadError::missing_method(class, "Run"))),
    }
}

/// From the thunk: the first call is over.
#[unsafe(export_name = "vervet_first_call_returned")]
extern "C" fn first_call_returned(context: *mut ThreadContext, status: u32) -> ! {
    let result = match status {
        0 => Ok(()),
        _ => Err(Throw(())),
    };
    has_ended(context, result)
}

/// What the calling green thread called has returned, or has thrown.
fn has_ended(context: *mut ThreadContext, result: Result<()>) -> ! {
    // SAFETY: the context is the calling thread's.
    let green = unsafe { record::of_context(context) }.expect("a green thread");
    let cx = Cx::current();
    match green.is_own.get() {
        true => end_thread(&cx, result),
        false => end_task(&cx, result),
    }
    // SAFETY: the green thread's own context, in Runtime state; what it called has returned.
    unsafe {
        if green.is_own.get() {
            attach::end_managed(context);
        }
        end(context)
    }
}

fn end_thread<'cx>(cx: &'cx Cx<'cx>, result: Result<()>) {
    start::ended(cx, result);
}

fn end_task<'cx>(cx: &'cx Cx<'cx>, result: Result<()>) {
    if let Err(throw) = result {
        let exception: ObjRef<'_> = cx.take_pending(throw);
        if !start::ends_thread_only(cx, exception) {
            unhandled::of_thread(cx, exception, 1);
        } else if let Err(throw) = threads::abort::reset(cx) {
            let _ = cx.take_pending(throw); // No abort was under way.
        }
    }
    domain::crossing::end(cx);
    reset(cx);
}

/// Makes the objects of the calling thread, unless its record has them.
fn become_managed(cx: &Cx<'_>) -> Result<()> {
    let own = current_internal(cx);
    if !own.is_null() {
        // What was asked of the Thread object while no task ran on it is none of this task's. (The state first: a bit without it is dropped.)
        // Each is looked at first: most tasks are asked for nothing, and a load costs less than an exchange.
        let asked = state::ABORT_REQUESTED | state::SUSPEND_REQUESTED;
        if state::get(own) & asked != 0 {
            state::change(own, 0, asked);
        }
        let interrupted = state::interrupt_byte(own);
        if interrupted.load(Ordering::SeqCst) != 0 {
            interrupted.store(0, Ordering::SeqCst);
        }
        let interrupts = cx.interrupts();
        if interrupts.load(Ordering::SeqCst) & (ABORT | SUSPEND) != 0 {
            interrupts.fetch_and(!(ABORT | END_CALL | SUSPEND), Ordering::SeqCst);
        }
        return Ok(());
    }
    adopt::adopt_for_tasks(cx)
}

/// What the thread changed of itself is put back.
fn reset(cx: &Cx<'_>) {
    let internal = current_internal(cx);
    if internal.is_null() {
        return;
    }
    name::free(internal);
    internal.write(offset_of!(Internal, priority), NORMAL);
    if state::get(internal) & state::BACKGROUND == 0 {
        state::change(internal, state::BACKGROUND, 0);
    }
}
