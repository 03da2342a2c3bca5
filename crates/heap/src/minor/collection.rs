//! One minor collection, phase by phase.
//!
//! ```text
//!  phase                  who works            gate   what is done
//!  ---------------------  -------------------  -----  --------------------------------------------------------------
//!  retire_tlabs           collecting thread    open   mutators lose their TLABs; words of stacks become candidates ([`super::parked`])
//!  pin                    collecting thread    open   `mark` bits of young objects that must not move
//!  copy_reachable         all workers          open   roots, cards and pinned objects are scanned, survivors copied
//!  process_weak_refs      collecting thread    shut   ephemerons, weak handles, finalizers, side tables
//!  finish_workers         collecting thread    shut   allocators return their blocks; the marker is told what was promoted
//!  rebuild_nursery        collecting thread    shut   evacuated blocks are freed, gaps between pins become fragments
//! ```
//!
//! # Invariants
//! * The world is stopped from the first phase to the last.
//! * All pins are known before the first object is copied: a worker that meets a pinned object leaves it where it is.
//! * An object that has survived one collection stays young; the second promotes it ([`EvacuationMode::Age`]).
//! * If nearly everything survives, nothing is copied ([`EvacuationMode::InPlace`]): a reachable object is marked like a pinned one, and
//!   every nursery block that holds one becomes an old block. Nothing is young afterwards, so no slot changes and no card is needed.
use super::finalizers;
use super::worker::{EvacuationMode, MinorWorker};
use crate::Heap;
use crate::memory::List;
use crate::minor::copying::Evacuation;
use crate::minor::pace::Work;
use crate::model::{Model, Range, World};
use crate::roots::conservative;
use crate::space::{BlockId, BlockKind};
use crate::stats::Outcome;
use crate::threads::gate::Stop;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use vervet_os::clock;

/// If at least this percentage of young bytes survived the last collection, survivors are promoted at once instead of being copied twice.
const PROMOTE_PERCENT: u32 = 60;
/// If at least this percentage survived, survivors are promoted in place, without being copied at all.
const IN_PLACE_PERCENT: u32 = 80;
/// Blocks whose cards a worker scans before it takes the next ones.
const CHUNK: usize = 64;
/// A worker whose local stack is longer than this scans it before it looks at more cards, so that the stack stays in the cache.
const LONG_STACK: usize = 4096;

