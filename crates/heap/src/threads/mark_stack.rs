//! The shared mark stack: objects to be scanned that any worker may take, and how workers find out that none is left.
//!
//! ```text
//!  a worker                                    active  idle   shared stack
//!  ------------------------------------------  ------  -----  ---------------------------------------------
//!  enter                                         +1           -
//!  scans its local stack                                      gets half of it, if a worker is idle (share)
//!  local stack empty: wait_for_work
//!    takes some of the shared stack, or                       loses up to 512 entries
//!    waits                                       -1     +1
//!      the shared stack has entries: goes on     +1     -1    loses up to 512 entries
//!      active == 0 and the stack is empty: done         -1
//! ```
//!
//! # Invariants
//! * While a job runs, a worker is `active` if it has, or may get, entries. A waiting worker becomes active again before it takes entries. So when no
//!   worker is active and the stack is empty, no entry is left anywhere, and none can appear.
//! * `len` is the length of the list, stored with release under its lock. It is read without the lock to decide whether taking it is worthwhile.
//! * An entry is in one local stack or in the shared one.
use crate::memory::{List, UNBOUNDED};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use vervet_os::LeafLock;

/// Objects to be scanned that any worker may take. See the module.
pub struct SharedMarkStack {
    list: LeafLock<List<usize>>,
    /// Length of `list`.
    len: AtomicUsize,
    /// Workers that have, or may get, entries.
    active: AtomicUsize,
    /// Workers that wait for entries.
    idle: AtomicUsize,
}

impl SharedMarkStack {
    /// An empty stack.
    pub fn new() -> io::Result<SharedMarkStack> {
        Ok(SharedMarkStack {
            list: LeafLock::new(List::new(UNBOUNDED)?),
            len: AtomicUsize::new(0),
            active: AtomicUsize::new(0),
            idle: AtomicUsize::new(0),
        })
    }
    /// A worker begins.
    pub fn enter(&self) {
        self.active.fetch_add(1, AcqRel);
    }
    /// Is a worker idle, the shared stack empty, and the local stack `own` worth sharing?
    #[inline]
    pub fn is_starving(&self, own: &List<usize>) -> bool {
        own.len() > 64 && self.idle.load(Relaxed) > 0 && self.len.load(Relaxed) == 0
    }
    /// Moves the older half of a local stack here, if [`SharedMarkStack::is_starving`].
    #[inline]
    pub fn share(&self, own: &mut List<usize>) {
        if self.is_starving(own) {
            self.push_front_of(own, own.len() / 2);
        }
    }
    /// Moves the first `count` entries of `own` here.
    pub fn push_front_of(&self, own: &mut List<usize>, count: usize) {
        let mut list = self.list.lock();
        own.give_front(count, &mut list);
        self.len.store(list.len(), Release);
    }
    /// Moves some entries to a local stack that is empty. Returns whether there were any.
    pub fn pop_into(&self, own: &mut List<usize>) -> bool {
        if self.len.load(Acquire) == 0 {
            return false;
        }
        let mut list = self.list.lock();
        let n = list.len().min(512);
        for _ in 0..n {
            if let Some(v) = list.pop() {
                own.push(v);
            }
        }
        self.len.store(list.len(), Release);
        n > 0
    }
    /// A worker has nothing left: waits until there are entries again (true: `own` has some), or all workers are done (false).
    pub fn wait_for_work(&self, own: &mut List<usize>) -> bool {
        if self.pop_into(own) {
            return true;
        }
        self.idle.fetch_add(1, AcqRel);
        self.active.fetch_sub(1, AcqRel);
        let mut spins = 0u32;
        let more = loop {
            if self.len.load(Acquire) > 0 {
                self.active.fetch_add(1, AcqRel);
                if self.pop_into(own) {
                    break true;
                }
                self.active.fetch_sub(1, AcqRel);
            }
            if self.active.load(Acquire) == 0 && self.len.load(Acquire) == 0 {
                break false;
            }
            spins += 1;
            if spins < 100 {
                std::hint::spin_loop()
            } else {
                std::thread::yield_now()
            }
        };
        self.idle.fetch_sub(1, AcqRel);
        more
    }
    /// A worker stops before the job is done.
    pub fn leave(&self) {
        self.active.fetch_sub(1, AcqRel);
    }
    /// Calls `f` with each entry.
    pub(crate) fn each(&self, f: impl FnMut(usize)) {
        self.list.lock().as_slice().iter().copied().for_each(f);
    }
    /// Is there anything?
    pub fn is_empty(&self) -> bool {
        self.len.load(Acquire) == 0
    }
}
