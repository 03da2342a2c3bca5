//! Reports that signals cause: the dump of all managed stacks (SIGQUIT), the report of a crash, the stack of an abort (SIGABRT).
//!
//! # How it works
//! A handler may interrupt anything, also the allocator. So that of a crash walks the stack into a fixed table, which takes no
//! memory and no lock, and a thread of its own, the reporter, turns the table into text. A crashing thread waits for that, for so
//! long as is reasonable; its first line it writes itself. The handler of SIGQUIT only tells the reporter, which has another thread make
//! the dump: that stops the world, and a crash meanwhile must find the reporter.
//!
//! # Invariants
//! * The table belongs to whoever has taken [`BUSY`] until the reporter gives it back.
//! * Handlers call nothing that is not async-signal-safe. (The native stack of a crash is the exception: it comes
//!   last, and an alarm ends a process that hangs in it.)
use crate::arch::Registers;
use crate::code::{arena, table};
use crate::exceptions::stack_words::{self, Word};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use vervet_abi::{State, ThreadContext};
use vervet_os::Published;

/// Starts the thread that makes the calls of signal handlers.
static START_HANDLER_CALLS: Published<fn()> = Published::new();
/// Starts a dump of all threads.
static START_DUMP: Published<fn()> = Published::new();

const FRAMES: usize = 512;
/// The stack, as [`stack_words`] has it.
static WORDS: [AtomicU64; FRAMES] = [const { AtomicU64::new(0) }; FRAMES];
static COUNT: AtomicUsize = AtomicUsize::new(0);
static BUSY: AtomicBool = AtomicBool::new(false);
static CRASHING: AtomicBool = AtomicBool::new(false);
/// The reporter sleeps on the first byte; a crashing thread waits for the answer.
static PIPES: [AtomicUsize; 4] = [const { AtomicUsize::new(usize::MAX) }; 4];

/// What the reporter is told: a dump is wanted, a crash is to be described, a handler needs the thread that makes its calls.
const QUIT: u8 = b'q';
const CRASH: u8 = b'c';
const CALLS: u8 = b's';

/// Starts the reporter, which starts the thread that makes the calls of signal handlers by `start_handler_calls` and dumps by `start_dump`, and installs the handlers of SIGQUIT and SIGABRT. Called once, by the first thread.
pub(crate) fn initialise(start_handler_calls: fn(), start_dump: fn()) {
    START_HANDLER_CALLS.put(start_handler_calls);
    START_DUMP.put(start_dump);
    // SAFETY: fresh descriptors, and handlers that follow the rules of this module.
    unsafe {
        let mut fds = [0; 4];
        if libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) != 0
            || libc::pipe2(fds.as_mut_ptr().add(2), libc::O_CLOEXEC) != 0
        {
            return;
        }
        // Far from the descriptors that programs count on.
        for (pipe, fd) in PIPES.iter().zip(fds) {
            let high = libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 200);
            let kept = if high < 0 {
                fd
            } else {
                libc::close(fd);
                high
            };
            pipe.store(kept as usize, Ordering::Release);
        }
        // The reporter takes no signals.
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let started = std::thread::Builder::new()
            .name("reports".into())
            .stack_size(256 << 10)
            .spawn(reporter);
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        if started.is_err() {
            return;
        }
        for (signal, handler) in [
            (libc::SIGQUIT, on_quit as *const () as usize),
            (libc::SIGABRT, on_abort as *const () as usize),
        ] {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
            libc::sigemptyset(&mut action.sa_mask);
            libc::sigaddset(&mut action.sa_mask, crate::safepoint::stop_word::SUSPEND);
            libc::sigaddset(&mut action.sa_mask, libc::SIGPROF);
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

fn pipe(index: usize) -> i32 {
    PIPES[index].load(Ordering::Acquire) as i32
}
fn put(fd: i32, byte: u8) {
    // SAFETY: one byte of this frame.
    unsafe { libc::write(fd, (&raw const byte).cast(), 1) };
}
fn get(fd: i32) -> Option<u8> {
    let mut byte = 0u8;
    loop {
        // SAFETY: one byte of this frame.
        match unsafe { libc::read(fd, (&raw mut byte).cast(), 1) } {
            1 => return Some(byte),
            -1 if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
            _ => return None,
        }
    }
}

/// Has the reporter start the thread that makes the calls of signal handlers. Async-signal-safe.
pub(crate) fn ask_for_handler_calls() {
    put(pipe(1), CALLS);
}

fn reporter() {
    while let Some(what) = get(pipe(0)) {
        let start = match what {
            CALLS => START_HANDLER_CALLS.get(),
            QUIT => START_DUMP.get(),
            _ => None,
        };
        if let Some(start) = start {
            start();
        }
        if what != CRASH {
            continue;
        }
        let mut text = String::new();
        let count = COUNT.load(Ordering::Acquire);
        let words = WORDS[..count]
            .iter()
            .map(|w| Word(w.load(Ordering::Relaxed)));
        for line in stack_words::lines(words) {
            text.push_str(&format!("  at {line}\n"));
        }
        if count == FRAMES {
            text.push_str("  ...\n");
        }
        crate::process::fatal::write_stderr(&text);
        BUSY.store(false, Ordering::Release);
        put(pipe(3), b'.');
    }
}

/// Walks the stack of this thread, interrupted with these registers, into the table.
///
/// # Safety
/// The context is the calling thread's or null, and `at` are the registers that the signal handler was given.
unsafe fn collect(context: *mut ThreadContext, at: Registers) {
    let mut n = 0;
    let note = |word: Word| {
        WORDS[n].store(word.0, Ordering::Relaxed);
        n += 1;
        n < FRAMES
    };
    if !context.is_null() {
        // SAFETY: the caller's promise: this thread's context, and its registers at the signal.
        unsafe {
            let is_managed = (*context).state == State::Managed as u8;
            stack_words::collect(context, is_managed.then_some(at), note);
        }
    }
    COUNT.store(n, Ordering::Release);
}

fn interrupted(uc: *mut libc::c_void) -> Registers {
    // SAFETY: the kernel passes a valid ucontext.
    Registers::of(unsafe { &*(uc as *const libc::ucontext_t) })
}

extern "C" fn on_quit(_: i32, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: errno of the interrupted code is put back below; its address is the calling thread's, in a handler as elsewhere.
    unsafe {
        let errno = *libc::__errno_location();
        put(pipe(1), QUIT);
        *libc::__errno_location() = errno;
    }
}

extern "C" fn on_abort(signal: i32, _info: *mut libc::siginfo_t, uc: *mut libc::c_void) {
    // SAFETY: the default action is put back, so that raising the signal again ends the process.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
    }
    if !CRASHING.swap(true, Ordering::SeqCst) {
        crate::process::fatal::before_crash_report();
        crate::process::fatal::write_stderr("vervet: SIGABRT\n");
        let at = interrupted(uc);
        // SAFETY: this thread's context, and its registers at the signal.
        unsafe { managed_stack(crate::threads::current_context(), at) };
    }
    // SAFETY: raising a signal is async-signal-safe. The signal is blocked until the handler returns and has its default action then.
    unsafe {
        libc::raise(signal);
    }
}