impl<M: Model, W: World> Heap<M, W> {
    /// Collects the nursery; `promote_survivors` says that nothing but pinned objects may stay young. The world is stopped, and the
    /// calling thread collects. The gate is shut when this returns.
    pub(crate) fn minor(&self, promote_survivors: bool, stop: &mut Stop<'_>) -> Outcome {
        let mode = self.evacuation_mode(promote_survivors);
        match (mode == EvacuationMode::InPlace, self.major.is_marking()) {
            (false, false) => self.minor_phases::<false, false>(mode, stop),
            (false, true) => self.minor_phases::<false, true>(mode, stop),
            (true, false) => self.minor_phases::<true, false>(mode, stop),
            (true, true) => self.minor_phases::<true, true>(mode, stop),
        }
    }
    /// The phases, in the order of the table at the head of this file. `IN_PLACE` and `MARKING` are constants because the loops over
    /// slots and objects are compiled once for each combination.
    fn minor_phases<const IN_PLACE: bool, const MARKING: bool>(
        &self,
        mode: EvacuationMode,
        stop: &mut Stop<'_>,
    ) -> Outcome {
        let scratch = &mut *self.scratch.borrow();
        self.retire_tlabs(&mut scratch.candidates);
        self.pin(&scratch.candidates, &mut scratch.pins);
        let pins = scratch.pins.as_slice();
        let parallel = self.workers.count() > 1 && self.wants_help.load(Relaxed);
        let (began, worked) = (clock::now(), clock::thread_cpu());
        self.copy_reachable::<IN_PLACE, MARKING>(mode, parallel, pins);
        // From here on one thread works, and the marker must not run beside it.
        stop.shut();
        self.process_weak_references::<IN_PLACE, MARKING>(mode);
        let (ns, worked) = (clock::now() - began, clock::thread_cpu() - worked);
        let outcome = self.finish_workers::<IN_PLACE, MARKING>(mode, pins.len());
        let kept = outcome.promoted + outcome.survived;
        self.wants_help
            .store(self.wants_help_after(parallel, kept, ns), Relaxed);
        if mode == EvacuationMode::Age {
            self.aging.aged(outcome.promoted, outcome.survived);
        }
        let work = Work {
            began,
            wall: ns,
            cpu: worked,
        };
        self.rebuild_nursery(mode, MARKING, pins, kept, work);
        outcome
    }
    /// Pins the young objects that handles pin and those that the candidates refer to. `pins` becomes the list of all, in ascending order.
    fn pin(&self, candidates: &List<usize>, pins: &mut List<usize>) {
        let space = &self.space;
        pins.clear();
        self.world.pinned_handles(true, &mut |o| {
            if space.kind_at(o) == BlockKind::Nursery {
                // There may be many such objects, and they stay pinned for long: their block will become an old one.
                space.info(space.block(o)).becomes_old.store(1, Relaxed);
                if space.pin(o) {
                    pins.push(o);
                }
            }
        });
        let mut cursor = conservative::Cursor::default();
        let is_young = |address| conservative::young_block(space, address).is_some();
        for &c in candidates.as_slice() {
            conservative::each_object::<M>(space, c, &mut cursor, is_young, |o| {
                if space.pin(o) {
                    pins.push(o);
                }
            });
        }
        pins.as_mut_slice().sort_unstable();
    }
    /// Keeps all young objects that are reachable otherwise than through ephemerons, on this thread and, if `parallel`, the helpers.
    fn copy_reachable<const IN_PLACE: bool, const MARKING: bool>(
        &self,
        mode: EvacuationMode,
        parallel: bool,
        pins: &[usize],
    ) {
        let used = self.space.used();
        // The workers take chunks of blocks by counting this up.
        let next_chunk = AtomicUsize::new(0);
        let job = |index: usize| {
            if parallel {
                self.shared_stack.enter();
            }
            let mut worker = self.minor_worker(index);
            let mut e = self.evacuation::<IN_PLACE, MARKING>(&mut worker, mode);
            e.exclusive = !parallel;
            if index == 0 {
                self.scan_roots(&mut e, pins);
            }
            loop {
                let first = next_chunk.fetch_add(1, Relaxed) * CHUNK;
                if first >= used {
                    break;
                }
                for b in BlockId::range(first, (first + CHUNK).min(used)) {
                    e.scan_cards(b);
                }
                if e.worker.local_stack.len() > LONG_STACK {
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
    }
    /// Scans pinned objects and keeps what roots, strong handles and queued finalizers refer to. One worker does it.
    fn scan_roots<const IN_PLACE: bool, const MARKING: bool>(
        &self,
        e: &mut Evacuation<'_, M, W, IN_PLACE, MARKING>,
        pins: &[usize],
    ) {
        for &o in pins {
            // SAFETY: `pin` has found and pinned the object.
            unsafe { e.pinned(o) };
        }
        self.each_root(|slot| {
            e.slot(slot);
        });
        self.keep_parked_roots(e);
        // SAFETY: the world promises that handles refer to objects.
        self.world
            .strong_handles(true, &mut |o| unsafe { e.keep(o) });
        self.finalizers.roots(&mut |slot| {
            e.slot(slot);
        });
    }
    /// Ends every worker's part: counts what it kept, and tells the marker what it promoted. The gate is shut.
    fn finish_workers<const IN_PLACE: bool, const MARKING: bool>(
        &self,
        mode: EvacuationMode,
        pinned: usize,
    ) -> Outcome {
        let mut outcome = Outcome {
            pinned,
            ..Outcome::default()
        };
        for i in 0..self.workers.count() {
            let mut worker = self.minor_worker(i);
            let mut e = self.evacuation::<IN_PLACE, MARKING>(&mut worker, mode);
            outcome.promoted += e.worker.old.bytes + std::mem::take(&mut e.worker.stayed);
            outcome.survived += std::mem::take(&mut e.worker.copied);
            e.finish();
        }
        // In a loop of its own: the marker looks at objects whose `start` bits every worker must have set before.
        for i in 0..self.workers.count() {
            if MARKING {
                self.evacuation::<IN_PLACE, MARKING>(&mut self.minor_worker(i), mode)
                    .hand_over_to_marker();
            }
        }
        outcome
    }
    /// Decides about everything whose life depends on another object: values of ephemerons, targets of weak handles, objects with
    /// finalizers. All that is reachable otherwise has been kept.
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
        // SAFETY: the world promises that handles and side tables refer to objects, which are not freed before the collection ends.
        let survivor = |e: &Evacuation<'_, M, W, IN_PLACE, MARKING>, o| unsafe { e.survivor(o) };
        self.world
            .weak_handles(false, true, &mut |o| survivor(&e, o));
        finalizers::young(self, &mut e);
        e.ephemerons_to_fixpoint();
        e.clear_dead_ephemerons();
        self.world
            .weak_handles(true, true, &mut |o| survivor(&e, o));
        self.world.side_tables(true, &mut |o| survivor(&e, o));
    }
    /// How the collection that begins treats survivors.
    fn evacuation_mode(&self, promote_survivors: bool) -> EvacuationMode {
        let every = self.config.debug.promote_in_place;
        let forced = every > 0 && self.minor_count().is_multiple_of(every);
        match self.survival.load(Relaxed) {
            _ if forced => EvacuationMode::InPlace,
            IN_PLACE_PERCENT.. if !self.has_holes() => EvacuationMode::InPlace,
            PROMOTE_PERCENT.. => EvacuationMode::Promote,
            _ if promote_survivors => EvacuationMode::Promote,
            _ if self.aging.take() => EvacuationMode::Promote,
            _ => EvacuationMode::Age,
        }
    }
    /// Is it worth waking helpers in the next collection? Not for little work; not for a structure without parallelism, such as a list;
    /// not if other threads use all processors. So the collector measures what copying a kilobyte costs with and without helpers, uses the
    /// cheaper way, and tries the other one again now and then. `copied` is in bytes, `ns` is the time the copying took.
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

    /// Takes every mutator's TLAB, and fills `candidates` with the words of stacks and registers that may be references to young objects, in ascending
    /// order.
    fn retire_tlabs(&self, candidates: &mut List<usize>) {
        candidates.clear();
        let mut threads = 0;
        let mut collect = |ranges: &[Range]| {
            for &(from, to) in ranges {
                // SAFETY: the world says these are readable.
                unsafe {
                    conservative::collect_young(&self.space, from, to, candidates, |_| true);
                }
            }
        };
        self.world.mutators(&mut |m| {
            threads += 1;
            self.retire(m.tlab);
            collect(m.ranges);
        });
        self.world.copied_stacks(&mut collect);
        self.scan_parked_stacks(candidates);
        self.nursery.lock().threads = threads;
        conservative::prepare(candidates);
    }
}
