//! The native half of the thread pool: threads that run the class library's dispatch loop.
//!
//! # Map
//! The queues are managed. [`request`] says that the dispatch loop is to run once more; [`counts`] is the word that decides
//! who runs it; [`worker`] is a worker's life, [`idle`] where workers sleep; [`monitor`] measures, and [`policy`] decides how
//! many may work.
//!
//! # Invariants
//! * `request` takes no lock and makes no system call while a worker is on its way, or as many work as may.
//! * The limits are the program's; the goal moves between them, and is the minimum at the beginning.
//! * Workers are managed background threads; they never keep the process alive, and when it has begun to end none is
//!   sent for any more.
mod counts;
mod idle;
mod monitor;
mod policy;
mod worker;

use crate::cx::Cx;
use crate::domain::{self, Domain, State};
use counts::Word;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use vervet_os::chunks::Zeroed;
use vervet_os::{Chunks, LeafLock, Published};

static COUNTS: Word = Word::new();

/// How many threads of a kind there may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Workers that are there at once when there is work.
    pub min: i32,
    /// Never more than these.
    pub max: i32,
}
struct AllLimits {
    workers: Limits,
    io: Limits,
}
static LIMITS: LeafLock<Option<AllLimits>> = LeafLock::new(None);
/// The most workers that the counts have room for.
const MOST: i32 = i16::MAX as i32;

fn with_limits<T>(use_them: impl FnOnce(&mut AllLimits) -> T) -> T {
    let mut limits = LIMITS.lock();
    use_them(limits.get_or_insert_with(|| {
        let cpus = vervet_os::thread::processors();
        let per_cpu = std::env::var("MONO_THREADS_PER_CPU")
            .ok()
            .and_then(|v| v.parse::<i32>().ok())
            .map_or(1, |n| n.clamp(1, 50));
        let min = cpus * per_cpu;
        AllLimits {
            workers: Limits {
                min,
                max: (min * 100).min(MOST),
            },
            io: Limits {
                min: cpus,
                max: (cpus * 100).clamp(cpus.min(200), cpus.max(200)),
            },
        }
    }))
}

/// The limits of workers, and of threads for input and output (of which there are none: they are only kept).
pub fn limits() -> (Limits, Limits) {
    with_limits(|l| (l.workers, l.io))
}
/// Sets the minima. False, and nothing changes, unless both are positive and at most the maxima.
pub fn set_min(workers: i32, io: i32) -> bool {
    let done = with_limits(|l| {
        let fits = (1..=l.workers.max).contains(&workers) && (1..=l.io.max).contains(&io);
        if fits {
            (l.workers.min, l.io.min) = (workers, io);
        }
        fits
    });
    if done && i32::from(COUNTS.get().goal) < workers && COUNTS.set_goal(workers as u16) {
        worker::send();
    }
    done
}
/// Sets the maxima. False, and nothing changes, unless both are at least the minima and the number of processors.
pub fn set_max(workers: i32, io: i32) -> bool {
    let cpus = vervet_os::thread::processors();
    let (workers, io) = (workers.min(MOST), io.min(MOST));
    let done = with_limits(|l| {
        let fits = workers >= l.workers.min.max(cpus) && io >= l.io.min.max(cpus);
        if fits {
            (l.workers.max, l.io.max) = (workers, io);
        }
        fits
    });
    if done && i32::from(COUNTS.get().goal) > workers && COUNTS.set_goal(workers as u16) {
        worker::send();
    }
    done
}
/// How many more workers could work than do, and threads for input and output.
pub fn available() -> (i32, i32) {
    let (workers, io) = limits();
    let now = COUNTS.get();
    let busy = i32::from(now.working - now.searching);
    ((workers.max - busy).max(0), io.max)
}

/// The domain's first use of the pool.
pub fn initialise() {
    let min = limits().0.min;
    if COUNTS.get().goal == 0 && COUNTS.set_goal(min as u16) {
        worker::send();
    }
}
/// The dispatch loop of the domain is to run once more. False if the process is ending, or the domain is.
pub fn request(domain: &'static Domain) -> bool {
    if crate::process::exit::has_shutdown_started() || domain.state() >= State::Unloading {
        return false;
    }
    domain.requests.fetch_add(1, Ordering::SeqCst);
    if COUNTS.request() {
        worker::send();
    }
    true
}

