//! The bits of an old block beside its sweeper: which objects of it are live.
//!
//! # How it works
//! While a block is unswept its live objects are those with `start` and `mark` bits; once it is swept they are those with `start` bits.
//! One sweeper goes from the one to the other ([`sweep`]) while any number of readers ask ([`CardBits::live_starts`]): those who clean
//! cards, who look conservatively, and who fill holes. Who fills the holes of a block was handed it by the sweeper, under a lock, and is alone in
//! setting `start` bits there.
//!
//! # Invariants
//! * The sweeper takes the bits of the dead out of `start`, then stores `unswept = 0` with release, then clears `mark` with release. After that
//!   the block's `mark` bits stay clear until the next cycle, and its `start` bits are only added to.
//! * A reader looks at `unswept` before anything else. If it is 0, the `start` bits it loads afterwards are swept ones. If it is not, the reader
//!   loads both words and looks at `unswept` again. `mark` bits that were cleared carry the 0 with them; so if `unswept` is still 1 both words are
//!   of the unswept block (or `start` is swept already, which gives the same), and if it is 0 now, `start` is loaded anew.
//! * So what a reader gets are the live objects, and none that was dead when marking ended: not even if the block was swept, and its holes filled,
//!   between any two of its loads. Objects that are put into holes meanwhile may be missing, but for those whose card mark the reader
//!   has taken ([`crate::space::card_marks`]).
//! * `unswept` becomes 1, and `start` is made from `mark`, in stops only, behind the gate.
//!
//! The models of this file and its neighbours are in `tests/models.rs`.
use crate::sync::{AtomicU8, AtomicU64, Ordering::*};
use vervet_os::perturb;

/// The words of one card of a block, and the byte of the block that says how to read them.
#[derive(Clone, Copy)]
pub struct CardBits<'s> {
    /// 1: the `start` bits of the block include dead objects.
    pub unswept: &'s AtomicU8,
    /// Where objects begin.
    pub start: &'s AtomicU64,
    /// Which of them were reached.
    pub mark: &'s AtomicU64,
}

impl CardBits<'_> {
    /// The `start` bits of live objects.
    #[inline(always)]
    pub fn live_starts(self) -> u64 {
        let swept = || self.unswept.load(Acquire) == 0;
        if swept() {
            return self.start.load(Acquire);
        }
        let start = self.start.load(Acquire);
        perturb::at_times();
        let live = start & self.mark.load(Acquire);
        perturb::at_times();
        if swept() {
            self.start.load(Acquire)
        } else {
            live
        }
    }
    /// In a stop, in a block that is not old yet: the marked objects are all that begin here. Their bits; they stay marked if asked.
    pub fn start_at_marks(self, keep: bool) -> u64 {
        let bits = self.mark.load(Relaxed);
        self.start.store(bits, Relaxed);
        if !keep {
            self.mark.store(0, Relaxed);
        }
        bits
    }
}

/// Complete objects begin there. Nobody else sets `start` bits of the card meanwhile.
#[inline(always)]
pub fn add_starts(start: &AtomicU64, bits: u64) {
    start.store(start.load(Relaxed) | bits, Release);
}

/// Forgets the dead objects of an unswept block, of which these are all cards. One thread sweeps; nobody sets bits of the block meanwhile.
pub fn sweep<'s>(unswept: &AtomicU8, cards: impl Iterator<Item = CardBits<'s>> + Clone) {
    for card in cards.clone() {
        let live = card.start.load(Relaxed) & card.mark.load(Relaxed);
        card.start.store(live, Relaxed);
    }
    perturb::here();
    unswept.store(0, Release);
    perturb::here();
    for card in cards {
        card.mark.store(0, Release);
    }
}
