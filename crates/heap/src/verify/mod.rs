//! The verifier: it walks the whole heap and checks what the collector relies on, before and after collections.
//!
//! # Map
//! Here: objects, references and cards. [`handles`], [`finalizers`]: what refers to objects from outside the heap. [`blocks`]: free blocks,
//! recyclable blocks, large objects, unused young memory, and what is counted. [`parked`]: parked threads. [`tricolour`]: what marking relies on while it runs.
//! [`ephemerons`]: which tables of ephemerons the last step of marking knows. The world checks its own side tables ([`World::check`]).
//!
//! # Invariants
//! * It changes nothing that means anything. (It makes the 'may hold young' bytes of handles exact, which may be set without need.)
//! * If it finds damage, it ends the process with a sentence that names the object and the field.
//! * It may run at every stop, wherever the threads were stopped. Between the two instructions of a store an old object may refer to a young one
//!   from a clean card, and only then ([`World::storing`]).
mod blocks;
mod ephemerons;
mod finalizers;
mod handles;
mod parked;
// (Each of these makes several heaps: under Miri that is minutes and more memory than the reservations there have.)
#[cfg(all(test, not(miri)))]
mod tests;
mod tricolour;

use crate::Heap;
use crate::memory::List;
use crate::model::{Contents, Inspection, Model, World};
use crate::object::{Slot, each_slot};
use crate::references::ephemerons::EphemeronRange;
use crate::roots::conservative::{Cursor, each_young, object_at};
use crate::space::lines::Lines;
use crate::space::{BLOCK, BlockId, BlockKind, CLEAN, Card};
use std::cell::Cell;
use std::sync::atomic::Ordering::*;

impl<M: Model, W: World> Heap<M, W> {
    /// Checks everything. The world is stopped, nobody collects, and the collector's thread is idle or kept out by the gate.
    pub fn verify(&self, when: &str) {
        let v = Verifier {
            heap: self,
            when,
            old: Cell::default(),
        };
        // (The walk of young objects ends where unused memory begins.)
        v.unused_young();
        v.objects();
        self.each_root(|f| v.field(0, f, false));
        v.parked();
        v.handles();
        v.finalizers();
        v.tricolour();
        v.no_ephemeron_is_pending();
        v.blocks();
        self.world.check(&v);
    }
    /// Calls `f` with every object of a block: those alive as far as the last cycle knows, and all young ones.
    pub(crate) fn each_object_of(&self, block: BlockId, mut f: impl FnMut(usize)) {
        let space = &self.space;
        let base = space.address(block);
        match space.kind(block) {
            BlockKind::Old => {
                for card in space.cards_of(block) {
                    card.words(space.live_starts(block, card)).for_each(&mut f);
                }
            }
            BlockKind::Nursery => each_young::<M>(space, block, |o, _| f(o)),
            BlockKind::Large if !self.is_dead_large(block) => f(base),
            _ => {}
        }
    }
}

/// One run of the verifier.
struct Verifier<'h, M: Model, W: World> {
    heap: &'h Heap<M, W>,
    /// For the sentence: when it runs.
    when: &'h str,
    /// Bytes of small old objects, and of the lines they touch, as far as they were met.
    old: Cell<(usize, usize)>,
}

/// Memory for what is to be compared: the world is stopped, so it is not malloc's.
fn list<T: Copy>() -> List<T> {
    List::new(1 << 28).expect("a list reserves nothing yet")
}

impl<M: Model, W: World> Inspection for Verifier<'_, M, W> {
    fn is_young(&self, object: usize) -> Option<bool> {
        let young = self.heap.space.kind_at(object) == BlockKind::Nursery;
        self.is_object(object).then_some(young)
    }
    fn each_object(&self, visit: &mut dyn FnMut(usize)) {
        for b in self.heap.space.all_blocks() {
            self.heap.each_object_of(b, &mut *visit);
        }
    }
    fn wrong(&self, object: usize, what: &str) -> ! {
        self.wrong(object, what)
    }
}

