//! Signals: handlers, masks, alternate stacks, sending one to a thread.
//!
//! # Invariants
//! What is installed here goes to the C library directly, past the `sigaction` that the executable exports to the
//! libraries it loads.
use crate::memory;
use std::io;

unsafe extern "C" {
    fn __sigaction(
        signal: libc::c_int,
        new: *const libc::sigaction,
        old: *mut libc::sigaction,
    ) -> libc::c_int;
}

/// The C library's own `sigaction`.
///
/// # Safety
/// As `sigaction`.
pub unsafe fn sigaction(
    signal: i32,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> i32 {
    // SAFETY: the caller passes what `sigaction` asks for.
    unsafe { __sigaction(signal, new, old) }
}

/// The calling thread takes no signals any more but those of its own faults: the others are for threads that run programs.
pub fn block_all() {
    // Miri knows no signals.
    if cfg!(miri) {
        return;
    }
    // SAFETY: changes the calling thread's mask only.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        for s in [
            libc::SIGSEGV,
            libc::SIGBUS,
            libc::SIGILL,
            libc::SIGFPE,
            libc::SIGABRT,
            libc::SIGTRAP,
        ] {
            libc::sigdelset(&mut all, s);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &all, std::ptr::null_mut());
    }
}

/// A handler that gets the signal's information and the interrupted registers.
pub type Handler = extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void);

/// Installs a handler on the alternate stack; while it runs, `masked` are held back. `flags` are added to
/// SA_SIGINFO, SA_ONSTACK and SA_RESTART.
///
/// # Safety
/// The handler does only what is safe in a signal handler.
pub unsafe fn install(signal: i32, handler: Handler, flags: i32, masked: &[i32]) {
    // SAFETY: a complete action; the handler is the caller's promise.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART | flags;
        libc::sigemptyset(&mut action.sa_mask);
        for &m in masked {
            libc::sigaddset(&mut action.sa_mask, m);
        }
        sigaction(signal, &action, std::ptr::null_mut());
    }
}

/// All signals but those of faults, which are an instruction's own.
pub fn asynchronous() -> Vec<i32> {
    const FAULTS: [i32; 7] = [
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGFPE,
        libc::SIGILL,
        libc::SIGTRAP,
        libc::SIGABRT,
        libc::SIGSYS,
    ];
    (1..=libc::SIGRTMAX())
        .filter(|number| !FAULTS.contains(number))
        .collect()
}

/// Lets the calling thread receive these signals.
pub fn unblock(signals: &[i32]) {
    // SAFETY: a set of our own.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        for &s in signals {
            libc::sigaddset(&mut set, s);
        }
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, std::ptr::null_mut());
    }
}

/// A signal is blocked in the thread that made it, until it is dropped.
pub struct Blocked {
    signal: i32,
    /// It was blocked before, and stays so.
    was: bool,
}

impl Blocked {
    /// Blocks a signal in the calling thread.
    pub fn new(signal: i32) -> Blocked {
        // SAFETY: both sets are valid for the calls.
        unsafe {
            let (mut set, mut old) = (std::mem::zeroed(), std::mem::zeroed());
            libc::sigemptyset(&mut set);
            libc::sigaddset(&mut set, signal);
            libc::pthread_sigmask(libc::SIG_BLOCK, &set, &mut old);
            let was = libc::sigismember(&old, signal) == 1;
            Blocked { signal, was }
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        if !self.was {
            unblock(&[self.signal]);
        }
    }
}

/// Lets the calling thread receive every signal.
pub fn unblock_all() {
    // SAFETY: a set of our own.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut set);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, std::ptr::null_mut());
    }
}

/// The kernel's id of the calling thread.
pub fn thread_id() -> i32 {
    // SAFETY: takes and gives plain values.
    unsafe { libc::gettid() }
}

/// Sends `signal` to one thread of this process; `false` if there is no such thread.
pub fn send(thread: i32, signal: i32) -> bool {
    // SAFETY: takes and gives plain values.
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, signal) == 0 }
}

/// The alternate signal stack that the calling thread runs on, its own or a library's, if it is in a handler there.
pub fn alternate_stack() -> Option<AlternateStack> {
    // SAFETY: a plain query into a record of this frame.
    unsafe {
        let mut stack: libc::stack_t = std::mem::zeroed();
        let failed = libc::sigaltstack(std::ptr::null(), &mut stack) != 0;
        if failed || stack.ss_flags & libc::SS_ONSTACK == 0 {
            return None;
        }
        let low = stack.ss_sp as usize;
        Some(AlternateStack {
            low,
            high: low + stack.ss_size,
        })
    }
}
/// Does the calling thread run on an alternate signal stack, its own or a library's: in a handler?
pub fn is_on_alternate_stack() -> bool {
    alternate_stack().is_some()
}

/// Is there a thread of this process with that id?
pub fn exists(thread: i32) -> bool {
    send(thread, 0)
}

/// Memory for an alternate signal stack.
#[derive(Clone, Copy, Debug)]
pub struct AlternateStack {
    /// Lowest usable address.
    pub low: usize,
    /// End.
    pub high: usize,
}

impl AlternateStack {
    /// Room for the kernel's frame and `bytes` of handlers, above a page that nobody may touch.
    pub fn new(bytes: usize) -> io::Result<AlternateStack> {
        // SAFETY: a plain query.
        let frame = unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) } as usize;
        let (low, high) = memory::stack(frame.max(libc::MINSIGSTKSZ) + bytes)?;
        Ok(AlternateStack { low, high })
    }
    /// Makes it the calling thread's.
    ///
    /// # Safety
    /// It is no other thread's, and stays mapped until [`AlternateStack::remove`].
    pub unsafe fn install(self) {
        let stack = libc::stack_t {
            ss_sp: self.low as *mut libc::c_void,
            ss_flags: 0,
            ss_size: self.high - self.low,
        };
        // SAFETY: the caller's promise.
        unsafe { libc::sigaltstack(&stack, std::ptr::null_mut()) };
    }
    /// Takes the calling thread's alternate stack away.
    pub fn remove() {
        let stack = libc::stack_t {
            ss_sp: std::ptr::null_mut(),
            ss_flags: libc::SS_DISABLE,
            ss_size: 0,
        };
        // SAFETY: without an alternate stack handlers run on the ordinary one.
        unsafe { libc::sigaltstack(&stack, std::ptr::null_mut()) };
    }
    /// Does the address lie in it?
    pub fn contains(&self, address: usize) -> bool {
        (self.low..self.high).contains(&address)
    }
}
