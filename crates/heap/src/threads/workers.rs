//! The worker pool: threads that help the collecting thread in a pause. How they share work: [`super::mark_stack`].
//!
//! ```text
//!   collecting thread (worker 0)            helper i
//!   --------------------------------------  ---------------------------------------------------
//!   job = ...; session = OPEN; unpark       woken: session is OPEN? session += 1, else sleeps on
//!   job(0)                                  job(i)
//!   session &= !OPEN; waits for session 0   session -= 1
//! ```
//!
//! # Invariants
//! * The thread that collects is always one of the workers. A helper joins if it wakes in time, and is waited for only once it has joined. So a
//!   small collection never waits for a thread to be scheduled.
//! * A helper is not left to wait for the processor of the thread that collects: its affinity excludes that processor when it is woken (the kernel
//!   may wake a thread there, and move it to an idle processor many milliseconds later).
//! * The helpers are started by [`WorkerPool::start`]; until then the collecting thread does every job alone.
//! * `job` is written only while no session is open and no helper is counted in it.
use crate::threads::affinity::ThreadAffinity;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering::*};
use vervet_os::LeafLock;

/// Helpers may join the job.
const OPEN: u32 = 1 << 31;

type Job<'a> = &'a (dyn Fn(usize) + Sync);

struct Shared {
    /// What the workers of the session do.
    job: UnsafeCell<Option<Job<'static>>>,
    /// Bit [`OPEN`] while helpers may join; below it the number that have joined and not left. Helper i is always worker i + 1.
    session: AtomicU32,
    /// The helpers that were started.
    threads: LeafLock<Vec<Helper>>,
}

/// A helper, as the thread that collects knows it.
struct Helper {
    thread: std::thread::Thread,
    affinity: &'static ThreadAffinity,
}
// SAFETY: `job` is written only while no session is open and nobody has joined.
unsafe impl Sync for Shared {}
// SAFETY: the job is `Sync`, so it may be called from any thread; the other fields are `Send`.
unsafe impl Send for Shared {}

/// See the module.
pub struct WorkerPool {
    shared: &'static Shared,
    /// Of each helper, where it may run: where the process could when the heap was made.
    affinities: Vec<&'static ThreadAffinity>,
}

impl WorkerPool {
    /// A pool for so many helpers, which are not started yet.
    pub fn new(helpers: usize) -> WorkerPool {
        let shared: &'static Shared = Box::leak(Box::new(Shared {
            job: UnsafeCell::new(None),
            session: AtomicU32::new(0),
            threads: LeafLock::new(Vec::new()),
        }));
        let new = |_| &*Box::leak(Box::new(ThreadAffinity::new()));
        WorkerPool {
            shared,
            affinities: (0..helpers).map(new).collect(),
        }
    }
    /// Starts the helpers. Called once. One that cannot be started is done without. A thread begins with the priority of the thread that starts it, so the
    /// collector's own thread, which has a lower one, must not be the one to call.
    pub fn start(&self) {
        let shared = self.shared;
        for (i, &affinity) in self.affinities.iter().enumerate() {
            let started = std::thread::Builder::new()
                .name(format!("GC helper {i}"))
                .stack_size(256 << 10)
                .spawn(move || {
                    vervet_os::signal::block_all();
                    affinity.set_current_thread();
                    loop {
                        std::thread::park();
                        help(shared, i + 1);
                    }
                });
            let Ok(handle) = started else {
                return;
            };
            shared.threads.lock().push(Helper {
                thread: handle.thread().clone(),
                affinity,
            });
        }
    }
    /// How many workers a job can have at most.
    pub fn count(&self) -> usize {
        self.affinities.len() + 1
    }
    /// Runs `job(worker)` here, as worker 0, and if `parallel` on the helpers that wake in time. One job at a time.
    pub fn run(&self, parallel: bool, job: Job<'_>) {
        if !parallel || self.affinities.is_empty() {
            job(0);
            return;
        }
        let s = self.shared;
        // SAFETY: no session is open; the job outlives the session, which ends below. The lifetime is only lengthened
        // for the time of this call.
        unsafe { *s.job.get() = Some(std::mem::transmute::<Job<'_>, Job<'static>>(job)) };
        s.session.store(OPEN, Release);
        for helper in s.threads.lock().iter() {
            if let Some(guard) = helper.affinity.avoid_current_processor() {
                guard.keep();
            }
            helper.thread.unpark();
        }
        job(0);
        s.session.fetch_and(!OPEN, AcqRel);
        while s.session.load(Acquire) != 0 {
            std::thread::yield_now();
        }
    }
}

/// Joins as that worker if a session is open. (A helper that wakes twice in a session joins twice, one time after the other.)
fn help(s: &'static Shared, worker: usize) {
    let join = s
        .session
        .fetch_update(AcqRel, Acquire, |v| (v & OPEN != 0).then_some(v + 1));
    if join.is_err() {
        return;
    }
    // SAFETY: the session is open or we are counted in it, so the job is there.
    if let Some(job) = unsafe { *s.job.get() } {
        job(worker);
    }
    s.session.fetch_sub(1, AcqRel);
}