impl<M: Model, W: World> Verifier<'_, M, W> {
    /// Every object is whole and lies where objects may; its references are references, and their cards are marked.
    fn objects(&self) {
        let space = &self.heap.space;
        for b in space.all_blocks() {
            match space.kind(b) {
                BlockKind::Old => self.old_block(b),
                BlockKind::Nursery | BlockKind::Large => {
                    let old = space.kind(b) == BlockKind::Large;
                    self.heap.each_object_of(b, |o| {
                        self.object(o, old);
                    });
                }
                BlockKind::Statics => self.heap.each_static(b, |f| self.field(0, f, true)),
                BlockKind::Survivors => {
                    self.wrong(space.address(b), "lies in a block nobody has finished")
                }
                // Taken: a thread in Native state may be making root memory.
                BlockKind::Free | BlockKind::LargeTail | BlockKind::Taken => {}
            }
        }
    }
    fn old_block(&self, block: BlockId) {
        let base = self.heap.space.address(block);
        let room = self.heap.old.recyclable.of(&self.heap.space, block);
        let (mut end, mut bytes, mut lines) = (base, 0, Lines::EMPTY);
        self.heap.each_object_of(block, |o| {
            if o < end {
                self.wrong(o, "begins inside the object before it");
            }
            let size = self.object(o, true);
            (end, bytes) = (o + size, bytes + size);
            lines.add(o - base, (end - base).min(BLOCK));
            if room.is_some_and(|used| !used.covers(o - base, end - base)) {
                self.wrong(o, "lies in what counts as a hole of its block");
            }
        });
        if end > base + BLOCK {
            self.wrong(end, "an object does not end inside its block");
        }
        let old = self.old.get();
        self.old.set((old.0 + bytes, old.1 + lines.bytes()));
    }
    /// Checks an object; its size.
    fn object(&self, object: usize, old: bool) -> usize {
        // SAFETY: an object found by its start bit or a walk.
        unsafe {
            let header = *(object as *const u64);
            if header & 1 != 0 || !M::is_plausible(header) {
                self.wrong(object, &format!("has the header {header:#x}"));
            }
            if !crate::descriptor::check::<M>(object, header) {
                self.wrong(object, "is not as its descriptor says");
            }
            match M::contents(header) {
                Contents::Plain => {}
                Contents::References => {
                    each_slot::<M>(object, header, 0, usize::MAX, |f| {
                        self.field(object, f, old)
                    });
                }
                Contents::Ephemerons => EphemeronRange::of::<M>(object).iter().for_each(|pair| {
                    self.field(object, pair.key(), old);
                    self.field(object, pair.value(), old);
                }),
            }
            M::size(object, header)
        }
    }
    fn field(&self, object: usize, slot: Slot, old: bool) {
        let space = &self.heap.space;
        let (field, v) = (slot.address(), slot.load(Relaxed));
        self.reference(object, &format_args!("field {field:#x}"), v);
        if old
            && space.kind_at(v) == BlockKind::Nursery
            && space.block_of(field).is_some()
            && space.card(Card::of(field)).load(Relaxed) == CLEAN
            && !self.is_being_stored(v)
        {
            let young = self.describe(v);
            self.wrong(
                object,
                &format!("refers to the young {young} from a clean card (field {field:#x})"),
            );
        }
    }
    fn reference(&self, object: usize, from: &std::fmt::Arguments<'_>, v: usize) {
        if v != 0 && !self.is_object(v) {
            self.wrong(
                object,
                &format!(
                    "refers to {v:#x} from {from}, where no object begins ({:?} block)",
                    self.heap.space.kind_at(v)
                ),
            );
        }
    }
    /// Does an object begin there that is alive as far as the last cycle knows?
    fn is_object(&self, address: usize) -> bool {
        let space = &self.heap.space;
        address & 7 == 0
            && object_at::<M>(space, address, &mut Cursor::default()) == Some(address)
            && !(space.kind_at(address) == BlockKind::Large
                && self.heap.is_dead_large(space.block(address)))
    }
    /// Was a thread stopped between storing this reference and marking the card? It then still holds the reference, with which it will
    /// mark the card; the object is pinned meanwhile.
    fn is_being_stored(&self, object: usize) -> bool {
        let mut found = false;
        self.heap.world.storing(&mut |ranges| {
            for &(from, to) in ranges {
                for at in (from..to).step_by(8) {
                    // SAFETY: the world says these words are readable, and their threads are stopped.
                    found |= unsafe { vervet_os::memory::stack_word(at) } == object;
                }
            }
        });
        found
    }
    /// An object in words: its class, where it is, and what its block is.
    fn describe(&self, object: usize) -> String {
        if object == 0 {
            return "a root".into();
        }
        let kind = self.heap.space.kind_at(object);
        if self.heap.space.block_of(object).is_none() || object & 7 != 0 {
            return format!("what is at {object:#x} (outside the heap)");
        }
        // SAFETY: a word of the heap's.
        let header = unsafe { *(object as *const u64) };
        if M::is_plausible(header) {
            format!("{} at {object:#x} ({kind:?} block)", M::name(header))
        } else {
            format!("what is at {object:#x} ({kind:?} block)")
        }
    }
    fn wrong(&self, object: usize, what: &str) -> ! {
        self.heap.fail(&format!(
            "the heap is damaged, {}: {} {what}",
            self.when,
            self.describe(object)
        ))
    }
    /// What is wrong is no object's.
    fn damaged(&self, what: &str) -> ! {
        self.heap
            .fail(&format!("the heap is damaged, {}: {what}", self.when))
    }
}
