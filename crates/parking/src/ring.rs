//! A ring of notes: signal handlers put them, one thread takes them.
//!
//! ```text
//!   a slot's turn, in round n      state                     who moves it on
//!   ---------------------------    ------------------------  --------------------------------------------
//!   2n                             free                      the handler that claimed the slot, to 2n + 1
//!   2n + 1                         holds a note              the thread that takes, to 2n + 2
//!   2n + 2 = 2(n + 1)              free, in the next round
//! ```
//!
//! # Invariants
//! * Putting a note needs no lock and no memory. A handler claims a slot by one compare-and-swap of `next`, which counts up for ever. The slot then
//!   belongs to that handler until the turn is odd. A handler may be interrupted by another that does the same; neither waits.
//! * Notes are taken in the order of their claims, each once. A note that finds the ring full is dropped, and the handler is told.
//! * `made` changes after the note can be taken. So a thread that found no note, and sleeps while `made` is what it was before, misses nothing.
use crate::sync::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Release, SeqCst},
    UnsafeCell,
};
use std::mem::MaybeUninit;

struct Slot<T> {
    turn: AtomicU64,
    note: UnsafeCell<MaybeUninit<T>>,
}

/// See the module.
pub struct Ring<T, const ROOM: usize> {
    slots: [Slot<T>; ROOM],
    /// The number of the next note.
    next: AtomicU64,
    /// Counts notes.
    made: AtomicU32,
}
// SAFETY: a slot's note belongs to whom its turn says.
unsafe impl<T: Send, const ROOM: usize> Sync for Ring<T, ROOM> {}

impl<T: Copy, const ROOM: usize> Ring<T, ROOM> {
    /// An empty one.
    #[cfg(not(feature = "loom"))]
    #[expect(clippy::new_without_default, reason = "there is one, a static")]
    pub const fn new() -> Ring<T, ROOM> {
        Ring {
            slots: [const {
                Slot {
                    turn: AtomicU64::new(0),
                    note: UnsafeCell::new(MaybeUninit::uninit()),
                }
            }; ROOM],
            next: AtomicU64::new(0),
            made: AtomicU32::new(0),
        }
    }
    /// An empty one.
    #[cfg(feature = "loom")]
    #[expect(clippy::new_without_default, reason = "as without the feature")]
    pub fn new() -> Ring<T, ROOM> {
        Ring {
            slots: std::array::from_fn(|_| Slot {
                turn: AtomicU64::new(0),
                note: UnsafeCell::new(MaybeUninit::uninit()),
            }),
            next: AtomicU64::new(0),
            made: AtomicU32::new(0),
        }
    }
    fn slot(&self, number: u64) -> (&Slot<T>, u64) {
        let at = number % ROOM as u64;
        (&self.slots[at as usize], number / ROOM as u64 * 2)
    }
    /// Makes a note; its number, None if there is no room.
    pub fn put(&self, note: T) -> Option<u64> {
        loop {
            let number = self.next.load(SeqCst);
            let (slot, free) = self.slot(number);
            let turn = slot.turn.load(Acquire);
            if turn < free {
                return None;
            }
            if turn > free
                || self
                    .next
                    .compare_exchange(number, number + 1, SeqCst, SeqCst)
                    .is_err()
            {
                continue;
            }
            // SAFETY: the slot was free for this number, which is ours.
            slot.note.with_mut(|n| unsafe { (*n).write(note) });
            slot.turn.store(free + 1, Release);
            self.made.fetch_add(1, SeqCst);
            return Some(number);
        }
    }
    /// The note of that number, which is the next to be taken, if it has been made. One thread takes.
    pub fn take(&self, number: u64) -> Option<T> {
        let (slot, free) = self.slot(number);
        if slot.turn.load(Acquire) != free + 1 {
            return None;
        }
        // SAFETY: the turn is the taker's, and the note was written before it was.
        let note = slot.note.with(|n| unsafe { (*n).assume_init() });
        slot.turn.store(free + 2, Release);
        Some(note)
    }
    /// What changes with every note; who takes sleeps on it.
    pub fn made(&self) -> &AtomicU32 {
        &self.made
    }
}

#[cfg(all(test, feature = "loom"))]
mod tests {
    use super::*;
    use crate::models::model;
    use loom::sync::Arc;
    use loom::thread;

    /// Takes notes in their order until `count` were taken, sleeping while there is none.
    fn take_all<const ROOM: usize>(ring: &Ring<[u32; 2], ROOM>, count: u64) -> Vec<u32> {
        let mut taken = Vec::new();
        while (taken.len() as u64) < count {
            let seen = ring.made().load(SeqCst);
            match ring.take(taken.len() as u64) {
                Some([a, b]) => {
                    assert_eq!(a, b, "half a note");
                    taken.push(a);
                }
                None => {
                    while ring.made().load(SeqCst) == seen {
                        thread::yield_now();
                    }
                }
            }
        }
        taken
    }

    /// Two handlers make notes, of which one makes two; all are taken, once each, and each handler's in its order.
    #[test]
    fn notes_are_taken_once_and_in_order() {
        model(Some(2), || {
            let ring = Arc::new(Ring::<[u32; 2], 4>::new());
            let handlers = [vec![1, 2], vec![3]].map(|notes| {
                let ring = ring.clone();
                thread::spawn(move || {
                    let put = |n| ring.put([n; 2]).expect("there is room");
                    notes.into_iter().map(put).collect::<Vec<u64>>()
                })
            });
            let taken = take_all(&ring, 3);
            let numbers = handlers.map(|h| h.join().unwrap());
            for (number, note) in numbers.iter().flatten().zip([1, 2, 3]) {
                assert_eq!(taken[*number as usize], note);
            }
        });
    }

    /// In a ring for one note a handler finds room or does not, and no note is lost that was made.
    #[test]
    fn what_finds_no_room_is_not_noted() {
        model(Some(3), || {
            let ring = Arc::new(Ring::<[u32; 2], 1>::new());
            let handlers = [1, 2].map(|n| {
                let ring = ring.clone();
                thread::spawn(move || ring.put([n; 2]).map(|_| n))
            });
            // One at least finds room.
            let mut taken = take_all(&ring, 1);
            let mut made: Vec<u32> = handlers
                .into_iter()
                .filter_map(|h| h.join().unwrap())
                .collect();
            if made.len() == 2 {
                taken.extend(ring.take(1).map(|[a, _]| a));
            }
            assert_eq!(ring.take(taken.len() as u64), None);
            made.sort();
            taken.sort();
            assert_eq!(made, taken);
        });
    }
}
