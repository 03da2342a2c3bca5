//! One worker of a minor collection: from roots, cards and grey objects to the young objects they refer to.
//!
//! # Invariants
//! * An object is copied by whoever swaps its whole header for "moved to"; the copy carries the header that was seen.
//! * Blocks that receive copies are not `Nursery` while the collection runs, so "young and not yet dealt with" is one byte.
//! * A card is cleaned before its objects are looked at, and marked again if one of them still refers to a young object.
//!   Every old object that refers to a young one afterwards lies on a marked card.
use crate::Heap;
use crate::ahead::Ahead;
use crate::marking::each_pair;
use crate::memory::{List, prefetch};
use crate::model::{Contents, Model, World};
use crate::nursery::terminate;
use crate::old::{Buffer, reaching_into};
use crate::space::{BLOCK, CARD, Kind, Space};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::*};

/// Marked cards whose memory is on its way before they are looked at.
const CARDS_AHEAD: usize = 4;

/// What one worker has: kept between collections.
pub struct Worker {
    /// Copied objects whose fields have not been looked at.
    pub grey: List<usize>,
    ahead: Ahead,
    /// Marked cards of old blocks, or 0.
    cards: [usize; CARDS_AHEAD],
    card: usize,
    /// Where promoted objects go.
    pub old: Buffer,
    survivors_next: usize,
    survivors_end: usize,
    /// Bytes of objects copied within the nursery.
    pub copied: usize,
    /// Bytes of objects that become old where they are.
    pub stayed: usize,
    /// Old objects that promoted ones refer to and nobody had marked: the marker has to look at them.
    marked: List<usize>,
    /// Fields of promoted objects that refer into blocks that will be evacuated.
    fields: List<usize>,
    /// Tables of pairs that were met.
    pub ephemerons: List<usize>,
}

impl Worker {
    /// An idle one.
    pub fn new() -> std::io::Result<Worker> {
        Ok(Worker {
            grey: List::new(1 << 28)?,
            ahead: Ahead::default(),
            cards: [0; CARDS_AHEAD],
            card: 0,
            old: Buffer::default(),
            survivors_next: 0,
            survivors_end: 0,
            copied: 0,
            stayed: 0,
            marked: List::new(1 << 28)?,
            fields: List::new(1 << 27)?,
            ephemerons: List::new(1 << 24)?,
        })
    }
}

/// What becomes of objects that live.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum How {
    /// They are copied: once within the nursery, then out of it.
    Age,
    /// They are copied out of the nursery.
    Promote,
    /// They become old where they are.
    InPlace,
}

/// A worker at work.
pub(crate) struct Evacuation<'h, M: Model, W: World> {
    pub heap: &'h Heap<M, W>,
    pub worker: &'h mut Worker,
    pub how: How,
    pub marking: bool,
    /// No other worker copies meanwhile.
    pub alone: bool,
}

#[inline(always)]
fn header_of(object: usize) -> &'static AtomicU64 {
    // SAFETY: callers pass addresses of objects; the word is their header.
    unsafe { &*(object as *const AtomicU64) }
}
#[inline(always)]
fn slot_of(slot: usize) -> &'static AtomicUsize {
    // SAFETY: callers pass addresses of reference fields.
    unsafe { &*(slot as *const AtomicUsize) }
}

