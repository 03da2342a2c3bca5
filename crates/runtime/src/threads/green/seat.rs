//! What a carrier and the green thread that it runs tell each other.
//!
//! Invariant: the OS thread's record leads to the seat while the thread is a carrier. The carrier and the green thread that it runs never use it at the
//! same time: one of the two stacks runs.
use super::stacks::NativeStack;
use crate::arch;
use vervet_abi::ThreadContext;
use vervet_sched::{Carrier, Outcome};

/// See the module.
pub(crate) struct Seat {
    /// The two stacks, while a green thread runs.
    pub(super) target: arch::Target,
    /// Why the green thread has left the carrier.
    pub(super) outcome: Outcome,
    /// The scheduler's part, valid while a green thread runs.
    pub(super) carrier: *mut Carrier,
    /// A native stack that the next thread gets.
    pub(super) spare: Option<NativeStack>,
    /// Contexts whose records are free, for the threads that the carrier's threads start.
    pub(super) free: Vec<*mut ThreadContext>,
}
