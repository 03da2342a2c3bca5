//! When a heapshot is due. What it has, and the collections that it needs, are the matter of [`memory::gc`](crate::memory::gc)'s `report`.
//!
//! | a heapshot is due | if |
//! |---|---|
//! | `heapshot` | a cycle ends |
//! | `heapshot=Ngc`, `heapshot=Nms` | so many collections, so much time since the last one |
//! | a command, `heapshot-on-shutdown` | somebody has [requested](request) it |
//!
//! # Invariants
//! A heapshot that is due and cannot be made in this collection stays due until one is made.
use super::recording::{ANY, is_on};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use vervet_profiler::options::{Heapshot, Options, sets};

const NEVER: u32 = 0;
const EVERY_CYCLE: u32 = 1;
const COLLECTIONS: u32 = 2;
const MILLISECONDS: u32 = 3;

/// When heapshots are due: one of the constants above.
static MODE: AtomicU32 = AtomicU32::new(NEVER);
/// Every so many collections or milliseconds.
static EVERY: AtomicU32 = AtomicU32::new(0);
/// Are roots reported at the end of each collection?
static ROOTS_ALWAYS: AtomicBool = AtomicBool::new(false);
/// A heapshot is made at the end of the run.
static AT_SHUTDOWN: AtomicBool = AtomicBool::new(false);
/// A heapshot is due at the end of the next cycle.
static REQUESTED: AtomicBool = AtomicBool::new(false);
/// A collection that could not have the heapshot that is due asks for one that can, once the world goes on.
static ASKS: AtomicBool = AtomicBool::new(false);
/// Collections since the last heapshot, and when that was (CLOCK_MONOTONIC, nanoseconds).
static SINCE: AtomicU32 = AtomicU32::new(0);
static LAST: AtomicU64 = AtomicU64::new(0);

/// A recording starts.
pub(super) fn start(options: &Options) {
    let (mode, every) = match options.heapshot {
        Heapshot::Never | Heapshot::OnDemand => (NEVER, 0),
        Heapshot::EveryMajor => (EVERY_CYCLE, 0),
        Heapshot::Collections(n) => (COLLECTIONS, n),
        Heapshot::Milliseconds(n) => (MILLISECONDS, n),
    };
    EVERY.store(every, Ordering::Relaxed);
    MODE.store(mode, Ordering::Relaxed);
    SINCE.store(0, Ordering::Relaxed);
    LAST.store(vervet_os::clock::now(), Ordering::Relaxed);
    REQUESTED.store(false, Ordering::Relaxed);
    let always = options.reports_roots_always && options.events & sets::GC_ROOT != 0;
    AT_SHUTDOWN.store(options.heapshot_on_shutdown, Ordering::Relaxed);
    ROOTS_ALWAYS.store(always, Ordering::Relaxed);
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
    ASKS.load(Ordering::Relaxed) && ASKS.swap(false, Ordering::AcqRel)
}

/// Is a heapshot due in this collection?
fn is_due(ends_cycle: bool) -> bool {
    let collections = SINCE.fetch_add(1, Ordering::Relaxed) + 1;
    let every = EVERY.load(Ordering::Relaxed);
    let by_mode = match MODE.load(Ordering::Relaxed) {
        EVERY_CYCLE => ends_cycle,
        COLLECTIONS => collections >= every,
        MILLISECONDS => {
            let passed = vervet_os::clock::now() - LAST.load(Ordering::Relaxed);
            passed >= u64::from(every) * 1_000_000
        }
        _ => false,
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
