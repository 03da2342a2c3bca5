//! The trimmer: a thread that gives back the pages which the stacks of green threads have used and do not use any more.
//!
//! # How it works
//! ```text
//!   every [`period`]      each thread:  has it run since the last round?  its count of runs is noted
//!                                       has it not, for the first time?   it is held, and what lies below its frames is discarded
//!                                       otherwise                         nothing
//!   no thread has run     the trimmer sleeps until a carrier runs one
//! ```
//! So a thread gives back once for each time that it waits for long, a process without activity has no trimmer that wakes up, and a thread that runs all
//! the time keeps its pages. What a thread still needs, its frames near the beginning of the first segment, stays.
//!
//! # Invariants
//! * Pages are discarded while the thread is [held](green_contexts::hold): it does not run. All that is above the lowest word in use, and [`MARGIN`] below
//!   it, stays.
//! * The trimmer is not attached: it is never stopped, and touches no object.
use super::record::{self, Green};
use crate::safepoint::{green_contexts, view_parked};
use crate::threads::managed_stack;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use vervet_abi::ThreadContext;
use vervet_abi::context::NO_NATIVE_STACK;
use vervet_os::{futex, memory, scheduling};

/// Between two rounds. A thread that waits for as long as one to two of them counts as one that waits for long.
const PERIOD: Duration = Duration::from_secs(5);
/// With fewer threads there is not enough to be had.
const ENOUGH: usize = 256;
/// Bytes below the lowest word in use that stay.
const MARGIN: usize = 512;
/// The niceness of the trimmer.
const NICENESS: i32 = 10;

/// What the trimmer does.
///
/// | value | meaning | changes to |
/// |---|---|---|
/// | `NONE` | there is none | `AWAKE`, when there are enough threads |
/// | `AWAKE` | it works, or waits for the next round | `ASLEEP`, by the trimmer, if no thread has run for a round |
/// | `ASLEEP` | it sleeps | `AWAKE`, by a carrier that runs a thread |
static STATE: AtomicU32 = AtomicU32::new(NONE);
const NONE: u32 = 0;
const AWAKE: u32 = 1;
const ASLEEP: u32 = 2;

/// How many times a thread was trimmed.
static TRIMMED: AtomicU64 = AtomicU64::new(0);

/// A carrier is about to run the thread.
#[inline]
pub(super) fn will_run(green: &Green) {
    let count = &green.runs.count;
    // (The carrier alone writes it: the scheduler hands the thread from one to the next.)
    count.store(
        count.load(Ordering::Relaxed).wrapping_add(1),
        Ordering::Relaxed,
    );
    // Each side stores and then looks: a trimmer that goes to sleep looks at the counts once more. There is no fence here, so this may look too early, and
    // the trimmer miss this run; then the next run of any thread wakes it.
    if STATE.load(Ordering::Relaxed) == ASLEEP {
        wake();
    }
}

#[cold]
fn wake() {
    if STATE
        .compare_exchange(ASLEEP, AWAKE, Ordering::AcqRel, Ordering::Relaxed)
        .is_ok()
    {
        futex::wake(&STATE, 1);
    }
}

/// A thread begins. Starts the trimmer if there are enough of them.
pub(super) fn one_begins() {
    if STATE.load(Ordering::Relaxed) != NONE || green_contexts::count() < ENOUGH {
        return;
    }
    if STATE
        .compare_exchange(NONE, AWAKE, Ordering::AcqRel, Ordering::Relaxed)
        .is_ok()
    {
        // Without the thread nothing is given back.
        let _ = vervet_os::thread::spawn_detached(128 << 10, trim_for_ever);
    }
}

/// How many times a thread has given pages back.
pub(super) fn count() -> u64 {
    TRIMMED.load(Ordering::Relaxed)
}

/// [`PERIOD`], or what `VERVET_DEBUG_TRIM_MS` says.
fn period() -> Duration {
    let chosen = std::env::var("VERVET_DEBUG_TRIM_MS").ok();
    let chosen = chosen
        .and_then(|v| v.parse().ok())
        .map(Duration::from_millis);
    chosen.unwrap_or(PERIOD)
}

fn trim_for_ever() {
    scheduling::be_nicer(NICENESS);
    let period = period();
    loop {
        std::thread::sleep(period);
        if !round() {
            STATE.store(ASLEEP, Ordering::SeqCst);
            if round() {
                wake();
            }
            while STATE.load(Ordering::Acquire) == ASLEEP {
                futex::wait(&STATE, ASLEEP, None);
            }
        }
    }
}

/// Looks at each thread once. False: none has run since the last round.
fn round() -> bool {
    let mut some_ran = false;
    for context in (0..green_contexts::count()).filter_map(green_contexts::at) {
        // SAFETY: the context is that of a green thread.
        let Some(green) = (unsafe { record::of_context(context) }) else {
            continue;
        };
        let runs = &green.runs;
        let now = runs.count.load(Ordering::Relaxed);
        if runs.seen.swap(now, Ordering::Relaxed) != now {
            some_ran = true;
        } else if runs.trimmed.load(Ordering::Relaxed) != now {
            // SAFETY: the context is that of a green thread, and this thread is not attached.
            let trimmed = unsafe { green_contexts::hold(context, || trim(context, green)) };
            if trimmed {
                runs.trimmed.store(now, Ordering::Relaxed);
                TRIMMED.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
    some_ran
}

/// Discards what lies below the frames of a thread.
fn trim(context: *mut ThreadContext, green: &Green) {
    // SAFETY: the thread is parked, and does not run meanwhile: nobody uses its stacks.
    unsafe {
        view_parked(context, |t| {
            managed_stack::discard_unused(context, t.ranges, MARGIN);
        });
        if let (Some(native), sp) = ((*green.native.as_ptr()).as_ref(), (*context).scan_sp)
            && sp != NO_NATIVE_STACK
            && (native.low..native.high).contains(&sp)
        {
            memory::discard(native.low, sp - MARGIN);
        }
        let localloc = ((*context).localloc_next, (*context).localloc_end);
        memory::discard(localloc.0, localloc.1);
    }
}
