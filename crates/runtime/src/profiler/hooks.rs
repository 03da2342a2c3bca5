//! One function for each event.
//!
//! Each first tests whether its set of events is recorded, and is otherwise in a function that is not inlined.
//!
//! # Invariants
//! A hook takes no lock, allocates nothing and does not poll, but for those that say that they wait.
use super::recording::{self, ANY, is_on, max_frames, wait_for_room};
use super::trace::Trace;
use crate::code::table::Code;
use crate::threads::current::current_context;
use vervet_abi::{ThreadContext, VTable};
use vervet_heap::Phase;
use vervet_profiler::options::sets;
use vervet_profiler::record::{Kind, text_words};
use vervet_types::{Assembly, MethodRef};

/// The file's name of the thread with this context: an OS thread's, or a green thread's.
pub fn thread_id(context: *mut ThreadContext) -> u64 {
    context as u64
}
/// The calling thread; one that is not attached is named as the system names it.
fn calling_thread() -> u64 {
    let context = current_context();
    match context.is_null() {
        // SAFETY: a query.
        true => unsafe { libc::pthread_self() as u64 },
        false => thread_id(context),
    }
}

/// Pushes a record of the calling thread's.
#[cold]
#[inline(never)]
fn push(kind: Kind, extra: u32, payload: &[u64], more: &[u64]) {
    recording::push(kind, extra, calling_thread(), [payload, more]);
}
/// Pushes a record with the frames of the calling thread.
#[cold]
#[inline(never)]
fn push_traced(kind: Kind, extra: u32, payload: &[u64]) {
    let context = current_context();
    let most = max_frames();
    if context.is_null() || most == 0 {
        return push(kind, extra, payload, &[]);
    }
    // SAFETY: hooks with frames are called in Runtime state, or on the way there from an exit record.
    let trace = unsafe { Trace::here(context, most) };
    recording::push(kind, extra, thread_id(context), [payload, trace.words()]);
}

/// The calling thread was attached.
pub(crate) fn thread_started() {
    if is_on(ANY) {
        push(Kind::ThreadStart, 0, &[], &[]);
    }
}
/// The thread with this context ends.
pub(crate) fn thread_ended(context: *mut ThreadContext) {
    if is_on(ANY) {
        recording::push(Kind::ThreadEnd, 0, thread_id(context), [&[], &[]]);
    }
}
/// The thread with this context has a name.
pub(crate) fn thread_named(context: *mut ThreadContext, units: &[u16]) {
    if is_on(ANY) {
        let text = text_words(&String::from_utf16_lossy(units));
        recording::push(Kind::ThreadName, 0, thread_id(context), [&text, &[]]);
    }
}
/// Are the names of threads recorded?
pub(crate) fn wants_threads() -> bool {
    is_on(ANY)
}
/// The root domain has a name.
pub(crate) fn domain_named(name: &str) {
    if is_on(ANY) {
        push(Kind::DomainName, 0, &[0], &text_words(name));
    }
}
/// An assembly was loaded or defined.
pub(crate) fn assembly_loaded(assembly: &'static Assembly) {
    if is_on(ANY) {
        push(
            Kind::Assembly,
            0,
            &[std::ptr::from_ref(assembly) as u64],
            &[],
        );
    }
}
/// A VTable was published.
pub(crate) fn vtable_made(vtable: &'static VTable) {
    if is_on(ANY) {
        push(Kind::VTable, 0, &[std::ptr::from_ref(vtable) as u64], &[]);
    }
}
/// Code was linked.
pub(crate) fn code_linked(code: &'static Code) {
    if is_on(ANY) {
        push(Kind::Code, 0, &[std::ptr::from_ref(code) as u64], &[]);
    }
}

