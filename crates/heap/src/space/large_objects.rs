//! The list of large objects.
use crate::memory::List;
use std::sync::atomic::AtomicUsize;
use vervet_os::LeafLock;

/// The large objects of a heap.
pub struct LargeObjects {
    /// First blocks of the objects.
    pub heads: LeafLock<List<u32>>,
    /// Their bytes.
    pub bytes: AtomicUsize,
}
