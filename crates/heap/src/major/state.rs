//! The state of major collections.
//!
//! # Invariants
//! * `marking` changes while the world is stopped and the gate is shut.
//! * `goal`, `promoted` and `threshold` are written by the collector's thread in pauses or at the end of a cycle, and read as hints.
use super::marker::Marker;
use crate::major::peak::Peak;
use crate::memory::List;
use crate::space::BlockId;
use crate::threads::affinity::{AffinityGuard, ThreadAffinity};
use crate::threads::exclusive::{Borrowed, Exclusive};
use crate::threads::mark_stack::SharedMarkStack;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::*};
use vervet_os::LeafLock;

/// The state of major collections.
pub struct Major {
    /// From the initial to the final mark pause.
    pub(crate) marking: AtomicBool,
    /// Marked objects that any marker may scan.
    pub shared_stack: SharedMarkStack,
    /// What each marking worker owns.
    markers: Vec<Exclusive<Marker>>,
    /// Large tables of ephemerons that were born marked.
    pub(crate) born: LeafLock<List<usize>>,
    /// The size of the old generation, in bytes, at which the next cycle begins.
    pub threshold: AtomicUsize,
    /// The size of the old generation, in bytes, when the cycle began.
    pub(crate) goal: AtomicUsize,
    /// Unused bytes of the blocks that became old since then because some of their objects were pinned.
    pub(crate) sparse: AtomicUsize,
    /// How many blocks the program has used of late.
    pub(super) peak: Peak,
    /// The last cycle that the program itself has asked for: cycles up to it keep no memory for what was in use of late.
    pub(super) by_program: AtomicU32,
    /// What [`crate::stats::Stats::promoted`] was then.
    pub(super) promoted: AtomicU64,
    /// Tickets of the last cycle asked for, begun, and ended.
    pub(crate) asked: AtomicU32,
    pub(super) begun: AtomicU32,
    pub(crate) ended: AtomicU32,
    /// First blocks of the large objects that the last cycle found dead.
    pub(super) dead_large: LeafLock<List<BlockId>>,
    /// The collector's thread, once it runs.
    pub(super) collector: LeafLock<Option<std::thread::Thread>>,
    pub(super) affinity: ThreadAffinity,
}

impl Major {
    pub(crate) fn new(workers: usize, threshold: usize) -> io::Result<Major> {
        Ok(Major {
            marking: AtomicBool::new(false),
            shared_stack: SharedMarkStack::new()?,
            markers: (0..workers)
                .map(|_| Marker::new().map(Exclusive::new))
                .collect::<io::Result<_>>()?,
            born: LeafLock::new(List::new(1 << 24)?),
            threshold: AtomicUsize::new(threshold),
            goal: AtomicUsize::new(0),
            sparse: AtomicUsize::new(0),
            peak: Peak::default(),
            by_program: AtomicU32::new(0),
            promoted: AtomicU64::new(0),
            asked: AtomicU32::new(0),
            begun: AtomicU32::new(0),
            ended: AtomicU32::new(0),
            dead_large: LeafLock::new(List::new(1 << 24)?),
            collector: LeafLock::new(None),
            affinity: ThreadAffinity::new(),
        })
    }
    /// Borrows what the marker of that number owns.
    pub(crate) fn marker(&self, index: usize) -> Borrowed<'_, Marker> {
        self.markers[index].borrow()
    }
    /// Does marking run?
    #[inline]
    pub fn is_marking(&self) -> bool {
        self.marking.load(Acquire)
    }
    /// Has a cycle finished marking, but not sweeping?
    pub(crate) fn is_sweeping(&self) -> bool {
        self.begun.load(Relaxed) != self.ended.load(Relaxed) && !self.is_marking()
    }
    /// In a pause: keeps the collector's thread, if it has work, off the processor of the thread that collects.
    pub(crate) fn avoid_current_processor(&self) -> Option<AffinityGuard> {
        let works = self.asked.load(Relaxed) != self.ended.load(Relaxed);
        works
            .then(|| self.affinity.avoid_current_processor())
            .flatten()
    }
    /// Major collections that have ended.
    pub fn count(&self) -> u32 {
        self.ended.load(Acquire)
    }

    /// Records a large table of ephemerons that was born marked: no marker will meet it.
    pub(crate) fn table_born(&self, table: usize) {
        self.born.lock().push(table);
    }
    /// Moves the tables recorded since marking began to a list.
    pub(crate) fn take_born(&self, to: &mut List<usize>) {
        let mut born = self.born.lock();
        while let Some(table) = born.pop() {
            to.push(table);
        }
    }
}
