//! Ephemerons: (key, value) pairs whose values live as long as their keys do.
//!
//! # How it works
//! An ephemeron whose key nobody has reached yet waits at the key. The key's header is replaced by a tag that names the entry of the ephemeron
//! in a list; entries of the same key form a chain. Whoever reaches the key finds the tag, puts the header back and makes the waiting
//! ephemerons due ([`PendingEphemerons`]). So each ephemeron is looked at once when it is met, and once more when its key is reached, however
//! long the chains are in which values hold the keys of others.
//!
//! ```text
//!   met, key alive   ------------------------------------------------> value kept
//!   met, key unknown -> pending (tag in the key's header)
//!                         | key reached: due ------------------------> value kept
//!                         | nothing more is reachable: settle, header restored
//!                               | key kept by a finalizer: resume, due -> value kept
//!                               | key dead: next_dead ----------------> cleared: key = tombstone, value = null
//! ```
//!
//! # Invariants
//! * Every marked table of ephemerons is known to a marker when the last ephemerons are dealt with, however it was marked: from a stack (the
//!   worker that scans it records it); promoted while marking runs (the minor collection passes it to the marker); pinned, in a block that
//!   became old ([`crate::minor::rebuild`] does the same); large and born marked (recorded at birth,
//!   [`crate::major::state::Major::table_born`]). A table that is still young when marking ends is kept, and recorded then. The verifier
//!   compares that with the bitmaps.
//! * A minor collection looks at the ephemerons on marked cards and at those of tables that it has kept, at no others. An ephemeron with a young
//!   key or value lies on a marked card, or in a young table.
//! * Headers are replaced only while the world is stopped, the gate is shut and one thread works, and all are restored when
//!   [`PendingEphemerons::settle`] returns. Meanwhile only that thread reads headers of objects that were not reached.
//! * An ephemeron without a key keeps its value: it is being initialised.
use crate::memory::{List, UNBOUNDED};
use crate::model::Model;
use crate::object::{Slot, header_of};
use crate::space::Card;
use std::io;
use std::sync::atomic::Ordering::*;

/// Bytes of an ephemeron: a key and a value.
const PAIR: usize = 16;

/// Adjacent ephemerons: the address of the first, and how many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct EphemeronRange {
    first: usize,
    count: usize,
}

impl EphemeronRange {
    /// All ephemerons of a table.
    ///
    /// # Safety
    /// `table` is an object whose contents are [`Contents::Ephemerons`](crate::model::Contents::Ephemerons). As long as the range is used it lives
    /// and does not move, and the world is stopped.
    pub unsafe fn of<M: Model>(table: usize) -> EphemeronRange {
        // SAFETY: the caller's promise about `table` is that of `Model::ephemerons`.
        let (first, count) = unsafe { M::ephemerons(table) };
        EphemeronRange { first, count }
    }
    /// Those that overlap a card.
    pub fn on(self, card: Card) -> EphemeronRange {
        let skipped = (card.address().saturating_sub(self.first) / PAIR).min(self.count);
        let end = card.end().saturating_sub(self.first).div_ceil(PAIR);
        EphemeronRange {
            first: self.first + skipped * PAIR,
            count: end.min(self.count).saturating_sub(skipped),
        }
    }
    /// How many there are.
    pub fn len(self) -> usize {
        self.count
    }
    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = Ephemeron> {
        (0..self.count).map(move |i| Ephemeron(self.first + i * PAIR))
    }
}

/// An ephemeron, by its address. It comes from an [`EphemeronRange`], so its two words are mapped and hold references.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ephemeron(usize);

impl Ephemeron {
    /// The slot of the key.
    pub fn key(self) -> Slot {
        // SAFETY: the first word of an ephemeron of a table that lives is a reference; the world is stopped.
        unsafe { Slot::new(self.0) }
    }
    /// The slot of the value.
    pub fn value(self) -> Slot {
        // SAFETY: the second word of an ephemeron of a table that lives is a reference; the world is stopped.
        unsafe { Slot::new(self.0 + PAIR / 2) }
    }
    /// The key, 0 if there is none.
    pub fn load_key(self) -> usize {
        self.key().load(Relaxed)
    }
    /// The key is dead: it becomes the tombstone, and the value null.
    pub fn clear(self, tombstone: usize) {
        self.key().store(tombstone, Relaxed);
        self.value().store(0, Relaxed);
    }
}

/// A bit of the tag in the header of a key: the tag has the lowest bit, as "moved" has, and this bit, which "moved" never has. The other bits are
/// the number of the last entry that waits there. (The table in `object.rs` shows all forms of a header.)
pub(crate) const PENDING: u64 = 4;
const PENDING_TAG: u64 = PENDING | 1;
const NO_ENTRY: u64 = u64::MAX >> 3;

#[derive(Clone, Copy)]
struct Entry {
    pair: Ephemeron,
    /// The key's own header, while the tag is there.
    header: u64,
    /// The number of the entry that waited for the same key before this one, or [`NO_ENTRY`].
    next: u64,
}
/// In an entry whose ephemeron does not wait any more.
const GONE: Ephemeron = Ephemeron(0);

/// The ephemerons that wait for their keys. See the module.
pub(crate) struct PendingEphemerons {
    list: List<Entry>,
    due: List<Ephemeron>,
}

