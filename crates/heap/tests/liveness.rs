//! What lives and what dies, exactly: references, weak handles, pairs, finalizers and notes against a model of them.
use crate::toy::seeds::seeds;
use crate::toy::{CRITICAL, TABLE, ToyHeap, WAYS, Way, field, id, make, read};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering::*;
use vervet_heap::World;

/// Where object `i` has its root; those between are for others.
const STRIDE: usize = 48;
const OBJECTS: usize = 24;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Finalizer {
    No,
    Yes,
    Suppressed,
    /// Registered, suppressed, registered.
    Again,
}
#[derive(Clone, Debug)]
struct Spec {
    table: bool,
    large: bool,
    critical: bool,
    finalizer: Finalizer,
    /// Fields (or keys and values in turn): numbers of objects.
    edges: Vec<Option<usize>>,
    rooted: bool,
    /// After it was made: 0 a minor, 1 a major collection.
    then: u8,
}
#[derive(Clone, Debug)]
struct Case {
    objects: Vec<Spec>,
    /// Everything is made old, in blocks that are sparse afterwards.
    sparse: bool,
    /// While a cycle runs: (object, field, object).
    moves: Vec<(usize, usize, usize)>,
}

fn spec() -> impl Strategy<Value = Spec> {
    let finalizer = prop_oneof![
        6 => Just(Finalizer::No),
        4 => Just(Finalizer::Yes),
        1 => Just(Finalizer::Suppressed),
        1 => Just(Finalizer::Again)
    ];
    let edges = prop::collection::vec(prop::option::weighted(0.7, 0..OBJECTS), 0..8);
    (
        (prop::bool::weighted(0.4), prop::bool::weighted(0.1)),
        any::<bool>(),
        finalizer,
        edges,
        prop::bool::weighted(0.25),
        0u8..24,
    )
        .prop_map(
            |((table, large), critical, finalizer, mut edges, rooted, then)| {
                if table {
                    edges.truncate(edges.len() & !1);
                }
                Spec {
                    table,
                    large,
                    critical,
                    finalizer,
                    edges,
                    rooted,
                    then,
                }
            },
        )
}
fn case() -> impl Strategy<Value = Case> {
    (
        prop::collection::vec(spec(), OBJECTS),
        prop::bool::weighted(0.3),
        prop::collection::vec((0..OBJECTS, 0usize..8, 0..OBJECTS), 0..40),
    )
        .prop_map(|(objects, sparse, moves)| Case {
            objects,
            sparse,
            moves,
        })
}

/// What lives if these do.
fn closure(objects: &[Spec], roots: impl Iterator<Item = usize>) -> HashSet<usize> {
    let mut live: HashSet<usize> = roots.collect();
    loop {
        let before = live.len();
        for i in live.clone() {
            let o = &objects[i];
            if o.table {
                for pair in o.edges.chunks(2) {
                    if let [k, Some(v)] = pair
                        && k.is_none_or(|k| live.contains(&k))
                    {
                        live.insert(*v);
                    }
                }
            } else {
                live.extend(o.edges.iter().flatten());
            }
        }
        if live.len() == before {
            return live;
        }
    }
}

struct Run {
    heap: &'static ToyHeap,
    objects: Vec<Spec>,
    number: HashMap<usize, usize>,
    queued: HashSet<usize>,
}

/// The field of a large object's edge lies somewhere else, so that its cards matter.
fn place(o: &Spec, edge: usize) -> usize {
    if !o.large {
        edge
    } else if o.table {
        edge / 2 * 2 * 131 + edge % 2
    } else {
        edge * 149
    }
}

