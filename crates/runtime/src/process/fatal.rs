//! What is said on standard error, and the ends of the process that nothing follows.
//!
//! # Invariants
//! * Of several threads that end the process the first does; the others stay in [`exit_process`].
//! * An internal error names what failed, lists the managed stack, and exits with code 70. It never returns.
//! * [`write_stderr`] and [`write_stderr_without_memory`] are async-signal-safe; the second also formats without memory.
use crate::exceptions::walk::describe;
use crate::threads::{current_context, native};
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

/// Exit code of an internal error.
pub const INTERNAL_ERROR: i32 = 70;

/// Thread id (of the system) of the thread that is in [`exit_process`]; 0: none yet.
static ENDING: AtomicI32 = AtomicI32::new(0);

static AT_CRASH: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// What is done before a crash report, if anything; it must be async-signal-safe.
pub fn at_crash(work: extern "C" fn()) {
    AT_CRASH.store(work as *mut (), Ordering::Release);
}

/// Does what was given to [`at_crash`].
pub(crate) fn before_crash_report() {
    let work = AT_CRASH.load(Ordering::Acquire);
    if !work.is_null() {
        // SAFETY: only `at_crash` stores here.
        let work: extern "C" fn() = unsafe { std::mem::transmute(work) };
        work();
    }
}

/// Writes a piece of text to standard error in one go; a descriptor that takes nothing is no reason to fail.
pub(crate) fn write_stderr(text: &str) {
    write(libc::STDERR_FILENO, text);
}

/// The same to the standard output.
pub(crate) fn write_stdout(text: &str) {
    write(libc::STDOUT_FILENO, text);
}

fn write(descriptor: i32, text: &str) {
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        // SAFETY: the range is the slice's.
        let n = unsafe { libc::write(descriptor, rest.as_ptr().cast(), rest.len()) };
        match n {
            1.. => rest = &rest[n as usize..],
            _ if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
            _ => return,
        }
    }
}

/// Text in a fixed buffer.
struct Line {
    bytes: [u8; 200],
    len: usize,
}

impl std::fmt::Write for Line {
    fn write_str(&mut self, s: &str) -> std::fmt::Result {
        let n = s.len().min(self.bytes.len() - self.len);
        self.bytes[self.len..self.len + n].copy_from_slice(&s.as_bytes()[..n]);
        self.len += n;
        Ok(())
    }
}

/// Writes a line to standard error; takes no memory.
pub(crate) fn write_stderr_without_memory(text: std::fmt::Arguments<'_>) {
    let mut line = Line {
        bytes: [0; 200],
        len: 0,
    };
    let _ = std::fmt::Write::write_fmt(&mut line, text);
    write_stderr(std::str::from_utf8(&line.bytes[..line.len]).unwrap_or(""));
}

/// Ends the process at once, in Native state. Of several threads the first does; the others stay here.
pub fn exit_process(code: i32) -> ! {
    // SAFETY: plain system calls.
    unsafe {
        let me = libc::syscall(libc::SYS_gettid) as i32;
        match ENDING.compare_exchange(0, me, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {}
            Err(who) if who == me => libc::_exit(code),
            Err(_) => native(|| {
                loop {
                    libc::pause();
                }
            }),
        }
    }
    // What runs now (exit handlers of libraries) may wait for a lock whose owner is stopped by somebody who waits for us.
    let end = || {
        // A recording ends with what happened so far.
        crate::profiler::recording::stop();
        std::process::exit(code)
    };
    if vervet_os::lock::holds_leaf_lock() {
        end();
    }
    native(end)
}

/// A hole in an invariant of ours: says what and the managed stack of the calling thread, and ends with code 70.
pub fn internal_error(what: &str) -> ! {
    before_crash_report();
    write_stderr(&format!("vervet: internal error: {what}\n"));
    let context = current_context();
    if !context.is_null() {
        // SAFETY: the context is the calling thread's.
        for line in unsafe { describe(context) } {
            write_stderr(&format!("  at {line}\n"));
        }
    }
    exit_process(INTERNAL_ERROR)
}

/// The heap is damaged: says what, and ends with code 70. The managed stack is not walked, because that takes memory, and the world may be
/// stopped.
pub fn heap_error(what: &str) -> ! {
    before_crash_report();
    write_stderr(&format!("vervet: internal error: {what}\n"));
    exit_process(INTERNAL_ERROR)
}