impl PendingEphemerons {
    pub fn new() -> io::Result<PendingEphemerons> {
        Ok(PendingEphemerons {
            list: List::new(UNBOUNDED)?,
            due: List::new(UNBOUNDED)?,
        })
    }
    /// How many wait or are due.
    pub fn left(&self) -> usize {
        self.list.len() + self.due.len()
    }
    /// An ephemeron waits for its key, which nothing has reached.
    pub fn wait(&mut self, pair: Ephemeron) {
        let number = self.list.len() as u64;
        self.list.push(Entry {
            pair,
            header: 0,
            next: NO_ENTRY,
        });
        self.tag_key(number);
    }
    /// Puts the number of an entry into the header of its key, and saves what was there.
    fn tag_key(&mut self, number: u64) {
        let list = self.list.as_mut_slice();
        // SAFETY: the key of an ephemeron of a live table is an object, dead or alive, whose memory is not freed before this ends.
        let header = unsafe { header_of(list[number as usize].pair.load_key()) };
        let seen = header.load(Relaxed);
        let (own, next) = if seen & PENDING_TAG == PENDING_TAG {
            (list[(seen >> 3) as usize].header, seen >> 3)
        } else {
            (seen, NO_ENTRY)
        };
        let entry = &mut list[number as usize];
        (entry.header, entry.next) = (own, next);
        header.store(number << 3 | PENDING_TAG, Relaxed);
    }
    /// An object is reached: restores its header, and makes the ephemerons due that waited for it. Returns the header.
    pub fn reached(&mut self, object: usize) -> u64 {
        // SAFETY: the collector calls this with an object that it has just reached.
        let header = unsafe { header_of(object) };
        let seen = header.load(Relaxed);
        if seen & PENDING_TAG != PENDING_TAG {
            return seen;
        }
        let list = self.list.as_mut_slice();
        let mut number = seen >> 3;
        let own = list[number as usize].header;
        while number != NO_ENTRY {
            let entry = &mut list[number as usize];
            self.due.push(std::mem::replace(&mut entry.pair, GONE));
            number = entry.next;
        }
        header.store(own, Relaxed);
        own
    }
    /// Takes an ephemeron whose key was reached.
    pub fn next_due(&mut self) -> Option<Ephemeron> {
        self.due.pop()
    }
    /// Restores all headers. The ephemerons whose keys were not reached stay in the list.
    pub fn settle(&mut self) {
        self.list.retain_map(|entry| {
            if entry.pair == GONE {
                return None;
            }
            // SAFETY: the key is still there: dead objects are freed later in the collection.
            unsafe { header_of(entry.pair.load_key()) }.store(entry.header, Relaxed);
            Some(entry)
        });
    }
    /// Goes on after [`PendingEphemerons::settle`]: ephemerons whose keys are `alive` now are due, the others wait again.
    pub fn resume(&mut self, alive: impl Fn(usize) -> bool) {
        for number in 0..self.list.len() {
            let entry = &mut self.list.as_mut_slice()[number];
            if alive(entry.pair.load_key()) {
                self.due.push(std::mem::replace(&mut entry.pair, GONE));
            } else {
                self.tag_key(number as u64);
            }
        }
    }
    /// After [`PendingEphemerons::settle`]: takes an ephemeron whose key is dead out of the list.
    pub fn next_dead(&mut self) -> Option<Ephemeron> {
        let entry = self.list.pop();
        if entry.is_none() {
            self.list.clear();
            self.due.clear();
        }
        entry.map(|w| w.pair)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::CARD;
    use std::sync::atomic::{AtomicU64, AtomicUsize};

    #[test]
    fn the_pairs_on_a_card_are_those_that_overlap_it() {
        let row = |first, count| EphemeronRange { first, count };
        let (card, all) = (64 * CARD, row(64 * CARD - 24, 100));
        let on = |row: EphemeronRange, address: usize| row.on(Card::of(address));
        // The second pair begins before the card and ends on it.
        assert_eq!(on(all, card - CARD), row(card - 24, 2));
        assert_eq!(on(all, card), row(card - 8, 33));
        assert_eq!(on(all, card + CARD), row(card + CARD - 8, 33));
        // The last ones.
        assert_eq!(on(all, card + 3 * CARD), row(card + 3 * CARD - 8, 100 - 97));
        assert_eq!(on(all, card + 4 * CARD).len(), 0);
        assert_eq!(on(all, card - 2 * CARD).len(), 0);
        assert_eq!(on(row(card, 32), card), row(card, 32));
    }

    #[test]
    fn pairs_are_due_when_their_key_is_reached_and_headers_come_back() {
        // Keys are a header each; pairs a key and a value.
        let keys = [0x100, 0x200, 0x300].map(AtomicU64::new);
        let key = |i: usize| keys[i].as_ptr() as usize;
        // SAFETY: the headers are those of `keys`.
        let header = |i: usize| unsafe { header_of(key(i)) }.load(Relaxed);
        let words: Vec<AtomicUsize> = [0, 1, 1, 2]
            .iter()
            .flat_map(|k| [AtomicUsize::new(key(*k)), AtomicUsize::new(0)])
            .collect();
        let pair = |i: usize| Ephemeron(&words[2 * i] as *const AtomicUsize as usize);
        let mut w = PendingEphemerons::new().expect("memory");
        (0..4).for_each(|i| w.wait(pair(i)));
        assert_eq!(w.next_due(), None);
        assert_eq!(w.reached(key(1)), 0x200);
        assert_eq!(header(1), 0x200);
        assert_eq!(w.next_due(), Some(pair(1)));
        assert_eq!(w.next_due(), Some(pair(2)));
        assert_eq!(w.next_due(), None);
        w.settle();
        assert_eq!([header(0), header(1), header(2)], [0x100, 0x200, 0x300]);
        // In the next round one is alive, and one is reached.
        w.resume(|k| k == key(2));
        assert_eq!(w.next_due(), Some(pair(3)));
        assert_eq!(w.reached(key(2)), 0x300);
        assert_eq!(w.next_due(), None);
        w.settle();
        assert_eq!(header(0), 0x100);
        assert_eq!(w.next_dead(), Some(pair(0)));
        assert_eq!(w.next_dead(), None);
    }
}
