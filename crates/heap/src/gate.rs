//! The gate between collections and the thread of the collector that works beside the program.
//!
//! # Invariants
//! * The marker and the sweeper work in steps, which look often at whether the gate is wanted; while it is shut no step runs,
//!   nor while somebody waits for the world to stop.
//! * A stop of the world leaves the gate open as long as it only copies or marks young objects, scans cards and promotes:
//!   steps read old objects, set `mark` bits atomically and sweep blocks, which such a stop can bear. It is shut before
//!   anything young is freed, a block's kind changes under objects, or what the marker owns is touched; and from the
//!   beginning of a stop of a major collection.
//! * What must not happen during any part of a stop (a block or a large object is freed) is done between stops.
//! * However many threads stop the world, and however often, the collector's thread comes to its turn: of the stops that go before it while
//!   it waits there are [`PATIENCE`], and then who wants to stop the world waits, for some steps ([`Gate::give_way`]). Otherwise a cycle
//!   need not ever end while the program asks for minor collections.
use crate::sync::{AtomicU32, LeafGuard, LeafLock, Ordering::*, futex, in_order};
use std::time::Duration;
use vervet_os::perturb;

/// Stops that go before a step that waits.
const PATIENCE: u32 = if cfg!(feature = "loom") { 1 } else { 16 };
/// What [`Gate::passed`] is when it is the step's turn.
const DUE: u32 = PATIENCE + 1;
/// Steps of a turn.
const TURN: u32 = if cfg!(feature = "loom") { 1 } else { 16 };
/// So long somebody waits for the turn to be over: the collector's thread may have to wait for a processor.
const LIMIT: Duration = Duration::from_millis(1);

/// See the module.
#[derive(Default)]
pub struct Gate {
    wanted: AtomicU32,
    /// While the collector's thread waits, or has its turn, 1 and one more for each stop that went before it, [`DUE`] at most. Otherwise 0.
    /// That thread makes it something and nothing, the others count.
    passed: AtomicU32,
    /// Steps of the turn so far. The collector's thread's.
    turn: AtomicU32,
    /// The collector's thread waits for `wanted` or `stops` to change.
    waits: AtomicU32,
    step: LeafLock<()>,
    /// Stops that have begun or want to begin.
    stops: AtomicU32,
    stop: LeafLock<()>,
}

/// A stop of the world, as the gate sees it.
pub struct Stop<'g> {
    gate: &'g Gate,
    shut: Option<LeafGuard<'g, ()>>,
    _stop: LeafGuard<'g, ()>,
}

/// While it lives no step begins, and the running one ends soon.
pub struct Rest<'g>(&'g Gate);

impl Gate {
    /// Somebody is about to stop the world: a thread that is to stop may need the processor that the collector's thread has.
    pub fn rest(&self) -> Rest<'_> {
        self.wanted.fetch_add(1, SeqCst);
        Rest(self)
    }
    fn unwant(&self) {
        let was = self.wanted.fetch_sub(1, SeqCst);
        in_order();
        if was == 1 && self.waits.load(SeqCst) != 0 {
            futex::wake(&self.wanted, 1);
        }
    }
    /// Who is about to stop the world is to give way first.
    #[inline]
    pub fn is_turn(&self) -> bool {
        self.passed.load(Relaxed) == DUE
    }
    /// Waits for the turn of the collector's thread to be over, but not for long.
    pub fn give_way(&self) {
        futex::wait(&self.passed, DUE, Some(LIMIT));
    }
    /// The collector's thread has had its turn, or has no use for it now.
    pub fn turn_is_over(&self) {
        self.turn.store(0, Relaxed);
        if self.passed.swap(0, SeqCst) == DUE {
            futex::wake(&self.passed, i32::MAX);
        }
    }
    fn stepped(&self) {
        match self.passed.load(Relaxed) {
            0 => {}
            DUE if self.turn.load(Relaxed) + 1 < TURN => {
                self.turn.store(self.turn.load(Relaxed) + 1, Relaxed);
            }
            _ => self.turn_is_over(),
        }
    }
    /// The collector's thread waits.
    fn waits(&self) {
        let _ = self.passed.compare_exchange(0, 1, SeqCst, Relaxed);
    }
    /// A stop goes before the collector's thread, if that waits.
    fn passes(&self) {
        let n = self.passed.load(Relaxed);
        if n != 0 && n != DUE {
            // Who counted at the same time has counted for both.
            let _ = self.passed.compare_exchange(n, n + 1, SeqCst, Relaxed);
        }
    }
    /// A stop begins. The gate is still open.
    pub fn stop(&self) -> Stop<'_> {
        self.passes();
        self.stops.fetch_add(1, SeqCst);
        Stop {
            gate: self,
            _stop: self.stop.lock(),
            shut: None,
        }
    }
    /// Is somebody waiting for the step to end?
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.wanted.load(Relaxed) != 0
    }
    /// One step.
    pub fn step<T>(&self, work: impl FnOnce() -> T) -> T {
        loop {
            let wanted = self.wanted.load(SeqCst);
            if wanted == 0 {
                break;
            }
            self.waits();
            self.waits.store(1, SeqCst);
            in_order();
            futex::wait(&self.wanted, wanted, None);
            self.waits.store(0, SeqCst);
        }
        // The gate was not wanted a moment ago.
        perturb::here();
        let result = {
            let _guard = self.step.lock();
            perturb::here();
            work()
        };
        self.stepped();
        result
    }
    /// Does something during which the world is not stopped.
    pub fn between_stops<T>(&self, work: impl FnOnce() -> T) -> T {
        self.waits();
        let result = {
            let _guard = self.stop.lock();
            perturb::here();
            work()
        };
        self.stepped();
        perturb::here();
        // Who waited may have to run on this processor.
        let stops = self.stops.load(SeqCst);
        if stops != 0 {
            self.waits.store(1, SeqCst);
            in_order();
            futex::wait(&self.stops, stops, Some(Duration::from_millis(1)));
            self.waits.store(0, SeqCst);
        }
        result
    }
}

impl Stop<'_> {
    /// Waits for the running step and keeps the gate shut until the stop ends or [`Stop::open`].
    pub fn shut(&mut self) {
        if self.shut.is_none() {
            perturb::here();
            self.gate.wanted.fetch_add(1, SeqCst);
            perturb::here();
            self.shut = Some(self.gate.step.lock());
        }
    }
    /// Steps may go on.
    pub fn open(&mut self) {
        if let Some(guard) = self.shut.take() {
            drop(guard);
            perturb::here();
            self.gate.unwant();
        }
    }
}
impl Drop for Rest<'_> {
    fn drop(&mut self) {
        self.0.unwant();
    }
}
impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.open();
        self.gate.stops.fetch_sub(1, SeqCst);
        in_order();
        if self.gate.waits.load(SeqCst) != 0 {
            futex::wake(&self.gate.stops, 1);
        }
    }
}
