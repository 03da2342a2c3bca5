//! Monitors and what they stand on: the word by which a thread parks, the hand-over of a monitor, the states of a thin lock, and
//! what enters, leaves, waits and pulses by them; and the handshake by which one thread stops the others. No system call, no
//! object, no exception: the runtime has those. And the ring in which signal handlers leave notes.
//!
//! `cargo test -p vervet-parking --features loom --lib` runs the models, of the code that ships: every interleaving of two or three
//! threads, or those with few preemptions where that would take too long.
mod handoff;
pub mod monitor;
mod park_word;
pub mod ring;
pub mod stopping;
pub mod thin;

#[cfg(all(test, feature = "loom"))]
mod models;

pub use handoff::Handoff;
pub use park_word::ParkWord;

/// The atomics: the real ones, or loom's.
mod sync {
    #[cfg(feature = "loom")]
    pub(crate) use loom::cell::UnsafeCell;
    #[cfg(feature = "loom")]
    pub(crate) use loom::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering, fence};
    #[cfg(not(feature = "loom"))]
    pub(crate) use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering, fence};
    #[cfg(not(feature = "loom"))]
    pub(crate) use vervet_os::LeafLock;

    /// A cell, as loom's is used.
    #[cfg(not(feature = "loom"))]
    pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);
    #[cfg(not(feature = "loom"))]
    impl<T> UnsafeCell<T> {
        pub(crate) const fn new(value: T) -> UnsafeCell<T> {
            UnsafeCell(std::cell::UnsafeCell::new(value))
        }
        pub(crate) fn with<R>(&self, look: impl FnOnce(*const T) -> R) -> R {
            look(self.0.get())
        }
        pub(crate) fn with_mut<R>(&self, change: impl FnOnce(*mut T) -> R) -> R {
            change(self.0.get())
        }
    }

    /// As without the feature, of loom's.
    #[cfg(feature = "loom")]
    #[derive(Default, Debug)]
    pub(crate) struct LeafLock<T>(loom::sync::Mutex<T>);
    #[cfg(feature = "loom")]
    impl<T> LeafLock<T> {
        pub(crate) fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
            match self.0.lock() {
                Ok(guard) => guard,
                Err(poisoned) => poisoned.into_inner(),
            }
        }
    }
}
