//! The trimmer: a thread that gives back the pages which the stacks of green threads have used and do not use any more.
//!
//! # How it works
//! ```text
//!   every period            each thread:  has it run since the last round?  its count is noted
//!                                         has it not, for the first time?   what lies below its frames is given back, a piece at a time
//!                                         otherwise                         nothing
//!   no thread has run       the trimmer sleeps until a carrier runs one, or one ends its run
//! ```
//! So a thread is trimmed once for each time that it waits for one to two [periods](settings::trim_period), a process without activity has no trimmer that
//! wakes up, and a thread that runs all the time keeps its pages. What a thread still needs, its frames near the beginning of the first segment, stays.
//!
//! # Invariants
//! * Pages are given back while the thread is [held](green_contexts::hold) and its count is what it was when the unused parts were looked for: it has not run
//!   since. All that is above the lowest word in use, and [`MARGIN`] below it, stays.
//! * A hold lasts for one [`PIECE`]: a carrier that is to run the thread waits for the hold, and who stops the world may wait for that carrier.
//! * The trimmer is not attached: it is never stopped, and touches no object. It is no nicer than a carrier, which would wait for a holder that has lost its
//!   processor; it rests instead.
use super::put_away;
use super::record::{self, Green};
use super::settings;
use super::stacks::NativeStack;
use crate::safepoint::{green_contexts, stash, unless_stopping, view_parked};
use crate::threads::managed_stack;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use vervet_abi::ThreadContext;
use vervet_abi::context::NO_NATIVE_STACK;
use vervet_os::{futex, memory, signal};

/// With fewer threads there is not enough to be had.
const ENOUGH: usize = 256;
/// Bytes below the lowest word in use that stay.
const MARGIN: usize = 512;
/// Bytes that are given back in one hold.
const PIECE: usize = 256 << 10;
/// After so many holds the trimmer rests, so that it takes a small part of a processor.
const HOLDS: u32 = 128;
const REST: Duration = Duration::from_millis(2);

/// What the trimmer does.
///
/// | value | meaning | changes to |
/// |---|---|---|
/// | `NONE` | there is none | `AWAKE`, when there are enough threads |
/// | `AWAKE` | it works, or waits for the next round | `ASLEEP`, by the trimmer, if no thread has run for a round; `NONE` if it could not be started |
/// | `ASLEEP` | it sleeps | `AWAKE`, by a carrier that runs a thread |
static STATE: AtomicU32 = AtomicU32::new(NONE);
const NONE: u32 = 0;
const AWAKE: u32 = 1;
const ASLEEP: u32 = 2;

/// How many times a thread was trimmed.
static TRIMMED: AtomicU64 = AtomicU64::new(0);

/// The calling carrier is about to run the thread, or the thread has left its stacks.
#[inline]
pub(super) fn note_run(green: &Green) {
    let count = &green.runs.count;
    // (The carrier alone writes it: the scheduler hands the thread from one to the next.)
    let now = count.load(Ordering::Relaxed).wrapping_add(1);
    count.store(now, Ordering::Release);
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
        && vervet_os::thread::spawn_detached(128 << 10, trim_for_ever).is_err()
    {
        STATE.store(NONE, Ordering::Relaxed);
    }
}

/// How many times a thread was trimmed.
pub(super) fn count() -> u64 {
    TRIMMED.load(Ordering::Relaxed)
}

fn trim_for_ever() {
    signal::block_all();
    let period = settings::trim_period();
    let mut trimmer = Trimmer::default();
    loop {
        std::thread::sleep(period);
        if !trimmer.round() {
            STATE.store(ASLEEP, Ordering::SeqCst);
            if trimmer.round() {
                wake();
            }
            while STATE.load(Ordering::Acquire) == ASLEEP {
                futex::wait(&STATE, ASLEEP, None);
            }
        }
    }
}

#[derive(Default)]
struct Trimmer {
    /// The unused parts of a thread's stacks.
    parts: Vec<(usize, usize)>,
    holds: u32,
}

