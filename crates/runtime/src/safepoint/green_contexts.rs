//! The contexts of green threads, whether they run, are parked or are free for the next green thread.
//!
//! # Invariants
//! * A context is added once and stays for ever, so a visitor needs no lock.
//! * While the world is stopped no context becomes Parked and none ceases to be: a carrier does both in Runtime state. A context that is not Parked is
//!   that of a carrier, which the [`registry`](super::registry) leads to.
//! * Who holds a parked thread while the world runs has the lock of holders: the claim of [`Scannable`] is one bit.
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use vervet_abi::{State, ThreadContext};
use vervet_os::{Chunks, LeafLock};
use vervet_parking::scanning::Scannable;

static CONTEXTS: Chunks<AtomicPtr<ThreadContext>> = Chunks::new();
static COUNT: AtomicU32 = AtomicU32::new(0);

/// Adds the context of a new green thread.
///
/// # Safety
/// The context is never freed.
pub(crate) unsafe fn add(context: *mut ThreadContext) {
    let index = COUNT.fetch_add(1, Ordering::SeqCst);
    CONTEXTS.at(index).store(context, Ordering::Release);
}

/// Who holds a parked thread: the collector's thread, or the one that gives back pages of stacks. Neither is ever stopped.
static HOLDER: LeafLock<()> = LeafLock::new(());

/// Context number `index`; None: it is being added.
pub(crate) fn at(index: usize) -> Option<*mut ThreadContext> {
    let context = CONTEXTS.get(index as u32)?.load(Ordering::Acquire);
    (!context.is_null()).then_some(context)
}

/// While the world runs: calls `work` if the thread is parked, which does not run meanwhile. False: it runs.
///
/// # Safety
/// The context is that of a green thread. The calling thread is not attached, so that it is not stopped in here.
pub(crate) unsafe fn hold(context: *mut ThreadContext, work: impl FnOnce()) -> bool {
    let _holder = HOLDER.lock();
    // SAFETY: the caller's promise.
    unsafe { scannable(context) }.hold(work)
}

/// How many there are.
pub(crate) fn count() -> usize {
    COUNT.load(Ordering::SeqCst) as usize
}

/// Visits all. One that is being added may be missed.
pub(crate) fn visit(visit: impl FnMut(*mut ThreadContext)) {
    (0..count()).filter_map(at).for_each(visit);
}

/// The words by which the collector and who runs the thread agree on who uses its stacks.
///
/// # Safety
/// The context is that of a green thread.
pub(crate) unsafe fn scannable<'c>(context: *mut ThreadContext) -> Scannable<'c> {
    // SAFETY: contexts of green threads are never freed; several threads use these words, by atomic accesses and by single instructions.
    unsafe {
        Scannable {
            state: super::registry::state(context),
            requests: super::registry::interrupts(context),
            scanned: AtomicU32::from_ptr(&raw mut (*context).gc_scanned),
        }
    }
}

/// Is it the context of a green thread that is parked? While the world is stopped the answer stays true.
pub(crate) fn is_parked(context: *mut ThreadContext) -> bool {
    // SAFETY: contexts are never freed.
    unsafe { super::registry::state(context) }.load(Ordering::Acquire) == State::Parked as u8
}

/// While the world runs: scans threads that are parked and were not scanned in this cycle, from number `from` on, as long as `work` answers true. The
/// result is the number to go on from; None: all were scanned that were parked. A thread does not run while `work` has it.
///
/// Called by the thread that marks.
pub(crate) fn scan_from(
    from: usize,
    cycle: u32,
    mut work: impl FnMut(*mut ThreadContext) -> bool,
) -> Option<usize> {
    /// Most threads were scanned before: this many are looked at in one call.
    const MOST: usize = 4096;
    let count = count();
    for index in from..count.min(from + MOST) {
        let Some(context) = at(index).filter(|context| is_parked(*context)) else {
            continue;
        };
        // SAFETY: the context is that of a green thread.
        let words = unsafe { scannable(context) };
        let mut goes_on = true;
        if !words.is_scanned(cycle) {
            let _holder = HOLDER.lock();
            words.scan(cycle, || goes_on = work(context));
        }
        if !goes_on {
            return Some(index + 1);
        }
    }
    (from + MOST < count).then_some(from + MOST)
}
