//! Native half of System.ConsoleDriver.
//!
//! Keeps the terminal's settings as they were found (restored when the process ends), the teardown string, and the
//! window size word that SIGWINCH updates.
use crate::support::args::Out;
use crate::support::arrays::byte_array;
use crate::support::errno::retry;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, Ordering};
use vervet_os::Published;
use vervet_runtime::{ObjRef, RefSlot, icalls};

/// The terminal's settings before anything here changed them.
static FOUND: Published<libc::termios> = Published::new();
/// What SIGCONT sets again, and the text that the end of the process writes.
struct Saved {
    ours: libc::termios,
    keypad: Vec<u8>,
    teardown: Vec<u8>,
}
/// Published once; the signal handlers and the exit handler read it without a lock.
static SAVED: Published<Saved> = Published::new();
/// Whether handlers are installed: once for each process.
static SETUP_DONE: AtomicBool = AtomicBool::new(false);
/// The size of the window, columns in the upper half; -1 until the driver is set up. Managed code reads the word itself.
static WINDOW: AtomicI32 = AtomicI32::new(-1);
/// The SIGCONT handler that was there before ours, which calls it.
static OLD_CONT: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// The terminal's settings; None if standard input is no terminal.
fn settings() -> Option<libc::termios> {
    // SAFETY: the record is filled.
    unsafe {
        let mut t = std::mem::zeroed();
        (libc::tcgetattr(libc::STDIN_FILENO, &mut t) == 0).then_some(t)
    }
}
/// Gives the terminal settings at once. False if standard input is no terminal.
fn apply(t: &libc::termios) -> bool {
    // SAFETY: a complete record.
    unsafe { libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, t) == 0 }
}
/// Notes the settings before the first change; they come back when the process ends.
fn note(found: &libc::termios) {
    if FOUND.get().is_none() {
        FOUND.put(*found);
        // SAFETY: `restore` may run at any time from here on.
        unsafe { libc::atexit(restore) };
        vervet_runtime::process::fatal::at_crash(restore);
    }
}
/// Changes the terminal's settings.
fn change(with: impl FnOnce(&mut libc::termios)) -> bool {
    settings().is_some_and(|mut t| {
        note(&t);
        with(&mut t);
        apply(&t)
    })
}
/// Writes bytes to standard output, without a buffer. A signal handler may call it.
fn put(bytes: &[u8]) {
    if !bytes.is_empty() {
        // SAFETY: the range is the slice's.
        retry(|| unsafe { libc::write(libc::STDOUT_FILENO, bytes.as_ptr().cast(), bytes.len()) });
    }
}
/// (columns << 16) | rows, or -1.
fn window() -> i32 {
    // SAFETY: the record is filled.
    unsafe {
        let mut w: libc::winsize = std::mem::zeroed();
        if libc::ioctl(libc::STDIN_FILENO, libc::TIOCGWINSZ, &mut w) == 0 {
            return (w.ws_col as i32) << 16 | w.ws_row as i32;
        }
    }
    let var = |n| crate::system::environment::variable(n).and_then(|v| v.parse::<i32>().ok());
    match (var(c"COLUMNS"), var(c"LINES")) {
        (Some(c), Some(l)) => c << 16 | l,
        _ => -1,
    }
}
/// SIGWINCH: stores the new size. It only makes calls that are allowed in signal handlers.
extern "C" fn on_window_change(_: i32) {
    // SAFETY: the ioctl is safe in a signal handler; the record is filled.
    unsafe {
        let mut w: libc::winsize = std::mem::zeroed();
        if libc::ioctl(libc::STDIN_FILENO, libc::TIOCGWINSZ, &mut w) == 0 {
            WINDOW.store((w.ws_col as i32) << 16 | w.ws_row as i32, Ordering::Relaxed);
        }
    }
}
/// SIGCONT: the shell has changed the terminal's settings, so ours are set again.
extern "C" fn on_continue(signal: i32) {
    if let Some(s) = SAVED.get() {
        apply(&s.ours);
        put(&s.keypad);
    }
    let old = OLD_CONT.load(Ordering::Relaxed);
    if !old.is_null() {
        // SAFETY: the handler that was installed before ours.
        let old: extern "C" fn(i32) = unsafe { std::mem::transmute(old) };
        old(signal);
    }
}
/// At exit: writes the teardown string and restores the settings that were found.
extern "C" fn restore() {
    if let Some(s) = SAVED.get() {
        put(&s.teardown);
    }
    if let Some(found) = FOUND.get() {
        apply(found);
    }
}
/// Installs a signal handler; the handler that was there before.
fn handle(signal: i32, handler: extern "C" fn(i32)) -> usize {
    // SAFETY: complete records; the handler is async-signal-safe.
    unsafe {
        let mut new: libc::sigaction = std::mem::zeroed();
        let mut old: libc::sigaction = std::mem::zeroed();
        new.sa_sigaction = handler as usize;
        new.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
        libc::sigaction(signal, &new, &mut old);
        if old.sa_flags & libc::SA_SIGINFO != 0 || old.sa_sigaction == libc::SIG_IGN {
            0
        } else {
            old.sa_sigaction
        }
    }
}

