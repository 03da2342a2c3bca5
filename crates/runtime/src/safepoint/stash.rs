//! Stashed frames: the stack of a green thread that waits for long, put away in less memory.
//!
//! # How it works
//! The frames of a thread that waits take a page, of which it uses a third, and of that half is zeros. The trimmer (`threads/green/trim.rs`) copies what is in use
//! to memory of just that size, without the zeros, and gives the page back ([`put_away`]). The carrier that runs the thread next copies it back to
//! the same addresses ([`restore`]): by-refs, frame pointers and records on the stack are addresses.
//!
//! ```text
//!   the copy    words | low | zeros, data | data ... | zeros, data | data ...
//!                             a control word: how many words are zero, and how many follow it
//! ```
//!
//! A control word is less than 2^32, so it looks like no object: who scans for references conservatively reads the copy as it lies.
//!
//! # Invariants
//! * Frames are put away only while nobody but their thread can have an address of them (`threads/green/put_away.rs`). Else a write through such an address
//!   would be lost.
//! * While frames are put away, their memory holds anything. All readers of a parked thread's stack come through [`stashed`] (who looks for references)
//!   or [`with_frames`] (who walks frames); the carrier restores them before anything of the thread runs.
//! * They are put away while the thread is [held](super::green_contexts::hold) and nobody stops the world. So whoever reads them (the collector's
//!   thread, which holds the thread, or who has stopped the world) finds them either in the copy or on the stack.
//! * The copy is made whole before it is known, and does not change. It belongs to the carrier that restores it.
use std::alloc::{Layout, alloc, dealloc};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use vervet_abi::ThreadContext;
use vervet_os::memory;

/// Words at the start of a copy.
const HEADER: usize = 2;
/// The most words that can be put away.
pub(crate) const MOST: usize = 2048;

static FORBIDDEN: AtomicBool = AtomicBool::new(false);

/// No frames are put away from now on: functions of a host are called with addresses of variables.
pub(crate) fn forbid() {
    FORBIDDEN.store(true, Ordering::Relaxed);
}
/// May frames be put away?
pub(crate) fn is_allowed() -> bool {
    !FORBIDDEN.load(Ordering::Relaxed)
}

/// The address of the copy of a thread's frames; 0: there is none.
fn place<'c>(context: *mut ThreadContext) -> &'c AtomicUsize {
    // SAFETY: contexts are never freed; the word is used by atomic accesses only.
    unsafe { AtomicUsize::from_ptr(&raw mut (*context).stash) }
}

/// The copy of a parked thread's frames, as a range of memory that is looked through for references; None: they are on its stack, if there are any.
///
/// # Safety
/// The context is that of a green thread, which is held, or the world is stopped.
pub(crate) unsafe fn stashed(context: *mut ThreadContext) -> Option<(usize, usize)> {
    match place(context).load(Ordering::Acquire) {
        0 => None,
        copy => {
            // SAFETY: the caller's promise: a copy is whole, and nobody frees it meanwhile.
            let words = unsafe { (copy as *const u64).read() } as usize;
            Some((copy + 8 * HEADER, copy + 8 * words))
        }
    }
}

/// Calls `work`, which walks the frames of a thread. If they are put away, they are on the stack meanwhile.
///
/// # Safety
/// The thread is the calling one, or does not run meanwhile. If it is a parked one, the world is stopped.
pub(crate) unsafe fn with_frames<T>(context: *mut ThreadContext, work: impl FnOnce() -> T) -> T {
    let copy = place(context).load(Ordering::Acquire);
    if copy == 0 {
        return work();
    }
    // SAFETY: the caller's promise: nobody uses the stack, or frees the copy, meanwhile.
    unsafe {
        let (low, high) = write_back(copy as *mut u64);
        let result = work();
        memory::offer(low & !4095, high);
        result
    }
}

/// Puts the frames in `[low, high)` away. False: they stay, because there is no memory.
///
/// # Safety
/// The thread is held, and nobody stops the world. It uses the words, and nobody else has an address of them. `low` is a multiple of 8, and `high` one of
/// 4096. There are [`MOST`] of them at most.
pub(crate) unsafe fn put_away(context: *mut ThreadContext, low: usize, high: usize) -> bool {
    debug_assert_eq!(place(context).load(Ordering::Relaxed), 0);
    // SAFETY: the caller's promise.
    unsafe {
        let copy = pack(low, high);
        if copy.is_null() {
            return false;
        }
        place(context).store(copy as usize, Ordering::Release);
        memory::offer(low & !4095, high);
    }
    true
}

