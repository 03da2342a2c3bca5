//! The two pauses of a cycle: the initial mark and the final mark.
//!
//! # Invariants
//! * Each is preceded, in the same pause, by a minor collection.
//! * In the final mark pause weak references are decided in this order: ephemerons, short weak handles, finalizers (which keep objects alive),
//!   ephemerons again, long weak handles, side tables.
use super::marking::Marking;
use crate::Heap;
use crate::model::{Contents, Model, ParkedSet, Range, World};
use crate::object::{Slot, each_slot};
use crate::roots::conservative;
use crate::space::{BlockId, BlockKind};
use std::sync::atomic::{AtomicUsize, Ordering::*};

impl<M: Model, W: World> Heap<M, W> {
    /// The initial mark: marks what stacks, roots and young objects refer to.
    pub(crate) fn initial_mark(&self) {
        self.choose_evacuated();
        self.major.goal.store(self.old_bytes(), Relaxed);
        self.major.sparse.store(0, Relaxed);
        self.major
            .promoted
            .store(self.stats.promoted.load(Relaxed), Relaxed);
        self.major.marking.store(true, Release);
        self.world.marking(self.major.begun.load(Relaxed).max(1));
        let mut marker = self.major.marker(0);
        let mut m = self.exclusive_marking(&mut marker);
        self.mark_stacks(&mut m, None);
        self.mark_roots(&mut m);
        self.mark_from_young(&mut m, false);
    }
    /// Marks what the stacks of threads that run, and of a set of parked ones, may refer to. Blocks that are conservatively hit, or hold objects of pinned handles, are not evacuated in this cycle.
    fn mark_stacks(&self, m: &mut Marking<'_, M, W>, parked: Option<ParkedSet>) {
        // There may be very many pinned handles, and mostly there is nothing to be evacuated.
        let space = &self.space;
        let evacuates =
            |b| space.kind(b) == BlockKind::Old && space.info(b).evacuate.load(Relaxed) != 0;
        if space.all_blocks().any(evacuates) {
            self.world.pinned_handles(false, &mut |o| {
                if space.kind_at(o) == BlockKind::Old {
                    space
                        .info(space.block(o))
                        .conservatively_hit
                        .store(1, Relaxed);
                }
            });
        }
        let scratch = &mut *self.scratch.borrow();
        let candidates = &mut scratch.candidates;
        candidates.clear();
        let mut collect = |ranges: &[Range]| {
            for &(from, to) in ranges {
                // SAFETY: the world says these are readable.
                unsafe { conservative::collect(space, from, to, candidates) };
            }
        };
        self.world.mutators(&mut |m| collect(m.ranges));
        self.world.copied_stacks(&mut collect);
        if let Some(set) = parked {
            self.world
                .parked_stacks(set, &mut |ranges, _| collect(ranges));
        }
        conservative::prepare(candidates);
        let mut cursor = conservative::Cursor::default();
        let is_old = |address| {
            matches!(
                space.kind_at(address),
                BlockKind::Old | BlockKind::Large | BlockKind::LargeTail
            )
        };
        for &c in candidates.as_slice() {
            conservative::each_object::<M>(space, c, &mut cursor, is_old, |o| {
                let block = space.block(o);
                if space.kind(block) == BlockKind::Old {
                    space.info(block).conservatively_hit.store(1, Relaxed);
                }
                // SAFETY: the object was found by its `start` bit, or is a large one; marking keeps it.
                unsafe { m.mark_object(o) };
            });
        }
    }
    /// Marks what young objects refer to. Only pinned ones are left, but they may be all that keeps most old objects alive. They may move
    /// before the final mark (`last`), so until then neither tables of ephemerons nor fields among them are recorded.
    fn mark_from_young(&self, m: &mut Marking<'_, M, W>, last: bool) {
        let space = &self.space;
        for b in space.all_blocks() {
            if space.kind(b) == BlockKind::Nursery {
                conservative::each_young::<M>(space, b, |o, _| {
                    // SAFETY: a young object with its header.
                    unsafe {
                        let header = *(o as *const u64);
                        match M::contents(header) {
                            Contents::References => {
                                each_slot::<M>(o, header, 0, usize::MAX, |f| m.mark_root(f));
                            }
                            Contents::Ephemerons if last => m.own.ephemerons.push(o),
                            _ => {}
                        }
                    }
                });
            }
        }
    }
    /// Calls `visit` with every reference outside the heap that is neither in root memory nor a parked thread's. The world is stopped.
    pub(crate) fn each_root(&self, mut visit: impl FnMut(Slot)) {
        // SAFETY: the world promises that it names references; they stay where they are while it is stopped.
        self.world
            .roots(&mut |address| visit(unsafe { Slot::new(address) }));
    }
    fn mark_roots(&self, m: &mut Marking<'_, M, W>) {
        self.each_root(|f| m.mark_root(f));
        self.finalizers.roots(&mut |f| m.mark_root(f));
        self.world.strong_handles(false, &mut |o| {
            // SAFETY: the world promises that handles refer to objects; marking keeps them.
            unsafe { m.mark_object(o) };
            (o, matches!(self.space.kind_at(o), BlockKind::Nursery))
        });
    }

