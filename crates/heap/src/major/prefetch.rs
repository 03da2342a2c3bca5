//! The prefetch queue: objects whose memory is requested a few steps before they are scanned.
//!
//! # Invariants
//! An entry is on a local stack or in the queue, never in both and never lost. A stack whose worker has nothing to do is empty together with the
//! queue: [`PrefetchQueue::next`] refills the queue from the stack before it gives up.
use crate::memory::{List, prefetch};

/// How many objects are requested ahead: enough to cover the latency of the memory.
const DEPTH: usize = 8;

/// Entries taken from a local stack a few steps before they are scanned. Their memory was requested then.
#[derive(Default)]
pub struct PrefetchQueue {
    ring: [usize; DEPTH],
    first: usize,
    len: usize,
}

impl PrefetchQueue {
    /// The next entry to be scanned. The lowest bit of an entry belongs to the marker and is not part of the address.
    #[inline]
    pub fn next(&mut self, stack: &mut List<usize>) -> Option<usize> {
        while self.len < DEPTH
            && let Some(entry) = stack.pop()
        {
            prefetch(entry & !1);
            self.ring[(self.first + self.len) % DEPTH] = entry;
            self.len += 1;
        }
        if self.len == 0 {
            return None;
        }
        let entry = self.ring[self.first];
        self.first = (self.first + 1) % DEPTH;
        self.len -= 1;
        Some(entry)
    }
    /// Calls `f` with each entry of the queue.
    pub(crate) fn each(&self, f: impl FnMut(usize)) {
        let at = |i: usize| self.ring[(self.first + i) % DEPTH];
        (0..self.len).map(at).for_each(f);
    }
    /// Moves all entries back to the stack, so that they can be shared.
    pub fn give_back(&mut self, stack: &mut List<usize>) {
        while self.len > 0 {
            stack.push(self.ring[self.first]);
            self.first = (self.first + 1) % DEPTH;
            self.len -= 1;
        }
    }
}
