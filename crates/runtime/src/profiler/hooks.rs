//! One function for each event.
//!
//! # How it works
//! Each hook first tests a bit: whether its set of events is recorded. That is one load of a word that is written when a recording starts and ends, and hooks stand
//! on slow paths only (a throw, a wait for a monitor, a phase of a collection, the linking of code), so a program that is not recorded pays nothing that
//! it could notice. The rest is in functions that are not inlined.
//!
//! What a hook has to say is a record of a few words: addresses, numbers, and the addresses of frames. It is copied into the chunk of the thread that runs the
//! hook. Names are the writer's business (module [`names`](super::names)).
//!
//! Events that are too frequent for a test are made by code that is compiled for them: an allocation calls the runtime, and a method calls a hook when it is
//! entered and left, only in processes that record such events from the start.
//!
//! # Invariants
//! A hook takes no lock, allocates nothing and does not poll, but for those that say that they wait.
use super::recording::{
    self, ALLOCATION_SAMPLES, ANY, CALLS, allocation_period, call_depth, is_on, max_frames,
    wait_for_room,
};
use super::trace::Trace;
use crate::code::table::{Code, CodeKind};
use crate::cx::Cx;
use crate::safepoint::registry::Thread;
use crate::threads::current::current_context;
use std::sync::atomic::{AtomicU64, Ordering};
use vervet_abi::{ThreadContext, VTable};
use vervet_heap::Phase;
use vervet_profiler::options::sets;
use vervet_profiler::record::{Kind, text_in, text_words};
use vervet_profiler::sample;
use vervet_types::{Assembly, MethodRef};

/// The file's name of the thread with this context: an OS thread's, or a green thread's.
///
/// # Safety
/// The context is that of an attached thread, or of one that ends, or of a green thread.
pub(crate) unsafe fn thread_id(context: *mut ThreadContext) -> u64 {
    // SAFETY: the caller's promise. Contexts and threads are never freed.
    unsafe {
        match (*context).green {
            0 => sample::thread_id(Thread::of(context).tid.load(Ordering::Relaxed) as u64, 0),
            _ => sample::thread_id(0, (*context).owner_id),
        }
    }
}
/// The calling thread.
pub(crate) fn calling_thread() -> u64 {
    let context = current_context();
    match context.is_null() {
        // SAFETY: a query.
        true => sample::thread_id(unsafe { libc::syscall(libc::SYS_gettid) } as u64, 0),
        // SAFETY: the context is the calling thread's.
        false => unsafe { thread_id(context) },
    }
}

/// Pushes a record of the calling thread's.
#[cold]
#[inline(never)]
fn push(kind: Kind, extra: u32, payload: &[u64], more: &[u64]) {
    recording::push(kind, extra, calling_thread(), [payload, more]);
}
/// Pushes a record of the thread that the file calls `thread`; the calling thread has stopped the world. If the writer has much to do, waits while that
/// makes progress.
pub(crate) fn push_in_stop(kind: Kind, extra: u32, thread: u64, payload: &[u64]) {
    recording::pace();
    recording::push(kind, extra, thread, [payload, &[]]);
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
    recording::push(kind, extra, calling_thread(), [payload, trace.words()]);
}

