//! Threads that are parked: which of them minor collections visit, and what becomes of the objects that they refer to.
mod toy;
use std::sync::atomic::Ordering::*;
use toy::{Parked, ToyHeap, WAYS, field, id, make};
use vervet_heap::{Config, Debug};

/// Nothing is collected but when it is asked for.
fn heap() -> &'static ToyHeap {
    heap_with(0)
}
fn heap_with(in_place: u32) -> &'static ToyHeap {
    let config = WAYS[0].config();
    toy::start(
        8,
        Config {
            min_major: 1 << 30,
            debug: Debug {
                promote_in_place: in_place,
                ..config.debug
            },
            ..config
        },
    )
}
/// Parks green thread `i` with these words.
fn park(heap: &ToyHeap, i: usize, words: &[usize]) -> &'static Parked {
    let parked = &toy_parked(heap)[i];
    parked.change(|| {
        for (at, word) in parked.words.iter().zip(words) {
            at.store(*word, Relaxed);
        }
    });
    parked
}
fn toy_parked(heap: &ToyHeap) -> &'static [Parked] {
    // SAFETY: heaps live as long as the process.
    unsafe { &*(heap.world.parked.as_slice() as *const [Parked]) }
}
/// Collects the nursery; how many parked threads were visited.
fn minor(heap: &ToyHeap) -> usize {
    let before = heap.world.visits.load(Relaxed);
    heap.collect_minor();
    heap.world.visits.load(Relaxed) - before
}

#[test]
fn a_thread_that_stays_parked_is_visited_twice() {
    let heap = heap();
    let (first, second) = (make(heap, 1, 0, 0), make(heap, 0, 3, 0));
    heap.world.store(field(first, 0), second);
    let (name, inner) = (id(first), id(second));
    park(heap, 0, &[0, first + 8]);
    assert_eq!(minor(heap), 1);
    assert!(heap.is_young(first), "the thread may go on at once");
    assert_eq!(minor(heap), 1);
    assert!(!heap.is_young(first), "the thread waits for long");
    for _ in 0..3 {
        assert_eq!(minor(heap), 0);
        make(heap, 0, 100, 0);
    }
    heap.collect_all();
    assert_eq!(minor(heap), 0);
    // SAFETY: the thread refers to the object, which was pinned and is old, and the field is the object's.
    let kept = toy::read(field(first, 0));
    assert_eq!((id(first), id(kept)), (name, inner));
}

#[test]
fn threads_that_refer_to_nothing_young_are_visited_once() {
    let heap = heap();
    let old = make(heap, 0, 1, 0);
    park(heap, 0, &[old]);
    minor(heap);
    minor(heap);
    for i in 1..50 {
        park(heap, i, &[old, 8, usize::MAX]);
    }
    assert_eq!(minor(heap), 49);
    assert_eq!(minor(heap), 0);
}

#[test]
fn a_thread_that_waits_for_a_moment_leaves_no_old_block() {
    let heap = heap();
    let before = heap.committed();
    for _ in 0..50 {
        let parked = park(heap, 0, &[make(heap, 0, 10, 0)]);
        minor(heap);
        parked.change(|| parked.words[0].store(0, Relaxed));
        minor(heap);
        assert_eq!(heap.old_bytes(), 0);
    }
    assert!(heap.committed() <= before + (256 << 10));
}

#[test]
fn exact_references_of_parked_threads_follow_their_objects() {
    let heap = heap();
    let object = make(heap, 0, 2, 0);
    let name = id(object);
    let parked = &heap.world.parked[3];
    parked.change(|| parked.roots[1].store(object, Relaxed));
    assert_eq!(minor(heap), 1);
    let copy = parked.roots[1].load(Relaxed);
    assert!(copy != object && heap.is_young(copy));
    assert_eq!(minor(heap), 1);
    let old = parked.roots[1].load(Relaxed);
    assert!(!heap.is_young(old));
    assert_eq!((minor(heap), id(old)), (0, name));
}

#[test]
fn collections_that_leave_nothing_young_leave_no_thread_to_visit() {
    // The first promotes everything, the second in place.
    for count in [2, 3] {
        let heap = heap_with(if count == 2 { 4 } else { 1 });
        let object = make(heap, 0, 2, 0);
        park(heap, 0, &[object]);
        for _ in 0..count {
            minor(heap);
        }
        assert!(!heap.is_young(object));
        assert_eq!(minor(heap), 0);
        assert!(id(object) != 0);
    }
}

#[test]
fn threads_do_not_make_tlabs_small_while_they_are_parked() {
    let heap = heap();
    let size = |heap: &ToyHeap| {
        make(heap, 0, 0, 0);
        heap.world.tlab(0).remaining()
    };
    minor(heap);
    let alone = size(heap);
    for i in 0..60 {
        park(heap, i, &[]);
    }
    minor(heap);
    assert_eq!(size(heap), alone);
}
