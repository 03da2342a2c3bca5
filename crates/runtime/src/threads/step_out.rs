//! A thread that is asked for something and was stopped where it cannot be made to call is run, one instruction at a time, to where it can.
//!
//! # Why
//! A thread can be made to call the runtime between any two instructions of a method without handlers, but not where they belong together
//! ([`Code::may_call_at`](crate::code::table::Code::may_call_at)). A loop may consist of little else, such as stores of references or a
//! compare-and-exchange that is tried again. A signal arrives behind the instruction that takes the time, so it hardly ever finds another place:
//! a loop of 16 stores was not found in one in 45 seconds.
//!
//! # How it works
//! ```text
//! requester                                   the thread
//! ------------------------------------------  -------------------------------------------------------------
//! stops it: in a step
//! sets the trap flag, lets it go              runs one instruction; SIGTRAP
//!                                             may call here: clears the flag, calls the interrupt stub
//!                                             else: one more instruction, at most MOST
//! ```
//!
//! # Invariants
//! * The flag is set only while [`Thread::steps_left`] is not 0, and only where the signal comes to the handler: the thread does not block it, no debugger
//!   takes it, and the handler stays installed. What a library wants for the signal is [noted](Shared), and gets the traps that are its own.
//! * The thread stays in Managed state while it is stepped: no system call is. (A step may call a leaf helper, which is stepped through.)
//! * The handler is a place that no other handler interrupts, and takes no lock and no memory.
use super::retry_thread::is_wanted;
use crate::arch;
use crate::code::{arena, table};
use crate::safepoint::registry::{self, Thread};
use crate::safepoint::stop_word::SUSPEND;
use crate::threads::current_context;
use std::sync::atomic::Ordering;
use vervet_abi::{State, ThreadContext};
use vervet_os::chained::{Shared, bit, first_word};
use vervet_os::signal;

/// How many instructions a thread is stepped for one try: steps that stand side by side are long together. Each takes 1 to 3 microseconds.
const MOST: u32 = 2048;
/// What `si_code` says of a trap behind an instruction.
const TRAP_TRACE: i32 = 2;

/// SIGTRAP, which libraries may want, too.
pub static TRAP: Shared = Shared::new(libc::SIGTRAP, on_trap);

/// Installs the handler, if it is not. False: threads cannot be stepped now, because a debugger would stop at each instruction.
pub(super) fn prepare() -> bool {
    if is_debugged() {
        return false;
    }
    // SAFETY: the handler follows the rules above.
    unsafe { TRAP.install(&signal::asynchronous()) };
    true
}

/// Does a debugger get the signals of this process first?
fn is_debugged() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let tracer = (status.lines()).find_map(|line| line.strip_prefix("TracerPid:"));
    tracer.is_some_and(|pid| pid.trim() != "0")
}

/// Steps a thread from where it was stopped, if that leads to a place where it can call.
///
/// # Safety
/// The thread of the context is held in the suspend handler with these registers, in Managed state, and [`prepare`] was true.
pub(super) unsafe fn begin(context: *mut ThreadContext, uc: &mut libc::ucontext_t) {
    // A trap that is blocked ends the process.
    let is_blocked = first_word(&uc.uc_sigmask) & bit(libc::SIGTRAP) != 0;
    // SAFETY: the caller's promise.
    unsafe {
        if !is_blocked && leads_on(arch::program_counter(uc)) {
            let thread = Thread::of(context);
            thread.steps_left.store(MOST, Ordering::Relaxed);
            arch::set_trap_flag(uc, true);
        }
    }
}

/// May the code at an address come to a place where a thread can be made to call? Methods with handlers look for themselves. What is not code of a
/// method is a leaf helper, or a stub on the way to one.
fn leads_on(pc: usize) -> bool {
    !arena::contains(pc) || table::find(pc).is_none_or(|code| !code.polls_in_loops())
}

extern "C" fn on_trap(number: i32, info: *mut libc::siginfo_t, uc: *mut libc::c_void) {
    // SAFETY: the kernel's records. The context that the thread-local word names is the calling thread's own, and so is its `Thread`; both live for ever.
    unsafe {
        let context = current_context();
        let thread = (!context.is_null()).then(|| Thread::of(context));
        let is_trace = (*info).si_code == TRAP_TRACE;
        let is_stepped = |t: &&Thread| t.steps_left.load(Ordering::Relaxed) > 0;
        match thread.filter(is_stepped) {
            Some(thread) if is_trace => step(thread, context, &mut *uc.cast()),
            _ => {
                let ended = thread.map(|thread| &thread.ended);
                if !TRAP.foreign().call(number, info, uc, bit(SUSPEND), ended) {
                    unhandled(&*info, &mut *uc.cast());
                }
            }
        }
    }
}

/// Behind an instruction: the thread calls the stub, runs one more, or is left alone.
///
/// # Safety
/// Thread and context are the calling thread's, the registers those that its handler was given.
unsafe fn step(thread: &Thread, context: *mut ThreadContext, uc: &mut libc::ucontext_t) {
    let left = thread.steps_left.load(Ordering::Relaxed) - 1;
    // SAFETY: the caller's promise.
    unsafe {
        let pc = arch::program_counter(uc);
        let is_managed = registry::state(context).load(Ordering::Relaxed) == State::Managed as u8;
        let goes_on = left > 0 && is_managed && is_wanted(context) && leads_on(pc);
        let may_call = goes_on
            && arena::contains(pc)
            && (&raw const (*context).critical).read_volatile() == 0
            && registry::may_stop_at(context, arch::stack_pointer(uc))
            && table::find(pc).is_some_and(|code| code.may_call_at(pc));
        let goes_on = goes_on && !may_call;
        let left = if goes_on { left } else { 0 };
        thread.steps_left.store(left, Ordering::Relaxed);
        arch::set_trap_flag(uc, goes_on);
        if may_call {
            arch::call_interrupt_stub(uc);
        }
    }
}

/// Nobody wants the signal. What the system would have done with it happens when the handler returns: a breakpoint without a debugger ends the process, and so does a
/// signal that is not ignored.
fn unhandled(info: &libc::siginfo_t, uc: &mut libc::ucontext_t) {
    let is_sent = info.si_code <= 0;
    if info.si_code == TRAP_TRACE {
        // The flag is ours, found late.
        arch::set_trap_flag(uc, false);
    } else if !is_sent || TRAP.foreign().get().handler != libc::SIG_IGN {
        // SAFETY: the default action, and a signal to the calling thread.
        unsafe {
            let action: libc::sigaction = std::mem::zeroed();
            signal::sigaction(libc::SIGTRAP, &action, std::ptr::null_mut());
        }
        signal::send(signal::thread_id(), libc::SIGTRAP);
    }
}
