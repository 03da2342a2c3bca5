//! The suspend signal: how a thread in managed code is stopped between two instructions.
//!
//! # Which signal
//! SIGURG. It is ignored by default, so one that goes astray (to a child, to a thread that has just ended) does no harm;
//! debuggers pass it on silently; it is not queued, so a thread that is asked often does not overflow a queue; and the
//! collectors of other languages that may live in the process use SIGPWR or real-time signals.
//!
//! # Invariants
//! * The handler parks only a thread that has a context, in state Managed, with `critical` 0, when the world
//!   or this thread is to be stopped, and only when it has interrupted code on the thread's own stack: not a handler, on
//!   whatever stack that runs, below which the frames would not be known. Only code of a host is held on any stack, be it of a handler or
//!   of a fiber: what it may refer to is found then ([`Elsewhere`](super::elsewhere::Elsewhere)). In every other case it returns, and who asked looks again. It draws
//!   no other conclusion: it does not matter what handlers are nested below it.
//! * No other handler runs in a thread while it is parked, but those of faults: what such a handler did would be done in a stopped world, and one that left by
//!   `siglongjmp` would leave a thread that runs and counts as parked.
//! * It reads one thread-local word, which needs no initialisation, takes no memory and no lock, and keeps errno.
//! * It is also the signal that ends blocking system calls: a thread that was about to make one looks again whether it shall. The call that native code waits in, or is
//!   about to, ends with EINTR if the thread is asked to abort, once for a request; otherwise the native code notices nothing.
//! * While a thread is parked its registers are found through [`Thread::interrupted`].
use super::progress::Wait;
use super::registry::Thread;
use super::stop_word::{self, STOP, SUSPEND};
use crate::arch::Registers;
use std::sync::atomic::Ordering;
use vervet_abi::context::interrupts::END_CALL;
use vervet_abi::{State, ThreadContext};
use vervet_os::chained::{Action, Chained};
use vervet_os::{futex, interruptible, restart, signal};
use vervet_parking::stopping::{self, Reason};

/// A handler that a library installed for our signal: it gets those that are not ours.
static FOREIGN: Chained = Chained::new();

/// Installs the handler. Called once, before the first thread is attached.
pub(super) fn initialise() {
    // SAFETY: the handler follows the rules above.
    unsafe { signal::install(SUSPEND, on_suspend, 0, &signal::asynchronous()) };
}

/// Notes what a library wants for our signal, and gives what it wanted before.
pub fn set_foreign_action(action: Action) -> Action {
    FOREIGN.set(action)
}
/// What a library wants for our signal.
pub fn foreign_action() -> Action {
    FOREIGN.get()
}

extern "C" fn on_suspend(signal: i32, info: *mut libc::siginfo_t, uc: *mut libc::c_void) {
    // SAFETY: the kernel passes valid records. The context that the thread-local word names is the calling thread's own, and so is its
    // `Thread`; both live for ever.
    unsafe {
        let ours = (*info).si_code == SI_TKILL && (*info).si_pid() == libc::getpid();
        let context = crate::threads::current_context();
        if !ours {
            let ended = (!context.is_null()).then(|| &Thread::of(context).ended);
            FOREIGN.call(signal, info, uc, 0, ended);
        }
        interruptible::on_signal(uc);
        if context.is_null() {
            return;
        }
        if super::registry::waits_in_native(context) {
            // The interrupted code may be about to read errno.
            let errno = *libc::__errno_location();
            if restart::end_call(&mut *uc.cast(), Some(&Thread::of(context).ended)) {
                super::registry::interrupts(context).fetch_and(!END_CALL, Ordering::SeqCst);
            }
            *libc::__errno_location() = errno;
        }
        if !may_park(context) {
            return;
        }
        let thread = Thread::of(context);
        if thread.suspension.reason(&STOP).is_none() {
            return;
        }
        let uc = uc as *mut libc::ucontext_t;
        // The interrupted code may be about to read errno.
        let errno = *libc::__errno_location();
        let sp = program_registers(uc).sp;
        let is_foreign = || {
            let state = super::registry::state(context).load(Ordering::Relaxed);
            state == State::Foreign as u8
        };
        let may_stop = super::registry::may_stop_at(context, sp)
            || is_foreign() && thread.elsewhere.find(context, sp);
        if !may_stop {
            *libc::__errno_location() = errno;
            return;
        }
        // Before the thread says that it has arrived: the stopper reads the registers through it.
        thread.interrupted.store(uc, Ordering::Release);
        let wait = Wait::default();
        thread
            .suspension
            .hold(&STOP, stop_word::arrived, |reason| match reason {
                Reason::World(seen) => {
                    wait.begin();
                    futex::wait(STOP.futex(), seen, None);
                }
                Reason::Thread => {
                    wait.end();
                    futex::wait(thread.suspension.futex(), 1, None);
                }
            });
        drop(wait);
        *libc::__errno_location() = errno;
    }
}

const SI_TKILL: i32 = -6;

/// May the thread be stopped where it is?
///
/// # Safety
/// The context is the calling thread's.
unsafe fn may_park(context: *mut ThreadContext) -> bool {
    // SAFETY: the context is the calling thread's, so its bytes may be read; generated code writes `critical` at any time, hence volatile.
    unsafe {
        stopping::is_suspendable(super::registry::state(context).load(Ordering::Relaxed))
            && (&raw const (*context).critical).read_volatile() == 0
    }
}

/// The words of a parked thread that lie in no stack: its general registers and its vector registers.
///
/// # Safety
/// The thread is parked, and stays so while the ranges are used.
pub(super) unsafe fn registers(uc: *mut libc::ucontext_t) -> [(usize, usize); 2] {
    /// Where the kernel says how large the area is (`struct _fpx_sw_bytes`): a mark, and the size.
    const SOFTWARE_BYTES: usize = 464;
    const EXTENDED: u32 = 0x4650_5853;
    // SAFETY: the kernel made the record; its frame is live while the thread is parked.
    unsafe {
        let general = &(*uc).uc_mcontext.gregs;
        let at = general.as_ptr() as usize;
        let general = (at, at + std::mem::size_of_val(general));
        let at = (*uc).uc_mcontext.fpregs as usize;
        if at == 0 {
            return [general, (0, 0)];
        }
        let mark = ((at + SOFTWARE_BYTES) as *const u32).read();
        let size = match mark {
            EXTENDED => ((at + SOFTWARE_BYTES + 4) as *const u32).read() as usize,
            _ => 512,
        };
        [general, (at, at + (size & !7))]
    }
}

/// Where a parked thread is.
///
/// # Safety
/// The thread is parked in the handler, and stays so while the answer is used.
pub(super) unsafe fn program_registers(uc: *mut libc::ucontext_t) -> Registers {
    // SAFETY: the record is the kernel's, on the stack of a thread that stays in the handler meanwhile.
    Registers::of(unsafe { &*uc })
}
