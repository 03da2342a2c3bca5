//! Tables of pairs: what becomes of those made while a cycle marks, and how much work pairs are.
use crate::toy::{Rng, TABLE, ToyHeap, WAYS, field, id, make, read};
use std::sync::atomic::Ordering::*;
use vervet_heap::{Config, Debug, World};

/// Pairs of a large table.
const MANY: usize = 4000;

/// A heap whose marker is slow, with every check; where young objects go depends on `in_place`.
fn slow(in_place: u32) -> Config {
    let way = WAYS[1].config();
    Config {
        debug: Debug {
            slow_marker: 300,
            concurrent_marking: true,
            promote_in_place: in_place,
            ..way.debug
        },
        ..way
    }
}
/// A heap in which cycles run only if they are asked for.
fn quiet() -> Config {
    Config {
        min_major: 1 << 30,
        ..WAYS[0].config()
    }
}
fn root(heap: &ToyHeap, i: usize) -> usize {
    heap.world.roots[i].load(Relaxed)
}
fn set_root(heap: &ToyHeap, i: usize, o: usize) {
    heap.world.roots[i].store(o, Relaxed);
}
/// Makes everything old.
fn age(heap: &ToyHeap) {
    (0..3).for_each(|_| heap.collect_minor());
}
fn set_pair(heap: &ToyHeap, table: usize, pair: usize, key: usize, value: usize) {
    heap.world.store(field(table, 2 * pair), key);
    heap.world.store(field(table, 2 * pair + 1), value);
}
/// A list of so many objects; its root is `i`.
fn list(heap: &ToyHeap, i: usize, length: usize) {
    for _ in 0..length {
        let o = make(heap, 1, 0, 0);
        heap.world.store(field(o, 0), root(heap, i));
        set_root(heap, i, o);
    }
}

