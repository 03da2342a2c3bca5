//! What single calls promise, wrong values included.
#![cfg(not(feature = "loom"))]
use vervet_handles::{
    Count, GROUP, Hint, INDEX_BITS, KIND_BITS, Kind, OCCUPIED, TAGS, Tables, VALID, layout,
};

const A: usize = 0x10_0000_1000;
const B: usize = 0x10_0000_2008;

/// Bits of an index where address space is scarce, and under Miri, which holds all memory that is reserved.
const FEW: u32 = 16;

/// Tables as a process has them.
fn tables() -> Tables {
    if cfg!(miri) {
        limited(FEW)
    } else {
        Tables::new()
    }
}
fn limited(bits: u32) -> Tables {
    let t = Tables::new();
    t.limit(bits);
    t
}
/// Tables of every size that generated code knows.
fn sizes() -> Vec<Tables> {
    let mut all = vec![limited(FEW)];
    if !cfg!(miri) {
        all.push(Tables::new());
    }
    all
}
/// `usual`, or `few` under Miri, which takes a few hundred times as long.
const fn sized(usual: usize, few: usize) -> usize {
    if cfg!(miri) { few } else { usual }
}

#[test]
fn a_handle_refers_until_it_is_freed() {
    let (t, mut hint) = (tables(), Hint::new());
    for kind in Kind::ALL {
        let h = t.alloc(&mut hint, kind, A, 4).unwrap();
        assert_eq!(h & 7, kind as u32 + 1);
        assert_eq!(
            (t.target(h), t.kind(h), t.domain(h)),
            (Some(A), Some(kind), Some(4))
        );
        assert!(t.set_target(h, B));
        assert_eq!(t.target(h), Some(B));
        assert!(t.set_target(h, 0));
        assert_eq!((t.target(h), t.domain(h)), (Some(0), Some(4)));
        assert_eq!(t.compare_exchange_target(h, A, B), Some(0));
        assert_eq!(t.compare_exchange_target(h, 0, B), Some(0));
        assert_eq!(t.target(h), Some(B));
        assert!(t.free(&mut hint, h));
        assert!(!t.free(&mut hint, h));
        assert!(!t.set_target(h, A));
        assert_eq!((t.target(h), t.kind(h), t.domain(h)), (None, None, None));
        assert_eq!(t.compare_exchange_target(h, 0, A), None);
    }
}

#[test]
fn a_handle_to_null_is_in_use() {
    let (t, mut hint) = (tables(), Hint::new());
    let h = t.alloc(&mut hint, Kind::Pinned, 0, 0).unwrap();
    assert_ne!(h, 0);
    assert_eq!((t.target(h), t.kind(h)), (Some(0), Some(Kind::Pinned)));
    t.visit_strong(false, |_| panic!("null was visited"));
    t.visit_pinned(false, |_| panic!("null was visited"));
}

#[test]
fn garbage_is_no_handle() {
    let (t, mut hint) = (tables(), Hint::new());
    let wrong = |t: &Tables, hint: &mut Hint| {
        let mut values: Vec<u32> = (0..sized(4096, 256) as u32).collect();
        values.extend((0..32).flat_map(|b| (0..16).map(move |low| 1 << b | low)));
        values.extend((0..32).flat_map(|b| (0..16).map(move |low| !(1 << b) ^ low)));
        values.extend(u32::MAX - sized(4096, 256) as u32..=u32::MAX);
        for h in values {
            assert_eq!(
                (t.target(h), t.kind(h), t.domain(h)),
                (None, None, None),
                "{h:#x}"
            );
            assert!(!t.set_target(h, A) && !t.free(hint, h), "{h:#x}");
        }
    };
    wrong(&t, &mut hint);
    // The same with every table begun, and one grown a few times.
    for kind in Kind::ALL {
        let h = t.alloc(&mut hint, kind, A, 0).unwrap();
        t.free(&mut hint, h);
    }
    let many: Vec<u32> = (0..sized(5000, 1000))
        .map(|_| t.alloc(&mut hint, Kind::Normal, A, 0).unwrap())
        .collect();
    for h in many {
        assert!(t.free(&mut hint, h));
    }
    wrong(&t, &mut hint);
}

