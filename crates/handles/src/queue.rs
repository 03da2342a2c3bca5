//! Free slots in waiting: a thread's own, and those handed over.
//!
//! # Invariants
//! * A queue is a chain through the side words of free slots, first in, first out. A slot is in at most one.
//! * Side words are stored with release after the slot was freed, so that who reads a link where it expected a domain sees
//!   that the slot was freed ([`Tables::domain`](crate::Tables::domain)).
//! * A lane belongs to one thread; the shared queue to whoever holds its flag. Nobody waits for the flag but a thread that
//!   ends: who does not get it does without (grows its own queue, or takes a fresh group).
use crate::memory::*;
use crate::table::Table;

/// A thread's slots in waiting. Made with the thread, given back by [`Tables::retire`](crate::Tables::retire).
#[derive(Debug)]
pub struct Hint {
    pub(crate) lanes: [Lane; 4],
}

impl Hint {
    /// Owns nothing yet.
    pub const fn new() -> Hint {
        Hint {
            lanes: [const { Lane::new() }; 4],
        }
    }
}
impl Default for Hint {
    fn default() -> Self {
        Hint::new()
    }
}

/// A thread's slots of one kind.
#[derive(Debug)]
pub(crate) struct Lane {
    /// Fresh slots that are ours: `next..end`, within one group.
    next: u32,
    end: u32,
    freed: Chain,
}

/// Linked free slots; `first` and `last` mean something if `len` is not 0.
#[derive(Clone, Copy, Debug)]
struct Chain {
    first: u32,
    last: u32,
    len: u32,
}

impl Lane {
    const fn new() -> Lane {
        Lane {
            next: 0,
            end: 0,
            freed: Chain::EMPTY,
        }
    }
}

impl Chain {
    const EMPTY: Chain = Chain {
        first: 0,
        last: 0,
        len: 0,
    };

    #[inline]
    fn append(&mut self, table: &Table, more: Chain) {
        if more.len == 0 {
            return;
        }
        if self.len == 0 {
            *self = more;
        } else {
            link(table, self.last).store(more.first, Ordering::Release);
            self.last = more.last;
            self.len += more.len;
        }
    }
    #[inline]
    fn push(&mut self, table: &Table, index: u32) {
        self.append(
            table,
            Chain {
                first: index,
                last: index,
                len: 1,
            },
        );
    }
    #[inline]
    fn pop(&mut self, table: &Table) -> Option<u32> {
        self.len = self.len.checked_sub(1)?;
        let index = self.first;
        if self.len != 0 {
            self.first = link(table, index).load(Ordering::Relaxed);
        }
        Some(index)
    }
    /// Cuts off the first `n` or fewer.
    fn split(&mut self, table: &Table, n: u32) -> Chain {
        let mut head = Chain::EMPTY;
        while head.len < n
            && let Some(index) = self.pop(table)
        {
            // The links are there already: only the ends move.
            if head.len == 0 {
                head.first = index;
            }
            head.last = index;
            head.len += 1;
        }
        head
    }
}

#[inline]
fn link(table: &Table, index: u32) -> &AtomicU32 {
    table.given_slot(index).side
}

/// The queue of slots handed over by threads that end or have many.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Shared {
    held: AtomicBool,
    first: AtomicU32,
    last: AtomicU32,
    len: AtomicU32,
}

impl Shared {
    #[cfg(not(feature = "loom"))]
    pub(crate) const fn new() -> Shared {
        Shared {
            held: AtomicBool::new(false),
            first: AtomicU32::new(0),
            last: AtomicU32::new(0),
            len: AtomicU32::new(0),
        }
    }
    #[cfg(feature = "loom")]
    pub(crate) fn new() -> Shared {
        Shared {
            held: AtomicBool::new(false),
            first: AtomicU32::new(0),
            last: AtomicU32::new(0),
            len: AtomicU32::new(0),
        }
    }

    /// Slots in it, at some moment.
    pub(crate) fn len(&self) -> u32 {
        self.len.load(Ordering::Relaxed)
    }

    fn try_with<T>(&self, work: impl FnOnce(&mut Chain) -> T) -> Option<T> {
        if self
            .held
            .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            return None;
        }
        let mut chain = Chain {
            first: self.first.load(Ordering::Relaxed),
            last: self.last.load(Ordering::Relaxed),
            len: self.len.load(Ordering::Relaxed),
        };
        let result = work(&mut chain);
        self.first.store(chain.first, Ordering::Relaxed);
        self.last.store(chain.last, Ordering::Relaxed);
        self.len.store(chain.len, Ordering::Relaxed);
        self.held.store(false, Ordering::Release);
        Some(result)
    }
}

impl Table {
    /// A free slot that is now the caller's, out of its lane. None: the lane has none to spare.
    #[inline]
    pub(crate) fn take_own(&self, lane: &mut Lane) -> Option<u32> {
        if lane.freed.len > REUSE_DELAY {
            return lane.freed.pop(self);
        }
        if lane.next == lane.end {
            return None;
        }
        lane.next += 1;
        Some(lane.next - 1)
    }

    /// A free slot that is now the caller's.
    pub(crate) fn take(&self, lane: &mut Lane) -> Option<u32> {
        if let Some(own) = self.take_own(lane) {
            return Some(own);
        }
        if self.shared.len() > REUSE_DELAY && self.take_shared(lane) {
            return lane.freed.pop(self);
        }
        match self.take_group() {
            Some(first) => {
                (lane.next, lane.end) = (first + 1, first + GROUP);
                Some(first)
            }
            // Nothing fresh is to be had: now what was freed lately has to do.
            None => {
                if lane.freed.len == 0 {
                    self.take_shared(lane);
                }
                lane.freed.pop(self)
            }
        }
    }

    fn take_shared(&self, lane: &mut Lane) -> bool {
        let taken = self.shared.try_with(|chain| chain.split(self, BATCH));
        match taken {
            // In front of what the thread freed itself: it has waited longer.
            Some(mut batch) if batch.len != 0 => {
                batch.append(self, lane.freed);
                lane.freed = batch;
                true
            }
            _ => false,
        }
    }

    /// A slot that the caller has just freed waits in its queue.
    #[inline]
    pub(crate) fn put(&self, lane: &mut Lane, index: u32) {
        lane.freed.push(self, index);
        if lane.freed.len >= HAND_OVER {
            self.hand_over(lane);
        }
    }

    #[cold]
    fn hand_over(&self, lane: &mut Lane) -> bool {
        let done = self
            .shared
            .try_with(|chain| chain.append(self, lane.freed))
            .is_some();
        if done {
            lane.freed = Chain::EMPTY;
        }
        done
    }

    /// All of a lane goes to the shared queue.
    pub(crate) fn retire(&self, lane: &mut Lane) {
        for index in lane.next..lane.end {
            lane.freed.push(self, index);
        }
        lane.next = lane.end;
        while lane.freed.len != 0 && !self.hand_over(lane) {
            #[cfg(feature = "loom")]
            loom::thread::yield_now();
            #[cfg(not(feature = "loom"))]
            std::thread::yield_now();
        }
    }
}
