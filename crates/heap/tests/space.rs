//! Where objects lie: large ones, limits, memory given back, pins and the gaps between them, cards, several threads.
use crate::toy::{
    Rng, ToyHeap, WAYS, Way, Yard, end_refers, field, fields, id, make, read, try_make, words,
};
use std::sync::atomic::{AtomicUsize, Ordering::*};
use vervet_heap::{Config, World};

#[test]
fn dead_large_objects_give_their_memory_back() {
    for way in WAYS {
        let heap = crate::toy::start(64, way.config());
        let before = heap.committed();
        for i in 0..64 {
            let o = make(heap, 2000 + 300 * i, 5000, 0);
            heap.world.roots[i].store(o, Relaxed);
        }
        let full = heap.committed();
        assert!(full > before + 64 * (2000 + 5000) * 8);
        for i in (0..64).filter(|i| i % 8 != 0) {
            heap.world.roots[i].store(0, Relaxed);
        }
        heap.collect_all();
        assert!(heap.committed() < before + (full - before) / 5 + (1 << 20));
        // Their place is used again, and reads as zeros.
        for i in (0..64).filter(|i| i % 8 != 0) {
            let o = make(heap, 2000 + 300 * (63 - i), 5000, 0);
            heap.world.roots[i].store(o, Relaxed);
        }
        assert!(heap.committed() < full + (full - before) / 2);
    }
}

fn chain(heap: &'static ToyHeap, root: usize, plain: usize) -> usize {
    let mut n = 0;
    while let Some(o) = try_make(heap, 0, 1, plain, 0) {
        let root = &heap.world.roots[root];
        heap.world.store(field(o, 0), root.load(Relaxed));
        root.store(o, Relaxed);
        n += 1;
    }
    n
}
fn length(mut o: usize) -> usize {
    let mut n = 0;
    while o != 0 {
        (o, n) = (read(field(o, 0)), n + 1);
    }
    n
}

#[test]
fn past_the_limit_there_is_no_memory_and_the_heap_is_whole() {
    for way in [WAYS[0], WAYS[1]] {
        let mut config = Config {
            max_heap: 6 << 20,
            ..way.config()
        };
        config.debug.verify_before = false;
        config.debug.verify_after = false;
        let heap = crate::toy::start(4, config);
        for plain in [20, 600, 3000, 20] {
            let n = chain(heap, 0, plain);
            assert!(
                n * 8 * (plain + 3) > 3 << 20,
                "{n} objects of {plain} words"
            );
            assert_eq!(length(heap.world.roots[0].load(Relaxed)), n);
            assert!(try_make(heap, 0, 1 << 19, 0, 0).is_none());
            heap.world.stopped(&mut || heap.verify("when full"));
            heap.world.roots[0].store(0, Relaxed);
        }
        assert!(try_make(heap, 0, 1, 20, 0).is_some());
    }
}

#[test]
fn when_address_space_ends_there_is_no_memory_and_the_heap_is_whole() {
    let mut config = Config {
        reserve: 32 << 20,
        ..WAYS[0].config()
    };
    config.debug.verify_before = false;
    config.debug.verify_after = false;
    let heap = crate::toy::start(4, config);
    for plain in [20, 600, 30_000, 20] {
        let n = chain(heap, 0, plain);
        assert!(
            n * 8 * (plain + 3) > 8 << 20,
            "{n} objects of {plain} words"
        );
        assert_eq!(length(heap.world.roots[0].load(Relaxed)), n);
        heap.world.stopped(&mut || heap.verify("when full"));
        heap.world.roots[0].store(0, Relaxed);
    }
}

#[test]
fn a_nursery_that_the_heap_cannot_hold_is_made_smaller() {
    // Bytes of the address range, of the nursery, and the limit.
    for (reserve, nursery, max_heap) in [
        (4 << 20, 256 << 10, usize::MAX),
        (8 << 20, 4 << 20, usize::MAX),
        (32 << 20, 1 << 30, usize::MAX),
        (1 << 30, 1 << 30, usize::MAX),
        (1 << 30, 16 << 20, 8 << 20),
    ] {
        let config = Config {
            reserve,
            nursery,
            max_heap,
            ..WAYS[0].config()
        };
        let heap = crate::toy::start(4, config);
        // (What a heap of 1 GiB could hold takes long under a sanitizer.)
        let held = (reserve.min(max_heap) / 4).min(8 << 20);
        for i in 0..held / 8000 {
            // One that lives, and garbage of the same size.
            let o = try_make(heap, 0, 1, 997, 0);
            let o = o.unwrap_or_else(|| panic!("{i} of {reserve:#x} {nursery:#x} {max_heap:#x}"));
            heap.world
                .store(field(o, 0), heap.world.roots[0].load(Relaxed));
            heap.world.roots[0].store(o, Relaxed);
            assert!(try_make(heap, 0, 1, 997, 0).is_some());
        }
        assert_eq!(length(heap.world.roots[0].load(Relaxed)), held / 8000);
    }
}