impl Run {
    fn address(&self, i: usize) -> usize {
        self.heap.world.long[i].load(Relaxed)
    }
    fn set_edge(&mut self, from: usize, edge: usize, to: Option<usize>) {
        let at = field(self.address(from), place(&self.objects[from], edge));
        let value = to.map_or(0, |t| self.address(t));
        self.heap.world.store(at, value);
        self.objects[from].edges[edge] = to;
    }
    fn build(heap: &'static ToyHeap, case: &Case) -> Run {
        let w = &heap.world;
        let mut run = Run {
            heap,
            objects: case.objects.clone(),
            number: HashMap::new(),
            queued: HashSet::new(),
        };
        w.tombstone.store(make(heap, 0, 0, 0), Relaxed);
        for (i, s) in case.objects.iter().enumerate() {
            let fields = if s.large { 1200 } else { s.edges.len() };
            let flags = if s.table { TABLE } else { 0 } | if s.critical { CRITICAL } else { 0 };
            let o = make(heap, fields, i % 3, flags);
            run.number.insert(id(o), i);
            w.roots[i * STRIDE].store(o, Relaxed);
            for list in [&w.short, &w.long, &w.listed] {
                list[i].store(o, Relaxed);
            }
            if s.finalizer != Finalizer::No {
                heap.register_finalizer(o);
            }
            if case.sparse {
                for k in 1..STRIDE {
                    w.roots[i * STRIDE + k].store(make(heap, 0, 30, 0), Relaxed);
                }
            }
            match s.then {
                0 => heap.collect_minor(),
                1 => heap.collect_all(),
                _ => {}
            }
        }
        for i in 0..OBJECTS {
            for e in 0..run.objects[i].edges.len() {
                run.set_edge(i, e, case.objects[i].edges[e]);
            }
            if matches!(
                run.objects[i].finalizer,
                Finalizer::Suppressed | Finalizer::Again
            ) {
                heap.suppress_finalizer(run.address(i));
            }
            if run.objects[i].finalizer == Finalizer::Again {
                heap.register_finalizer(run.address(i));
            }
        }
        if case.sparse {
            heap.collect_minor();
            heap.collect_minor();
            for (r, root) in w.roots.iter().enumerate() {
                if r % STRIDE != 0 {
                    root.store(0, Relaxed);
                }
            }
            heap.collect_all();
        }
        for (i, s) in case.objects.iter().enumerate() {
            if !s.rooted {
                w.roots[i * STRIDE].store(0, Relaxed);
            }
        }
        run
    }
    fn rooted(&self) -> impl Iterator<Item = usize> + '_ {
        (0..OBJECTS).filter(|i| self.objects[*i].rooted)
    }
    fn is_to_be_finalized(&self, i: usize) -> bool {
        matches!(self.objects[i].finalizer, Finalizer::Yes | Finalizer::Again)
    }
    fn live(&self) -> HashSet<usize> {
        closure(&self.objects, self.rooted())
    }
    /// References change while a cycle runs.
    fn move_about(&mut self, moves: &[(usize, usize, usize)]) {
        let ticket = self.heap.ask_for_major();
        for &(from, edge, to) in moves {
            let live = self.live();
            let known = live.contains(&from) && live.contains(&to);
            if known && edge < self.objects[from].edges.len() {
                if self.objects[from].table {
                    // A new pair: what is left of the old one may be a tombstone.
                    self.set_edge(from, edge & !1, Some(to));
                    self.set_edge(from, edge | 1, Some(from));
                } else {
                    self.set_edge(from, edge, Some(to));
                }
            }
            make(self.heap, 3, 40, 0);
            self.heap.world.blocking(&mut std::thread::yield_now);
        }
        self.heap.wait_for_major(ticket);
    }
    /// Takes what is queued.
    fn take_queue(&mut self) -> usize {
        let mut n = 0;
        let mut critical = false;
        while let Some(o) = self.heap.finalizers.next() {
            let i = self.number[&id(o)];
            assert!(self.is_to_be_finalized(i), "{i} has no finalizer to run");
            assert!(self.queued.insert(i), "{i} is queued twice");
            assert!(
                critical <= self.objects[i].critical,
                "critical ones come last"
            );
            critical = self.objects[i].critical;
            n += 1;
        }
        n
    }
    /// The handles and the contents of what lives are as the model says, if finalization keeps `kept`.
    fn check(&self, live: &HashSet<usize>, kept: &HashSet<usize>) {
        let w = &self.heap.world;
        for i in 0..OBJECTS {
            let is = |list: &[crate::toy::Slot]| list[i].load(Relaxed) != 0;
            assert_eq!(is(&w.short), live.contains(&i), "short weak handle of {i}");
            assert_eq!(is(&w.long), kept.contains(&i), "long weak handle of {i}");
            assert_eq!(is(&w.listed), kept.contains(&i), "side-table entry of {i}");
        }
        for &i in kept {
            let (o, s) = (self.address(i), &self.objects[i]);
            assert_eq!(self.number[&id(o)], i);
            assert_eq!(w.listed[i].load(Relaxed), o);
            let want = |e: Option<usize>| e.map_or(0, |t| self.address(t));
            let is = |edge: usize| read(field(o, place(s, edge)));
            if !s.table {
                for (e, to) in s.edges.iter().enumerate() {
                    assert_eq!(is(e), want(*to), "field {e} of {i}");
                }
                continue;
            }
            for (p, pair) in s.edges.chunks(2).enumerate() {
                let got = (is(2 * p), is(2 * p + 1));
                match pair {
                    [Some(k), v] if kept.contains(k) => assert_eq!(got, (want(Some(*k)), want(*v))),
                    [Some(_), _] => {
                        assert_eq!(got, (w.tombstone.load(Relaxed), 0), "pair {p} of {i}")
                    }
                    // A pair that is being made.
                    [None, v] => assert_eq!(got, (0, want(*v))),
                    _ => unreachable!("pairs are two"),
                }
            }
        }
    }
}

