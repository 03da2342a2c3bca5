//! What the heap's tests share: a small object model, and a world of threads that stop where they ask to.
//!
//! An object is its header, its id, its fields, its plain words. The header is `16 * fields + (plain words << 32)` and bit
//! 28; bit 3 says "table of pairs", bit 2 "critical".
//!
//! # Invariants
//! * A thread is stopped only inside [`Yard::poll`], [`World::blocking`], and what collects: between these, addresses it has read stay
//!   true. Who polls between any two steps, and says with [`Seat::storing`] that it has not marked a card yet, can be stopped as compiled
//!   code can. Nothing ever happens to a thread that is stopped but for what the collector does.
//! * Visits with `young_only` see what may be young and nothing else, as in a process.
//! * Nothing but [`Seat::stack`] and [`Parked::words`] is scanned conservatively, so what dies is exact.
#![allow(dead_code, reason = "each test program uses a part")]
pub mod seeds;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering, Ordering::*};
use vervet_heap::{
    Config, Contents, Debug, Descriptor, Heap, Inspection, Model, Mutator, ParkedSet, Range, Tlab,
    World,
};

pub struct Toy;
pub type ToyHeap = Heap<Toy, Yard>;

pub const CRITICAL: u64 = 4;
pub const TABLE: u64 = 8;

