//! The gate between collections and the threads of the collector that work beside the program.
//!
//! # Invariants
//! A step runs under the gate's lock and looks often at whether the gate is wanted; while it is shut no step runs.
use std::sync::atomic::{AtomicUsize, Ordering::*};
use vervet_os::LeafLock;

/// Keeps the marker and the sweeper out while the world is stopped.
#[derive(Default)]
pub struct Gate {
    wanted: AtomicUsize,
    lock: LeafLock<()>,
}
impl Gate {
    /// Waits for the running step and keeps the gate shut until the guard goes.
    pub fn shut(&self) -> impl Drop + '_ {
        struct Shut<'a, G>(&'a Gate, Option<G>);
        impl<G> Drop for Shut<'_, G> {
            fn drop(&mut self) {
                self.1.take();
                self.0.wanted.fetch_sub(1, AcqRel);
            }
        }
        self.wanted.fetch_add(1, AcqRel);
        Shut(self, Some(self.lock.lock()))
    }
    /// Is somebody waiting for the step to end?
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.wanted.load(Relaxed) != 0
    }
    /// One step.
    pub fn step<T>(&self, work: impl FnOnce() -> T) -> T {
        while self.is_wanted() {
            std::thread::yield_now();
        }
        let _guard = self.lock.lock();
        work()
    }
}