#[test]
fn the_wrong_kind_is_no_handle() {
    let (t, mut hint) = (tables(), Hint::new());
    let h = t.alloc(&mut hint, Kind::Normal, A, 0).unwrap();
    for kind in 0..8 {
        if kind != Kind::Normal as u32 + 1 {
            assert_eq!(t.target(h & !7 | kind), None);
        }
    }
}

#[test]
fn a_freed_slot_waits() {
    let (t, mut hint) = (tables(), Hint::new());
    let stale = t.alloc(&mut hint, Kind::Weak, A, 0).unwrap();
    t.free(&mut hint, stale);
    let mut live = 0;
    loop {
        let h = t.alloc(&mut hint, Kind::Weak, B, 0).unwrap();
        if h == stale {
            break;
        }
        assert_eq!(t.target(stale), None);
        t.free(&mut hint, h);
        live += 1;
    }
    assert!(live >= 200, "reused after {live}");
    assert!(t.count(Kind::Weak).given_out < 1000);
}

#[test]
fn slots_are_used_again_whoever_frees_them() {
    let t = tables();
    let (mut producer, mut consumer) = (Hint::new(), Hint::new());
    for _ in 0..sized(100, 8) {
        let made: Vec<u32> = (0..sized(2000, 600))
            .map(|_| t.alloc(&mut producer, Kind::Normal, A, 0).unwrap())
            .collect();
        for h in made {
            assert!(t.free(&mut consumer, h));
        }
    }
    assert!(
        t.count(Kind::Normal).given_out < 8192,
        "{:?}",
        t.count(Kind::Normal)
    );
}

#[test]
fn a_thread_that_ends_loses_nothing() {
    let t = tables();
    for _ in 0..sized(1000, 40) {
        let mut hint = Hint::new();
        let h = t.alloc(&mut hint, Kind::Normal, A, 0).unwrap();
        t.free(&mut hint, h);
        t.retire(&mut hint);
    }
    assert!(
        t.count(Kind::Normal).given_out <= 1024,
        "{:?}",
        t.count(Kind::Normal)
    );
}

#[test]
fn strong_handles_follow_their_objects() {
    let (t, mut hint) = (tables(), Hint::new());
    let normal = t.alloc(&mut hint, Kind::Normal, A, 0).unwrap();
    let pinned = t.alloc(&mut hint, Kind::Pinned, B, 0).unwrap();
    let weak = t.alloc(&mut hint, Kind::Weak, A, 0).unwrap();
    let mut pins = Vec::new();
    t.visit_pinned(true, |o| pins.push(o));
    assert_eq!(pins, [B]);
    t.visit_strong(true, |o| (if o == A { A + 64 } else { o }, false));
    assert_eq!(
        (t.target(normal), t.target(pinned), t.target(weak)),
        (Some(A + 64), Some(B), Some(A))
    );
}

#[test]
fn a_young_visit_skips_old_groups_until_something_is_stored() {
    let (t, mut hint) = (tables(), Hint::new());
    let handles: Vec<u32> = (0..GROUP * 10)
        .map(|_| t.alloc(&mut hint, Kind::Normal, A, 0).unwrap())
        .collect();
    let visited = |young: bool, still: usize| {
        let mut n = 0;
        t.visit_strong(young, |o| {
            n += 1;
            (o, o == still)
        });
        n
    };
    assert_eq!(visited(true, A), 10 * GROUP, "stored and still young");
    assert_eq!(visited(true, 0), 10 * GROUP, "still young the last time");
    assert_eq!(visited(true, 0), 0, "all old");
    t.set_target(handles[70], B);
    assert_eq!(visited(true, B), GROUP, "one store");
    assert_eq!(visited(false, B), 10 * GROUP, "everything");
    assert_eq!(visited(true, 0), GROUP, "only the group with the young one");
    assert_eq!(t.compare_exchange_target(handles[0], A, B), Some(A));
    assert_eq!(visited(true, 0), GROUP, "an exchange stores too");
    t.set_target(handles[0], 0);
    assert_eq!(visited(true, 0), 0, "null is not young");
}

