//! Sampling: where the threads are, many times a second.
//!
//! [The design](../../../../../docs/design/profiler-sampling.md) says why it is built so.
//!
//! | where | what |
//! |---|---|
//! | [`walk`] | the walker: the managed frames of a thread that was interrupted anywhere |
//! | [`signal`] | the handler of SIGPROF |
//! | [`timers`] | a timer of processor time for each thread |
//! | [`sampler`] | the thread that samples all others by real time |
//! | [`follow`] | which processor that thread runs on |
//! | [`off_cpu`] | where threads wait |
//! | [`lane`] | what sampling has of each thread, and the rings of samples |
//! | [`single_step`] | a check of the walker, instruction by instruction |
//! | [`debug`] | a check of the samples of a whole run |
//!
//! # Invariants
//! * A thread has a timer, or is asked for a sample, only between [`attached`] and
//!   [`detaching`], and only while its lane is there.
//! * Whether threads are sampled ([`RUNS`]) changes before the list of threads is visited, and
//!   a thread that attaches looks at it after it has come on the list: so one of the two gives
//!   the thread its timer. Both do so under the lock of the list.
//! * The handler stays once it is installed, because the default action of a signal that comes
//!   late would end the process.
pub(crate) mod debug;
mod follow;
mod lane;
pub mod off_cpu;
mod sampler;
mod signal;
pub(crate) mod single_step;
mod timers;
pub mod walk;

pub(crate) use lane::Sampled;
pub use signal::PROF;

use crate::safepoint::registry::{self, Thread};
use lane::Lane;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use vervet_os::SafeLock;
use vervet_os::lock::SafeGuard;
use vervet_profiler::sample::{MOST_FRAMES, Sample, SampleSource};

/// What a period is a part of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// The processor time of each thread: threads that wait are not seen.
    Cpu,
    /// Real time: all threads are seen in each period.
    Real,
}

/// Why sampling did not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It runs already.
    #[error("the threads are sampled already")]
    Runs,
    /// A frequency must be between 1 and 100,000 Hz.
    #[error("a frequency of {0} Hz is not between 1 and 100,000 Hz")]
    Frequency(u32),
    /// The system gives no thread or timer.
    #[error("cannot start sampling: {0}")]
    System(#[from] std::io::Error),
}

/// Threads are sampled.
static RUNS: AtomicBool = AtomicBool::new(false);
/// ... by real time.
static BY_REAL_TIME: AtomicBool = AtomicBool::new(false);
/// Nanoseconds.
static PERIOD: AtomicU32 = AtomicU32::new(0);
static FRAMES: AtomicUsize = AtomicUsize::new(MOST_FRAMES);
/// Held by who starts or stops sampling.
static CONTROL: SafeLock<()> = SafeLock::new(());
static DRAINING: SafeLock<()> = SafeLock::new(());

/// The samples of all threads.
struct Source;
static SOURCE: Source = Source;

impl SampleSource for Source {
    fn drain(&self, until: u64, each: &mut dyn FnMut(&Sample<'_>)) {
        let _one = DRAINING.lock();
        lane::drain(until, each);
    }
    fn lost(&self) -> u64 {
        lane::lost()
    }
}

/// The samples of all threads, taken now or later.
pub(super) fn source() -> &'static dyn SampleSource {
    &SOURCE
}

/// How many samples of all threads may wait for who drains them; None: as many as there is room for.
pub(super) fn set_max_samples(most: Option<u32>) {
    lane::set_most(most);
}

/// How many frames a sample has.
pub(super) fn set_max_frames(frames: usize) {
    FRAMES.store(frames.clamp(1, MOST_FRAMES), Ordering::SeqCst);
}

/// Samples all attached threads `hz` times a second, with the `max_frames` innermost frames,
/// until [`stop`]. A sample names its thread by the kernel's id. The source is the same each
/// time.
///
/// # Errors
/// Sampling runs already, the frequency is out of range, or the system gives no thread or
/// timer.
pub fn start(mode: Mode, hz: u32, max_frames: usize) -> Result<&'static dyn SampleSource, Error> {
    if !(1..=100_000).contains(&hz) {
        return Err(Error::Frequency(hz));
    }
    let _control = CONTROL.lock();
    if RUNS.load(Ordering::SeqCst) {
        return Err(Error::Runs);
    }
    crate::arch::unwind::initialise();
    signal::install();
    PERIOD.store(1_000_000_000 / hz, Ordering::SeqCst);
    set_max_frames(max_frames);
    BY_REAL_TIME.store(mode == Mode::Real, Ordering::SeqCst);
    give_lanes();
    registry::visit(|thread| thread.sampled.forget());
    RUNS.store(true, Ordering::SeqCst);
    // Threads that came meanwhile saw that nothing runs.
    give_lanes();
    registry::visit(arm);
    if mode == Mode::Real
        && let Err(e) = sampler::start()
    {
        halt();
        return Err(Error::System(e));
    }
    Ok(&SOURCE)
}

/// Ends sampling; what was sampled can still be drained. Nothing happens if it does not run.
pub fn stop() {
    let _control = CONTROL.lock();
    if RUNS.load(Ordering::SeqCst) {
        halt();
    }
}

