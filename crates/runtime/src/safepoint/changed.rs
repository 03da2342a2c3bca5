//! The parked green threads that a minor collection looks at.
//!
//! # How it works
//! A carrier that parks a green thread, and a thread that gives a parked one something to start with, add its context to a list of their own
//! ([`Changed::add`]). A collection takes these lists together and visits the contexts. Those of which it says that they may still refer to young
//! objects go to the list that all share, the others to no list. So a collection does not visit a thread that stays parked.
//!
//! # Invariants
//! * A parked context is in a list if it may refer to young objects. `gc_links` says whether it is: the address of the next context of the list, or
//!   0 for the last one, with the lowest bit set. A context is in one of all lists of a kind.
//! * A thread changes its own list in Runtime state; other lists change while the world is stopped, and when a thread ends. So there is no race.
//! * `gc_notes` is 0 from when a context is added until a collection has visited it.
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};
use vervet_abi::ThreadContext;
use vervet_os::LeafLock;

/// `gc_links` of a context in a list.
const LISTED: usize = 1;

/// A list of contexts. See the module.
pub(crate) struct Changed {
    first: AtomicPtr<ThreadContext>,
}

/// The list that all threads share. The lock is held where threads that end give their lists up; while the world is stopped none does.
static SHARED: LeafLock<Changed> = LeafLock::new(Changed::new());

impl Changed {
    pub(crate) const fn new() -> Changed {
        Changed {
            first: AtomicPtr::new(null_mut()),
        }
    }
    /// The context is one whose references a collection has to look for.
    ///
    /// # Safety
    /// The list is the calling thread's, which is in Runtime state. The context is that of a green thread that runs on the calling thread, or
    /// runs nowhere and is the caller's.
    pub(crate) unsafe fn add(&self, context: *mut ThreadContext) {
        // SAFETY: the caller's promise: nobody else uses these words; contexts are never freed.
        unsafe {
            (*context).gc_notes = 0;
            if (*context).gc_links[0] == 0 {
                self.push(context);
            }
        }
    }
    /// # Safety
    /// The context is in no list, and the caller's; so is this list.
    unsafe fn push(&self, context: *mut ThreadContext) {
        // SAFETY: the caller's promise.
        unsafe { (*context).gc_links[0] = self.first.load(Relaxed) as usize | LISTED };
        self.first.store(context, Relaxed);
    }
    /// Takes the first context off the list.
    ///
    /// # Safety
    /// The list is the caller's.
    unsafe fn pop(&self) -> Option<*mut ThreadContext> {
        let context = self.first.load(Relaxed);
        if context.is_null() {
            return None;
        }
        // SAFETY: the links of the contexts of a list belong to whom it belongs to; contexts are never freed.
        unsafe {
            let link = std::mem::take(&mut (*context).gc_links[0]);
            self.first
                .store((link & !LISTED) as *mut ThreadContext, Relaxed);
        }
        Some(context)
    }
    /// The list goes to all threads: its thread ends, or the world is stopped.
    ///
    /// # Safety
    /// The list is the calling thread's, which is in Runtime state; or the world is stopped.
    pub(crate) unsafe fn share(&self) {
        if self.first.load(Relaxed).is_null() {
            return;
        }
        let shared = SHARED.lock();
        // SAFETY: the caller's promise; the lock.
        unsafe {
            while let Some(context) = self.pop() {
                shared.push(context);
            }
        }
    }
}

/// Visits the contexts that were added to any list or stayed in one. Each stays in a list if the answer is true.
///
/// # Safety
/// The world is stopped, and every list was [shared](Changed::share).
pub(super) unsafe fn visit(mut visit: impl FnMut(*mut ThreadContext) -> bool) {
    let shared = SHARED.lock();
    let stay = Changed::new();
    // SAFETY: the caller's promise.
    unsafe {
        while let Some(context) = shared.pop() {
            if visit(context) {
                stay.push(context);
            }
        }
    }
    shared.first.store(stay.first.load(Relaxed), Relaxed);
}
