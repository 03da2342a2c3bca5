//! The handler of SIGPROF: takes a sample of the thread that it interrupts.
//!
//! # Which signals are ours
//! Those of a timer and those that the sampler queues, with the address of the calling thread's
//! own record. All others go to the handler that a library has installed for SIGPROF, if there
//! is one.
//!
//! # Invariants
//! * The handler reads one thread-local word, which needs no initialisation, takes no memory
//!   and no lock, and keeps errno. (The kernel keeps the vector registers and MXCSR.)
//! * While it runs the suspend signal and SIGQUIT are held back, so a sample is whole before
//!   the world stops. What a stop or a sample may rely on does not depend on that: a library's
//!   handler may come between.
//! * A system call that a P/Invoke was about to begin, and that this signal alone has ended, is
//!   made again ([`make_call_again`]).
use super::lane;
use super::walk::{Own, Registers, walk};
use super::{FRAMES, RUNS};
use crate::safepoint::registry::Thread;
use crate::safepoint::stop_word::SUSPEND;
use crate::threads::current_context;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use vervet_abi::ThreadContext;
use vervet_abi::context::State;
use vervet_os::{clock, signal};
use vervet_profiler::sample::{FRAMELESS, FrameWord, MOST_FRAMES, Sample};

/// si_code of a timer's signal. The sampler queues its signals as such, too: the kernel drops those that are pending when the process executes another
/// program, which they would end.
pub(super) const SI_TIMER: i32 = -2;

static INSTALLED: AtomicBool = AtomicBool::new(false);
/// The handler of a library.
static FOREIGN: AtomicUsize = AtomicUsize::new(libc::SIG_DFL);

/// Installs the handler, once. A handler that is there becomes the one that other signals go
/// to.
pub(super) fn install() {
    if INSTALLED.load(Ordering::SeqCst) {
        return;
    }
    // SAFETY: a plain query into a record of this frame; the handler follows the rules above.
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        signal::sigaction(libc::SIGPROF, std::ptr::null(), &mut before);
        FOREIGN.store(before.sa_sigaction, Ordering::SeqCst);
        signal::install(libc::SIGPROF, on_prof, 0, &[SUSPEND, libc::SIGQUIT]);
    }
    INSTALLED.store(true, Ordering::SeqCst);
}

/// Notes the handler that a library wants for SIGPROF, and gives the one before. None: the
/// signal is not ours, and the handler is to be installed. Our own handler, which a library may have got from the kernel itself, is never noted: it would
/// call itself without end.
pub fn set_foreign_handler(handler: usize) -> Option<usize> {
    let before = foreign_handler()?;
    match handler == on_prof as *const () as usize {
        true => Some(before),
        false => Some(FOREIGN.swap(handler, Ordering::AcqRel)),
    }
}

/// The handler of a library for SIGPROF. None: the signal is not ours.
pub fn foreign_handler() -> Option<usize> {
    let is_ours = INSTALLED.load(Ordering::SeqCst);
    is_ours.then(|| FOREIGN.load(Ordering::Acquire))
}

extern "C" fn on_prof(number: i32, info: *mut libc::siginfo_t, uc: *mut libc::c_void) {
    // SAFETY: the kernel passes valid records. The context that the thread-local word names is the calling thread's own, and so is its `Thread`; both
    // live for ever.
    unsafe {
        let errno = *libc::__errno_location();
        let context = current_context();
        let code = (*info).si_code;
        let thread = match context.is_null() {
            true => None,
            false => Some(Thread::of(context)),
        };
        let address = (*info).si_value().sival_ptr as usize;
        let is_ours = |t: &&Thread| std::ptr::from_ref(*t) as usize == address;
        match thread.filter(is_ours) {
            Some(thread) if code == SI_TIMER => {
                let uc = &mut *(uc as *mut libc::ucontext_t);
                // Behind the code, the kernel's number of the timer and its overruns.
                let overruns = (info as *const i32).add(5).read();
                sample(thread, context, overruns.max(0) as u32, uc);
            }
            _ => {
                let handler = FOREIGN.load(Ordering::Acquire);
                if handler > libc::SIG_IGN {
                    let handler: signal::Handler = std::mem::transmute(handler);
                    handler(number, info, uc);
                }
            }
        }
        *libc::__errno_location() = errno;
    }
}

/// Takes a sample.
///
/// # Safety
/// Thread and context are the calling thread's, the registers those that a handler on it was
/// given.
unsafe fn sample(
    thread: &Thread,
    context: *mut ThreadContext,
    overruns: u32,
    uc: &mut libc::ucontext_t,
) {
    let sampled = &thread.sampled;
    if !RUNS.load(Ordering::Relaxed) || !sampled.is_open.load(Ordering::Relaxed) {
        return;
    }
    let Some(lane) = sampled.lane() else { return };
    if lane.is_filling.load(Ordering::Relaxed) {
        lane.own.lose();
        return;
    }
    let asked = lane.asked.swap(0, Ordering::Relaxed);
    let registers = Registers::of(uc);
    let mut frames = [FrameWord(0); MOST_FRAMES];
    let room = FRAMES.load(Ordering::Relaxed).min(MOST_FRAMES);
    let (count, flags) = if thread.alternate.contains(registers.sp) {
        (0, FRAMELESS)
    } else {
        // SAFETY: the caller's promise.
        let memory = unsafe { Own::new(context, registers.sp) };
        // SAFETY: the caller's promise.
        let walked = unsafe { walk(context, &memory, Some(&registers), &mut frames[..room]) };
        (walked.count, walked.flags)
    };
    let sample = Sample {
        time_ns: clock::now(),
        thread: thread.tid.load(Ordering::Relaxed) as u64,
        ip: registers.pc as u64,
        weight: overruns.saturating_add(asked.max(1)),
        flags,
        // SAFETY: the caller's promise.
        green: unsafe { green_id(context) },
        frames: &frames[..count],
    };
    lane::put(&lane.own, &sample);
    // SAFETY: the caller's promise.
    unsafe {
        if (&raw const (*context).state).read_volatile() == State::Native as u8 {
            make_call_again(uc);
        }
    }
}

