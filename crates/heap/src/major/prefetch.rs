//! The prefetch queue: objects whose memory is requested a few steps before they are scanned.
//!
//! # Invariants
//! An entry is on a local stack or in the queue, never in both and never lost. A stack whose worker has nothing to do is empty together with the
//! queue: [`PrefetchQueue::next`] refills the queue from the stack before it gives up.
use crate::memory::{List, prefetch};

/// How many objects are on their way: as many as cover the memory's latency.
const DEPTH: usize = 8;

/// Entries taken from a grey list a few steps before they are looked at, so that their memory is on its way.
#[derive(Default)]
pub struct PrefetchQueue {
    ring: [usize; DEPTH],
    first: usize,
    len: usize,
}

impl PrefetchQueue {
    /// The next entry of the list to be looked at. The lowest bit of an entry is its owner's.
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
    /// Calls `f` with each entry that is on its way.
    pub(crate) fn each(&self, f: impl FnMut(usize)) {
        let at = |i: usize| self.ring[(self.first + i) % DEPTH];
        (0..self.len).map(at).for_each(f);
    }
    /// Everything back into the list, so that it can be handed over.
    pub fn give_back(&mut self, stack: &mut List<usize>) {
        while self.len > 0 {
            stack.push(self.ring[self.first]);
            self.first = (self.first + 1) % DEPTH;
            self.len -= 1;
        }
    }
}
