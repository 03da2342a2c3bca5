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

/// What is kept of one kind beside the slots.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct State {
    /// The next group to be given out.
    fresh: AtomicU32,
    /// Groups whose memory is writable.
    committed: AtomicU32,
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

/// A slot.
#[derive(Clone, Copy)]
pub(crate) struct Slot<'t> {
    pub(crate) word: &'t AtomicUsize,
    pub(crate) side: &'t AtomicU32,
    young: &'t AtomicU8,
}

impl Slot<'_> {
    /// A reference was stored. Tested first, because the bytes of 64 groups share a cache line.
    #[inline]
    pub(crate) fn note_young(self) {
        if self.young.load(Ordering::Relaxed) == 0 {
            self.young.store(1, Ordering::Relaxed);
        }
    }
    pub(crate) fn may_be_young(self) -> bool {
        self.young.load(Ordering::Relaxed) != 0
    }
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

    pub(crate) fn shared(&self) -> &'t Shared {
        &self.state.shared
    }

    /// Groups given out so far.
    pub(crate) fn groups(&self) -> u32 {
        self.state.fresh.load(Ordering::Acquire)
    }

    /// Takes a group nobody has had; its first index. None: no memory or no indices left.
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