#[test]
fn a_range_that_cannot_hold_a_nursery_and_its_copy_is_refused() {
    let cards = vervet_heap::memory::reserve(1 << 21).expect("memory");
    let start = |reserve, helpers| {
        let config = Config {
            reserve,
            helpers,
            cards,
            card_mask: (1 << 21) - 1,
            ..Config::default()
        };
        ToyHeap::start(config, Yard::new(4, 4)).map(|_| ())
    };
    assert!(start(4 << 20, 1).is_ok());
    for (reserve, helpers) in [(0, 0), (1 << 20, 0), (2 << 20, 7)] {
        let error = start(reserve, helpers).expect_err("nothing could be allocated");
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{error}");
    }
}

fn pins(way: Way, every: usize) {
    let heap = crate::toy::start(4096, way.config());
    let w = &heap.world;
    for round in 0..3 {
        let mut pinned = Vec::new();
        let mut rng = Rng(round as u64 + 99);
        let mut at = 0;
        for i in 0..4000 {
            let o = make(heap, i % 3, rng.below(60), 0);
            w.roots[i].store(o, Relaxed);
            if i % every == 0 && at < 60 {
                let size = 8 * (2 + fields(read(o) as u64) + (read(o) >> 32));
                // Its beginning, its inside, its end, and the handle.
                let word = match at % 4 {
                    0 => o,
                    1 => o + rng.below(size),
                    2 if end_refers(o) => o + size,
                    2 => o + size - 1,
                    _ => 0,
                };
                if at % 4 == 3 && at < 60 {
                    w.pinned[at / 4].store(o, Relaxed);
                }
                w.seats[0].stack[at].store(word, Relaxed);
                pinned.push((o, i, id(o)));
                at += 1;
                // Only the stack has it.
                if i % (2 * every) == 0 {
                    w.roots[i].store(0, Relaxed);
                }
            }
        }
        let rooted: Vec<_> = w.roots.iter().map(|r| id(r.load(Relaxed))).collect();
        match round % 3 {
            0 => heap.collect_minor(),
            1 => heap.collect_all(),
            _ => {}
        }
        heap.collect_minor();
        // The gaps are filled, and nothing that lives is touched.
        for i in 0..3000 {
            make(heap, i % 4, rng.below(30), 0);
        }
        for &(o, _, name) in &pinned {
            assert_eq!(id(o), name, "a pinned object stays where it is");
        }
        for (r, want) in w.roots.iter().zip(rooted) {
            let o = r.load(Relaxed);
            assert_eq!(id(o), want);
            if o != 0 {
                let h = read(o);
                for k in 2 + fields(h as u64)..2 + fields(h as u64) + (h >> 32) {
                    assert_eq!(read(o + 8 * k), want);
                }
            }
        }
        for list in [&w.seats[0].stack, &w.roots] {
            list.iter().for_each(|r| r.store(0, Relaxed));
        }
        w.pinned.iter().for_each(|p| p.store(0, Relaxed));
    }
    heap.collect_all();
    heap.collect_all();
    assert_eq!(heap.shot(), []);
}
#[test]
fn pinned_objects_stay_and_the_gaps_between_them_are_used() {
    for way in WAYS {
        for every in [1, 20] {
            pins(way, every);
        }
    }
}

/// Old arrays whose fields straddle cards, blocks and pieces: each field in turn is the only one that keeps a young object.
fn cards(way: Way) {
    let heap = crate::toy::start(64, way.config());
    let w = &heap.world;
    let sizes = [
        60, 61, 62, 63, 64, 65, 126, 500, 1020, 1023, 8190, 8191, 8192, 20_000,
    ];
    for (i, n) in sizes.into_iter().enumerate() {
        w.roots[i].store(make(heap, n, i % 2, 0), Relaxed);
    }
    heap.collect_minor();
    heap.collect_minor();
    let mut step = 0;
    for round in 0..3 {
        for (i, n) in sizes.into_iter().enumerate() {
            let mut names = std::collections::HashMap::new();
            let o = w.roots[i].load(Relaxed);
            for f in (round..n)
                .step_by(if n < 600 { 3 } else { 151 })
                .chain([n - 1])
            {
                let young = make(heap, 1, step % 3, 0);
                // (It may have collected: old objects stay where they are, unless a cycle moves them.)
                let o = w.roots[i].load(Relaxed);
                w.store(field(o, f), young);
                names.insert(f, id(young));
                step += 1;
            }
            heap.collect_minor();
            if step % 5 == 0 {
                heap.collect_all();
            }
            let o = if heap.is_young(o) {
                o
            } else {
                w.roots[i].load(Relaxed)
            };
            for (f, name) in names {
                assert_eq!(id(read(field(o, f))), name, "field {f} of {n}");
            }
        }
    }
}
#[test]
fn a_card_keeps_what_its_fields_refer_to() {
    WAYS.into_iter().for_each(cards);
}

