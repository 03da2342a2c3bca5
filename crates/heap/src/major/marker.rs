//! What one marking worker owns.
use super::prefetch::PrefetchQueue;
use crate::memory::{List, UNBOUNDED};
use std::io;

/// What one marking worker has.
pub struct Marker {
    pub(crate) local_stack: List<usize>,
    pub(super) prefetch: PrefetchQueue,
    /// Fields that refer into blocks that will be evacuated.
    pub fields: List<usize>,
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
    /// Calls `f` with each entry that is to be looked at.
    pub(crate) fn each_grey(&self, mut f: impl FnMut(usize)) {
        self.local_stack.as_slice().iter().copied().for_each(&mut f);
        self.prefetch.each(f);
    }
    /// The next entry to be looked at.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<usize> {
        self.prefetch.next(&mut self.local_stack)
    }
}
