//! The context of the calling thread.
//!
//! # Invariants
//! The thread-local word holds the context exactly while the thread is attached. It needs no initialization and no destructor, so
//! signal handlers may read it, and they read no other thread-local word.
use std::cell::Cell;
use vervet_abi::ThreadContext;

thread_local! {
    static CURRENT: Cell<*mut ThreadContext> = const { Cell::new(std::ptr::null_mut()) };
}

/// The context of this thread, null if it is not attached.
///
/// It is never inlined: a function that is may keep the address of the thread-local word across a park, and then read that of an OS thread which
/// the green thread has left.
#[inline(never)]
pub fn current_context() -> *mut ThreadContext {
    CURRENT.with(Cell::get)
}

/// Makes `context` the calling thread's; null when the thread is detached.
///
/// # Safety
/// The context is the calling thread's own, or that of the green thread that it runs, until this is called again.
#[inline(never)]
pub(super) unsafe fn set_current_context(context: *mut ThreadContext) {
    CURRENT.set(context);
}
