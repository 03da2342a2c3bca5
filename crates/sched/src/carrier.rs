//! A carrier as its own thread sees it, and its seat: the word by which others give it a processor.
//!
//! ```text
//!   place      the carrier                                        becomes
//!   ---------  -------------------------------------------------  --------------------------------------------------------------
//!   Holds p    runs threads, or looks for one, with processor p   Native, Sleeping, Polling, None
//!   Native     is in a native call; p may be retaken              Holds p, or None if p was retaken
//!   None       has no processor, and nobody gives it one          Holds p (takes an idle one), Sleeping
//!   Sleeping   is listed as idle; sleeps on its seat              Holds p, when its seat says which
//!   Polling    is listed as the poller; waits for descriptors     Holds p, by its seat or by itself; Sleeping
//! ```
//!
//! # Invariants
//! * A [`Carrier`] is the proof that its thread may act as that carrier: it is made once for an id, is moved to the OS thread, and is not copied.
//! * The seat is empty but for a carrier that was listed as idle (or that waits in [`Scheduler::wait_for_hand`](crate::Scheduler::wait_for_hand)).
//!   Whoever takes the carrier off the list fills the seat, once.
use crate::owner::NativeCall;
use crate::spin_budget::SpinBudget;
use crate::sync::{
    AtomicU32,
    Ordering::{Acquire, Release},
};
use crate::table::{Table, Zeroed};

/// Carriers have ids below this.
pub(crate) const MAX_CARRIERS: u32 = 1 << 16;

/// Where a carrier is. See the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    Holds(u32),
    Native(u32, NativeCall),
    None,
    Sleeping,
    Polling,
}

/// An OS thread that runs green threads. See the module.
#[derive(Debug)]
pub struct Carrier {
    pub(crate) id: u32,
    pub(crate) place: Place,
    /// Is it counted as searching?
    pub(crate) searching: bool,
    /// A thread that is to run at once, because it was unparked before it was parked; 0: none.
    pub(crate) resume: u32,
    /// Counts the threads that it ran.
    pub(crate) count: u32,
    /// The tick in which it last looked at what it looks at once a tick.
    pub(crate) seen: u64,
    /// How many threads in succession came from the slot.
    pub(crate) slot_runs: u32,
    /// Its queue is long, and there are threads in the injector.
    pub(crate) crowded: bool,
    /// Counts its native calls.
    pub(crate) calls: u64,
    /// Its processor was retaken from its last native call, and nobody has been told.
    pub(crate) retaken: bool,
    /// The processor that it held last.
    pub(crate) last: u32,
    /// How long it looks at descriptors before it rests.
    pub(crate) spin_budget: SpinBudget,
    random: u32,
}

impl Carrier {
    /// Does it hold a processor, which no other carrier can take?
    pub fn has_processor(&self) -> bool {
        matches!(self.place, Place::Holds(_))
    }
    /// A carrier that is about to hold a processor.
    pub(crate) fn new(id: u32, place: Place, searching: bool) -> Carrier {
        Carrier {
            id,
            place,
            searching,
            resume: 0,
            count: id,
            seen: 0,
            slot_runs: 0,
            crowded: false,
            calls: 0,
            retaken: false,
            last: 0,
            spin_budget: SpinBudget::new(),
            // Not 0, and different for each carrier.
            random: id.wrapping_mul(0x9E37_79B9) | 1,
        }
    }
    /// Its number, from 1.
    pub fn id(&self) -> u32 {
        self.id
    }
    /// The processor that it holds.
    pub fn processor(&self) -> Option<u32> {
        match self.place {
            Place::Holds(p) => Some(p),
            _ => None,
        }
    }
    /// Was the processor retaken from the native call that has ended? Says so once.
    #[inline]
    pub fn take_retaken(&mut self) -> bool {
        std::mem::take(&mut self.retaken)
    }
    /// The next number of a row that never has 0 (xorshift).
    pub(crate) fn random(&mut self) -> u32 {
        let mut r = self.random;
        r ^= r << 13;
        r ^= r >> 17;
        r ^= r << 5;
        self.random = r;
        r
    }
}

/// What a seat holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Gift {
    /// A processor; whether the carrier is counted as searching.
    Processor(u32, bool),
    /// The scheduler has stopped.
    Stop,
}
const SEARCHING: u32 = 1 << 31;
const STOP: u32 = u32::MAX;

/// The word on which a carrier sleeps: 0, or a [`Gift`].
///
/// ```text
///   0                    empty: the carrier sleeps, or does not look
///   p + 1                processor p
///   p + 1 + SEARCHING    processor p, and the carrier is counted as searching
///   STOP                 the OS thread is to end
/// ```
#[derive(Default, Debug)]
pub(crate) struct Seat(AtomicU32);
#[expect(unsafe_code, reason = "promises that zeros are a value")]
// SAFETY: an atomic of zero, which needs no drop.
unsafe impl Zeroed for Seat {}

impl Seat {
    /// Fills the empty seat. The carrier is to be woken.
    pub(crate) fn give(&self, gift: Gift) {
        let word = match gift {
            Gift::Processor(p, searching) => (p + 1) | if searching { SEARCHING } else { 0 },
            Gift::Stop => STOP,
        };
        debug_assert!(!self.is_given(), "a seat is filled twice");
        self.0.store(word, Release);
    }
    /// The carrier takes what was given.
    ///
    /// Two steps, not an exchange: between them nobody else writes, because a seat is filled only for a listed carrier, and this one is listed again
    /// only after it has emptied its seat.
    pub(crate) fn take(&self) -> Option<Gift> {
        let gift = match self.0.load(Acquire) {
            0 => return None,
            STOP => Gift::Stop,
            word => Gift::Processor((word & !SEARCHING) - 1, word & SEARCHING != 0),
        };
        self.0.store(0, Release);
        Some(gift)
    }
    /// Is there something?
    pub(crate) fn is_given(&self) -> bool {
        self.0.load(Acquire) != 0
    }
    /// What the carrier sleeps on, while it holds 0.
    pub(crate) fn futex(&self) -> &AtomicU32 {
        &self.0
    }
}

/// The seats of all carriers.
pub(crate) type Seats = Table<Seat>;
