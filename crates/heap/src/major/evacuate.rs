//! Evacuation of sparse old blocks: at the end of a cycle their objects move together, and every reference to them is corrected.
//!
//! ```text
//!  when                 what
//!  -------------------  ------------------------------------------------------------------------------------------
//!  initial mark pause   choose_evacuated: sparse blocks get `evacuate`, within a budget of bytes; nothing is promoted into them
//!  marking              a field that refers into such a block is recorded (Marker::fields); stacks that do so cancel the block
//!  final mark pause     evacuate: list -> copy -> correct recorded fields, copies, young objects, roots -> free the blocks
//! ```
//!
//! # Invariants
//! * Candidates are chosen before marking begins. So every reference into one that exists at the end was seen by the marker and recorded,
//!   or was stored later, and then lies on a card that the final mark pause scans, which records it too.
//! * A block that a conservative reference or a pinned handle points into is not evacuated: such a reference cannot be corrected.
//! * References in roots, handles, registrations of finalizers and young objects are not recorded. They are all corrected. Those of parked threads
//!   and of root memory are recorded: there may be a million threads, which have thread statics.
use super::marking::Marking;
use crate::Heap;
use crate::memory::{List, poison};
use crate::model::{Contents, Model, World};
use crate::object::{Slot, each_slot, header_of};
use crate::references::ephemerons::EphemeronRange;
use crate::roots::conservative;
use crate::space::{BLOCK, BlockId, BlockKind, Space};
use std::sync::atomic::Ordering::*;

/// A block is sparse if at most this many of its bytes are used.
const SPARSE: u32 = (BLOCK / 2) as u32;
/// Fewer sparse blocks than this are not worth the work.
const FEWEST: usize = 4;
/// Nor are fewer than one in this many old blocks.
const FEWEST_SHARE: usize = 10;
/// The low bit of the header of an object that has moved; the other bits are its new address.
const MOVED: u64 = 1;

/// Where evacuated objects are now. It is valid between the copying and the freeing of the blocks, with the world stopped.
#[derive(Clone, Copy)]
struct Forwarding<'s> {
    space: &'s Space,
}

impl Forwarding<'_> {
    /// Is the block one that was evacuated?
    fn is_evacuated(self, block: BlockId) -> bool {
        self.space.kind(block) == BlockKind::Old
            && self.space.info(block).evacuate.load(Relaxed) != 0
    }
    /// The address of an object that is alive, or any other word, after the evacuation.
    fn address(self, object: usize) -> usize {
        match self.space.block_of(object) {
            Some(b) if self.is_evacuated(b) => {
                // SAFETY: a reference to a live object: its header is there, and says where it is now.
                let header = unsafe { header_of(object) }.load(Relaxed);
                debug_assert!(header & MOVED != 0, "{object:#x} has not moved");
                (header & !MOVED) as usize
            }
            _ => object,
        }
    }
    /// Makes a reference field refer to where its object is now. Returns that.
    fn correct(self, slot: Slot) -> usize {
        let before = slot.load(Relaxed);
        let now = self.address(before);
        if now != before {
            slot.store(now, Relaxed);
        }
        now
    }
}

impl<M: Model, W: World> Heap<M, W> {
    /// Chooses the blocks to be evacuated at the end of the cycle that begins. The world is stopped.
    pub(crate) fn choose_evacuated(&self) {
        let space = &self.space;
        let (mut sparse, mut all) = (0usize, 0usize);
        for b in space.all_blocks() {
            if space.kind(b) == BlockKind::Old {
                all += 1;
                sparse += usize::from(space.info(b).live.load(Relaxed) <= SPARSE);
            }
        }
        if sparse < FEWEST || sparse * FEWEST_SHARE < all {
            return;
        }
        let mut budget = self.config.evacuate;
        for b in space.all_blocks() {
            let info = space.info(b);
            let live = info.live.load(Relaxed) as usize;
            if space.kind(b) == BlockKind::Old && live <= SPARSE as usize && live <= budget {
                budget -= live;
                info.evacuate.store(1, Relaxed);
                info.conservatively_hit.store(0, Relaxed);
            }
        }
        self.old
            .recyclable
            .retain(space, |b| space.info(b).evacuate.load(Relaxed) == 0);
    }

