//! Parked threads in a minor collection.
//!
//! A program may have a million threads that wait, most of them for longer than many minor collections last. A collection visits those only
//! that may refer to young objects ([`ParkedSet::Young`]). What becomes of a thread that stays parked:
//!
//! ```text
//!   collection            the words of its stack lie in      what happens there                          its notes
//!   --------------------  ---------------------------------  ------------------------------------------  --------------------------
//!   the first             nursery blocks                     their objects are pinned, the blocks kept   1: it is visited again
//!   those before LONG     blocks that were kept before       the same                                    the number of visits
//!   the LONG-th           blocks that were kept before       the blocks become old (`becomes_old`)       the round of the second
//!   any but the first     no block that was kept before      nothing                                     the round of the second
//!   later                                                    the thread is not visited
//! ```
//! A block becomes old earlier if many of its objects are pinned ([`super::rebuild`]). So where many threads park, they are visited twice. A block
//! with few pinned objects stays in the nursery for long, where its gaps are used again and others may be pinned: old, it would be
//! nearly empty, and a server whose threads wait for requests would fill the memory with such blocks.
//!
//! The references of a thread that are known exactly are followed and updated as other roots are. A thread is visited until they refer to
//! nothing young either.
//!
//! # Invariants
//! * Notes of at least [`FIRST_ROUND`] say that the thread refers to nothing young: no word of its stack lies in a block that has been in the
//!   nursery since before the round that they name, which began with the first visit. (A word may lie in a block that came to the nursery later: such
//!   a word is no reference.)
//! * Every young object to which a thread referred when it was visited was pinned then, and its block was kept. So from the second visit on, a word
//!   that lies in a block that was not kept is no reference: its thread has not run since that block came to the nursery.
//! * What counts is that a word lies in a kept block, not whether it lies in an object there: what is free now may be an object of the next round.
use crate::Heap;
use crate::memory::List;
use crate::minor::copying::Evacuation;
use crate::minor::nursery::FIRST_ROUND;
use crate::model::{Model, ParkedSet, World};
use crate::object::Slot;
use crate::roots::conservative;
use std::sync::atomic::Ordering::*;

/// Notes on a thread below [`FIRST_ROUND`]: how often it was visited since it ran, and a bit: its stack may refer to young objects after the
/// collection that runs.
const VISITS: u32 = 0x7F;
const REFERS: u32 = 0x80;
const _: () = assert!(FIRST_ROUND > VISITS | REFERS);
/// At this visit, what the thread refers to becomes old.
const LONG: u32 = 4;
const _: () = assert!(LONG < VISITS);

/// The notes on a thread that is not visited from round `next` on, of which the notes were `seen`: the round that began with its first visit.
fn passed_by(next: u32, seen: u32) -> u32 {
    let visits = seen & VISITS;
    next.wrapping_sub(visits.saturating_sub(1)).max(FIRST_ROUND)
}

impl<M: Model, W: World> Heap<M, W> {
    /// Adds the words of parked stacks to `candidates`, notes which of these threads are to be visited again, and which blocks become old.
    pub(super) fn scan_parked_stacks(&self, candidates: &mut List<usize>) {
        let space = &self.space;
        self.world
            .parked_stacks(ParkedSet::Young, &mut |ranges, notes| {
                let visits = ((notes.load(Relaxed) & VISITS) + 1).min(LONG);
                let mut refers = 0;
                let mut counts = |block| {
                    let info = space.info(block);
                    let was_kept = info.kept.load(Relaxed) != 0;
                    if visits > 1 && !was_kept {
                        return false;
                    }
                    if visits == LONG {
                        info.becomes_old.store(1, Relaxed);
                    } else {
                        refers = REFERS;
                    }
                    true
                };
                for &(from, to) in ranges {
                    // SAFETY: the world says these are readable.
                    unsafe {
                        conservative::collect_young(space, from, to, candidates, &mut counts);
                    }
                }
                notes.store(visits | refers, Relaxed);
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
                let seen = notes.load(Relaxed);
                let mut refers = seen & REFERS != 0;
                for &root in roots {
                    // SAFETY: the world promises that it names references; they stay where they are while it is stopped.
                    refers |= e.slot(unsafe { Slot::new(root) });
                }
                // Nothing is young after a collection that promotes in place.
                refers &= !IN_PLACE;
                let now = match refers {
                    true => seen & VISITS,
                    false => passed_by(next, seen),
                };
                notes.store(now, Relaxed);
                refers
            });
    }
    /// Everything young becomes old: no parked thread refers to young objects any more.
    pub(super) fn forget_parked(&self) {
        let next = self.nursery.lock().next_round();
        self.world.parked_roots(ParkedSet::Young, &mut |_, notes| {
            notes.store(passed_by(next, notes.load(Relaxed)), Relaxed);
            false
        });
    }
}