fn play(heap: &'static ToyHeap, case: &Case) {
    forget_everything(heap);
    let mut run = Run::build(heap, case);
    let one_age = case
        .objects
        .iter()
        .all(|s| (s.then > 1 && !s.large) || case.sparse);
    if one_age && case.moves.len() < 20 {
        // One collection is enough.
        heap.collect_all();
        let live = run.live();
        let dead = (0..OBJECTS).filter(|i| run.is_to_be_finalized(*i) && !live.contains(i));
        let kept = closure(&run.objects, live.iter().copied().chain(dead));
        run.check(&live, &kept);
    } else {
        run.move_about(&case.moves);
        heap.collect_all();
    }
    // Finalizers that keep nothing, and collections, until there are no more.
    while run.take_queue() > 0 {
        heap.collect_all();
    }
    let live = run.live();
    run.check(&live, &live);
    for i in 0..OBJECTS {
        let queued = run.queued.contains(&i);
        assert_eq!(
            queued,
            run.is_to_be_finalized(i) && !live.contains(&i),
            "{i} queued"
        );
        if live.contains(&i) {
            heap.suppress_finalizer(run.address(i));
        }
    }
    forget_everything(heap);
    assert_eq!(heap.shot(), [], "all is garbage now");
}
fn forget_everything(heap: &ToyHeap) {
    for r in heap.world.roots.iter().chain([&heap.world.tombstone]) {
        r.store(0, Relaxed);
    }
    heap.collect_all();
    while heap.finalizers.waiting() > 0 {
        while heap.finalizers.next().is_some() {}
        heap.collect_all();
    }
}

fn cases(way: Way, n: u32) -> &'static ToyHeap {
    let heap = crate::toy::start(OBJECTS * STRIDE, way.config());
    let config = ProptestConfig {
        cases: n,
        failure_persistence: None,
        max_shrink_iters: 2000,
        ..ProptestConfig::default()
    };
    for seed in seeds("liveness", &[], 1) {
        let mut bytes = [way.helpers as u8 + 1; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        TestRunner::new_with_rng(config.clone(), rng)
            .run(&case(), |c| {
                play(heap, &c);
                Ok(())
            })
            .unwrap();
    }
    heap
}

#[test]
fn what_lives_and_what_dies_in_one_stop() {
    let heap = cases(WAYS[0], 150);
    assert!(
        heap.stats.evacuated.load(Relaxed) > 0,
        "sparse blocks were emptied"
    );
}
#[test]
fn what_lives_and_what_dies_while_the_program_runs() {
    let heap = cases(WAYS[1], 150);
    assert!(
        heap.stats.evacuated.load(Relaxed) > 0,
        "sparse blocks were emptied"
    );
}
#[test]
fn what_lives_and_what_dies_with_helpers() {
    cases(WAYS[2], 60);
    cases(WAYS[3], 60);
}

fn finalizers_in_order(way: Way) {
    let heap = crate::toy::start(64, way.config());
    let w = &heap.world;
    let next = || heap.finalizers.next();
    let mut ids = Vec::new();
    for i in 0..40 {
        let o = make(heap, 1, 2, if i % 4 == 0 { CRITICAL } else { 0 });
        w.roots[i].store(o, Relaxed);
        heap.register_finalizer(o);
        ids.push(id(o));
        if i == 19 {
            heap.collect_minor();
            heap.collect_minor();
        }
    }
    assert!(!heap.is_young(w.roots[0].load(Relaxed)) && heap.is_young(w.roots[39].load(Relaxed)));
    heap.suppress_finalizer(w.roots[1].load(Relaxed));
    heap.suppress_finalizer(w.roots[21].load(Relaxed));
    for i in 0..40 {
        w.roots[i].store(0, Relaxed);
    }
    heap.collect_all();
    assert_eq!(heap.finalizers.waiting(), 38);
    // The world is told.
    while w.finalizers_wait.load(Relaxed) == 0 {
        w.blocking(&mut std::thread::yield_now);
    }
    // The queue survives collections of every kind, and what it keeps moves with it.
    heap.collect_minor();
    heap.collect_all();
    let mut got = Vec::new();
    while let Some(o) = next() {
        got.push(id(o));
        if got.len() == 1 {
            // Resurrected, and finalized once more later.
            w.roots[0].store(o, Relaxed);
        }
    }
    let ordinary = got
        .iter()
        .position(|i| *i == ids[0] || *i == ids[20])
        .unwrap();
    for (place, got) in got.iter().enumerate() {
        let i = ids.iter().position(|i| i == got).unwrap();
        assert_eq!(i % 4 == 0, place >= ordinary, "critical ones come last");
    }
    for half in [0..20, 20..40] {
        let of = |v: &[usize]| -> Vec<usize> {
            let wanted = |i: &usize| ids[half.clone()].contains(i);
            v.iter().copied().filter(wanted).collect()
        };
        let mut want = of(&ids);
        want.retain(|i| *i != ids[1] && *i != ids[21]);
        want.sort_by_key(|i| ids.iter().position(|x| x == i).unwrap() % 4 == 0);
        assert_eq!(of(&got), want, "in the order of registration");
    }
    heap.collect_all();
    assert_eq!(heap.finalizers.waiting(), 0, "finalized once");
    let o = w.roots[0].load(Relaxed);
    assert_eq!(id(o), got[0]);
    heap.register_finalizer(o);
    w.roots[0].store(0, Relaxed);
    heap.collect_all();
    assert_eq!(next().map(id), Some(got[0]));
    assert_eq!(next(), None);
}
#[test]
fn finalizers_run_in_order_once_per_registration() {
    WAYS.into_iter().for_each(finalizers_in_order);
}