/// The calling thread was attached.
pub(crate) fn thread_started() {
    if is_on(ANY) {
        push(Kind::ThreadStart, 0, &[], &[]);
    }
}
/// The thread with this context ends.
///
/// # Safety
/// It is the calling thread's, or that of a thread that has ended and is the calling one's to give up.
pub(crate) unsafe fn thread_ended(context: *mut ThreadContext) {
    if is_on(ANY) {
        // SAFETY: the caller's promise.
        let thread = unsafe { thread_id(context) };
        recording::push(Kind::ThreadEnd, 0, thread, [&[], &[]]);
    }
}
/// The thread with this context has a name.
///
/// # Safety
/// The context is that of an attached thread or a green thread.
pub(crate) unsafe fn thread_named(context: *mut ThreadContext, units: &[u16]) {
    if is_on(ANY) {
        // SAFETY: the caller's promise.
        let thread = unsafe { thread_id(context) };
        let text = text_words(&String::from_utf16_lossy(units));
        recording::push(Kind::ThreadName, 0, thread, [&text, &[]]);
    }
}
/// A thread that was there when the recording began; `name`: its name, if it has one, of which the first [`LONGEST_NAME`] units are told.
///
/// # Safety
/// The context is that of an attached thread or a green thread. The world is stopped.
pub(super) unsafe fn thread_is_there(context: *mut ThreadContext, name: Option<&[u16]>) {
    // SAFETY: the caller's promise.
    let thread = unsafe { thread_id(context) };
    recording::push(Kind::ThreadStart, 0, thread, [&[], &[]]);
    if let Some(units) = name.filter(|units| !units.is_empty()) {
        let (mut bytes, mut words) = ([0; 3 * LONGEST_NAME], [0; 1 + LONGEST_NAME * 3 / 8]);
        let text = utf8(units, &mut bytes);
        let count = text_in(text, &mut words);
        recording::push(Kind::ThreadName, 0, thread, [&words[..count], &[]]);
    }
}
/// Units of the longest name that is told in a stop of the world, which allows no memory to be taken.
const LONGEST_NAME: usize = 64;
/// The first units as text, in a record of the caller's.
fn utf8<'b>(units: &[u16], room: &'b mut [u8; 3 * LONGEST_NAME]) -> &'b str {
    let mut length = 0;
    let units = units.iter().copied().take(LONGEST_NAME);
    for unit in char::decode_utf16(units) {
        let unit = unit.unwrap_or(char::REPLACEMENT_CHARACTER);
        length += unit.encode_utf8(&mut room[length..]).len();
    }
    str::from_utf8(&room[..length]).unwrap_or_default()
}
/// Are the names of threads recorded?
pub(crate) fn wants_threads() -> bool {
    is_on(ANY)
}
/// There is a domain with that id, which nothing is loaded into yet.
pub(crate) fn domain_made(id: u32) {
    if is_on(ANY) {
        push(Kind::Domain, 0, &[id.into()], &[]);
    }
}
/// The domain with that id has been unloaded, and these assemblies with it.
pub(crate) fn domain_unloaded(id: u32, assemblies: &[&'static Assembly]) {
    if is_on(ANY) {
        for assembly in assemblies {
            let assembly = std::ptr::from_ref(*assembly) as u64;
            push(Kind::AssemblyEnd, 0, &[assembly], &[]);
        }
        push(Kind::DomainEnd, 0, &[id.into()], &[]);
    }
}
/// The domain with that id has a name.
pub(crate) fn domain_named(id: u32, name: &str) {
    if is_on(ANY) {
        push(Kind::DomainName, 0, &[id.into()], &text_words(name));
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
        let is_buffer = matches!(code.kind, CodeKind::Stub(_)) && is_on(sets::JIT);
        let code = std::ptr::from_ref(code) as u64;
        push(Kind::Code, is_buffer.into(), &[code], &[]);
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

/// A finally clause runs without an exception, in code that was compiled for a recording of such.
pub(crate) fn finally(index: u32, method: MethodRef) {
    if is_on(sets::EXCEPTION) {
        wait_for_room();
        clause(Clause::Finally, index, Some(method), 0);
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

/// A method begins, in code that was compiled for a recording of calls.
pub(crate) fn entered(cx: &Cx<'_>, method: usize) {
    // SAFETY: a token's context is the calling thread's.
    let depth = unsafe { &mut (*cx.context()).recorded_calls };
    let is_deep = *depth > call_depth();
    *depth += 1;
    if !is_deep && is_on(CALLS) {
        wait_for_room();
        push(Kind::Enter, 0, &[method as u64], &[]);
    }
}
/// A method returns, or an exception leaves it.
pub(crate) fn left(cx: &Cx<'_>, method: usize, by_exception: bool) {
    // SAFETY: a token's context is the calling thread's.
    let depth = unsafe { &mut (*cx.context()).recorded_calls };
    *depth = depth.saturating_sub(1);
    if *depth <= call_depth() && is_on(CALLS) {
        wait_for_room();
        let kind = if by_exception {
            Kind::ExceptionLeave
        } else {
            Kind::Leave
        };
        push(kind, 0, &[method as u64], &[]);
    }
}
/// An exception leaves the frame of code of a method.
#[inline]
pub(crate) fn left_by_exception(cx: &Cx<'_>, code: &Code) {
    if is_on(CALLS)
        && let CodeKind::Method(method) = code.kind
        && method.has_body()
        && super::call_spec::is_recorded(method)
    {
        left(cx, std::ptr::from_ref(method) as usize, true);
    }
}
/// An object has moved.
#[inline(always)]
pub(crate) fn moved(from: usize, to: usize) {
    if is_on(sets::GC_MOVE) {
        push(Kind::Moves, 0, &[from as u64, to as u64], &[]);
    }
}
/// An object was made by the runtime; `taken` tells how many bytes the heap has handed out so far. Waits for room: the calling thread is in Runtime state, and keeps the
/// object in place.
#[inline]
pub(crate) fn allocated(
    vtable: &'static VTable,
    object: usize,
    bytes: usize,
    taken: impl Fn() -> u64,
) {
    if is_on(sets::GC_ALLOC | ALLOCATION_SAMPLES) {
        let count = match is_on(sets::GC_ALLOC) {
            true => 1,
            false => match bytes > vervet_heap::SMALL {
                false => allocations_due(taken()),
                // It is alone in the memory that was taken: an event says all of it. (The report knows from which size on that is so.)
                true => allocations_due(taken()).min(1),
            },
        };
        for _ in 0..count {
            wait_for_room();
            let vtable = std::ptr::from_ref(vtable) as u64;
            push_traced(Kind::Alloc, 0, &[vtable, object as u64, bytes as u64]);
        }
    }
}

/// Sampled allocations: an event for each point that the heap passes while it hands memory out. The gaps between the points have an exponential distribution, so that no
/// pattern of the program's keeps step with them, and their mean is the period. So events times period is what the program has taken, however it takes it: in large
/// objects, by many threads for a short while, by green threads that share a TLAB. A TLAB is handed out as a whole, and what is not used of it is taken back.
static POINT: AtomicU64 = AtomicU64::new(u64::MAX);
/// The state of the random numbers.
static RANDOM: AtomicU64 = AtomicU64::new(0);

// As `Tally::of_sample` of the reader has it.
const _: () = assert!(vervet_heap::SMALL == 8256);

/// A gap between two points.
fn gap(period: u64) -> u64 {
    // SplitMix64.
    let mut bits = RANDOM.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
    bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^= bits >> 31;
    let uniform = ((bits >> 11) + 1) as f64 / (1u64 << 53) as f64;
    (-uniform.ln() * period as f64) as u64 + 1
}
/// Allocations are sampled from now on; the heap has handed out so many bytes.
pub(super) fn begin_allocation_samples(period: u64, taken: u64) {
    RANDOM.store(vervet_os::clock::now(), Ordering::Relaxed);
    POINT.store(taken + gap(period), Ordering::Relaxed);
}
/// How many points the heap has passed since the last call.
#[cold]
#[inline(never)]
fn allocations_due(taken: u64) -> u32 {
    points_passed(&POINT, taken, allocation_period())
}
/// How many points lie up to `taken`, behind which `point` is the next then.
fn points_passed(point: &AtomicU64, taken: u64, period: u64) -> u32 {
    let mut count = 0;
    let mut at = point.load(Ordering::Relaxed);
    while at <= taken {
        let next = at + gap(period);
        match point.compare_exchange_weak(at, next, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => (at, count) = (next, count + 1),
            // Another thread has passed it.
            Err(now) => at = now,
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_point_is_an_event_whatever_is_taken_at_once() {
        const PERIOD: u64 = 64 << 10;
        for piece in [100, 4 << 10, 32 << 10, 1 << 20] {
            let (mut taken, mut count) = (0, 0u64);
            let point = AtomicU64::new(gap(PERIOD));
            while taken < 4000 * PERIOD {
                taken += piece;
                count += u64::from(points_passed(&point, taken, PERIOD));
                assert!(point.load(Ordering::Relaxed) > taken);
            }
            // The standard deviation is 63.
            assert!((3600..4400).contains(&count), "{piece}: {count}");
        }
    }

    #[test]
    fn a_name_is_cut_where_its_room_ends() {
        let mut room = [0; 3 * LONGEST_NAME];
        let units: Vec<u16> = "€".repeat(100).encode_utf16().collect();
        assert_eq!(utf8(&units, &mut room), "€".repeat(LONGEST_NAME));
        let half: Vec<u16> = "clerk 😀".encode_utf16().take(7).collect();
        assert_eq!(utf8(&half, &mut room), "clerk \u{FFFD}");
    }
}
