//! The protocols by which threads wait for each other, without the system calls, objects and exceptions around them, which are the runtime's.
//!
//! | where | what |
//! |---|---|
//! | [`ParkWord`] | how a thread parks, and is unparked |
//! | [`thin`] | the thin lock: the states of a sync word that names no monitor |
//! | [`Handoff`] | who owns a fat monitor, and whom its owner wakes |
//! | [`monitor`] | entering, leaving, waiting and pulsing, on thin and fat monitors |
//! | [`stopping`] | the handshake by which one thread stops the others |
//! | [`scanning`] | how the collector scans a parked green thread that a carrier may want to run |
//! | [`ring`] | the ring into which signal handlers put notes |
//!
//! `cargo test -p vervet-parking --features loom --lib` runs the models, of the code that ships: every interleaving of two or three threads, or
//! those with few preemptions where that would take too long.
//!
//! # Invariants
//! * Nothing here blocks by itself: what sleeps is passed in. So the same code runs under loom, whose threads do not sleep.
//! * Orders of memory are written where they matter. `SeqCst` stands where two threads each store a word and then load the other's; loom takes
//!   such accesses for acquire and release, and is told by a fence.
#![cfg_attr(not(test), deny(unsafe_code))]

mod handoff;
pub mod monitor;
mod park_word;
#[cfg_attr(
    not(test),
    expect(
        unsafe_code,
        reason = "a slot of the ring holds a note or nothing, as its turn says"
    )
)]
pub mod ring;
pub mod scanning;
pub mod stopping;
pub mod thin;

#[cfg(all(test, feature = "loom"))]
mod models;

pub use handoff::Handoff;
pub use park_word::{ParkWord, Seen};

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
