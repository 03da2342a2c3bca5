//! The collector against a model: a mutator changes a graph of objects at random, keeps a copy of it in ordinary Rust
//! collections, and both must agree after collections of every kind.
//!
//! The object model: header = `16 * fields + (plain words << 32)` and bit 28, bit 3 says "table of pairs", bit 2 "critical". An object is its
//! header, its id, its fields, its plain words (all holding the id).
use std::cell::UnsafeCell;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use vervet_heap::{Config, Contents, Debug, Heap, Model, Mutator, Window, World};

struct Toy;
fn fields(header: u64) -> usize {
    (header as u32 >> 4 & 0xF_FFFF) as usize
}
fn header(fields: usize, plain: usize, pairs: bool) -> u64 {
    (fields as u64) << 4 | (plain as u64) << 32 | u64::from(pairs) << 3 | 1 << 28
}
// SAFETY: the answers follow from the header, as the test lays objects out.
unsafe impl Model for Toy {
    unsafe fn size(_: usize, h: u64) -> usize {
        8 * (2 + fields(h) + (h >> 32) as usize)
    }
    unsafe fn contents(h: u64) -> Contents {
        match (fields(h), h & 8 != 0) {
            (0, _) => Contents::Plain,
            (_, true) => Contents::Ephemerons,
            _ => Contents::References,
        }
    }
    unsafe fn visit(o: usize, h: u64, from: usize, to: usize, mut f: impl FnMut(usize)) {
        for i in 0..fields(h) {
            let at = o + 16 + 8 * i;
            if at >= from && at < to {
                f(at);
            }
        }
    }
    unsafe fn pairs(o: usize) -> (usize, usize) {
        // SAFETY: the caller's object.
        (o + 16, fields(unsafe { *(o as *const u64) }) / 2)
    }
    unsafe fn is_critical(h: u64) -> bool {
        h & 4 != 0
    }
    fn name(h: u64) -> String {
        format!("Toy{h:#x}")
    }
    fn is_plausible(h: u64) -> bool {
        h & 3 == 0 && h & 1 << 28 != 0
    }
}

/// One mutator at a time: it holds the lock except while it blocks, so a stop is taking the lock.
struct Solo {
    locked: AtomicBool,
    window: UnsafeCell<Window>,
    roots: Vec<AtomicUsize>,
    stack: Vec<AtomicUsize>,
    strong: Vec<AtomicUsize>,
    short: Vec<AtomicUsize>,
    long: Vec<AtomicUsize>,
    owner: UnsafeCell<Option<std::thread::ThreadId>>,
}
// SAFETY: the cells are used by whoever holds the lock.
unsafe impl Sync for Solo {}
// SAFETY: as above.
unsafe impl Send for Solo {}
impl Solo {
    fn new() -> Solo {
        let words = |n| (0..n).map(|_| AtomicUsize::new(0)).collect();
        Solo {
            locked: AtomicBool::new(true),
            window: UnsafeCell::new(Window::default()),
            roots: words(64),
            stack: words(16),
            strong: words(16),
            short: words(16),
            long: words(16),
            owner: UnsafeCell::new(Some(std::thread::current().id())),
        }
    }
    fn lock(&self) {
        while self
            .locked
            .compare_exchange(false, true, Acquire, Relaxed)
            .is_err()
        {
            std::thread::yield_now();
        }
    }
    fn unlock(&self) {
        self.locked.store(false, Release);
    }
    fn is_mutator(&self) -> bool {
        // SAFETY: written once, before other threads exist.
        unsafe { *self.owner.get() == Some(std::thread::current().id()) }
    }
}
impl World for Solo {
    fn stopped(&self, work: &mut dyn FnMut()) {
        if self.is_mutator() {
            return work();
        }
        self.lock();
        work();
        self.unlock();
    }
    fn mutators(&self, visit: &mut dyn FnMut(Mutator<'_>)) {
        let from = self.stack.as_ptr() as usize;
        // SAFETY: the world is stopped.
        let window = unsafe { &mut *self.window.get() };
        visit(Mutator {
            window,
            ranges: &[(from, from + 8 * self.stack.len())],
        });
    }
    fn roots(&self, visit: &mut dyn FnMut(usize)) {
        for r in &self.roots {
            visit(r as *const _ as usize);
        }
    }
    fn strong_handles(&self, _: bool, visit: &mut dyn FnMut(usize) -> (usize, bool)) {
        for h in &self.strong {
            h.store(visit(h.load(Relaxed)).0, Relaxed);
        }
    }
    fn pinned_handles(&self, _: bool, _: &mut dyn FnMut(usize)) {}
    fn weak_handles(
        &self,
        long: bool,
        _: bool,
        visit: &mut dyn FnMut(usize) -> Option<(usize, bool)>,
    ) {
        for h in if long { &self.long } else { &self.short } {
            let v = h.load(Relaxed);
            if v != 0 {
                h.store(visit(v).map_or(0, |r| r.0), Relaxed);
            }
        }
    }
    fn noted(&self, _: bool, _: &mut dyn FnMut(usize) -> Option<(usize, bool)>) {}
    fn tombstone(&self) -> usize {
        0
    }
    fn finalizers_wait(&self) {}
    fn blocking(&self, work: &mut dyn FnMut()) {
        self.unlock();
        work();
        self.lock();
    }
}

fn read(at: usize) -> usize {
    // SAFETY: the tests pass addresses of live words.
    unsafe { (*(at as *const AtomicUsize)).load(Relaxed) }
}
fn id(o: usize) -> usize {
    read(o + 8)
}

struct Rng(u64);
impl Rng {
    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize
    }
    fn below(&mut self, n: usize) -> usize {
        self.next() % n
    }
}