#[test]
fn at_the_end_everything_registered_is_queued() {
    let heap = crate::toy::start(8, WAYS[0].config());
    let mut ids = Vec::new();
    for i in 0..6 {
        let o = make(heap, 0, 1, if i == 3 { CRITICAL } else { 0 });
        heap.world.roots[i].store(o, Relaxed);
        heap.register_finalizer(o);
        ids.push(id(o));
    }
    heap.suppress_finalizer(heap.world.roots[2].load(Relaxed));
    let late = [ids[3], ids[5]];
    heap.queue_all_finalizers(|o| !late.contains(&id(o)));
    let got: Vec<_> = std::iter::from_fn(|| heap.finalizers.next().map(id)).collect();
    assert_eq!(got, [4, 1, 0, 5, 3].map(|i| ids[i]));
}

#[test]
fn registering_again_and_again_takes_no_memory() {
    let heap = crate::toy::start(8, WAYS[0].config());
    let o = make(heap, 0, 1, 0);
    heap.world.roots[0].store(o, Relaxed);
    heap.collect_minor();
    heap.collect_minor();
    let o = heap.world.roots[0].load(Relaxed);
    heap.register_finalizer(o);
    for _ in 0..100_000 {
        heap.suppress_finalizer(o);
        heap.register_finalizer(o);
    }
    assert!(heap.finalizers.registrations() < 10_000);
    heap.world.roots[0].store(0, Relaxed);
    heap.collect_all();
    assert!(heap.finalizers.next().is_some() && heap.finalizers.next().is_none());
}

fn root_memory(way: Way) {
    let heap = crate::toy::start(8, way.config());
    let w = &heap.world;
    // Two pieces of many; one is larger than a block. Words 0, 3, 6, ... are references.
    let pieces = [(1000usize, 333usize), (9000, 3000), (10, 3)].map(|(words, refs)| {
        let at = heap
            .allocate_statics(8 * words, (0..refs).map(|r| 3 * r))
            .unwrap();
        for i in 0..words {
            assert_eq!(read(at + 8 * i), 0);
            assert_eq!(
                heap.is_static_reference(at + 8 * i),
                i % 3 == 0 && i / 3 < refs
            );
        }
        (at, refs)
    });
    let mut ids = HashMap::new();
    let mut fill = |from: usize| {
        for (at, refs) in pieces {
            for r in (from..refs).step_by(7) {
                let o = make(heap, 1, r % 5, 0);
                ids.insert(at + 24 * r, id(o));
                w.store(at + 24 * r, o);
                // No reference, whatever it looks like.
                w.store(at + 24 * r + 8, o + 1);
            }
        }
        ids.len()
    };
    fill(0);
    heap.collect_minor();
    fill(3);
    heap.collect_all();
    let n = fill(5);
    heap.collect_minor();
    heap.collect_all();
    for (at, want) in &ids {
        assert_eq!(id(read(*at)), *want);
    }
    let mut alive = 0;
    alive += heap.shot().iter().map(|c| c.1).sum::<usize>();
    assert_eq!(alive, n);
    for (at, refs) in pieces {
        heap.forget_statics(at, 24 * refs);
        assert!(!heap.is_static_reference(at) && read(at) == 0);
    }
    heap.collect_all();
    assert_eq!(heap.shot(), []);
    // The words are made references again.
    let at = pieces[0].0;
    heap.map_statics(at, [1].into_iter());
    let o = make(heap, 0, 0, 0);
    let name = id(o);
    w.store(at + 8, o);
    heap.collect_all();
    assert_eq!(id(read(at + 8)), name);
}
#[test]
fn root_memory_keeps_what_its_map_names() {
    WAYS.into_iter().for_each(root_memory);
}
