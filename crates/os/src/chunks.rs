//! An append-only table indexed by `u32`, read without locks.
//!
//! # Invariants
//! Bucket `k` holds indices `[2^(k+SHIFT) - 2^SHIFT, ...)`, is allocated zeroed, and is never moved or freed,
//! so a reference to an element stays valid for the life of the process.
use std::sync::atomic::{AtomicPtr, Ordering};

const SHIFT: u32 = 8;

/// A type whose all-zero bytes are a valid, empty value.
///
/// # Safety
/// Zeroed memory must be a valid value of the type, and it must need no drop.
pub unsafe trait Zeroed {}
// SAFETY: an atomic of zero.
unsafe impl Zeroed for std::sync::atomic::AtomicUsize {}
// SAFETY: a null pointer.
unsafe impl<T> Zeroed for AtomicPtr<T> {}
// SAFETY: an empty cell is a null pointer.
unsafe impl<T> Zeroed for crate::Published<T> {}
// SAFETY: an empty cell is a null pointer.
unsafe impl<T> Zeroed for crate::Replaceable<T> {}

/// A growable table of zero-initialised cells; see the module's invariants.
pub struct Chunks<T: Zeroed + Sync + 'static> {
    buckets: [AtomicPtr<T>; 33 - SHIFT as usize],
}

impl<T: Zeroed + Sync + 'static> Chunks<T> {
    /// An empty table.
    pub const fn new() -> Self {
        Chunks {
            buckets: [const { AtomicPtr::new(std::ptr::null_mut()) }; 33 - SHIFT as usize],
        }
    }
    fn place(index: u32) -> (usize, usize, usize) {
        let n = index as u64 + (1 << SHIFT);
        let bucket = 63 - n.leading_zeros() - SHIFT;
        (
            bucket as usize,
            (n - (1 << (bucket + SHIFT))) as usize,
            1 << (bucket + SHIFT),
        )
    }
    /// The element, if its bucket exists.
    #[inline]
    pub fn get(&self, index: u32) -> Option<&'static T> {
        let (bucket, at, _) = Self::place(index);
        let p = self.buckets[bucket].load(Ordering::Acquire);
        if p.is_null() {
            None
        } else {
            // SAFETY: a non-null bucket holds `len` valid elements for ever and `at < len`.
            Some(unsafe { &*p.add(at) })
        }
    }
    /// The element; its bucket is made if it does not exist.
    #[inline]
    pub fn at(&self, index: u32) -> &'static T {
        match self.get(index) {
            Some(t) => t,
            None => self.grow(index),
        }
    }
    #[cold]
    fn grow(&self, index: u32) -> &'static T {
        let (bucket, at, len) = Self::place(index);
        let layout = std::alloc::Layout::array::<T>(len).expect("bucket size");
        // SAFETY: the layout is not empty; zeroed memory is valid for `T` (trait `Zeroed`).
        let fresh = unsafe { std::alloc::alloc_zeroed(layout) } as *mut T;
        if fresh.is_null() {
            std::alloc::handle_alloc_error(layout);
        }
        let p = match self.buckets[bucket].compare_exchange(
            std::ptr::null_mut(),
            fresh,
            Ordering::AcqRel,
            Ordering::Acquire,
        ) {
            Ok(_) => fresh,
            Err(first) => {
                // SAFETY: `fresh` was allocated above with this layout and was not published.
                unsafe { std::alloc::dealloc(fresh as *mut u8, layout) };
                first
            }
        };
        // SAFETY: the bucket holds `len` valid elements for ever, and `at < len`.
        unsafe { &*p.add(at) }
    }
}

impl<T: Zeroed + Sync + 'static> Default for Chunks<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn every_index_has_its_own_cell() {
        let c: Chunks<AtomicUsize> = Chunks::new();
        let count = if cfg!(miri) { 800 } else { 5000 };
        for i in 0..count {
            c.at(i).store(i as usize + 1, Ordering::Relaxed);
        }
        for i in 0..count {
            assert_eq!(c.get(i).unwrap().load(Ordering::Relaxed), i as usize + 1);
        }
        assert!(c.get(u32::MAX).is_none());
    }

    #[test]
    fn threads_that_make_a_bucket_at_once_get_the_same() {
        let c: Chunks<AtomicUsize> = Chunks::new();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for i in [0, 300, 800, 2000] {
                        c.at(i).fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        for i in [0, 300, 800, 2000] {
            assert_eq!(c.get(i).map(|w| w.load(Ordering::Relaxed)), Some(3));
        }
    }
}