/// Has the managed stack of this thread written, and waits for that.
///
/// # Safety
/// As for [`collect`].
unsafe fn managed_stack(context: *mut ThreadContext, at: Registers) {
    for _ in 0..100 {
        if !BUSY.swap(true, Ordering::AcqRel) {
            // SAFETY: the caller's promise is that of `collect`.
            unsafe { collect(context, at) };
            put(pipe(1), CRASH);
            let mut answer = libc::pollfd {
                fd: pipe(2),
                events: libc::POLLIN,
                revents: 0,
            };
            // SAFETY: one complete record.
            unsafe { libc::poll(&mut answer, 1, 5000) };
            return;
        }
        // SAFETY: a plain call.
        unsafe { libc::usleep(10_000) };
    }
}

extern "C" fn too_long(_: i32) {
    // SAFETY: ends the process.
    unsafe { libc::_exit(crate::process::fatal::INTERNAL_ERROR) }
}

/// Says what, where and the managed stack, and ends the process with code 70.
///
/// # Safety
/// `info` and `uc` are what the kernel passed to the handler of the signal; the context is the calling thread's or null.
pub(crate) unsafe fn crash(
    signal: i32,
    info: *mut libc::siginfo_t,
    uc: &libc::ucontext_t,
    context: *mut ThreadContext,
) -> ! {
    if CRASHING.swap(true, Ordering::SeqCst) {
        // SAFETY: a second fault while reporting the first.
        unsafe { libc::_exit(crate::process::fatal::INTERNAL_ERROR) };
    }
    crate::process::fatal::before_crash_report();
    let name = match signal {
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGILL => "SIGILL",
        _ => "signal",
    };
    let at = Registers::of(uc);
    let Registers { pc, sp, .. } = at;
    // SAFETY: the kernel passes a valid siginfo.
    let address = unsafe { (*info).si_addr() as usize };
    crate::process::fatal::write_stderr_without_memory(format_args!(
        "vervet: internal error: {name} at pc {pc:#x}, address {address:#x}, sp {sp:#x}\n"
    ));
    match table::find(pc) {
        Some(code) => crate::process::fatal::write_stderr_without_memory(format_args!(
            "  in compiled code at +{:#x}, IL {:?}\n",
            pc - code.start,
            code.il_offset(pc)
        )),
        None => crate::process::fatal::write_stderr_without_memory(format_args!(
            "  not in compiled code\n"
        )),
    }
    if !context.is_null() {
        // SAFETY: plain reads of this thread's context.
        unsafe {
            crate::process::fatal::write_stderr_without_memory(format_args!(
                "  state {} critical {}\n",
                (*context).state,
                (*context).critical
            ))
        };
    }
    // SAFETY: this thread's context, and its registers at the signal.
    unsafe { managed_stack(context, at) };
    // SAFETY: the alarm ends the process if the rest does not.
    unsafe {
        libc::signal(libc::SIGALRM, too_long as *const () as usize);
        libc::alarm(10);
        if !arena::contains(pc) {
            crate::process::fatal::write_stderr(&format!(
                "native stack:\n{}\n",
                std::backtrace::Backtrace::force_capture()
            ));
        }
        libc::_exit(crate::process::fatal::INTERNAL_ERROR)
    }
}
