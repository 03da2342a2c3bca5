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
//! * While it runs all other signals are held back, but for those of faults: a sample is whole
//!   before the world stops, and it can be told whether the interrupted code is about to see
//!   another signal.
//! * A system call that native code was about to begin, and that this signal alone has ended,
//!   is made again ([`restart::make_again`]).
use super::walk::{Own, walk};
use super::{FRAMES, RUNS};
use super::{follow, lane};
use crate::arch::Registers;
use crate::safepoint::registry::Thread;
use crate::safepoint::stop_word::SUSPEND;
use crate::threads::current_context;
use std::sync::atomic::Ordering;
use vervet_abi::ThreadContext;
use vervet_abi::context::State;
use vervet_os::chained::{Shared, bit};
use vervet_os::{clock, restart};
use vervet_profiler::sample::{FRAMELESS, FrameWord, MOST_FRAMES, Sample};

/// si_code of a timer's signal. The sampler queues its signals as such, too: the kernel drops those that are pending when the process executes another
/// program, which they would end.
pub(super) const SI_TIMER: i32 = -2;

/// SIGPROF, which libraries may want, too.
pub static PROF: Shared = Shared::new(libc::SIGPROF, on_prof);

/// The signals that are held back meanwhile.
fn held_back() -> Vec<i32> {
    use libc::{SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
    let faults = [SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP];
    (1..=libc::SIGRTMAX())
        .filter(|signal| !faults.contains(signal))
        .collect()
}

/// Installs the handler, once. A handler that is there becomes the one that other signals go
/// to.
pub(super) fn install() {
    if PROF.get().is_none() {
        restart::prepare();
        // SAFETY: the handler follows the rules above.
        unsafe { PROF.install(&held_back()) };
    }
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
                let ended = thread.map(|thread| &thread.ended);
                PROF.foreign().call(number, info, uc, bit(SUSPEND), ended);
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
    if asked != 0 {
        follow::note(&lane.processor);
    }
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
        let state = (&raw const (*context).state).read_volatile();
        if state == State::Native as u8 || state == State::Foreign as u8 {
            let ours = bit(libc::SIGPROF) | bit(SUSPEND);
            restart::make_again(uc, ours, &thread.ended);
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

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use vervet_os::chained::Action;

    /// A library that asks the kernel for the handler and puts it back must not make ours call itself.
    #[test]
    fn our_own_handler_is_never_a_librarys() {
        let with = |handler| Action {
            handler,
            ..Action::DEFAULT
        };
        install();
        let before = PROF.set(with(0x1000)).expect("installed");
        let own = on_prof as *const () as usize;
        assert_eq!(PROF.set(with(own)), Some(with(0x1000)));
        assert_eq!(PROF.get(), Some(with(0x1000)));
        PROF.set(before);
    }
}
