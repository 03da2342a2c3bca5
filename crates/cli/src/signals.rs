//! `sigaction`, `signal` and the masks as libraries loaded into the process see them: the executable's symbols come
//! before the C library's.
//!
//! # Why
//! A library's handler may interrupt managed code. On the ordinary stack it would need room that a small stack does not
//! have; and while it runs with the suspend signal masked, the world could not stop.
//!
//! # Invariants
//! * Every handler gets SA_ONSTACK. Nothing else of what a library asks for is changed, but for the suspend signal: no
//!   mask takes it, and a handler for it is called for those signals that are not ours. So is a handler for SIGPROF, once threads are sampled,
//!   and one for SIGTRAP, once threads are stepped.
//! * No handler holds SIGPROF back: a sample that comes when the handler has returned would find the system call that the handler was to end, and have it made again.
//! * All this is as async-signal-safe as what it stands for.
use libc::{c_int, sighandler_t, sigset_t};
use std::ptr::null;
use vervet_os::chained::Action;
use vervet_runtime::profiler::sampling;
use vervet_runtime::safepoint::stop_word::SUSPEND;
use vervet_runtime::safepoint::suspend;
use vervet_runtime::threads::step_out;

/// Keeps the functions in the executable.
#[used]
static KEEP: [unsafe extern "C" fn(); 6] = [
    super::exports::keep(sigaction as *const ()),
    super::exports::keep(signal as *const ()),
    super::exports::keep(bsd_signal as *const ()),
    super::exports::keep(ssignal as *const ()),
    super::exports::keep(sigprocmask as *const ()),
    super::exports::keep(pthread_sigmask as *const ()),
];

/// See sigaction(2).
///
/// # Safety
/// As sigaction.
#[unsafe(no_mangle)]
unsafe extern "C" fn sigaction(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    // SAFETY: the caller's promise; the copy lives for the length of the call.
    unsafe {
        let known = |action: Action| {
            if !old.is_null() {
                *old = action.to_c();
            }
            0
        };
        if new.is_null() {
            // Whoever asks restores the answer later: it is the library's handler, not ours.
            let foreign = match signal {
                SUSPEND => Some(suspend::foreign_action()),
                libc::SIGPROF => sampling::PROF.get(),
                libc::SIGTRAP => step_out::TRAP.get(),
                _ => None,
            };
            return match foreign {
                Some(action) => known(action),
                None => vervet_os::signal::sigaction(signal, new, old),
            };
        }
        let mut action = *new;
        libc::sigdelset(&mut action.sa_mask, SUSPEND);
        libc::sigdelset(&mut action.sa_mask, libc::SIGPROF);
        action.sa_flags |= libc::SA_ONSTACK;
        let before = match signal {
            SUSPEND => Some(suspend::set_foreign_action(Action::of(&action))),
            libc::SIGPROF => sampling::PROF.set(Action::of(&action)),
            libc::SIGTRAP => step_out::TRAP.set(Action::of(&action)),
            _ => None,
        };
        if let Some(before) = before {
            return known(before);
        }
        vervet_os::signal::sigaction(signal, &action, old)
    }
}

/// See signal(2): the handler stays, system calls go on.
///
/// # Safety
/// As signal.
#[unsafe(no_mangle)]
unsafe extern "C" fn signal(signal: c_int, handler: sighandler_t) -> sighandler_t {
    // SAFETY: complete records.
    unsafe {
        let mut new: libc::sigaction = std::mem::zeroed();
        let mut old: libc::sigaction = std::mem::zeroed();
        new.sa_sigaction = handler;
        new.sa_flags = libc::SA_RESTART;
        libc::sigaddset(&mut new.sa_mask, signal);
        match sigaction(signal, &new, &mut old) {
            0 => old.sa_sigaction,
            _ => libc::SIG_ERR,
        }
    }
}
/// The same under another name.
///
/// # Safety
/// As signal.
#[unsafe(no_mangle)]
unsafe extern "C" fn bsd_signal(number: c_int, handler: sighandler_t) -> sighandler_t {
    // SAFETY: the caller's promise is that of `signal`.
    unsafe { signal(number, handler) }
}
/// The same under another name.
///
/// # Safety
/// As signal.
#[unsafe(no_mangle)]
unsafe extern "C" fn ssignal(number: c_int, handler: sighandler_t) -> sighandler_t {
    // SAFETY: the caller's promise is that of `signal`.
    unsafe { signal(number, handler) }
}

