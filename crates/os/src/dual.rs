//! One piece of memory mapped twice: writable at one address, executable at another.
//!
//! # Invariants
//! No page is both writable and executable, whichever way the second view was made: usually it is made out of the first, which is shared
//! anonymous memory (`mremap` of an old size of 0 maps the same pages once more). Where a sandbox denies that, both views map one memfd. Neither
//! needs a file system. A memfd has a name, so `perf` takes code in it for that of a file, and asks no perf map for names.
use std::io;

/// The name of memory for code in the list of a process's mappings.
pub const NAME: &std::ffi::CStr = c"vervet-code";

/// The two views, and memory behind the executable one.
#[derive(Clone, Copy, Debug)]
pub struct Dual {
    /// The writable view.
    pub writable: *mut u8,
    /// The executable view.
    pub executable: *const u8,
    /// Ordinary zeroed memory right behind the executable view.
    pub tail: *mut u8,
}

/// Maps `size` bytes twice, with `tail` bytes of ordinary zeroed memory behind the executable view. Both are whole pages.
pub fn map(size: usize, tail: usize) -> io::Result<Dual> {
    let whole = super::memory::reserve(size + tail)?;
    let fresh = |_: *mut u8| ();
    let views = through_mremap(whole, size, fresh).or_else(|_| through_memfd(whole, size, fresh));
    match views {
        Ok(writable) => Ok(Dual {
            writable,
            executable: whole,
            tail: whole.wrapping_add(size),
        }),
        Err(e) => {
            // SAFETY: reserved above; nobody else knows it.
            unsafe { super::memory::release(whole, size + tail) };
            Err(e)
        }
    }
}

/// Takes the pages `[at, at + size)` of the writable view out of the process's page tables, so that they do not count twice in its resident set. Their
/// contents stay, and can be written through the view as before.
///
/// # Safety
/// The range consists of whole pages of a writable view that [`map`] made.
pub unsafe fn unmap_written(at: *mut u8, size: usize) {
    // SAFETY: the caller's promise. The mapping is shared: its pages belong to the memory behind both views, not to this one. An error changes
    // nothing, and matters to nobody.
    unsafe { libc::madvise(at.cast(), size, libc::MADV_DONTNEED) };
}

/// Gives the calling process memory of its own behind two views that it shares with the process that forked it: the first `used` bytes are copied. If
/// that fails, the writable view is taken away, so that a write ends the calling process and does not reach the other one.
///
/// # Errors
/// The system's: there is no memory.
///
/// # Safety
/// `writable` and `executable` are views of `size` bytes that [`map`] made. No other thread uses them, and the caller does not run in them.
pub unsafe fn separate(
    writable: *mut u8,
    executable: *mut u8,
    size: usize,
    used: usize,
) -> io::Result<()> {
    // SAFETY: the caller's promise; the executable view can be read.
    let fill = |new: *mut u8| unsafe { std::ptr::copy_nonoverlapping(executable, new, used) };
    let made =
        through_mremap(executable, size, fill).or_else(|_| through_memfd(executable, size, fill));
    // SAFETY: the caller's promise: fixed mappings in the place of the old view.
    unsafe {
        match made {
            Ok(new) => {
                let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
                checked(libc::mremap(new.cast(), size, size, flags, writable)).map(drop)
            }
            Err(error) => {
                libc::mprotect(writable.cast(), size, libc::PROT_NONE);
                Err(error)
            }
        }
    }
}

fn checked(p: *mut libc::c_void) -> io::Result<*mut u8> {
    if p == libc::MAP_FAILED {
        Err(io::Error::last_os_error())
    } else {
        Ok(p.cast())
    }
}