/// Old keys hang at the end of a long list and old values in a small table; while the marker walks, the pairs are moved to a table made
/// now, `large` or not, and after that the small one is emptied. Nothing but the new table keeps the values.
fn a_table_made_while_marking_runs(large: bool, in_place: u32) {
    const PAIRS: usize = 100;
    let heap = crate::toy::start(8, slow(in_place));
    let w = &heap.world;
    w.tombstone.store(make(heap, 0, 0, 0), Relaxed);
    // Root 0: an object that refers to the table and, by a long list, to the keys.
    set_root(heap, 0, make(heap, PAIRS + 1, 0, 0));
    set_root(heap, 1, make(heap, 2 * PAIRS, 0, TABLE));
    for i in 0..PAIRS {
        let key = make(heap, 0, 1, 0);
        w.store(field(root(heap, 0), i), key);
        w.store(field(root(heap, 1), 2 * i), key);
        let value = make(heap, 0, 2, 0);
        w.store(field(root(heap, 1), 2 * i + 1), value);
    }
    w.store(field(root(heap, 0), PAIRS), root(heap, 1));
    set_root(heap, 1, root(heap, 0));
    set_root(heap, 0, 0);
    list(heap, 1, 0);
    // The list: its last object refers to what was made.
    let last = make(heap, 1, 0, 0);
    w.store(field(last, 0), root(heap, 1));
    set_root(heap, 1, last);
    list(heap, 1, 20_000);
    age(heap);
    heap.collect_all();
    let end = || {
        let mut o = root(heap, 1);
        for _ in 0..20_001 {
            o = read(field(o, 0));
        }
        o
    };
    let ids: Vec<usize> = (0..PAIRS)
        .map(|i| id(read(field(read(field(end(), PAIRS)), 2 * i + 1))))
        .collect();

    let ticket = heap.ask_for_major();
    while !heap.is_marking() {
        w.blocking(&mut std::thread::yield_now);
    }
    let pairs = if large { MANY } else { PAIRS };
    let new = make(heap, 2 * pairs, 0, TABLE);
    let (new_at, holder) = (new, end());
    let old = read(field(holder, PAIRS));
    for i in 0..PAIRS {
        // Far apart.
        let at = i * pairs / PAIRS;
        set_pair(
            heap,
            new_at,
            at,
            read(field(old, 2 * i)),
            read(field(old, 2 * i + 1)),
        );
        set_pair(heap, old, i, 0, 0);
    }
    w.store(field(holder, PAIRS), new_at);
    assert!(heap.is_marking(), "the marker was slow enough");
    heap.collect_minor();
    heap.collect_minor();
    assert!(heap.is_marking(), "the marker was slow enough");
    heap.wait_for_major(ticket);
    heap.collect_minor();
    let table = read(field(end(), PAIRS));
    for (i, want) in ids.iter().enumerate() {
        let at = field(table, 2 * (i * pairs / PAIRS));
        assert_eq!(read(at), read(field(end(), i)), "key {i}");
        assert_eq!(id(read(at + 8)), *want, "value {i}");
    }
    // Its dead keys are found out, too.
    w.store(field(end(), 0), 0);
    heap.collect_all();
    let table = read(field(end(), PAIRS));
    assert_eq!(read(field(table, 0)), w.tombstone.load(Relaxed));
    assert_eq!(read(field(table, 1)), 0);
}
#[test]
fn values_of_a_large_table_made_while_marking_runs_live() {
    a_table_made_while_marking_runs(true, 0);
}
#[test]
fn values_of_a_small_table_made_while_marking_runs_live() {
    a_table_made_while_marking_runs(false, 0);
}
#[test]
fn values_of_tables_promoted_in_place_while_marking_runs_live() {
    a_table_made_while_marking_runs(false, 1);
    a_table_made_while_marking_runs(true, 1);
}
#[test]
fn values_of_a_pinned_table_that_becomes_old_while_marking_runs_live() {
    // As above, but the table is young when marking begins, and a handle pins it.
    let heap = crate::toy::start(8, slow(0));
    let w = &heap.world;
    w.tombstone.store(make(heap, 0, 0, 0), Relaxed);
    list(heap, 1, 20_000);
    set_root(heap, 0, make(heap, 2, 0, 0));
    let key = make(heap, 0, 1, 0);
    w.store(field(root(heap, 0), 0), key);
    set_root(heap, 2, make(heap, 2, 0, TABLE));
    let value = make(heap, 0, 2, 0);
    w.store(field(root(heap, 2), 1), value);
    w.store(field(root(heap, 2), 0), read(field(root(heap, 0), 0)));
    let name = id(read(field(root(heap, 2), 1)));
    age(heap);
    let ticket = heap.ask_for_major();
    while !heap.is_marking() {
        w.blocking(&mut std::thread::yield_now);
    }
    let table = make(heap, 2, 0, TABLE);
    w.pinned[0].store(table, Relaxed);
    set_pair(
        heap,
        table,
        0,
        read(field(root(heap, 2), 0)),
        read(field(root(heap, 2), 1)),
    );
    set_pair(heap, root(heap, 2), 0, 0, 0);
    heap.collect_minor();
    assert!(heap.is_marking() && !heap.is_young(table));
    w.strong[0].store(table, Relaxed);
    heap.wait_for_major(ticket);
    heap.collect_minor();
    assert_eq!(id(read(field(table, 1))), name);
}

/// Pairs met by `work`.
fn met(heap: &ToyHeap, work: impl FnOnce()) -> usize {
    let before = heap.stats.ephemerons.load(Relaxed);
    work();
    (heap.stats.ephemerons.load(Relaxed) - before) as usize
}

#[test]
fn a_minor_collection_meets_the_pairs_on_marked_cards_only() {
    const PAIRS: usize = 40_000;
    let heap = crate::toy::start(PAIRS + 8, quiet());
    let w = &heap.world;
    w.tombstone.store(make(heap, 0, 0, 0), Relaxed);
    set_root(heap, PAIRS, make(heap, 2 * PAIRS, 0, TABLE));
    let table = root(heap, PAIRS);
    let fill = |i: usize| {
        let key = make(heap, 0, 0, 0);
        set_root(heap, i, key);
        heap.world.store(field(table, 2 * i), key);
        let value = make(heap, 0, 0, 0);
        heap.world.store(field(table, 2 * i + 1), value);
    };
    (0..PAIRS).for_each(fill);
    age(heap);
    assert_eq!(met(heap, || heap.collect_minor()), 0, "all cards are clean");
    for n in [1, 10, 100] {
        (0..n).for_each(|i| fill(i * (PAIRS / n)));
        // A card has 32 pairs, and one more may reach into it.
        let pairs = met(heap, || heap.collect_minor());
        assert!(
            pairs >= n && pairs <= 33 * 2 * n,
            "{pairs} pairs on the cards of {n}"
        );
        age(heap);
    }
    // All of them new: each is met once, but for those between two cards.
    (0..PAIRS).for_each(|i| w.store(field(table, 2 * i), root(heap, i)));
    let once = PAIRS..=PAIRS + PAIRS / 16;
    let pairs = met(heap, || heap.collect_minor());
    assert!(once.contains(&pairs), "{pairs}");
    let pairs = met(heap, || heap.collect_all());
    assert!(once.contains(&pairs), "a cycle meets each once: {pairs}");
}

