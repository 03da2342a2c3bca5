//! The turn of the collector's thread: how a cycle makes progress while the program's threads stop the world one after the other.
//!
//! ```text
//!   state          meaning                                        next
//!   -------------  ---------------------------------------------  --------------------------------------------------------
//!   0              the collector's thread runs or is idle         WAITS when it has to wait for the gate
//!   WAITS          it waits since `since`                         0 when it goes on; WAITS|TAKEN at the end of a stop, after 2 ms
//!   WAITS|TAKEN    it was given the turn, and has not noticed     TAKEN when it goes on
//!   TAKEN          minor collections wait outside                 0 when it has used the turn, or the cycle ends
//! ```
//!
//! # Invariants
//! * Of the time in which it has work, the collector's thread gets at least a third, as far as the kernel runs it: a turn is half as long as the
//!   wait before it.
//! * Only the collector's thread ends a turn. A mutator that waits for the end waits at most as long as the turn was to be, even if the kernel
//!   has not run the collector's thread meanwhile.
//! * A turn is given only while the collector's thread waits, by one compare-and-swap from WAITS ([`Turn::offer`]). So that thread knows of every
//!   turn it has when it goes on, and the last turn ends with the cycle at the latest.
//! * A mutator that waits holds no lock, and counts as stopped.
use crate::sync::{AtomicU32, AtomicU64, Ordering::*, clock, futex};
use std::time::Duration;

/// How long (ns) the collector's thread waits before it is given a turn.
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
    /// See the table at the head of this file. Threads that wait for the end of the turn sleep on it.
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
    /// Called by a thread that wants to stop the world: waits until the turn ends, at most as long as the turn was to be.
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
    /// At the end of a stop: gives the collector's thread the turn if it has been waiting for long.
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

    /// The collector's thread has to wait, or still has to.
    pub fn wait_begins(&self) {
        if self.state.load(Relaxed) & WAITS == 0 {
            self.since.store(clock::now(), Relaxed);
            self.state.fetch_or(WAITS, Release);
        }
    }
    /// The collector's thread goes on.
    pub fn wait_ends(&self) {
        if self.state.load(Relaxed) & WAITS != 0 {
            self.state.fetch_and(!WAITS, AcqRel);
        }
    }
    /// The collector's thread is about to stop the world itself, and takes the turn for that.
    pub fn take(&self) {
        self.length.store(OWN_STOP, Relaxed);
        self.state.fetch_or(TAKEN, Release);
    }
    /// The collector's thread has worked for `ns` nanoseconds; the turn ends if it is used up.
    pub fn worked(&self, ns: u64) {
        if self.is_taken() {
            let used = self.used.load(Relaxed) + ns;
            self.used.store(used, Relaxed);
            if used >= self.length.load(Relaxed) {
                self.end();
            }
        }
    }
    /// The collector's thread does not need the turn any more: threads that wait may stop the world.
    pub fn end(&self) {
        self.used.store(0, Relaxed);
        if self.is_taken() {
            self.state.fetch_and(!TAKEN, Release);
            futex::wake(&self.state, i32::MAX);
        }
    }
}
