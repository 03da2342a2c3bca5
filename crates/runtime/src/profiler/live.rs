//! Changing what is recorded while it is: what the class library's `Mono.Profiler.Log.LogProfiler` asks for.
//!
//! # How it works
//! Most events are a bit that their hook tests. Allocations and GC handles are otherwise made by generated code that tests nothing. If they are recorded from
//! the start, code is compiled that calls the runtime for them (`Recorded` of the JIT). If they are switched on later, the same code as before finds nothing
//! to work with, and takes its slow path: threads have no TLABs ([`vervet_heap::Heap::see_all_allocations`]), and the lanes of their handles
//! are empty and full at once ([`handles::see_all`]).
//!
//! | switched on later | what is missing |
//! |---|---|
//! | exceptions | `finally` clauses that no exception enters: code is compiled for these from the start |
//! | roots | nothing: static fields that were there before are told now |
//!
//! # Invariants
//! * Changes are made one after the other, under [`CHANGING`], but for the end of a recording.
//! * When a recording ends, threads have their TLABs and lanes again.
use super::{control, hooks, recording, sampling};
use crate::memory::{gc, handles};
use std::sync::atomic::{AtomicU32, Ordering};
use vervet_os::SafeLock;
use vervet_os::lock::SafeGuard;
use vervet_profiler::options::{Clock, DEFAULT_HZ};
pub use vervet_profiler::options::{MOST_FRAMES, sets};

/// Held by who changes something.
static CHANGING: SafeLock<()> = SafeLock::new(());
/// By which clock samples are taken: 0 by none, 1 processor time, 2 real time; as the class library has it.
static SAMPLE_MODE: AtomicU32 = AtomicU32::new(0);
static SAMPLE_HZ: AtomicU32 = AtomicU32::new(DEFAULT_HZ);

/// While it lives, nobody changes what is recorded.
pub(crate) struct Held {
    _changing: SafeGuard<'static, ()>,
}

/// The calling thread is about to fork the process.
pub(crate) fn hold() -> Held {
    Held {
        _changing: CHANGING.lock(),
    }
}

/// Can the program change what is recorded? It can if the profiler was asked for when the process started, or records now.
pub fn is_attached() -> bool {
    crate::runtime::rt().options.profile.is_some() || recording::is_recording()
}

/// The sampling that the options of a recording ask for.
pub(super) fn note_sampling(sample: Option<(Clock, u32)>) {
    let (mode, hz) = match sample {
        None => (0, DEFAULT_HZ),
        Some((Clock::Cpu, hz)) => (1, hz),
        Some((Clock::Real, hz)) => (2, hz),
    };
    SAMPLE_MODE.store(mode, Ordering::Relaxed);
    SAMPLE_HZ.store(hz, Ordering::Relaxed);
}

/// A recording of these events has begun: prepares what they need besides their bit.
pub(super) fn begin(events: u32) {
    let _changing = CHANGING.lock();
    prepare(events, true);
}
/// A recording has ended. (Its end may be that of the process, so nothing is waited for.)
pub(super) fn end() {
    prepare(sets::GC_ALLOC | sets::GC_HANDLE, false);
}

/// Prepares for events that are recorded from now on, or not any more.
fn prepare(events: u32, on: bool) {
    let compiled = crate::runtime::rt().options.recorded();
    if events & sets::GC_ALLOC != 0 && !compiled.allocations {
        gc::heap().see_all_allocations(on);
    }
    if events & sets::GC_HANDLE != 0 && !compiled.handles {
        handles::see_all(on);
    }
    if events & sets::GC_ROOT != 0 && on {
        // Their static fields are roots.
        crate::domain::all().for_each(|domain| domain.each_vtable(hooks::vtable_made));
    }
}

/// Switches a set of events on or off. The calling thread is in Runtime state.
pub fn set_events(events: u32, on: bool) {
    let _changing = CHANGING.lock();
    if !recording::is_on(recording::ANY) {
        return;
    }
    if on {
        prepare(events, true);
    }
    recording::switch(events, on);
    // Unless the recording has ended meanwhile.
    if !on || !recording::is_on(recording::ANY) {
        prepare(events, false);
    }
}

/// Sets how many frames a backtrace has, samples included.
pub fn set_max_frames(frames: u32) {
    let frames = frames.min(MOST_FRAMES);
    recording::set_max_frames(frames);
    sampling::set_max_frames(frames as usize);
}
/// Sets how deep calls are recorded.
pub fn set_call_depth(depth: u32) {
    recording::set_call_depth(depth);
}

/// How samples are taken (0: not; 1: by processor time; 2: by real time), and how many a second.
pub fn sample_mode() -> (u32, u32) {
    let mode = SAMPLE_MODE.load(Ordering::Relaxed);
    (mode, SAMPLE_HZ.load(Ordering::Relaxed))
}
/// Sets that. False: the system gives no thread or timer, or there is no such mode or frequency; then no samples are taken.
pub fn set_sample_mode(mode: u32, hz: u32) -> bool {
    let clock = match mode {
        0 => None,
        1 => Some(Clock::Cpu),
        2 => Some(Clock::Real),
        _ => return false,
    };
    let _changing = CHANGING.lock();
    if !recording::is_on(recording::ANY) {
        return false;
    }
    sampling::stop();
    let started = clock.is_none_or(|clock| control::start_sampling(clock, hz).is_ok());
    SAMPLE_MODE.store(if started { mode } else { 0 }, Ordering::Relaxed);
    SAMPLE_HZ.store(hz, Ordering::Relaxed);
    started
}
