//! What other threads ask of a thread, abort and suspend, and how it comes to hear of it.
//!
//! # How it works
//! A request is a bit of `ThreadContext::interrupts`. The thread serves it ([`serve`]) at the next of these places:
//! * the prologue of a method: who asks makes the stack limit MAX, so that every prologue calls [`at_prologue`];
//! * a branch back in a method with exception handlers, which looks at the word;
//! * any instruction of a method without handlers: the thread is stopped by the suspend signal and its registers are
//!   changed so that it calls [`at_instruction`] from where it is;
//! * the slow path of an allocation, because a loop that does little but allocate can hardly be stopped elsewhere;
//! * the end of a wait ([`super::state::park`]), out of which an abort wakes it.
//!
//! Who asks tries once; then the *driver*, a thread of its own, tries again with growing pauses until the request is served:
//! the thread may be in native code, or where an abort has to wait. It also repeats the signal for threads that are to come out of
//! a wait for a descriptor ([`park::io`]).
//!
//! # Invariants
//! * The bits are changed by atomic operations. The thread itself clears ABORT and changes RAISED and SUSPENDED; a
//!   context is given up with none of them.
//! * The limit is MAX at most until the thread has looked; that request and limit pass each other costs a try of the driver.
use super::{current_internal, state};
use crate::code::{arena, table};
use crate::cx::{Cx, Result};
use crate::object::ObjRef;
use crate::safepoint::{registry, stop};
use crate::threads::abort;
use crate::threads::park;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;
use vervet_abi::context::interrupts::*;
use vervet_abi::{State, ThreadContext};
use vervet_os::futex;

/// The requests of a context.
pub(crate) fn word<'a>(context: *mut ThreadContext) -> &'a AtomicU32 {
    // SAFETY: contexts are never freed; the word is accessed atomically, but for loads by generated code.
    unsafe { AtomicU32::from_ptr(&raw mut (*context).interrupts) }
}

/// Is something asked for that the thread has not served?
fn is_wanted(context: *mut ThreadContext) -> bool {
    let bits = word(context).load(Ordering::SeqCst);
    bits & ABORT != 0 || bits & (SUSPEND | SUSPENDED) == SUSPEND
}

fn make_prologues_look(context: *mut ThreadContext) {
    // A limit of MAX only makes the thread look.
    registry::limit(context).store(usize::MAX, Ordering::SeqCst);
}

/// Asks the running thread with that InternalThread, if there is one. The calling thread holds no lock.
pub fn request(cx: &Cx<'_>, internal: ObjRef<'_>, bits: u32) {
    request_where(cx, |_, thread| if thread == internal { bits } else { 0 });
}

/// Asks the managed threads what `bits` says of each, given its context and InternalThread. It takes no memory and no lock.
pub(super) fn request_where(
    cx: &Cx<'_>,
    mut bits: impl FnMut(*mut ThreadContext, ObjRef<'_>) -> u32,
) {
    let mut asked: Vec<(*mut ThreadContext, u32)> = Vec::with_capacity(registry::count() + 64);
    registry::visit(|thread| {
        let context = thread.context;
        // SAFETY: the thread is attached; the word changes while the world is stopped only, or when the thread begins and
        // ends. It is 0 or an InternalThread, which is not moved while the calling thread is in Runtime state.
        let internal: ObjRef<'_> =
            unsafe { ObjRef::from_addr((&raw const (*context).internal_thread).read_volatile()) };
        if internal.is_null() || asked.len() == asked.capacity() {
            return;
        }
        let bits = bits(context, internal);
        if bits != 0 {
            word(context).fetch_or(bits, Ordering::SeqCst);
            make_prologues_look(context);
            // SAFETY: as above.
            asked.push((context, unsafe { (*context).owner_id }));
        }
    });
    asked.retain(|(context, _)| *context != cx.context());
    for (context, id) in &asked {
        park::unpark(*id);
        park::interrupt_io(*id);
        stop_and_look(cx.context(), *context);
    }
    if !asked.is_empty() {
        driver::kick();
    }
}

/// The calling thread asks itself: it looks at its next prologue or branch back.
pub(super) fn request_own(context: *mut ThreadContext, bits: u32) {
    word(context).fetch_or(bits, Ordering::SeqCst);
    make_prologues_look(context);
    driver::kick();
}

/// Makes the thread call [`at_instruction`] if it runs code that allows it.
fn stop_and_look(me: *mut ThreadContext, context: *mut ThreadContext) {
    if registry::state(context).load(Ordering::Relaxed) != State::Managed as u8 {
        return;
    }
    stop::stop_thread(me, context, |uc| {
        // SAFETY: the thread is parked in the handler, its registers and stack are as it left them.
        unsafe {
            let pc = crate::arch::program_counter(uc);
            let in_managed_code = registry::state(context).load(Ordering::Relaxed)
                == State::Managed as u8
                && arena::contains(pc);
            if in_managed_code && table::find(pc).is_some_and(|code| code.may_call_at(pc)) {
                crate::arch::call_interrupt_stub(uc);
            }
        }
    });
}

/// Serves what is asked of the calling thread, which is at a place where it can throw: suspends itself as long as that is
/// wanted, and throws if it is aborted and may be.
#[inline]
pub fn serve<'cx>(cx: &'cx Cx<'cx>) -> Result<()> {
    match word(cx.context()).load(Ordering::Relaxed) {
        0 => Ok(()),
        bits => serve_requests(cx, bits),
    }
}

