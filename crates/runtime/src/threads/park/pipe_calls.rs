//! Reading and writing pipes by the class library's own native functions.
//!
//! # How it works
//! `System.IO.Pipes` calls `SystemNative_Read` and `SystemNative_Write` of libmono-native, which wait in the kernel. P/Invokes of these names are bound to
//! the functions here. They do the same, but a green thread tries without waiting, and parks until the descriptor is ready.
//!
//! # Invariants
//! * The functions are called in Native state and return in it, with the same `scan_sp`: what the thread refers to lies above the P/Invoke's frame, which
//!   stays. Meanwhile the thread is in Runtime state and runs no managed code, so nothing can be thrown.
//! * What is asked of a thread in native code is served behind the call. A green thread that is asked waits in the kernel, as an OS thread does, and
//!   the signal that comes with an abort ends the call.
//! * The thread may come back on another carrier. errno is what the last system call has left there.
use super::blocking_io::is_non_blocking;
use super::reason::{self, Reason};
use crate::cx::Cx;
use crate::safepoint::registry;
use crate::threads::green::kept::Kept;
use crate::threads::{current_context, green, interrupts, native_state};
use std::sync::atomic::Ordering;
use vervet_abi::State;
use vervet_abi::context::interrupts::ABORT;
use vervet_parking::stopping;
use vervet_sched::reactor::Direction;

/// What a P/Invoke of that function is bound to instead; 0: the function itself.
pub(crate) fn replacement(library: &str, function: &str) -> usize {
    match (library, function) {
        ("System.Native", "SystemNative_Read") => read as *const () as usize,
        ("System.Native", "SystemNative_Write") => write as *const () as usize,
        _ => 0,
    }
}

/// read(2), again if a signal ends it and no abort is asked for.
///
/// # Safety
/// The buffer has so many bytes.
unsafe extern "C" fn read(fd: isize, buffer: *mut u8, count: i32) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { transfer(fd as i32, buffer, count, Direction::Read) }
}

/// write(2), again if a signal ends it and no abort is asked for.
///
/// # Safety
/// The buffer has so many bytes.
unsafe extern "C" fn write(fd: isize, buffer: *mut u8, count: i32) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { transfer(fd as i32, buffer, count, Direction::Write) }
}

/// # Safety
/// The buffer has so many bytes.
unsafe fn transfer(fd: i32, buffer: *mut u8, count: i32, direction: Direction) -> i32 {
    let Ok(count) = usize::try_from(count) else {
        set_errno(libc::EINVAL);
        return -1;
    };
    let reads = direction == Direction::Read;
    let mut done = 0;
    let mut may_park = is_green() && !is_non_blocking(fd);
    loop {
        // SAFETY: so much of the buffer is done; the caller's promise.
        let n = unsafe {
            let (at, left) = (buffer.add(done).cast::<libc::c_void>(), count - done);
            let vector = libc::iovec {
                iov_base: at,
                iov_len: left,
            };
            match (may_park, reads) {
                // The position -1 is that of the descriptor.
                (true, true) => libc::preadv2(fd, &vector, 1, -1, libc::RWF_NOWAIT),
                (true, false) => libc::pwritev2(fd, &vector, 1, -1, libc::RWF_NOWAIT),
                (false, true) => libc::read(fd, at, left),
                (false, false) => libc::write(fd, at, left),
            }
        };
        match usize::try_from(n) {
            Ok(n) => {
                done += n;
                // A pipe that blocks takes all that is written.
                if reads || n == 0 || done >= count || !may_park {
                    return done as i32;
                }
            }
            Err(_) => match errno() {
                libc::EINTR if is_asked() => {
                    set_errno(libc::EINTR);
                    return if done > 0 { done as i32 } else { -1 };
                }
                libc::EINTR => {}
                libc::EAGAIN if may_park => may_park = wait(fd, direction),
                // Linux before 6.4, or no pipe: the call waits in the kernel.
                _ if may_park && done == 0 => may_park = false,
                _ if done > 0 => return done as i32,
                _ => return -1,
            },
        }
    }
}

fn errno() -> i32 {
    // SAFETY: the C library's variable of this thread.
    unsafe { *libc::__errno_location() }
}

fn set_errno(value: i32) {
    // SAFETY: the C library's variable of this thread.
    unsafe { *libc::__errno_location() = value };
}

/// Is the calling thread a green one in Native state?
fn is_green() -> bool {
    let context = current_context();
    // SAFETY: the context is the calling thread's, or null.
    !context.is_null()
        && unsafe { (*context).green != 0 && (*context).state == State::Native as u8 }
}

/// Is the calling thread, in Native state, asked to abort?
fn is_asked() -> bool {
    let context = current_context();
    // SAFETY: the context is the calling thread's, or null; the word is atomic.
    !context.is_null()
        && unsafe { registry::interrupts(context) }.load(Ordering::SeqCst) & ABORT != 0
}

/// Waits until the descriptor may be ready. The calling thread is a green one in Native state. False: it cannot wait, or is asked for something.
fn wait(fd: i32, direction: Direction) -> bool {
    let context = current_context();
    // SAFETY: the context is the calling thread's, which goes from Native state to Runtime and back. What it refers to lies at the same address or above
    // all the time.
    unsafe {
        let scan_sp = (*context).scan_sp;
        green::wait::leave_native(context);
        native_state::leave_native(context);
        let waited = in_runtime_state(fd, direction);
        (*context).scan_sp = scan_sp;
        stopping::go_native(registry::state(context));
        green::wait::enter_native(context);
        waited
    }
}

fn in_runtime_state(fd: i32, direction: Direction) -> bool {
    let cx = &Cx::current();
    if interrupts::is_due(cx) {
        return false;
    }
    reason::set(
        cx,
        Reason::Descriptor(fd, direction == Direction::Write),
        None,
    );
    let kept = Kept { end: None, note: 0 };
    let waited = green::descriptor::wait(cx, fd, direction, kept, None);
    reason::forget(cx);
    matches!(waited, Ok(true))
}