    /// The final mark, behind its minor collection: marks the rest, decides about weak references, evacuates, and makes every old block unswept.
    /// `beside` says that parked threads and root memory were scanned beside the program, so that only what has changed since is left.
    pub(super) fn final_mark(&self, beside: bool) {
        let space = &self.space;
        self.mark_remaining(beside);
        self.world.marking(0);
        let mut marker = self.major.marker(0);
        let m = &mut self.exclusive_marking(&mut marker);
        if self.config.debug.verify_before {
            self.check_tables_are_known(&mut m.own.ephemerons);
        }
        let pending = &mut self.pending.borrow();
        self.ephemerons_to_fixpoint(m, pending);
        self.world
            .weak_handles(false, false, &mut |o| self.marked(o));
        self.finalize_old(m);
        self.ephemerons_to_fixpoint(m, pending);
        self.clear_dead_ephemerons(m, pending);
        self.world
            .weak_handles(true, false, &mut |o| self.marked(o));
        self.world.side_tables(false, &mut |o| self.marked(o));
        self.major.marking.store(false, Release);
        self.evacuate(m);
        self.old
            .at_mark
            .store(self.old.bytes.load(Relaxed), Relaxed);
        m.own.fields.clear();
        m.own.local_stack.clear();
        m.own.ephemerons.clear();
        self.sweep_large(&mut self.major.dead_large.lock());
        self.old.recyclable.retain(space, |_| false);
        self.major.threshold.store(usize::MAX, Relaxed);
        for b in space.all_blocks() {
            if space.kind(b) == BlockKind::Old {
                let info = space.info(b);
                info.unswept.store(1, Release);
                info.conservatively_hit.store(0, Relaxed);
                info.recyclable.store(0, Relaxed);
            }
        }
    }
    /// Marks what is reachable otherwise than through ephemerons, with all workers. What the helpers have recorded goes to the first marker.
    fn mark_remaining(&self, beside: bool) {
        let parked = match beside {
            true => ParkedSet::Unmarked,
            false => ParkedSet::All,
        };
        let mut marker = self.major.marker(0);
        self.major.take_born(&mut marker.ephemerons);
        let mut m = self.exclusive_marking(&mut marker);
        self.mark_stacks(&mut m, Some(parked));
        self.mark_roots(&mut m);
        self.world.parked_roots(parked, &mut |roots, _| {
            m.mark_parked_roots(roots);
            false
        });
        if !beside {
            self.mark_all_statics(&mut m);
        }
        self.mark_from_young(&mut m, true);
        drop(marker);
        const CHUNK: usize = 64;
        let used = self.space.used();
        let tasks = AtomicUsize::new(0);
        let job = |index: usize| {
            self.major.shared_stack.enter();
            let mut marker = self.major.marker(index);
            let mut m = self.marking(&mut marker);
            loop {
                let t = tasks.fetch_add(1, Relaxed);
                if t * CHUNK >= used {
                    break;
                }
                for b in BlockId::range(t * CHUNK, ((t + 1) * CHUNK).min(used)) {
                    m.rescan_modified(b);
                }
            }
            m.drain();
        };
        self.workers.run(true, &job);
        let mut marker = self.major.marker(0);
        for i in 1..self.workers.count() {
            let mut other = self.major.marker(i);
            while let Some(t) = other.ephemerons.pop() {
                marker.ephemerons.push(t);
            }
            while let Some(f) = other.fields.pop() {
                marker.fields.push(f);
            }
        }
    }
    /// Where an object is after marking, and whether it is young. None: nothing reached it.
    pub(super) fn marked(&self, object: usize) -> Option<(usize, bool)> {
        match self.space.kind_at(object) {
            BlockKind::Old => self.space.is_marked(object).then_some((object, false)),
            BlockKind::Large => (self
                .space
                .info(self.space.block(object))
                .large_marked
                .load(Relaxed)
                != 0)
                .then_some((object, false)),
            BlockKind::Nursery => Some((object, true)),
            _ => Some((object, false)),
        }
    }
    /// Queues the registered old objects that nothing reached, and marks them with all they refer to.
    fn finalize_old(&self, m: &mut Marking<'_, M, W>) {
        if !self
            .finalizers
            .old::<M>(&self.space, |o| self.marked(o).is_some())
        {
            return;
        }
        self.finalizers.roots(&mut |f| m.mark_root(f));
        while let Some(o) = m.own.next() {
            // SAFETY: the entry comes from the stack of this marker.
            unsafe { m.scan(o) };
        }
    }
}
