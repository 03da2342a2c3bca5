//! Where the collector's own threads run, so that neither the program nor a stop of the world waits for them.
//!
//! # Invariants
//! * While a thread collects, with the world stopped, none of the collector's own threads is left on its processor: with more threads than
//!   processors the kernel would take the processor from the collecting thread for a whole scheduler tick, and the world would wait.
//! * A thread may run on every processor that the process could use when the heap was made, or on all of these but one.
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use vervet_os::scheduling::{self, Processors};

/// A thread of the collector's.
pub struct ThreadAffinity {
    /// Its number in the system, 0 until it runs.
    tid: AtomicI32,
    /// Where it may run; None if the system does not say.
    all: Option<Processors>,
}

/// Until it is dropped, a thread is kept off one processor.
pub struct AffinityGuard {
    tid: i32,
    all: Processors,
}

impl ThreadAffinity {
    /// One that is to run where the calling thread may.
    pub fn new() -> ThreadAffinity {
        ThreadAffinity {
            tid: AtomicI32::new(0),
            all: Processors::of_this_thread(),
        }
    }
    /// This is the calling thread.
    pub fn set_current_thread(&self) {
        self.tid.store(scheduling::thread_id(), Relaxed);
    }
    /// Keeps the thread off the calling thread's processor from now on; moves it if it waits for that one. Until when: what it returns.
    /// None if there is no other, or if it is the calling thread itself.
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
    /// Leaves it so.
    pub fn keep(self) {
        std::mem::forget(self);
    }
}
impl Drop for AffinityGuard {
    fn drop(&mut self) {
        self.all.confine(self.tid);
    }
}
