//! Who owns a fat monitor, and whom its owner wakes when it leaves.
//!
//! ```text
//!   a thread that has to wait                      the owner that leaves
//!   --------------------------------------------   ------------------------------------------------------
//!   (lock of the queue) queues itself              give_up:  owner = 0
//!   queued:   contenders += 1                                contenders != 0 and woken == 0 ?
//!   try_take: owner == 0 ? compare-and-swap        (lock of the queue) wakes: woken = 1, takes one out, unparks it
//!   sleeps
//! ```
//!
//! # Invariants
//! * `owner` goes from 0 to a thread's id by one compare-and-swap, and back by a store of the owner. The monitor is not handed over: a woken thread
//!   competes with threads that arrive.
//! * A thread that will sleep adds itself to `contenders` and then tries once more; the owner gives the monitor up and then loads `contenders`. All
//!   of that is sequentially consistent, so one of the two sees the other.
//! * While `woken` is set one woken thread tries to get the monitor, and no other is woken. That thread clears `woken` when it has the monitor,
//!   because the next wake-up is then its own duty; or when it is queued again, before it tries a last time.
use crate::sync::{
    AtomicU32,
    Ordering::{Relaxed, SeqCst},
};

/// The hand-off of one monitor. See the module.
#[derive(Debug)]
pub struct Handoff {
    /// Id of the thread that owns the monitor, or 0.
    owner: AtomicU32,
    /// How many threads are in the queue of those that enter.
    contenders: AtomicU32,
    /// 1 while a woken thread tries to get the monitor.
    woken: AtomicU32,
}

impl Handoff {
    /// Of that owner, or 0.
    pub fn new(owner: u32) -> Handoff {
        Handoff {
            owner: AtomicU32::new(owner),
            contenders: AtomicU32::new(0),
            woken: AtomicU32::new(0),
        }
    }
    /// No thread uses it: it begins anew with that owner, or 0.
    pub fn reset(&self, owner: u32) {
        self.owner.store(owner, Relaxed);
        self.woken.store(0, Relaxed);
    }
    /// The owner's id, or 0. The answer is stable only if it is the calling thread.
    pub fn owner(&self) -> u32 {
        self.owner.load(std::sync::atomic::Ordering::Acquire)
    }
    /// Does the calling thread own it? Relaxed is enough: a thread sees its own stores.
    pub fn is_own(&self, me: u32) -> bool {
        self.owner.load(Relaxed) == me
    }
    /// Takes it if it is free. The load comes first, so that threads that spin share the cache line instead of taking it from the owner.
    pub fn try_take(&self, me: u32) -> bool {
        self.owner.load(SeqCst) == 0 && self.owner.compare_exchange(0, me, SeqCst, SeqCst).is_ok()
    }
    /// The owner gives it up. True: a thread may have to be woken, see [`Handoff::wakes`]. The store of `owner` comes before the load of `contenders`
    /// in the single order of all sequentially consistent accesses; [`Handoff::queued`] has the opposite pair.
    pub fn give_up(&self) -> bool {
        self.owner.store(0, SeqCst);
        in_order();
        self.contenders.load(SeqCst) != 0 && self.woken.load(SeqCst) == 0
    }
    /// Is no thread queued? A hint: a thread may be about to queue itself.
    pub fn is_uncontended(&self) -> bool {
        self.contenders.load(Relaxed) == 0
    }
    /// A thread was put in the queue. Called under the queue's lock; the thread then tries once more ([`Handoff::try_take`]).
    pub fn queued(&self) {
        self.contenders.fetch_add(1, SeqCst);
        in_order();
    }
    /// The owner has put a thread in the queue. Called under the queue's lock. No order is needed: the owner itself looks when it gives the
    /// monitor up, and the thread does not try.
    pub fn queued_by_owner(&self) {
        self.contenders
            .store(self.contenders.load(Relaxed) + 1, Relaxed);
    }
    /// A thread was taken out of the queue. Called under the queue's lock, as everything that changes the count. Who still sees the larger count
    /// looks at the queue in vain.
    pub fn unqueued(&self) {
        self.contenders
            .store(self.contenders.load(Relaxed) - 1, Relaxed);
    }
    /// Should the caller take a thread out of the queue and wake it? Called under the queue's lock. True is answered once until [`Handoff::woke`].
    ///
    /// Not one step: under the lock nobody else sets `woken`, and the thread that clears it was the last for which it was set.
    pub fn wakes(&self) -> bool {
        let wakes = self.contenders.load(Relaxed) != 0 && self.woken.load(SeqCst) == 0;
        if wakes {
            self.woken.store(1, Relaxed);
        }
        wakes
    }
    /// The woken thread has the monitor. No order is needed: the next who looks is this thread, when it gives the monitor up, or one that has it after
    /// that.
    pub fn woke_as_owner(&self) {
        self.woken.store(0, Relaxed);
    }
    /// The woken thread is queued again and is going to try once more, or gives up and is going to look whether the monitor is free.
    pub fn woke(&self) {
        self.woken.store(0, SeqCst);
        in_order();
    }
}

/// Between a store and a load of two threads that do so crosswise: one of them sees the other's store. Sequentially consistent accesses
/// guarantee that; loom takes them for acquire and release, and has to be told by a fence.
#[inline]
fn in_order() {
    #[cfg(feature = "loom")]
    loom::sync::atomic::fence(SeqCst);
}
