//! When a heapshot is due. What it has, and the collections that it needs, are the matter of [`memory::gc`](crate::memory::gc)'s `report`.
//!
//! | a heapshot is due | if |
//! |---|---|
//! | `heapshot` | a cycle ends |
//! | `heapshot=Ngc`, `heapshot=Nms` | so many collections, so much time since the last one |
//! | a command, `heapshot-on-shutdown` | somebody has [requested](request) it |
//!
//! # Invariants
//! A heapshot that is due and cannot be made in this collection stays due until one is made. The thread that made the collection waits for that:
//! else it could make hundreds more before the collector's thread gets a processor.
use super::recording::{ANY, is_on};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use vervet_profiler::options::{Heapshot, Options, sets};

/// When heapshots are due besides those that somebody requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Mode {
    /// Never.
    Never = 0,
    /// In each major collection.
    EveryMajor = 1,
    /// When a command says so.
    OnDemand = 2,
    /// Every so many milliseconds.
    Milliseconds = 3,
    /// Every so many collections.
    Collections = 4,
}

impl Mode {
    /// That with this number, which is also the class library's.
    pub fn of(number: u32) -> Option<Mode> {
        use Mode::*;
        let all = [Never, EveryMajor, OnDemand, Milliseconds, Collections];
        all.get(number as usize).copied()
    }
}

/// When heapshots are due: the number of a [`Mode`].
static MODE: AtomicU32 = AtomicU32::new(Mode::Never as u32);
/// For [`Mode::Milliseconds`] and [`Mode::Collections`].
static EVERY_MS: AtomicU32 = AtomicU32::new(0);
static EVERY_COLLECTIONS: AtomicU32 = AtomicU32::new(0);
/// Are roots reported at the end of each collection?
static ROOTS_ALWAYS: AtomicBool = AtomicBool::new(false);
/// A heapshot is made at the end of the run.
static AT_SHUTDOWN: AtomicBool = AtomicBool::new(false);
/// A heapshot is due at the end of the next cycle.
static REQUESTED: AtomicBool = AtomicBool::new(false);
/// A collection could not have the heapshot that is due: the next thread that has made a minor one waits for a cycle, which can.
static ASKS: AtomicBool = AtomicBool::new(false);
/// Collections since the last heapshot, and when that was (CLOCK_MONOTONIC, nanoseconds).
static SINCE: AtomicU32 = AtomicU32::new(0);
static LAST: AtomicU64 = AtomicU64::new(0);

/// A recording starts.
pub(super) fn start(options: &Options) {
    let (mode, ms, collections) = match options.heapshot {
        Heapshot::Never => (Mode::Never, 0, 0),
        Heapshot::OnDemand => (Mode::OnDemand, 0, 0),
        Heapshot::EveryMajor => (Mode::EveryMajor, 0, 0),
        Heapshot::Collections(n) => (Mode::Collections, 0, n),
        Heapshot::Milliseconds(n) => (Mode::Milliseconds, n, 0),
    };
    set_milliseconds(ms);
    set_collections(collections);
    set_mode(mode);
    SINCE.store(0, Ordering::Relaxed);
    LAST.store(vervet_os::clock::now(), Ordering::Relaxed);
    REQUESTED.store(false, Ordering::Relaxed);
    let always = options.reports_roots_always && options.events & sets::GC_ROOT != 0;
    AT_SHUTDOWN.store(options.heapshot_on_shutdown, Ordering::Relaxed);
    ROOTS_ALWAYS.store(always, Ordering::Relaxed);
}

/// When heapshots are due.
pub fn mode() -> Mode {
    Mode::of(MODE.load(Ordering::Relaxed)).unwrap_or(Mode::Never)
}
/// Sets when heapshots are due.
pub fn set_mode(mode: Mode) {
    MODE.store(mode as u32, Ordering::Relaxed);
}
/// How many milliseconds lie between two heapshots of [`Mode::Milliseconds`].
pub fn milliseconds() -> u32 {
    EVERY_MS.load(Ordering::Relaxed)
}
/// Sets that.
pub fn set_milliseconds(ms: u32) {
    EVERY_MS.store(ms, Ordering::Relaxed);
}
/// How many collections lie between two heapshots of [`Mode::Collections`].
pub fn collections() -> u32 {
    EVERY_COLLECTIONS.load(Ordering::Relaxed)
}
/// Sets that.
pub fn set_collections(collections: u32) {
    EVERY_COLLECTIONS.store(collections, Ordering::Relaxed);
}

/// The next collection that can is to make a heapshot. False: nothing is recorded.
pub fn request() -> bool {
    let records = is_on(ANY);
    if records {
        REQUESTED.store(true, Ordering::Release);
    }
    records
}

/// The process ends. Is there to be a heapshot? It is requested then.
pub(crate) fn ends_with_one() -> bool {
    AT_SHUTDOWN.swap(false, Ordering::Relaxed) && request()
}

/// Is a collection to be asked for, because the last one could not make the heapshot that was due? Answers once.
pub(crate) fn asks() -> bool {
    ASKS.load(Ordering::Relaxed) && ASKS.swap(false, Ordering::AcqRel) && is_on(ANY)
}

/// Is a heapshot due in this collection?
fn is_due(ends_cycle: bool) -> bool {
    let count = SINCE.fetch_add(1, Ordering::Relaxed) + 1;
    let by_mode = match mode() {
        Mode::EveryMajor => ends_cycle,
        Mode::Collections => count >= collections(),
        Mode::Milliseconds => {
            let passed = vervet_os::clock::now() - LAST.load(Ordering::Relaxed);
            passed >= u64::from(milliseconds()) * 1_000_000
        }
        Mode::Never | Mode::OnDemand => false,
    };
    by_mode || REQUESTED.load(Ordering::Acquire)
}

/// What a collection that ends has to report.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// Nothing.
    Nothing,
    /// What keeps objects.
    Roots,
    /// That, and all objects.
    Heapshot,
}

/// A collection ends; `ends_cycle`: it can make a heapshot. The world is stopped.
pub(crate) fn due(ends_cycle: bool) -> Due {
    if !is_on(ANY) {
        return Due::Nothing;
    }
    match (is_due(ends_cycle), ends_cycle) {
        (true, true) => {
            REQUESTED.store(false, Ordering::Relaxed);
            ASKS.store(false, Ordering::Relaxed);
            SINCE.store(0, Ordering::Relaxed);
            LAST.store(vervet_os::clock::now(), Ordering::Relaxed);
            return Due::Heapshot;
        }
        (true, false) if !REQUESTED.swap(true, Ordering::Relaxed) => {
            ASKS.store(true, Ordering::Release);
        }
        _ => {}
    }
    match ROOTS_ALWAYS.load(Ordering::Relaxed) {
        true => Due::Roots,
        false => Due::Nothing,
    }
}