pub fn fields(header: u64) -> usize {
    (header as u32 >> 4 & 0xF_FFFF) as usize
}
pub fn header(fields: usize, plain: usize, flags: u64) -> u64 {
    (fields as u64) << 4 | (plain as u64) << 32 | flags | 1 << 28
}
// SAFETY: the answers follow from the header, as the tests lay objects out.
unsafe impl Model for Toy {
    const LENGTH: usize = 0;
    // Objects of an odd number of fields have a descriptor, the others are asked for.
    fn descriptor(h: u64) -> Descriptor {
        let n = fields(h);
        if h & TABLE != 0 || n.is_multiple_of(2) || n > 40 {
            return Descriptor::OTHER;
        }
        // SAFETY: the answer needs no object.
        Descriptor::fixed(unsafe { Self::size(0, h) }, &[((1 << n) - 1) << 2])
    }
    unsafe fn size(_: usize, h: u64) -> usize {
        8 * (2 + fields(h) + (h >> 32) as usize)
    }
    unsafe fn contents(h: u64) -> Contents {
        match (fields(h), h & TABLE != 0) {
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
    unsafe fn ephemerons(o: usize) -> (usize, usize) {
        (o + 16, fields(read(o) as u64) / 2)
    }
    unsafe fn is_critical(h: u64) -> bool {
        h & CRITICAL != 0
    }
    fn name(h: u64) -> String {
        format!("Toy{h:#x}")
    }
    fn is_plausible(h: u64) -> bool {
        h & 3 == 0 && h & 1 << 28 != 0
    }
}

pub fn read(at: usize) -> usize {
    // As the machine's loads are: acquire.
    // SAFETY: the tests pass addresses of live words.
    unsafe { (*(at as *const AtomicUsize)).load(Acquire) }
}
pub fn id(o: usize) -> usize {
    if o == 0 { 0 } else { read(o + 8) }
}
/// May the address one past the object's end be the only reference to it? Not if its descriptor says that it is of fixed size.
pub fn end_refers(o: usize) -> bool {
    let header = read(o) as u64;
    Toy::descriptor(header) == Descriptor::OTHER
}
pub fn field(o: usize, i: usize) -> usize {
    o + 16 + 8 * i
}

const ABSENT: usize = 0;
const RUNNING: usize = 1;
const AWAY: usize = 2;

/// A thread of the world.
pub struct Seat {
    state: AtomicUsize,
    pub tlab: Tlab,
    /// The words of it that are scanned conservatively.
    pub stack: Vec<AtomicUsize>,
    /// It has stored a reference and not marked the card yet.
    pub storing: AtomicBool,
}

/// A handle, or an entry of the world's side table: what it refers to, and whether that may be young. A visit with `young_only` passes by those that may
/// not, as the handles of a process do.
#[derive(Default)]
pub struct Slot {
    word: AtomicUsize,
    pub may_be_young: AtomicBool,
}
impl Slot {
    pub fn load(&self, order: Ordering) -> usize {
        self.word.load(order)
    }
    pub fn store(&self, object: usize, order: Ordering) {
        self.word.store(object, order);
        self.may_be_young.store(true, order);
    }
    /// `now` says where the object is and whether it is young, or None if it is gone.
    fn update(&self, young_only: bool, now: impl FnOnce(usize) -> Option<(usize, bool)>) {
        let object = self.load(Relaxed);
        if object == 0 || young_only && !self.may_be_young.load(Relaxed) {
            return;
        }
        let (to, young) = now(object).unwrap_or((0, false));
        self.word.store(to, Relaxed);
        self.may_be_young.store(young, Relaxed);
    }
}
pub fn slots(n: usize) -> Vec<Slot> {
    (0..n).map(|_| Slot::default()).collect()
}

/// A green thread: its words and roots are those of a thread that runs with it, or, while it is parked, here.
pub struct Parked {
    pub state: AtomicUsize,
    pub words: Vec<AtomicUsize>,
    pub roots: Vec<AtomicUsize>,
    /// The collector's.
    notes: AtomicU32,
    /// It is in [`ParkedSet::Young`].
    pub young: AtomicBool,
    /// It is in [`ParkedSet::Unmarked`], unless `cycle` says that it was scanned.
    pub unmarked: AtomicBool,
    /// The cycle in which the marker scanned it; 0: it has changed since.
    pub cycle: AtomicUsize,
}
/// States of a green thread.
pub const NOT_PARKED: usize = 0;
pub const PARKED: usize = 1;
pub const SCANNED_NOW: usize = 2;

impl Parked {
    fn new(words_: usize) -> Parked {
        Parked {
            state: AtomicUsize::new(NOT_PARKED),
            words: words(words_),
            roots: words(2),
            notes: AtomicU32::new(0),
            young: AtomicBool::new(false),
            unmarked: AtomicBool::new(false),
            cycle: AtomicUsize::new(0),
        }
    }
    /// The words change, by a thread that is not stopped meanwhile.
    pub fn change(&self, work: impl FnOnce()) {
        while self.claim(NOT_PARKED) == SCANNED_NOW {
            std::thread::yield_now();
        }
        work();
        self.notes.store(0, Relaxed);
        self.young.store(true, Relaxed);
        self.unmarked.store(true, Relaxed);
        self.cycle.store(0, Relaxed);
        self.state.store(PARKED, SeqCst);
    }
    /// In two pieces, as a process has them.
    fn ranges(&self) -> [Range; 2] {
        let from = self.words.as_ptr() as usize;
        let (middle, to) = (from + 8, from + 8 * self.words.len());
        [(from, middle), (middle, to)]
    }
    fn roots(&self) -> [usize; 2] {
        [0, 1].map(|i| &raw const self.roots[i] as usize)
    }
    /// Makes a parked thread's state another one. Returns what it was.
    fn claim(&self, state: usize) -> usize {
        let exchanged = self.state.compare_exchange(PARKED, state, SeqCst, SeqCst);
        exchanged.unwrap_or_else(|was| was)
    }
    fn is_in(&self, set: ParkedSet, cycle: usize) -> bool {
        let is_marked = cycle != 0 && self.cycle.load(Relaxed) == cycle;
        self.state.load(SeqCst) != NOT_PARKED
            && match set {
                ParkedSet::All => true,
                ParkedSet::Young => self.young.load(Relaxed),
                ParkedSet::Unmarked => self.unmarked.load(Relaxed) && !is_marked,
                ParkedSet::Marked => is_marked,
            }
    }
}

impl Seat {
    /// What of it is scanned conservatively.
    fn range(&self) -> Range {
        let from = self.stack.as_ptr() as usize;
        (from, from + 8 * self.stack.len())
    }
}

thread_local! {
    static SEAT: Cell<Option<usize>> = const { Cell::new(None) };
}

pub struct Yard {
    stop: AtomicBool,
    stopping: AtomicBool,
    pub seats: Vec<Seat>,
    pub parked: Vec<Parked>,
    /// Parked threads whose stacks minor collections have visited so far.
    pub visits: AtomicUsize,
    /// The cycle of marking; 0: none.
    pub cycle: AtomicUsize,
    /// The hint that [`World::parked_count`] gives.
    pub parked_count: AtomicUsize,
    pub roots: Vec<AtomicUsize>,
    pub strong: Vec<Slot>,
    pub pinned: Vec<Slot>,
    pub short: Vec<Slot>,
    pub long: Vec<Slot>,
    pub listed: Vec<Slot>,
    pub tombstone: AtomicUsize,
    pub finalizers_wait: AtomicUsize,
    cards: AtomicUsize,
}
// SAFETY: a seat's tlab is used by its thread, or while that is stopped.
unsafe impl Sync for Yard {}
// SAFETY: nothing in a yard belongs to the thread that made it.
unsafe impl Send for Yard {}

/// Green threads of a world.
pub const PARKED_THREADS: usize = 64;

const MASK: usize = sized(1 << 21, 1 << 13) - 1;

/// `usual`, or `few` under Miri, which takes a few hundred times as long.
pub const fn sized(usual: usize, few: usize) -> usize {
    if cfg!(miri) { few } else { usual }
}

pub fn words(n: usize) -> Vec<AtomicUsize> {
    (0..n).map(|_| AtomicUsize::new(0)).collect()
}

impl Yard {
    /// The calling thread has its first seat.
    pub fn new(roots: usize, stack: usize) -> Yard {
        let yard = Yard {
            stop: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            seats: (0..9)
                .map(|_| Seat {
                    state: AtomicUsize::new(ABSENT),
                    tlab: Tlab::default(),
                    stack: words(stack),
                    storing: AtomicBool::new(false),
                })
                .collect(),
            parked: (0..PARKED_THREADS).map(|_| Parked::new(stack)).collect(),
            visits: AtomicUsize::new(0),
            cycle: AtomicUsize::new(0),
            parked_count: AtomicUsize::new(0),
            roots: words(roots),
            strong: slots(roots),
            pinned: slots(roots.max(16)),
            short: slots(roots),
            long: slots(roots),
            listed: slots(roots),
            tombstone: AtomicUsize::new(0),
            finalizers_wait: AtomicUsize::new(0),
            cards: AtomicUsize::new(0),
        };
        yard.seats[0].state.store(RUNNING, SeqCst);
        SEAT.set(Some(0));
        yard
    }
    fn leave(&self, seat: usize) {
        self.seats[seat].state.store(AWAY, SeqCst);
    }
    fn enter(&self, seat: usize) {
        loop {
            while self.stop.load(SeqCst) {
                std::thread::yield_now();
            }
            self.seats[seat].state.store(RUNNING, SeqCst);
            if !self.stop.load(SeqCst) {
                return;
            }
            self.seats[seat].state.store(AWAY, SeqCst);
        }
    }
    /// Stops here if somebody wants that.
    pub fn poll(&self) {
        if self.stop.load(SeqCst) {
            let me = SEAT.get().expect("a thread of the world");
            self.leave(me);
            self.enter(me);
        }
    }
    /// A further thread comes and goes.
    pub fn attached<T>(&self, seat: usize, heap: &ToyHeap, work: impl FnOnce() -> T) -> T {
        SEAT.set(Some(seat));
        self.enter(seat);
        let result = work();
        heap.close(self.tlab(seat));
        for w in &self.seats[seat].stack {
            w.store(0, Relaxed);
        }
        self.seats[seat].state.store(ABSENT, SeqCst);
        SEAT.set(None);
        result
    }
    pub fn tlab(&self, seat: usize) -> &Tlab {
        &self.seats[seat].tlab
    }
    /// Stores a reference as a program does.
    pub fn store(&self, field: usize, value: usize) {
        self.store_only(field, value);
        self.mark_card(field, value);
    }
    /// The first half of a store.
    pub fn store_only(&self, field: usize, value: usize) {
        // As the machine's stores are: release.
        // SAFETY: a field of a live object or of root memory.
        unsafe { (*(field as *const AtomicUsize)).store(value, Release) };
    }
    /// The second half of a store.
    pub fn mark_card(&self, field: usize, value: usize) {
        // SAFETY: the table has a card for every address.
        unsafe {
            let card = self.cards.load(Relaxed) + ((field >> 9) & MASK);
            (*(card as *const std::sync::atomic::AtomicU8)).store(value as u8, Relaxed);
        }
    }
}

// SAFETY: threads are stopped at their polls only, and what they hold are references that `root` and `store` have put there.
unsafe impl World for Yard {
    fn stopped(&self, work: &mut dyn FnMut()) {
        let me = SEAT.get();
        if let Some(me) = me {
            self.leave(me);
        }
        while self.stopping.swap(true, SeqCst) {
            std::thread::yield_now();
        }
        self.stop.store(true, SeqCst);
        for s in &self.seats {
            while s.state.load(SeqCst) == RUNNING {
                std::thread::yield_now();
            }
        }
        work();
        self.stop.store(false, SeqCst);
        self.stopping.store(false, SeqCst);
        if let Some(me) = me {
            self.enter(me);
        }
    }
    fn mutators(&self, visit: &mut dyn FnMut(Mutator<'_>)) {
        for (i, s) in self.seats.iter().enumerate() {
            if s.state.load(SeqCst) != ABSENT {
                visit(Mutator {
                    tlab: self.tlab(i),
                    ranges: &[s.range()],
                });
            }
        }
    }
    fn roots(&self, visit: &mut dyn FnMut(usize)) {
        for r in self.roots.iter().chain([&self.tombstone]) {
            visit(r as *const _ as usize);
        }
    }
    fn parked_stacks(&self, set: ParkedSet, visit: &mut dyn FnMut(&[Range], &AtomicU32)) {
        let cycle = self.cycle.load(Relaxed);
        for p in self.parked.iter().filter(|p| p.is_in(set, cycle)) {
            let visits = usize::from(set == ParkedSet::Young);
            self.visits.fetch_add(visits, Relaxed);
            visit(&p.ranges(), &p.notes);
        }
    }
    fn parked_roots(&self, set: ParkedSet, visit: &mut dyn FnMut(&[usize], &AtomicU32) -> bool) {
        let cycle = self.cycle.load(Relaxed);
        for p in self.parked.iter().filter(|p| p.is_in(set, cycle)) {
            let stays = visit(&p.roots(), &p.notes);
            match set {
                ParkedSet::Young => p.young.store(stays, Relaxed),
                ParkedSet::Unmarked => p.unmarked.store(stays, Relaxed),
                ParkedSet::Marked | ParkedSet::All => {}
            }
        }
    }
    fn parked_beside(
        &self,
        from: usize,
        visit: &mut dyn FnMut(&[Range], &[usize]) -> bool,
    ) -> Option<usize> {
        let cycle = self.cycle.load(Relaxed);
        for (i, p) in self.parked.iter().enumerate().skip(from) {
            if p.cycle.load(Relaxed) == cycle || p.claim(SCANNED_NOW) != PARKED {
                continue;
            }
            let goes_on = visit(&p.ranges(), &p.roots());
            p.cycle.store(cycle, Relaxed);
            p.state.store(PARKED, SeqCst);
            if !goes_on {
                return Some(i + 1);
            }
        }
        None
    }
    fn parked_count(&self) -> usize {
        self.parked_count.load(Relaxed)
    }
    fn marking(&self, cycle: u32) {
        self.cycle.store(cycle as usize, Relaxed);
        if cycle != 0 {
            // Those that stay parked are scanned beside the program.
            for p in &self.parked {
                p.unmarked.store(false, Relaxed);
            }
        }
    }
    fn strong_handles(&self, young_only: bool, visit: &mut dyn FnMut(usize) -> (usize, bool)) {
        // (Those that pin are strong, too.)
        for h in self.strong.iter().chain(&self.pinned) {
            h.update(young_only, |o| Some(visit(o)));
        }
    }
    fn pinned_handles(&self, young_only: bool, visit: &mut dyn FnMut(usize)) {
        for h in &self.pinned {
            if h.load(Relaxed) != 0 && (!young_only || h.may_be_young.load(Relaxed)) {
                visit(h.load(Relaxed));
            }
        }
    }
    fn weak_handles(
        &self,
        long: bool,
        young_only: bool,
        visit: &mut dyn FnMut(usize) -> Option<(usize, bool)>,
    ) {
        for h in if long { &self.long } else { &self.short } {
            h.update(young_only, &mut *visit);
        }
    }
    fn side_tables(&self, young_only: bool, visit: &mut dyn FnMut(usize) -> Option<(usize, bool)>) {
        for n in &self.listed {
            n.update(young_only, &mut *visit);
        }
    }
    fn storing(&self, visit: &mut dyn FnMut(&[Range])) {
        for s in self.seats.iter().filter(|s| s.storing.load(SeqCst)) {
            visit(&[s.range()]);
        }
    }
    fn check(&self, heap: &dyn Inspection) {
        for n in &self.listed {
            let (object, may_be_young) = (n.load(Relaxed), n.may_be_young.load(Relaxed));
            if object == 0 {
                continue;
            }
            match heap.is_young(object) {
                None => heap.wrong(object, "is listed, and no object begins there"),
                Some(true) if !may_be_young => heap.wrong(object, "is listed as old"),
                _ => {}
            }
        }
    }
    fn tombstone(&self) -> usize {
        self.tombstone.load(Relaxed)
    }
    fn finalizers_wait(&self) {
        self.finalizers_wait.fetch_add(1, Relaxed);
    }
    fn blocking(&self, work: &mut dyn FnMut()) {
        let me = SEAT.get().expect("a thread of the world");
        self.leave(me);
        work();
        self.enter(me);
    }
    fn blocking_briefly(&self, work: &mut dyn FnMut()) {
        self.blocking(work);
    }
}

/// A heap whose first thread is the caller.
pub fn start(roots: usize, config: Config) -> &'static ToyHeap {
    end_with_the_collector();
    let cards = vervet_heap::memory::reserve(MASK + 1).unwrap();
    let config = Config {
        // What the card table covers. (Miri holds all memory that is reserved.)
        reserve: config.reserve.min((MASK + 1) << 9),
        cards,
        card_mask: MASK,
        ..config
    };
    let heap = ToyHeap::start(config, Yard::new(roots, 64)).unwrap();
    heap.world.cards.store(cards, Relaxed);
    heap
}

/// What fails on a thread of the collector, or on one that a test started, ends the program: the others would wait for ever.
fn end_with_the_collector() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            usual(info);
            // (What the usual one says may be kept until the test ends.)
            if std::thread::current()
                .name()
                .is_some_and(|n| n.starts_with("GC"))
            {
                vervet_heap::stats::write_stderr(&format!("{info}\n"));
                std::process::abort();
            }
        }));
    });
}

