//! Stashed frames: the stack of a green thread that waits for long, put away in less memory.
//!
//! # How it works
//! The frames of a thread that waits take a page, of which it uses a third, and of that half is zeros. The [trimmer](super::trim) copies what is in use
//! to memory of just that size, without the zeros, and gives the page back ([`Stash::put_away`]). The carrier that runs the thread next copies it back to
//! the same addresses ([`Stash::restore`]): by-refs, frame pointers and records on the stack are addresses.
//!
//! ```text
//!   the copy    words | low | zeros, data | data ... | zeros, data | data ...
//!                             a control word: how many words are zero, and how many follow it
//! ```
//!
//! A control word is less than 2^32, so it looks like no object: who scans for references conservatively reads the copy as it lies.
//!
//! # Invariants
//! * Frames are put away only while nobody but their thread can have an address of them: the thread has no native stack, no method on its stack exposes
//!   its frame, and nothing on the segment was exposed otherwise ([`vervet_jit`]'s `translate/values/exposure.rs`). Else a write through such an address
//!   would be lost.
//! * While frames are put away, their memory holds anything. All readers of a parked thread's stack come through [`stashed`] (who looks for references)
//!   or [`with_frames`] (who walks frames); the carrier restores them before anything of the thread runs.
//! * They are put away while the thread is [held](crate::safepoint::green_contexts::hold) and nobody stops the world. So whoever reads them (the collector's
//!   thread, which holds the thread, or who has stopped the world) finds them either in the copy or on the stack.
//! * The copy is made whole before it is known, and does not change. It belongs to the carrier that restores it.
use super::record;
use crate::exceptions::walk::Walk;
use crate::safepoint::innermost_exit;
use std::alloc::{Layout, alloc, dealloc};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use vervet_abi::ThreadContext;
use vervet_abi::context::NO_NATIVE_STACK;
use vervet_abi::stack::Segment;
use vervet_os::memory;

/// Words at the start of a copy.
const HEADER: usize = 2;
/// Frames of more words stay where they are. (Such a thread uses most of its page, or several.)
const MOST: usize = 2048;

/// How many times frames were put away.
static COUNT: AtomicU64 = AtomicU64::new(0);
static FORBIDDEN: AtomicBool = AtomicBool::new(false);

/// The place of a thread's copy. See the module.
#[derive(Default)]
pub(super) struct Stash(AtomicPtr<u64>);

/// How many times frames were put away.
pub(super) fn count() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

/// No frames are put away from now on: functions of a host are called with addresses of variables.
pub(crate) fn forbid() {
    FORBIDDEN.store(true, Ordering::Relaxed);
}

/// The copy of a parked thread's frames, as a range of memory that is looked through for references; None: they are on its stack, if there are any.
///
/// # Safety
/// The context is that of a green thread, which is held, or the world is stopped.
pub(crate) unsafe fn stashed(context: *mut ThreadContext) -> Option<(usize, usize)> {
    // SAFETY: the caller's promise. A copy is whole, and nobody frees it meanwhile.
    unsafe {
        let copy = record::of_context(context)?.stash.0.load(Ordering::Acquire);
        (!copy.is_null()).then(|| {
            let words = copy.read() as usize;
            (copy.add(HEADER) as usize, copy.add(words) as usize)
        })
    }
}

/// Calls `work`, which walks the frames of a thread. If they are put away, they are on the stack meanwhile.
///
/// # Safety
/// The thread is the calling one, or does not run meanwhile. If it is a parked one, the world is stopped.
pub(crate) unsafe fn with_frames<T>(context: *mut ThreadContext, work: impl FnOnce() -> T) -> T {
    // SAFETY: the caller's promise: nobody uses the stack, or frees the copy, meanwhile.
    unsafe {
        let copy = match record::of_context(context) {
            Some(green) => green.stash.0.load(Ordering::Acquire),
            None => null_mut(),
        };
        if copy.is_null() {
            return work();
        }
        let (low, high) = write_back(copy);
        let result = work();
        memory::offer(low & !4095, high);
        result
    }
}

impl Stash {
    /// Puts the frames of the thread away, if that may be done.
    ///
    /// # Safety
    /// The thread is held, nobody stops the world, and the record is the context's.
    pub(super) unsafe fn put_away(&self, context: *mut ThreadContext) {
        if !self.0.load(Ordering::Relaxed).is_null() {
            return;
        }
        // SAFETY: the caller's promise: the thread does not run, and nobody else uses its stack.
        unsafe {
            let Some((low, high)) = frames_to_put_away(context) else {
                return;
            };
            let copy = pack(low, high);
            if copy.is_null() {
                return;
            }
            self.0.store(copy, Ordering::Release);
            memory::offer(low & !4095, high);
        }
        COUNT.fetch_add(1, Ordering::Relaxed);
    }
    /// Puts the frames back on the stack.
    ///
    /// # Safety
    /// The calling thread is the carrier that has entered the thread: nobody holds it.
    #[inline]
    pub(super) unsafe fn restore(&self) {
        if !self.0.load(Ordering::Acquire).is_null() {
            // SAFETY: the caller's promise.
            unsafe { self.restore_copy() };
        }
    }
    #[cold]
    #[inline(never)]
    unsafe fn restore_copy(&self) {
        // SAFETY: the caller's promise: the copy is the calling thread's.
        unsafe {
            let copy = self.0.swap(null_mut(), Ordering::AcqRel);
            write_back(copy);
            free(copy);
        }
    }
}

/// The part of the first segment, up to its end, that the thread uses; None: its frames stay where they are.
///
/// # Safety
/// The thread is held.
unsafe fn frames_to_put_away(context: *mut ThreadContext) -> Option<(usize, usize)> {
    // SAFETY: the caller's promise: its records, segments and frames do not change.
    unsafe {
        let segment = (*context).segment as *const Segment;
        let exit = innermost_exit((*context).record)?;
        let may = (*context).scan_sp == NO_NATIVE_STACK
            && (*context).segment == (*context).managed_base
            && (*segment).contains(exit)
            && (*context).exposed < exit
            && !FORBIDDEN.load(Ordering::Relaxed);
        if !may {
            return None;
        }
        let mut is_whole = false;
        for frame in Walk::new(context) {
            if frame.code.exposes_frame {
                return None;
            }
            is_whole = frame.code.is_invoke_stub();
        }
        // The first frame of all is the stub by which the thread began: the walk has seen them all.
        if !is_whole {
            return None;
        }
        let (_, end) = (*segment).bounds();
        (end - exit <= 8 * MOST).then_some((exit, end))
    }
}

/// A copy of the words; null: there is no memory.
///
/// # Safety
/// They are readable and do not change. `low` is a multiple of 8, and `high` one of 4096.
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
