//! The finalizer thread: an OS thread of the runtime that runs finalizers, one after the other.
//!
//! # How it works
//! The collector queues objects and calls [`notify`], which counts. The finalizer thread takes the count, runs finalizers until
//! none is queued, and publishes the count that it had taken. A thread that waits for pending finalizers counts too and waits until
//! that number is published. So a wait covers what was queued before it, and no wake-up is lost.
//!
//! # At the end of the process, as mono does it (measured, 6.8)
//! When Main has returned or Environment.Exit was called, and ProcessExit has been raised, the finalizers of all objects
//! still registered run, reachable or not, those of the program's own classes before those of the class libraries, of each
//! the last registered first, and critical ones last, on this thread, once each; what they register or revive is not finalized. Environment.HasShutdownStarted is true meanwhile. The process waits
//! for them some 40 seconds. After an unhandled exception no finalizer runs. Unlike in mono, Environment.Exit in such a
//! finalizer ends the process (there it hangs): no further finalizer runs.
//!
//! # Invariants
//! * The thread exists once something is to be finalized or waited for; [`notify`] starts nothing and takes no memory, so
//!   that it may be called while the world is stopped. The thread that stopped the world calls [`start`] afterwards.
//! * Nobody waits for a finalizer thread that will not serve again: it says so before it leaves ([`leave_for_good`]).
//! * An exception that leaves a finalizer ends the process with code 255; ThreadAbortException ends that finalizer only.
use crate::cx::{Cx, Result, Value};
use crate::domain;
use crate::exceptions::unhandled;
use crate::memory::finalizer_requests::{ENDING, REQUESTED, WATCHED, is_ending, notify};
use crate::memory::gc;
use crate::object::ObjRef;
use crate::profiler::hooks;
use crate::threads;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::time::{Duration, Instant};
use vervet_abi::ThreadContext;
use vervet_os::{Published, futex};
use vervet_profiler::record::Kind;

/// How long the end of the process waits for finalizers.
const PATIENCE: Duration = Duration::from_secs(40);

/// The last request that has been served; threads that wait for finalizers sleep on it.
static SERVED: AtomicU32 = AtomicU32::new(0);
static STARTED: AtomicBool = AtomicBool::new(false);
static ENDED: AtomicBool = AtomicBool::new(false);
/// Owner id of the thread, 0 while there is none.
static OWNER: AtomicU32 = AtomicU32::new(0);