/// `length` pairs in random order, each value holds the key of another: all live by the first key.
fn chain(length: usize, old: bool) {
    let heap = crate::toy::start(length + 8, quiet());
    let w = &heap.world;
    w.tombstone.store(make(heap, 0, 0, 0), Relaxed);
    set_root(heap, length, make(heap, 2 * length, 0, TABLE));
    let table = root(heap, length);
    let mut order: Vec<usize> = (0..length).collect();
    let mut rng = Rng(0x1234_5678);
    (1..length).for_each(|i| order.swap(i, rng.below(i + 1)));
    for i in 0..length {
        set_root(heap, i, make(heap, 0, 1, 0));
    }
    let ids: Vec<usize> = (0..length).map(|i| id(root(heap, i))).collect();
    for (i, &place) in order.iter().enumerate() {
        let value = make(heap, 1, 0, 0);
        w.store(
            field(value, 0),
            if i + 1 < length { root(heap, i + 1) } else { 0 },
        );
        set_pair(heap, table, place, root(heap, i), value);
    }
    if old {
        age(heap);
    }
    (1..length).for_each(|i| set_root(heap, i, 0));
    let cards = 2 * length / 64 + 2;
    let pairs = met(heap, || {
        if old {
            heap.collect_all()
        } else {
            heap.collect_minor()
        }
    });
    assert!(
        pairs <= 2 * (length + cards),
        "{pairs} pairs met in a chain of {length}"
    );
    let mut key = root(heap, 0);
    for (i, name) in ids.iter().enumerate() {
        assert_eq!(id(key), *name, "key {i}");
        assert_eq!(read(field(table, 2 * order[i])), key);
        key = read(field(read(field(table, 2 * order[i] + 1)), 0));
    }
    // And all die by it.
    set_root(heap, 0, 0);
    heap.collect_all();
    heap.collect_minor();
    for i in 0..length {
        assert_eq!(read(field(table, 2 * i)), w.tombstone.load(Relaxed));
        assert_eq!(read(field(table, 2 * i + 1)), 0);
    }
}
#[test]
fn each_pair_of_a_chain_of_young_keys_is_met_once() {
    chain(1000, false);
}
#[test]
fn each_pair_of_a_chain_of_old_keys_is_met_once() {
    chain(40_000, true);
}

/// Tables grow while cycles run, as a program's do: what was put in is found.
#[test]
fn tables_that_grow_while_cycles_run_lose_nothing() {
    let heap = crate::toy::start(2 * MANY + 8, slow(3));
    let w = &heap.world;
    w.tombstone.store(make(heap, 0, 0, 0), Relaxed);
    list(heap, 2 * MANY, 2000);
    let table = 2 * MANY + 1;
    set_root(heap, table, make(heap, 32, 0, TABLE));
    let (mut room, mut names) = (16, Vec::new());
    for i in 0..2 * MANY {
        if i == room {
            let new = make(heap, 4 * room, 0, TABLE);
            let old = root(heap, table);
            for p in 0..room {
                set_pair(
                    heap,
                    new,
                    2 * p,
                    read(field(old, 2 * p)),
                    read(field(old, 2 * p + 1)),
                );
            }
            // Spread, as a table is that hashes: then moved together.
            for p in 0..room {
                let (k, v) = (read(field(new, 4 * p)), read(field(new, 4 * p + 1)));
                set_pair(heap, new, p, k, v);
            }
            (room..2 * room).for_each(|p| set_pair(heap, new, p, 0, 0));
            set_root(heap, table, new);
            room *= 2;
        }
        set_root(heap, i, make(heap, 0, 1, 0));
        let value = make(heap, 0, 1, 0);
        names.push(id(value));
        set_pair(heap, root(heap, table), i, root(heap, i), value);
        if i % 64 == 0 {
            heap.ask_for_major();
            w.blocking(&mut std::thread::yield_now);
        }
    }
    heap.collect_all();
    for (i, name) in names.iter().enumerate() {
        let t = root(heap, table);
        assert_eq!(read(field(t, 2 * i)), root(heap, i));
        assert_eq!(id(read(field(t, 2 * i + 1))), *name, "value {i}");
    }
}
