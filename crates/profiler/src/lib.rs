//! The log profiler: its options, the bytes of its file, and the ways by which events reach the thread that writes them.
//!
//! Nothing here knows methods, objects or threads of the runtime: they are numbers, and names are asked for through traits that the
//! runtime implements.
//!
//! | where | what |
//! |---|---|
//! | [`options`] | the text behind `--profile=` |
//! | [`record`], [`stream`] | an event as words; the way of events from the threads that record to the thread that writes |
//! | [`sample`] | a sample, and where the writer gets samples from |
//! | [`ring`] | the ring between a signal handler and the writer |
//! | [`roots`] | which memory holds roots of the heap |
//! | [`host`] | what the writer asks of the runtime: names, counters |
//! | [`port`] | commands over TCP |
//! | [`encode`], [`encoder`] | the bytes of buffers; which events they get |
//! | [`output`], [`writer`] | files, commands and descriptors; the thread |
pub mod encode;
pub mod encoder;
pub mod host;
pub mod options;
pub mod output;
pub mod port;
pub mod record;
pub mod ring;
pub mod roots;
pub mod sample;
pub mod stream;
pub mod writer;

/// The atomics: the real ones, or loom's.
mod sync {
    #[cfg(feature = "loom")]
    pub(crate) use loom::sync::atomic::{AtomicU64, Ordering};
    #[cfg(not(feature = "loom"))]
    pub(crate) use std::sync::atomic::{AtomicU64, Ordering};
}