/// How a test's heap collects: in one stop or while the program runs, and with how many helpers.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub at_once: bool,
    pub helpers: usize,
    /// Every so many minor collections promote in place.
    pub in_place: u32,
}
pub const WAYS: [Way; 6] = [
    Way {
        at_once: true,
        helpers: 0,
        in_place: 0,
    },
    Way {
        at_once: false,
        helpers: 0,
        in_place: 0,
    },
    Way {
        at_once: true,
        helpers: 3,
        in_place: 0,
    },
    Way {
        at_once: false,
        helpers: 1,
        in_place: 0,
    },
    Way {
        at_once: true,
        helpers: 0,
        in_place: 2,
    },
    Way {
        at_once: false,
        helpers: 2,
        in_place: 3,
    },
];
impl Way {
    /// A small heap with every check.
    pub fn config(self) -> Config {
        Config {
            nursery: 256 << 10,
            min_major: 1 << 20,
            stop_below: if self.at_once { 1 << 30 } else { 0 },
            helpers: self.helpers,
            debug: Debug {
                verify_before: true,
                verify_after: true,
                poison: true,
                promote_in_place: self.in_place,
                ..Debug::default()
            },
            ..Config::default()
        }
    }
}

static IDS: AtomicUsize = AtomicUsize::new(1);

/// Memory for an object, or None.
pub fn try_make(heap: &ToyHeap, seat: usize, n: usize, plain: usize, flags: u64) -> Option<usize> {
    let h = header(n, plain, flags);
    let o = heap.allocate(heap.world.tlab(seat), 8 * (2 + n + plain), h)?;
    let id = IDS.fetch_add(1, Relaxed) << 4 | 3;
    for i in 0..n {
        assert_eq!(read(field(o, i)), 0, "memory handed out reads as zeros");
    }
    for w in std::iter::once(1).chain(2 + n..2 + n + plain) {
        // SAFETY: words of the fresh object.
        unsafe { (*((o + 8 * w) as *const AtomicUsize)).store(id, Relaxed) };
    }
    Some(o)
}
/// A new object of seat 0's thread.
pub fn make(heap: &ToyHeap, n: usize, plain: usize, flags: u64) -> usize {
    try_make(heap, 0, n, plain, flags).expect("memory")
}

pub struct Rng(pub u64);
impl Rng {
    pub fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize
    }
    pub fn below(&mut self, n: usize) -> usize {
        self.next() % n
    }
}
