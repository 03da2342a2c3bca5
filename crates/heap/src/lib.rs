//! The heap: a generational, moving collector. It knows objects through [`Model`] and the rest of the process through
//! [`World`], and nothing of the CLI.
//!
//! * Young objects are bump-allocated in threads' windows ([`nursery`]); a minor collection ([`minor`]) copies what lives
//!   ([`copying`], [`mod@cards`]), pins what a stack may refer to ([`conservative`]), and makes the nursery anew ([`rebuild`]).
//! * Old objects lie in blocks with side bitmaps ([`space`], [`old`]); they are marked while the program runs ([`marking`], [`major`]), swept
//!   lazily, and sparse blocks are emptied ([`evacuate`]). Large objects have blocks of their own ([`large`]).
//! * References from old to young objects are found by cards: `card[(address >> 9) & mask]` is marked with the low byte of the
//!   reference that was stored; 0xFF is clean.
//!
//! # Invariants
//! * One thread collects at a time: it has stopped the world. What the collector's own thread does meanwhile: [`gate`].
//! * While the world is stopped nothing here calls malloc or takes a lock that a stopped thread may hold.
//! * Young memory is handed out only while the next collection has the room it may need, whoever asks for it and when
//!   ([`room`]).
mod aging;
pub mod ahead;
pub mod bloc;
pub mod block_bits;
pub mod card_marks;
pub mod cards;
pub mod config;
pub mod conservative;
pub mod copying;
pub mod descriptor;
pub(crate) mod ephemerons;
pub mod evacuate;
pub mod events;
pub mod exclusive;
pub mod finalize;
pub mod gang;
pub mod gate;
pub mod large;
pub mod lines;
pub mod major;
pub mod marking;
pub mod memory;
pub mod minor;
pub mod model;
pub mod nursery;
pub mod old;
mod pacing;
mod placement;
pub mod rebuild;
mod room;
pub mod rooms;
pub mod space;
pub mod statics;
mod survey;
mod sync;
#[cfg(test)]
#[path = "../tests/toy/mod.rs"]
mod toy;
pub mod turn;
pub mod verify;

pub use config::{Config, Debug};
pub use descriptor::Descriptor;
pub use model::{Contents, Inspection, Model, Mutator, Window, World};

use events::{Stats, What};
use exclusive::{Borrowed, Exclusive};
use memory::List;
#[cfg(test)]
extern crate self as vervet_heap;

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::*};
use vervet_os::{LeafLock, clock, perturb};

/// Objects larger than this are large objects.
pub const SMALL: usize = 8 << 10;

/// Is a minor collection to find out what is reachable?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tracing {
    /// The program asked for a collection.
    Always,
    /// The nursery is full.
    AsNeeded,
}

/// Bytes of address space that a heap of `reserve` bytes takes, with the tables beside it and without the card table.
pub const fn address_space(reserve: usize) -> usize {
    space::address_space(reserve) + reserve / space::BLOCK * size_of::<lines::Lines>()
}

/// What a collection works with; used by the thread that collects.
pub(crate) struct Scratch {
    pub candidates: List<usize>,
    pub pins: List<usize>,
    pub evacuated: List<u32>,
    pub moved: List<usize>,
}

/// See the module.
pub struct Heap<M: Model, W: World> {
    /// The world.
    pub world: W,
    pub(crate) config: Config,
    pub(crate) space: space::Space,
    pub(crate) nursery: LeafLock<nursery::Nursery>,
    pub(crate) old: old::Old,
    pub(crate) large: large::Large,
    pub(crate) statics: LeafLock<statics::Statics>,
    /// Finalizers.
    pub finalizers: finalize::Finalizers,
    pub(crate) major: major::Major,
    pub(crate) gate: gate::Gate,
    pub(crate) gang: gang::Gang,
    pub(crate) grey: gang::Grey,
    workers: Vec<Exclusive<copying::Worker>>,
    pub(crate) scratch: Exclusive<Scratch>,
    pub(crate) waiting: Exclusive<ephemerons::Waiting>,
    pub(crate) wants_help: AtomicBool,
    /// Nanoseconds that copying a kilobyte took lately: alone, and with helpers.
    pub(crate) copy_cost: [AtomicU64; 2],
    /// Minor collections in which helpers might have been worth it.
    pub(crate) collections_with_work: AtomicU32,
    /// Percentage of the young bytes that survived the last collection that had enough of them.
    survival: AtomicU32,
    trust: bloc::Trust,
    aging: aging::Aging,
    pub(crate) room: room::Room,
    minors: AtomicU32,
    countdown: AtomicUsize,
    /// What happened so far.
    pub stats: Stats,
    _model: std::marker::PhantomData<M>,
}

