//! The claim by which the collector scans the stacks of a parked green thread while the program runs.
//!
//! # How it works
//! A carrier that is about to run the thread says so in the thread's state, and then looks at the word of requests, which it changes anyway. The
//! collector sets a bit of that word, and then looks at the state.
//!
//! ```text
//!   a carrier ([`Scannable::enter`])               the collector ([`Scannable::scan`])
//!   --------------------------------------------   --------------------------------------------------
//!   state = RUNTIME                                requests |= SCANNING
//!   makes known who runs the thread
//!   before = requests &= !served                   state is PARKED? scans the stacks
//!   SCANNING in before? waits until it is not      requests &= !SCANNING
//!   runs the thread
//! ```
//! Both change the same word, one after the other: the carrier finds the bit, or the collector finds RUNTIME. So the carrier waits for one scan at
//! most, some microseconds, and pays nothing otherwise.
//!
//! Who changes references of a thread that stays parked (it is given something to start with) does not wait. It stores 0 to the word that says in
//! which cycle of marking the thread was scanned ([`Scannable::changed`]); so does a carrier that parks the thread.
//!
//! # Invariants
//! * While the collector scans, the thread does not run and its stacks do not change.
//! * If the word `scanned` names a cycle, the collector has seen every reference that was stored before the word was last changed to 0; and it has
//!   been changed to 0 after every later one.
//! * One thread at a time scans or holds threads: the claim is a bit, not a count.
use crate::sync::{
    AtomicU8, AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
};
use vervet_abi::State;
use vervet_abi::context::interrupts::SCANNING;

#[cfg(all(test, feature = "loom"))]
mod models;

/// A scan is under way: no cycle has this number.
const UNDER_WAY: u32 = u32::MAX;

/// The words of a green thread's context. See the module.
#[derive(Clone, Copy)]
pub struct Scannable<'c> {
    /// A [`State`].
    pub state: &'c AtomicU8,
    /// Bits of [`vervet_abi::context::interrupts`].
    pub requests: &'c AtomicU32,
    /// The cycle of marking in which the thread was scanned; 0: its references have changed since.
    pub scanned: &'c AtomicU32,
}

impl Scannable<'_> {
    /// The calling thread is about to run the green thread. Takes the bits `served` off the requests; returns what they were. `wait` is called again and
    /// again while the collector scans.
    ///
    /// `announce` makes known who runs the thread. It is called when the thread is not parked any more, and before the requests are read: whoever makes a
    /// request and then looks for the thread finds what `announce` has stored, or the request is among those that are returned. The collector may
    /// be scanning the thread meanwhile.
    #[inline]
    pub fn enter(self, served: u32, announce: impl FnOnce(), mut wait: impl FnMut()) -> u32 {
        self.state.store(State::Runtime as u8, Release);
        announce();
        let asked = self.requests.fetch_and(!served, SeqCst);
        if asked & SCANNING != 0 {
            while self.requests.load(Acquire) & SCANNING != 0 {
                wait();
            }
        }
        asked & !SCANNING
    }
    /// References of the parked thread, or of the one that is about to park, have changed.
    #[inline]
    pub fn changed(self) {
        // An exchange, so that its place among those of a scan is one that all agree on. It is made while marking runs only.
        self.scanned.swap(0, AcqRel);
    }
    /// Has the thread been scanned in that cycle, and not changed since?
    pub fn is_scanned(self, cycle: u32) -> bool {
        self.scanned.load(Acquire) == cycle
    }
    /// The world is stopped, and the thread has been scanned in that cycle.
    pub fn set_scanned(self, cycle: u32) {
        self.scanned.store(cycle, Relaxed);
    }
    /// Scans the thread if it is parked, by `work`, and notes that it was done in that cycle. False: the thread runs.
    pub fn scan(self, cycle: u32, work: impl FnOnce()) -> bool {
        self.hold(|| {
            self.scanned.swap(UNDER_WAY, AcqRel);
            work();
            // Unless somebody has changed the references meanwhile.
            let _ = self
                .scanned
                .compare_exchange(UNDER_WAY, cycle, AcqRel, Relaxed);
        })
    }
    /// Calls `work` if the thread is parked, which does not run meanwhile. False: the thread runs.
    pub fn hold(self, work: impl FnOnce()) -> bool {
        self.requests.fetch_or(SCANNING, AcqRel);
        let is_parked = self.state.load(Acquire) == State::Parked as u8;
        if is_parked {
            work();
        }
        self.requests.fetch_and(!SCANNING, Release);
        is_parked
    }
}