/// Puts the frames back on the stack.
///
/// # Safety
/// The calling thread is the carrier that has entered the thread: nobody holds it.
#[inline]
pub(crate) unsafe fn restore(context: *mut ThreadContext) {
    if place(context).load(Ordering::Acquire) != 0 {
        // SAFETY: the caller's promise.
        unsafe { restore_copy(context) };
    }
}

#[cold]
#[inline(never)]
unsafe fn restore_copy(context: *mut ThreadContext) {
    // SAFETY: the caller's promise: the copy is the calling thread's.
    unsafe {
        let copy = place(context).swap(0, Ordering::AcqRel) as *mut u64;
        write_back(copy);
        free(copy);
    }
}

/// A copy of the words; null: there is no memory.
///
/// # Safety
/// They are readable and do not change.
unsafe fn pack(low: usize, high: usize) -> *mut u64 {
    let count = (high - low) / 8;
    // SAFETY: the caller's promise.
    let words = unsafe { std::slice::from_raw_parts(low as *const u64, count) };
    let mut packed = [0u64; HEADER + MOST + MOST / 2];
    let mut to = HEADER;
    let mut at = 0;
    while at < count {
        let zeros = words[at..].iter().take_while(|w| **w == 0).count();
        at += zeros;
        let data = words[at..].iter().take_while(|w| **w != 0).count();
        packed[to] = (zeros | data << 16) as u64;
        packed[to + 1..to + 1 + data].copy_from_slice(&words[at..at + data]);
        to += 1 + data;
        at += data;
    }
    packed[0] = to as u64;
    packed[1] = low as u64;
    // SAFETY: the layout is not empty, and the memory is that large.
    unsafe {
        let copy = alloc(layout(to)).cast::<u64>();
        if !copy.is_null() {
            copy.copy_from_nonoverlapping(packed.as_ptr(), to);
        }
        copy
    }
}

/// Writes the words of a copy to where they were. Returns the bounds.
///
/// # Safety
/// The copy is whole, and the memory is nobody else's.
unsafe fn write_back(copy: *mut u64) -> (usize, usize) {
    // SAFETY: the caller's promise: `pack` has made it of words that were there.
    unsafe {
        let words = std::slice::from_raw_parts(copy, copy.read() as usize);
        let low = words[1] as usize;
        let mut to = low as *mut u64;
        let mut at = HEADER;
        while at < words.len() {
            let (zeros, data) = (words[at] as usize & 0xffff, words[at] as usize >> 16);
            // (The memory may not have been given back, or hold what a walk has left.)
            to.write_bytes(0, zeros);
            to = to.add(zeros);
            to.copy_from_nonoverlapping(words[at + 1..].as_ptr(), data);
            to = to.add(data);
            at += 1 + data;
        }
        (low, to as usize)
    }
}

fn layout(words: usize) -> Layout {
    Layout::array::<u64>(words).expect("a few pages")
}

/// # Safety
/// Nobody uses the copy any more.
unsafe fn free(copy: *mut u64) {
    // SAFETY: the caller's promise; its layout is that of its words.
    unsafe { dealloc(copy.cast(), layout(copy.read() as usize)) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is written back is what was there, whatever the words are.
    #[test]
    fn words_survive() {
        let patterns: [fn(usize) -> u64; 6] = [
            |_| 0,
            |n| n as u64 + 1,
            |n| (n % 2) as u64,
            |n| ((n + 1) % 2) as u64,
            |n| if n % 7 < 3 { u64::MAX - n as u64 } else { 0 },
            |n| u64::from(n == 511),
        ];
        for count in [1, 2, 7, 512, MOST] {
            for pattern in patterns {
                let mut words: Vec<u64> = (0..count).map(pattern).collect();
                let before = words.clone();
                let low = words.as_mut_ptr() as usize;
                // SAFETY: the words are this test's.
                unsafe {
                    let copy = pack(low, low + 8 * count);
                    assert!(!copy.is_null());
                    words.fill(0x5555);
                    assert_eq!(write_back(copy), (low, low + 8 * count));
                    free(copy);
                }
                assert_eq!(words, before);
            }
        }
    }
}
