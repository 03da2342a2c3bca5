//! Reports that signals cause: the dump of the managed stack (SIGQUIT), the report of a crash, the stack of an abort (SIGABRT).
//!
//! # How it works
//! A handler may interrupt anything, also the allocator. So it walks the stack into a fixed table, which takes no
//! memory and no lock, and a thread of its own turns the table into text. A crashing thread waits for that, for so
//! long as is reasonable; its first line it writes itself.
//!
//! # Invariants
//! * The table belongs to whoever has taken [`BUSY`] until the reporter gives it back.
//! * Handlers call nothing that is not async-signal-safe. (The native stack of a crash is the exception: it comes
//!   last, and an alarm ends a process that hangs in it.)
use crate::code::{arena, table};
use crate::exceptions::walk::Walk;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use vervet_abi::{State, ThreadContext};
use vervet_os::Published;
use vervet_types::{Method, MethodRef};

/// Starts the thread that makes the calls of signal handlers.
static START_HANDLER_CALLS: Published<fn()> = Published::new();

const FRAMES: usize = 512;
/// Code address of a frame, or the address of the method whose stub was left through, with the lowest bit set in `TAG`.
static PCS: [AtomicUsize; FRAMES] = [const { AtomicUsize::new(0) }; FRAMES];
static TAGS: [AtomicU8; FRAMES] = [const { AtomicU8::new(0) }; FRAMES];
static COUNT: AtomicUsize = AtomicUsize::new(0);
static BUSY: AtomicBool = AtomicBool::new(false);
static CRASHING: AtomicBool = AtomicBool::new(false);
/// The thread that SIGQUIT is passed on to if it meets one that runs nothing managed.
static FIRST: AtomicUsize = AtomicUsize::new(0);
/// The reporter sleeps on the first byte; a crashing thread waits for the answer.
static PIPES: [AtomicUsize; 4] = [const { AtomicUsize::new(usize::MAX) }; 4];

/// What the reporter is told: a dump is wanted, a crash is to be described, a handler needs the thread that makes its calls.
const QUIT: u8 = b'q';
const CRASH: u8 = b'c';
const CALLS: u8 = b's';

const RETURN: u8 = 0;
const EXACT: u8 = 1;
const STUB: u8 = 2;

/// Starts the reporter, which starts the thread that makes the calls of signal handlers by `start_handler_calls`, and installs the handlers of SIGQUIT and SIGABRT. Called once, by the first thread.
pub(crate) fn initialise(start_handler_calls: fn()) {
    START_HANDLER_CALLS.put(start_handler_calls);
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
        FIRST.store(libc::pthread_self() as usize, Ordering::Release);
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
        if what == CALLS {
            if let Some(start) = START_HANDLER_CALLS.get() {
                start();
            }
            continue;
        }
        let mut text = String::new();
        if what == QUIT {
            text.push_str("Full thread dump:\n\n\"Main\"\n");
        }
        let count = COUNT.load(Ordering::Acquire);
        let mut stub = None;
        for i in 0..count {
            let (word, tag) = (
                PCS[i].load(Ordering::Relaxed),
                TAGS[i].load(Ordering::Relaxed),
            );
            if let Some(line) = line(word, tag, &mut stub) {
                text.push_str(&format!("  at {line}\n"));
            }
        }
        if count == FRAMES {
            text.push_str("  ...\n");
        }
        if what == QUIT {
            text.push('\n');
        }
        crate::process::fatal::write_stderr(&text);
        BUSY.store(false, Ordering::Release);
        if what != QUIT {
            put(pipe(3), b'.');
        }
    }
}

/// One frame as text; `stub` is the method whose stub was left through last, which has one line, not two.
fn line(word: usize, tag: u8, stub: &mut Option<MethodRef>) -> Option<String> {
    if tag == STUB {
        // SAFETY: the word is the address of a method, which lives for ever.
        let m: MethodRef = unsafe { &*(word as *const Method) };
        *stub = Some(m);
        return Some(format!("(wrapper managed-to-native) {}", m.full_name()));
    }
    let left = stub.take();
    let probe = if tag == EXACT { word } else { word - 1 };
    let code = table::find(probe)?;
    let il = code
        .il_offset(probe)
        .map_or(String::from("?"), |o| format!("0x{o:05x}"));
    Some(match code.kind {
        table::CodeKind::Method(m) => format!("{} [{il}]", m.full_name()),
        table::CodeKind::Filter(m) => format!("(filter) {} [{il}]", m.full_name()),
        table::CodeKind::Wrapper(m) if left.is_some_and(|l| std::ptr::eq(l, m)) => return None,
        table::CodeKind::Wrapper(m) => format!("(wrapper) {}", m.full_name()),
        table::CodeKind::Stub(_) => return None,
    })
}

