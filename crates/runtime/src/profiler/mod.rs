//! The log profiler's part of the runtime.
pub mod sampling;
