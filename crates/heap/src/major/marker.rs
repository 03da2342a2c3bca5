//! What one marking worker owns.
//!
//! # Invariants
//! * A [`Marker`] is borrowed by one thread at a time. Marker 0 is the collector's thread's while the program runs.
//! * An entry of the local stack is the address of a marked object, or, with its lowest bit set, the address inside a large object from which
//!   scanning goes on. It is on one stack, or on its way in one prefetch queue.
use super::prefetch::PrefetchQueue;
use crate::memory::{List, UNBOUNDED};
use crate::object::Slot;
use std::io;

/// What one marking worker owns. See the module.
pub struct Marker {
    /// Entries that are to be scanned.
    pub(crate) local_stack: List<usize>,
    pub(super) prefetch: PrefetchQueue,
    /// Fields that refer into blocks to be evacuated.
    pub(crate) fields: List<Slot>,
    /// Marked tables of ephemerons.
    pub(crate) ephemerons: List<usize>,
}
impl Marker {
    pub(crate) fn new() -> io::Result<Marker> {
        Ok(Marker {
            local_stack: List::new(UNBOUNDED)?,
            prefetch: PrefetchQueue::default(),
            fields: List::new(UNBOUNDED)?,
            ephemerons: List::new(UNBOUNDED)?,
        })
    }
    /// Calls `f` with each entry that is to be scanned.
    pub(crate) fn each_grey(&self, mut f: impl FnMut(usize)) {
        self.local_stack.as_slice().iter().copied().for_each(&mut f);
        self.prefetch.each(f);
    }
    /// The next entry to be scanned.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<usize> {
        self.prefetch.next(&mut self.local_stack)
    }
}
