//! Lanes: what sampling has of a thread, and the ways of its samples to the writer.
//!
//! # Invariants
//! * A lane belongs to a [`Thread`](crate::safepoint::registry::Thread), and like it is never
//!   freed: the next OS thread that uses the one uses the other. One that is too small is replaced; what
//!   it holds is still drained. Sizes are powers of two with a limit, so a thread has few.
//! * `own` is filled by the thread (its signal handler, or the end of a wait), `seen` by the
//!   sampler: each ring has one producer.
//! * All lanes are on one list, which only grows, so that samples of threads that have ended
//!   are found.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use vervet_abi::ThreadContext;
use vervet_os::memory;
use vervet_profiler::ring::SampleRing;
use vervet_profiler::sample::{FrameWord, MOST_FRAMES, Sample};

type Ring = SampleRing<&'static [AtomicU64]>;

/// See the module.
pub(crate) struct Lane {
    next: AtomicPtr<Lane>,
    /// Samples that the thread's handler takes.
    pub(super) own: Ring,
    /// Samples that the sampler takes of the thread.
    pub(super) seen: Ring,
    /// Periods for which the sampler has asked the thread, and that it has not answered.
    pub(super) asked: AtomicU32,
    /// The processor on which the thread was when its handler last took a sample.
    pub(super) processor: AtomicI32,
    /// The thread itself puts a sample into `own`: its handler must not.
    pub(super) is_filling: AtomicBool,
    /// What the sampler found last.
    pub(super) last: UnsafeCell<Last>,
}
// SAFETY: `last` is the sampler's alone; the rest is atomic.
unsafe impl Sync for Lane {}

/// What the sampler found of a thread in Native state.
pub(super) struct Last {
    pub(super) context: *mut ThreadContext,
    /// Nanoseconds that the thread had run then.
    pub(super) ran: u64,
    pub(super) flags: u32,
    pub(super) count: usize,
    pub(super) frames: [FrameWord; MOST_FRAMES],
    /// The context of a thread that was in a host's code when it was last looked at there, and how long it had run then.
    pub(super) host: *mut ThreadContext,
    pub(super) host_ran: u64,
}

/// What a [`Thread`](crate::safepoint::registry::Thread) knows of sampling.
pub(crate) struct Sampled {
    pub(super) lane: AtomicPtr<Lane>,
    /// The thread is attached, and has not begun to detach itself.
    pub(super) is_open: AtomicBool,
    /// Its timer; -1: it has none. Changed under the lock of the list of threads.
    pub(super) timer: AtomicI32,
}

impl Sampled {
    pub(crate) const fn new() -> Sampled {
        Sampled {
            lane: AtomicPtr::new(std::ptr::null_mut()),
            is_open: AtomicBool::new(false),
            timer: AtomicI32::new(-1),
        }
    }
    pub(super) fn lane(&self) -> Option<&'static Lane> {
        // SAFETY: lanes are never freed.
        unsafe { self.lane.load(Ordering::Acquire).as_ref() }
    }
    /// Periods for which nobody has answered are of a time that is over: the thread is another, or sampling begins.
    pub(super) fn forget(&self) {
        if let Some(lane) = self.lane() {
            lane.asked.store(0, Ordering::SeqCst);
        }
    }
}

impl Lane {
    /// Words of each of its rings.
    pub(super) fn words(&self) -> usize {
        self.own.length()
    }
}

/// How many samples may wait for the writer.
static MOST: AtomicU32 = AtomicU32::new(u32::MAX);
/// How many do.
static WAITING: AtomicU32 = AtomicU32::new(0);

/// Sets how many samples of all threads may wait at once; None: as many as there is room for.
pub(super) fn set_most(most: Option<u32>) {
    MOST.store(most.unwrap_or(u32::MAX), Ordering::Relaxed);
}

/// Puts a sample into a ring of its lane, if that has room and not too many wait. Called by the ring's producer.
pub(super) fn put(ring: &Ring, sample: &Sample<'_>) {
    if WAITING.fetch_add(1, Ordering::Relaxed) >= MOST.load(Ordering::Relaxed) {
        ring.lose();
    } else if ring.push(sample) {
        return;
    }
    WAITING.fetch_sub(1, Ordering::Relaxed);
}

static FIRST: AtomicPtr<Lane> = AtomicPtr::new(std::ptr::null_mut());

fn ring(words: usize) -> Ring {
    let bytes = words * size_of::<AtomicU64>();
    let at = memory::reserve(bytes)
        .unwrap_or_else(|_| vervet_os::allocator::no_memory("a ring of samples", bytes));
    // SAFETY: mapped just now, zeroed, and never unmapped.
    SampleRing::new(unsafe { std::slice::from_raw_parts(at.cast(), words) })
}

/// A lane whose rings have so many words, on the list.
pub(super) fn make(words: usize) -> &'static Lane {
    let lane = Box::leak(Box::new(Lane {
        next: AtomicPtr::new(std::ptr::null_mut()),
        own: ring(words),
        seen: ring(words),
        asked: AtomicU32::new(0),
        processor: AtomicI32::new(super::follow::ANYWHERE),
        is_filling: AtomicBool::new(false),
        last: UnsafeCell::new(Last {
            context: std::ptr::null_mut(),
            ran: 0,
            flags: 0,
            count: 0,
            frames: [FrameWord(0); MOST_FRAMES],
            host: std::ptr::null_mut(),
            host_ran: 0,
        }),
    }));
    let at: *mut Lane = lane;
    let mut first = FIRST.load(Ordering::Relaxed);
    loop {
        lane.next.store(first, Ordering::Relaxed);
        match FIRST.compare_exchange(first, at, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => return lane,
            Err(other) => first = other,
        }
    }
}

/// All lanes.
fn all() -> impl Iterator<Item = &'static Lane> {
    // SAFETY: lanes are never freed.
    let lane = |at: *mut Lane| unsafe { at.as_ref() };
    std::iter::successors(lane(FIRST.load(Ordering::Acquire)), move |l| {
        lane(l.next.load(Ordering::Relaxed))
    })
}

/// Hands over all samples up to a time, those of each thread in order. Called by one thread at
/// a time.
pub(super) fn drain(until: u64, each: &mut dyn FnMut(&Sample<'_>)) {
    for lane in all() {
        loop {
            let (own, seen) = (lane.own.first_time(), lane.seen.first_time());
            let (ring, end) = match (own, seen) {
                (None, None) => break,
                (Some(o), Some(s)) if s < o => (&lane.seen, o - 1),
                (Some(_), Some(s)) => (&lane.own, s),
                (Some(_), None) => (&lane.own, u64::MAX),
                (None, Some(_)) => (&lane.seen, u64::MAX),
            };
            let first = own.unwrap_or(u64::MAX).min(seen.unwrap_or(u64::MAX));
            if first > until {
                break;
            }
            ring.drain(until.min(end), &mut |sample| {
                each(sample);
                WAITING.fetch_sub(1, Ordering::Relaxed);
            });
        }
    }
}

/// Samples that found no room so far.
pub(super) fn lost() -> u64 {
    all().map(|l| l.own.lost() + l.seen.lost()).sum()
}
