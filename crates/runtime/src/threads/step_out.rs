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
//! stops it: in a step, or in a leaf helper
//! sets the trap flag, lets it go              runs one instruction; SIGTRAP
//!                                             may call here: clears the flag, calls the interrupt stub
//!                                             else: one more instruction, at most MOST
//! ```
//!
//! # Invariants
//! * The flag is set only while [`Thread::steps_left`] is not 0, and only if the handler of the signal is ours: a program that wants it
//!   otherwise is tried again with pauses, as before.
//! * The thread stays in Managed state while it is stepped: no system call is.
//! * The handler is a place that no other handler interrupts, and takes no lock and no memory.
use super::retry_thread::is_wanted;
use crate::arch;
use crate::code::{arena, table};
use crate::safepoint::registry::{self, Thread};
use crate::threads::current_context;
use std::sync::atomic::{AtomicBool, Ordering};
use vervet_abi::{State, ThreadContext};
use vervet_os::signal;

/// How many instructions a thread is stepped for one try: the longest step with a leaf helper has some tens. Each takes 1 to 3 microseconds.
const MOST: u32 = 256;
/// What `si_code` says of a trap behind an instruction.
const TRAP_TRACE: i32 = 2;

/// Installs the handler, if nobody else handles the signal. False: threads cannot be stepped.
pub(super) fn prepare() -> bool {
    static INSTALLED: AtomicBool = AtomicBool::new(false);
    let handler = || {
        // SAFETY: a plain query into a record of this frame.
        unsafe {
            let mut now: libc::sigaction = std::mem::zeroed();
            signal::sigaction(libc::SIGTRAP, std::ptr::null(), &mut now);
            now.sa_sigaction
        }
    };
    let now = handler();
    if now == libc::SIG_DFL && !INSTALLED.swap(true, Ordering::SeqCst) {
        // SAFETY: the handler follows the rules above.
        unsafe { signal::install(libc::SIGTRAP, on_trap, 0, &signal::asynchronous()) };
        return true;
    }
    now == on_trap as *const () as usize
}

/// Steps a thread from where it was stopped, if that leads to a place where it can call.
///
/// # Safety
/// The thread of the context is held in the suspend handler with these registers, in Managed state, and [`prepare`] was true.
pub(super) unsafe fn begin(context: *mut ThreadContext, uc: &mut libc::ucontext_t) {
    // SAFETY: the caller's promise.
    unsafe {
        if leads_on(arch::program_counter(uc)) {
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

extern "C" fn on_trap(_: i32, info: *mut libc::siginfo_t, uc: *mut libc::c_void) {
    // SAFETY: the kernel's records. The context that the thread-local word names is the calling thread's own.
    unsafe {
        let context = current_context();
        if (*info).si_code != TRAP_TRACE || context.is_null() {
            return as_if_unhandled();
        }
        let uc = &mut *uc.cast::<libc::ucontext_t>();
        let steps = &Thread::of(context).steps_left;
        let left = steps.load(Ordering::Relaxed).saturating_sub(1);
        let pc = arch::program_counter(uc);
        let is_managed = registry::state(context).load(Ordering::Relaxed) == State::Managed as u8
            && (&raw const (*context).critical).read_volatile() == 0;
        let goes_on = left > 0 && is_managed && is_wanted(context) && leads_on(pc);
        let may_call = goes_on
            && arena::contains(pc)
            && registry::may_stop_at(context, arch::stack_pointer(uc))
            && table::find(pc).is_some_and(|code| code.may_call_at(pc));
        if may_call {
            arch::call_interrupt_stub(uc);
        }
        let goes_on = goes_on && !may_call;
        steps.store(if goes_on { left } else { 0 }, Ordering::Relaxed);
        arch::set_trap_flag(uc, goes_on);
    }
}

/// The signal is the program's own (a breakpoint without a debugger): what the system does with it happens when the handler returns.
fn as_if_unhandled() {
    // SAFETY: the default action, and a signal to the calling thread.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = libc::SIG_DFL;
        signal::sigaction(libc::SIGTRAP, &action, std::ptr::null_mut());
    }
    signal::send(signal::thread_id(), libc::SIGTRAP);
}