/// What a mask change is passed on to; 0 or an error number.
unsafe fn change_mask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int {
    /// Bytes of the kernel's set.
    const SIZE: usize = 8;
    /// The C library's own two, which no program blocks.
    const INTERNAL: [c_int; 2] = [32, 33];
    // SAFETY: the caller's promise; the copy lives for the length of the call. The kernel's set is the first word of the
    // C library's.
    unsafe {
        let mut copy = [0u64; 1];
        let set = if set.is_null() {
            null()
        } else {
            copy[0] = *(set as *const u64);
            if how != libc::SIG_UNBLOCK {
                for s in INTERNAL.iter().chain([&SUSPEND]) {
                    copy[0] &= !(1 << (s - 1));
                }
            }
            copy.as_ptr()
        };
        let mut found = 0u64;
        let errno = *libc::__errno_location();
        let failed = libc::syscall(libc::SYS_rt_sigprocmask, how, set, &raw mut found, SIZE) != 0;
        let error = std::mem::replace(&mut *libc::__errno_location(), errno);
        if failed {
            return error;
        }
        if !old.is_null() {
            libc::sigemptyset(old);
            *(old as *mut u64) = found;
        }
        0
    }
}

/// See pthread_sigmask(3).
///
/// # Safety
/// As pthread_sigmask.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_sigmask(
    how: c_int,
    set: *const sigset_t,
    old: *mut sigset_t,
) -> c_int {
    // SAFETY: the caller passes sets that may be read and written, or null, as `change_mask` wants them.
    unsafe { change_mask(how, set, old) }
}

/// See sigprocmask(2).
///
/// # Safety
/// As sigprocmask.
#[unsafe(no_mangle)]
unsafe extern "C" fn sigprocmask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int {
    // SAFETY: the caller passes sets that may be read and written, or null, as `change_mask` wants them; errno is this thread's.
    unsafe {
        match change_mask(how, set, old) {
            0 => 0,
            error => {
                *libc::__errno_location() = error;
                -1
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn nothing(_: c_int) {}

    #[test]
    fn handlers_get_the_alternate_stack() {
        // SAFETY: a signal that nobody else uses, and records of this frame.
        unsafe {
            assert_ne!(
                signal(libc::SIGUSR2, nothing as *const () as usize),
                libc::SIG_ERR
            );
            let mut found: libc::sigaction = std::mem::zeroed();
            assert_eq!(
                vervet_os::signal::sigaction(libc::SIGUSR2, null(), &mut found),
                0
            );
            assert_ne!(found.sa_flags & libc::SA_ONSTACK, 0);
            assert_eq!(found.sa_sigaction, nothing as *const () as usize);
        }
    }

    #[test]
    fn no_mask_takes_the_suspend_signal() {
        // SAFETY: records of this frame; the mask is put back.
        unsafe {
            let (mut all, mut before, mut during): (sigset_t, sigset_t, sigset_t) =
                std::mem::zeroed();
            libc::sigfillset(&mut all);
            assert_eq!(pthread_sigmask(libc::SIG_SETMASK, &all, &mut before), 0);
            assert_eq!(sigprocmask(libc::SIG_SETMASK, &before, &mut during), 0);
            assert_eq!(libc::sigismember(&during, SUSPEND), 0);
            assert_eq!(libc::sigismember(&during, libc::SIGUSR1), 1);
            assert_eq!(
                pthread_sigmask(99, &all, std::ptr::null_mut()),
                libc::EINVAL
            );
        }
    }

    #[test]
    fn our_own_handler_of_the_suspend_signal_stays() {
        // SAFETY: records of this frame.
        unsafe {
            let (mut before, mut after): (libc::sigaction, libc::sigaction) = std::mem::zeroed();
            vervet_os::signal::sigaction(SUSPEND, null(), &mut before);
            signal(SUSPEND, nothing as *const () as usize);
            vervet_os::signal::sigaction(SUSPEND, null(), &mut after);
            assert_eq!(before.sa_sigaction, after.sa_sigaction);
            assert_eq!(
                signal(SUSPEND, libc::SIG_IGN),
                nothing as *const () as usize
            );
        }
    }
}
