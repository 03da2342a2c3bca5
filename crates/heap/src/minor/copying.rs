//! One worker of a minor collection: it follows slots of roots, cards and kept objects to young objects, and keeps these.
//!
//! ```text
//!   the slot refers to          what `resolve` does                                         the slot afterwards
//!   --------------------------  ----------------------------------------------------------  -------------------------------
//!   nothing, no heap address    nothing                                                     unchanged
//!   Nursery, header MOVED       nothing                                                     the new address
//!   Nursery, pinned             nothing (pins are scanned as roots)                         unchanged, young
//!   Nursery, age 0              copies it to a Survivors block, pushes it                   the copy, young
//!   Nursery, age 1, or Promote  copies it to an Old block, pushes it                        the copy, old
//!   Nursery, IN_PLACE           sets its mark bit, pushes it                                unchanged, old
//!   Survivors                   nothing: the copy was pushed when it was made               unchanged, young
//!   Old, Large, Statics         nothing, but MARKING: records it for the marker             unchanged, old
//! ```
//!
//! # Invariants
//! * The worker that replaces the whole header of an object by "moved to" has copied it. The copy carries the header that was replaced. A
//!   worker that loses this race takes its allocation back and uses the winner's copy.
//! * Blocks that receive copies are not of kind Nursery while the collection runs, so "young and not yet resolved" is a test of one byte.
//! * After the collection every old object that refers to a young one lies on a marked card. The card is marked after the `start` bit of the
//!   object is in the bitmap, so a worker that cleans the card later finds the object.
//! * While marking runs, promoted objects are born marked. But their `mark` bits, and those of the old objects they refer to, are set at the
//!   end of the collection with the gate shut: until then only the marker changes `mark` bits of old blocks, without locked instructions.
use crate::Heap;
use crate::memory::prefetch;
use crate::minor::nursery::terminate;
use crate::minor::worker::MinorWorker;
use crate::model::{Contents, Model, World};
use crate::object::{Slot, header_of};
use crate::references::ephemerons::{Ephemeron, EphemeronRange, PENDING, PendingEphemerons};
use crate::space::{BlockId, BlockKind, Space};
use std::sync::atomic::Ordering::*;

/// Bits of the header of an object that has moved ([`crate::object`](mod@crate::object)): it has moved, and it is young there.
const MOVED: u64 = 1;
const YOUNG: u64 = 2;
const ADDRESS: u64 = !7;
/// The low bit of an entry of the local stack: the object is old.
const OLD: usize = 1;
/// The low bit of an entry of `for_marker`: a promoted table of ephemerons, which the marker has to scan as well.
const TABLE: usize = 1;

/// A worker at work in one collection. `IN_PLACE`: the mode is [`EvacuationMode::InPlace`](crate::minor::worker::EvacuationMode::InPlace).
/// `MARKING`: a cycle is marking.
pub(crate) struct Evacuation<
    'h,
    M: Model,
    W: World,
    const IN_PLACE: bool = false,
    const MARKING: bool = false,
> {
    pub heap: &'h Heap<M, W>,
    pub worker: &'h mut MinorWorker,
    /// Ephemerons that wait for their keys, for the one worker that processes ephemerons.
    pub pending: Option<&'h mut PendingEphemerons>,
    /// Survivors are promoted, whatever their age.
    pub promote: bool,
    /// No other worker copies meanwhile, so headers and mark bits are changed by plain stores.
    pub exclusive: bool,
}

/// What a slot refers to, once it was resolved.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Referent {
    /// Null, or an address outside the heap.
    Nothing,
    /// An object that is young after this collection.
    Young,
    /// An object that became old in this collection.
    Promoted,
    /// An object that was old before, or large, or root memory.
    Old,
}

