//! The monitor: a thread of the runtime that measures the pool while it works, and moves the goal.
//!
//! # How it works
//! Each interval it counts what was completed and asks the [`super::policy`]. In shorter steps it looks whether work waits while workers are blocked inside
//! an item, and lets as many more work as are blocked: so code that blocks workers of the pool (`SslStream` does, under the
//! covers of its blocking calls) has twice as many of them after each step. When the pool has been quiet for a while it sleeps until a worker is sent for.
//!
//! # Invariants
//! * It touches no object and is not attached; it sends for workers as everybody does.
//! * Its signals are blocked, so that no handler of the program's runs here, and those of the workers it starts are not.
//! * [`wake`] makes a system call only if the monitor sleeps, or does not exist yet.
use super::counts::Counts;
use super::policy::{Measured, Policy};
use super::{COUNTS, Limits, completed_items, limits, worker};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use vervet_os::futex;

const INTERVAL: Duration = Duration::from_millis(500);
/// How often it looks for blocked workers while there are workers. It is short beside the waits that are worth a thread, and long beside the start of one; each
/// look costs a few loads for each worker, and only while a request waits.
const LOOK: Duration = Duration::from_millis(20);
/// Work that waits and makes no progress is looked at more often.
const STARVED: Duration = Duration::from_millis(100);
/// Intervals without work after which it sleeps.
const QUIET: u32 = 10;

const ABSENT: u32 = 0;
const LOOKING: u32 = 1;
const ASLEEP: u32 = 2;
static STATE: AtomicU32 = AtomicU32::new(ABSENT);

/// A worker is sent for: the monitor is to look at the pool from now on.
pub(super) fn wake() {
    match STATE.load(Ordering::SeqCst) {
        LOOKING => {}
        _ => match STATE.swap(LOOKING, Ordering::SeqCst) {
            ABSENT => {
                let started = crate::threads::native(|| {
                    vervet_os::thread::spawn_detached(256 << 10, run).is_ok()
                });
                if !started {
                    STATE.store(ABSENT, Ordering::SeqCst);
                }
            }
            ASLEEP => futex::wake(&STATE, 1),
            _ => {}
        },
    }
}

/// Blocks every signal of the calling thread; the mask it had.
fn block_signals() -> libc::sigset_t {
    // SAFETY: both sets are of this frame, the mask is the calling thread's.
    unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) =
            (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &all, &mut before);
        before
    }
}

/// Has a worker come; a new thread starts with the mask of the one that makes it.
fn send_worker(mask: &libc::sigset_t) {
    // SAFETY: the mask is the calling thread's own.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, mask, std::ptr::null_mut()) };
    worker::send();
    block_signals();
}

fn run() {
    // SAFETY: a zero-terminated name of at most 16 bytes.
    unsafe { libc::prctl(libc::PR_SET_NAME, c"Pool Monitor".as_ptr()) };
    let mask = block_signals();
    let mut policy = Policy::new();
    let mut quiet = 0;
    let (mut items, mut since) = (completed_items(), Instant::now());
    let mut interval = INTERVAL;
    loop {
        watch(interval, &mask);
        let (now, time) = (completed_items(), Instant::now());
        let rate = now.wrapping_sub(items) as f64 / (time - since).as_secs_f64();
        (items, since) = (now, time);
        let counts = COUNTS.get();
        if COUNTS.send() {
            send_worker(&mask); // One that could not be had before.
        }
        let workers = limits().0;
        let goal = policy.goal(&Measured {
            rate,
            waiting: counts.requested > 0,
            working: counts.working,
            goal: counts.goal,
            min: workers.min as u16,
            max: workers.max as u16,
        });
        let goal = goal.max(needed(&counts, &workers));
        if goal != counts.goal && COUNTS.set_goal(goal) {
            send_worker(&mask);
        }
        let starved = rate == 0.0 && counts.requested > 0;
        interval = if starved { STARVED } else { INTERVAL };
        let idle = counts.working == 0 && rate == 0.0 && goal == workers.min as u16;
        quiet = if idle { quiet + 1 } else { 0 };
        if quiet > QUIET {
            sleep();
            quiet = 0;
            (items, since) = (completed_items(), Instant::now());
        }
    }
}

/// The least goal that leaves the minimum of workers beside those that are blocked; 0 if no work waits.
fn needed(counts: &Counts, workers: &Limits) -> u16 {
    if counts.requested == 0 || counts.working < counts.goal {
        return 0;
    }
    let wanted = workers.min + i32::from(super::blocked_workers());
    wanted.min(workers.max) as u16
}

/// Lets an interval pass. Meanwhile blocked workers are made up for.
fn watch(interval: Duration, mask: &libc::sigset_t) {
    let end = Instant::now() + interval;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        let is_used = COUNTS.get().working > 0;
        std::thread::sleep(if is_used { left.min(LOOK) } else { left });
        let counts = COUNTS.get();
        let goal = needed(&counts, &limits().0);
        if goal > counts.goal && COUNTS.set_goal(goal) {
            send_worker(mask);
        }
    }
}

/// Sleeps until a worker is sent for.
fn sleep() {
    STATE.store(ASLEEP, Ordering::SeqCst);
    if COUNTS.get().working > 0 {
        // Somebody may have been sent for without seeing that we sleep.
        STATE.store(LOOKING, Ordering::SeqCst);
    }
    while STATE.load(Ordering::SeqCst) == ASLEEP {
        futex::wait(&STATE, ASLEEP, None);
    }
}
