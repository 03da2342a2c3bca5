//! Which threads' frames are [put away](crate::safepoint::stash).
//!
//! Invariant: frames are put away only while nobody but their thread can have an address of them: the thread has no native stack, no method on its stack
//! exposes its frame, nothing on the segment was exposed otherwise (`translate/values/exposure.rs` of the JIT), and no host has functions that keep
//! what they are given.
use crate::exceptions::walk::Walk;
use crate::safepoint::{innermost_exit, stash};
use std::sync::atomic::{AtomicU64, Ordering};
use vervet_abi::ThreadContext;
use vervet_abi::context::NO_NATIVE_STACK;
use vervet_abi::stack::Segment;

/// How many times frames were put away.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// How many times frames were put away.
pub(super) fn count() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

/// Puts the frames of the thread away, if that may be done.
///
/// # Safety
/// The context is that of a green thread, which is held. Nobody stops the world.
pub(super) unsafe fn put_away(context: *mut ThreadContext) {
    // SAFETY: the caller's promise: the thread does not run, and nobody else uses its stack.
    unsafe {
        if stash::stashed(context).is_none()
            && let Some((low, high)) = frames_to_put_away(context)
            && stash::put_away(context, low, high)
        {
            COUNT.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The part of the first segment, up to its end, that the thread uses; None: its frames stay where they are.
///
/// # Safety
/// The thread is held, and its frames are on its stack.
unsafe fn frames_to_put_away(context: *mut ThreadContext) -> Option<(usize, usize)> {
    // SAFETY: the caller's promise: its records, segments and frames do not change.
    unsafe {
        let segment = (*context).segment as *const Segment;
        let exit = innermost_exit((*context).record)?;
        let may = (*context).scan_sp == NO_NATIVE_STACK
            && (*context).segment == (*context).managed_base
            && (*segment).contains(exit)
            && (*context).exposed < exit
            && stash::is_allowed();
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
        let (_, end) = (*segment).bounds();
        // (A thread with large frames uses most of its pages.)
        (is_whole && end - exit <= 8 * stash::MOST).then_some((exit, end))
    }
}