impl<'h, M: Model, W: World, const IN_PLACE: bool, const MARKING: bool>
    Evacuation<'h, M, W, IN_PLACE, MARKING>
{
    #[inline(always)]
    pub(crate) fn space(&self) -> &'h Space {
        &self.heap.space
    }
    /// Where the object is after this collection, and whether it is young there. None: it is young and nothing has reached it yet.
    ///
    /// # Safety
    /// `object` is an object of this heap that was alive before this collection, or an address outside the heap.
    pub unsafe fn survivor(&self, object: usize) -> Option<(usize, bool)> {
        match self.space().kind_at(object) {
            BlockKind::Nursery => {
                // SAFETY: the caller's promise: an object; its nursery block is not freed before the collection ends.
                let h = unsafe { header_of(object) }.load(Acquire);
                if h & (MOVED | PENDING) == MOVED {
                    Some(((h & ADDRESS) as usize, h & YOUNG != 0))
                } else {
                    self.space()
                        .is_marked(object)
                        .then_some((object, !IN_PLACE))
                }
            }
            BlockKind::Survivors => Some((object, true)),
            _ => Some((object, false)),
        }
    }
    /// Keeps an object. Returns where it is now, and whether it is young.
    ///
    /// # Safety
    /// As for [`Evacuation::survivor`].
    #[inline]
    pub unsafe fn keep(&mut self, object: usize) -> (usize, bool) {
        let Some(block) = self.space().block_of(object) else {
            return (object, false);
        };
        match self.space().kind(block) {
            // SAFETY: the caller's promise: an object of that nursery block.
            BlockKind::Nursery => unsafe { self.forward(object, block) },
            k => (object, k == BlockKind::Survivors),
        }
    }
    /// Keeps what a slot refers to. Returns whether that is young afterwards.
    #[inline]
    pub fn slot(&mut self, slot: Slot) -> bool {
        self.resolve(slot) == Referent::Young
    }
    /// Keeps what a slot refers to, and updates the slot if that has moved. See the table at the head of this file.
    #[inline(always)]
    fn resolve(&mut self, slot: Slot) -> Referent {
        let v = slot.load(Relaxed);
        let Some(block) = self.space().block_of(v) else {
            return Referent::Nothing;
        };
        match self.space().kind(block) {
            BlockKind::Nursery => {
                // SAFETY: a slot refers to an object, here to one of that nursery block.
                let (to, young) = unsafe { self.forward(v, block) };
                if to != v {
                    slot.store(to, Release);
                }
                if young {
                    Referent::Young
                } else {
                    Referent::Promoted
                }
            }
            BlockKind::Survivors => Referent::Young,
            _ => Referent::Old,
        }
    }
    /// Keeps a young object of that nursery block, by copying it unless it is pinned or has been copied. Returns where it is now, and whether
    /// it is young.
    ///
    /// # Safety
    /// `object` is an object of that nursery block, and was alive before this collection.
    #[inline(always)]
    unsafe fn forward(&mut self, object: usize, block: BlockId) -> (usize, bool) {
        if IN_PLACE {
            self.mark_in_place(object);
            return (object, false);
        }
        let space = self.space();
        // SAFETY: the caller's promise: an object of a nursery block, which is not freed before the collection ends.
        let header = unsafe { header_of(object) };
        let mut seen = header.load(Acquire);
        if seen & MOVED != 0 {
            if seen & PENDING == 0 {
                return ((seen & ADDRESS) as usize, seen & YOUNG != 0);
            }
            seen = self.key_reached(object);
        }
        let info = space.info(block);
        if info.pinned.load(Relaxed) != 0 && space.is_marked(object) {
            return (object, true);
        }
        debug_assert!(
            M::is_plausible(seen),
            "a reference to {object:#x}, which has the header {seen:#x}"
        );
        let descriptor = M::descriptor(seen);
        // SAFETY: a young object with that header.
        let size = unsafe { descriptor.size::<M>(object, seen) };
        let promote = self.promote || info.age.load(Relaxed) > 0;
        let to = if promote {
            self.worker.old.allocate(space, &self.heap.old, size)
        } else {
            self.survivor_memory(size)
        };
        let Some(to) = to else {
            self.heap.exhausted("promotion")
        };
        // SAFETY: `to` is `size` fresh bytes of ours; the object does not change while the world is stopped.
        unsafe {
            for i in (8..size).step_by(8) {
                *((to + i) as *mut u64) = *((object + i) as *const u64);
            }
            *(to as *mut u64) = seen;
        }
        let moved = to as u64 | MOVED | if promote { 0 } else { YOUNG };
        if self.exclusive {
            header.store(moved, Release);
        } else if let Err(other) = header.compare_exchange(seen, moved, AcqRel, Acquire) {
            if promote {
                self.worker.old.undo(to, size);
            } else {
                self.worker.survivors_next = to;
                self.worker.copied -= size;
            }
            return ((other & ADDRESS) as usize, other & YOUNG != 0);
        }
        self.heap.world.moved(object, to);
        if promote {
            self.worker.old.complete(space, to);
        }
        // SAFETY: the header is one that the model gave to an object.
        if unsafe { descriptor.contents::<M>(seen) } != Contents::Plain {
            self.worker
                .local_stack
                .push(to | if promote { OLD } else { 0 });
        }
        (to, !promote)
    }
    /// Ephemerons wait for an object that is reached now: they become due. Returns the object's own header.
    #[cold]
    fn key_reached(&mut self, object: usize) -> u64 {
        match &mut self.pending {
            Some(pending) => pending.reached(object),
            None => self
                .heap
                .fail(&format!("pairs wait for {object:#x}, and nobody for them")),
        }
    }
    /// Keeps a young object where it is: sets its mark bit, and pushes it if it was not marked.
    #[inline(always)]
    fn mark_in_place(&mut self, object: usize) {
        let space = self.space();
        let new = if self.exclusive {
            space.set_mark_exclusive(object)
        } else {
            space.set_mark(object)
        };
        if new {
            prefetch(object);
            self.worker.local_stack.push(object | OLD);
        }
    }
    /// Memory for a copy within the nursery. None: there is no free block.
    fn survivor_memory(&mut self, size: usize) -> Option<usize> {
        let w = &mut *self.worker;
        if w.survivors_next + size > w.survivors_end {
            if w.survivors_next < w.survivors_end {
                // SAFETY: the block is this worker's, and nothing was copied there yet.
                unsafe { terminate(w.survivors_next) };
            }
            let space = &self.heap.space;
            let b = space.alloc_block(BlockKind::Survivors)?;
            space.clear_starts(b);
            space.clear_marks(b);
            space.info(b).age.store(1, Relaxed);
            space.set_start(space.address(b));
            w.survivors_next = space.address(b);
            w.survivors_end = space.end(b);
        }
        w.copied += size;
        w.survivors_next += size;
        Some(w.survivors_next - size)
    }

    /// Scans a pinned object.
    ///
    /// # Safety
    /// `object` is a pinned object of this collection.
    pub unsafe fn pinned(&mut self, object: usize) {
        // SAFETY: a pinned object is kept.
        unsafe { self.scan(object | if IN_PLACE { OLD } else { 0 }) };
    }
    /// Scans an entry of the local stack: resolves the reference fields of a kept object.
    ///
    /// # Safety
    /// `entry` comes from a stack of this collection, or is an object that is kept, with the bit [`OLD`] if it will be old.
    #[inline(always)]
    unsafe fn scan(&mut self, entry: usize) {
        let (object, old) = (entry & !OLD, entry & OLD != 0);
        // SAFETY: an entry of the local stack, or a pin, is an object that is kept.
        let header = unsafe { header_of(object) }.load(Relaxed);
        debug_assert!(
            M::is_plausible(header),
            "a reference to {object:#x}, which has the header {header:#x}"
        );
        let descriptor = M::descriptor(header);
        if IN_PLACE {
            // SAFETY: an object that is kept, with its header.
            self.worker.stayed += unsafe { descriptor.size::<M>(object, header) };
        }
        // SAFETY: the header of the kept object.
        match unsafe { descriptor.contents::<M>(header) } {
            Contents::Plain => {}
            Contents::Ephemerons => {
                // SAFETY: a table of ephemerons where it stays for the rest of this collection.
                let range = unsafe { EphemeronRange::of::<M>(object) };
                self.worker.ephemerons.push(range);
                if MARKING && old {
                    self.worker.for_marker.push(object | TABLE);
                }
            }
            Contents::References => {
                // SAFETY: the kept object has that header, which leads to that descriptor.
                unsafe {
                    descriptor.visit::<M>(object, header, |slot| match self.resolve(slot) {
                        Referent::Young if old => self.mark_card(slot),
                        Referent::Old if MARKING && old => self.record_for_marker(slot),
                        _ => {}
                    })
                }
            }
        }
    }
    /// Marks the card of a field of a promoted object that refers to a young one. The object's `start` bit is made visible before, so that a
    /// worker that cleans the card later finds the object.
    fn mark_card(&mut self, slot: Slot) {
        self.worker.old.flush(self.space());
        self.space().dirty(slot.address());
    }
    /// Records what a field of a promoted object refers to, because the marker does not scan promoted objects.
    #[inline(always)]
    fn record_for_marker(&mut self, slot: Slot) {
        let space = self.space();
        let object = slot.load(Relaxed);
        let block = space.block(object);
        let info = space.info(block);
        let new = match space.kind(block) {
            BlockKind::Old => {
                if info.evacuate.load(Relaxed) != 0 {
                    self.worker.fields.push(slot);
                }
                !space.is_marked(object)
            }
            BlockKind::Large => info.large_marked.load(Relaxed) == 0,
            _ => false,
        };
        if new {
            self.worker.for_marker.push(object);
        }
    }
    /// Scans local and shared stacks, until no worker has anything left.
    pub fn drain(&mut self) {
        loop {
            while let Some(object) = self.worker.local_stack.pop() {
                // SAFETY: the entry comes from the local stack.
                unsafe { self.scan(object) };
                if self.heap.shared_stack.is_starving(&self.worker.local_stack) {
                    // Another worker may look at what this one promoted, and mark its cards.
                    self.worker.old.flush(&self.heap.space);
                    self.heap.shared_stack.share(&mut self.worker.local_stack);
                }
            }
            if !self
                .heap
                .shared_stack
                .wait_for_work(&mut self.worker.local_stack)
            {
                return;
            }
        }
    }
    /// Scans the local stack until it is empty. No other worker is waited for.
    pub fn drain_exclusive(&mut self) {
        while let Some(object) = self.worker.local_stack.pop() {
            // SAFETY: the entry comes from the local stack.
            unsafe { self.scan(object) };
        }
    }

    /// Keeps the values of ephemerons whose keys live, and what they refer to, until nothing changes.
    pub(crate) fn ephemerons_to_fixpoint(&mut self) {
        let Some(pending) = self.pending.take() else {
            return;
        };
        // SAFETY: keys of ephemerons of tables that are kept.
        pending.resume(|key| unsafe { self.is_alive(key) });
        self.pending = Some(pending);
        let mut pairs = 0;
        loop {
            if let Some(row) = self.worker.ephemerons.pop() {
                pairs += row.len();
                row.iter().for_each(|pair| self.ephemeron(pair));
            } else if let Some(pair) = self.pending.as_mut().and_then(|w| w.next_due()) {
                self.keep_ephemeron(pair);
            } else if let Some(entry) = self.worker.local_stack.pop() {
                if IN_PLACE && let Some(pending) = &mut self.pending {
                    pending.reached(entry & !OLD);
                }
                // SAFETY: the entry comes from the local stack.
                unsafe { self.scan(entry) };
            } else {
                break;
            }
        }
        if let Some(pending) = &mut self.pending {
            pending.settle();
        }
        self.heap.stats.ephemerons.fetch_add(pairs as u64, Relaxed);
    }
    /// Is the key of an ephemeron kept, or null?
    ///
    /// # Safety
    /// As for [`Evacuation::survivor`].
    unsafe fn is_alive(&self, key: usize) -> bool {
        // SAFETY: the caller's promise is that of `survivor`.
        key == 0 || unsafe { self.survivor(key) }.is_some()
    }
    fn ephemeron(&mut self, pair: Ephemeron) {
        // SAFETY: the key of an ephemeron of a table that is kept.
        if unsafe { self.is_alive(pair.load_key()) } {
            self.keep_ephemeron(pair);
        } else if let Some(pending) = &mut self.pending {
            pending.wait(pair);
        }
    }
    /// Keeps the value of an ephemeron whose key lives, and marks the card of each of the two words that is young afterwards.
    fn keep_ephemeron(&mut self, pair: Ephemeron) {
        for slot in [pair.key(), pair.value()] {
            if self.slot(slot) && is_old(self.space(), slot.address()) {
                self.space().dirty(slot.address());
            }
        }
    }
    /// Clears the ephemerons whose keys are dead: the key becomes the tombstone, the value null.
    pub(crate) fn clear_dead_ephemerons(&mut self) {
        let tombstone = self.heap.world.tombstone();
        while let Some(pair) = self.pending.as_mut().and_then(|w| w.next_dead()) {
            pair.clear(tombstone);
            self.keep_ephemeron(pair);
        }
    }
    /// Ends this worker's part of the collection. The gate is shut.
    pub(crate) fn finish(&mut self) {
        let w = &mut *self.worker;
        if w.survivors_next < w.survivors_end {
            // SAFETY: the block is this worker's, and nothing was copied there.
            unsafe { terminate(w.survivors_next) };
        }
        (w.survivors_next, w.survivors_end) = (0, 0);
        w.old.finish(&self.heap.space, &self.heap.old);
        w.local_stack.clear();
    }
    /// Gives the marker what this worker has recorded for it. The gate is shut, and every worker has finished.
    pub(crate) fn hand_over_to_marker(&mut self) {
        let w = &mut *self.worker;
        let mut marker = self.heap.major.marker(0);
        let mut marking = self.heap.marking(&mut marker);
        while let Some(f) = w.fields.pop() {
            marking.own.fields.push(f);
        }
        while let Some(o) = w.for_marker.pop() {
            // SAFETY: an old object that a promoted one refers to, or a promoted table, which was born marked.
            unsafe {
                match o & TABLE {
                    0 => marking.mark_object(o),
                    _ => marking.scan_later(o & !TABLE),
                }
            }
        }
        w.fields.clear();
        w.for_marker.clear();
    }
}

/// Will the object at that address be old after the running minor collection, so that its card has to be marked? (Not asked in a collection
/// that promotes in place, after which nothing is young.)
fn is_old(space: &Space, at: usize) -> bool {
    !matches!(space.kind_at(at), BlockKind::Survivors | BlockKind::Nursery)
}
