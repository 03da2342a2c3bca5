//! Sampling of waits: where threads park, and for how long.
//!
//! # How it works
//! A thread that has parked asks itself, when it goes on, whether the wait is to be a sample: a
//! wait of at least the *rate* always is, a shorter one with the probability of its share of
//! the rate, and then it stands for the whole rate. So the sum of the weights is what was
//! waited, and what is kept depends on the time that passes, not on the number of waits. Nobody
//! scans parked threads, so a million of them cost nothing. (The rule is that of Go's block
//! profile.)
//!
//! # Invariants
//! * While it is off, a park costs one load.
//! * The sample goes into the ring that the thread's signal handler fills. While the thread
//!   does so itself ([`Lane::is_filling`](super::lane::Lane)), a sample of the handler is lost
//!   and counted.
use super::signal::green_id;
use super::walk::{Own, walk};
use super::{FRAMES, give_lanes, lane};
use crate::cx::Cx;
use crate::safepoint::registry::Thread;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, compiler_fence};
use std::time::Duration;
use vervet_os::clock;
use vervet_profiler::sample::{FrameWord, MOST_FRAMES, OFF_CPU, REASON, Sample, SampleSource};

/// Nanoseconds; 0: waits are not sampled.
static RATE: AtomicU64 = AtomicU64::new(0);
/// The kind of waits that are a lack of work, which are left out.
pub(crate) const NO_WORK: u8 = 9;
/// The same in microseconds, kept behind the end.
static LAST_US: AtomicU32 = AtomicU32::new(1);
/// The state of the random numbers.
static RANDOM: AtomicU64 = AtomicU64::new(88_172_645_463_325_252);

/// Samples waits from now on, one for each `rate` of waiting, until [`stop`]. Their samples
/// have the flag [`OFF_CPU`], and as weight microseconds.
pub fn start(rate: Duration) -> &'static dyn SampleSource {
    let rate = u64::try_from(rate.as_nanos()).unwrap_or(u64::MAX).max(1);
    crate::arch::unwind::initialise();
    LAST_US.store(
        (rate / 1000).clamp(1, u32::MAX.into()) as u32,
        Ordering::Relaxed,
    );
    RATE.store(rate, Ordering::SeqCst);
    give_lanes();
    &super::SOURCE
}

/// Samples no waits any more.
pub fn stop() {
    RATE.store(0, Ordering::SeqCst);
}

/// Microseconds that a sample stands for; those of the last time, if waits are not sampled any more.
pub(crate) fn rate_us() -> u32 {
    LAST_US.load(Ordering::Relaxed)
}

/// Are waits sampled?
pub(super) fn runs() -> bool {
    RATE.load(Ordering::SeqCst) != 0
}

/// The calling thread begins to wait; what [`ends`] gets.
#[inline]
pub(crate) fn begins() -> u64 {
    match RATE.load(Ordering::Relaxed) {
        0 => 0,
        _ => clock::now(),
    }
}

/// The calling thread has waited since then, for a reason of that
/// [kind](crate::threads::park::Reason::kind).
#[inline]
pub(crate) fn ends(cx: &Cx<'_>, since: u64, kind: u8) {
    if since != 0 {
        take(cx, since, kind);
    }
}

/// The nanoseconds that a wait stands for; None: it is left out. `random` is any number.
fn weight(waited: u64, rate: u64, random: u64) -> Option<u64> {
    match waited >= rate {
        true => Some(waited),
        false => (random % rate < waited).then_some(rate),
    }
}

#[cold]
fn take(cx: &Cx<'_>, since: u64, kind: u8) {
    let rate = RATE.load(Ordering::Relaxed);
    let waited = clock::now().saturating_sub(since);
    if rate == 0 || kind == NO_WORK {
        return;
    }
    // A number of the sequence, by whatever thread; mixed, because only its low bits count.
    let random = RANDOM.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
    let random = (random ^ random >> 31).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 16;
    let Some(weight) = weight(waited, rate, random) else {
        return;
    };
    let context = cx.context();
    // SAFETY: a token's context is that of the calling thread, which is attached.
    let thread = unsafe { Thread::of(context) };
    let Some(lane) = thread.sampled.lane() else {
        return;
    };
    let mut frames = [FrameWord(0); MOST_FRAMES];
    let room = FRAMES.load(Ordering::Relaxed).min(MOST_FRAMES);
    // SAFETY: the context is the calling thread's; a variable of this frame is as good as its stack pointer.
    let walked = unsafe {
        let memory = Own::new(context, (&raw const rate) as usize & !7);
        walk(context, &memory, None, &mut frames[..room])
    };
    lane.is_filling.store(true, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    let sample = Sample {
        time_ns: clock::now(),
        thread: thread.tid.load(Ordering::Relaxed) as u64,
        ip: 0,
        weight: u32::try_from(weight.div_ceil(1000)).unwrap_or(u32::MAX),
        flags: walked.flags | OFF_CPU | u32::from(kind) << REASON,
        // SAFETY: the context is the calling thread's.
        green: unsafe { green_id(context) },
        frames: &frames[..walked.count],
    };
    lane::put(&lane.own, &sample);
    compiler_fence(Ordering::SeqCst);
    lane.is_filling.store(false, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::weight;

    #[test]
    fn the_weights_sum_up_to_what_was_waited() {
        let rate = 10_000;
        for waited in [10, 1_000, 9_999, 10_000, 70_000] {
            let sum: u64 = (0..rate).filter_map(|r| weight(waited, rate, r)).sum();
            assert_eq!(sum, waited * rate, "{waited}");
        }
    }
}
