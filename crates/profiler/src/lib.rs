//! The log profiler: its options, the bytes of its file, and the ways by which events reach the thread that writes them.
//!
//! Nothing here knows methods, objects or threads of the runtime: they are numbers, and names are asked for through traits that the
//! runtime implements.
//!
//! | where | what |
//! |---|---|
//! | [`options`] | the text behind `--profile=` |
//! | [`record`], [`stream`] | an event as words; the way of events from the threads that record to the thread that writes |
//! | `chunks` | queues of words in chunks that are taken and given back: what streams are made of |
//! | [`sample`] | a sample, and where the writer gets samples from |
//! | [`ring`] | the ring between a signal handler and the writer |
//! | [`roots`] | which memory holds roots of the heap |
//! | [`host`] | what the writer asks of the runtime: names, counters |
//! | [`port`] | commands over TCP |
//! | [`encode`], [`encoder`] | the bytes of buffers; which events they get |
//! | [`output`], [`writer`] | files, commands and descriptors; the thread |
//!
//! With the feature `loom` only what has models is compiled.
#![cfg_attr(
    feature = "loom",
    allow(
        dead_code,
        reason = "of what has models, only the models are users then"
    )
)]
mod chunks;
#[cfg(not(feature = "loom"))]
pub mod encode;
#[cfg(not(feature = "loom"))]
pub mod encoder;
#[cfg(not(feature = "loom"))]
pub mod host;
#[cfg(not(feature = "loom"))]
pub mod options;
#[cfg(not(feature = "loom"))]
pub mod output;
#[cfg(not(feature = "loom"))]
pub mod port;
#[cfg(not(feature = "loom"))]
pub mod record;
pub mod ring;
#[cfg(not(feature = "loom"))]
pub mod roots;
pub mod sample;
#[cfg(not(feature = "loom"))]
pub mod stream;
#[cfg(not(feature = "loom"))]
pub mod writer;

/// The atomics: the real ones, or loom's.
mod sync {
    #[cfg(feature = "loom")]
    pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
    #[cfg(not(feature = "loom"))]
    pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
}
