//! The gate: it decides which parts of a stop of the world may run beside the collector's thread.
//!
//! ```text
//!   the collector's thread          a thread that stops the world              gate state
//!   ----------------------          -------------------------------------      ------------------------------------------------
//!   step: marks or sweeps           request_yield                              steps end soon, none begins
//!   (yields)                        world stopped; stop()                      stop begun, gate open: no free_block, no freeing of
//!                                                                              large objects (between_stops)
//!   step (again)                    copies, scans cards, promotes              gate open: both run
//!   waits                           shut(): waits for the running step         gate shut: no step runs
//!   waits                           frees young memory, changes kinds          gate shut
//!   step                            the stop ends                              gate open, no stop
//! ```
//!
//! # Invariants
//! * The marker and the sweeper work in steps of some 100 us, inside `step`, and look often at whether somebody has asked them to yield. No step
//!   runs while the gate is shut, nor begins while somebody waits for the world to stop.
//! * A stop of the world leaves the gate open as long as it only copies or marks young objects, scans cards and promotes. Steps read old objects,
//!   set `mark` bits and sweep blocks, which does not disturb such a stop. The gate is shut before young memory is freed, before a block's kind
//!   changes under objects, and before what the marker owns is touched; for a major collection from the beginning of the stop.
//! * A step that is kept waiting is given a turn ([`super::turn`]), so a cycle ends however often the world is stopped.
//! * What must not happen during any part of a stop (freeing a block or a large object) is done in `between_stops`.
//! * `yield_requests`, `sleeping` and `stops` are accessed sequentially consistently. The collector's thread stores `sleeping`, then sleeps if
//!   the count is still what it saw; the other side changes the count, then loads `sleeping`. One of the two sees the other.
use super::turn::Turn;
use crate::sync::{AtomicU32, LeafGuard, LeafLock, Ordering::*, clock, futex, in_order};
use std::time::Duration;
use vervet_os::perturb;

/// See the module.
#[derive(Default)]
pub struct Gate {
    /// How many threads want the collector's thread to yield: each is about to stop the world, or has shut the gate.
    yield_requests: AtomicU32,
    /// 1 while the collector's thread sleeps until `yield_requests` or `stops` changes.
    sleeping: AtomicU32,
    /// Held during a step, and while the gate is shut.
    step: LeafLock<()>,
    /// Stops that have begun or want to begin.
    stops: AtomicU32,
    /// Held during a stop, and by `between_stops`.
    stop: LeafLock<()>,
    /// The turn of the collector's thread.
    pub turn: Turn,
}

/// A stop of the world, as the gate sees it.
pub struct Stop<'g> {
    gate: &'g Gate,
    shut: Option<LeafGuard<'g, ()>>,
    _stop: LeafGuard<'g, ()>,
}

/// While it lives no step begins, and the running one ends soon. Dropping it withdraws the request.
pub struct YieldRequest<'g>(&'g Gate);

impl Gate {
    /// The calling thread is about to stop the world: a thread that has to stop may need the processor that the collector's thread uses.
    pub fn request_yield(&self) -> YieldRequest<'_> {
        self.yield_requests.fetch_add(1, SeqCst);
        YieldRequest(self)
    }
    fn withdraw_request(&self) {
        self.turn.offer();
        let was = self.yield_requests.fetch_sub(1, SeqCst);
        in_order();
        if was == 1 && self.sleeping.load(SeqCst) != 0 {
            futex::wake(&self.yield_requests, 1);
        }
    }
    /// A stop begins. The gate is still open.
    pub fn stop(&self) -> Stop<'_> {
        self.stops.fetch_add(1, SeqCst);
        Stop {
            gate: self,
            _stop: self.stop.lock(),
            shut: None,
        }
    }
    /// Should the running step end soon?
    #[inline]
    pub fn yield_requested(&self) -> bool {
        self.yield_requests.load(Relaxed) != 0
    }
    /// Runs `work` as one step, as soon as nobody wants the thread to yield.
    pub fn step<T>(&self, work: impl FnOnce() -> T) -> T {
        loop {
            let yield_requests = self.yield_requests.load(SeqCst);
            if yield_requests == 0 {
                break;
            }
            self.turn.wait_begins();
            self.sleeping.store(1, SeqCst);
            in_order();
            futex::wait(&self.yield_requests, yield_requests, None);
            self.sleeping.store(0, SeqCst);
        }
        self.turn.wait_ends();
        // The gate was not yield_requests a moment ago.
        perturb::here();
        let _guard = self.step.lock();
        perturb::here();
        let before = clock::now();
        let result = work();
        self.turn.worked(clock::now() - before);
        result
    }
    /// Runs `work` while no stop is under way; stops that begin meanwhile wait.
    pub fn between_stops<T>(&self, work: impl FnOnce() -> T) -> T {
        self.turn.wait_begins();
        let result = {
            let _guard = self.stop.lock();
            self.turn.wait_ends();
            perturb::here();
            work()
        };
        perturb::here();
        // The thread that waited may have to run on this processor.
        let stops = self.stops.load(SeqCst);
        if stops != 0 {
            self.sleeping.store(1, SeqCst);
            in_order();
            futex::wait(&self.stops, stops, Some(Duration::from_millis(1)));
            self.sleeping.store(0, SeqCst);
        }
        result
    }
}

impl Stop<'_> {
    /// Waits for the running step and keeps the gate shut until the stop ends or [`Stop::open`].
    pub fn shut(&mut self) {
        if self.shut.is_none() {
            perturb::here();
            self.gate.yield_requests.fetch_add(1, SeqCst);
            perturb::here();
            self.shut = Some(self.gate.step.lock());
        }
    }
    /// Steps may go on.
    pub fn open(&mut self) {
        if let Some(guard) = self.shut.take() {
            drop(guard);
            perturb::here();
            self.gate.withdraw_request();
        }
    }
}
impl Drop for YieldRequest<'_> {
    fn drop(&mut self) {
        self.0.withdraw_request();
    }
}
impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.open();
        self.gate.stops.fetch_sub(1, SeqCst);
        in_order();
        if self.gate.sleeping.load(SeqCst) != 0 {
            futex::wake(&self.gate.stops, 1);
        }
    }
}