    /// Evacuates the chosen blocks, but for those that a stack refers to. The world is stopped, the gate is shut and everything
    /// reachable is marked.
    pub(crate) fn evacuate(&self, m: &mut Marking<'_, M, W>) {
        let scratch = &mut *self.scratch.borrow();
        let (blocks, moved) = (&mut scratch.evacuated, &mut scratch.moved);
        self.list_evacuated(blocks);
        if blocks.is_empty() {
            return;
        }
        self.copy_blocks(blocks.as_slice(), moved);
        let forwarding = Forwarding { space: &self.space };
        self.correct_recorded(forwarding, m.own.fields.as_slice());
        self.correct_moved(forwarding, moved.as_slice());
        self.correct_young(forwarding);
        self.correct_world(forwarding);
        self.free_evacuated(blocks.as_slice());
    }
    /// Fills `blocks` with the chosen blocks, and gives up those that must not move.
    fn list_evacuated(&self, blocks: &mut List<BlockId>) {
        let space = &self.space;
        blocks.clear();
        for b in space.all_blocks() {
            let info = space.info(b);
            if space.kind(b) == BlockKind::Old && info.evacuate.load(Relaxed) != 0 {
                if info.conservatively_hit.load(Relaxed) != 0 {
                    info.evacuate.store(0, Relaxed);
                } else {
                    blocks.push(b);
                }
            }
        }
    }
    /// Copies every marked object of the blocks, and leaves its new address in its header. `moved` becomes the list of copies that
    /// hold references.
    fn copy_blocks(&self, blocks: &[BlockId], moved: &mut List<usize>) {
        let space = &self.space;
        moved.clear();
        let mut worker = self.minor_worker(0);
        let allocator = &mut worker.old;
        allocator.marked = true;
        for &b in blocks {
            for card in space.cards_of(b) {
                let marked =
                    space.start_word(card).load(Relaxed) & space.mark_word(card).load(Relaxed);
                for from in card.words(marked) {
                    // SAFETY: `from` is a marked object, so its header and its `size` bytes are there; `to` is `size` bytes that nobody
                    // else knows, in another block; the world is stopped, so nobody writes to the object meanwhile.
                    unsafe {
                        let header = header_of(from).load(Relaxed);
                        let size = M::size(from, header);
                        let Some(to) = allocator.allocate(space, &self.old, size) else {
                            self.exhausted("evacuation")
                        };
                        std::ptr::copy_nonoverlapping(from as *const u64, to as *mut u64, size / 8);
                        self.world.moved(from, to);
                        header_of(from).store(to as u64 | MOVED, Relaxed);
                        allocator.complete(space, to);
                        if M::contents(header) != Contents::Plain {
                            moved.push(to);
                        }
                    }
                }
            }
        }
        self.stats
            .evacuated
            .fetch_add(allocator.bytes as u64, Relaxed);
        allocator.finish(space, &self.old);
    }
    /// Corrects the fields that the marker has recorded, but for those in evacuated blocks, whose objects are elsewhere now.
    fn correct_recorded(&self, forwarding: Forwarding<'_>, fields: &[Slot]) {
        for &field in fields {
            let inside = self
                .space
                .block_of(field.address())
                .is_some_and(|b| self.space.info(b).evacuate.load(Relaxed) != 0);
            if !inside {
                forwarding.correct(field);
            }
        }
    }
    /// Corrects the fields of the copies, and marks the cards of those that refer to young objects: the cards were those of the originals.
    fn correct_moved(&self, forwarding: Forwarding<'_>, moved: &[usize]) {
        let space = &self.space;
        for &object in moved {
            let see = |field: Slot| {
                let to = forwarding.correct(field);
                if space.kind_at(to) == BlockKind::Nursery {
                    space.dirty(field.address());
                }
            };
            // SAFETY: a copy that `copy_blocks` has made.
            unsafe { self.each_field(object, see) };
        }
    }
    /// Corrects the fields of all young objects.
    fn correct_young(&self, forwarding: Forwarding<'_>) {
        let space = &self.space;
        for b in space.all_blocks() {
            if space.kind(b) == BlockKind::Nursery {
                conservative::each_young::<M>(space, b, |object, _| {
                    let correct = |f| {
                        forwarding.correct(f);
                    };
                    // SAFETY: the walk meets young objects, which have their headers.
                    unsafe { self.each_field(object, correct) };
                });
            }
        }
    }
    /// Calls `visit` with every reference field of an object, keys and values of ephemerons included.
    ///
    /// # Safety
    /// `object` is an object of this heap with its own header; the world is stopped.
    unsafe fn each_field(&self, object: usize, mut visit: impl FnMut(Slot)) {
        // SAFETY: the caller's promise: an object with that header, in a stopped world.
        unsafe {
            let header = header_of(object).load(Relaxed);
            match M::contents(header) {
                Contents::Plain => {}
                Contents::Ephemerons => EphemeronRange::of::<M>(object).iter().for_each(|pair| {
                    visit(pair.key());
                    visit(pair.value());
                }),
                Contents::References => each_slot::<M>(object, header, 0, usize::MAX, visit),
            }
        }
    }
    /// Corrects what refers to objects from outside the heap.
    fn correct_world(&self, forwarding: Forwarding<'_>) {
        let space = &self.space;
        self.each_root(|f| {
            forwarding.correct(f);
        });
        self.finalizers.follow(space, |o| forwarding.address(o));
        let young = |o: usize| space.kind_at(o) == BlockKind::Nursery;
        self.world
            .strong_handles(false, &mut |o| (forwarding.address(o), young(o)));
        let follow = &mut |o| Some((forwarding.address(o), young(o)));
        for long in [false, true] {
            self.world.weak_handles(long, false, follow);
        }
        self.world.side_tables(false, follow);
    }
    /// Frees the blocks: nothing refers into them any more.
    fn free_evacuated(&self, blocks: &[BlockId]) {
        let space = &self.space;
        for &b in blocks {
            if self.config.debug.poison {
                // SAFETY: every live object of the block was copied, and no reference to the originals is left.
                unsafe { poison(space.address(b), space.end(b)) };
            }
            space.clear_marks(b);
            space.free_block(b);
        }
    }
}
