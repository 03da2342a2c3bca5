//! What the collector asks of handles, with the world stopped.
//!
//! # Invariants
//! * Nobody allocates, sets or frees handles meanwhile: that is done in Runtime state only, in which a thread cannot be stopped. So the collector
//!   changes words by plain stores.
//! * After a visit that may have moved objects, a group's 'may hold young' byte says whether the visitor called one of its objects young.
//! * A visit with `young_only` meets every slot whose object may be young, and other slots of the same groups.
//! * Visits allocate no memory.
use crate::memory::*;
use crate::table::{Slot, Table};
use crate::word::Word;
use crate::{Hint, Kind, Tables, handle_of};
use vervet_os::memory::prefetch;

/// Handles of one kind, for statistics.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Count {
    /// In use, the expired ones included.
    pub used: usize,
    /// In use, but the object is gone.
    pub expired: usize,
    /// Slots given out to threads so far, in whole groups.
    pub given_out: usize,
}

impl<'t> Table<'t> {
    /// Index and contents of every slot given out that is in use (of those that may be young, with `young_only`).
    fn used_slots(self, young_only: bool) -> impl Iterator<Item = (u32, Slot<'t>, Word)> {
        self.groups_to_visit(young_only).flat_map(move |first| {
            let group = self.row.group(first);
            (first..).zip(group).filter_map(move |(index, word)| {
                let word = Word(word.load(Ordering::Acquire));
                word.is_occupied().then(|| (index, self.slot(index), word))
            })
        })
    }
    /// First indices of the groups given out (of those that may hold young objects).
    fn groups_to_visit(self, young_only: bool) -> impl Iterator<Item = u32> {
        (0..self.groups())
            .map(|group| group * GROUP)
            .filter(move |&first| !young_only || self.slot(first).may_be_young())
    }

    /// Calls `f` with each object of a group, and requests the memory of objects further on.
    #[inline(always)]
    fn each_object(self, first: u32, mut f: impl FnMut(u32, &AtomicUsize, Word, usize)) {
        let group = self.row.group(first);
        for (i, place) in group.iter().enumerate() {
            if let Some(later) = group.get(i + PREFETCH_DISTANCE) {
                prefetch(later.load(Ordering::Relaxed));
            }
            let word = Word(place.load(Ordering::Acquire));
            if let Some(object) = word.target().filter(|&o| o != 0) {
                f(first + i as u32, place, word, object);
            }
        }
    }

    /// Replaces every object by what `f` says of it: (its address now, is it young?), or None if it is gone.
    fn update(self, young_only: bool, mut f: impl FnMut(usize) -> Option<(usize, bool)>) {
        for first in self.groups_to_visit(young_only) {
            let mut any_young = false;
            self.each_object(first, |index, place, word, object| {
                let now = match f(object) {
                    Some((address, young)) => {
                        any_young |= young;
                        Word::object(address)
                    }
                    None => Word::expired(self.row.side(index).load(Ordering::Relaxed)),
                };
                if now != word {
                    // The world is stopped, so a plain store is enough.
                    debug_assert_eq!(place.load(Ordering::Relaxed), word.0);
                    place.store(now.0, Ordering::Release);
                }
            });
            self.slot(first).set_young(any_young);
        }
    }
}

/// How many slots before its visit the memory of an object is requested.
const PREFETCH_DISTANCE: usize = 8;

impl Tables {
    /// Visits the objects of normal and pinned handles, which live by that: `f` returns (the object's address now, whether it
    /// is young).
    pub fn visit_strong(&self, young_only: bool, mut f: impl FnMut(usize) -> (usize, bool)) {
        for kind in [Kind::Normal, Kind::Pinned] {
            if let Some(table) = self.table(kind) {
                table.update(young_only, |object| Some(f(object)));
            }
        }
    }

    /// Visits the objects that pinned handles keep in their places. Before [`Tables::visit_strong`], which sets the groups'
    /// bytes anew.
    pub fn visit_pinned(&self, young_only: bool, mut f: impl FnMut(usize)) {
        if let Some(table) = self.table(Kind::Pinned) {
            for first in table.groups_to_visit(young_only) {
                table.each_object(first, |_, _, _, object| f(object));
            }
        }
    }

    /// Calls `f` with each normal and pinned handle that has an object: its kind, the address of its word, and the object.
    pub fn each_strong(&self, mut f: impl FnMut(Kind, usize, usize)) {
        for kind in [Kind::Normal, Kind::Pinned] {
            if let Some(table) = self.table(kind) {
                for first in table.groups_to_visit(false) {
                    table.each_object(first, |_, place, _, object| {
                        f(kind, std::ptr::from_ref(place) as usize, object);
                    });
                }
            }
        }
    }

    /// Where the words of a kind's handles lie: the first address, and how many bytes. None before there is memory.
    pub fn words_of(&self, kind: Kind) -> Option<(usize, usize)> {
        let row = self.table(kind)?.row;
        Some((row.group(0).as_ptr() as usize, 8 * row.slots() as usize))
    }

    /// Visits the objects of weak handles of one kind, once it is known which objects live: `f` returns (the object's address
    /// now, whether it is young), or None for one that is gone; the handle then keeps its domain only.
    pub fn update_weak(
        &self,
        kind: Kind,
        young_only: bool,
        f: impl FnMut(usize) -> Option<(usize, bool)>,
    ) {
        debug_assert!(matches!(kind, Kind::Weak | Kind::WeakTrackResurrection));
        if let Some(table) = self.table(kind) {
            table.update(young_only, f);
        }
    }

    /// Frees every handle of a domain, expired or not; returns how many.
    pub fn free_domain(&self, domain: u32) -> usize {
        let mut hint = Hint::new();
        let mut freed = 0;
        for kind in Kind::ALL {
            for (index, slot, _) in self
                .table(kind)
                .into_iter()
                .flat_map(|t| t.used_slots(false))
            {
                if slot.side.load(Ordering::Relaxed) == domain
                    && self.free(&mut hint, handle_of(kind, index))
                {
                    freed += 1;
                }
            }
        }
        self.retire(&mut hint);
        freed
    }

    /// Visits every handle of a kind that has an object, as (handle, object).
    pub fn each(&self, kind: Kind, mut f: impl FnMut(u32, usize)) {
        if let Some(table) = self.table(kind) {
            for first in table.groups_to_visit(false) {
                table.each_object(first, |index, _, _, object| {
                    f(handle_of(kind, index), object)
                });
            }
        }
    }

    /// How many there are. Walks the tables; roughly right while threads run.
    pub fn count(&self, kind: Kind) -> Count {
        let Some(table) = self.table(kind) else {
            return Count::default();
        };
        let mut count = Count {
            given_out: (table.groups() * GROUP) as usize,
            ..Count::default()
        };
        for (_, _, word) in table.used_slots(false) {
            count.used += 1;
            count.expired += usize::from(word.is_expired());
        }
        count
    }
}
