//! The atomics, the sizes and the memory of buckets: the real ones, or loom's.
//!
//! # Invariants
//! * A bucket's memory starts as zeros: all slots free, nothing young.
//! * A bucket is released only by who allocated it and never published it, or with its table.

#[cfg(feature = "loom")]
pub(crate) use loom::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering,
};
#[cfg(not(feature = "loom"))]
pub(crate) use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering,
};

#[cfg(not(feature = "loom"))]
mod sizes {
    /// Slots in a group.
    pub const GROUP: u32 = 64;
    /// Slots in the first bucket (a page with all that belongs to them); a power of two, and a multiple of [`GROUP`].
    pub const FIRST_BUCKET: u32 = 256;
    /// How many freed slots wait in a queue before the first of them is used again.
    pub(crate) const REUSE_DELAY: u32 = 256;
    /// From how many freed slots on a thread hands its queue over.
    pub(crate) const HAND_OVER: u32 = 1024;
    /// How many slots a thread takes from the shared queue at once.
    pub(crate) const BATCH: u32 = 256;
}
#[cfg(feature = "loom")]
mod sizes {
    #![allow(missing_docs, reason = "as without the feature")]
    pub const GROUP: u32 = 1;
    pub const FIRST_BUCKET: u32 = 1;
    pub(crate) const REUSE_DELAY: u32 = 0;
    pub(crate) const HAND_OVER: u32 = 2;
    pub(crate) const BATCH: u32 = 1;
}
pub use sizes::*;

/// Indices have 29 bits; the first bucket's size is added to them before the highest bit is looked for.
pub(crate) const MAX_SLOTS: u32 = (1 << 29) - FIRST_BUCKET;
/// Number of bucket pointers; entry `b` is the bucket of `1 << b` slots. The last is for the indices from [`MAX_SLOTS`] on, so
/// it is always null.
pub(crate) const BUCKETS: usize = 30;

#[cfg(not(feature = "loom"))]
mod bucket {
    use super::*;

    /// The memory of a bucket: `slots` words, then `slots` side words, then a byte for each group.
    #[derive(Clone, Copy)]
    pub(crate) struct Bucket<'t> {
        base: *mut u8,
        slots: usize,
        table: std::marker::PhantomData<&'t ()>,
    }
    /// What a bucket pointer points to: the first word.
    pub(crate) type Start = AtomicUsize;

    fn bytes(slots: usize) -> usize {
        slots * 12 + slots.div_ceil(GROUP as usize)
    }

    impl<'t> Bucket<'t> {
        /// # Safety
        /// `start` came from [`Bucket::allocate`] for as many slots and is not released within `'t`.
        pub(crate) unsafe fn at(start: *mut Start, slots: usize) -> Self {
            Bucket {
                base: start.cast(),
                slots,
                table: std::marker::PhantomData,
            }
        }
        pub(crate) fn allocate(slots: usize) -> Option<*mut Start> {
            vervet_os::memory::reserve(bytes(slots))
                .ok()
                .map(|p| p.cast())
        }
        /// # Safety
        /// As for [`Bucket::at`], and nobody uses the bucket.
        pub(crate) unsafe fn release(start: *mut Start, slots: usize) {
            // SAFETY: it was mapped with this size.
            unsafe { vervet_os::memory::release(start.cast(), bytes(slots)) }
        }
        #[inline]
        pub(crate) fn word(self, i: usize) -> &'t AtomicUsize {
            debug_assert!(i < self.slots);
            // SAFETY: the words are the first part of the bucket, and zeros are a valid atomic.
            unsafe { &*self.base.cast::<AtomicUsize>().add(i) }
        }
        pub(crate) fn side(self, i: usize) -> &'t AtomicU32 {
            debug_assert!(i < self.slots);
            // SAFETY: the side words follow the words.
            unsafe { &*self.base.add(self.slots * 8).cast::<AtomicU32>().add(i) }
        }
        pub(crate) fn young(self, i: usize) -> &'t AtomicU8 {
            debug_assert!(i < self.slots);
            // SAFETY: the groups' bytes follow the side words.
            unsafe {
                &*self
                    .base
                    .add(self.slots * 12 + i / GROUP as usize)
                    .cast::<AtomicU8>()
            }
        }
    }
}
#[cfg(feature = "loom")]
mod bucket {
    use super::*;

    /// What a bucket pointer points to.
    pub(crate) struct Start {
        words: Vec<AtomicUsize>,
        side: Vec<AtomicU32>,
        young: Vec<AtomicU8>,
    }
    #[derive(Clone, Copy)]
    pub(crate) struct Bucket<'t>(&'t Start);

    impl<'t> Bucket<'t> {
        /// # Safety
        /// As without the feature.
        pub(crate) unsafe fn at(start: *mut Start, _slots: usize) -> Self {
            // SAFETY: passed on.
            Bucket(unsafe { &*start })
        }
        pub(crate) fn allocate(slots: usize) -> Option<*mut Start> {
            Some(Box::into_raw(Box::new(Start {
                words: (0..slots).map(|_| AtomicUsize::new(0)).collect(),
                side: (0..slots).map(|_| AtomicU32::new(0)).collect(),
                young: (0..slots).map(|_| AtomicU8::new(0)).collect(),
            })))
        }
        /// # Safety
        /// As without the feature.
        pub(crate) unsafe fn release(start: *mut Start, _slots: usize) {
            // SAFETY: passed on.
            drop(unsafe { Box::from_raw(start) });
        }
        pub(crate) fn word(self, i: usize) -> &'t AtomicUsize {
            &self.0.words[i]
        }
        pub(crate) fn side(self, i: usize) -> &'t AtomicU32 {
            &self.0.side[i]
        }
        pub(crate) fn young(self, i: usize) -> &'t AtomicU8 {
            &self.0.young[i / GROUP as usize]
        }
    }
}
pub(crate) use bucket::{Bucket, Start};
