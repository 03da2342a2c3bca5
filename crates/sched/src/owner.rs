//! The word that says who holds a processor.
//!
//! ```text
//!   state            meaning                                           changes to
//!   ---------------  ------------------------------------------------  -----------------------------------------------------------
//!   FREE             nobody runs threads with it: it is idle, or is    RUNNING c, by the carrier c that it is given to
//!                    being given to a carrier
//!   RUNNING c        carrier c holds it                                NATIVE c n, by c, before a call that may block
//!                                                                      FREE, by c, when c rests or hands it over
//!   NATIVE c n       c is in its n-th native call; c holds the         RUNNING c, by c, when it comes back
//!                    processor only until somebody retakes it          FREE, by the watcher, which retakes it
//!   COMPUTING c n    NATIVE, and c computes there                      as NATIVE; it is retaken later
//! ```
//!
//! # Invariants
//! * Of c coming back and the watcher retaking exactly one succeeds: both exchange the same word.
//! * The number of the call makes every stay in native code another word. So the watcher retakes the call that it has watched and no later
//!   one, and c comes back to no processor that was retaken from it and has been given to c's successor.
//! * Who makes the word FREE holds the processor from then on (its queue, slot and wheel), and gives it to somebody or lists it as idle. The
//!   release and acquire of the word hand over what the last holder wrote there.
use crate::sync::{
    AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

/// No state has this word otherwise.
const FREE: u64 = 0;
const RUNNING: u64 = 1;
const NATIVE: u64 = 2;
/// As [`NATIVE`], for a call that computes.
const COMPUTING: u64 = 3;
/// The state, then the carrier, then the number of the call.
const CARRIER_SHIFT: u32 = 2;
const CARRIER_BITS: u32 = 22;
const CALL_SHIFT: u32 = CARRIER_SHIFT + CARRIER_BITS;

/// Who holds a processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    /// Nobody.
    Free,
    /// That carrier.
    Running(u32),
    /// A carrier that is in a native call, which may be retaken by [`OwnerWord::retake`].
    Native(NativeCall),
}

/// One stay of a carrier in native code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NativeCall(u64);
impl NativeCall {
    /// Does it compute? It is retaken later.
    pub(crate) fn computes(self) -> bool {
        self.0 & 3 == COMPUTING
    }
    /// Whose call it is.
    pub(crate) fn carrier(self) -> u32 {
        carrier_of(self.0)
    }
}
fn carrier_of(word: u64) -> u32 {
    (word >> CARRIER_SHIFT) as u32 & ((1 << CARRIER_BITS) - 1)
}

/// See the module.
#[derive(Debug)]
pub(crate) struct OwnerWord(AtomicU64);

impl OwnerWord {
    /// Of a processor that is idle.
    pub(crate) fn new() -> OwnerWord {
        OwnerWord(AtomicU64::new(FREE))
    }
    /// Who holds it now.
    pub(crate) fn get(&self) -> Owner {
        let word = self.0.load(Acquire);
        match word & 3 {
            FREE => Owner::Free,
            RUNNING => Owner::Running(carrier_of(word)),
            _ => Owner::Native(NativeCall(word)),
        }
    }
    /// The carrier to whom it was given begins to hold it.
    pub(crate) fn begin(&self, carrier: u32) {
        self.0
            .store(RUNNING | u64::from(carrier) << CARRIER_SHIFT, Relaxed);
    }
    /// The carrier that holds it gives it up.
    pub(crate) fn end(&self) {
        self.0.store(FREE, Release);
    }
    /// The carrier that holds it begins its native call of that number.
    #[inline]
    pub(crate) fn enter_native(&self, carrier: u32, number: u64) -> NativeCall {
        self.enter(NATIVE, carrier, number)
    }
    /// As [`OwnerWord::enter_native`], for a call that computes.
    #[inline]
    pub(crate) fn enter_computing(&self, carrier: u32, number: u64) -> NativeCall {
        self.enter(COMPUTING, carrier, number)
    }
    fn enter(&self, state: u64, carrier: u32, number: u64) -> NativeCall {
        let word = state | u64::from(carrier) << CARRIER_SHIFT | number << CALL_SHIFT;
        // A store, since nobody else writes the word of a processor in use. The release hands queue and slot to whoever retakes it.
        self.0.store(word, Release);
        NativeCall(word)
    }
    /// The carrier comes back from the call. True: it holds the processor as before. False: that was retaken.
    #[inline]
    pub(crate) fn leave_native(&self, call: NativeCall) -> bool {
        let running = call.0 & ((1 << CALL_SHIFT) - 1) & !3 | RUNNING;
        self.0
            .compare_exchange(call.0, running, AcqRel, Relaxed)
            .is_ok()
    }
    /// Takes it from a carrier that is in that call. False: the carrier has come back.
    pub(crate) fn retake(&self, call: NativeCall) -> bool {
        self.0
            .compare_exchange(call.0, FREE, AcqRel, Relaxed)
            .is_ok()
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_retaken_or_comes_back() {
        let word = OwnerWord::new();
        assert_eq!(word.get(), Owner::Free);
        word.begin(5);
        assert_eq!(word.get(), Owner::Running(5));
        let first = word.enter_native(5, 1);
        assert_eq!(word.get(), Owner::Native(first));
        assert!(word.leave_native(first));
        assert_eq!(word.get(), Owner::Running(5));
        // The watcher watched the first call; it does not retake the second.
        let second = word.enter_native(5, 2);
        assert!(!word.retake(first));
        assert!(word.retake(second));
        word.begin(6);
        assert!(!word.leave_native(second));
        // The successor's call is not the first carrier's.
        let other = word.enter_native(6, 2);
        assert!(!word.leave_native(second));
        assert!(word.leave_native(other));
        assert_eq!(word.get(), Owner::Running(6));
    }
}
