//! The collector against a model: a mutator changes a graph of objects at random, keeps a copy of it in ordinary Rust
//! collections, and both must agree after collections of every kind.
use crate::toy::seeds::seeds;
use crate::toy::{Rng, ToyHeap, Yard, fields, id, read, sized};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering::*;
use vervet_heap::{Config, Debug, World};

struct Test {
    heap: &'static ToyHeap,
    rng: Rng,
    /// id -> ids of its fields (0: null).
    shadow: HashMap<usize, Vec<usize>>,
    roots: Vec<usize>,
    /// Addresses the conservative stack holds: these may not move.
    stack: Vec<usize>,
}

impl Test {
    fn new(seed: u64, nursery: usize, debug: Debug) -> Test {
        let config = Config {
            nursery,
            min_major: 1 << 20,
            stop_below: if seed.is_multiple_of(3) { 4 << 20 } else { 0 },
            helpers: (seed % 2) as usize,
            debug: Debug {
                promote_in_place: (seed % 4) as u32,
                ..debug
            },
            ..Config::default()
        };
        let heap = crate::toy::start(64, config);
        Test {
            heap,
            rng: Rng(seed.wrapping_mul(0x9E37_79B9) + 77),
            shadow: HashMap::new(),
            roots: vec![0; 64],
            stack: vec![0; 16],
        }
    }
    fn world(&self) -> &'static Yard {
        &self.heap.world
    }
    fn make(&mut self, n: usize, plain: usize) -> usize {
        let o = crate::toy::make(self.heap, n, plain, 0);
        self.shadow.insert(id(o), vec![0; n]);
        o
    }
    fn set_root(&mut self, i: usize, o: usize) {
        self.world().roots[i].store(o, Relaxed);
        self.roots[i] = if o == 0 { 0 } else { id(o) };
    }
    /// An object somewhere below a root, or 0.
    fn pick(&mut self) -> usize {
        let i = self.rng.below(64);
        let mut o = self.world().roots[i].load(Relaxed);
        for _ in 0..self.rng.below(8) {
            let n = if o == 0 { 0 } else { fields(read(o) as u64) };
            if n == 0 {
                break;
            }
            let next = read(o + 16 + 8 * self.rng.below(n));
            if next != 0 {
                o = next;
            }
        }
        o
    }
    fn step(&mut self) {
        match self.rng.below(100) {
            0..45 => {
                let (n, plain) = match self.rng.below(200) {
                    0 => (1100 + self.rng.below(9000), 0),
                    1 => (0, 1100 + self.rng.below(60_000)),
                    2..10 => (100 + self.rng.below(700), 0),
                    k => (k % 5, k % 7),
                };
                let o = self.make(n, plain);
                let i = self.rng.below(64);
                for f in 0..n.min(6) {
                    let old = self.pick();
                    if old != 0 {
                        self.world().store(o + 16 + 8 * f, old);
                        self.shadow.get_mut(&id(o)).unwrap()[f] = id(old);
                    }
                }
                self.set_root(i, o);
            }
            45..80 => {
                let (a, b) = (self.pick(), self.pick());
                let n = if a == 0 { 0 } else { fields(read(a) as u64) };
                if n > 0 {
                    let f = self.rng.below(n);
                    self.world().store(a + 16 + 8 * f, b);
                    self.shadow.get_mut(&id(a)).unwrap()[f] = if b == 0 { 0 } else { id(b) };
                }
            }
            80..88 => {
                let i = self.rng.below(64);
                self.set_root(i, 0);
            }
            88..94 => {
                let (i, o) = (self.rng.below(16), self.pick());
                // Anywhere inside the object.
                let inside = if o == 0 { 0 } else { o + self.rng.below(16) };
                self.world().seats[0].stack[i].store(inside, Relaxed);
                self.stack[i] = o;
            }
            94..98 => {
                let (i, o) = (self.rng.below(16), self.pick());
                self.world().strong[i].store(o, Relaxed);
            }
            98 => {
                if self.rng.below(20) == 0 {
                    self.heap.collect_minor();
                }
            }
            _ => {
                // Lets the marker run for a while.
                self.world().blocking(&mut std::thread::yield_now);
                if self.rng.below(400) == 0 {
                    self.heap.collect_all();
                }
            }
        }
    }
    /// Everything that can be reached is what the shadow says.
    fn check(&self) {
        let mut seen = HashSet::new();
        let mut todo = Vec::new();
        for (r, want) in self.world().roots.iter().zip(&self.roots) {
            let o = r.load(Relaxed);
            assert_eq!(if o == 0 { 0 } else { id(o) }, *want, "a root");
            todo.push(o);
        }
        for (s, o) in self.world().seats[0].stack.iter().zip(&self.stack) {
            assert!(s.load(Relaxed) == 0 || (s.load(Relaxed) - o) < 16);
            todo.push(*o);
        }
        todo.extend(self.world().strong.iter().map(|h| h.load(Relaxed)));
        while let Some(o) = todo.pop() {
            if o == 0 || !seen.insert(o) {
                continue;
            }
            let h = read(o) as u64;
            let want = &self.shadow[&id(o)];
            assert_eq!(fields(h), want.len());
            for (f, want) in want.iter().enumerate() {
                let v = read(o + 16 + 8 * f);
                assert_eq!(if v == 0 { 0 } else { id(v) }, *want, "field {f} of {o:#x}");
                todo.push(v);
            }
            let plain = (h >> 32) as usize;
            for w in 2 + fields(h)..2 + fields(h) + plain {
                assert_eq!(read(o + 8 * w), id(o), "plain word {w} of {o:#x}");
            }
        }
    }
}

fn run(seed: u64, steps: usize, nursery: usize, debug: Debug) {
    let mut t = Test::new(seed, nursery, debug);
    for i in 0..steps {
        t.step();
        if i % 5000 == 4999 {
            t.check();
        }
    }
    t.heap.collect_all();
    t.check();
    let s = &t.heap.stats;
    println!(
        "seed {seed}: {} minor, {} major, promoted {} survived {} pinned {} evacuated {}",
        t.heap.minor_count(),
        t.heap.major_count(),
        s.promoted.load(Relaxed),
        s.survived.load(Relaxed),
        s.pinned.load(Relaxed),
        s.evacuated.load(Relaxed)
    );
    assert!(t.heap.minor_count() > 0 && t.heap.major_count() > 0);
}

#[test]
#[cfg_attr(miri, ignore = "too many steps for Miri")]
fn a_random_graph_survives() {
    for seed in seeds("graph", &[], 12) {
        run(
            seed,
            60_000,
            256 << 10,
            Debug {
                poison: true,
                ..Debug::default()
            },
        );
    }
}
#[test]
#[cfg_attr(miri, ignore = "too many steps for Miri")]
fn a_random_graph_survives_with_every_check() {
    let debug = Debug {
        verify_before: true,
        verify_after: true,
        poison: true,
        ..Debug::default()
    };
    for seed in seeds("graph, verified", &[], 4) {
        run(seed, 15_000, 256 << 10, debug.clone());
    }
}
#[test]
fn a_random_graph_survives_collections_at_every_few_allocations() {
    let debug = Debug {
        verify_after: true,
        poison: true,
        collect_every: sized(37, 6) as u32,
        ..Debug::default()
    };
    for seed in seeds("graph, collecting", &[], sized(3, 1)) {
        run(seed, sized(6_000, 40), 256 << 10, debug.clone());
    }
}
