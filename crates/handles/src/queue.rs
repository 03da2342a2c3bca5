//! Queues of free slots: one lane of each kind in each thread's hint, and one shared queue of each kind.
//!
//! ```text
//!   a lane's ring; positions count up for ever, and wrap
//!     first          ready                    end
//!      v              v                        v
//!      | may be taken | freed lately: waiting  | unused ...
//!      take: first += 1                          put: ring[end] = slot, end += 1
//!   a ring that is full moves BATCH slots from its front to the shared queue, or to `over` while another thread holds that
//! ```
//!
//! # Invariants
//! * Queues are first in, first out, so a freed slot is not reused at once. A slot is in at most one queue.
//! * A lane belongs to one thread, and is a ring of indices: taking and putting touch the ring only, not the slot.
//! * The shared queue is a chain through the side words of its slots. It belongs to the thread that holds its flag. A thread that does not get the
//!   flag does without: it takes a fresh group, or keeps the slots that it would hand over on the side ([`Lane::over`]). Only a thread that ends
//!   waits for the flag.
//! * Links are stored with release after the slot was freed. So a thread that reads a link where it expected a domain sees that the slot was
//!   freed, and reads again ([`Tables::domain`](crate::Tables::domain)).
use crate::memory::*;
use crate::table::Table;

/// A thread's slots in waiting. Made with the thread, given back by [`Tables::retire`](crate::Tables::retire).
#[derive(Debug)]
#[repr(C)]
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
    /// Lanes that are empty for who makes a handle and full for who frees one. Generated code that has them instead of a thread's own makes and frees
    /// nothing itself.
    pub const fn barren() -> Hint {
        const BARREN: Lane = Lane {
            end: ROOM - 1,
            ..Lane::new()
        };
        Hint { lanes: [BARREN; 4] }
    }
}
impl Default for Hint {
    fn default() -> Self {
        Hint::new()
    }
}

/// A thread's slots of one kind. Positions count up for ever and wrap; the ring is indexed by their low bits.
/// Generated code knows the layout ([`layout`](crate::layout)).
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Lane {
    /// Position of the first slot.
    pub(crate) first: u32,
    /// Position of the first slot that may not be taken yet.
    pub(crate) ready: u32,
    /// Position behind the last slot.
    pub(crate) end: u32,
    /// Indices of free slots.
    pub(crate) ring: [u32; ROOM as usize],
    /// Slots for which the ring had no space while another thread held the shared queue.
    over: Chain,
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
            first: 0,
            ready: 0,
            end: 0,
            ring: [0; ROOM as usize],
            over: Chain::EMPTY,
        }
    }
    #[inline]
    fn at(&mut self, position: u32) -> &mut u32 {
        &mut self.ring[(position % ROOM) as usize]
    }
    fn len(&self) -> u32 {
        self.end.wrapping_sub(self.first)
    }
    /// Takes a slot that may be reused, if there is one.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<u32> {
        if self.first == self.ready {
            return None;
        }
        let index = *self.at(self.first);
        self.first = self.first.wrapping_add(1);
        Some(index)
    }
    /// Adds `count` slots in front, because they have waited longer than the lane's own or were never used. They may be taken at once; the slots
    /// that were in front before wait with the rest.
    fn prepend(&mut self, count: u32, slots: impl Iterator<Item = u32>) {
        debug_assert!(self.len() + count <= ROOM);
        self.first = self.first.wrapping_sub(count);
        self.ready = self.first.wrapping_add(count);
        let mut position = self.first;
        for index in slots {
            *self.at(position) = index;
            position = position.wrapping_add(1);
        }
        debug_assert_eq!(position, self.ready);
    }
}

impl Chain {
    /// A chain without slots.
    const EMPTY: Chain = Chain {
        first: 0,
        last: 0,
        len: 0,
    };

    /// Links another chain behind this one.
    fn append(&mut self, table: &Table<'_>, more: Chain) {
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
    /// Links one slot behind this chain.
    fn push(&mut self, table: &Table<'_>, index: u32) {
        self.append(
            table,
            Chain {
                first: index,
                last: index,
                len: 1,
            },
        );
    }
    /// Takes the first slot.
    fn pop(&mut self, table: &Table<'_>) -> Option<u32> {
        self.len = self.len.checked_sub(1)?;
        let index = self.first;
        if self.len != 0 {
            self.first = link(table, index).load(Ordering::Relaxed);
        }
        Some(index)
    }
}

/// The link of a free slot: its side word.
#[inline]
fn link<'t>(table: &Table<'t>, index: u32) -> &'t AtomicU32 {
    table.slot(index).side
}

