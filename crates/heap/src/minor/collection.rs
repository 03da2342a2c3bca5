//! The minor collection: young objects that are reachable are copied out of the nursery, or stay where they are pinned.
//!
//! # Invariants
//! * All pins (`mark` bits of young objects) are known before the first object is copied.
//! * Aging: what has survived one collection stays young; the second promotes it.
//! * While nearly everything survives, nothing is copied: what is reachable is marked like a pinned object, and every nursery
//!   block becomes an old one ([`crate::minor::rebuild`]). Then nothing is young afterwards, so no slot changes and no card is needed.
use super::finalizers;
use super::worker::{EvacuationMode, MinorWorker};
use crate::Heap;
use crate::memory::List;
use crate::minor::copying::Evacuation;
use crate::model::{Model, World};
use crate::roots::conservative;
use crate::space::BlockKind;
use crate::stats::Outcome;
use crate::threads::gate::Stop;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use vervet_os::clock;

/// From this percentage of survivors on, objects are promoted at once: copying them twice would only cost.
const PROMOTE: u32 = 60;
/// ... and not even copied.
const IN_PLACE: u32 = 80;

impl<M: Model, W: World> Heap<M, W> {
    /// Collects the nursery. The world is stopped, and this thread collects. The gate is shut afterwards.
    pub(crate) fn minor(&self, promote_all: bool, stop: &mut Stop<'_>) -> Outcome {
        let mode = self.evacuation_mode(promote_all);
        match (mode == EvacuationMode::InPlace, self.major.is_marking()) {
            (false, false) => self.minor_as::<false, false>(mode, stop),
            (false, true) => self.minor_as::<false, true>(mode, stop),
            (true, false) => self.minor_as::<true, false>(mode, stop),
            (true, true) => self.minor_as::<true, true>(mode, stop),
        }
    }
    fn minor_as<const IN_PLACE: bool, const MARKING: bool>(
        &self,
        mode: EvacuationMode,
        stop: &mut Stop<'_>,
    ) -> Outcome {
        let space = &self.space;
        let scratch = &mut *self.scratch.borrow();
        self.retire_tlabs(&mut scratch.candidates);
        conservative::prepare(&mut scratch.candidates);
        // Pins. What a handle pins may be many, and stays pinned: its block will be an old one.
        scratch.pins.clear();
        self.world.pinned_handles(true, &mut |o| {
            if space.kind_at(o) == BlockKind::Nursery {
                space
                    .info(space.block(o))
                    .pinned_by_handle
                    .store(1, Relaxed);
                if space.pin(o) {
                    scratch.pins.push(o);
                }
            }
        });
        let mut cursor = conservative::Cursor::default();
        for &c in scratch.candidates.as_slice() {
            if space.kind_at(c) == BlockKind::Nursery
                && let Some(o) = conservative::object_at::<M>(space, c, &mut cursor)
                && space.pin(o)
            {
                scratch.pins.push(o);
            }
        }
        scratch.pins.as_mut_slice().sort_unstable();
        let pins = scratch.pins.as_slice();
        let tasks = AtomicUsize::new(0);
        let used = space.used();
        const CHUNK: usize = 64;
        let chunks = used.div_ceil(CHUNK);
        let parallel = self.workers.count() > 1 && self.wants_help.load(Relaxed);
        let began = clock::now();
        let job = |index: usize| {
            if parallel {
                self.shared_stack.enter();
            }
            let mut worker = self.minor_worker(index);
            let mut e = self.evacuation::<IN_PLACE, MARKING>(&mut worker, mode);
            e.exclusive = !parallel;
            if index == 0 {
                for &o in pins {
                    e.pinned(o);
                }
                self.world.roots(&mut |slot| {
                    e.slot(slot);
                });
                self.world.strong_handles(true, &mut |o| e.keep(o));
                self.finalizers.roots(&mut |slot| {
                    e.slot(slot);
                });
            }
            loop {
                let t = tasks.fetch_add(1, Relaxed);
                if t >= chunks {
                    break;
                }
                for b in t * CHUNK..((t + 1) * CHUNK).min(used) {
                    e.scan_cards(b);
                }
                if e.worker.local_stack.len() > 4096 {
                    e.drain_exclusive();
                }
            }
            e.finish_cards();
            if parallel {
                e.drain();
            } else {
                e.drain_exclusive();
            }
        };
        self.workers.run(parallel, &job);
        // What is left is done by one, without the marker.
        stop.shut();
        self.process_weak_references::<IN_PLACE, MARKING>(mode);
        let mut outcome = Outcome {
            pinned: pins.len(),
            ..Outcome::default()
        };
        let ns = clock::now() - began;
        for i in 0..self.workers.count() {
            let mut worker = self.minor_worker(i);
            let mut e = self.evacuation::<IN_PLACE, MARKING>(&mut worker, mode);
            outcome.promoted += e.worker.old.bytes + std::mem::take(&mut e.worker.stayed);
            outcome.survived += std::mem::take(&mut e.worker.copied);
            e.finish();
        }
        for i in 0..self.workers.count() {
            if MARKING {
                self.evacuation::<IN_PLACE, MARKING>(&mut self.minor_worker(i), mode)
                    .hand_over_to_marker();
            }
        }
        self.wants_help.store(
            self.wants_help_after(parallel, outcome.promoted + outcome.survived, ns),
            Relaxed,
        );
        if mode == EvacuationMode::Age {
            self.aging.aged(outcome.promoted, outcome.survived);
        }
        self.rebuild_nursery(mode, MARKING, pins, outcome.promoted + outcome.survived, ns);
        outcome
    }
    /// What lives or dies by whether something else does: values of pairs, weak handles, objects to be finalized. All that is reachable
    /// otherwise is kept.
    fn process_weak_references<const IN_PLACE: bool, const MARKING: bool>(
        &self,
        mode: EvacuationMode,
    ) {
        let mut worker = self.minor_worker(0);
        for i in 1..self.workers.count() {
            let mut other = self.minor_worker(i);
            while let Some(row) = other.ephemerons.pop() {
                worker.ephemerons.push(row);
            }
        }
        let mut pending = self.pending.borrow();
        let mut e = self.evacuation::<IN_PLACE, MARKING>(&mut worker, mode);
        e.exclusive = true;
        e.pending = Some(&mut pending);
        e.ephemerons_to_fixpoint();
        self.world.weak_handles(false, true, &mut |o| e.survivor(o));
        finalizers::young(self, &mut e);
        e.ephemerons_to_fixpoint();
        e.clear_dead_ephemerons();
        self.world.weak_handles(true, true, &mut |o| e.survivor(o));
        self.world.side_tables(true, &mut |o| e.survivor(o));
    }
    fn evacuation_mode(&self, promote_all: bool) -> EvacuationMode {
        let every = self.config.debug.promote_in_place;
        let forced = every > 0 && self.minor_count().is_multiple_of(every);
        match self.survival.load(Relaxed) {
            _ if forced => EvacuationMode::InPlace,
            IN_PLACE.. if !self.has_holes() => EvacuationMode::InPlace,
            PROMOTE.. => EvacuationMode::Promote,
            _ if promote_all => EvacuationMode::Promote,
            _ if self.aging.take() => EvacuationMode::Promote,
            _ => EvacuationMode::Age,
        }
    }
    /// Are helpers worth waking next time? Not for little work, not where they find none (a list has no two ends), and not
    /// where the machine has no core for them: what a kilobyte cost with and without them is compared, and the worse way tried
    /// again now and then.
    fn wants_help_after(&self, parallel: bool, copied: usize, ns: u64) -> bool {
        const ENOUGH: usize = 256 << 10;
        const RETRY: u32 = 64;
        if copied < ENOUGH {
            return false;
        }
        let cost = &self.copy_cost[usize::from(parallel)];
        let now = (ns << 10) / copied as u64;
        let before = cost.load(Relaxed);
        cost.store(
            if before == 0 {
                now
            } else {
                (3 * before + now) / 4
            },
            Relaxed,
        );
        let [single, helped] = [0, 1].map(|i| self.copy_cost[i].load(Relaxed));
        let better = helped < single;
        let turn = self.collections_with_work.fetch_add(1, Relaxed);
        if turn.is_multiple_of(RETRY) {
            !better
        } else {
            better
        }
    }

    fn evacuation<'h, const IN_PLACE: bool, const MARKING: bool>(
        &'h self,
        worker: &'h mut MinorWorker,
        mode: EvacuationMode,
    ) -> Evacuation<'h, M, W, IN_PLACE, MARKING> {
        worker.old.marked = MARKING;
        Evacuation {
            heap: self,
            worker,
            pending: None,
            promote: mode == EvacuationMode::Promote,
            exclusive: false,
        }
    }

    /// Takes the TLABs away and collects what the stacks may refer to.
    fn retire_tlabs(&self, candidates: &mut List<usize>) {
        candidates.clear();
        let mut threads = 0;
        self.world.mutators(&mut |m| {
            threads += 1;
            m.tlab.retire();
            for &(from, to) in m.ranges {
                // SAFETY: the world says these are readable.
                unsafe { conservative::collect(&self.space, from, to, candidates) };
            }
        });
        self.nursery.lock().threads = threads;
    }
}
