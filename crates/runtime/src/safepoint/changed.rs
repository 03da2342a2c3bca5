//! The parked green threads that a pause looks at.
//!
//! # How it works
//! A carrier that parks a green thread, and a thread that gives a parked one something to start with, add its context to lists of their own
//! ([`Changed::add`]). A collection takes these lists together and visits the contexts. Those that it asks to see again go to a list that all share,
//! the others to no list. So a pause does not visit a thread that stays parked.
//!
//! | list | who is in it | who looks at it |
//! |---|---|---|
//! | [`YOUNG`] | threads that may refer to young objects | minor collections |
//! | [`UNMARKED`] | threads that were parked while marking runs | the final mark pause |
//!
//! # Invariants
//! * A parked context is in the list YOUNG if it may refer to young objects, and in the list UNMARKED if it has changed since marking began.
//!   `gc_links` says whether it is: the address of the next context of the list, or 0 for the last one, with the lowest bit set. A context is in one
//!   of all lists of a kind.
//! * A thread changes its own lists in Runtime state; other lists change while the world is stopped, and when a thread ends. So there is no race.
//! * A list that is not empty knows its last context, so that sharing it touches no other one: a pause may find 10,000 in a list, each of which is a
//!   miss in the caches.
//! * `gc_notes` and `gc_scanned` are 0 from when a context is added until a collection has visited it.
use super::green_contexts::scannable;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering::Relaxed};
use vervet_abi::ThreadContext;
use vervet_os::LeafLock;

/// The lists, as numbers of words of `gc_links`.
pub(super) const YOUNG: usize = 0;
pub(super) const UNMARKED: usize = 1;

/// `gc_links` of a context in a list.
const LISTED: usize = 1;

/// A list of contexts of each kind. See the module.
pub(crate) struct Changed {
    first: [AtomicPtr<ThreadContext>; 2],
    /// Means nothing while the list is empty.
    last: [AtomicPtr<ThreadContext>; 2],
}

/// The cycle of marking that runs; 0: none does. It changes while the world is stopped.
static MARKING: AtomicU32 = AtomicU32::new(0);

/// Marking begins, or (0) has ended. The world is stopped.
pub(crate) fn set_marking(cycle: u32) {
    MARKING.store(cycle, Relaxed);
}
/// The cycle of marking that runs; 0: none does.
pub(crate) fn marking() -> u32 {
    MARKING.load(Relaxed)
}

/// The lists that all threads share. The lock is held where threads that end give their lists up; while the world is stopped none does.
static SHARED: LeafLock<Changed> = LeafLock::new(Changed::new());

impl Changed {
    pub(crate) const fn new() -> Changed {
        Changed {
            first: [const { AtomicPtr::new(null_mut()) }; 2],
            last: [const { AtomicPtr::new(null_mut()) }; 2],
        }
    }
    /// The context is one whose references a collection has to look for.
    ///
    /// # Safety
    /// The lists are the calling thread's, which is in Runtime state. The context is that of a green thread that runs on the calling thread, or
    /// runs nowhere and is the caller's.
    pub(crate) unsafe fn add(&self, context: *mut ThreadContext) {
        // SAFETY: the caller's promise: nobody else uses these words; contexts are never freed.
        unsafe {
            (*context).gc_notes = 0;
            if (*context).gc_links[YOUNG] == 0 {
                self.push(YOUNG, context);
            }
            if MARKING.load(Relaxed) != 0 {
                scannable(context).changed();
                if (*context).gc_links[UNMARKED] == 0 {
                    self.push(UNMARKED, context);
                }
            }
        }
    }
    /// # Safety
    /// The context is in no list of that kind, and the caller's; so is this list.
    unsafe fn push(&self, list: usize, context: *mut ThreadContext) {
        let first = &self.first[list];
        let next = first.load(Relaxed);
        if next.is_null() {
            self.last[list].store(context, Relaxed);
        }
        // SAFETY: the caller's promise.
        unsafe { (*context).gc_links[list] = next as usize | LISTED };
        first.store(context, Relaxed);
    }
    /// Takes the first context off the list.
    ///
    /// # Safety
    /// The list is the caller's.
    unsafe fn pop(&self, list: usize) -> Option<*mut ThreadContext> {
        let first = &self.first[list];
        let context = first.load(Relaxed);
        if context.is_null() {
            return None;
        }
        // SAFETY: the links of the contexts of a list belong to whom it belongs to; contexts are never freed.
        unsafe {
            let link = std::mem::take(&mut (*context).gc_links[list]);
            first.store((link & !LISTED) as *mut ThreadContext, Relaxed);
        }
        Some(context)
    }
    /// The lists go to all threads: their thread ends, or the world is stopped.
    ///
    /// # Safety
    /// The lists are the calling thread's, which is in Runtime state; or the world is stopped.
    pub(crate) unsafe fn share(&self) {
        if self.first.iter().all(|first| first.load(Relaxed).is_null()) {
            return;
        }
        let shared = SHARED.lock();
        for list in [YOUNG, UNMARKED] {
            // SAFETY: the caller's promise; the lock.
            unsafe { self.prepend_to(&shared, list) };
        }
    }
    /// Moves all contexts of a list to the front of another one.
    ///
    /// # Safety
    /// Both are the caller's.
    unsafe fn prepend_to(&self, other: &Changed, list: usize) {
        let first = self.first[list].swap(null_mut(), Relaxed);
        if first.is_null() {
            return;
        }
        let (last, next) = (self.last[list].load(Relaxed), &other.first[list]);
        if next.load(Relaxed).is_null() {
            other.last[list].store(last, Relaxed);
        }
        // SAFETY: the links of the contexts of a list belong to whom it belongs to; contexts are never freed.
        unsafe { (*last).gc_links[list] = next.load(Relaxed) as usize | LISTED };
        next.store(first, Relaxed);
    }
}

/// Visits the contexts that were added to any list of that kind or stayed in one. Each stays in a list if the answer is true.
///
/// # Safety
/// The world is stopped, and every list was [shared](Changed::share).
pub(super) unsafe fn visit(list: usize, mut visit: impl FnMut(*mut ThreadContext) -> bool) {
    let shared = SHARED.lock();
    let stay = Changed::new();
    // SAFETY: the caller's promise.
    unsafe {
        while let Some(context) = shared.pop(list) {
            prefetch(shared.first[list].load(Relaxed));
            if visit(context) {
                stay.push(list, context);
            }
        }
        stay.prepend_to(&shared, list);
    }
}

/// Brings the next context into the caches while one is visited.
fn prefetch(context: *mut ThreadContext) {
    if !context.is_null() {
        let at = context as usize;
        vervet_os::memory::prefetch_range(at, at + size_of::<ThreadContext>());
    }
}