#[test]
fn expired_handles_keep_their_domain() {
    let (t, mut hint) = (tables(), Hint::new());
    let of = |domain: u32, hint: &mut Hint| {
        Kind::ALL.map(|kind| t.alloc(hint, kind, A, domain).unwrap())
    };
    let (mine, yours) = (of(1, &mut hint), of(2, &mut hint));
    let null = t.alloc(&mut hint, Kind::Normal, 0, 1).unwrap();
    t.update_weak(Kind::Weak, false, |_| None);
    assert_eq!((t.target(mine[0]), t.domain(mine[0])), (Some(0), Some(1)));
    assert_eq!(t.target(mine[1]), Some(A), "the long one is another table");
    let Count { used, expired, .. } = t.count(Kind::Weak);
    assert_eq!((used, expired), (2, 2));
    t.update_weak(Kind::Weak, false, |_| panic!("an expired one was visited"));

    assert_eq!(t.free_domain(1), 5);
    assert!(mine.iter().chain([&null]).all(|&h| t.target(h).is_none()));
    assert_eq!(yours.map(|h| t.domain(h)), [Some(2); 4]);
    assert!(
        t.set_target(yours[0], B),
        "an expired handle can be used again"
    );
    assert_eq!((t.target(yours[0]), t.domain(yours[0])), (Some(B), Some(2)));
}

/// The load sequence that generated code uses, as documented at the head of the crate.
/// None is its slow way.
fn inlined(t: &Tables, h: u32) -> Option<usize> {
    let (words, bits) = (
        t.rows().expect("address space") as *const usize,
        t.index_bits(),
    );
    let place = if bits == INDEX_BITS {
        h.rotate_right(KIND_BITS) as usize
    } else if h >> KIND_BITS < 1 << bits {
        ((h & 7) << bits | h >> KIND_BITS) as usize
    } else {
        return None;
    };
    // SAFETY: as documented, for any value.
    let word = unsafe { *words.add(place) };
    (word & VALID != 0).then_some(word & !TAGS)
}

#[test]
fn generated_code_finds_the_slot() {
    for t in sizes() {
        let mut hint = Hint::new();
        for n in 0..sized(20_000, 300) {
            for kind in Kind::ALL {
                let h = t.alloc(&mut hint, kind, A + 8 * n, 0).unwrap();
                assert_eq!(inlined(&t, h), Some(A + 8 * n));
                if n % 3 == 0 {
                    t.free(&mut hint, h);
                    assert_eq!(inlined(&t, h), None);
                }
            }
        }
    }
}

#[test]
fn generated_code_reads_nothing_wildly() {
    for t in sizes() {
        let mut hint = Hint::new();
        for n in 0..sized(1000, 200) {
            t.alloc(&mut hint, Kind::ALL[n % 4], A + 8 * n, 0).unwrap();
        }
        let near = sized(64, 8) as u32;
        let edges = (0..32).flat_map(|bit| {
            let power = 1u32 << bit;
            (0..near).flat_map(move |d| [power.wrapping_add(d), power.wrapping_sub(d)])
        });
        let spread = (0..sized(1 << 16, 1 << 9) as u32).map(|n| n.wrapping_mul(0x9E37_79B1));
        for h in edges.chain(spread) {
            assert_eq!(inlined(&t, h), t.target(h), "{h:#x}");
        }
    }
}

/// Address of a part of a kind's lane.
fn lane(hint: &mut Hint, kind: usize, part: usize) -> *mut u32 {
    let lanes = std::ptr::from_mut(hint).cast::<u8>();
    lanes
        .wrapping_add(kind * layout::LANE_SIZE + part)
        .cast::<u32>()
}

/// How generated code makes a handle. None is its slow way.
fn make_inline(
    t: &Tables,
    hint: &mut Hint,
    kind: usize,
    object: usize,
    domain: u32,
) -> Option<u32> {
    let (words, bits) = (t.rows()?, t.index_bits());
    // SAFETY: as documented; the lane's slots are the caller's.
    unsafe {
        let first = lane(hint, kind, layout::LANE_FIRST);
        if *first == *lane(hint, kind, layout::LANE_READY) {
            return None;
        }
        let place = (*first % layout::LANE_ROOM) as usize * 4;
        let index = *lane(hint, kind, layout::LANE_RING + place);
        *first = first.read().wrapping_add(1);
        let number = kind << bits | index as usize;
        *((words + layout::sides(bits) + number * 4) as *mut u32) = domain;
        *((words + (8 << bits) + number * 8) as *mut usize) = object | VALID | OCCUPIED;
        *((words + layout::young(bits) + number / GROUP as usize) as *mut u8) = 1;
        Some(index << KIND_BITS | (kind as u32 + 1))
    }
}

