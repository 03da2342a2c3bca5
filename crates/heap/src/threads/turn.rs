//! The turn of the collector's thread: how a cycle gets on while the program's threads stop the world one after the other.
//!
//! # How it works
//! The collector's thread says since when it has been kept waiting. The end of a stop gives it a turn if that is long. While it has
//! the turn, threads that want to stop the world for a minor collection wait outside; their wait is bounded by the length of the turn.
//!
//! # Invariants
//! * Of the time in which it has work, the collector's thread gets a third, or what the system gives it: a turn is half as long as the
//!   time waited for it.
//! * Only the collector's thread ends a turn. Who waits for the end waits no longer than the turn is to be, whether or not the system
//!   has run the collector's thread meanwhile.
//! * A turn is given only while the collector's thread waits, in one step with that ([`Turn::offer`]); so it knows of every turn it has
//!   when it goes on, and the last one ends with the cycle at the latest.
//! * Who waits holds no lock, and the world need not wait for it.
use crate::sync::{AtomicU32, AtomicU64, Ordering::*, clock, futex};
use std::time::Duration;

/// So long (ns) the collector's thread waits before it is given a turn.
const PATIENCE: u64 = 2_000_000;
/// Limits of a turn's length, in ns.
const SHORTEST: u64 = 1_000_000;
const LONGEST: u64 = 20_000_000;
/// Length of the turn in which the collector's thread stops the world itself, in ns.
const OWN_STOP: u64 = 5_000_000;

/// Bits of [`Turn::state`].
const WAITS: u32 = 1;
const TAKEN: u32 = 2;

/// See the module.
#[derive(Default)]
pub struct Turn {
    /// WAITS while the collector's thread waits, TAKEN while it has the turn. Threads wait for it to change.
    state: AtomicU32,
    /// How long the turn is to be, in ns.
    length: AtomicU64,
    /// How much of it was used, in ns. The collector's thread changes it.
    used: AtomicU64,
    /// Since when the collector's thread has been waiting, if it is.
    since: AtomicU64,
}

impl Turn {
    /// Does the collector's thread have the turn?
    #[inline]
    pub fn is_taken(&self) -> bool {
        self.state.load(Acquire) & TAKEN != 0
    }
    /// A thread that wants to stop the world lets the collector's thread go first.
    pub fn let_pass(&self) {
        let length = self.length.load(Relaxed);
        let end = clock::now() + length;
        loop {
            let state = self.state.load(Acquire);
            if state & TAKEN == 0 || clock::now() >= end {
                return;
            }
            futex::wait(&self.state, state, Some(Duration::from_nanos(length)));
        }
    }
    /// The end of a stop: the collector's thread gets the turn if it has been waiting for long.
    pub fn offer(&self) {
        if self.state.load(Acquire) != WAITS {
            return;
        }
        let waited = clock::now().saturating_sub(self.since.load(Relaxed));
        if waited >= PATIENCE {
            self.length
                .store((waited / 2).clamp(SHORTEST, LONGEST), Relaxed);
            // It may have gone on meanwhile; then it has no use for a turn.
            let _ = self
                .state
                .compare_exchange(WAITS, WAITS | TAKEN, AcqRel, Relaxed);
        }
    }

    // ---- the collector's thread ---------------------------------------------------------------------------------

    /// It has to wait, or still has to.
    pub fn wait_begins(&self) {
        if self.state.load(Relaxed) & WAITS == 0 {
            self.since.store(clock::now(), Relaxed);
            self.state.fetch_or(WAITS, Release);
        }
    }
    /// It goes on.
    pub fn wait_ends(&self) {
        if self.state.load(Relaxed) & WAITS != 0 {
            self.state.fetch_and(!WAITS, AcqRel);
        }
    }
    /// It is about to stop the world.
    pub fn take(&self) {
        self.length.store(OWN_STOP, Relaxed);
        self.state.fetch_or(TAKEN, Release);
    }
    /// It has worked for so many ns.
    pub fn worked(&self, ns: u64) {
        if self.is_taken() {
            let used = self.used.load(Relaxed) + ns;
            self.used.store(used, Relaxed);
            if used >= self.length.load(Relaxed) {
                self.end();
            }
        }
    }
    /// It has no use for the turn any more.
    pub fn end(&self) {
        self.used.store(0, Relaxed);
        if self.is_taken() {
            self.state.fetch_and(!TAKEN, Release);
            futex::wake(&self.state, i32::MAX);
        }
    }
}
