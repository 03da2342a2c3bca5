//! Every check finds what it is there for: a heap that is in order is damaged at one place.
use crate::Config;
use crate::references::ephemerons::EphemeronRange;
use crate::references::finalizers::Entry;
use crate::space::lines::Lines;
use crate::space::{BLOCK, BlockId, BlockKind, CLEAN, Card};
use crate::toy::{self, Parked, Slot, TABLE, Toy, ToyHeap, WAYS, Yard, field, make};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::*;

/// What is done to a heap, or to a block of it.
type Damage<'f> = &'f dyn Fn(&ToyHeap);
type DamageToBlock<'f> = &'f dyn Fn(&ToyHeap, BlockId);

/// What the verifier says of the heap; None: it is in order.
fn verdict(heap: &ToyHeap) -> Option<String> {
    let result = catch_unwind(AssertUnwindSafe(|| heap.verify("now")));
    let message = result.err()?;
    Some(*message.downcast::<String>().expect("a sentence"))
}
#[track_caller]
fn finds(heap: &ToyHeap, what: &str) {
    let said = verdict(heap).expect("damage is found");
    assert!(said.contains(what), "{said}");
}
/// Records a field as the marker does.
fn record_field(heap: &ToyHeap, field: usize) {
    // SAFETY: a field of an object of the toy world.
    let slot = unsafe { crate::object::Slot::new(field) };
    heap.major.marker(0).fields.push(slot);
}
fn root(heap: &ToyHeap, i: usize) -> usize {
    heap.world.roots[i].load(Relaxed)
}
fn set_root(heap: &ToyHeap, i: usize, o: usize) {
    heap.world.roots[i].store(o, Relaxed);
}

/// Old objects 0 (three fields) and 1 (a table of four pairs), large ones 2 (many fields) and 3 (a table), young ones 4 and 5; blocks that
/// are free, and blocks with room. Nothing is collected but when it is asked for.
fn heap() -> &'static ToyHeap {
    heap_with(Config {
        min_major: 1 << 30,
        ..WAYS[0].config()
    })
}
fn heap_with(config: Config) -> &'static ToyHeap {
    let heap = toy::start(64, config);
    heap.world.tombstone.store(make(heap, 0, 0, 0), Relaxed);
    for i in 6..60 {
        set_root(heap, i, make(heap, 2, 300, 0));
    }
    set_root(heap, 0, make(heap, 3, 0, 0));
    set_root(heap, 1, make(heap, 8, 0, TABLE));
    set_root(heap, 2, make(heap, 30_000, 0, 0));
    set_root(heap, 3, make(heap, 4000, 0, TABLE));
    (0..3).for_each(|_| heap.collect_minor());
    (6..60)
        .filter(|i| i % 3 > 0)
        .for_each(|i| set_root(heap, i, 0));
    heap.collect_all();
    set_root(heap, 4, make(heap, 2, 0, 0));
    set_root(heap, 5, make(heap, 0, 1, 0));
    assert!(!heap.is_young(root(heap, 0)) && heap.is_young(root(heap, 4)));
    assert_eq!(verdict(heap), None);
    heap
}

// ---- parked threads ------------------------------------------------------------------------------------------

/// A parked thread that minor collections pass by, in a heap with an object that was pinned in the nursery before.
fn passed_by(heap: &ToyHeap) -> (&Parked, usize) {
    let young = root(heap, 4);
    heap.world.seats[0].stack[0].store(young, Relaxed);
    let parked = &heap.world.parked[0];
    parked.change(|| {});
    heap.collect_minor();
    assert!(heap.is_young(young) && !parked.young.load(Relaxed));
    assert_eq!(verdict(heap), None);
    (parked, young)
}

