//! Where the collector's own threads run, so that neither the program nor a stop of the world waits for them.
//!
//! # Invariants
//! * While a thread collects, with the world stopped, none of the collector's own threads is left on its processor: with more threads than
//!   processors the kernel would take the processor from the collecting thread for a whole scheduler tick, and the world would wait.
//! * A thread may run on every processor that the process could use when the heap was made, or on all of these but one.
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use vervet_os::scheduling::{self, Processors};

/// The affinity of one of the collector's threads.
pub struct ThreadAffinity {
    /// Its number in the system, 0 until it runs.
    tid: AtomicI32,
    /// The processors it may run on; None if the system does not say.
    all: Option<Processors>,
}

/// Keeps a thread off one processor until it is dropped.
pub struct AffinityGuard {
    tid: i32,
    all: Processors,
}

impl ThreadAffinity {
    /// Of a thread that may run where the calling thread may.
    pub fn new() -> ThreadAffinity {
        ThreadAffinity {
            tid: AtomicI32::new(0),
            all: Processors::of_this_thread(),
        }
    }
    /// The calling thread is the one described.
    pub fn set_current_thread(&self) {
        self.tid.store(scheduling::thread_id(), Relaxed);
    }
    /// Keeps the thread off the calling thread's processor, and moves it if it waits there, until the guard is dropped. None: there is no other
    /// processor, or the thread is the calling one.
    pub fn avoid_current_processor(&self) -> Option<AffinityGuard> {
        let (tid, all) = (self.tid.load(Relaxed), self.all?);
        if tid == 0 || tid == scheduling::thread_id() {
            return None;
        }
        all.others()?.confine(tid);
        Some(AffinityGuard { tid, all })
    }
}
impl AffinityGuard {
    /// Leaves the affinity as it is.
    pub fn keep(self) {
        std::mem::forget(self);
    }
}
impl Drop for AffinityGuard {
    fn drop(&mut self) {
        self.all.confine(self.tid);
    }
}
