//! Exceptions: making them, finding their handlers, running the two passes, hardware traps, traces.
//!
//! # Invariants
//! * The throw path is in Runtime state from the thunk to [`crate::arch::resume`]. Our own frames are never
//!   unwound: they have returned or are abandoned holding nothing (no lock, no destructor that matters).
//! * Pass one runs no finally. Pass two runs finallys and faults innermost first, then enters the catch.
mod deep_stacks;
pub mod from_error;
pub mod make;
pub mod protected;
pub mod report;
pub(crate) mod stack_words;
pub mod symbols;
pub mod throw;
pub mod trace;
pub mod traps;
pub mod unhandled;
pub mod walk;
pub mod wrapped;
pub mod wrappers;