/// What a host wants done after each collection, when its finalizers have run.
static AFTERWARDS: Published<fn(&Cx<'_>)> = Published::new();

/// Has `work` done on the finalizer thread after each collection from now on, and whenever [`request`] is called. Only the first `work` counts.
pub fn do_after_collections(work: fn(&Cx<'_>)) {
    AFTERWARDS.put(work);
    WATCHED.store(true, SeqCst);
    start();
}
/// Wakes the thread.
pub fn request() {
    notify();
}

/// Makes the thread exist. False if the system has no thread for us.
pub fn start() -> bool {
    if STARTED.swap(true, SeqCst) {
        return true;
    }
    let started = threads::native(|| {
        std::thread::Builder::new()
            .name("Finalizer".into())
            .stack_size(8 << 20)
            .spawn(run)
            .is_ok()
    });
    if !started {
        STARTED.store(false, SeqCst);
    }
    started
}

/// Is it the context of the finalizer thread?
///
/// # Safety
/// The context is that of an attached thread.
pub(crate) unsafe fn is_finalizer(context: *mut ThreadContext) -> bool {
    // SAFETY: the context is there, and the id is the thread's as long as it is attached.
    OWNER.load(SeqCst) == unsafe { (*context).owner_id }
}

/// Is the calling thread the finalizer thread?
fn is_this(cx: &Cx<'_>) -> bool {
    // SAFETY: a token's context is that of an attached thread.
    unsafe { is_finalizer(cx.context()) }
}

/// Waits until what is queued now has been finalized. On the finalizer thread itself, returns at once.
pub fn wait_for_pending(cx: &Cx<'_>) {
    if is_this(cx) || !start() {
        return;
    }
    let request = notify();
    cx.native(|| wait_served(request, None));
}

/// Has the request been served within the limit?
fn wait_served(request: u32, limit: Option<Duration>) -> bool {
    let end = limit.map(|l| Instant::now() + l);
    loop {
        let served = SERVED.load(SeqCst);
        // The numbers wrap round: compare by distance.
        if served.wrapping_sub(request) as i32 >= 0 || ENDED.load(SeqCst) {
            return true;
        }
        let left = end.map(|e| e.saturating_duration_since(Instant::now()));
        if left == Some(Duration::ZERO) {
            return false;
        }
        futex::wait(&SERVED, served, left);
    }
}

/// The process ends in the ordinary way: runs the finalizers of all registered objects. See the module.
pub fn finish(cx: &Cx<'_>) {
    if ENDING.swap(true, SeqCst) || is_this(cx) {
        return;
    }
    let due = gc::queue_all_finalizers(cx) || STARTED.load(SeqCst);
    if due && start() {
        let request = notify();
        if !cx.native(|| wait_served(request, Some(PATIENCE))) {
            tracing::warn!("finalizers did not end in {PATIENCE:?}");
        }
    }
}

/// The thread. It may have been started by a thread of the collector's, which takes no signals: this one does.
fn run() {
    // SAFETY: changes the calling thread's mask only.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::pthread_sigmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
    }
    crate::threads::attach::attach();
    {
        let cx = Cx::current();
        if make_objects() {
            // SAFETY: the context belongs to this thread.
            OWNER.store(unsafe { (*cx.context()).owner_id }, SeqCst);
            serve();
        }
    }
    OWNER.store(0, SeqCst);
    end_service();
}

/// From now on no finalizer runs: nobody waits for one.
fn end_service() {
    ENDED.store(true, SeqCst);
    // A change of the word, so that nobody who has just looked goes to sleep.
    SERVED.fetch_add(1, SeqCst);
    futex::wake(&SERVED, i32::MAX);
}

/// The calling thread waits for the end of the process and returns to nothing. If it is the finalizer thread, the end of the
/// process does not wait for it.
pub fn leave_for_good(cx: &Cx<'_>) {
    if is_this(cx) {
        end_service();
    }
}

fn serve() {
    loop {
        let request = REQUESTED.load(SeqCst);
        // A token of its own for each object: what a finalizer leaves behind is not kept by this frame.
        hooks::finalizers(Kind::FinalizersBegin);
        while finalize_next(&Cx::current()) {
            // A finalizer is a call of some depth.
            gc::clear_stack_below::<2048>();
        }
        hooks::finalizers(Kind::FinalizersEnd);
        if let Some(work) = AFTERWARDS.get() {
            work(&Cx::current());
        }
        SERVED.store(request, SeqCst);
        futex::wake(&SERVED, i32::MAX);
        if REQUESTED.load(SeqCst) == request {
            if is_ending() {
                return;
            }
            Cx::current().native(|| futex::wait(&REQUESTED, request, None));
        }
    }
}

/// The managed objects of this thread: it is called Finalizer.
fn make_objects() -> bool {
    let cx = &Cx::current();
    if let Err(throw) = threads::adopt(cx) {
        let _ = cx.take_pending(throw);
        return false;
    }
    threads::name::set_default(
        threads::current_internal(cx),
        threads::name::Default::Finalizer,
    );
    true
}

/// Calls the object's finalizer, in the object's domain. Nothing is called in a domain that has been unloaded: it has had its finalizers.
fn finalize<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<()> {
    let Some(method) = cx.load(object.class().finalizer())? else {
        return Ok(());
    };
    let domain = domain::by_id(object.vtable().domain);
    cx.visit(domain, domain::State::Unloaded, |cx| {
        cx.invoke(method, Some(Value::Ref(object)), &[]).map(drop)
    })
    .map(drop)
}

/// Runs the next finalizer that is due; false if there is none.
fn finalize_next<'cx>(cx: &'cx Cx<'cx>) -> bool {
    let Some(object) = gc::next_finalizable(cx) else {
        return false;
    };
    hooks::finalizer(Kind::FinalizerBegin, object.addr());
    let result = finalize(cx, object);
    hooks::finalizer(Kind::FinalizerEnd, object.addr());
    if let Err(throw) = result {
        let exception = cx.take_pending(throw);
        if exception.class().name == "ThreadAbortException" {
            if let Err(throw) = crate::threads::abort::reset(cx) {
                let _ = cx.take_pending(throw);
            }
        } else if domain::by_id(object.vtable().domain).state() >= domain::State::Unloading {
            // An abort may have come between an object's allocation and the end of its constructor: its finalizer may meet what cannot be otherwise.
            tracing::warn!(
                "a finalizer of an unloaded domain threw {}",
                exception.class().full_name()
            );
        } else {
            unhandled::of_finalizer(cx, exception);
        }
    }
    true
}
