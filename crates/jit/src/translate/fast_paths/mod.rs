//! Fast paths: sequences that generated code has in place of calls into the runtime.
//!
//! # Invariants
//! Each sequence has a slow path that calls the runtime and that every case it cannot decide goes to. The sequences of
//! [`handles`] and [`monitors`] are listed beside the models that check them (`inlined.txt` in `vervet-handles` and
//! `vervet-parking`); a test compares the lists with the emitted code.
pub mod alloc;
pub mod green;
pub mod handles;
pub mod monitors;
#[cfg(test)]
mod sequence_tests;
