//! The log profiler: its options, the bytes of its file, and the ways by which events reach the thread that writes them.
//!
//! Nothing here knows methods, objects or threads of the runtime: they are numbers, and names are asked for through traits that the
//! runtime implements.
//!
//! | where | what |
//! |---|---|
//! | [`sample`] | a sample, and where the writer gets samples from |
//! | [`ring`] | the ring between a signal handler and the writer |
pub mod ring;
pub mod sample;

/// The atomics: the real ones, or loom's.
mod sync {
    #[cfg(feature = "loom")]
    pub(crate) use loom::sync::atomic::{AtomicU64, Ordering};
    #[cfg(not(feature = "loom"))]
    pub(crate) use std::sync::atomic::{AtomicU64, Ordering};
}