/// The order of the 17 control characters in the array that managed code indexes.
const CONTROL_CHARS: [usize; 17] = [
    libc::VINTR,
    libc::VQUIT,
    libc::VERASE,
    libc::VKILL,
    libc::VEOF,
    libc::VTIME,
    libc::VMIN,
    libc::VSWTC,
    libc::VSTART,
    libc::VSTOP,
    libc::VSUSP,
    libc::VEOL,
    libc::VREPRINT,
    libc::VDISCARD,
    libc::VWERASE,
    libc::VLNEXT,
    libc::VEOL2,
];

icalls! {
    // SAFETY: `isatty` takes a number; one that is no descriptor is an error.
    "System.ConsoleDriver::Isatty" fn isatty(cx, handle: isize) -> bool { Ok(unsafe { libc::isatty(handle as i32) } == 1) }
    /// Bytes that can be read without blocking, after at most `ms` milliseconds.
    "System.ConsoleDriver::InternalKeyAvailable" fn internal_key_available(cx, ms: i32) -> i32 {
        Ok(cx.native(|| {
            let mut p = libc::pollfd { fd: libc::STDIN_FILENO, events: libc::POLLIN, revents: 0 };
            // SAFETY: one complete record.
            if ms != 0 && retry(|| unsafe { libc::poll(&mut p, 1, ms) } as isize) <= 0 {
                return 0;
            }
            let mut n = 0i32;
            // SAFETY: the ioctl stores one int.
            if unsafe { libc::ioctl(libc::STDIN_FILENO, libc::FIONREAD, &mut n) } == 0 { n } else { 0 }
        }))
    }
    /// Switches the terminal's echo. False if standard input is no terminal.
    "System.ConsoleDriver::SetEcho" fn set_echo(cx, on: bool) -> bool {
        Ok(change(|t| if on { t.c_lflag |= libc::ECHO } else { t.c_lflag &= !libc::ECHO }))
    }
    /// With `read` (`TreatControlCAsInput`), control characters are read; without, they break.
    "System.ConsoleDriver::SetBreak" fn set_break(cx, read: bool) -> bool {
        Ok(change(|t| if read { t.c_lflag &= !libc::ISIG } else { t.c_lflag |= libc::ISIG }))
    }
    /// False if standard input is no terminal.
    "System.ConsoleDriver::TtySetup" fn tty_setup(cx, keypad: ObjRef<'cx>, teardown: ObjRef<'cx>, control: RefSlot<'cx>, size: Out<'cx, *const i32>) -> bool {
        size.set(WINDOW.as_ptr().cast_const());
        WINDOW.store(window(), Ordering::Relaxed);
        let Some(found) = settings() else {
            control.set(byte_array(cx, &[0; 17])?);
            return Ok(false);
        };
        let mut chars = [0u8; 17];
        for (c, index) in chars.iter_mut().zip(CONTROL_CHARS) {
            *c = found.c_cc[index];
        }
        note(&found);
        let mut ours = found;
        ours.c_lflag &= !libc::ICANON;
        ours.c_iflag &= !(libc::IXON | libc::IXOFF);
        ours.c_cc[libc::VMIN] = 1;
        ours.c_cc[libc::VTIME] = 0;
        if !apply(&ours) {
            control.set(byte_array(cx, &chars)?);
            return Ok(false);
        }
        SAVED.put(Saved { ours, keypad: keypad.text().into_bytes(), teardown: teardown.text().into_bytes() });
        control.set(byte_array(cx, &chars)?);
        if !SETUP_DONE.swap(true, Ordering::AcqRel) {
            OLD_CONT.store(handle(libc::SIGCONT, on_continue) as *mut (), Ordering::Relaxed);
            handle(libc::SIGWINCH, on_window_change);
            if crate::system::console_interrupt::start() {
                handle(libc::SIGINT, crate::system::console_interrupt::on_interrupt);
            }
        }
        Ok(true)
    }
}
