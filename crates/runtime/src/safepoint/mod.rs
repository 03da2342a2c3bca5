//! Stopping the world: which threads there are, how they pass between managed code, ours and native code, and how one
//! of them stops all the others.
//!
//! # Map
//! * [`registry`]: the attached threads
//! * [`transitions`]: the word that says "stop", and what a thread does when it finds it set
//! * [`suspend`]: the signal that stops a thread in managed code
//! * [`stop`](mod@stop): the stopper's side; [`histogram`]: how long it took
//! * [`debug`]: stops without a reason, for tests
pub mod debug;
pub mod histogram;
pub mod registry;
pub mod stop;
pub mod suspend;
pub mod transitions;

pub use stop::{Stopped, ThreadView, stop, stop_thread};
pub use transitions::poll;

/// Chooses how transitions are fenced. Called once, before the process has a second thread: from then on the kernel takes
/// 7 to 17 ms to register a process for membarrier, because it waits for a grace period of RCU.
pub fn choose_fence() {
    transitions::initialise();
}

/// Installs the handler. Called once, before the first thread is attached.
pub fn initialise() {
    suspend::initialise();
    vervet_os::lock::set_wait_hook(|wait| {
        crate::threads::attach::native(crate::threads::attach::current_context(), wait)
    });
}
