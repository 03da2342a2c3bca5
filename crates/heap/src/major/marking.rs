//! One worker that marks: it takes objects from its stack, and marks and pushes what their fields refer to.
//!
//! # Invariants
//! * An entry is scanned once, by the worker that takes it from a stack.
//! * Tables of ephemerons are put aside ([`crate::references::ephemerons`]), and fields that refer into blocks to be evacuated are recorded, as
//!   they are met.
//! * Beside the program the worker works in steps inside the gate. A step may run while a minor collection promotes: the thread that stores the
//!   address of a promoted copy in a field does so with release, and the marker loads fields with acquire, so it sees the whole copy.
//! * `exclusive`: while only the collector's thread marks, it sets `mark` bits without locked instructions. Minor collections leave the bits of
//!   old blocks alone as long as the gate is open.
use super::marker::Marker;
use crate::Heap;
use crate::model::{Contents, Model, World};
use crate::object::{Slot, each_slot, header_of};
use crate::space::old::reaching_into;
use crate::space::{BLOCK, BlockId, BlockKind, CARD, Card};
use std::sync::atomic::Ordering::*;
use std::time::Duration;
use vervet_os::{clock, perturb};

/// Large objects are scanned in pieces of this many bytes, so that a step of the gate is short and workers can share one object.
const PIECE: usize = 16 << 10;
/// Objects scanned in one step of the gate.
const STEP: usize = 512;
/// The same, if the marker is to be slow (`--gc-debug=slow-marker`).
const SLOW_STEP: usize = 64;

/// A worker that marks, at work.
pub(crate) struct Marking<'h, M: Model, W: World> {
    pub heap: &'h Heap<M, W>,
    pub own: &'h mut Marker,
    /// No other thread sets `mark` bits of old blocks meanwhile, so they are set by plain loads and stores.
    pub exclusive: bool,
}

impl<M: Model, W: World> Heap<M, W> {
    /// On the collector's thread: scans its stack until that is empty, beside the program, in steps inside the gate.
    pub(crate) fn drain_concurrently(&self) {
        let objects = match self.config.debug.slow_marker {
            0 => STEP,
            _ => SLOW_STEP,
        };
        while self.gate.step(|| {
            self.exclusive_marking(&mut self.major.marker(0))
                .step(objects)
        }) {
            self.be_slow();
            perturb::here();
        }
    }
    /// Waits outside the gate, if the marker is to be slow.
    pub(crate) fn be_slow(&self) {
        let us = self.config.debug.slow_marker;
        if us > 0 {
            std::thread::sleep(Duration::from_micros(us.into()));
        }
    }
}