/// The domain whose dispatch loop a worker is to run now: they take turns. A worker serves one domain, because an item may block until another domain's is done.
/// None: those that have asked are served or unloaded.
fn domain_to_serve() -> Option<&'static Domain> {
    static TURN: AtomicUsize = AtomicUsize::new(0);
    let take = |domain: &Domain| {
        let took = |n: u32| n.checked_sub(1);
        domain.state() < State::Unloading
            && (domain.requests)
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, took)
                .is_ok()
    };
    if !domain::are_several() {
        let root = crate::runtime::rt().root;
        // It runs even if nothing is counted: there was a request.
        take(root);
        return Some(root);
    }
    let mut all: Vec<_> = domain::all().collect();
    let first = TURN.fetch_add(1, Ordering::Relaxed) % all.len();
    all.rotate_left(first);
    let served = all.iter().copied().find(|d| take(d));
    // Another worker may have taken the request that this one came for, and left one that was made behind its look at that domain: nobody is on the way to it.
    let asks = |d: &Domain| d.state() < State::Unloading && d.requests.load(Ordering::SeqCst) > 0;
    if COUNTS.get().requested == 0 && all.iter().any(|d| asks(d)) && COUNTS.request() {
        worker::send();
    }
    served
}

/// Where requests come from that nobody announces: descriptors that become ready. A worker that finds nothing else to do looks
/// there itself, so that no other thread has to be woken in between.
pub struct Poller {
    /// Makes requests of what is ready now; false if nothing is. Called in Runtime state, by several workers at once.
    pub poll: fn() -> bool,
    /// No worker works any more.
    pub rest: fn(),
}
static POLLER: Published<Poller> = Published::new();

/// Does no worker work?
pub fn is_idle() -> bool {
    COUNTS.get().working == 0
}
/// Says where workers are to look. Once.
pub fn set_poller(poller: &'static Poller) {
    POLLER.set(poller);
}

/// Items that threads completed, by owner id; each is written by its thread alone.
struct Completed(AtomicU64);
// SAFETY: an atomic of zero.
unsafe impl Zeroed for Completed {}
static COMPLETED: Chunks<Completed> = Chunks::new();
/// One more than the highest owner id of a worker so far.
static IDS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

/// How many items the calling worker has completed so far.
fn items_of(cx: &Cx<'_>) -> u64 {
    (COMPLETED.at(crate::threads::park::id(cx)).0).load(Ordering::Relaxed)
}
/// The calling worker has completed an item. False if it is to leave the dispatch loop.
pub fn completed(cx: &Cx<'_>) -> bool {
    worker::reset(cx);
    progress(cx)
}
/// The calling thread says that it gets on with a long item. False as in [`completed`].
pub fn progress(cx: &Cx<'_>) -> bool {
    let mine = &COMPLETED.at(crate::threads::park::id(cx)).0;
    mine.store(mine.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    let now = COUNTS.get();
    now.working <= now.goal
}
/// How many workers work, or look for work.
pub fn working() -> i32 {
    i32::from(COUNTS.get().working)
}
// ---- blocked workers -------------------------------------------------------------------------------------------------
//
// A worker says that it runs the dispatch loop; the park layer says what a thread waits for. Both are plain stores of the thread itself, so what the
// monitor reads is an estimate, and costs the workers nothing that they did not pay before.

/// For each worker by its owner id, whether it runs the dispatch loop (1) or not (0).
static DISPATCHES: Chunks<AtomicUsize> = Chunks::new();

/// How many workers wait inside an item for what takes long: a descriptor, a task or an event, a time, another thread. A wait for a monitor is short, and one
/// more worker would only join it. An estimate: the workers go on meanwhile.
fn blocked_workers() -> u16 {
    use crate::threads::park::Reason;
    let blocked = (0..IDS.load(Ordering::Relaxed))
        .filter(|id| {
            DISPATCHES
                .get(*id)
                .is_some_and(|d| d.load(Ordering::Relaxed) != 0)
        })
        .filter_map(crate::threads::park::reason::of)
        .filter(|wait| {
            matches!(
                wait.reason,
                Reason::Descriptor(..)
                    | Reason::Pulse(_)
                    | Reason::Handles { .. }
                    | Reason::Sleep
                    | Reason::Join(_)
                    | Reason::Helper
                    | Reason::Code
            )
        });
    blocked.count().min(MOST as usize) as u16
}
/// All items completed so far.
pub fn completed_items() -> u64 {
    (0..IDS.load(Ordering::Relaxed))
        .filter_map(|id| COMPLETED.get(id))
        .map(|c| c.0.load(Ordering::Relaxed))
        .fold(0, u64::wrapping_add)
}
