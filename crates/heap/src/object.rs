//! Access to the words of objects.
use std::sync::atomic::{AtomicU64, AtomicUsize};

#[inline(always)]
pub(crate) fn header_of(object: usize) -> &'static AtomicU64 {
    // SAFETY: callers pass addresses of objects; the word is their header.
    unsafe { &*(object as *const AtomicU64) }
}
#[inline(always)]
pub(crate) fn slot_of(slot: usize) -> &'static AtomicUsize {
    // SAFETY: callers pass addresses of reference fields.
    unsafe { &*(slot as *const AtomicUsize) }
}
