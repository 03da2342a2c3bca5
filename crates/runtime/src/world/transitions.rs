//! The word that says "stop", and what a thread does when it finds it set.
use std::sync::atomic::{AtomicU32, Ordering};
use vervet_os::futex;

/// Bit 0: the world is stopped or about to be.
pub static STOP: AtomicU32 = AtomicU32::new(0);
/// Somebody wants the world stopped.
pub const STOPPING: u32 = 1;

/// Is the world stopped or about to be?
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