/// An exception is thrown, from the innermost exit record.
#[inline]
pub(crate) fn thrown(exception: usize) {
    if is_on(sets::EXCEPTION) {
        wait_for_room();
        push_traced(Kind::Throw, 0, &[exception as u64]);
    }
}
/// What a clause does.
#[derive(Clone, Copy)]
pub(crate) enum Clause {
    /// It catches.
    Catch = 0,
    /// It is asked whether it catches.
    Filter = 1,
    /// It runs in any case.
    Finally = 2,
    /// It runs because of the exception.
    Fault = 4,
}
/// A clause of a method runs.
#[inline]
pub(crate) fn clause(clause: Clause, index: u32, method: Option<MethodRef>, exception: usize) {
    if is_on(sets::EXCEPTION)
        && let Some(method) = method
    {
        let method = std::ptr::from_ref(method) as u64;
        push(
            Kind::Clause,
            0,
            &[clause as u64, index.into(), method, exception as u64],
            &[],
        );
    }
}

/// What happens at a monitor.
#[derive(Clone, Copy)]
pub(crate) enum Lock {
    /// The calling thread has to wait for it.
    Contention = 1,
    /// It has entered it.
    Done = 2,
    /// It has not, in the time that it was given.
    Fail = 3,
}
/// Something happens at the monitor of the object at this address.
#[inline]
pub(crate) fn monitor(what: Lock, object: usize) {
    if is_on(sets::MONITOR) {
        push_traced(Kind::Monitor, what as u32, &[object as u64]);
    }
}

/// A handle was made.
#[inline]
pub(crate) fn handle_made(kind: u32, handle: u32, object: usize) {
    if is_on(sets::GC_HANDLE) {
        push_traced(
            Kind::HandleMade,
            0,
            &[kind.into(), handle.into(), object as u64],
        );
    }
}
/// A handle was freed.
#[inline]
pub(crate) fn handle_freed(kind: u32, handle: u32) {
    if is_on(sets::GC_HANDLE) {
        push_traced(Kind::HandleFreed, 0, &[kind.into(), handle.into()]);
    }
}

/// Finalizers begin to run (`Kind::FinalizersBegin`), or have run (`FinalizersEnd`).
pub(crate) fn finalizers(kind: Kind) {
    if is_on(sets::FINALIZATION) {
        push(kind, 0, &[], &[]);
    }
}
/// The finalizer of an object begins, or has ended.
pub(crate) fn finalizer(kind: Kind, object: usize) {
    if is_on(sets::FINALIZATION) {
        wait_for_room();
        push(kind, 0, &[object as u64], &[]);
    }
}

/// A phase of a collection, on the thread that collects.
pub(crate) fn gc_phase(phase: Phase, major: bool) {
    if !is_on(sets::GC | sets::GC_MOVE | sets::GC_ROOT) {
        return;
    }
    let write = |phase: u32| {
        if is_on(sets::GC) {
            push(Kind::GcPhase, phase | u32::from(major) << 8, &[], &[]);
        }
    };
    match phase {
        Phase::BeforeStop => {
            write(6);
            write(10);
        }
        Phase::Stopped => {
            write(7);
            push(Kind::Sync, 1, &[], &[]);
        }
        Phase::Begins => write(0),
        Phase::Ends(bytes) => {
            write(5);
            if is_on(sets::GC) {
                push(Kind::GcResize, 0, &[bytes as u64], &[]);
            }
        }
        Phase::BeforeStart => {
            write(8);
            push(Kind::Sync, 2, &[], &[]);
        }
        Phase::Started => {
            write(9);
            write(11);
        }
    }
}

/// An object was made. Waits for room: the calling thread is in Runtime state, and keeps the object in place.
#[inline]
pub(crate) fn allocated(vtable: &'static VTable, object: usize, bytes: usize) {
    if is_on(sets::GC_ALLOC) {
        wait_for_room();
        let vtable = std::ptr::from_ref(vtable) as u64;
        push_traced(Kind::Alloc, 0, &[vtable, object as u64, bytes as u64]);
    }
}
