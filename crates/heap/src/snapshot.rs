//! The heap at the end of a collection, for whoever reports it: objects with their references, and what keeps them.
//!
//! # Invariants
//! * The world is stopped, and the work of the collection is done: every object that is named is where it stays until the world goes on, and alive as far as
//!   the last cycle knows. At the end of a cycle's last pause that is exact, so that what an object refers to is itself named as an object.
//! * Nothing here takes memory of the C library's.
use crate::Heap;
use crate::model::{Contents, Model, Range, Snapshot, SnapshotVisitor, World};
use crate::object::each_slot;
use crate::references::ephemerons::EphemeronRange;
use crate::roots::conservative::{self, Cursor};
use crate::space::BlockKind;
use std::sync::atomic::Ordering::Relaxed;

impl<M: Model, W: World> Heap<M, W> {
    /// Calls `visit` with each object and its header.
    fn each_object(&self, mut visit: impl FnMut(usize, u64)) {
        for block in self.space.all_blocks() {
            // SAFETY: `each_object_of` finds live objects, which have their headers; the world is stopped.
            self.each_object_of(block, |o| visit(o, unsafe { *(o as *const u64) }));
        }
    }
}

impl<M: Model, W: World> Snapshot for Heap<M, W> {
    fn objects(&self, visitor: &mut dyn SnapshotVisitor) {
        self.each_object(|object, header| {
            let is_old = self.space.kind_at(object) != BlockKind::Nursery;
            // SAFETY: an object with its header, which lives and does not move while the world is stopped.
            unsafe {
                visitor.object(object, header, M::size(object, header), is_old);
                if M::contents(header) == Contents::References {
                    each_slot::<M>(object, header, 0, usize::MAX, |slot| {
                        let target = slot.load(Relaxed);
                        if self.space.block_of(target).is_some() {
                            visitor.reference(slot.address() - object, target);
                        }
                    });
                }
            }
        });
    }
    fn statics(&self, visit: &mut dyn FnMut(usize, usize)) {
        for block in self.space.all_blocks() {
            if self.space.kind(block) == BlockKind::Statics {
                self.each_static(block, |slot| match slot.load(Relaxed) {
                    0 => {}
                    object => visit(slot.address(), object),
                });
            }
        }
    }
    fn queued(&self, visit: &mut dyn FnMut(bool, usize)) {
        self.finalizers.each_queued(visit);
    }
    fn ephemerons(&self, visit: &mut dyn FnMut(usize)) {
        self.each_object(|object, header| {
            // SAFETY: an object with its header; of a table, the world being stopped.
            unsafe {
                if M::contents(header) == Contents::Ephemerons {
                    for pair in EphemeronRange::of::<M>(object).iter() {
                        match pair.value().load(Relaxed) {
                            0 => {}
                            value => visit(value),
                        }
                    }
                }
            }
        });
    }
    unsafe fn referred(&self, (from, to): Range, visit: &mut dyn FnMut(usize)) {
        let space = &self.space;
        let scratch = &mut *self.scratch.borrow();
        let candidates = &mut scratch.candidates;
        candidates.clear();
        // SAFETY: the caller promises that the range is readable.
        unsafe {
            conservative::collect(space, from, to, candidates);
            conservative::collect_young(space, from, to, candidates, |_| true);
        }
        conservative::prepare(candidates);
        let mut cursor = Cursor::default();
        let is_in_heap = |address| {
            matches!(
                space.kind_at(address),
                BlockKind::Nursery | BlockKind::Old | BlockKind::Large | BlockKind::LargeTail
            )
        };
        for candidate in candidates.as_slice() {
            conservative::each_object::<M>(space, *candidate, &mut cursor, is_in_heap, |object| {
                let is_large = space.kind_at(object) == BlockKind::Large;
                if !(is_large && self.is_dead_large(space.block(object))) {
                    visit(object);
                }
            });
        }
        candidates.clear();
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use crate::model::{Snapshot, SnapshotVisitor, World};
    use crate::toy::{self, TABLE, WAYS, field, make};
    use std::collections::BTreeMap;
    use std::sync::atomic::Ordering::Relaxed;

    #[derive(Default)]
    struct Seen {
        objects: BTreeMap<usize, Vec<(usize, usize)>>,
        last: usize,
    }
    impl SnapshotVisitor for Seen {
        fn object(&mut self, object: usize, _: u64, bytes: usize, _: bool) {
            assert!(bytes >= 16);
            assert!(self.objects.insert(object, Vec::new()).is_none(), "once");
            self.last = object;
        }
        fn reference(&mut self, offset: usize, target: usize) {
            let references = self.objects.get_mut(&self.last).unwrap();
            references.push((offset, target));
        }
    }

    #[test]
    fn a_snapshot_has_what_is_alive_with_its_references_and_what_keeps_it() {
        for way in WAYS {
            let heap = toy::start(8, way.config());
            let root = |i: usize| heap.world.roots[i].load(Relaxed);
            let set_root = |i: usize, o: usize| heap.world.roots[i].store(o, Relaxed);
            set_root(0, make(heap, 3, 0, 0));
            // Large, with references far apart; a table; an object that only the table's value is.
            set_root(1, make(heap, 30_000, 0, 0));
            set_root(2, make(heap, 2, 0, TABLE));
            for (from, i) in [(0, 0), (0, 2), (1, 29_999)] {
                let target = make(heap, 0, 1, 0);
                heap.world.store(field(root(from), i), target);
            }
            heap.world.store(field(root(2), 0), root(0));
            let value = make(heap, 0, 0, 0);
            heap.world.store(field(root(2), 1), value);
            for _ in 0..100 {
                make(heap, 1, 10, 0);
            }
            heap.collect_all();
            let (mut seen, mut values, mut found) = (Seen::default(), Vec::new(), Vec::new());
            // The address of a field, and what is no reference.
            let words = [field(root(0), 1), 1, 0, field(root(0), 2), root(1)];
            let from = words.as_ptr() as usize;
            heap.world.stopped(&mut || {
                heap.objects(&mut seen);
                heap.ephemerons(&mut |value| values.push(value));
                // SAFETY: the words of this frame.
                unsafe { heap.referred((from, from + 40), &mut |o| found.push(o)) };
            });
            assert_eq!(seen.objects.len(), 7);
            let of = |i: usize| &seen.objects[&root(i)];
            let offsets = |i: usize| of(i).iter().map(|r| r.0).collect::<Vec<_>>();
            assert_eq!(offsets(0), [16, 32]);
            assert_eq!(offsets(1), [16 + 8 * 29_999]);
            assert!(of(2).is_empty(), "what a table refers to it does not keep");
            let mut targets = seen.objects.values().flatten();
            assert!(targets.all(|(_, target)| seen.objects.contains_key(target)));
            assert!(values.len() == 1 && seen.objects.contains_key(&values[0]));
            found.sort_unstable();
            found.dedup();
            let mut kept = [root(0), root(1)];
            kept.sort_unstable();
            assert_eq!(found, kept);
        }
    }
}
