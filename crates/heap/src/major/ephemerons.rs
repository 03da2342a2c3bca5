//! Ephemerons in the final mark pause: values whose keys are marked are marked, until nothing changes; then dead entries are cleared.
//!
//! # Invariants
//! One thread works, behind the gate. Everything reachable otherwise than through ephemerons is marked before.
use super::marking::Marking;
use crate::Heap;
use crate::model::{Model, World};
use crate::references::ephemerons::{EphemeronRange, PendingEphemerons};
use crate::space::BlockKind;
use std::sync::atomic::Ordering::*;

impl<M: Model, W: World> Heap<M, W> {
    /// Marks the values of ephemerons whose keys are marked, and what they refer to, until nothing changes.
    pub(super) fn ephemerons_to_fixpoint(
        &self,
        m: &mut Marking<'_, M, W>,
        pending: &mut PendingEphemerons,
    ) {
        let is_alive = |key: usize| key == 0 || self.marked(key).is_some();
        pending.resume(is_alive);
        let mut pairs = 0;
        loop {
            if let Some(table) = m.own.ephemerons.pop() {
                // SAFETY: markers record tables of ephemerons that are marked; old ones do not move while the world is stopped.
                let row = unsafe { EphemeronRange::of::<M>(table) };
                pairs += row.len();
                for pair in row.iter() {
                    if is_alive(pair.load_key()) {
                        m.mark_field(pair.key());
                        m.mark_field(pair.value());
                    } else {
                        pending.wait(pair);
                    }
                }
            } else if let Some(pair) = pending.next_due() {
                m.mark_field(pair.key());
                m.mark_field(pair.value());
            } else if let Some(entry) = m.own.next() {
                if entry & 1 == 0 {
                    pending.reached(entry);
                }
                // SAFETY: the entry comes from a stack of this marker.
                unsafe { m.scan(entry) };
            } else {
                break;
            }
        }
        pending.settle();
        self.stats.ephemerons.fetch_add(pairs as u64, Relaxed);
    }
    /// Clears the ephemerons whose keys are dead: the key becomes the tombstone, the value null.
    pub(super) fn clear_dead_ephemerons(
        &self,
        m: &mut Marking<'_, M, W>,
        pending: &mut PendingEphemerons,
    ) {
        let tombstone = self.world.tombstone();
        while let Some(pair) = pending.next_dead() {
            pair.clear(tombstone);
            if self.space.kind_at(tombstone) == BlockKind::Nursery {
                self.space.dirty(pair.key().address());
            }
            m.mark_field(pair.key());
        }
    }
}
