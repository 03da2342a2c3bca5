//! Stopping the world: which threads there are, how they pass between managed code, Rust code and native code, and how one
//! of them stops all the others.
//!
//! # The states of a thread
//! The state is a byte of the thread's context. Its owner writes it; the stopper and the thread's own signal handler read it.
//!
//! | state | the thread runs | may touch objects | how a stop reaches it |
//! |---|---|---|---|
//! | `Managed` | generated code and its stubs | yes | the suspend signal, at any instruction where `critical` is 0 |
//! | `Runtime` | Rust code of this runtime | yes | it polls: on its way to managed code, in long loops, on its way to Native |
//! | `Native` | blocking calls, P/Invokes, compilation | no | it counts as stopped; it waits when it leaves the state |
//! | `Foreign` | code of a host that embeds the runtime | it keeps references | the suspend signal, anywhere |
//! | `Detached` | anything, without a context of its own | no | it is not on the list |
//!
//! ```text
//!              enter, resume                  call_native, native_thunk
//!   Managed <----------------- Runtime ------------------------------> Native
//!           ----------------->         <------------------------------
//!              icalls, helpers,               leave_native: waits while the
//!              first calls, traps             stop word is set
//! ```
//! [`crate::threads::foreign`] goes from Foreign to Runtime and back. A P/Invoke goes from Managed to Native in one step and comes back in one; a delegate that native code calls does the reverse.
//!
//! # Map
//! * [`registry`]: the attached threads; [`green_contexts`]: the green threads; [`changed`]: those of them that the collector has to look at
//! * [`stop_word`]: the words between the stopper and the threads; [`transitions`]: what a thread does when it finds the word set
//! * [`suspend`]: the signal that stops a thread in managed code
//! * [`stop`](mod@stop): the stopper's side; [`histogram`]: how long it took; [`progress`]: who is stopped again and again goes on in between
//! * [`stash`]: frames of parked threads that are put away
//! * [`debug`]: stops without a reason, for tests
pub(crate) mod changed;
pub mod debug;
pub(crate) mod elsewhere;
pub(crate) mod green_contexts;
pub mod histogram;
pub(crate) mod progress;
pub mod registry;
pub(crate) mod stash;
pub mod stop;
pub mod stop_word;
pub mod suspend;
pub mod transitions;

pub use stop::{Stopped, ThreadView, stop, stop_thread};
pub(crate) use stop::{innermost_exit, unless_stopping, view_parked};
pub use transitions::poll;

/// Chooses how transitions are fenced, at the first call. That is before the process has a second thread: from then on the kernel takes
/// 7 to 17 ms to register a process for membarrier, because it waits for a grace period of RCU.
pub fn choose_fence() {
    static CHOSEN: std::sync::Once = std::sync::Once::new();
    CHOSEN.call_once(transitions::initialise);
}

/// Installs the handler. Called once, before the first thread is attached.
pub fn initialise() {
    crate::threads::managed_stack::initialise();
    suspend::initialise();
    vervet_os::lock::set_wait_hook(|take, look| {
        crate::threads::native_state::wait_for_lock(take, look)
    });
}
