//! What a carrier and the green thread that it runs tell each other.
//!
//! Invariant: the OS thread's record leads to the seat while the thread is a carrier. The carrier and the green thread that it runs never use it at the
//! same time: one of the two stacks runs.
use super::record::Green;
use super::stacks::NativeStack;
use crate::safepoint::registry::Thread;
use crate::threads::current_context;
use vervet_sched::{Carrier, Outcome};

/// See the module.
pub(crate) struct Seat {
    /// The carrier's stack pointer while it runs a green thread.
    pub(super) sp: usize,
    /// Why the green thread has left the carrier.
    pub(super) outcome: Outcome,
    /// The scheduler's part, valid while a green thread runs.
    pub(super) carrier: *mut Carrier,
    /// A native stack that the next thread gets.
    pub(super) spare: Option<NativeStack>,
    /// Records for the threads that the carrier's threads start; see [`record`](super::record).
    pub(super) free: Vec<&'static Green>,
}

/// The seat of the carrier that runs the calling thread; None if that is no green thread.
///
/// # Safety
/// The calling thread is attached. The reference is used before the thread calls anything that may leave the carrier.
pub(super) unsafe fn of_caller<'a>() -> Option<&'a mut Seat> {
    let context = current_context();
    // SAFETY: the context is the calling thread's. While a green thread runs, its carrier does not use the seat.
    unsafe {
        match (*context).green {
            0 => None,
            _ => Thread::of(context).own.carries.get().as_mut(),
        }
    }
}
