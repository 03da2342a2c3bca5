//! Threads that are parked: which of them minor collections visit, and what becomes of the objects that they refer to.
use crate::toy::{Parked, ToyHeap, WAYS, field, id, make};
use std::sync::atomic::Ordering::*;
use vervet_heap::{Config, Debug};

/// Nothing is collected but when it is asked for.
fn heap() -> &'static ToyHeap {
    heap_with(0)
}
fn heap_with(in_place: u32) -> &'static ToyHeap {
    let config = WAYS[0].config();
    crate::toy::start(
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
fn a_thread_that_stays_parked_is_not_visited_for_ever() {
    let heap = heap();
    let (first, second) = (make(heap, 1, 0, 0), make(heap, 0, 3, 0));
    heap.world.store(field(first, 0), second);
    let (name, inner) = (id(first), id(second));
    park(heap, 0, &[0, first + 8]);
    let mut visits = 0;
    while heap.is_young(first) {
        visits += 1;
        assert_eq!(minor(heap), 1);
    }
    assert!((3..8).contains(&visits), "the thread may go on soon");
    for _ in 0..3 {
        assert_eq!(minor(heap), 0);
        make(heap, 0, 100, 0);
    }
    heap.collect_all();
    assert_eq!(minor(heap), 0);
    // SAFETY: the thread refers to the object, which was pinned and is old, and the field is the object's.
    let kept = crate::toy::read(field(first, 0));
    assert_eq!((id(first), id(kept)), (name, inner));
}

#[test]
fn threads_that_refer_to_nothing_young_are_visited_once() {
    let heap = heap();
    let old = make(heap, 0, 1, 0);
    park(heap, 0, &[old]);
    while heap.is_young(old) {
        minor(heap);
    }
    for i in 1..50 {
        park(heap, i, &[old, 8, usize::MAX]);
    }
    assert_eq!(minor(heap), 49);
    assert_eq!(minor(heap), 0);
}

#[test]
fn threads_that_park_together_are_visited_twice() {
    let heap = heap();
    for i in 0..60 {
        let words: Vec<usize> = (0..4).map(|_| make(heap, 0, 3, 0)).collect();
        park(heap, i, &words);
    }
    assert_eq!(minor(heap), 60);
    assert_eq!(minor(heap), 60);
    assert_eq!(minor(heap), 0);
}

#[test]
fn words_that_are_no_references_pin_nothing_later() {
    let heap = heap();
    let block = make(heap, 0, 3, 0) & !0xFFFF;
    minor(heap);
    // Some day the block is in the nursery again, and the word means nothing.
    park(heap, 0, &[block + 0x800, block + 0x1800, block + 0x9000]);
    minor(heap);
    minor(heap);
    for _ in 0..20 {
        (0..500).for_each(|_| assert_ne!(make(heap, 0, 5, 0), 0));
        assert_eq!(minor(heap), 0);
    }
    assert_eq!(heap.old_bytes(), 0);
}

#[test]
fn a_thread_that_waits_for_a_moment_leaves_no_old_block() {
    let heap = heap();
    let before = heap.committed();
    for _ in 0..50 {
        let parked = park(heap, 0, &[make(heap, 0, 10, 0)]);
        (0..2).for_each(|_| assert!(minor(heap) <= 1));
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

/// A heap whose cycles mark beside the program, slowly.
fn marking_heap() -> &'static ToyHeap {
    let config = WAYS[1].config();
    let heap = crate::toy::start(
        8,
        Config {
            debug: Debug {
                concurrent_marking: true,
                ..config.debug
            },
            ..config
        },
    );
    heap.world.parked_count.store(1000, Relaxed);
    heap
}

#[test]
fn a_cycle_keeps_what_parked_threads_refer_to() {
    let heap = marking_heap();
    let mut all = Vec::new();
    for i in 0..60 {
        let (inside, exact) = (make(heap, 1, 3, 0), make(heap, 1, 0, 0));
        let parked = &toy_parked(heap)[i];
        parked.change(|| {
            parked.words[i % 50].store(inside + 16, Relaxed);
            parked.roots[i % 2].store(exact, Relaxed);
        });
        all.push((id(inside), id(exact)));
        if i % 20 == 0 {
            minor(heap);
        }
    }
    // Two collections make them old; the first cycles find some of them young.
    for round in 0..5 {
        heap.collect_all();
        for (i, names) in all.iter().enumerate() {
            let parked = &heap.world.parked[i];
            let inside = parked.words[i % 50].load(Relaxed) - 16;
            let exact = parked.roots[i % 2].load(Relaxed);
            assert_eq!((id(inside), id(exact)), *names, "thread {i}, round {round}");
        }
        // Some run, and refer to what another one did.
        for i in (round..50).step_by(7) {
            let (parked, next) = (&heap.world.parked[i], &heap.world.parked[i + 1]);
            let exact = next.roots[(i + 1) % 2].load(Relaxed);
            parked.change(|| parked.roots[i % 2].store(exact, Relaxed));
            all[i].1 = all[i + 1].1;
        }
    }
}

#[test]
fn a_cycle_frees_what_only_dead_words_of_parked_threads_referred_to() {
    let heap = marking_heap();
    let object = make(heap, 0, 500, 0);
    let parked = park(heap, 0, &[object]);
    while heap.is_young(object) {
        minor(heap);
    }
    heap.collect_all();
    let kept = heap.old_bytes();
    assert!(kept >= 4000);
    parked.change(|| parked.words[0].store(0, Relaxed));
    heap.collect_all();
    assert!(heap.old_bytes() < kept);
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

/// A heap with that many parked threads, after the program has kept 7 MiB of objects; the first cycle is due at 1 MiB.
fn grown(parked: usize) -> &'static ToyHeap {
    let heap = crate::toy::start(8, WAYS[0].config());
    heap.world.parked_count.store(parked, Relaxed);
    for _ in 0..40_000 {
        let next = make(heap, 1, 20, 0);
        heap.world
            .store(field(next, 0), heap.world.roots[0].load(Relaxed));
        heap.world.roots[0].store(next, Relaxed);
    }
    heap
}

#[test]
fn parked_threads_count_when_a_cycle_is_due() {
    let few = grown(10);
    few.collect_all();
    assert!(few.major_count() > 1, "cycles have begun by themselves");
    // Cycles have to scan 200 MiB of stacks: one for each MiB of new objects would be too many.
    let many = grown(50_000);
    many.collect_all();
    assert_eq!(many.major_count(), 1);
}

/// What begins where another object ends, and what ends where a block ends, is kept by the address of that end.
#[test]
fn the_end_of_an_object_keeps_the_object() {
    const BLOCK: usize = 64 << 10;
    let heap = heap();
    const SIZE: usize = 32;
    let (mut inner, mut last) = (None, None);
    for _ in 0..4096 {
        let object = make(heap, 0, 2, 0);
        let end = object + SIZE;
        if end.is_multiple_of(BLOCK) && !heap.is_young(end) {
            last = Some(object);
        } else if inner.is_none() && object % BLOCK == 64 {
            inner = Some(object);
        }
    }
    let objects = [inner, last].map(|object| object.expect("objects fill blocks"));
    let names = objects.map(id);
    for (i, object) in objects.into_iter().enumerate() {
        park(heap, i, &[object + SIZE]);
    }
    minor(heap);
    // Others get the memory of what was not kept.
    for _ in 0..10_000 {
        make(heap, 0, 2, 0);
    }
    assert_eq!(objects.map(id), names);
}

/// A reference to an object keeps only that object, and not the one before it.
#[test]
fn a_reference_does_not_keep_the_object_before() {
    let heap = heap();
    let objects: Vec<usize> = (0..60).map(|_| make(heap, 1, 1, 0)).collect();
    let at = objects.windows(2).position(|pair| pair[0] + 32 == pair[1]);
    let at = at.expect("objects lie side by side");
    let (before, after) = (objects[at], objects[at + 1]);
    let (lost, kept) = (id(before), id(after));
    park(heap, 0, &[after]);
    minor(heap);
    for _ in 0..10_000 {
        make(heap, 1, 1, 0);
    }
    assert_eq!(id(after), kept);
    assert_ne!(id(before), lost, "its memory is used again");
}