fn halt() {
    RUNS.store(false, Ordering::SeqCst);
    registry::visit(|thread| timers::delete(&thread.sampled));
    sampler::stop();
}

/// How many threads are not sampled because the system gave them no timer.
pub fn threads_without_timer() -> u64 {
    timers::refused()
}

/// How many words a ring has: room for a quarter of a second with deep stacks.
fn ring_words() -> usize {
    let hz = match PERIOD.load(Ordering::Relaxed) {
        0 => 100,
        period => 1_000_000_000 / period,
    };
    // The waits of many green threads, which end together, come to the lane of one carrier.
    let least = if off_cpu::runs() { 1 << 15 } else { 1 << 12 };
    (hz as usize / 4 * 64)
        .next_power_of_two()
        .clamp(least, 1 << 16)
}

/// Has the thread no lane whose rings have so many words?
fn lacks_lane(thread: &Thread, words: usize) -> bool {
    let lane = thread.sampled.lane();
    lane.is_none_or(|lane| lane.words() < words)
}

/// Gives a lane to each thread that has none, or one that is too small for what is sampled now. (A list under
/// whose lock no memory may be taken is visited until all have one.)
fn give_lanes() {
    let words = ring_words();
    loop {
        let mut lack = 0;
        let lacks = |thread: &Thread| lacks_lane(thread, words);
        registry::visit(|thread| lack += usize::from(lacks(thread)));
        if lack == 0 {
            return;
        }
        let made: Vec<&'static Lane> = (0..lack).map(|_| lane::make(words)).collect();
        let mut rest = made.into_iter();
        registry::visit(|thread| {
            if lacks(thread)
                && let Some(lane) = rest.next()
            {
                let lane = std::ptr::from_ref(lane).cast_mut();
                thread.sampled.lane.store(lane, Ordering::Release);
            }
        });
    }
}

/// Gives a thread of the list its timer. The caller holds the list's lock.
fn arm(thread: &Thread) {
    let sampled = &thread.sampled;
    let is_ready = sampled.is_open.load(Ordering::SeqCst) && sampled.lane().is_some();
    if is_ready && RUNS.load(Ordering::SeqCst) && !BY_REAL_TIME.load(Ordering::SeqCst) {
        timers::make(thread, PERIOD.load(Ordering::SeqCst));
    }
}

/// The calling thread has come on the list.
pub(crate) fn attached(thread: &'static Thread) {
    thread.sampled.forget();
    thread.sampled.is_open.store(true, Ordering::SeqCst);
    if !RUNS.load(Ordering::SeqCst) && !off_cpu::runs() {
        return;
    }
    let words = ring_words();
    let cell = &thread.sampled.lane;
    let old = cell.load(Ordering::Acquire);
    if lacks_lane(thread, words) {
        let lane = std::ptr::from_ref(lane::make(words)).cast_mut();
        let _ = cell.compare_exchange(old, lane, Ordering::AcqRel, Ordering::Acquire);
    }
    registry::while_list_stands(|| arm(thread));
}

/// The thread is about to leave the list: from here on nothing samples it.
pub(crate) fn detaching(thread: &Thread) {
    registry::while_list_stands(|| {
        thread.sampled.is_open.store(false, Ordering::SeqCst);
        timers::delete(&thread.sampled);
    });
}

/// The calling thread is about to fork the process. [`after_fork`] follows in this one, and
/// [`has_forked`] in the new one.
pub(crate) fn before_fork() -> Held {
    let held = Held {
        _control: CONTROL.lock(),
        _draining: DRAINING.lock(),
    };
    sampler::pause();
    held
}

/// While it lives, nobody starts, stops or drains samples.
pub(crate) struct Held {
    _control: SafeGuard<'static, ()>,
    _draining: SafeGuard<'static, ()>,
}

/// The process was forked.
pub(crate) fn after_fork() {
    sampler::go_on();
}

/// The calling process was forked: it has one thread, no timer and no sampler. (It takes no lock,
/// because a thread that is not there any more may hold it.)
pub(crate) fn has_forked() {
    RUNS.store(false, Ordering::SeqCst);
    off_cpu::stop();
    sampler::has_forked();
    let context = crate::threads::current_context();
    if !context.is_null() {
        // SAFETY: the context is the calling thread's, which is attached.
        let thread = unsafe { Thread::of(context) };
        thread.sampled.timer.store(-1, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    fn thread_with_lane(words: usize) -> (&'static Thread, &'static Lane) {
        let (thread, lane) = (registry::take(), lane::make(words));
        let at = std::ptr::from_ref(lane).cast_mut();
        thread.sampled.lane.store(at, Ordering::Release);
        (thread, lane)
    }

    /// It was asked for samples when it was another's, who has not answered.
    #[test]
    fn a_thread_that_attaches_has_not_been_asked_yet() {
        let (thread, lane) = thread_with_lane(64);
        lane.asked.store(63, Ordering::SeqCst);
        attached(thread);
        assert_eq!(lane.asked.load(Ordering::SeqCst), 0);
        thread.sampled.is_open.store(false, Ordering::SeqCst);
    }

    #[test]
    fn a_lane_of_an_earlier_recording_may_be_too_small() {
        let (thread, _) = thread_with_lane(64);
        assert!(!lacks_lane(thread, 64) && lacks_lane(thread, 128));
    }
}
