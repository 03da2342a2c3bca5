//! Tables of ephemerons: none is forgotten when the last ephemerons are dealt with, and none is pending between collections.
//!
//! That dead keys are gone from every table, and that no value died before its key, is found by the walk of all objects: both would be
//! references to where no object begins, since what the last cycle did not reach does not count as an object.
use super::Verifier;
use crate::Heap;
use crate::memory::List;
use crate::model::{Contents, Model, World};
use crate::object::header_of;
use crate::space::BlockKind;
use std::sync::atomic::Ordering::*;

impl<M: Model, W: World> Verifier<'_, M, W> {
    /// All notes are taken back that pairs left in the headers of their keys.
    pub(super) fn no_ephemeron_is_pending(&self) {
        let left = self.heap.pending.borrow().left();
        if left != 0 {
            self.damaged(&format!("{left} pairs of ephemerons wait for their keys"));
        }
    }
}

impl<M: Model, W: World> Heap<M, W> {
    /// When all that is reachable but through pairs is marked: `known`, which is sorted for it, has every marked table of pairs.
    pub(crate) fn check_tables_are_known(&self, known: &mut List<usize>) {
        known.as_mut_slice().sort_unstable();
        let known = known.as_slice();
        self.each_marked(|object| {
            // SAFETY: a marked object with its header; the world is stopped.
            let is_table =
                unsafe { M::contents(header_of(object).load(Relaxed)) } == Contents::Ephemerons;
            if is_table && known.binary_search(&object).is_err() {
                self.fail(&format!(
                    "no marker knows the marked table of ephemerons at {object:#x} ({:?} block)",
                    self.space.kind_at(object)
                ));
            }
        });
    }
    /// While marking runs or has just ended: calls `f` with every marked object.
    pub(crate) fn each_marked(&self, mut f: impl FnMut(usize)) {
        let space = &self.space;
        for b in space.all_blocks() {
            match space.kind(b) {
                BlockKind::Old => {
                    for card in space.cards_of(b) {
                        let bits = space.start_word(card).load(Relaxed)
                            & space.mark_word(card).load(Relaxed);
                        card.words(bits).for_each(&mut f);
                    }
                }
                BlockKind::Large if space.info(b).large_marked.load(Relaxed) != 0 => {
                    f(space.address(b))
                }
                _ => {}
            }
        }
    }
}