/// How generated code frees one. False is its slow way.
fn free_inline(t: &Tables, hint: &mut Hint, h: u32) -> bool {
    let (words, bits) = (
        t.rows().expect("address space") as *mut usize,
        t.index_bits(),
    );
    if h >> KIND_BITS >= 1 << bits {
        return false;
    }
    // SAFETY: as documented, for any value.
    unsafe {
        let word = words.add(((h & 7) << bits | h >> KIND_BITS) as usize);
        if *word & OCCUPIED == 0 {
            return false;
        }
        let kind = (h & 7) as usize - 1;
        let first = *lane(hint, kind, layout::LANE_FIRST);
        let end = lane(hint, kind, layout::LANE_END);
        if end.read().wrapping_add(1).wrapping_sub(first) >= layout::LANE_ROOM {
            return false;
        }
        *word = 0;
        let place = (*end % layout::LANE_ROOM) as usize * 4;
        *lane(hint, kind, layout::LANE_RING + place) = h >> KIND_BITS;
        *end = end.read().wrapping_add(1);
    }
    true
}

#[test]
fn generated_code_makes_and_frees() {
    sizes().iter().for_each(makes_and_frees);
}
fn makes_and_frees(t: &Tables) {
    let mut hint = Hint::new();
    let mut live = Vec::new();
    let (mut quick, mut slow) = (0, 0);
    for n in 0..sized(200_000, 4000) {
        let (object, domain) = (A + 8 * n, n as u32 % 5);
        if (n / sized(3000, 1000)).is_multiple_of(2) || live.is_empty() {
            let kind = n % 4;
            let h = make_inline(t, &mut hint, kind, object, domain);
            *if h.is_some() { &mut quick } else { &mut slow } += 1;
            let h =
                h.unwrap_or_else(|| t.alloc(&mut hint, Kind::ALL[kind], object, domain).unwrap());
            assert_eq!((t.target(h), t.domain(h)), (Some(object), Some(domain)));
            assert_eq!(t.kind(h), Some(Kind::ALL[kind]));
            live.push((h, object));
        } else {
            let (h, object) = live.swap_remove(n * 7919 % live.len());
            assert_eq!(t.target(h), Some(object));
            assert!(free_inline(t, &mut hint, h) || t.free(&mut hint, h));
            assert!(!free_inline(t, &mut hint, h) && t.target(h).is_none());
        }
    }
    assert!(quick > slow * 20, "{quick} made in place, {slow} by calls");
    let mut seen = 0;
    t.visit_strong(true, |o| {
        seen += 1;
        (o, false)
    });
    let strong = |h: u32| matches!(Kind::of(h), Some(Kind::Normal | Kind::Pinned));
    assert_eq!(seen, live.iter().filter(|&&(h, _)| strong(h)).count());
    for h in [0, 1, 5, 6, 7, u32::MAX, 1 << 31 | 1] {
        let in_use = live.iter().any(|&(l, _)| l == h);
        assert_eq!(free_inline(t, &mut hint, h), in_use, "{h:#x}");
    }
}

#[test]
fn a_hint_gives_its_own_slots_only() {
    let (t, mut hint) = (tables(), Hint::new());
    assert_eq!(t.alloc_own(&mut hint, Kind::Weak, A, 0), None);
    let first = t.alloc(&mut hint, Kind::Weak, A, 0).unwrap();
    // The rest of the group.
    let mut all = vec![first];
    while let Some(h) = t.alloc_own(&mut hint, Kind::Weak, A + 8, 3) {
        assert_eq!((t.target(h), t.domain(h)), (Some(A + 8), Some(3)));
        all.push(h);
    }
    assert_eq!(all.len(), GROUP as usize);
    assert_eq!(t.alloc_own(&mut hint, Kind::Normal, A, 0), None);
    // Freed ones wait before they are used again.
    for &h in &all {
        assert!(t.free(&mut hint, h));
    }
    assert_eq!(t.alloc_own(&mut hint, Kind::Weak, A, 0), None);
}
