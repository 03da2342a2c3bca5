//! Access to the words of objects.
//!
//! The first word of an object is its header. What it says while collections run:
//!
//! ```text
//!  bits 63..3        bit 2  bit 1  bit 0   meaning                                    who writes it
//!  ----------------  -----  -----  -----   -----------------------------------------  -------------------------------------
//!  the model's         0      0      0     an object that lives where it is           the allocator, the model
//!  0                   0      0      0     no object: unused memory begins here       nursery::terminate
//!  new address         0    young    1     the object has moved; `young`: it is       the worker that copies it
//!                                          still in the nursery
//!  entry number        1      0      1     ephemerons wait for this key               PendingEphemerons, gate shut
//! ```
//!
//! # Invariants
//! * Headers and reference fields are accessed as atomics while a collection runs: workers read headers that other workers replace.
//! * The words live as long as the object does, so the references that are returned must not outlive the collection that uses them.
use std::sync::atomic::{AtomicU64, AtomicUsize};

/// The header of an object.
///
/// # Safety
/// `object` is the address of an object, or of unused young memory, of this heap: a mapped word aligned to 8 bytes that nobody accesses
/// otherwise than atomically while the reference is used.
#[inline(always)]
pub(crate) unsafe fn header_of<'a>(object: usize) -> &'a AtomicU64 {
    // SAFETY: the caller's promise.
    unsafe { &*(object as *const AtomicU64) }
}

/// A reference field of an object, a word of root memory, or a root.
///
/// # Safety
/// `slot` is the address of a mapped word aligned to 8 bytes that holds a reference or 0, and that nobody accesses otherwise than
/// atomically while the reference is used.
#[inline(always)]
pub(crate) unsafe fn slot_of<'a>(slot: usize) -> &'a AtomicUsize {
    // SAFETY: the caller's promise.
    unsafe { &*(slot as *const AtomicUsize) }
}