impl<'h, M: Model, W: World> Evacuation<'h, M, W> {
    #[inline(always)]
    fn space(&self) -> &'h Space {
        &self.heap.space
    }
    /// Where the object is after this collection, if that is known; None: it is young and nobody has reached it.
    pub fn survivor(&self, object: usize) -> Option<(usize, bool)> {
        match self.space().kind_at(object) {
            Kind::Nursery => {
                let h = header_of(object).load(Acquire);
                if h & 1 != 0 {
                    let to = (h & !1) as usize;
                    Some((to, self.space().kind_at(to) == Kind::Survivors))
                } else {
                    let young = self.how != How::InPlace;
                    self.space().is_marked(object).then_some((object, young))
                }
            }
            Kind::Survivors => Some((object, true)),
            _ => Some((object, false)),
        }
    }
    /// Keeps an object: where it is now, and is it young?
    #[inline]
    pub fn keep(&mut self, object: usize) -> (usize, bool) {
        match self.space().kind_at(object) {
            Kind::Nursery => self.forward(object),
            k => (object, k == Kind::Survivors),
        }
    }
    /// Keeps what a slot refers to; is that young?
    #[inline]
    pub fn slot(&mut self, slot: usize) -> bool {
        let s = slot_of(slot);
        let v = s.load(Relaxed);
        let Some(block) = self.space().block_of(v) else {
            return false;
        };
        match self.space().kind(block) {
            Kind::Nursery => {
                let (to, young) = self.forward(v);
                if to != v {
                    s.store(to, Relaxed);
                }
                young
            }
            k => k == Kind::Survivors,
        }
    }
    fn forward(&mut self, object: usize) -> (usize, bool) {
        if self.how == How::InPlace {
            self.stay(object);
            return (object, false);
        }
        let space = self.space();
        let header = header_of(object);
        let seen = header.load(Acquire);
        if seen & 1 != 0 {
            let to = (seen & !1) as usize;
            return (to, space.kind_at(to) == Kind::Survivors);
        }
        if space.is_marked(object) {
            return (object, true);
        }
        debug_assert!(
            M::is_plausible(seen),
            "a reference to {object:#x}, which has the header {seen:#x}"
        );
        // SAFETY: a young object with that header.
        let size = unsafe { M::size(object, seen) };
        let promote =
            self.how == How::Promote || space.info(space.block(object)).age.load(Relaxed) > 0;
        let to = if promote {
            self.worker.old.allocate::<M>(space, &self.heap.old, size)
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
        if self.alone {
            header.store(to as u64 | 1, Release);
        } else if let Err(other) = header.compare_exchange(seen, to as u64 | 1, AcqRel, Acquire) {
            if promote {
                self.worker.old.undo(to, size);
            } else {
                self.worker.survivors_next = to;
                self.worker.copied -= size;
            }
            let to = (other & !1) as usize;
            return (to, space.kind_at(to) == Kind::Survivors);
        }
        if promote {
            // The block is filled by this worker only.
            space.set_start_alone(to, self.marking);
        }
        // SAFETY: as above.
        if unsafe { M::contents(seen) } != Contents::Plain {
            self.worker.grey.push(to);
        }
        (to, !promote)
    }
    /// Keeps a young object where it is.
    #[inline]
    fn stay(&mut self, object: usize) {
        let space = self.space();
        let new = if self.alone {
            space.set_mark_alone(object)
        } else {
            space.set_mark(object)
        };
        if new {
            self.worker.grey.push(object);
        }
    }
    /// The next object to be looked at. A copy has just been written; what stays has not been touched yet.
    #[inline]
    fn next(&mut self) -> Option<usize> {
        match self.how {
            How::InPlace => self.worker.ahead.next(&mut self.worker.grey),
            _ => self.worker.grey.pop(),
        }
    }
    fn survivor_memory(&mut self, size: usize) -> Option<usize> {
        let w = &mut *self.worker;
        if w.survivors_next + size > w.survivors_end {
            if w.survivors_next < w.survivors_end {
                terminate(w.survivors_next);
            }
            let space = &self.heap.space;
            let b = space.take(Kind::Survivors)?;
            space.clear_starts(b);
            space.clear_marks(b);
            space.info(b).age.store(1, Relaxed);
            space.set_start(space.address(b));
            w.survivors_next = space.address(b);
            w.survivors_end = space.address(b) + BLOCK;
        }
        w.copied += size;
        w.survivors_next += size;
        Some(w.survivors_next - size)
    }

    /// Looks at the fields of an object that was kept.
    pub fn scan(&mut self, object: usize) {
        let header = header_of(object).load(Relaxed);
        debug_assert!(
            M::is_plausible(header),
            "a reference to {object:#x}, which has the header {header:#x}"
        );
        let old = match self.how {
            How::InPlace => {
                // SAFETY: an object that is kept, with its header.
                self.worker.stayed += unsafe { M::size(object, header) };
                true
            }
            _ => self.space().kind_at(object) == Kind::Old,
        };
        // SAFETY: an object that is kept, with its header.
        match unsafe { M::contents(header) } {
            Contents::Plain => {}
            Contents::Ephemerons => {
                self.worker.ephemerons.push(object);
                if old && self.marking {
                    self.worker.marked.push(object);
                }
            }
            Contents::References => {
                let space = self.space();
                // SAFETY: as above.
                unsafe {
                    M::visit(object, header, 0, usize::MAX, |slot| {
                        if self.slot(slot) {
                            if old {
                                space.dirty(slot);
                            }
                        } else if old && self.marking {
                            self.mark(slot);
                        }
                    })
                }
            }
        }
    }
    /// Marks what a field of a promoted object refers to: the marker does not look at promoted objects again.
    fn mark(&mut self, slot: usize) {
        let space = self.space();
        let object = slot_of(slot).load(Relaxed);
        let Some(block) = space.block_of(object) else {
            return;
        };
        let info = space.info(block);
        let new = match space.kind(block) {
            Kind::Old => {
                if info.evacuate.load(Relaxed) != 0 {
                    self.worker.fields.push(slot);
                }
                space.set_mark(object)
            }
            Kind::Large => info.hit.load(Relaxed) == 0 && info.hit.swap(1, AcqRel) == 0,
            _ => false,
        };
        if new {
            self.worker.marked.push(object);
        }
    }
    /// Looks at everything grey, until no worker has anything left.
    pub fn drain(&mut self) {
        loop {
            while let Some(object) = self.next() {
                self.scan(object);
                self.heap.grey.share(&mut self.worker.grey);
            }
            if !self.heap.grey.wait(&mut self.worker.grey) {
                return;
            }
        }
    }
    /// Looks at everything grey, alone.
    pub fn drain_alone(&mut self) {
        while let Some(object) = self.next() {
            self.scan(object);
        }
    }

    /// Looks at the marked cards of a block.
    pub(crate) fn cards(&mut self, block: usize) {
        let space = self.space();
        let base = space.address(block);
        match space.kind(block) {
            Kind::Old => space.dirty_cards(base, base + BLOCK, |card| self.soon(card)),
            Kind::Large => {
                let info = space.info(block);
                if info.flag.load(Relaxed) == 0 {
                    return;
                }
                let size = info.size.load(Relaxed);
                let end = (base + size + 8 * CARD - 1) & !(8 * CARD - 1);
                space.dirty_cards(base, end, |card| self.object_card(base, card));
            }
            Kind::Statics => space.dirty_cards(base, base + BLOCK, |card| {
                space.card(card).store(crate::space::CLEAN, SeqCst);
                let mut bits = space.start_word(card).load(Relaxed);
                while bits != 0 {
                    let slot = card + 8 * bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    if self.slot(slot) {
                        space.dirty(slot);
                    }
                }
            }),
            _ => {}
        }
    }
    /// Looks at a card of an old block when its memory has come; now at one that was met before.
    fn soon(&mut self, card: usize) {
        prefetch(self.space().start_word(card) as *const AtomicU64 as usize);
        for line in (card..card + CARD).step_by(64) {
            prefetch(line);
        }
        let i = self.worker.card % CARDS_AHEAD;
        self.worker.card = i + 1;
        let before = std::mem::replace(&mut self.worker.cards[i], card);
        self.look_at_card(before);
    }
    fn look_at_card(&mut self, card: usize) {
        if card != 0 {
            self.old_card(self.space().block(card), card);
        }
    }
    /// Looks at the cards that are left.
    pub(crate) fn last_cards(&mut self) {
        for i in 0..CARDS_AHEAD {
            let card = std::mem::take(&mut self.worker.cards[i]);
            self.look_at_card(card);
        }
    }
    fn clean(&self, card: usize) {
        let space = self.space();
        space.card(card).store(crate::space::CLEAN, SeqCst);
        if self.marking {
            space.set_mod_union(card);
        }
    }
    fn old_card(&mut self, block: usize, card: usize) {
        let space = self.space();
        self.clean(card);
        if let Some(first) = reaching_into::<M>(space, block, card) {
            self.card_of(first, card);
        }
        let mut bits = space.live_starts(block, card);
        while bits != 0 {
            let object = card + 8 * bits.trailing_zeros() as usize;
            bits &= bits - 1;
            self.card_of(object, card);
        }
    }
    fn object_card(&mut self, object: usize, card: usize) {
        self.clean(card);
        self.card_of(object, card);
    }
    fn card_of(&mut self, object: usize, card: usize) {
        let space = self.space();
        let header = header_of(object).load(Relaxed);
        // SAFETY: a live old object with its header.
        match unsafe { M::contents(header) } {
            Contents::Plain => {}
            Contents::Ephemerons => self.worker.ephemerons.push(object),
            // SAFETY: as above.
            Contents::References => unsafe {
                M::visit(object, header, card, card + CARD, |slot| {
                    if self.slot(slot) {
                        space.dirty(slot);
                    }
                })
            },
        }
    }

    /// Values of pairs whose keys live are kept, until nothing changes.
    pub(crate) fn pairs_to_fixpoint(&mut self) {
        loop {
            let mut changed = false;
            for i in 0..self.worker.ephemerons.len() {
                let table = self.worker.ephemerons.as_slice()[i];
                each_pair::<M>(table, |key, value, _, _| {
                    let Some((to, _)) = self.survivor(slot_of(key).load(Relaxed)) else {
                        return;
                    };
                    slot_of(key).store(to, Relaxed);
                    let v = slot_of(value).load(Relaxed);
                    let new = self.survivor(v).is_none();
                    self.slot(value);
                    changed |= new;
                });
            }
            self.drain_alone();
            if !changed {
                return;
            }
        }
    }
    /// Pairs whose keys are gone are made empty; cards are marked for what is still young.
    pub(crate) fn bury_pairs(&mut self) {
        let tombstone = self.heap.world.tombstone();
        while let Some(table) = self.worker.ephemerons.pop() {
            let old = self.space().kind_at(table) != Kind::Survivors
                && self.space().kind_at(table) != Kind::Nursery;
            each_pair::<M>(table, |key, value, _, _| {
                if self.survivor(slot_of(key).load(Relaxed)).is_none() {
                    slot_of(key).store(tombstone, Relaxed);
                    slot_of(value).store(0, Relaxed);
                }
                for slot in [key, value] {
                    if self.slot(slot) && old {
                        self.space().dirty(slot);
                    }
                }
            });
        }
    }
    pub(crate) fn finish(&mut self) {
        let w = &mut *self.worker;
        if w.survivors_next < w.survivors_end {
            terminate(w.survivors_next);
        }
        (w.survivors_next, w.survivors_end) = (0, 0);
        w.old.finish(&self.heap.space, &self.heap.old);
        if !w.marked.is_empty() {
            let n = w.marked.len();
            self.heap.major.grey.put(&mut w.marked, n);
            w.marked.clear();
        }
        if !w.fields.is_empty() {
            // The gate is shut: the marker is not at work.
            let fields = &mut self.heap.marking(0).own.fields;
            while let Some(f) = w.fields.pop() {
                fields.push(f);
            }
            w.fields.clear();
        }
        w.grey.clear();
    }
}
