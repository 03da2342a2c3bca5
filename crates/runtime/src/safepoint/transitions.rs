//! What a thread does when it finds the stop word set.
//!
//! # Invariants
//! * The handshake with the stopper, and its models, are in [`vervet_parking::stopping`]; the thunks do in place what that module lists.
//! * Before the state of a thread becomes Native, `scan_sp` is such that its callee-saved registers, and everything else it
//!   refers to, lie at that address or above.
//! * A thread in Runtime state polls when it goes to managed code, in long loops ([`poll`]), and by going to Native. So a stop waits for
//!   no more than one step of a loop.
use super::progress::Wait;
use super::registry::state;
use super::stop_word::{self, STOP};
use crate::cx::Cx;
use std::sync::atomic::AtomicU32;
use vervet_abi::ThreadContext;
use vervet_os::process_fence;
use vervet_parking::stopping;

/// Chooses who fences. Called once, before the first thread is attached.
pub(super) fn initialise() {
    let refused = std::env::var_os("VERVET_DEBUG_NO_MEMBARRIER").is_some();
    if refused || !process_fence::register() {
        STOP.set_fence();
    }
}

/// Waits here, in Native state, if the world is to be stopped.
///
/// # Safety
/// The context is that of the calling thread, which is in Runtime state.
#[inline]
pub unsafe fn poll(context: *mut ThreadContext) {
    if STOP.may_be_stopping() {
        vervet_os::lock::assert_no_leaf_lock("polling");
        // SAFETY: the context is the calling thread's, which is in Runtime state.
        unsafe { crate::arch::park(context) };
    }
}

/// From the thunks, when a thread wants to leave Native (or polls) and [`STOP`] is not zero: goes to Native until the
/// world runs, and comes back in Runtime state. errno is kept.
///
/// # Safety
/// The context is that of the calling thread, whose `scan_sp` lies at or below all that it refers to.
#[unsafe(export_name = "vervet_leave_native")]
pub unsafe extern "C" fn leave_native(context: *mut ThreadContext) {
    // SAFETY: the context is the calling thread's, and so is errno.
    unsafe {
        let errno = *libc::__errno_location();
        let wait = Wait::default();
        stopping::leave_native(state(context), &STOP, || {
            stop_word::arrived();
            stop_word::wait_for_restart(&wait);
        });
        drop(wait);
        *libc::__errno_location() = errno;
    }
}

impl<'cx> Cx<'cx> {
    /// The interrupt requests of the calling thread: the bits of [`vervet_abi::context::interrupts`].
    pub(crate) fn interrupts(&self) -> &AtomicU32 {
        // SAFETY: a token's context is that of an attached thread.
        unsafe { super::registry::interrupts(self.context) }
    }
    /// Lets a stop of the world happen here. Runtime loops over managed data call it every 64 KiB, and read the address
    /// of what they work on again from its reference.
    #[inline]
    pub fn poll(&self) {
        // SAFETY: a token's context is that of the calling thread, which is in Runtime state.
        unsafe { poll(self.context) };
    }
}
