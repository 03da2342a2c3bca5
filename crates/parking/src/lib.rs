//! The lock-free halves of waiting: the word by which a thread parks, the hand-over of a monitor, the states of a thin
//! lock, and the handshake by which one thread stops the others. No queue, no system call, no object: the runtime has those.
//!
//! `cargo test -p vervet-parking --features loom --lib` runs the models: every interleaving of two or three threads.
mod handoff;
pub mod stopping;
pub mod thin;
mod word;

#[cfg(all(test, feature = "loom"))]
mod models;

pub use handoff::Handoff;
pub use word::Word;

/// The atomics: the real ones, or loom's.
mod sync {
    #[cfg(feature = "loom")]
    pub(crate) use loom::sync::atomic::{AtomicU8, AtomicU32, Ordering, fence};
    #[cfg(not(feature = "loom"))]
    pub(crate) use std::sync::atomic::{AtomicU8, AtomicU32, Ordering, fence};
}
