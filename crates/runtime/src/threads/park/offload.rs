//! Calls that have to block, made by helper threads: the green thread parks meanwhile.
//!
//! # How it works
//! What the resolver of the C library waits for is no descriptor of ours, so a thread that calls it waits in the kernel. A green thread hands the
//! call to one of a few helpers and parks. A helper that finds nothing to do for a while ends.
//!
//! # Invariants
//! * There are at most [`MOST`] helpers. Further calls wait in a queue, in their order.
//! * A helper is not attached: the call touches no object and nothing of the calling thread's.
//! * Nothing ends the wait but the end of the call, as nothing ends it on an OS thread. What is asked of the thread meanwhile is served behind it.
use super::{Reason, id, park, reason, unpark};
use crate::cx::Cx;
use crate::threads::green;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use vervet_os::{LeafLock, futex};

/// The most helpers: that many names are looked up at once.
const MOST: usize = 16;
/// Bytes of a helper's stack. Modules of the resolver put buffers on it.
const STACK: usize = 1 << 20;
/// How long a helper stays without work.
const IDLE: Duration = Duration::from_secs(5);

type Job = Box<dyn FnOnce() + Send>;

struct Pool {
    jobs: VecDeque<Job>,
    helpers: usize,
    /// Helpers that sleep, or are about to.
    idle: usize,
}

static POOL: LeafLock<Pool> = LeafLock::new(Pool {
    jobs: VecDeque::new(),
    helpers: 0,
    idle: 0,
});
/// Changes with every job.
static POSTED: AtomicU32 = AtomicU32::new(0);

/// Makes a call that blocks, in Native state or, for a green thread, on a helper.
pub fn offload<T: Send + 'static>(cx: &Cx<'_>, call: impl FnOnce() -> T + Send + 'static) -> T {
    if !green::is_green(cx) {
        return cx.native(call);
    }
    let me = id(cx);
    let result = Arc::new(LeafLock::new(None));
    let to = result.clone();
    let job: Job = Box::new(move || {
        let answer = call();
        *to.lock() = Some(answer);
        unpark(me);
    });
    if let Err(job) = cx.native(|| post(job)) {
        cx.native(job);
    }
    loop {
        if let Some(answer) = result.lock().take() {
            return answer;
        }
        reason::set(cx, Reason::Helper, None);
        park(cx, || {}, None);
    }
}

/// Has a helper do a job. It is given back if there is no helper and can be none.
fn post(job: Job) -> Result<(), Job> {
    let starts = {
        let mut pool = POOL.lock();
        pool.jobs.push_back(job);
        POSTED.fetch_add(1, Ordering::Release);
        // Those that sleep have been woken for the jobs before this one.
        let starts = pool.jobs.len() > pool.idle && pool.helpers < MOST;
        pool.helpers += usize::from(starts);
        starts
    };
    if !starts {
        futex::wake(&POSTED, 1);
        return Ok(());
    }
    if vervet_os::thread::spawn_detached(STACK, help).is_ok() {
        return Ok(());
    }
    let mut pool = POOL.lock();
    pool.helpers -= 1;
    match pool.helpers {
        // Nobody takes it. (Any job of the queue will do: its thread is woken.)
        0 => pool.jobs.pop_front().map_or(Ok(()), Err),
        _ => Ok(()),
    }
}

/// A helper, from its start to its end.
fn help() {
    // SAFETY: both sets are of this frame; the mask is this thread's. No handler of the program's runs here.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &all, std::ptr::null_mut());
    }
    while let Some(job) = next() {
        job();
    }
}

/// The next job. None: there was none for long, and the helper is counted no more.
fn next() -> Option<Job> {
    let end = Instant::now() + IDLE;
    loop {
        let seen = {
            let mut pool = POOL.lock();
            if let Some(job) = pool.jobs.pop_front() {
                return Some(job);
            }
            if Instant::now() >= end {
                pool.helpers -= 1;
                return None;
            }
            pool.idle += 1;
            POSTED.load(Ordering::Acquire)
        };
        futex::wait(
            &POSTED,
            seen,
            Some(end.saturating_duration_since(Instant::now())),
        );
        POOL.lock().idle -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn a_hundred_calls_that_block_are_made_by_a_few_helpers_at_once() {
        static DONE: AtomicU32 = AtomicU32::new(0);
        static NOW: AtomicUsize = AtomicUsize::new(0);
        static HIGHEST: AtomicUsize = AtomicUsize::new(0);
        for _ in 0..100 {
            let job: Job = Box::new(|| {
                let now = NOW.fetch_add(1, Ordering::SeqCst) + 1;
                HIGHEST.fetch_max(now, Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(5));
                NOW.fetch_sub(1, Ordering::SeqCst);
                DONE.fetch_add(1, Ordering::SeqCst);
            });
            assert!(post(job).is_ok());
        }
        let end = Instant::now() + Duration::from_secs(20);
        while DONE.load(Ordering::SeqCst) < 100 {
            assert!(
                Instant::now() < end,
                "{} of 100",
                DONE.load(Ordering::SeqCst)
            );
            std::thread::sleep(Duration::from_millis(1));
        }
        let highest = HIGHEST.load(Ordering::SeqCst);
        assert!((2..=MOST).contains(&highest), "{highest} at once");
    }
}