/// Makes the executable view at `at`, which is reserved; the writable one is the result. `fill` writes through that before the other is there.
fn through_memfd(at: *mut u8, size: usize, fill: impl FnOnce(*mut u8)) -> io::Result<*mut u8> {
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
    // SAFETY: plain system calls on a descriptor of our own; the fixed mapping replaces part of the caller's reservation.
    unsafe {
        let fd = libc::memfd_create(NAME.as_ptr(), libc::MFD_CLOEXEC);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        let fd = OwnedFd::from_raw_fd(fd);
        if libc::ftruncate(fd.as_raw_fd(), size as i64) != 0 {
            return Err(io::Error::last_os_error());
        }
        let view = |at: *mut u8, prot, flags| {
            checked(libc::mmap(
                at.cast(),
                size,
                prot,
                libc::MAP_SHARED | flags,
                fd.as_raw_fd(),
                0,
            ))
        };
        let writable = view(std::ptr::null_mut(), libc::PROT_READ | libc::PROT_WRITE, 0)?;
        fill(writable);
        match view(at, libc::PROT_READ | libc::PROT_EXEC, libc::MAP_FIXED) {
            Ok(_) => Ok(writable),
            Err(e) => {
                super::memory::release(writable, size);
                Err(e)
            }
        }
    }
}

/// Maps a page that nobody reads, so that others see by the list of mappings, under `/memfd:` and [`NAME`], what the process is. Code that is mapped without a
/// descriptor has no name. Where a sandbox denies it there is no mark.
pub fn mark() {
    const PAGE: usize = 4096;
    // SAFETY: plain system calls on a descriptor of our own; the mapping is a new one and stays.
    unsafe {
        let fd = libc::memfd_create(NAME.as_ptr(), libc::MFD_CLOEXEC);
        if fd >= 0 {
            libc::mmap(
                std::ptr::null_mut(),
                PAGE,
                libc::PROT_NONE,
                libc::MAP_PRIVATE,
                fd,
                0,
            );
            libc::close(fd);
        }
    }
}

/// As [`through_memfd`], without a descriptor. What an error leaves of `at` is replaced by the other way.
fn through_mremap(at: *mut u8, size: usize, fill: impl FnOnce(*mut u8)) -> io::Result<*mut u8> {
    // SAFETY: plain system calls; the fixed mapping replaces part of the caller's reservation.
    unsafe {
        let writable = checked(libc::mmap(
            std::ptr::null_mut(),
            size,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        ))?;
        fill(writable);
        let second = checked(libc::mremap(
            writable.cast(),
            0,
            size,
            libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED,
            at,
        ));
        let executable = second.and_then(|p| {
            match libc::mprotect(p.cast(), size, libc::PROT_READ | libc::PROT_EXEC) {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        });
        match executable {
            Ok(()) => Ok(writable),
            Err(e) => {
                super::memory::release(writable, size);
                Err(e)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is written through one view is read, and runs, through the other.
    fn check(make: impl Fn(*mut u8, usize, fn(*mut u8)) -> io::Result<*mut u8>) {
        let size = 64 << 10;
        let at = crate::memory::reserve(size).expect("memory");
        let writable = make(at, size, |_| ()).expect("two views");
        // SAFETY: both views have that size; the code is `mov eax, 42; ret`.
        unsafe {
            let code = [0xB8u8, 42, 0, 0, 0, 0xC3];
            std::ptr::copy_nonoverlapping(code.as_ptr(), writable.add(4096), code.len());
            let run: extern "C" fn() -> i32 = std::mem::transmute(at.add(4096));
            assert_eq!(run(), 42);
        }
    }

    /// What a forked process writes stays its own, and what was there before the fork is there.
    #[test]
    fn a_forked_process_has_views_of_its_own() {
        let size = 64 << 10;
        let views = map(size, 4096).expect("two views");
        let (writable, executable) = (views.writable, views.executable.cast_mut());
        // SAFETY: both views have that size. The child makes system calls only, and ends.
        unsafe {
            writable.write(1);
            let child = libc::fork();
            if child == 0 {
                let separated = separate(writable, executable, size, 4096).is_ok();
                let kept = executable.read_volatile() == 1;
                writable.write_volatile(2);
                let own = executable.read_volatile() == 2;
                libc::_exit(i32::from(!(separated && kept && own)));
            }
            let mut status = -1;
            libc::waitpid(child, &mut status, 0);
            assert_eq!(status, 0, "the child has its own");
            assert_eq!(executable.read_volatile(), 1, "and the parent, too");
        }
    }

    #[test]
    fn code_written_through_one_view_runs_in_the_other() {
        check(through_memfd);
    }

    #[test]
    fn code_written_through_one_view_runs_in_the_other_without_a_descriptor() {
        check(through_mremap);
    }
}