/// A thread stopped between a store and its card still holds the reference: collections with every check pass, the object
/// stays where it is, and the card marked at last keeps it. Held by nobody, or by a thread that is somewhere else, it is a barrier that
/// somebody forgot.
fn half_a_store(way: Way) {
    let heap = crate::toy::start(
        4,
        Config {
            fail: |what| panic!("{what}"),
            ..way.config()
        },
    );
    let w = &heap.world;
    w.roots[0].store(make(heap, 3, 0, 0), Relaxed);
    heap.collect_minor();
    heap.collect_minor();
    let old = w.roots[0].load(Relaxed);
    let young = make(heap, 1, 0, 0);
    let name = id(young);
    assert!(!heap.is_young(old) && heap.is_young(young));
    let seat = &w.seats[0];
    seat.storing.store(true, SeqCst);
    seat.stack[0].store(young, Relaxed);
    seat.stack[1].store(old, Relaxed);
    w.store_only(field(old, 1), young);
    for _ in 0..3 {
        heap.collect_minor();
        heap.collect_all();
        assert_eq!((read(field(old, 1)), id(young)), (young, name));
    }
    seat.storing.store(false, SeqCst);
    let check = || w.stopped(&mut || heap.verify("now"));
    // (What was promoted where it lay is not young any more, and needs no card.)
    let found =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| heap.verify("now"))).is_err();
    assert_eq!(found, heap.is_young(young));
    assert!(found || way.in_place > 0);
    seat.stack[0].store(0, Relaxed);
    w.mark_card(field(old, 1), young);
    check();
    heap.collect_minor();
    heap.collect_minor();
    assert_eq!(id(read(field(old, 1))), name);
}
#[test]
fn a_store_may_be_interrupted_before_its_card() {
    WAYS.into_iter().for_each(half_a_store);
}

#[test]
fn helpers_promote_a_wide_graph() {
    for helpers in 1..4 {
        let way = Way {
            at_once: helpers % 2 == 0,
            helpers,
            in_place: 0,
        };
        let heap = crate::toy::start(
            64,
            Config {
                nursery: 4 << 20,
                ..way.config()
            },
        );
        let w = &heap.world;
        for round in 0..4 {
            // Many lists, so that there is work to share; a tree on top, so that it has to be found first.
            let mut sum = 0usize;
            for i in 0..64 {
                for _ in 0..300 {
                    let o = make(heap, 2, i % 9, 0);
                    w.store(field(o, 0), w.roots[i].load(Relaxed));
                    w.store(field(o, 1), w.roots[(i * 7 + 1) % 64].load(Relaxed));
                    w.roots[i].store(o, Relaxed);
                    sum = sum.wrapping_add(id(o));
                }
            }
            if round % 2 == 0 {
                heap.collect_minor()
            } else {
                heap.collect_all()
            }
            let mut got = 0usize;
            for r in &w.roots {
                let mut o = r.load(Relaxed);
                for _ in 0..300 {
                    got = got.wrapping_add(id(o));
                    o = read(field(o, 0));
                }
            }
            assert_eq!(got, sum);
        }
    }
}

