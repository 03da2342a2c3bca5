//! Parked threads in a minor collection.
//!
//! A program may have a million threads that wait, most of them for longer than many minor collections last. A collection visits those only
//! that may refer to young objects ([`ParkedSet::Young`]). What becomes of a thread that stays parked:
//!
//! ```text
//!   collection      the words of its stack lie in       what happens there                            its notes
//!   --------------  ----------------------------------  --------------------------------------------  ----------------------------
//!   the first       nursery blocks                      their objects are pinned, the blocks kept     REFERS: it is visited again
//!   the second      blocks that were kept before        the blocks become old (`becomes_old`)         the round that begins
//!   later           no nursery block of that time       nothing: the thread is not visited
//! ```
//! A block does not become old at the first hit: a thread that waits for a moment would leave a block behind that holds few objects.
//! The references of a thread that are known exactly are followed and updated as other roots are. A thread is visited until they refer to
//! nothing young either, which takes two collections.
//!
//! # Invariants
//! * Notes of at least [`FIRST_ROUND`] say that the thread refers to nothing young. From the round that they name on no word of its stack lies in a
//!   block that was in the nursery before that round. (A word may lie in a block that came to the nursery later: such a word is no reference.)
//! * What counts is that a word lies in a nursery block, not whether it lies in an object there: what is free now may be an object of the next round.
use crate::Heap;
use crate::memory::List;
use crate::minor::copying::Evacuation;
use crate::minor::nursery::FIRST_ROUND;
use crate::model::{Model, ParkedSet, World};
use crate::object::Slot;
use crate::roots::conservative;
use std::sync::atomic::Ordering::*;

/// Notes on a thread: its stack does not refer to young objects, as far as the collection that runs has found.
const DOES_NOT_REFER: u32 = 0;
/// Notes on a thread: its stack may refer to young objects after the collection.
const REFERS: u32 = 1;
const _: () = assert!(FIRST_ROUND > REFERS);

impl<M: Model, W: World> Heap<M, W> {
    /// Adds the words of parked stacks to `candidates`, notes which of these threads are to be visited again, and which blocks become old.
    pub(super) fn scan_parked_stacks(&self, candidates: &mut List<usize>) {
        let space = &self.space;
        self.world
            .parked_stacks(ParkedSet::Young, &mut |ranges, notes| {
                let mut refers = DOES_NOT_REFER;
                let mut hit = |block| {
                    let info = space.info(block);
                    match info.kept.load(Relaxed) {
                        0 => refers = REFERS,
                        _ => info.becomes_old.store(1, Relaxed),
                    }
                };
                for &(from, to) in ranges {
                    // SAFETY: the world says these are readable.
                    unsafe {
                        conservative::collect_young(space, from, to, candidates, &mut hit);
                    }
                }
                notes.store(refers, Relaxed);
            });
    }
    /// Keeps what the known references of the same threads refer to, and decides which of the threads the next collection visits.
    pub(super) fn keep_parked_roots<const IN_PLACE: bool, const MARKING: bool>(
        &self,
        e: &mut Evacuation<'_, M, W, IN_PLACE, MARKING>,
    ) {
        let next = self.nursery.lock().next_round();
        self.world
            .parked_roots(ParkedSet::Young, &mut |roots, notes| {
                let mut refers = notes.load(Relaxed) == REFERS;
                for &root in roots {
                    // SAFETY: the world promises that it names references; they stay where they are while it is stopped.
                    refers |= e.slot(unsafe { Slot::new(root) });
                }
                // Nothing is young after a collection that promotes in place.
                refers &= !IN_PLACE;
                notes.store(if refers { REFERS } else { next }, Relaxed);
                refers
            });
    }
    /// Everything young becomes old: no parked thread refers to young objects any more.
    pub(super) fn forget_parked(&self) {
        let next = self.nursery.lock().next_round();
        self.world.parked_roots(ParkedSet::Young, &mut |_, notes| {
            notes.store(next, Relaxed);
            false
        });
    }
}
