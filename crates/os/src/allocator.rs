//! The allocator of our own data: the C library's, and an end in words when it has nothing left.
//!
//! # Invariants
//! An allocation that fails ends the process with a sentence and exit code 1; it neither unwinds nor aborts. It uses system calls
//! only: the caller may hold any lock.
use std::alloc::{GlobalAlloc, Layout, System};

/// See the module.
#[derive(Debug)]
pub struct OrExit;

/// Ends the process because it has no memory for `what`.
#[cold]
#[inline(never)]
pub fn no_memory(what: &str, bytes: usize) -> ! {
    let mut text = [0u8; 200];
    let mut rest = &mut text[..];
    // What does not fit is cut off.
    let _ = std::io::Write::write_fmt(
        &mut rest,
        format_args!("vervet: out of memory: no {bytes} bytes for {what} (see ulimit -v)\n"),
    );
    let left = rest.len();
    let used = text.len() - left;
    // SAFETY: plain system calls on a buffer of this frame.
    unsafe {
        libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), used);
        libc::_exit(1)
    }
}

/// Bytes by which the C library extends what it has from the system.
const STEP: libc::c_int = 2 << 20;

/// Has the C library's allocator take memory from the system in steps of 2 MiB, and make mappings of their own only for more than that. By
/// itself it makes the memory of all threads but the first accessible 4 KiB at a time: the background compiler of hello world made 200 such
/// system calls, each of which keeps the other threads from taking page faults. Memory that nobody touches takes no room.
pub fn prefer_large_steps() {
    // SAFETY: plain calls that set numbers.
    unsafe {
        libc::mallopt(libc::M_TOP_PAD, STEP);
        libc::mallopt(libc::M_MMAP_THRESHOLD, STEP);
    }
}

/// Gives memory that is free in the C library's allocator back to the system. Takes the allocator's locks, and time that grows with the
/// memory in use: for a thread that nobody waits for.
pub fn give_back() {
    // SAFETY: a plain call.
    unsafe { libc::malloc_trim(0) };
}

#[inline(always)]
fn checked(p: *mut u8, bytes: usize) -> *mut u8 {
    if p.is_null() {
        no_memory("the runtime", bytes);
    }
    p
}

// SAFETY: every call is passed on to the system's allocator, whose answers are given unchanged.
unsafe impl GlobalAlloc for OrExit {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which `System` has too.
        checked(unsafe { System.alloc(layout) }, layout.size())
    }
    #[inline]
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which `System` has too.
        unsafe { System.dealloc(at, layout) }
    }
    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which `System` has too.
        checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }
    #[inline]
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which `System` has too.
        checked(unsafe { System.realloc(at, layout, size) }, size)
    }
}
