//! A worker's life: a managed background thread that runs the dispatch loop while there are requests, then searches for a
//! moment, sleeps, and ends when nobody needed it for 5 to 60 seconds.
//!
//! # Invariants
//! * A worker is one of `working` in the counts from the moment it is sent for until a step tells it to sleep.
//! * Between two items the thread is as it was in the beginning: its name, its priority, in the background, not asked to abort. (The class
//!   library puts the culture back.)
//! * A request that a worker has taken is served, or made again: the class library asks for no more than it thinks are on their way.
//! * An exception that leaves a callback ends the process with code 255; an abort ends that callback only.
use super::counts::{Next, Step};
use super::{COUNTS, IDS, POLLER, idle, monitor};
use crate::cx::{Cx, Result};
use crate::domain::State;
use crate::object::ObjRef;
use crate::threads::{self, current_internal, name, state};
use std::mem::offset_of;
use std::sync::atomic::Ordering;
use std::time::Duration;
use vervet_abi::layouts::InternalThreadObject as Internal;
use vervet_os::Published;
use vervet_types::{Known, LoadError, MethodRef};

const NAME: name::Default = name::Default::PoolWorker;
/// What a worker's stack holds, as mono has it, and what our own code needs below.
const STACK: usize = (2 << 20) + (512 << 10);
/// ThreadPriority.Normal.
const NORMAL: i32 = 2;
/// How many rounds a worker that finds nothing looks before it sleeps: about 20 microseconds of its own time, half of them in the kernel.
const ROUNDS: u32 = 32;
/// As a power of two: how many steps of a spin loop a worker waits at most after runs that found next to nothing, some microseconds.
const MOST_VAIN: u32 = 7;
/// A run that completed fewer items found next to nothing: the others would have done without.
const FEW: u64 = 4;
/// After how many steps it looks again whether others work.
const LOOK: u32 = 8;
/// How often it looks in a round.
const ROUND: u32 = 16;

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
        let patience = patience();
        while work() && idle::sleep(&Cx::current(), patience) {}
    } else {
        COUNTS.failed();
    }
}

/// How long a worker sleeps before it ends: another time for each, so that they do not all end at once.
fn patience() -> Duration {
    use std::hash::{BuildHasher, RandomState};
    let some = RandomState::new().hash_one(std::process::id()) as u32;
    Duration::from_millis(5_000 + u64::from(some) % 55_000)
}

/// From being woken to going to sleep. False if the thread cannot go on.
fn work() -> bool {
    let mut step = search();
    let mut vain = 0;
    loop {
        if step.1 {
            send();
        }
        step = match step.0 {
            Next::Dispatch => {
                // A token of its own for each run: what a callback leaves behind is not kept by this frame.
                vain = match dispatch(&Cx::current()) {
                    ..FEW => MOST_VAIN.min(vain + 1),
                    _ => 0,
                };
                step_back(vain);
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

/// Looks for a request for a while. A worker that finds one at once saves its sender a system call, which costs more than the search. Between
/// two rounds it offers its processor to other threads, in Native state: if there are more threads than processors, the thread that is
/// about to make the next request may be waiting for this one. So the search is bounded by what it costs and not by a time, which such
/// threads would use up. A round itself is in Runtime state.
fn search() -> Step {
    let cx = Cx::current();
    for _ in 0..ROUNDS {
        for _ in 0..ROUND {
            let step = COUNTS.take();
            if step.0 != Next::Search {
                return step;
            }
            std::hint::spin_loop();
        }
        if !POLLER.get().is_some_and(|p| (p.poll)()) {
            cx.native(std::thread::yield_now);
        }
    }
    COUNTS.give_up()
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

/// An abort or an interrupt that came for an item which has ended is not meant for the next one.
pub(super) fn forget_requests(cx: &Cx<'_>) {
    let internal = current_internal(cx);
    state::forget_interrupt(internal);
    if state::get(internal) & state::ABORT_REQUESTED != 0
        && let Err(throw) = crate::threads::abort::reset(cx)
    {
        let _ = cx.take_pending(throw);
    }
}

/// The class library's dispatch loop, found once.
fn dispatch_loop<'cx>(cx: &'cx Cx<'cx>) -> Result<MethodRef> {
    static FOUND: Published<MethodRef> = Published::new();
    let find = || {
        let class = cx.known(Known::ThreadPoolWaitCallback);
        class
            .find_method("PerformWaitCallback", Some(0))?
            .ok_or_else(|| LoadError::missing_method(class, "PerformWaitCallback"))
    };
    cx.load(FOUND.get_or_try(find)).copied()
}

/// Leaves the other workers alone for a while, the longer the more runs in turn found next to nothing. The class library asks for another worker
/// with each item that it queues and takes. One that comes for an item which the asking worker takes itself a moment later slows it down, because it
/// looks at the words that are written for each item. Where no other worker works, nobody else would take the next item: then it does not wait.
fn step_back(vain: u32) {
    if vain == 0 {
        return;
    }
    for step in 0..1 << vain {
        if step % LOOK == 0 {
            let now = COUNTS.get();
            if now.working - now.searching <= 1 {
                return;
            }
        }
        std::hint::spin_loop();
    }
}

/// Runs the class library's dispatch loop once, in a domain that has asked for it. Returns how many items it completed.
fn dispatch<'cx>(cx: &'cx Cx<'cx>) -> u64 {
    let before = super::items_of(cx);
    let dispatches = super::DISPATCHES.at(crate::threads::park::id(cx));
    dispatches.store(1, Ordering::Relaxed);
    if let Some(domain) = super::domain_to_serve() {
        forget_requests(cx);
        let result = dispatch_loop(cx)
            .and_then(|run| cx.visit(domain, State::Unloading, |cx| cx.invoke(run, None, &[])));
        if result.is_err() {
            // The loop may not have come to where it counts the request as served; then it would ask for no more.
            super::request(domain);
        }
        deal_with(cx, result);
    }
    dispatches.store(0, Ordering::Relaxed);
    reset(cx);
    super::items_of(cx) - before
}

/// What the dispatch loop has thrown: an abort ends with the item, anything else ends the process.
fn deal_with<'cx, T>(cx: &'cx Cx<'cx>, result: Result<T>) {
    if let Err(throw) = result {
        let exception: ObjRef<'_> = cx.take_pending(throw);
        if !threads::start::ends_thread_only(cx, exception) {
            crate::exceptions::unhandled::of_thread(cx, exception, 255);
        } else if let Err(throw) = crate::threads::abort::reset(cx) {
            let _ = cx.take_pending(throw); // No abort was under way.
        }
    }
}