#[test]
fn parked_threads_that_are_passed_by_and_refer_to_young_objects() {
    let heap = heap();
    let (parked, young) = passed_by(heap);
    parked.words[9].store(young, Relaxed);
    finds(heap, "minor collections pass by and visited");
    parked.words[9].store(young + 8, Relaxed);
    finds(heap, "minor collections pass by and visited");
    parked.words[9].store(root(heap, 0), Relaxed);
    assert_eq!(verdict(heap), None);
    parked.words[9].store(young, Relaxed);
    parked.change(|| {});
    assert_eq!(verdict(heap), None);
}
#[test]
fn scanned_threads_that_refer_to_white_objects() {
    let heap = heap();
    set_root(heap, 0, 0);
    let white = make(heap, 0, 2, 0);
    let parked = &heap.world.parked[0];
    parked.change(|| parked.roots[0].store(white, Relaxed));
    (0..3).for_each(|_| heap.collect_minor());
    let white = parked.roots[0].load(Relaxed);
    heap.major.marking.store(true, Relaxed);
    heap.world.cycle.store(7, Relaxed);
    assert_eq!(verdict(heap), None, "the thread was not scanned");
    parked.cycle.store(7, Relaxed);
    finds(heap, "marking has scanned");
    heap.space.set_mark(white);
    assert_eq!(verdict(heap), None);
    let other = root(heap, 6);
    parked.words[3].store(other + 8, Relaxed);
    finds(heap, "marking has scanned");
}
#[test]
fn roots_of_parked_threads() {
    let heap = heap();
    let (parked, young) = passed_by(heap);
    parked.roots[1].store(young, Relaxed);
    finds(heap, "pass by");
    parked.roots[1].store(root(heap, 0), Relaxed);
    assert_eq!(verdict(heap), None);
    parked.roots[1].store(root(heap, 0) + 8, Relaxed);
    finds(heap, "no object begins");
}

// ---- references and handles ---------------------------------------------------------------------------------

