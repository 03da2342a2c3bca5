//! The word that says "stop", and what a thread does when it finds it set.
//!
//! # Invariants
//! * The handshake with the stopper is [`vervet_parking::stopping`]'s, which has the models; the thunks do in place what it lists.
//! * Before a thread's state becomes Native, `scan_sp` is such that its callee-saved registers, and everything else it
//!   refers to, lie at that address or above.
//! * A thread in Runtime polls when it goes to managed code, in long loops ([`poll`]), and by going to Native.
use super::registry::state;
use vervet_abi::ThreadContext;
use vervet_os::{futex, process_fence};
use vervet_parking::stopping::{self, StopWord};
pub use vervet_parking::stopping::{FENCE, STOPPING};

/// See the module; thunks test it.
pub static STOP: StopWord = StopWord::new();

/// Chooses who fences. Called once, before the first thread is attached.
pub(super) fn initialise() {
    let refused = std::env::var_os("VERVET_DEBUG_NO_MEMBARRIER").is_some();
    if refused || !process_fence::register() {
        STOP.set_fence();
    }
}

/// Is the world stopped or about to be?
#[inline]
pub fn is_stopping() -> bool {
    STOP.is_stopping()
}

/// Sleeps until the world runs. The calling thread counts as stopped meanwhile.
pub(crate) fn wait_for_restart() {
    while let Some(seen) = STOP.stopping() {
        futex::wait(STOP.futex(), seen, None);
    }
}

/// Waits here, in Native state, if the world is to be stopped. The thread is in Runtime state.
#[inline]
pub fn poll(context: *mut ThreadContext) {
    if STOP.may_be_stopping() {
        vervet_os::lock::assert_no_leaf_lock("polling");
        // SAFETY: the context is the calling thread's, which is in Runtime state.
        unsafe { crate::arch::park(context) };
    }
}

/// From the thunks, when a thread wants to leave Native (or polls) and [`STOP`] is not zero: goes to Native until the
/// world runs, and comes back in Runtime state. `scan_sp` holds; errno is kept.
pub extern "C" fn leave_native(context: *mut ThreadContext) {
    // SAFETY: errno is the calling thread's.
    unsafe {
        let errno = *libc::__errno_location();
        stopping::leave_native(state(context), &STOP, || {
            super::stop::arrived();
            wait_for_restart();
        });
        *libc::__errno_location() = errno;
    }
}