impl<M: Model, W: World> Marking<'_, M, W> {
    #[inline(always)]
    fn set_mark(&self, object: usize) -> bool {
        let space = &self.heap.space;
        if self.exclusive {
            space.set_mark_exclusive(object)
        } else {
            space.set_mark(object)
        }
    }
    /// Marks an object, if it is old or large, and pushes it if it was not marked.
    ///
    /// # Safety
    /// `object` is an object of this heap that is not freed while marking runs, or an address outside the heap.
    #[inline]
    pub unsafe fn mark_object(&mut self, object: usize) {
        let space = &self.heap.space;
        let Some(b) = space.block_of(object) else {
            return;
        };
        match space.kind(b) {
            BlockKind::Old if self.set_mark(object) => {
                self.own.local_stack.push(object);
            }
            BlockKind::Large
                if space.info(b).large_marked.load(Relaxed) == 0
                    && space.info(b).large_marked.swap(1, AcqRel) == 0 =>
            {
                self.own.local_stack.push(object);
            }
            _ => {}
        }
    }
    /// Marks what a field refers to, and records the field if that will be evacuated.
    #[inline]
    pub fn mark_field(&mut self, field: Slot) {
        // Acquire: a minor collection that runs meanwhile may have stored the address of a copy that it has just made, with release.
        let object = field.load(Acquire);
        self.mark_loaded(field, object);
    }
    /// As [`Marking::mark_field`], of a field from which `object` was loaded.
    #[inline(always)]
    pub(super) fn mark_loaded(&mut self, field: Slot, object: usize) {
        let space = &self.heap.space;
        let Some(b) = space.block_of(object) else {
            return;
        };
        match space.kind(b) {
            BlockKind::Old => {
                if space.info(b).evacuate.load(Relaxed) != 0 {
                    self.own.fields.push(field);
                }
                if self.set_mark(object) {
                    self.own.local_stack.push(object);
                }
            }
            // SAFETY: a slot refers to an object, and marking keeps it.
            BlockKind::Large => unsafe { self.mark_object(object) },
            _ => {}
        }
    }
    /// Marks what a root refers to. Roots are not recorded for evacuation, which corrects all of them.
    #[inline]
    pub fn mark_root(&mut self, root: Slot) {
        // SAFETY: a slot refers to an object, and marking keeps it.
        unsafe { self.mark_object(root.load(Relaxed)) }
    }
    /// Pushes an object that is marked already.
    ///
    /// # Safety
    /// `object` is a marked object of this heap.
    pub unsafe fn scan_later(&mut self, object: usize) {
        self.own.local_stack.push(object);
    }
    /// Scans an entry: an object, or (its lowest bit set) a large object from that address on, of which the next piece is pushed.
    ///
    /// # Safety
    /// The entry comes from a local or shared stack of this cycle.
    pub(crate) unsafe fn scan(&mut self, entry: usize) {
        let space = &self.heap.space;
        let (object, from, to);
        if entry & 1 != 0 {
            let at = entry & !1;
            let b = space.block(at);
            let head = match space.kind(b) {
                BlockKind::LargeTail => b.minus(space.info(b).live.load(Relaxed) as usize),
                _ => b,
            };
            (object, from, to) = (space.address(head), at, at + PIECE);
        } else {
            (object, from, to) = (entry, entry, usize::MAX);
        }
        // SAFETY: an entry of the local stack is a marked object, or an address inside a large one, whose head this is.
        let header = unsafe { header_of(object) }.load(Relaxed);
        let descriptor = M::descriptor(header);
        // SAFETY: the header of a marked object.
        match unsafe { descriptor.contents::<M>(header) } {
            Contents::Plain => {}
            Contents::Ephemerons => self.own.ephemerons.push(object),
            Contents::References => {
                let b = space.block(object);
                if space.kind(b) != BlockKind::Large {
                    // SAFETY: the marked object has that header, which leads to that descriptor; it is not freed while marking runs.
                    unsafe { descriptor.visit::<M>(object, header, |f| self.mark_field(f)) }
                    return;
                }
                let mut to = to;
                let size = space.info(b).size.load(Relaxed);
                if from + PIECE < object + size {
                    self.own.local_stack.push((from + PIECE) | 1);
                    to = from + PIECE;
                }
                // SAFETY: the large object has that header, and its blocks are not freed while marking runs.
                unsafe { each_slot::<M>(object, header, from, to, |f| self.mark_field(f)) }
            }
        }
    }
    /// Scans entries of the local stack, then of the shared one, as long as a step may take. Returns whether there may be more.
    fn step(&mut self, objects: usize) -> bool {
        let heap = self.heap;
        for i in 0..objects {
            if i % 16 == 0 && heap.gate.yield_requested() {
                return true;
            }
            match self.own.next() {
                // SAFETY: the entry comes from the local stack.
                Some(o) => unsafe { self.scan(o) },
                None => return heap.major.shared_stack.pop_into(&mut self.own.local_stack),
            }
        }
        true
    }
    /// With the world stopped: scans, sharing with other workers, until nothing is left or the clock says `end` (ns). What is left then goes to
    /// the shared stack.
    pub(crate) fn drain_until(&mut self, end: u64) {
        let shared = &self.heap.major.shared_stack;
        let mut n = 0u32;
        loop {
            while let Some(o) = self.own.next() {
                // SAFETY: the entry comes from the local stack.
                unsafe { self.scan(o) };
                shared.share(&mut self.own.local_stack);
                n += 1;
                if n.is_multiple_of(256) && clock::now() >= end {
                    self.own.prefetch.give_back(&mut self.own.local_stack);
                    let all = self.own.local_stack.len();
                    shared.push_front_of(&mut self.own.local_stack, all);
                    shared.leave();
                    return;
                }
            }
            if !shared.wait_for_work(&mut self.own.local_stack) {
                return;
            }
        }
    }
    /// With the world stopped: scans, sharing with other workers, until nothing is left.
    pub(crate) fn drain(&mut self) {
        let shared = &self.heap.major.shared_stack;
        loop {
            while let Some(o) = self.own.next() {
                // SAFETY: the entry comes from the local stack.
                unsafe { self.scan(o) };
                shared.share(&mut self.own.local_stack);
            }
            if !shared.wait_for_work(&mut self.own.local_stack) {
                return;
            }
        }
    }
    /// Scans the marked objects, or the words of root memory, on the cards of a block that were written to since they were scanned (its bits of the
    /// mod-union table).
    pub(crate) fn rescan_modified(&mut self, block: BlockId) {
        let space = &self.heap.space;
        let base = space.address(block);
        let end = match space.kind(block) {
            BlockKind::Old | BlockKind::Statics => base + BLOCK,
            BlockKind::Large if space.info(block).has_references.load(Relaxed) != 0 => {
                base + space.info(block).size.load(Relaxed)
            }
            _ => return,
        };
        let mut at = base;
        while at < end {
            let first = Card::of(at);
            let mut bits = space.take_mod_union(first);
            while bits != 0 {
                self.rescan_card(block, first.plus(bits.trailing_zeros() as usize));
                bits &= bits - 1;
            }
            at += 8 * CARD;
        }
    }
    /// Scans the marked objects on a card.
    fn rescan_card(&mut self, block: BlockId, card: Card) {
        let space = &self.heap.space;
        match space.kind(block) {
            BlockKind::Large => {
                if space.info(block).large_marked.load(Acquire) != 0 {
                    self.rescan_part(space.address(block), card);
                }
                return;
            }
            BlockKind::Statics => return self.mark_statics(card),
            _ => {}
        }
        // SAFETY: the card is one of the old block, whose live objects are not freed while marking runs.
        if let Some(first) = unsafe { reaching_into::<M>(space, block, card) }
            && space.is_marked(first)
        {
            self.rescan_part(first, card);
        }
        let marked = space.start_word(card).load(Acquire) & space.mark_word(card).load(Acquire);
        for object in card.words(marked) {
            self.rescan_part(object, card);
        }
    }
    fn rescan_part(&mut self, object: usize, card: Card) {
        // SAFETY: a marked object with its header.
        unsafe {
            let header = header_of(object).load(Relaxed);
            if M::contents(header) == Contents::References {
                let (from, to) = (card.address(), card.end());
                each_slot::<M>(object, header, from, to, |f| self.mark_field(f));
            }
        }
    }
}
