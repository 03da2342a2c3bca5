//! Interrupt requests, as the thread that is asked serves them.
//!
//! # Where
//! The bits of `ThreadContext::interrupts` are served ([`serve`]) at the next of these places:
//! * the prologue of a method: the requester makes the stack limit MAX, so that every prologue calls [`at_prologue`];
//! * a branch back in a method with exception handlers, which tests the word;
//! * any instruction of a method without handlers: the thread is stopped by the suspend signal, and its registers are
//!   changed so that it calls [`at_instruction`] from where it is;
//! * the return of an internal call or a helper to such a method, if the limit is raised: a loop that does little but ask for the time is nearly always in one;
//! * the slow path of an allocation, because a loop that does little but allocate can hardly be stopped elsewhere;
//! * the end of a wait ([`super::wait::park`]), out of which an abort wakes it; of `Sleep`, `Yield` and `Join` also the suspension.
//!
//! # The bits
//! | bit | set by | cleared by | meaning |
//! |---|---|---|---|
//! | `ABORT` | any thread | the thread | an abort was asked for and its exception has not been raised |
//! | `RAISED` | the thread | the thread, at the reset | the exception was raised: it is raised again at the end of each catch |
//! | `SUSPEND` | any thread | the thread | the thread is to suspend itself if its ThreadState still says so |
//! | `SUSPENDED` | the thread | the thread | the thread has suspended itself |
//!
//! # Invariants
//! * The bits are changed by atomic operations, and a context is given up with none of them set.
//! * The limit is MAX at most until the thread has looked. A request whose limit the thread resets before it sees the bit costs a
//!   try of the retry thread.
use super::retry_thread::is_wanted;
use super::{abort, blocking, current_internal, green, park, stack_limit, state};
use crate::code::table;
use crate::cx::{Cx, Result};
use crate::exceptions::protected;
use std::sync::atomic::Ordering;
use vervet_abi::ThreadContext;
use vervet_abi::context::interrupts::{PREEMPT, SUSPEND, SUSPENDED};

/// Serves what is asked of the calling thread, which is at a place where it can throw: suspends itself as long as that is
/// wanted, and throws if it is aborted and may be.
#[inline]
pub fn serve<'cx>(cx: &'cx Cx<'cx>) -> Result<()> {
    match cx.interrupts().load(Ordering::Relaxed) {
        0 => Ok(()),
        bits => serve_requests(cx, bits),
    }
}

#[cold]
fn serve_requests<'cx>(cx: &'cx Cx<'cx>, mut bits: u32) -> Result<()> {
    if bits & PREEMPT != 0 {
        cx.interrupts().fetch_and(!PREEMPT, Ordering::SeqCst);
        green::wait::preempted(cx, |wait| blocking(wait));
        // Others may have asked meanwhile.
        bits = cx.interrupts().load(Ordering::SeqCst);
    }
    if bits & SUSPEND != 0 {
        suspend_here(cx);
    }
    abort::poll(cx)
}

/// Would [`serve`] do something now?
pub fn is_due(cx: &Cx<'_>) -> bool {
    cx.interrupts().load(Ordering::SeqCst) & SUSPEND != 0 || abort::is_due(cx)
}

/// Suspends the calling thread if that is asked, at the end of a wait. A loop that does little but sleep, yield or join is hardly ever found elsewhere: its calls
/// may be all it consists of, and have no prologue.
#[inline]
pub(super) fn suspend_if_asked<'cx>(cx: &'cx Cx<'cx>) {
    if cx.interrupts().load(Ordering::Relaxed) & SUSPEND != 0 {
        suspend_here(cx);
    }
}

fn suspend_here<'cx>(cx: &'cx Cx<'cx>) {
    let (word, internal) = (cx.interrupts(), current_internal(cx));
    word.fetch_or(SUSPENDED, Ordering::SeqCst);
    loop {
        // First: a request that comes after the look at the state is seen at the next place.
        word.fetch_and(!SUSPEND, Ordering::SeqCst);
        if !state::stays_suspended(internal) {
            break;
        }
        park::reason::set(cx, park::Reason::Suspended, None);
        park::park(cx, || {}, None);
    }
    word.fetch_and(!SUSPENDED, Ordering::SeqCst);
}

/// At the start of a function, which found the limit raised or passed and has made no frame; `pc` lies in it. Serves the interrupt
/// requests; false: an exception is pending.
///
/// # Safety
/// The context is that of the calling thread, which is in Runtime state.
pub(crate) unsafe fn at_prologue(context: *mut ThreadContext, pc: usize) -> bool {
    stack_limit::renew(context);
    let cx = Cx::current();
    let _region = table::find(pc).and_then(|code| protected::entering(&cx, code));
    serve(&cx).is_ok()
}

/// From the stub that a stopped thread is made to call; 0: an exception is pending.
#[unsafe(export_name = "vervet_interrupted_at_instruction")]
pub(crate) extern "C" fn at_instruction(_: *mut ThreadContext) -> usize {
    let cx = Cx::current();
    serve(&cx).is_ok() as usize
}

/// From the thunk of an internal call or a leaf helper, which returns, while some thread is asked for something. May leave an exception pending.
///
/// An abort that has to wait costs a walk of the stack. So the thread looks once for each time that the limit was raised, as in prologues.
///
/// # Safety
/// The context is that of the calling thread, which is in Runtime state, with the thunk's record.
#[unsafe(export_name = "vervet_interrupted_at_return")]
pub(crate) unsafe extern "C" fn at_return(context: *mut ThreadContext) {
    // SAFETY: the caller's promise: the innermost record is the thunk's, and its pc the address that the thunk returns to.
    unsafe {
        if (&raw const (*context).limit).read_volatile() != usize::MAX || !is_wanted(context) {
            return;
        }
        let pc = (*(*context).record).pc;
        if table::find(pc).is_some_and(|code| code.may_call_at(pc)) {
            stack_limit::renew(context);
            // The exception is pending.
            let _ = serve(&Cx::current());
        }
    }
}
