//! What marking relies on while it runs: a scanned object refers to nothing that no marker knows of.
//!
//! # Invariants that are checked
//! * Grey objects are those on a local or shared stack, black ones the other marked objects. A reference from a black object to a white one (old
//!   or large, not marked) lies on a card that is marked, or recorded in the mod-union table, so that the marker scans it again; or its thread
//!   was stopped before it marked the card. Of a large object the part before its grey piece is black.
//! * A reference from a black object into a block that is to be evacuated is recorded, or lies on such a card, unless the object itself lies in
//!   such a block.
//! * A marked table of ephemerons is grey or known to a marker; what it refers to is marked last.
//! * While marking runs every block is swept. When it does not, swept blocks have no `mark` bits, and nothing is grey or recorded.
use super::{Verifier, list};
use crate::memory::List;
use crate::model::{Contents, Model, World};
use crate::object::{Slot, each_slot, header_of};
use crate::space::{BlockId, BlockKind, CLEAN, Card};
use std::sync::atomic::Ordering::*;

/// What the markers have, each list in ascending order.
struct Known {
    /// Entries of grey lists.
    grey: List<usize>,
    /// Tables of pairs.
    tables: List<usize>,
    /// Fields that refer into blocks to be emptied.
    fields: List<Slot>,
}

fn has<T: Copy + Ord>(list: &List<T>, value: T) -> bool {
    list.as_slice().binary_search(&value).is_ok()
}

impl<M: Model, W: World> Verifier<'_, M, W> {
    pub(super) fn tricolour(&self) {
        let (space, marking) = (&self.heap.space, self.heap.major.is_marking());
        for b in space
            .all_blocks()
            .filter(|b| space.kind(*b) == BlockKind::Old)
        {
            let unswept = space.info(b).unswept.load(Relaxed) != 0;
            if marking && unswept {
                self.wrong(space.address(b), "is marked in a block that is not swept");
            }
            if !marking && !unswept && !space.has_no_marks(b) {
                self.wrong(space.address(b), "has marks in its block, which is swept");
            }
        }
        let known = self.known();
        if marking {
            self.heap.each_marked(|o| self.marked(o, &known));
        } else if known.grey.len() + known.tables.len() + known.fields.len() != 0 {
            self.damaged(&format!(
                "nobody marks, and {} objects are grey, {} tables and {} fields recorded",
                known.grey.len(),
                known.tables.len(),
                known.fields.len()
            ));
        }
    }
    fn known(&self) -> Known {
        let heap = self.heap;
        let mut known = Known {
            grey: list(),
            tables: list(),
            fields: list(),
        };
        heap.major.shared_stack.each(|entry| known.grey.push(entry));
        for i in 0..heap.workers.count() {
            let marker = heap.major.marker(i);
            marker.each_grey(|entry| known.grey.push(entry));
            for &t in marker.ephemerons.as_slice() {
                known.tables.push(t);
            }
            for &f in marker.fields.as_slice() {
                known.fields.push(f);
            }
        }
        for &t in heap.major.born.lock().as_slice() {
            known.tables.push(t);
        }
        for list in [&mut known.grey, &mut known.tables] {
            list.as_mut_slice().sort_unstable();
        }
        known.fields.as_mut_slice().sort_unstable();
        known
    }
    fn marked(&self, object: usize, known: &Known) {
        // SAFETY: `each_marked` found the object by its `start` bit, and the world is stopped.
        let header = unsafe { header_of(object) }.load(Relaxed);
        // SAFETY: the header of that object.
        match unsafe { M::contents(header) } {
            Contents::Plain => {}
            Contents::Ephemerons => {
                if !has(&known.tables, object) && !has(&known.grey, object) {
                    self.wrong(object, "is a marked table of pairs that no marker knows");
                }
            }
            Contents::References => {
                let end = self.grey_from(object, known);
                // SAFETY: the marked object has that header; the world is stopped.
                unsafe {
                    each_slot::<M>(object, header, 0, end, |f| {
                        self.black_field(object, f, known)
                    })
                }
            }
        }
    }
    /// Where the part of an object begins that is still to be looked at.
    fn grey_from(&self, object: usize, known: &Known) -> usize {
        let space = &self.heap.space;
        let grey = known.grey.as_slice();
        let size = match space.kind_at(object) {
            BlockKind::Large => space.info(space.block(object)).size.load(Relaxed),
            _ => 8,
        };
        match grey.get(grey.partition_point(|e| *e < object)) {
            Some(&entry) if entry < object + size => entry & !1,
            _ => usize::MAX,
        }
    }
    fn black_field(&self, object: usize, slot: Slot, known: &Known) {
        let space = &self.heap.space;
        let (field, v) = (slot.address(), slot.load(Relaxed));
        let Some(b) = space.block_of(v) else { return };
        let is_evacuated = |b: BlockId| space.info(b).evacuate.load(Relaxed) != 0;
        let what = match space.kind(b) {
            BlockKind::Old if !space.is_marked(v) => "white",
            BlockKind::Large if space.info(b).large_marked.load(Relaxed) == 0 => "white",
            BlockKind::Old
                if is_evacuated(b)
                    && !is_evacuated(space.block(field))
                    && !has(&known.fields, slot) =>
            {
                "moving"
            }
            _ => return,
        };
        let card = Card::of(field);
        let will_be_rescanned =
            space.card(card).load(Relaxed) != CLEAN || space.has_mod_union(card);
        if !will_be_rescanned && !self.is_being_stored(v) {
            let white = self.describe(v);
            self.wrong(
                object,
                &format!("is black and refers to the {what} {white} from field {field:#x}, which nobody looks at again"),
            );
        }
    }
}
