//! The list of large objects.
//!
//! # Invariants
//! The list has the first block of every large object that lives, once, and `bytes` is the sum of their sizes. Objects that a cycle found dead
//! leave both at once, though their blocks are freed later.
use crate::memory::List;
use crate::space::BlockId;
use std::sync::atomic::AtomicUsize;
use vervet_os::LeafLock;

/// The large objects of a heap.
pub struct LargeObjects {
    /// First blocks of the objects.
    pub heads: LeafLock<List<BlockId>>,
    /// Their bytes.
    pub bytes: AtomicUsize,
}