/// The address of an object that a cycle found dead.
fn dead(heap: &ToyHeap) -> usize {
    let o = root(heap, 0);
    set_root(heap, 0, 0);
    heap.collect_all();
    o
}
fn handles(w: &Yard) -> [(&'static str, &[Slot]); 5] {
    [
        ("a pinned handle", &w.pinned),
        ("a strong handle", &w.strong),
        ("a short weak handle", &w.short),
        ("a long weak handle", &w.long),
        ("is listed, and no object", &w.listed),
    ]
}

#[test]
fn handles_of_dead_objects() {
    for i in 0..5 {
        let heap = heap();
        let dead = dead(heap);
        let (what, slots) = handles(&heap.world)[i];
        slots[7].store(root(heap, 2), Relaxed);
        assert_eq!(verdict(heap), None);
        slots[7].store(dead, Relaxed);
        finds(heap, what);
        slots[7].store(root(heap, 2) + 8, Relaxed);
        finds(heap, what);
    }
}
#[test]
fn handles_that_a_minor_collection_would_pass_by() {
    for i in 0..5 {
        let heap = heap();
        let slot = &handles(&heap.world)[i].1[7];
        slot.store(root(heap, 4), Relaxed);
        assert_eq!(verdict(heap), None);
        slot.may_be_young.store(false, Relaxed);
        let what = [
            "1 pinned",
            "1 strong",
            "1 short weak",
            "1 long weak",
            "listed as old",
        ];
        finds(heap, what[i]);
    }
}
#[test]
fn fields_of_dead_objects_and_clean_cards() {
    let heap = heap();
    let (o, young) = (root(heap, 0), root(heap, 4));
    heap.world.store_only(field(o, 1), young);
    finds(heap, "from a clean card");
    heap.world.mark_card(field(o, 1), young);
    assert_eq!(verdict(heap), None);
    heap.world.store(field(o, 1), young + 8);
    finds(heap, "no object begins");
}
#[test]
fn pairs_with_dead_keys_or_values() {
    for (table, word) in [(1, 0), (1, 3), (3, 1000), (3, 1001)] {
        let heap = heap();
        let dead = dead(heap);
        heap.world.store(field(root(heap, table), word), dead);
        finds(heap, "no object begins");
        heap.world.store(field(root(heap, table), word), 0);
        assert_eq!(verdict(heap), None);
    }
}
#[test]
fn a_large_object_that_died_and_is_not_given_back_yet() {
    let heap = heap();
    let o = root(heap, 2);
    heap.world.strong[0].store(o, Relaxed);
    set_root(heap, 2, 0);
    let b = heap.space.block(o);
    heap.large
        .heads
        .lock()
        .retain_map(|h| (h != b).then_some(h));
    heap.space.info(b).large_dead.store(1, Relaxed);
    finds(heap, "a strong handle");
}

// ---- finalizers ---------------------------------------------------------------------------------------------

#[test]
fn registrations_and_bits_that_do_not_agree() {
    let cases: [(&str, Damage); 6] = [
        ("in no list", &|h| {
            h.space.set_finalizable(root(h, 2), true);
        }),
        ("registered as old", &|_| {}),
        ("waits to be finalized twice", &|h| {
            h.finalizers.put(Entry::Queued, root(h, 0));
            h.finalizers.put(Entry::Queued, root(h, 0));
        }),
        ("waits to be finalized, and no", &|h| {
            h.finalizers.put(Entry::Queued, root(h, 0) + 16);
        }),
        ("is registered for finalization, and no", &|h| {
            h.finalizers.put(Entry::Old, root(h, 0) + 16);
            h.space.set_finalizable(root(h, 0) + 16, true);
        }),
        ("is registered for finalization, and no", &|h| {
            h.space.set_finalizable(root(h, 4), false);
            h.finalizers.put(Entry::Young, root(h, 4) + 8);
            h.space.set_finalizable(root(h, 4) + 8, true);
        }),
    ];
    for (what, damage) in cases {
        let heap = heap();
        for i in [0, 4] {
            heap.register_finalizer(root(heap, i));
            heap.suppress_finalizer(root(heap, i));
            heap.register_finalizer(root(heap, i));
        }
        assert_eq!(verdict(heap), None);
        if what == "registered as old" {
            heap.finalizers.put(Entry::Old, root(heap, 4));
            finds(heap, "is young, and registered for finalization as old");
            continue;
        }
        damage(heap);
        finds(heap, what);
    }
}

// ---- blocks -------------------------------------------------------------------------------------------------

fn some_block(heap: &ToyHeap, wanted: impl Fn(BlockId) -> bool) -> BlockId {
    let found = heap.space.all_blocks().find(|b| wanted(*b));
    found.expect("there is such a block")
}
fn with_room(heap: &ToyHeap) -> BlockId {
    let info = |b| heap.space.info(b);
    some_block(heap, |b| {
        heap.space.kind(b) == BlockKind::Old && info(b).recyclable.load(Relaxed) != 0
    })
}

#[test]
fn lists_of_blocks_that_do_not_agree_with_the_blocks() {
    let free = |h: &ToyHeap| some_block(h, |b| h.space.kind(b) == BlockKind::Free);
    let cases: [(&str, Damage); 7] = [
        ("blocks are free", &|h| {
            h.space.set_kind(free(h), BlockKind::Taken)
        }),
        ("blocks are free", &|h| h.space.free_block(free(h))),
        ("free ones twice", &|h| {
            h.space.info(free(h)).listed.store(0, Relaxed)
        }),
        ("no old block that says so", &|h| {
            h.space.info(with_room(h)).recyclable.store(0, Relaxed)
        }),
        ("blocks have room", &|h| {
            h.space.info(with_room(h)).live.fetch_add(128, Relaxed);
        }),
        ("with room twice", &|h| {
            let b = with_room(h);
            h.space.info(b).recyclable.store(0, Relaxed);
            // SAFETY: an old block of the toy world; no thread collects.
            let used = unsafe { Lines::inspect::<Toy>(&h.space, b) };
            h.old.recyclable.push(&h.space, b, &used);
        }),
        ("what counts as a hole", &|h| {
            let b = with_room(h);
            h.old.recyclable.retain(&h.space, |r| r != b);
            h.old.recyclable.push(&h.space, b, &Lines::EMPTY);
        }),
    ];
    for (what, damage) in cases {
        let heap = heap();
        damage(heap);
        finds(heap, what);
    }
}
#[test]
fn a_list_of_free_blocks_that_is_a_ring() {
    let heap = heap();
    let list = || heap.space.with_free(|f| assert!(f.list().count() > 0));
    list();
    // What is in the list is put there once more.
    let last = some_block(heap, |b| heap.space.kind(b) == BlockKind::Free);
    heap.space.info(last).listed.store(0, Relaxed);
    heap.space.free_block(last);
    finds(heap, "free ones twice");
}
#[test]
fn large_objects_and_their_blocks() {
    let cases: [(&str, DamageToBlock); 6] = [
        ("are counted", &|h, _| {
            h.large.bytes.fetch_add(8, Relaxed);
        }),
        ("large objects twice", &|h, b| h.large.heads.lock().push(b)),
        ("is no such object", &|h, b| {
            set_root(h, 2, 0);
            h.space.info(b).large_dead.store(1, Relaxed)
        }),
        ("is large and not listed", &|h, b| {
            let size = h.space.info(b).size.load(Relaxed);
            h.large.bytes.fetch_sub(size, Relaxed);
            let other = |l: BlockId| (l != b).then_some(l);
            h.large.heads.lock().retain_map(other);
        }),
        ("has no block 1", &|h, b| {
            h.space.info(b.plus(1)).live.store(2, Relaxed)
        }),
        ("are parts of large objects", &|h, b| {
            h.space.info(b).size.fetch_sub(BLOCK, Relaxed);
            h.large.bytes.fetch_sub(BLOCK, Relaxed);
        }),
    ];
    for (what, damage) in cases {
        let heap = heap();
        damage(heap, heap.space.block(root(heap, 2)));
        finds(heap, what);
    }
}
#[test]
fn unused_young_memory_and_what_is_counted() {
    let piece = |h: &ToyHeap| {
        let nursery = h.nursery.lock();
        let all = nursery.fragments.as_slice();
        *all.last().expect("some is unused")
    };
    let cases: [(&str, Damage); 6] = [
        ("of the nursery", &|h| h.nursery.lock().handed_out += 8),
        ("is not its own", &|h| {
            let (from, to) = piece(h);
            h.nursery.lock().fragments.push((from + 256, to));
        }),
        ("holds something", &|h| h.space.set_start(piece(h).0 + 64)),
        ("holds something", &|h| {
            // SAFETY: a word of a nursery block that is nobody's.
            unsafe { *(piece(h).0 as *mut u64) = toy::header(1, 0, 0) }
        }),
        ("are counted as old", &|h| {
            h.old.bytes.fetch_sub(BLOCK / 2, Relaxed);
        }),
        ("are counted as old", &|h| {
            h.old.bytes.fetch_add(20 * BLOCK, Relaxed);
        }),
    ];
    for (what, damage) in cases {
        let heap = heap();
        damage(heap);
        finds(heap, what);
    }
}

// ---- marking ------------------------------------------------------------------------------------------------

/// What is not reached when a cycle begins.
struct White {
    heap: &'static ToyHeap,
    old: usize,
    large: usize,
}
/// A cycle has begun, and looked at everything grey unless `all_grey`.
fn cycle(all_grey: bool) -> White {
    let heap = heap();
    let old = root(heap, 6);
    let large = make(heap, 0, 2000, 0);
    set_root(heap, 6, 0);
    let mut stop = heap.gate.stop();
    stop.shut();
    heap.minor(true, &mut stop);
    heap.initial_mark();
    assert_eq!(verdict(heap), None);
    if !all_grey {
        let mut marker = heap.major.marker(0);
        let mut m = heap.exclusive_marking(&mut marker);
        while let Some(entry) = m.own.next() {
            // SAFETY: the entry comes from the stack of this marker.
            unsafe { m.scan(entry) };
        }
        drop(marker);
        assert_eq!(verdict(heap), None);
    }
    White { heap, old, large }
}

#[test]
fn black_objects_that_refer_to_white_ones() {
    for is_large in [false, true] {
        let White { heap, old, large } = cycle(false);
        let (w, white) = (&heap.world, if is_large { large } else { old });
        let born = make(heap, 2000, 0, 0);
        let first = field(root(heap, 0), 0);
        for at in [first, field(born, 1000), field(root(heap, 2), 20_000)] {
            w.store_only(at, white);
            finds(heap, "is black and refers to the white");
            // Each of these makes up for it.
            w.seats[0].stack[0].store(white, Relaxed);
            finds(heap, "white");
            w.seats[0].storing.store(true, SeqCst);
            assert_eq!(verdict(heap), None);
            w.seats[0].storing.store(false, SeqCst);
            w.mark_card(at, white);
            assert_eq!(verdict(heap), None);
            heap.space.card(Card::of(at)).store(CLEAN, Relaxed);
            finds(heap, "white");
            heap.space.set_mod_union(Card::of(at));
            assert_eq!(verdict(heap), None);
        }
    }
}
#[test]
fn what_is_grey_may_refer_to_white_objects() {
    let White { heap, old, .. } = cycle(true);
    heap.world.store_only(field(root(heap, 0), 0), old);
    assert_eq!(verdict(heap), None);
    // Of a large object what lies behind the grey piece.
    let White { heap, old, .. } = cycle(false);
    let large = root(heap, 2);
    heap.world.store_only(field(large, 10_000), old);
    finds(heap, "white");
    heap.major
        .marker(0)
        .local_stack
        .push((large + 8 * 5000) | 1);
    assert_eq!(verdict(heap), None);
    heap.world.store_only(field(large, 4000), old);
    finds(heap, "white");
}
#[test]
fn tables_that_no_marker_knows() {
    for table in [1, 3] {
        let White { heap, .. } = cycle(false);
        let of = root(heap, table);
        let mut marker = heap.major.marker(0);
        marker.ephemerons.retain_map(|t| (t != of).then_some(t));
        drop(marker);
        finds(heap, "is a marked table of pairs that no marker knows");
    }
    let White { heap, .. } = cycle(false);
    make(heap, 4000, 0, TABLE);
    assert_eq!(verdict(heap), None);
    heap.major.born.lock().clear();
    finds(heap, "is a marked table of pairs that no marker knows");
}
#[test]
fn references_into_moving_blocks_that_nobody_recorded() {
    let White { heap, .. } = cycle(false);
    let (from, to) = (root(heap, 2), root(heap, 0));
    heap.world.store_only(field(from, 7), to);
    assert_eq!(verdict(heap), None);
    let info = heap.space.info(heap.space.block(to));
    info.evacuate.store(1, Relaxed);
    finds(heap, "refers to the moving");
    record_field(heap, field(from, 7));
    assert_eq!(verdict(heap), None);
}
#[test]
fn what_is_left_of_marking() {
    let cases: [(&str, Damage); 4] = [
        ("has marks in its block", &|h| {
            h.space.set_mark(root(h, 0));
        }),
        ("1 objects are grey", &|h| {
            h.major.marker(0).local_stack.push(root(h, 0))
        }),
        ("1 tables", &|h| h.major.table_born(root(h, 3))),
        ("1 pairs of ephemerons wait", &|h| {
            let table = root(h, 1);
            h.world.store(field(table, 0), root(h, 2));
            let mut pending = h.pending.borrow();
            // SAFETY: a table of the toy world; no thread collects.
            let pair = unsafe { EphemeronRange::of::<Toy>(table) }.iter().next();
            pending.wait(pair.expect("it has pairs"));
            pending.settle();
        }),
    ];
    for (what, damage) in cases {
        let heap = heap();
        damage(heap);
        finds(heap, what);
    }
    let White { heap, .. } = cycle(false);
    let info = heap.space.info(heap.space.block(root(heap, 0)));
    info.unswept.store(1, Relaxed);
    finds(heap, "in a block that is not swept");
}
