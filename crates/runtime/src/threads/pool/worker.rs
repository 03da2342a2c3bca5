//! A worker's life: a managed background thread that runs the dispatch loop while there are requests, then searches for a
//! moment, sleeps, and ends when nobody needed it for 5 to 60 seconds.
//!
//! # Invariants
//! * A worker is one of `working` in the counts from the moment it is sent for until a step tells it to sleep.
//! * Between two items the thread is as it was in the beginning: its name, its priority, in the background. (The class
//!   library puts the culture back.)
//! * An exception that leaves a callback ends the process with code 255; an abort ends that callback only.
use super::counts::{Next, Step};
use super::{COUNTS, IDS, POLLER, idle, monitor};
use crate::cx::Cx;
use crate::object::ObjRef;
use crate::threads::{self, current_internal, name, state};
use std::mem::offset_of;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use vervet_abi::layouts::InternalThreadObject as Internal;
use vervet_types::{Known, LoadError};

const NAME: name::Default = name::Default::PoolWorker;
/// What a worker's stack holds, as mono has it, and what our own code needs below.
const STACK: usize = (2 << 20) + (512 << 10);
/// ThreadPriority.Normal.
const NORMAL: i32 = 2;
/// How long a worker that finds nothing looks again before it sleeps.
const SEARCH: Duration = Duration::from_micros(20);

/// Has a worker come that is counted already: a sleeping one or a new one. The calling thread is in Runtime state or not attached.
pub(super) fn send() {
    monitor::wake();
    if idle::wake_one() {
        return;
    }
    if !crate::threads::start::spawn_attached(STACK, run) {
        // The monitor tries again.
        COUNTS.failed();
    }
}

fn run() {
    if make_objects(&Cx::current()) {
        IDS.fetch_max(
            crate::threads::park::id(&Cx::current()) + 1,
            Ordering::Relaxed,
        );
        while work() {
            let time = Duration::from_millis(5_000 + u64::from(rand()) % 55_000);
            if !idle::sleep(&Cx::current(), time) {
                break;
            }
        }
    } else {
        COUNTS.failed();
    }
}

/// Some bits that differ from worker to worker and time to time.
fn rand() -> u32 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id()) as u32
}

/// From being woken to going to sleep. False if the thread cannot go on.
fn work() -> bool {
    let mut step = search();
    loop {
        if step.1 {
            send();
        }
        step = match step.0 {
            Next::Dispatch => {
                // A token of its own for each run: what a callback leaves behind is not kept by this frame.
                dispatch(&Cx::current());
                COUNTS.dispatched()
            }
            Next::Search => search(),
            Next::Sleep => {
                if let Some(poller) = POLLER.get()
                    && COUNTS.get().working == 0
                {
                    (poller.rest)();
                }
                return true;
            }
        };
    }
}

/// Looks for a request for a while. A worker that finds one at once saves its sender a system call, which costs more than the search. It stays in
/// Runtime state and polls, so that a stop does not wait for it.
fn search() -> Step {
    let cx = Cx::current();
    let mut end = None;
    loop {
        for _ in 0..16 {
            let step = COUNTS.take();
            if step.0 != Next::Search {
                return step;
            }
            std::hint::spin_loop();
        }
        cx.poll();
        if POLLER.get().is_some_and(|p| (p.poll)()) {
            continue;
        }
        let now = Instant::now();
        if now >= *end.get_or_insert(now + SEARCH) {
            return COUNTS.give_up();
        }
    }
}

/// Makes the calling thread a managed one, with the properties of a worker. False: there is no memory for its objects.
fn make_objects(cx: &Cx<'_>) -> bool {
    if let Err(throw) = threads::adopt(cx) {
        let _ = cx.take_pending(throw);
        return false;
    }
    let internal = current_internal(cx);
    internal.write(offset_of!(Internal, threadpool_thread), 1u8);
    internal.write(offset_of!(Internal, apartment_state), state::APARTMENT_MTA);
    state::change(internal, state::BACKGROUND, 0);
    name::set_default(internal, NAME);
    true
}

/// What a callback changed of the calling worker is put back.
pub(super) fn reset(cx: &Cx<'_>) {
    let internal = current_internal(cx);
    name::set_default(internal, NAME);
    if state::get(internal) & state::BACKGROUND == 0 {
        state::change(internal, state::BACKGROUND, 0);
    }
    if internal.read::<i32>(offset_of!(Internal, priority)) != NORMAL {
        internal.write(offset_of!(Internal, priority), NORMAL);
    }
}

/// Runs the class library's dispatch loop once.
fn dispatch<'cx>(cx: &'cx Cx<'cx>) {
    let class = cx.known(Known::ThreadPoolWaitCallback);
    let result = cx
        .load(class.find_method("PerformWaitCallback", Some(0)))
        .and_then(|m| match m {
            Some(perform) => cx.invoke(perform, None, &[]),
            None => Err(cx.throw_load(LoadError::missing_method(class, "PerformWaitCallback"))),
        });
    if let Err(throw) = result {
        let exception: ObjRef<'_> = cx.take_pending(throw);
        if !threads::start::ends_thread_only(exception) {
            crate::exceptions::unhandled::unhandled_with(cx, exception, 255);
        } else if let Err(throw) = crate::threads::abort::reset(cx) {
            let _ = cx.take_pending(throw); // No abort was under way.
        }
    }
    reset(cx);
}
