//! The word that says "stop", and what a thread does when it finds it set.
//!
//! # Invariants
//! * A thread leaves Native so: it stores Runtime, then loads [`STOP`]; if that is not zero it comes here. The store may
//!   still be on its way when the load is done; the fence is the stopper's, who sets the word, makes a process fence and
//!   only then looks at states. So either the stopper sees Runtime, or the thread sees the word.
//! * Where the kernel refuses process fences, [`FENCE`] is always set: every thread that leaves Native comes here and
//!   fences for itself. The thunks are the same.
//! * Before a thread's state becomes Native, `scan_sp` is such that its callee-saved registers, and everything else it
//!   refers to, lie at that address or above.
//! * A thread in Runtime polls when it goes to managed code, in long loops ([`poll`]), and by going to Native.
use std::sync::atomic::{AtomicU32, Ordering, fence};
use vervet_abi::{Context, State};
use vervet_os::{futex, perturb, process_fence};

/// See the module; thunks test it.
pub static STOP: AtomicU32 = AtomicU32::new(0);
/// The world is stopped or about to be.
pub const STOPPING: u32 = 1;
/// There is no process fence: who leaves Native fences.
pub const FENCE: u32 = 2;

/// Chooses who fences. Called once, before the first thread is attached.
pub(super) fn initialise() {
    let refused = std::env::var_os("VERVET_DEBUG_NO_MEMBARRIER").is_some();
    if refused || !process_fence::register() {
        STOP.fetch_or(FENCE, Ordering::SeqCst);
    }
}

/// Is the world stopped or about to be?
#[inline]
pub fn is_stopping() -> bool {
    STOP.load(Ordering::SeqCst) & STOPPING != 0
}

/// Sleeps until the world runs. The calling thread counts as stopped meanwhile.
pub(crate) fn wait_for_restart() {
    loop {
        let seen = STOP.load(Ordering::SeqCst);
        if seen & STOPPING == 0 {
            return;
        }
        futex::wait(&STOP, seen, None);
    }
}

/// Waits here, in Native state, if the world is to be stopped. The thread is in Runtime state.
#[inline]
pub fn poll(ctx: *mut Context) {
    if STOP.load(Ordering::Relaxed) & STOPPING != 0 {
        vervet_os::lock::assert_no_leaf_lock("polling");
        // SAFETY: the context is the calling thread's, which is in Runtime state.
        unsafe { crate::arch::park(ctx) };
    }
}

/// From the thunks, when a thread wants to leave Native (or polls) and [`STOP`] is not zero: goes to Native until the
/// world runs, and comes back in Runtime state. `scan_sp` holds; errno is kept.
pub extern "C" fn leave_native(ctx: *mut Context) {
    // SAFETY: the context is the calling thread's; errno is the calling thread's.
    unsafe {
        let errno = *libc::__errno_location();
        let state = &raw mut (*ctx).state;
        loop {
            if is_stopping() {
                state.write_volatile(State::Native as u8);
                super::stop::arrived();
                wait_for_restart();
            }
            perturb::here();
            state.write_volatile(State::Runtime as u8);
            fence(Ordering::SeqCst);
            perturb::here();
            if !is_stopping() {
                break;
            }
        }
        *libc::__errno_location() = errno;
    }
}