impl<M: Model, W: World> Heap<M, W> {
    /// Reserves a heap and starts its threads. It lives as long as the process.
    pub fn start(config: Config, world: W) -> io::Result<&'static Heap<M, W>> {
        let space = space::Space::new(config.reserve, config.cards, config.card_mask)?;
        let rooms = rooms::Rooms::new(&space)?;
        let gang = gang::Gang::new(config.helpers)?;
        let n = gang.workers();
        let heap: &'static Heap<M, W> = Box::leak(Box::new(Heap {
            world,
            space,
            nursery: LeafLock::new(nursery::Nursery::new(
                (config.nursery / space::BLOCK).max(4),
            )?),
            old: old::Old {
                rooms,
                bytes: AtomicUsize::new(0),
                at_mark: AtomicUsize::new(0),
            },
            large: large::Large {
                heads: LeafLock::new(List::new(1 << 24)?),
                bytes: AtomicUsize::new(0),
            },
            statics: LeafLock::default(),
            finalizers: finalize::Finalizers::new()?,
            major: major::Major::new(n, config.min_major.min(config.max_heap / 2))?,
            gate: gate::Gate::default(),
            gang,
            grey: gang::Grey::new()?,
            workers: (0..n)
                .map(|_| copying::Worker::new().map(Exclusive::new))
                .collect::<io::Result<_>>()?,
            waiting: Exclusive::new(ephemerons::Waiting::new()?),
            scratch: Exclusive::new(Scratch {
                candidates: List::new(1 << 28)?,
                pins: List::new(1 << 26)?,
                evacuated: List::new(1 << 24)?,
                moved: List::new(1 << 28)?,
            }),
            wants_help: AtomicBool::new(false),
            copy_cost: [const { AtomicU64::new(0) }; 2],
            collections_with_work: AtomicU32::new(0),
            survival: AtomicU32::new(0),
            trust: bloc::Trust::default(),
            aging: aging::Aging::default(),
            room: room::Room::default(),
            minors: AtomicU32::new(0),
            countdown: AtomicUsize::new(config.debug.collect_every as usize),
            stats: Stats::default(),
            config,
            _model: std::marker::PhantomData,
        }));
        std::thread::Builder::new()
            .name("GC".into())
            .stack_size(512 << 10)
            .spawn(move || heap.collector())?;
        Ok(heap)
    }
    /// What the worker of that number has; it is nobody else's meanwhile.
    pub(crate) fn worker(&self, index: usize) -> Borrowed<'_, copying::Worker> {
        self.workers[index].borrow()
    }

    // ---- allocation -----------------------------------------------------------------------------------------

    /// Memory for an object of `size` bytes (header included, any number), zeroed but for its header. None: the heap is
    /// full. The thread is one of the world's and can be stopped here; `window` is its window.
    pub fn allocate(&self, window: &Window, size: usize, header: u64) -> Option<usize> {
        let size = size.checked_add(7)? & !7;
        if self.config.debug.collect_every > 0 {
            self.count_down();
        }
        if size > SMALL {
            let at = self.allocate_large(size, header)?;
            window.taken.set(window.taken.get() + size);
            return Some(at);
        }
        if window.room() < size {
            self.refill(window, size)?;
        }
        let at = window.next.get();
        // SAFETY: the window is this thread's; there is room.
        unsafe { *(at as *mut u64) = header };
        window.next.set(at + size);
        if self.config.debug.no_windows || self.config.debug.collect_every > 0 {
            self.close(window);
        }
        Some(at)
    }
    /// Gives the rest of a window back: its thread ends, or is to come here for each allocation. A thread that is not one of
    /// the world's has no window.
    pub fn close(&self, window: &Window) {
        if window.room() > 0 {
            let mut n = self.nursery.lock();
            nursery::terminate(window.next.get());
            if window.room() >= nursery::FRAGMENT {
                n.handed_out -= window.room();
                n.fragments.push((window.next.get(), window.end.get()));
            }
        }
        window.give_up();
    }
    fn count_down(&self) {
        if self.countdown.fetch_sub(1, Relaxed) == 1 {
            self.countdown
                .store(self.config.debug.collect_every as usize, Relaxed);
            if self.minors.load(Relaxed) % 16 == 15 {
                if self.config.debug.concurrent_marking {
                    // The program is to go on meanwhile.
                    self.ask_for_major();
                    self.collect_minor();
                } else {
                    self.collect_all();
                }
            } else {
                self.collect_minor();
            }
        }
    }
    /// Gives the window another piece, with room for so many bytes.
    #[cold]
    fn refill(&self, window: &Window, size: usize) -> Option<()> {
        loop {
            if self.room.is_to_be_looked_at(self.config.nursery) && !self.make_room(0) {
                return None;
            }
            let seen = self.minors.load(Acquire);
            if self.take_piece(window, size) {
                return Some(());
            }
            // Who collects takes its piece before the world goes on: the other threads may leave nothing.
            self.minor_unless_after(seen, Tracing::AsNeeded, || {
                if !self.is_strained() {
                    self.take_piece(window, size);
                }
            });
            self.room.look_at_next();
            // Unless another collection has taken it back since.
            if window.room() >= size {
                return Some(());
            }
        }
    }
    /// Gives the window a piece of the nursery, if there is one.
    fn take_piece(&self, window: &Window, size: usize) -> bool {
        let Some((from, to)) = self.nursery.lock().take(&self.space, size) else {
            return false;
        };
        self.room.handed_out(to - from);
        // The piece is handed out, and has no start bit yet.
        perturb::here();
        // SAFETY: the piece is nobody else's.
        unsafe { std::ptr::write_bytes(from as *mut u8, 0, to - from) };
        self.space.set_start(from);
        self.stats.allocated.fetch_add((to - from) as u64, Relaxed);
        window.give_up();
        window.next.set(from);
        window.end.set(to);
        window.taken.set(window.taken.get() + to - from);
        true
    }
    fn allocate_large(&self, size: usize, header: u64) -> Option<usize> {
        if !self.make_room(size) {
            return None;
        }
        self.consider_major();
        self.stats.allocated.fetch_add(size as u64, Relaxed);
        self.place_large(size, header).or_else(|| {
            self.collect_all();
            self.place_large(size, header)
        })
    }

    // ---- collecting -----------------------------------------------------------------------------------------

    /// Stops the world; if that is still `wanted`, does `work`. Lets the world go on. The gate is shut for a major collection;
    /// a minor one shuts it when it must.
    pub(crate) fn stopped(
        &self,
        what: What,
        wanted: impl Fn() -> bool,
        mut work: impl FnMut(&mut gate::Stop<'_>) -> minor::Outcome,
    ) {
        let before = clock::now();
        let mut done = None;
        match what {
            What::Major => self.gate.turn.take(),
            What::Minor if self.gate.turn.is_taken() => {
                self.world.blocking(&mut || self.gate.turn.let_pass());
            }
            What::Minor => {}
        }
        let mut rest = Some(self.gate.rest());
        self.world.stopped(&mut || {
            if !wanted() {
                return;
            }
            let _elsewhere = self.major.keep_off();
            rest = None;
            let mut stop = self.gate.stop();
            if self.config.debug.verify_before {
                stop.shut();
                self.verify("before a collection");
                stop.open();
            }
            if let What::Major = what {
                stop.shut();
            }
            let outcome = work(&mut stop);
            self.minors.fetch_add(1, AcqRel);
            self.room.strained(self.is_strained());
            if self.config.debug.verify_after {
                self.verify("after a collection");
            }
            // Now, not later: when the world goes on, this thread may be the one that does not get a processor.
            done = Some((outcome, clock::now() - before));
        });
        if let What::Major = what {
            self.gate.turn.end();
        }
        if let Some((outcome, ns)) = done {
            self.note(what, ns, outcome);
        }
    }
    fn note(&self, what: What, ns: u64, outcome: minor::Outcome) {
        let pauses = match what {
            What::Minor => &self.stats.minor,
            What::Major => &self.stats.major,
        };
        pauses.record(ns);
        self.stats
            .promoted
            .fetch_add(outcome.promoted as u64, Relaxed);
        self.stats
            .survived
            .fetch_add(outcome.survived as u64, Relaxed);
        self.stats.pinned.fetch_add(outcome.pinned as u64, Relaxed);
        if self.config.debug.log {
            self.log(what, ns, outcome);
        }
    }
    /// One line for `log`, in one write, so that lines of several threads do not mix. Words and `name=value` pairs, in this
    /// order; sizes in bytes: `gc N minor|major pause_us=… promoted=… survived=… pinned=… evacuated=… old=… large=…
    /// blocks=…`. N counts stops, `pinned` objects, `blocks` those in use, and `evacuated` all bytes moved out of sparse
    /// blocks so far.
    fn log(&self, what: What, ns: u64, outcome: minor::Outcome) {
        let line = format!(
            "gc {} {} pause_us={:.1} promoted={} survived={} pinned={} evacuated={} old={} large={} blocks={}\n",
            self.stats.minor.count() + self.stats.major.count(),
            match what {
                What::Minor => "minor",
                What::Major => "major",
            },
            ns as f64 / 1e3,
            outcome.promoted,
            outcome.survived,
            outcome.pinned,
            self.stats.evacuated.load(Relaxed),
            self.old.bytes.load(Relaxed),
            self.large.bytes.load(Relaxed),
            self.space.in_use()
        );
        events::say(&line);
    }
    /// Collects the nursery now.
    pub fn collect_minor(&self) {
        self.minor_unless_after(self.minors.load(Acquire), Tracing::Always, || {});
    }
    /// Collects the nursery, unless somebody did since the count was `seen`. `then` is called if this thread did, before the world
    /// goes on.
    fn minor_unless_after(&self, seen: u32, tracing: Tracing, mut then: impl FnMut()) {
        self.stopped(
            What::Minor,
            || self.minors.load(Acquire) == seen,
            |stop| {
                let outcome = if self.is_en_bloc(tracing) {
                    self.promote_en_bloc(stop)
                } else {
                    self.minor(false, stop)
                };
                self.assist();
                then();
                outcome
            },
        );
        self.consider_major();
        if self.finalizers.waiting() > 0 {
            self.world.finalizers_wait();
        }
    }
    fn is_en_bloc(&self, tracing: Tracing) -> bool {
        let every = self.config.debug.promote_in_place * 2;
        let forced = every > 0 && self.minor_count() % every == every / 2;
        if self.major.is_marking() {
            return false;
        }
        forced || tracing == Tracing::AsNeeded && !self.has_holes() && self.trust.take()
    }
    /// Collects everything, and waits until that is done.
    pub fn collect_all(&self) {
        let ticket = self.ask_for_major();
        self.wait_for_major(ticket);
    }

    // ---- questions --------------------------------------------------------------------------------------------

    /// Minor collections so far, those that begin major ones included.
    pub fn minor_count(&self) -> u32 {
        self.minors.load(Acquire)
    }
    /// Has a major collection begun to mark, and not ended that?
    pub fn is_marking(&self) -> bool {
        self.major.is_marking()
    }
    /// Major collections that have ended.
    pub fn major_count(&self) -> u32 {
        self.major.count()
    }
    /// Bytes of objects and of windows handed out.
    pub fn bytes(&self) -> usize {
        self.old_bytes() + self.nursery.lock().handed_out
    }
    /// Bytes of blocks in use.
    pub fn committed(&self) -> usize {
        self.space.in_use() * space::BLOCK
    }
    /// Is the object young?
    pub fn is_young(&self, object: usize) -> bool {
        self.space.kind_at(object) == space::Kind::Nursery
    }
    /// Does the address lie in the range the heap has reserved?
    pub fn contains(&self, address: usize) -> bool {
        let (from, to) = self.space.range();
        (from..to).contains(&address)
    }
    /// The object's finalizer is to run when nothing refers to it.
    pub fn register_finalizer(&self, object: usize) {
        self.finalizers.register(&self.space, object);
    }
    /// ... is not to run.
    pub fn suppress_finalizer(&self, object: usize) {
        self.finalizers.suppress(&self.space, object);
    }
    /// Queues all objects with finalizers: the process ends.
    pub fn queue_all_finalizers(&self) {
        self.world.stopped(&mut || {
            let mut stop = self.gate.stop();
            stop.shut();
            self.finalizers.queue_all::<M>(&self.space);
        });
    }

    /// The collector cannot go on: the address space is used up in the middle of a collection.
    pub(crate) fn exhausted(&self, during: &str) -> ! {
        self.fail(&format!(
            "the heap's address range is used up during {during}"
        ))
    }
    pub(crate) fn fail(&self, what: &str) -> ! {
        (self.config.fail)(what)
    }
}