/// The queue of slots handed over by threads that end or have many.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Shared {
    /// The flag: a thread holds the queue.
    held: AtomicBool,
    /// The chain. It is read and written by the holder; `len` also by others, as a hint.
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

    /// How many slots it had at some moment: a hint, read without the flag.
    fn len(&self) -> u32 {
        self.len.load(Ordering::Relaxed)
    }

    /// Runs `work` on the queue, if no other thread holds it. The acquire of the flag pairs with the release at the end, so the thread sees the links
    /// that the last holder stored.
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

impl Table<'_> {
    /// A free slot, which the caller owns from now on. None: there is no memory, or every slot is in use or in another thread's lane.
    pub(crate) fn take(&self, lane: &mut Lane) -> Option<u32> {
        if let Some(own) = lane.take() {
            return Some(own);
        }
        self.refill(lane);
        lane.take()
    }

    /// Finds slots that may be taken, for a lane that has none. In this order: its own that have waited long enough, those it kept on the side, the
    /// shared queue if that is long, a fresh group, and at last slots that were freed lately.
    #[cold]
    fn refill(&self, lane: &mut Lane) {
        if lane.len() >= REUSE_DELAY + GROUP {
            lane.ready = lane.end.wrapping_sub(REUSE_DELAY);
        } else if lane.over.len != 0 {
            let mut over = std::mem::replace(&mut lane.over, Chain::EMPTY);
            self.prepend_some(lane, &mut over);
            lane.over = over;
        } else if self.shared().len() > REUSE_DELAY && self.take_shared(lane) {
        } else if let Some(first) = self.take_group() {
            lane.prepend(GROUP, first..first + GROUP);
        } else if lane.len() != 0 || self.take_shared(lane) {
            // There are no fresh slots: those that were freed lately must do.
            lane.ready = lane.end;
        }
    }

    /// Moves the first slots of a chain, at most a batch, to the front of the lane.
    fn prepend_some(&self, lane: &mut Lane, chain: &mut Chain) {
        let count = chain.len.min(BATCH);
        lane.prepend(count, (0..count).map_while(|_| chain.pop(self)));
    }

    /// Moves slots of the shared queue to the lane. False: another thread holds the queue.
    fn take_shared(&self, lane: &mut Lane) -> bool {
        self.shared()
            .try_with(|chain| self.prepend_some(lane, chain))
            .is_some()
    }

    /// Puts a slot that the caller has just freed at the end of its lane.
    #[inline]
    pub(crate) fn put(&self, lane: &mut Lane, index: u32) {
        *lane.at(lane.end) = index;
        lane.end = lane.end.wrapping_add(1);
        if lane.len() == ROOM {
            self.make_room(lane);
        }
    }

    /// The ring is full: moves a batch of its oldest slots to the shared queue, or keeps them on the side.
    #[cold]
    fn make_room(&self, lane: &mut Lane) {
        self.move_over(lane, BATCH);
        self.hand_over(lane);
    }

    /// Moves the first `count` slots of the ring to the chain on the side.
    fn move_over(&self, lane: &mut Lane, count: u32) {
        let has_ready = lane.ready.wrapping_sub(lane.first);
        for _ in 0..count {
            let index = *lane.at(lane.first);
            lane.first = lane.first.wrapping_add(1);
            lane.over.push(self, index);
        }
        if has_ready < count {
            lane.ready = lane.first;
        }
    }

    /// Moves the chain on the side to the shared queue. False: another thread holds that.
    fn hand_over(&self, lane: &mut Lane) -> bool {
        let done = self
            .shared()
            .try_with(|chain| chain.append(self, lane.over))
            .is_some();
        if done {
            lane.over = Chain::EMPTY;
        }
        done
    }

    /// Moves all slots of a lane to the shared queue. The thread that ends waits for the flag, which is held for a few instructions only.
    pub(crate) fn retire(&self, lane: &mut Lane) {
        self.move_over(lane, lane.len());
        while lane.over.len != 0 && !self.hand_over(lane) {
            #[cfg(feature = "loom")]
            loom::thread::yield_now();
            #[cfg(not(feature = "loom"))]
            std::thread::yield_now();
        }
    }
}
