//! A processor: the right to run a green thread, and what belongs to it.
//!
//! # The slot
//! The thread that a carrier unparked last is in its processor's slot, and runs before those of the queue: it probably goes on with what is in
//! the caches, and two threads that wake each other in turn need no queue. No carrier is woken for it, since the unparking thread often parks at
//! once. Others do not steal it; if the carrier does not come to it within a tick while a processor is idle, the watcher moves it to the injector.
//!
//! # Invariants
//! * An id is taken out of the slot by an exchange, so it is taken once. Only the carrier puts one in.
//! * `current` and `slices` are written by the carrier that holds the processor; the watcher reads them as hints.
//! * A slice is what a processor runs between two times that it looks at its queue. Threads from the slot run in the slice of the thread before them,
//!   so that threads waking each other do not keep the others waiting for longer than a thread that does not stop.
use crate::local_queue::LocalQueue;
use crate::owner::OwnerWord;
use crate::stats::Counters;
use crate::sync::{
    AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
    Padded,
};

/// See the module.
#[derive(Debug)]
pub(crate) struct Processor {
    pub(crate) queue: LocalQueue,
    pub(crate) owner: Padded<OwnerWord>,
    slot: AtomicU32,
    /// The thread that runs, 0 if there is none.
    pub(crate) current: AtomicU32,
    /// Counts slices.
    pub(crate) slices: AtomicU32,
    pub(crate) counters: Counters,
}

impl Processor {
    /// An idle one.
    pub(crate) fn new() -> Processor {
        Processor {
            queue: LocalQueue::new(),
            owner: Padded(OwnerWord::new()),
            slot: AtomicU32::new(0),
            current: AtomicU32::new(0),
            slices: AtomicU32::new(0),
            counters: Counters::default(),
        }
    }
    /// The id in the slot, 0 if there is none.
    #[inline]
    pub(crate) fn slot(&self) -> u32 {
        self.slot.load(Relaxed)
    }
    /// Puts an id into the slot; the one that was there has to be put elsewhere.
    #[inline]
    pub(crate) fn fill_slot(&self, id: u32) -> Option<u32> {
        if self.slot() == 0 {
            // Nobody else fills it.
            self.slot.store(id, Release);
            return None;
        }
        Some(self.slot.swap(id, AcqRel)).filter(|id| *id != 0)
    }
    /// The carrier takes the id.
    #[inline]
    pub(crate) fn take_slot(&self) -> Option<u32> {
        if self.slot() == 0 {
            return None;
        }
        Some(self.slot.swap(0, AcqRel)).filter(|id| *id != 0)
    }
    /// The watcher takes the id that it has watched.
    pub(crate) fn flush_slot(&self, id: u32) -> bool {
        id != 0 && self.slot.compare_exchange(id, 0, AcqRel, Acquire).is_ok()
    }
    /// Has it a thread to run?
    pub(crate) fn has_work(&self) -> bool {
        self.slot() != 0 || !self.queue.is_empty()
    }
    /// The thread that runs from now on; whether a slice begins with it.
    #[inline]
    pub(crate) fn begin_run(&self, id: u32, slice: bool) {
        self.current.store(id, Relaxed);
        if slice {
            self.slices
                .store(self.slices.load(Relaxed).wrapping_add(1), Relaxed);
        }
    }
}
