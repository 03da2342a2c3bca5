//! The bits of an old block beside its sweeper: which of its objects are live.
//!
//! # How it works
//! While a block is unswept its live objects are those with `start` and `mark` bits; once it is swept they are those with `start` bits. One
//! sweeper makes that step ([`sweep`]) while any number of readers ask ([`CardBits::live_starts`]): workers that clean cards, threads that
//! resolve conservative references, and allocators that fill holes.
//!
//! ```text
//!   step   sweeper                           unswept  start          mark       a reader returns
//!   ----   -------------------------------   -------  -------------  ---------  ------------------------------
//!    0     (the final mark pause has ended)     1     live and dead  live       start & mark
//!    1     start &= mark, card by card          1     live           live       start & mark, the same set
//!    2     unswept = 0 (release)                0     live           live       start
//!    3     mark = 0 (release), card by card     0     live           0          start
//!    4     an allocator fills the holes         0     live and new   0          start
//! ```
//!
//! # Invariants
//! * After step 3 the block's `mark` bits stay clear until the next cycle, and its `start` bits are only added to.
//! * A reader loads `unswept` first. If it is 0, the `start` bits it loads afterwards are swept ones. Otherwise the reader loads both words
//!   and `unswept` once more. If it saw a cleared `mark` word, the release of step 3 carries the 0 of step 2, so the second load finds it and
//!   the reader loads `start` anew. If `unswept` is still 1, both words are of steps 0 or 1, which give the same set.
//! * So a reader gets live objects, and none that was dead when marking ended, even if the block was swept and its holes were filled between
//!   any two of its loads. Objects that are put into holes meanwhile may be missing, except those whose card mark the reader has taken
//!   ([`crate::space::card_marks`]).
//! * The allocator that fills the holes of a block got the block from the sweeper under a lock, and is the only thread that sets `start`
//!   bits there.
//! * `unswept` becomes 1, and `start` is made from `mark`, only in pauses with the gate shut.
//!
//! `tests/models.rs` has the loom models of this file and its neighbours.
use crate::sync::{AtomicU8, AtomicU64, Ordering::*};
use vervet_os::perturb;

/// The words of one card of a block, and the byte of the block that says how to read them.
#[derive(Clone, Copy)]
pub struct CardBits<'s> {
    /// 1 while the `start` bits of the block include dead objects.
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
    /// In a pause, in a block that is not old yet: makes the `mark` bits the `start` bits, and clears them unless `keep`. Returns them.
    pub fn start_at_marks(self, keep: bool) -> u64 {
        let bits = self.mark.load(Relaxed);
        self.start.store(bits, Relaxed);
        if !keep {
            self.mark.store(0, Relaxed);
        }
        bits
    }
}

/// Adds the `start` bits of complete objects. No other thread sets `start` bits of the card meanwhile.
#[inline(always)]
pub fn add_starts(start: &AtomicU64, bits: u64) {
    start.store(start.load(Relaxed) | bits, Release);
}

/// Clears the bits of dead objects of an unswept block; `cards` are all its cards. One thread sweeps a block, and no other changes bits of it
/// meanwhile.
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