type ToyHeap = Heap<Toy, Solo>;
struct Test {
    heap: &'static ToyHeap,
    cards: usize,
    rng: Rng,
    next_id: usize,
    /// id -> ids of its fields (0: null).
    shadow: HashMap<usize, Vec<usize>>,
    roots: Vec<usize>,
    /// Addresses the conservative stack holds: these may not move.
    stack: Vec<usize>,
}

const MASK: usize = (1 << 21) - 1;

impl Test {
    fn new(seed: u64, nursery: usize, debug: Debug) -> Test {
        let cards = vervet_heap::memory::reserve(MASK + 1).unwrap();
        let config = Config {
            reserve: 1 << 30,
            nursery,
            cards,
            card_mask: MASK,
            min_major: 1 << 20,
            stop_below: if seed % 3 == 0 { 4 << 20 } else { 0 },
            helpers: (seed % 2) as usize,
            debug,
            ..Config::default()
        };
        let heap = ToyHeap::start(config, Solo::new()).unwrap();
        Test {
            heap,
            cards,
            rng: Rng(seed * 0x9E37_79B9 + 77),
            next_id: 1,
            shadow: HashMap::new(),
            roots: vec![0; 64],
            stack: vec![0; 16],
        }
    }
    fn world(&self) -> &'static Solo {
        &self.heap.world
    }
    fn store(&self, field: usize, value: usize) {
        // SAFETY: a field of a live object; the mutator holds the lock.
        unsafe {
            (*(field as *const AtomicUsize)).store(value, Relaxed);
            *((self.cards + ((field >> 9) & MASK)) as *mut u8) = value as u8;
        }
    }
    fn make(&mut self, n: usize, plain: usize) -> usize {
        let h = header(n, plain, false);
        // SAFETY: the mutator's window.
        let window = unsafe { &mut *self.world().window.get() };
        let o = self
            .heap
            .allocate(window, 8 * (2 + n + plain), h)
            .expect("memory");
        self.next_id += 1;
        for w in std::iter::once(1).chain(2 + n..2 + n + plain) {
            // SAFETY: words of the fresh object.
            unsafe { *((o + 8 * w) as *mut usize) = self.next_id << 4 | 3 };
        }
        for i in 0..n {
            assert_eq!(read(o + 16 + 8 * i), 0, "memory handed out reads as zeros");
        }
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
                        self.store(o + 16 + 8 * f, old);
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
                    self.store(a + 16 + 8 * f, b);
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
                self.world().stack[i].store(inside, Relaxed);
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
        for (s, o) in self.world().stack.iter().zip(&self.stack) {
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
fn a_random_graph_survives() {
    for seed in 1..13 {
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
fn a_random_graph_survives_with_every_check() {
    let debug = Debug {
        verify_before: true,
        verify_after: true,
        poison: true,
        ..Debug::default()
    };
    for seed in 20..24 {
        run(seed, 15_000, 256 << 10, debug.clone());
    }
}
#[test]
fn a_random_graph_survives_collections_at_every_few_allocations() {
    let debug = Debug {
        verify_after: true,
        poison: true,
        collect_every: 37,
        ..Debug::default()
    };
    for seed in 30..33 {
        run(seed, 6_000, 256 << 10, debug.clone());
    }
}