/// The id of the green thread with that context; 0: it is that of an OS thread.
///
/// # Safety
/// The context is that of an attached thread or a green thread.
pub(super) unsafe fn green_id(context: *mut ThreadContext) -> u32 {
    // SAFETY: contexts are never freed.
    unsafe {
        match (&raw const (*context).green).read_volatile() {
            0 => 0,
            _ => (&raw const (*context).owner_id).read_volatile(),
        }
    }
}

/// The signal has ended a system call of native code that the kernel does not restart (`poll`,
/// `nanosleep`) with EINTR: without sampling, the code would not have seen that. It makes the
/// call again, with the arguments that are still in the registers. The number of the call is
/// that of the instruction before, `mov eax, number`. Calls that have an effect before they
/// wait are not made again.
///
/// # Safety
/// The registers are those that a handler was given.
unsafe fn make_call_again(uc: &mut libc::ucontext_t) {
    const EINTR: i64 = -(libc::EINTR as i64);
    const SYSCALL: [u8; 2] = [0x0F, 0x05];
    const MOV_EAX: u8 = 0xB8;
    let gregs = &mut uc.uc_mcontext.gregs;
    if gregs[libc::REG_RAX as usize] != EINTR {
        return;
    }
    let pc = gregs[libc::REG_RIP as usize] as usize;
    // SAFETY: the thread was about to run the instruction at `pc`; the bytes in front of it lie in the same function, or at least on the same page.
    unsafe {
        if pc & 4095 < 7 {
            return;
        }
        let before = std::slice::from_raw_parts((pc - 7) as *const u8, 7);
        if before[5..] != SYSCALL || before[0] != MOV_EAX {
            return;
        }
        let number = i64::from(i32::from_le_bytes([
            before[1], before[2], before[3], before[4],
        ]));
        if waits_without_effect(number) {
            gregs[libc::REG_RAX as usize] = number;
            gregs[libc::REG_RIP as usize] = (pc - SYSCALL.len()) as i64;
        }
    }
}

/// Does the system call with that number do nothing but wait, so that it can be made anew?
fn waits_without_effect(number: i64) -> bool {
    matches!(
        number,
        libc::SYS_poll
            | libc::SYS_ppoll
            | libc::SYS_select
            | libc::SYS_pselect6
            | libc::SYS_epoll_wait
            | libc::SYS_epoll_pwait
            | libc::SYS_nanosleep
            | libc::SYS_clock_nanosleep
            | libc::SYS_pause
            | libc::SYS_rt_sigtimedwait
            | libc::SYS_semtimedop
            | libc::SYS_msgrcv
            | libc::SYS_io_getevents
    )
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicI32;
    use std::time::Duration;

    extern "C" fn handler(_: i32, _: *mut libc::siginfo_t, uc: *mut libc::c_void) {
        // SAFETY: the kernel's record.
        unsafe { make_call_again(&mut *(uc as *mut libc::ucontext_t)) }
    }

    /// Signals come while the C library waits in system calls that the kernel does not restart:
    /// none of them ends early.
    #[test]
    fn a_wait_of_the_c_library_does_not_see_the_signal() {
        static TID: AtomicI32 = AtomicI32::new(0);
        // SAFETY: the handler does nothing but what a handler may do.
        unsafe { signal::install(libc::SIGUSR2, handler, 0, &[]) };
        let waiter = std::thread::spawn(|| {
            TID.store(signal::thread_id(), Ordering::SeqCst);
            let time = libc::timespec {
                tv_sec: 0,
                tv_nsec: 40_000_000,
            };
            // SAFETY: no descriptors, and a time of this frame.
            unsafe {
                let polled = libc::poll(std::ptr::null_mut(), 0, 40);
                let slept = libc::nanosleep(&time, std::ptr::null_mut());
                (polled, slept)
            }
        });
        let mut sent = 0;
        while !waiter.is_finished() {
            std::thread::sleep(Duration::from_millis(15));
            let tid = TID.load(Ordering::SeqCst);
            sent += u32::from(tid != 0 && signal::send(tid, libc::SIGUSR2));
            if sent == 4 {
                // Each signal begins the wait anew.
                break;
            }
        }
        assert_eq!(waiter.join().expect("it waits"), (0, 0));
        assert!(sent > 0);
    }

    /// A library that asks the kernel for the handler and puts it back must not make ours call itself.
    #[test]
    fn our_own_handler_is_never_a_librarys() {
        install();
        let before = set_foreign_handler(0x1000).expect("installed");
        assert_eq!(
            set_foreign_handler(on_prof as *const () as usize),
            Some(0x1000)
        );
        assert_eq!(foreign_handler(), Some(0x1000));
        set_foreign_handler(before);
    }
}
