//! The retry thread: it repeats what makes a thread hear an interrupt request until the request is served.
//!
//! # Why
//! A thread that was asked may be in native code, or in a place where an abort has to wait. Then raising its stack limit or stopping it
//! once has no effect. The same holds for the signal that ends a blocking system call: it may have found the thread in a handler.
//!
//! # Invariants
//! * The thread is not attached, so it is not stopped with the world. It starts with the first request and never ends; it sleeps while
//!   there is no request.
//! * Every try raises the limit of all threads that are asked, and redirects so many of them as run managed code, [`AT_ONCE`] at most: other ones each time.
//! * While a request is not served the stop word says `ASKED`, so that internal calls look at their return.
//! * It pauses between two tries, from [`FIRST_PAUSE`] to [`LONGEST_PAUSE`]; a new request starts with the first pause again.
use super::park::waiter::is_asked;
use crate::code::{arena, table};
use crate::safepoint::registry;
use crate::safepoint::stop;
use crate::safepoint::stop_word::STOP;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;
use vervet_abi::context::interrupts::{ABORT, PREEMPT, SUSPEND, SUSPENDED};
use vervet_abi::{State, ThreadContext};
use vervet_os::futex;

/// Is something asked for that the thread has not served?
///
/// # Safety
/// The context is that of a thread, attached or not.
pub(super) unsafe fn is_wanted(context: *mut ThreadContext) -> bool {
    // SAFETY: the caller's promise.
    let bits = unsafe { registry::interrupts(context) }.load(Ordering::SeqCst);
    // In a native call a green thread holds up nobody, and if it computes behind it, the watcher asks again.
    // SAFETY: the caller's promise.
    let is_preempted =
        || unsafe { registry::state(context) }.load(Ordering::Relaxed) != State::Native as u8;
    bits & ABORT != 0
        || bits & PREEMPT != 0 && is_preempted()
        || bits & (SUSPEND | SUSPENDED) == SUSPEND
}

/// Makes the thread call [`at_prologue`](super::interrupts::at_prologue) at its next prologue.
///
/// # Safety
/// The context is that of a thread, attached or not.
pub(super) unsafe fn raise_limit(context: *mut ThreadContext) {
    // A limit of MAX only makes the thread look, so it does no harm to a later owner of the context.
    // SAFETY: contexts of threads are never freed.
    unsafe { registry::limit(context) }.store(usize::MAX, Ordering::SeqCst);
}

/// # Safety
/// The context is that of a thread, attached or not.
unsafe fn runs_managed_code(context: *mut ThreadContext) -> bool {
    // SAFETY: contexts of threads are never freed.
    unsafe { registry::state(context) }.load(Ordering::Relaxed) == State::Managed as u8
}

/// Makes the thread call [`at_instruction`](super::interrupts::at_instruction) if it runs code that allows it, or [comes](super::step_out) to such code.
///
/// # Safety
/// `me` is the context of the calling thread, in Runtime state, or null if that is not attached; `context` is that of a thread, attached or
/// not.
pub(super) unsafe fn redirect(me: *mut ThreadContext, context: *mut ThreadContext) {
    // SAFETY: the caller's promise.
    if !unsafe { runs_managed_code(context) } {
        return;
    }
    let can_step = super::step_out::prepare();
    let call_stub = |uc: &mut libc::ucontext_t| {
        // SAFETY: the thread is held in the handler, its registers and stack are as it left them.
        unsafe {
            let pc = crate::arch::program_counter(uc);
            if registry::state(context).load(Ordering::Relaxed) != State::Managed as u8 {
                return;
            }
            if arena::contains(pc) && table::find(pc).is_some_and(|code| code.may_call_at(pc)) {
                crate::arch::call_interrupt_stub(uc);
            } else if can_step {
                super::step_out::begin(context, uc);
            }
        }
    };
    // SAFETY: the caller's promise about `me`; the stub is called at an instruction whose code allows it.
    unsafe { stop::stop_thread(me, context, call_stub) };
}

const FIRST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(10);
/// How many threads are redirected in one try.
const AT_ONCE: usize = 64;
/// In one of so many tries a thread in native code gets another signal, until one has ended a system call: those before may have found it between two.
const SIGNAL_EACH: u32 = 10;

static RUNS: AtomicBool = AtomicBool::new(false);
/// Counts kicks; the retry thread sleeps on it.
static KICKS: AtomicU32 = AtomicU32::new(0);

/// Somebody was asked for something.
pub(crate) fn kick() {
    STOP.set_asked(true);
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
    let (mut last, mut tries) = (0, 0u32);
    // How many of the threads that run managed code had their turn since all had.
    let mut served = 0;
    loop {
        tries = tries.wrapping_add(1);
        let seen = KICKS.load(Ordering::SeqCst);
        if seen != last {
            pause = FIRST_PAUSE;
            last = seen;
        }
        let mut running = [std::ptr::null_mut(); AT_ONCE];
        let (mut count, mut found, mut is_any, mut in_io) = (0, 0, false, false);
        registry::visit(|thread| {
            let context = thread.context();
            // SAFETY: contexts are never freed.
            unsafe {
                if is_wanted(context) {
                    is_any = true;
                    raise_limit(context);
                    if runs_managed_code(context) {
                        if found >= served && count < AT_ONCE {
                            running[count] = context;
                            count += 1;
                        }
                        found += 1;
                    }
                }
            }
            // SAFETY: as above.
            if tries.is_multiple_of(SIGNAL_EACH) && unsafe { registry::waits_in_native(context) } {
                thread.signal();
            }
            // SAFETY: the context of a thread on the list, whose id does not change.
            if is_asked(unsafe { (&raw const (*context).owner_id).read() }) {
                in_io = true;
                thread.signal();
            }
        });
        // After the look: a request that came since has added to KICKS, so the next round sets it again.
        STOP.set_asked(is_any);
        if !is_any && !in_io {
            futex::wait(&KICKS, seen, None);
            continue;
        }
        served = match found > served + count {
            true => served + count,
            false => 0,
        };
        for context in &running[..count] {
            // SAFETY: contexts of threads that were on the list; this thread is not attached.
            unsafe { redirect(std::ptr::null_mut(), *context) };
        }
        futex::wait(&KICKS, seen, Some(pause));
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