impl Trimmer {
    /// Looks at each thread once. False: none has run since the last round.
    fn round(&mut self) -> bool {
        let mut some_ran = false;
        for context in (0..green_contexts::count()).filter_map(green_contexts::at) {
            // SAFETY: the context is that of a green thread.
            let Some(green) = (unsafe { record::of_context(context) }) else {
                continue;
            };
            let runs = &green.runs;
            let now = runs.count.load(Ordering::Acquire);
            if runs.seen.load(Ordering::Relaxed) != now {
                runs.seen.store(now, Ordering::Relaxed);
                some_ran = true;
            } else if runs.trimmed.load(Ordering::Relaxed) != now && self.trim(context, green, now)
            {
                runs.trimmed.store(now, Ordering::Relaxed);
                TRIMMED.fetch_add(1, Ordering::Relaxed);
            }
        }
        some_ran
    }
    /// Gives the unused parts of a thread's stacks back. False: it runs, or has run since its count was `now`.
    fn trim(&mut self, context: *mut ThreadContext, green: &Green, now: u32) -> bool {
        let mut parts = std::mem::take(&mut self.parts);
        parts.clear();
        let mut goes_on = self.hold(context, green, now, || {
            // SAFETY: the thread is held.
            unsafe { find_unused(context, green, &mut parts) };
        });
        for (low, high) in parts.iter().copied() {
            for piece in (low..high).step_by(PIECE) {
                goes_on = goes_on
                    && self.hold(context, green, now, || {
                        // SAFETY: the thread is held and has not run since this was an unused part of its stacks.
                        unsafe { memory::offer(piece, (piece + PIECE).min(high)) };
                    });
            }
        }
        self.parts = parts;
        let mut is_done = false;
        while goes_on && !is_done {
            goes_on = self.hold(context, green, now, || {
                // SAFETY: the thread is held.
                is_done = unless_stopping(|| unsafe { put_away::put_away(context) });
            });
            if goes_on && !is_done {
                std::thread::sleep(REST);
            }
        }
        goes_on
    }
    /// Calls `work` while the thread is held, if it has not run since its count was `now`.
    fn hold(
        &mut self,
        context: *mut ThreadContext,
        green: &Green,
        now: u32,
        work: impl FnOnce(),
    ) -> bool {
        self.holds += 1;
        if self.holds.is_multiple_of(HOLDS) {
            std::thread::sleep(REST);
        }
        let mut is_same = false;
        let hold = || {
            is_same = green.runs.count.load(Ordering::Acquire) == now;
            if is_same {
                work();
            }
        };
        // SAFETY: the context is that of a green thread, and the calling thread is not attached.
        unsafe { green_contexts::hold(context, hold) };
        is_same
    }
}

/// Adds the parts of a thread's stacks that are not in use.
///
/// # Safety
/// The thread is held.
unsafe fn find_unused(context: *mut ThreadContext, green: &Green, parts: &mut Vec<(usize, usize)>) {
    // A part has whole pages, and so do its pieces.
    let mut add = |low: usize, high: usize| {
        let (low, high) = ((low + 4095) & !4095, high & !4095);
        if low < high {
            // Most was never touched.
            // SAFETY: a part of one stack.
            let high = unsafe { memory::resident_end(low, high) };
            parts.push((low, high));
        }
    };
    // SAFETY: the caller's promise.
    if unsafe { stash::stashed(context) }.is_some() {
        return; // The segment holds nothing, not even its header.
    }
    // SAFETY: the thread is parked, and does not run meanwhile. A carrier that is about to run it changes the cell of its native stack only if the thread
    // has none yet, and then the cell is not looked at.
    unsafe {
        view_parked(context, |t| {
            managed_stack::visit_unused(context, t.ranges, |low, high| add(low, high - MARGIN));
        });
        let sp = (*context).scan_sp;
        if sp != 0
            && sp != NO_NATIVE_STACK
            && let Some(NativeStack { low, high }) = green.native.get()
            && (low.get()..high).contains(&sp)
        {
            add(low.get(), sp - MARGIN);
        }
        add((*context).localloc_next, (*context).localloc_end);
    }
}
