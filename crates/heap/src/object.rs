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
use crate::model::Model;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

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

/// The address of a word that holds a reference or 0: a field of an object, a word of root memory, or a root.
///
/// A value proves what [`Slot::new`] asks for, so the functions that follow slots are safe. It is kept in lists of one collection, or of one
/// cycle, and not longer: the object that has the field lives at least until then.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(transparent)]
pub(crate) struct Slot(usize);

impl Slot {
    /// The slot at an address.
    ///
    /// # Safety
    /// While the value or a copy of it is used, `address` is that of a mapped word aligned to 8 bytes that holds a reference or 0 and that
    /// nobody accesses otherwise than atomically. A reference is the address of an object of this heap, or lies outside the heap.
    #[inline(always)]
    pub unsafe fn new(address: usize) -> Slot {
        Slot(address)
    }
    /// Its address.
    #[inline(always)]
    pub fn address(self) -> usize {
        self.0
    }
    #[inline(always)]
    fn word(&self) -> &AtomicUsize {
        // SAFETY: the promise of `new`: the word is mapped and accessed atomically while the value is used.
        unsafe { &*(self.0 as *const AtomicUsize) }
    }
    /// What it refers to, 0 for null.
    #[inline(always)]
    pub fn load(self, order: Ordering) -> usize {
        self.word().load(order)
    }
    /// Makes it refer to `object`.
    #[inline(always)]
    pub fn store(self, object: usize, order: Ordering) {
        self.word().store(object, order);
    }
}

/// Calls `visit` with each slot of an object that lies in `[from, to)`, in ascending order.
///
/// # Safety
/// As for [`Model::visit`]; and the object lives as long as the slots are used.
#[inline(always)]
pub(crate) unsafe fn each_slot<M: Model>(
    object: usize,
    header: u64,
    from: usize,
    to: usize,
    mut visit: impl FnMut(Slot),
) {
    // SAFETY: the caller's promise is that of `Model::visit`, whose implementors promise that it names reference fields of the object only.
    unsafe { M::visit(object, header, from, to, |field| visit(Slot::new(field))) }
}
