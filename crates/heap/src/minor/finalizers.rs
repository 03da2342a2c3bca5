//! Finalizers in a minor collection: young objects with finalizers that nothing reached are queued, and kept.
//!
//! # Invariants
//! * All registered objects that live are dealt with before the first dead one is kept: keeping a dead object makes others live that die with
//!   it, and these must still be queued.
//! * Registrations follow objects that move: bit and list entry are those of the new address.
use super::copying::Evacuation;
use crate::Heap;
use crate::memory::List;
use crate::model::{Model, World};
use crate::references::finalizers::queue;

/// Queues the registered young objects that nothing reached, and keeps them with all they refer to.
pub(crate) fn young<M: Model, W: World, const IN_PLACE: bool, const MARKING: bool>(
    heap: &Heap<M, W>,
    e: &mut Evacuation<'_, M, W, IN_PLACE, MARKING>,
) {
    let space = &heap.space;
    let t = &mut *heap.finalizers.0.lock();
    let (old, ready, critical) = (&mut t.old, &mut t.ready, &mut t.critical);
    let follow = |from: usize, to: usize, young: bool, old: &mut List<usize>| {
        if to != from {
            space.set_finalizable(from, false);
            space.set_finalizable(to, true);
        }
        if young {
            return Some(to);
        }
        old.push(to);
        None
    };
    // First all that live, then the dead: keeping a dead one makes others live that are finalized with it.
    let mut dead = 0;
    t.young.retain_map(|o| {
        if !space.is_finalizable(o) {
            return None;
        }
        // SAFETY: registrations with their bits set are of objects, which are not freed before the collection ends.
        match unsafe { e.survivor(o) } {
            Some((to, young)) => follow(o, to, young, old),
            None => {
                dead += 1;
                Some(o)
            }
        }
    });
    if dead == 0 {
        return;
    }
    t.young.retain_map(|o| {
        // Survivors are in the list by their new addresses; what is dead is still in a nursery block, unmarked.
        // SAFETY: so both are objects, where they are now or still are.
        if unsafe { e.survivor(o) }.is_some() {
            return Some(o);
        }
        // (It may be in the list twice, if its registration was taken back and made again.)
        space.set_finalizable(o, false).then_some(o | 1)
    });
    t.young.retain_map(|o| {
        if o & 1 == 0 {
            return Some(o);
        }
        // SAFETY: an entry with the low bit is a dead object of a nursery block, whose memory is still there.
        let (to, _) = unsafe { e.keep(o & !1) };
        queue::<M>(ready, critical, to);
        None
    });
    e.drain_exclusive();
}
