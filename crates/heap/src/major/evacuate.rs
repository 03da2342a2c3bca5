//! Emptying sparse blocks: at the end of a cycle their objects move together, and every reference to them is corrected.
//!
//! # Invariants
//! * Candidates are chosen before marking begins; from then on nothing is promoted into them, and every field found to refer
//!   into one is noted. Fields written later lie on cards that stop two looks at, which notes them as well.
//! * A candidate that a conservative reference hits in the cycle stays as it is.
//! * Roots, root memory, handles, registrations and young objects are not noted but looked at again, all of them.
use crate::Heap;
use crate::major::marking::Marking;
use crate::model::{Contents, Model, World};
use crate::references::ephemerons::EphemeronRange;
use crate::roots::conservative;
use crate::space::{BLOCK, BlockKind, CARD};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::*};

/// A block is sparse if at most this many of its bytes are used.
const SPARSE: u32 = (BLOCK / 2) as u32;

impl<M: Model, W: World> Heap<M, W> {
    /// Chooses the blocks to be emptied in the cycle that begins.
    pub(crate) fn choose_evacuated(&self) {
        let space = &self.space;
        let (mut sparse, mut all) = (0usize, 0usize);
        for b in 0..space.used() {
            if space.kind(b) == BlockKind::Old {
                all += 1;
                sparse += usize::from(space.info(b).live.load(Relaxed) <= SPARSE);
            }
        }
        if sparse < 4 || sparse * 10 < all {
            return;
        }
        let mut budget = self.config.evacuate;
        for b in 0..space.used() {
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

    /// Empties the candidates that nothing hit. The world is stopped and everything reachable is marked.
    pub(crate) fn evacuate(&self, m: &mut Marking<'_, M, W>) {
        let space = &self.space;
        let scratch = &mut *self.scratch.borrow();
        let (blocks, moved) = (&mut scratch.evacuated, &mut scratch.moved);
        blocks.clear();
        moved.clear();
        for b in 0..space.used() {
            let info = space.info(b);
            if space.kind(b) == BlockKind::Old && info.evacuate.load(Relaxed) != 0 {
                if info.conservatively_hit.load(Relaxed) != 0 {
                    info.evacuate.store(0, Relaxed);
                } else {
                    blocks.push(b as u32);
                }
            }
        }
        if blocks.is_empty() {
            return;
        }
        let mut worker = self.minor_worker(0);
        let allocator = &mut worker.old;
        allocator.marked = true;
        for &b in blocks.as_slice() {
            let base = space.address(b as usize);
            for card in (base..base + BLOCK).step_by(CARD) {
                let mut bits =
                    space.start_word(card).load(Relaxed) & space.mark_word(card).load(Relaxed);
                while bits != 0 {
                    let from = card + 8 * bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    // SAFETY: a live object; its copy goes to fresh memory; the world is stopped.
                    unsafe {
                        let header = *(from as *const u64);
                        let size = M::size(from, header);
                        let Some(to) = allocator.allocate(space, &self.old, size) else {
                            self.exhausted("evacuation")
                        };
                        std::ptr::copy_nonoverlapping(from as *const u64, to as *mut u64, size / 8);
                        (*(from as *const AtomicU64)).store(to as u64 | 1, Relaxed);
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

        let new = |object: usize| -> usize {
            match space.block_of(object) {
                Some(b)
                    if space.kind(b) == BlockKind::Old
                        && space.info(b).evacuate.load(Relaxed) != 0 =>
                {
                    // SAFETY: every live object of such a block has moved, and says where to.
                    let header = unsafe { *(object as *const u64) };
                    debug_assert!(header & 1 != 0, "{object:#x} has not moved");
                    (header & !1) as usize
                }
                _ => object,
            }
        };
        let correct = |field: usize| {
            // SAFETY: the address of a reference field; the world is stopped.
            let f = unsafe { &*(field as *const AtomicUsize) };
            let v = f.load(Relaxed);
            let to = new(v);
            if to != v {
                f.store(to, Relaxed);
            }
            to
        };
        for &field in m.own.fields.as_slice() {
            let inside = space
                .block_of(field)
                .is_some_and(|b| space.info(b).evacuate.load(Relaxed) != 0);
            if !inside {
                correct(field);
            }
        }
        for &object in moved.as_slice() {
            let see = |field: usize| {
                let to = correct(field);
                if space.kind_at(to) == BlockKind::Nursery {
                    space.dirty(field);
                }
            };
            // SAFETY: a copy made above.
            unsafe {
                let header = *(object as *const u64);
                match M::contents(header) {
                    Contents::Ephemerons => {
                        EphemeronRange::of::<M>(object).iter().for_each(|pair| {
                            see(pair.key());
                            see(pair.value());
                        })
                    }
                    _ => M::visit(object, header, 0, usize::MAX, see),
                }
            }
        }
        for b in 0..space.used() {
            match space.kind(b) {
                BlockKind::Statics => self.each_static(b, |f| {
                    correct(f);
                }),
                BlockKind::Nursery => conservative::each_young::<M>(space, b, |o, _| {
                    // SAFETY: a young object with its header.
                    unsafe {
                        let header = *(o as *const u64);
                        if M::contents(header) == Contents::Ephemerons {
                            for pair in EphemeronRange::of::<M>(o).iter() {
                                correct(pair.key());
                                correct(pair.value());
                            }
                        } else {
                            M::visit(o, header, 0, usize::MAX, |f| {
                                correct(f);
                            });
                        }
                    }
                }),
                _ => {}
            }
        }
        self.world.roots(&mut |f| {
            correct(f);
        });
        self.finalizers.follow(space, new);
        let young = |o: usize| space.kind_at(o) == BlockKind::Nursery;
        self.world
            .strong_handles(false, &mut |o| (new(o), young(o)));
        for long in [false, true] {
            self.world
                .weak_handles(long, false, &mut |o| Some((new(o), young(o))));
        }
        self.world
            .side_tables(false, &mut |o| Some((new(o), young(o))));
        for &b in blocks.as_slice() {
            if self.config.debug.poison {
                crate::memory::poison(space.address(b as usize), space.address(b as usize + 1));
            }
            space.clear_marks(b as usize);
            space.free_block(b as usize);
        }
    }
}
