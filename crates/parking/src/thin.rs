//! The thin lock: the states of a sync word that names no monitor (`vervet_abi::object::sync_word`).
//!
//! ```text
//!   state      kind bits   rest of the word                 what changes it
//!   ---------  ----------  -------------------------------  ------------------------------------------------------------------
//!   free       thin        0                                enter (to thin), hash (to hash), inflate (to fat)
//!   thin       thin        owner's id | times entered - 1   enter and exit of the owner; inflate by any thread (to fat)
//!   hash       hash        identity hash                    inflate (to fat): a lock and a hash need a monitor
//!   fat        fat         index of a monitor               the collector, if the monitor is idle (to free or hash)
//!
//!            enter                 enter, up to 255 times
//!   free --------------> thin -------------------------> thin, entered more often
//!    |  <-------------- /   \ <-------------------------
//!    |        exit           \          exit
//!    | hash                   \ contention, hash, wait, 256th recursion
//!    v                         v
//!   hash --- enter ---------> fat --- the world is stopped, no owner, no users ---> free or hash
//! ```
//!
//! # All transitions
//! | from | step | to | by |
//! |---|---|---|---|
//! | free | enter | thin, count 0 | any thread, which owns it then |
//! | free | hash is asked for | hash | any thread |
//! | thin | enter, count below 255 | thin, count + 1 | the owner |
//! | thin | enter, count 255 | fat, entered 257 times | the owner |
//! | thin | exit, count above 0 | thin, count - 1 | the owner |
//! | thin | exit, count 0 | free | the owner |
//! | thin | enter | fat, same owner and count; the thread then queues itself | another thread |
//! | thin | hash is asked for, wait | fat, same owner and count | any thread; wait: the owner |
//! | hash | enter | fat, with the hash and the new owner | any thread |
//! | fat | every step of a lock | fat: the monitor changes, the word does not | |
//! | fat | idle, no hash | free | the collecting thread, world stopped |
//! | fat | idle, with a hash | hash | the collecting thread, world stopped |
//!
//! A step that finds another state than it expected (`Other`) is tried again from the state that it found. No step goes from thin to hash: the owner
//! would lose its lock.
//!
//! # Invariants
//! * The word changes by compare-and-swap only. Its owner leaves by compare-and-swap too, because any thread may inflate the lock meanwhile.
//! * A thread that inflates copies the state out of the very word that it replaces ([`state`]). So an owner that comes to leave and finds the word
//!   changed finds its own state in the monitor.
use crate::sync::{AtomicU32, Ordering};
use vervet_abi::object::sync_word::*;

/// What came of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The lock changed hands: it was free and is the thread's, or was the thread's and is free.
    Changed,
    /// The thread has it once more, or once less.
    Counted,
    /// Nothing was done: the word says something else.
    Other(u32),
}

/// Enters if the lock is free or the thread's own, and was entered less than 256 times. The acquire side of the exchange pairs with the release
/// of the thread that left.
pub fn enter(word: &AtomicU32, me: u32) -> Step {
    loop {
        let v = word.load(Ordering::Acquire);
        let (next, step) = match v & KIND_MASK {
            _ if v == 0 => (me << OWNER_SHIFT, Step::Changed),
            KIND_THIN if v >> OWNER_SHIFT == me && v & RECURSION_MASK != RECURSION_MASK => {
                (v + (1 << RECURSION_SHIFT), Step::Counted)
            }
            _ => return Step::Other(v),
        };
        if exchange(word, v, next) {
            return step;
        }
    }
}

/// Leaves once if the lock is thin and the thread's own. Release: the next owner sees what this one did.
pub fn exit(word: &AtomicU32, me: u32) -> Step {
    loop {
        let v = word.load(Ordering::Acquire);
        let (next, step) = match v & KIND_MASK {
            KIND_THIN if v != 0 && v >> OWNER_SHIFT == me => match v & RECURSION_MASK {
                0 => (0, Step::Changed),
                _ => (v - (1 << RECURSION_SHIFT), Step::Counted),
            },
            _ => return Step::Other(v),
        };
        if exchange(word, v, next) {
            return step;
        }
    }
}

/// The state with which a monitor begins that replaces the word: owner, how often it has entered, hash. None if the word names a monitor.
pub fn state(v: u32) -> Option<(u32, u32, u32)> {
    match v & KIND_MASK {
        KIND_FAT => None,
        KIND_HASH => Some((0, 0, v >> PAYLOAD_SHIFT)),
        _ if v == 0 => Some((0, 0, 0)),
        _ => Some((
            v >> OWNER_SHIFT,
            ((v & RECURSION_MASK) >> RECURSION_SHIFT) + 1,
            0,
        )),
    }
}

/// Replaces the word if it is still `v`.
pub fn exchange(word: &AtomicU32, v: u32, next: u32) -> bool {
    word.compare_exchange(v, next, Ordering::AcqRel, Ordering::Relaxed)
        .is_ok()
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn counts_up_to_the_last_recursion() {
        let word = AtomicU32::new(0);
        assert_eq!(enter(&word, 5), Step::Changed);
        for _ in 0..255 {
            assert_eq!(enter(&word, 5), Step::Counted);
        }
        let full = word.load(Ordering::Relaxed);
        assert_eq!(enter(&word, 5), Step::Other(full));
        assert_eq!(state(full), Some((5, 256, 0)));
        assert_eq!(enter(&word, 6), Step::Other(full));
        assert_eq!(exit(&word, 6), Step::Other(full));
        for _ in 0..255 {
            assert_eq!(exit(&word, 5), Step::Counted);
        }
        assert_eq!(exit(&word, 5), Step::Changed);
        assert_eq!(exit(&word, 5), Step::Other(0));
        assert_eq!(state(0), Some((0, 0, 0)));
        assert_eq!(state(7 << PAYLOAD_SHIFT | KIND_HASH), Some((0, 0, 7)));
        assert_eq!(state(7 << PAYLOAD_SHIFT | KIND_FAT), None);
    }
}