/// Threads with graphs of their own, and a board on which they show each other objects that nobody changes any more.
fn threads(way: Way, count: usize, steps: usize) {
    const OWN: usize = 16;
    let heap = crate::toy::start(OWN * 9, way.config());
    let w = &heap.world;
    let board = heap.allocate_statics(8 * 64, 0..64).unwrap();
    let left = AtomicUsize::new(count);
    let work = |seat: usize| {
        let mut rng = Rng(seat as u64 * 77 + 5);
        let mine = &w.roots[seat * OWN..(seat + 1) * OWN];
        let names = words(OWN);
        for (r, name) in mine.iter().zip(&names) {
            name.store(id(r.load(Relaxed)), Relaxed);
        }
        let kept = words(OWN);
        for step in 0..steps {
            let i = rng.below(OWN);
            // [0] goes on, [1] is on the board; the third word from the end says what [0] is.
            let plain = match rng.below(400) {
                0 => 2000,
                1 => 12_000,
                _ => 3 + rng.below(20),
            };
            let o = try_make(heap, seat, 2, plain, 0).expect("memory");
            let next = mine[rng.below(OWN)].load(Relaxed);
            if rng.below(5) > 0 {
                w.store(field(o, 0), next);
            }
            w.store(field(o, 1), read(board + 8 * rng.below(64)));
            // SAFETY: a word of the fresh object; complete before anybody is shown it.
            unsafe { (*((o + 32) as *const AtomicUsize)).store(id(read(field(o, 0))), Relaxed) };
            mine[i].store(o, Relaxed);
            names[i].store(id(o), Relaxed);
            if rng.below(10) == 0 {
                w.store(board + 8 * rng.below(64), o);
            }
            if rng.below(8) == 0 {
                let s = rng.below(OWN);
                let o = mine[rng.below(OWN)].load(Relaxed);
                w.seats[seat].stack[s].store(if o == 0 { 0 } else { o + rng.below(17) }, Relaxed);
                kept[s].store(o, Relaxed);
            }
            w.poll();
            match rng.below(3000) {
                0 => heap.collect_minor(),
                1 => heap.collect_all(),
                2 => w.blocking(&mut || std::thread::sleep(std::time::Duration::from_micros(200))),
                _ => {}
            }
            if step % 64 == 0 {
                for (r, name) in mine.iter().zip(&names) {
                    assert_eq!(id(r.load(Relaxed)), name.load(Relaxed));
                }
                for (s, o) in w.seats[seat].stack.iter().zip(&kept) {
                    let (s, o) = (s.load(Relaxed), o.load(Relaxed));
                    assert!(s == 0 && o == 0 || s - o < 17 && id(o) & 15 == 3);
                }
                let mut o = read(board + 8 * rng.below(64));
                for _ in 0..30 {
                    if o == 0 {
                        break;
                    }
                    assert_eq!(read(o + 32), id(read(field(o, 0))), "what was shown stays");
                    o = read(field(o, rng.below(2)));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for seat in 1..=count {
            let (work, left) = (&work, &left);
            scope.spawn(move || {
                // Each comes and goes a few times.
                for _ in 0..3 {
                    w.attached(seat, heap, || work(seat));
                }
                left.fetch_sub(1, SeqCst);
            });
        }
        w.blocking(&mut || {
            while left.load(SeqCst) > 0 {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        });
    });
    assert!(heap.minor_count() > 0 && heap.major_count() > 0);
    for r in w.roots.iter() {
        r.store(0, Relaxed);
    }
    heap.forget_statics(board, 8 * 64);
    heap.collect_all();
    assert_eq!(heap.shot(), []);
}
#[test]
fn threads_with_windows_share_a_heap() {
    for way in WAYS {
        threads(way, 4, 600);
    }
    threads(WAYS[1], 8, 300);
}

/// Many objects are promoted into the holes of blocks whose cards are still to be looked at, and refer to what stays young.
fn holes(way: Way) {
    const HOLDERS: usize = 20_000;
    let heap = crate::toy::start(
        2,
        Config {
            nursery: 4 << 20,
            min_major: 64 << 20,
            ..way.config()
        },
    );
    let root = &heap.world.roots[0];
    root.store(make(heap, HOLDERS, 0, 0), Relaxed);
    let set = |o: usize, f: usize, v: usize| heap.world.store(field(o, f), v);
    let get = |o: usize, f: usize| read(field(o, f));
    let holder = |i: usize| get(root.load(Relaxed), i);
    for i in 0..HOLDERS {
        let o = make(heap, 2, 30, 0);
        set(root.load(Relaxed), i, o);
    }
    heap.collect_all();
    let mut rng = Rng(99);
    for i in 0..HOLDERS {
        if rng.below(2) == 0 {
            set(root.load(Relaxed), i, 0);
        }
    }
    heap.collect_all();
    let held = |i: &usize| holder(*i) != 0;
    let mut names = words(HOLDERS);
    // In each round what was made in the round before is promoted, and now and then gets something young.
    for _ in 0..4 {
        for i in (0..HOLDERS).filter(held) {
            // (Garbage beside it: where most survives, nothing stays young.)
            make(heap, 0, 8, 0);
            let o = make(heap, 1, 1, 0);
            let before = get(holder(i), 0);
            set(holder(i), 1, before);
            set(holder(i), 0, o);
            names[i] = AtomicUsize::new(0);
            if before != 0 && rng.below(60) == 0 {
                set(before, 0, o);
                names[i] = AtomicUsize::new(id(o));
            }
        }
        heap.collect_minor();
    }
    assert!((0..HOLDERS).filter(held).count() > HOLDERS / 3);
    for i in (0..HOLDERS).filter(held) {
        assert_eq!(id(get(get(holder(i), 1), 0)), names[i].load(Relaxed));
    }
}
#[test]
fn what_is_promoted_into_holes_has_its_cards_marked() {
    WAYS[1..4].iter().copied().for_each(holes);
}
