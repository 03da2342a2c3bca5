//! What is kept of a wait while its thread has no native stack.
//!
//! Invariant: the cell that holds it is the carrier's that runs the thread; it is empty but from the moment when the wait leaves to that when it goes on.
use std::time::Instant;
use vervet_abi::context::Record;
use vervet_sched::Outcome;

/// What a wait keeps.
#[derive(Clone, Copy)]
pub(crate) struct Kept {
    /// The end of the whole wait.
    pub(crate) end: Option<Instant>,
    /// What the wait has noted for itself.
    pub(crate) note: u64,
}

/// A wait that was left.
#[derive(Clone, Copy)]
pub(super) struct Left {
    /// The record of its call.
    pub(super) record: *mut Record,
    pub(super) kept: Kept,
    /// Why it left.
    pub(super) outcome: Outcome,
    pub(super) has_timer: bool,
    /// When it left, if waits are sampled, and the kind of its reason.
    pub(super) since: u64,
    pub(super) reason: u8,
}
