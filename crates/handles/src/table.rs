//! The table of one kind: its slots, and how fresh groups are handed out.
//!
//! # Invariants
//! * Groups below `fresh` were handed out, each once, and their memory is writable: [`Row::commit`] comes before the compare-and-swap that hands
//!   a group out.
//! * `committed` is a lower bound of what is writable. It is raised after the system call, so a thread that reads an old value makes the call
//!   again, which is harmless.
use crate::memory::*;
use crate::queue::Shared;
use vervet_os::perturb;

/// What is kept of one kind beside its slots. It has a cache line of its own, so kinds do not disturb each other.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct State {
    /// The next group to be given out.
    fresh: AtomicU32,
    /// Groups whose memory is writable.
    committed: AtomicU32,
    /// Free slots that threads have handed over.
    shared: Shared,
}

impl State {
    #[cfg(not(feature = "loom"))]
    pub(crate) const fn new() -> State {
        State {
            fresh: AtomicU32::new(0),
            committed: AtomicU32::new(0),
            shared: Shared::new(),
        }
    }
    #[cfg(feature = "loom")]
    pub(crate) fn new() -> State {
        State {
            fresh: AtomicU32::new(0),
            committed: AtomicU32::new(0),
            shared: Shared::new(),
        }
    }
}

/// The slots of one kind and what is kept of them.
#[derive(Clone, Copy)]
pub(crate) struct Table<'t> {
    pub(crate) row: Row<'t>,
    pub(crate) state: &'t State,
}

/// A slot: its word, its side word, and the byte of its group.
#[derive(Clone, Copy)]
pub(crate) struct Slot<'t> {
    pub(crate) word: &'t AtomicUsize,
    pub(crate) side: &'t AtomicU32,
    young: &'t AtomicU8,
}

impl Slot<'_> {
    /// A reference was stored: the group may hold young objects. The byte is tested first, because the bytes of 64 groups share a cache line, which
    /// threads would take from each other. Relaxed is enough: the collector reads it after it has stopped this thread.
    #[inline]
    pub(crate) fn note_young(self) {
        if self.young.load(Ordering::Relaxed) == 0 {
            self.young.store(1, Ordering::Relaxed);
        }
    }
    /// May the group hold a young object? Read with the world stopped.
    pub(crate) fn may_be_young(self) -> bool {
        self.young.load(Ordering::Relaxed) != 0
    }
    /// A visit has found out whether the group holds a young object.
    pub(crate) fn set_young(self, young: bool) {
        self.young.store(u8::from(young), Ordering::Relaxed);
    }
}

impl<'t> Table<'t> {
    /// The slot with that index, which can be written to if it is in use or the caller's.
    #[inline]
    pub(crate) fn slot(&self, index: u32) -> Slot<'t> {
        Slot {
            word: self.row.word(index),
            side: self.row.side(index),
            young: self.row.young(index),
        }
    }

    /// The shared queue of free slots.
    pub(crate) fn shared(&self) -> &'t Shared {
        &self.state.shared
    }

    /// Groups given out so far.
    pub(crate) fn groups(&self) -> u32 {
        self.state.fresh.load(Ordering::Acquire)
    }

    /// Takes a group that no thread has had. Returns its first index. None: there is no memory, or no index is left.
    pub(crate) fn take_group(&self) -> Option<u32> {
        let State {
            fresh, committed, ..
        } = self.state;
        let mut group = fresh.load(Ordering::Relaxed);
        loop {
            if group >= self.row.slots() / GROUP {
                return None;
            }
            // The memory comes first: a group whose memory cannot be had is not given out.
            self.row.commit(group, committed)?;
            match fresh.compare_exchange_weak(group, group + 1, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => {
                    perturb::here();
                    return Some(group * GROUP);
                }
                Err(now) => group = now,
            }
        }
    }
}