/// Walks the stack of this thread, interrupted at `pc`/`fp`, into the table.
///
/// # Safety
/// The context is the calling thread's or null, and `pc` and `fp` are the registers that the signal handler was given.
unsafe fn collect(context: *mut ThreadContext, pc: usize, fp: usize) {
    let mut n = 0;
    let mut note = |word: usize, tag: u8| {
        if n < FRAMES {
            PCS[n].store(word, Ordering::Relaxed);
            TAGS[n].store(tag, Ordering::Relaxed);
            n += 1;
        }
        n < FRAMES
    };
    if !context.is_null() {
        // SAFETY: in Managed state fp chains through frames of this thread's stack; each is checked to lie on it.
        unsafe {
            if (*context).state == State::Managed as u8 {
                let (mut pc, mut fp, mut exact) = (pc, fp, true);
                while arena::contains(pc) && table::find(if exact { pc } else { pc - 1 }).is_some()
                {
                    let is_on_stack = match (*context).segment {
                        0 => {
                            fp >= (*context).true_limit - (1 << 20)
                                && fp < (*context).stack_base - 16
                        }
                        _ => crate::threads::managed_stack::contains(context, fp + 16),
                    };
                    if !note(pc, if exact { EXACT } else { RETURN }) || !is_on_stack {
                        break;
                    }
                    pc = *((fp + 8) as *const usize);
                    fp = *(fp as *const usize);
                    exact = false;
                }
            }
        }
        // SAFETY: the records of this thread, which does nothing else until the handler returns.
        let mut walk = unsafe { Walk::new(context) };
        loop {
            if let Some(m) = walk.take_wrapper() {
                note(m as *const Method as usize, STUB);
            }
            let Some(f) = walk.next() else { break };
            if !note(f.pc, if f.exact { EXACT } else { RETURN }) {
                break;
            }
        }
    }
    COUNT.store(n, Ordering::Release);
}

fn interrupted(uc: *mut libc::c_void) -> (usize, usize) {
    // SAFETY: the kernel passes a valid ucontext.
    let regs = unsafe { &(*(uc as *const libc::ucontext_t)).uc_mcontext.gregs };
    (
        regs[libc::REG_RIP as usize] as usize,
        regs[libc::REG_RBP as usize] as usize,
    )
}

extern "C" fn on_quit(signal: i32, _info: *mut libc::siginfo_t, uc: *mut libc::c_void) {
    // SAFETY: errno of the interrupted code is put back below.
    let errno = unsafe { *libc::__errno_location() };
    let context = crate::threads::current_context();
    if context.is_null() {
        // SAFETY: the first thread lives as long as the process.
        unsafe { libc::pthread_kill(FIRST.load(Ordering::Acquire) as libc::pthread_t, signal) };
    } else if !BUSY.swap(true, Ordering::AcqRel) {
        let (pc, fp) = interrupted(uc);
        // SAFETY: this thread's context, and its registers at the signal.
        unsafe { collect(context, pc, fp) };
        put(pipe(1), QUIT);
    }
    // SAFETY: the address of errno is the calling thread's, in a handler as elsewhere.
    unsafe { *libc::__errno_location() = errno };
}

extern "C" fn on_abort(signal: i32, _info: *mut libc::siginfo_t, uc: *mut libc::c_void) {
    // SAFETY: the default action is put back, so that raising the signal again ends the process.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
    }
    if !CRASHING.swap(true, Ordering::SeqCst) {
        crate::process::fatal::before_crash_report();
        crate::process::fatal::write_stderr("vervet: SIGABRT\n");
        let (pc, fp) = interrupted(uc);
        // SAFETY: this thread's context, and its registers at the signal.
        unsafe { managed_stack(crate::threads::current_context(), pc, fp) };
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
unsafe fn managed_stack(context: *mut ThreadContext, pc: usize, fp: usize) {
    for _ in 0..100 {
        if !BUSY.swap(true, Ordering::AcqRel) {
            // SAFETY: the caller's promise is that of `collect`.
            unsafe { collect(context, pc, fp) };
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
    let register = |r: i32| uc.uc_mcontext.gregs[r as usize] as usize;
    let (pc, sp, fp) = (
        register(libc::REG_RIP),
        register(libc::REG_RSP),
        register(libc::REG_RBP),
    );
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
    unsafe { managed_stack(context, pc, fp) };
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
