//! The context of the calling thread.
//!
//! # Invariants
//! The thread-local word holds the context exactly while the thread is attached. It needs no initialization and no destructor, so
//! signal handlers may read it, and they read no other thread-local word.
use crate::arch;
use vervet_abi::ThreadContext;

/// The context of this thread, null if it is not attached.
#[inline]
pub fn current_context() -> *mut ThreadContext {
    arch::context_word()
}

/// Makes `context` the calling thread's; null when the thread is detached.
///
/// # Safety
/// The context is the calling thread's own, or that of the green thread that it runs, until this is called again.
#[inline]
pub(super) unsafe fn set_current_context(context: *mut ThreadContext) {
    arch::set_context_word(context);
}