#[cold]
fn serve_requests<'cx>(cx: &'cx Cx<'cx>, bits: u32) -> Result<()> {
    if bits & SUSPEND != 0 {
        suspend_here(cx);
    }
    abort::poll(cx)
}

/// Would [`serve`] do something now?
pub fn is_due(cx: &Cx<'_>) -> bool {
    word(cx.context()).load(Ordering::SeqCst) & SUSPEND != 0 || abort::is_due(cx)
}

fn suspend_here<'cx>(cx: &'cx Cx<'cx>) {
    let (word, internal) = (word(cx.context()), current_internal(cx));
    word.fetch_or(SUSPENDED, Ordering::SeqCst);
    loop {
        // First: a request that comes after the look at the state is seen at the next place.
        word.fetch_and(!SUSPEND, Ordering::SeqCst);
        if !state::stays_suspended(internal) {
            break;
        }
        park::park(cx, || {}, None);
    }
    word.fetch_and(!SUSPENDED, Ordering::SeqCst);
}

/// From the stub that prologues call with the limit raised; 0: an exception is pending.
pub(crate) extern "C" fn at_prologue(context: *mut ThreadContext) -> usize {
    // SAFETY: the context belongs to this thread.
    registry::limit(context).store(unsafe { (*context).true_limit }, Ordering::SeqCst);
    at_instruction(context)
}

/// From the stub that a stopped thread is made to call; 0: an exception is pending.
pub(crate) extern "C" fn at_instruction(_: *mut ThreadContext) -> usize {
    let cx = Cx::current();
    serve(&cx).is_ok() as usize
}

/// The context is given up: no request of this thread's is left to the next.
pub(crate) fn forget(context: *mut ThreadContext) {
    word(context).store(0, Ordering::SeqCst);
}

/// The thread that tries again. It is not attached.
pub(crate) mod driver {
    use super::*;

    const FIRST_PAUSE: Duration = Duration::from_micros(200);
    const LONGEST_PAUSE: Duration = Duration::from_millis(10);
    const AT_ONCE: usize = 64;

    static RUNS: AtomicBool = AtomicBool::new(false);
    /// Counts kicks; the driver sleeps on it.
    static KICKS: AtomicU32 = AtomicU32::new(0);

    /// Somebody was asked for something.
    pub(crate) fn kick() {
        KICKS.fetch_add(1, Ordering::SeqCst);
        futex::wake(&KICKS, 1);
        if !RUNS.swap(true, Ordering::SeqCst) {
            let started = vervet_os::thread::spawn_detached(256 << 10, drive);
            // Without it requests are served later, and the next one tries again.
            RUNS.store(started.is_ok(), Ordering::SeqCst);
        }
    }

    fn drive() {
        let mut pause = FIRST_PAUSE;
        let mut last = 0;
        loop {
            let seen = KICKS.load(Ordering::SeqCst);
            if seen != last {
                pause = FIRST_PAUSE;
                last = seen;
            }
            let mut wanted = [std::ptr::null_mut(); AT_ONCE];
            let (mut count, mut in_io) = (0, false);
            registry::visit(|thread| {
                let context = thread.context;
                if count < AT_ONCE && is_wanted(context) {
                    wanted[count] = context;
                    count += 1;
                }
                // SAFETY: the context of a thread on the list, whose id does not change.
                if park::blocking_io::is_asked(unsafe { (&raw const (*context).owner_id).read() }) {
                    in_io = true;
                    thread.signal();
                }
            });
            if count == 0 && !in_io {
                futex::wait(&KICKS, seen, None);
                continue;
            }
            for context in &wanted[..count] {
                make_prologues_look(*context);
                stop_and_look(std::ptr::null_mut(), *context);
            }
            futex::wait(&KICKS, seen, Some(pause));
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}
