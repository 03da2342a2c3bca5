//! Finalizers: registrations and bits agree, and queued objects are there.
//!
//! # Invariants that are checked
//! * A `finalizable` bit is set for objects that are alive as far as the last cycle knows, and for nothing else; each of them has an entry in one
//!   of the lists.
//! * An entry whose bit is clear means nothing. The others are objects, in the list of old ones only if they are old. (An object that was
//!   registered, suppressed and registered again may have two entries.)
//! * An object is queued once.
use super::{Verifier, list};
use crate::memory::List;
use crate::model::{Model, World};
use crate::references::finalizers::Entry;
use crate::space::BlockKind;

impl<M: Model, W: World> Verifier<'_, M, W> {
    pub(super) fn finalizers(&self) {
        let space = &self.heap.space;
        let (mut registered, mut queued) = (list(), list());
        self.heap.finalizers.each(|entry, object| match entry {
            Entry::Queued => queued.push(object),
            _ if !space.is_finalizable(object) => {}
            Entry::Old if space.kind_at(object) == BlockKind::Nursery => {
                self.wrong(object, "is young, and registered for finalization as old")
            }
            Entry::Old | Entry::Young => registered.push(object),
        });
        for (list, what) in [
            (&registered, "is registered for finalization"),
            (&queued, "waits to be finalized"),
        ] {
            for &o in list.as_slice() {
                if !self.is_object(o) {
                    self.wrong(o, &format!("{what}, and no object begins there"));
                }
            }
        }
        let queued = queued.as_mut_slice();
        queued.sort_unstable();
        if let Some(two) = queued.windows(2).find(|two| two[0] == two[1]) {
            self.wrong(two[0], "waits to be finalized twice");
        }
        registered.as_mut_slice().sort_unstable();
        self.bits_are_of(&registered);
    }
    fn bits_are_of(&self, registered: &List<usize>) {
        let space = &self.heap.space;
        for b in space.all_blocks() {
            for card in space.cards_of(b) {
                for o in card.words(space.finalizable_bits(card)) {
                    if registered.as_slice().binary_search(&o).is_err() {
                        self.wrong(o, "is to be finalized, and in no list");
                    }
                }
            }
        }
    }
}
