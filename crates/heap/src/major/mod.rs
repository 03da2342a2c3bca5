//! The major collection: what is reachable is marked while the program runs; then the rest is forgotten.
//!
//! # Invariants
//! * Marking is incremental update over the cards. Both stops begin with a minor collection that promotes everything unpinned.
//!   Stop one looks at stacks, roots and what is still young; the marker follows references between old objects; stop two looks
//!   at stacks, roots, young objects and the cards that were dirty since stop one, and marks the rest. What is unmarked then is
//!   unreachable.
//! * Minor collections while marking runs fold the cards they clean into the mod-union table. What they promote is marked, and
//!   so is what it refers to. Large objects made meanwhile are born marked; what is stored into them lies on cards. Which of them are
//!   tables of pairs is noted at birth ([`crate::references::ephemerons`]).
//! * The marker and the sweeper work in steps ([`crate::threads::gate`]), beside the program and beside the copying of minor collections;
//!   they never see a block change hands.
//! * When marking begins no `mark` bit of an old block is set, because every block has been swept.
pub mod evacuate;
pub mod marking;
mod pacing;
mod prefetch;

use crate::major::marking::{Marker, Marking, word};
use crate::memory::List;
use crate::model::{Contents, Model, World};
use crate::references::ephemerons::{Row, Waiting};
use crate::roots::conservative;
use crate::space::Kind;
use crate::space::lines::Lines;
use crate::space::old;
use crate::threads::affinity::{Elsewhere, Placed};
use crate::threads::exclusive::{Borrowed, Exclusive};
use crate::threads::workers::Grey;
use crate::{Heap, stats};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::*};
use std::time::Duration;
use vervet_os::scheduling::be_nicer;
use vervet_os::{LeafLock, clock, futex};

/// How the collector's thread stands back where the program has use for all processors: about a quarter of one is left to it.
/// The program's threads help when that is too little ([`crate::major::pacing`]).
const NICER: i32 = 5;
/// Blocks whose cards are looked at between two looks at the gate.
const BATCH: usize = 64;
/// So long after a cycle, if no other has begun, the memory that the next one would need is given back too.
const REST: Duration = Duration::from_secs(5);

/// The state of major collections.
pub struct Major {
    marking: AtomicBool,
    /// Grey objects handed over by minor collections.
    pub grey: Grey,
    /// Workers' private parts.
    markers: Vec<Exclusive<Marker>>,
    /// Large tables of pairs that were born marked.
    pub(crate) born: LeafLock<List<usize>>,
    /// The old generation may grow to this before the next cycle.
    pub threshold: AtomicUsize,
    /// The old generation's size when the cycle began.
    pub(crate) goal: AtomicUsize,
    /// What [`stats::Stats::promoted`] was then.
    promoted: AtomicU64,
    /// Tickets: cycles asked for, begun, and ended.
    pub(crate) asked: AtomicU32,
    begun: AtomicU32,
    pub(crate) ended: AtomicU32,
    dead_large: LeafLock<List<u32>>,
    collector: LeafLock<Option<std::thread::Thread>>,
    placed: Placed,
}

impl Major {
    pub(crate) fn new(workers: usize, threshold: usize) -> io::Result<Major> {
        Ok(Major {
            marking: AtomicBool::new(false),
            grey: Grey::new()?,
            markers: (0..workers)
                .map(|_| Marker::new().map(Exclusive::new))
                .collect::<io::Result<_>>()?,
            born: LeafLock::new(List::new(1 << 24)?),
            threshold: AtomicUsize::new(threshold),
            goal: AtomicUsize::new(0),
            promoted: AtomicU64::new(0),
            asked: AtomicU32::new(0),
            begun: AtomicU32::new(0),
            ended: AtomicU32::new(0),
            dead_large: LeafLock::new(List::new(1 << 24)?),
            collector: LeafLock::new(None),
            placed: Placed::new(),
        })
    }
    /// What the marker of that number has; it is nobody else's meanwhile.
    pub(crate) fn marker(&self, index: usize) -> Borrowed<'_, Marker> {
        self.markers[index].borrow()
    }
    /// Does marking run?
    #[inline]
    pub fn is_marking(&self) -> bool {
        self.marking.load(Acquire)
    }
    /// Has a cycle ended to mark, and not to sweep?
    pub(crate) fn is_sweeping(&self) -> bool {
        self.begun.load(Relaxed) != self.ended.load(Relaxed) && !self.is_marking()
    }
    /// In a stop: keeps the collector's thread, if it is at work, off the processor of the thread that collects.
    pub(crate) fn keep_off(&self) -> Option<Elsewhere> {
        let works = self.asked.load(Relaxed) != self.ended.load(Relaxed);
        works.then(|| self.placed.keep_off()).flatten()
    }
    /// Major collections that have ended.
    pub fn count(&self) -> u32 {
        self.ended.load(Acquire)
    }
}

impl<M: Model, W: World> Heap<M, W> {
    pub(crate) fn marking<'h>(&'h self, own: &'h mut Marker) -> Marking<'h, M, W> {
        Marking {
            heap: self,
            own,
            alone: false,
        }
    }
    /// The worker that marks when no other does: beside the program, where only the collector's thread marks (minor collections leave
    /// `mark` bits of old blocks alone while the gate is open), and in those parts of a stop that one thread does.
    pub(crate) fn lone_marking<'h>(&'h self, own: &'h mut Marker) -> Marking<'h, M, W> {
        Marking {
            alone: true,
            ..self.marking(own)
        }
    }
    /// Bytes of the old generation.
    pub fn old_bytes(&self) -> usize {
        self.old.bytes.load(Relaxed) + self.large.bytes.load(Relaxed)
    }
    /// Asks for a cycle that begins after now; the ticket to wait with.
    pub fn ask_for_major(&self) -> u32 {
        // A cycle that has begun does not count: what died since it began may still be marked.
        let ticket = self.major.begun.load(Acquire) + 1;
        self.major.asked.fetch_max(ticket, AcqRel);
        if let Some(t) = &*self.major.collector.lock() {
            t.unpark();
        }
        ticket
    }
    /// Waits until the cycle with that ticket has ended.
    pub fn wait_for_major(&self, ticket: u32) {
        self.world.blocking(&mut || {
            loop {
                let ended = self.major.ended.load(Acquire);
                if ended.wrapping_sub(ticket) as i32 >= 0 {
                    return;
                }
                futex::wait(&self.major.ended, ended, None);
            }
        });
    }
    /// The collector's thread: runs cycles as they are asked for.
    pub(crate) fn collector(&'static self) {
        crate::threads::workers::block_signals();
        self.major.placed.is_this();
        be_nicer(NICER);
        *self.major.collector.lock() = Some(std::thread::current());
        let is_idle = || self.major.asked.load(Acquire) == self.major.ended.load(Acquire);
        let mut ran = false;
        loop {
            if ran {
                let end = clock::now() + REST.as_nanos() as u64;
                while is_idle() && clock::now() < end {
                    std::thread::park_timeout(REST);
                }
                if is_idle() {
                    self.trim(0);
                }
            }
            while is_idle() {
                std::thread::park();
            }
            self.cycle();
            ran = true;
            let now = self.major.begun.load(Acquire);
            self.major.asked.fetch_max(now, AcqRel);
            self.major.ended.store(now, Release);
            futex::wake(&self.major.ended, i32::MAX);
            if self.finalizers.waiting() > 0 {
                self.world.finalizers_wait();
            }
        }
    }

    /// One cycle, from the first stop to the last swept block.
    fn cycle(&self) {
        let at_once =
            !self.config.debug.concurrent_marking && self.old_bytes() <= self.config.stop_below;
        self.stopped(
            stats::What::Major,
            || true,
            |stop| {
                self.major.begun.fetch_add(1, AcqRel);
                let outcome = self.minor(true, stop);
                self.begin_marking();
                if at_once {
                    self.end_marking();
                }
                outcome
            },
        );
        if !at_once {
            self.drain_concurrently();
            // What was written to meanwhile, so that the second stop has less to look at.
            for _ in 0..2 {
                let (mut b, used) = (0, self.space.used());
                while b < used {
                    let end = (b + BATCH).min(used);
                    self.gate.step(|| {
                        let mut marker = self.major.marker(0);
                        let mut m = self.lone_marking(&mut marker);
                        // A block may take long, if all its cards were written to.
                        while b < end && !self.gate.is_wanted() {
                            m.modified(b);
                            b += 1;
                        }
                    });
                    self.be_slow();
                }
                self.drain_concurrently();
            }
            self.stopped(
                stats::What::Major,
                || true,
                |stop| {
                    let outcome = self.minor(true, stop);
                    self.end_marking();
                    outcome
                },
            );
        }
        self.sweep();
        self.gate.turn.end();
        if self.config.debug.heap_shot {
            self.print_shot();
        }
    }

    /// Stop one: stacks and roots. The minor collection just before has left the candidates behind.
    pub(crate) fn begin_marking(&self) {
        self.choose_evacuated();
        self.major.goal.store(self.old_bytes(), Relaxed);
        self.major
            .promoted
            .store(self.stats.promoted.load(Relaxed), Relaxed);
        self.major.marking.store(true, Release);
        let mut marker = self.major.marker(0);
        let mut m = self.lone_marking(&mut marker);
        self.mark_stacks(&mut m);
        self.mark_roots(&mut m);
        self.mark_from_young(&mut m, false);
    }
    /// Marks what stacks may refer to; blocks hit are not evacuated in this cycle.
    fn mark_stacks(&self, m: &mut Marking<'_, M, W>) {
        // Pinned handles may be very many, and mostly there is nothing to be evacuated.
        let space = &self.space;
        let evacuates = |b| space.kind(b) == Kind::Old && space.info(b).evacuate.load(Relaxed) != 0;
        if (0..space.used()).any(evacuates) {
            self.world.pinned_handles(false, &mut |o| {
                if space.kind_at(o) == Kind::Old {
                    space.info(space.block(o)).hit.store(1, Relaxed);
                }
            });
        }
        let scratch = self.scratch.borrow();
        let mut cursor = conservative::Cursor::default();
        for &c in scratch.candidates.as_slice() {
            match self.space.kind_at(c) {
                Kind::Old => {
                    if let Some(o) = conservative::object_at::<M>(&self.space, c, &mut cursor) {
                        self.space.info(self.space.block(o)).hit.store(1, Relaxed);
                        m.object(o);
                    }
                }
                Kind::Large | Kind::LargeTail => {
                    if let Some(o) = conservative::object_at::<M>(&self.space, c, &mut cursor) {
                        m.object(o);
                    }
                }
                _ => {}
            }
        }
    }
    /// Young objects, of which only pinned ones are left, may be all that refers to most of the old ones.
    /// They may have moved by stop two (`last`), so nothing is noted of them or their fields before.
    fn mark_from_young(&self, m: &mut Marking<'_, M, W>, last: bool) {
        let space = &self.space;
        for b in 0..space.used() {
            if space.kind(b) == Kind::Nursery {
                conservative::each_young::<M>(space, b, |o, _| {
                    // SAFETY: a young object with its header.
                    unsafe {
                        let header = *(o as *const u64);
                        match M::contents(header) {
                            Contents::References => M::visit(o, header, 0, usize::MAX, |f| {
                                m.object(word(f));
                            }),
                            Contents::Ephemerons if last => m.own.ephemerons.push(o),
                            _ => {}
                        }
                    }
                });
            }
        }
    }
    fn mark_roots(&self, m: &mut Marking<'_, M, W>) {
        self.world.roots(&mut |f| m.object(word(f)));
        self.finalizers.roots(&mut |f| m.object(word(f)));
        self.world.strong_handles(false, &mut |o| {
            m.object(o);
            (o, matches!(self.space.kind_at(o), Kind::Nursery))
        });
        for b in 0..self.space.used() {
            if self.space.kind(b) == Kind::Statics {
                self.each_static(b, |f| m.object(word(f)));
            }
        }
    }

    /// Stop two, behind its minor collection: the rest is marked, the dead are forgotten.
    fn end_marking(&self) {
        let space = &self.space;
        self.mark_the_rest();
        let mut marker = self.major.marker(0);
        let m = &mut self.lone_marking(&mut marker);
        if self.config.debug.verify_before {
            self.check_tables_are_known(&mut m.own.ephemerons);
        }
        let waiting = &mut self.waiting.borrow();
        self.pairs_to_fixpoint(m, waiting);
        self.world
            .weak_handles(false, false, &mut |o| self.marked(o));
        self.finalize_old(m);
        self.pairs_to_fixpoint(m, waiting);
        self.bury_pairs(m, waiting);
        self.world
            .weak_handles(true, false, &mut |o| self.marked(o));
        self.world.noted(false, &mut |o| self.marked(o));
        self.major.marking.store(false, Release);
        self.evacuate(m);
        self.old
            .at_mark
            .store(self.old.bytes.load(Relaxed), Relaxed);
        m.own.fields.clear();
        m.own.grey.clear();
        m.own.ephemerons.clear();
        self.sweep_large(&mut self.major.dead_large.lock());
        self.old.rooms.retain(space, |_| false);
        self.major.threshold.store(usize::MAX, Relaxed);
        for b in 0..space.used() {
            if space.kind(b) == Kind::Old {
                let info = space.info(b);
                info.unswept.store(1, Release);
                info.hit.store(0, Relaxed);
                info.flag.store(0, Relaxed);
            }
        }
    }
    /// Marks what is reachable otherwise than through pairs. What the helpers have noted goes to the first marker.
    fn mark_the_rest(&self) {
        let mut marker = self.major.marker(0);
        self.major.take_born(&mut marker.ephemerons);
        let mut m = self.lone_marking(&mut marker);
        self.mark_stacks(&mut m);
        self.mark_roots(&mut m);
        self.mark_from_young(&mut m, true);
        drop(marker);
        const CHUNK: usize = 64;
        let used = self.space.used();
        let tasks = AtomicUsize::new(0);
        let job = |index: usize| {
            self.major.grey.enter();
            let mut marker = self.major.marker(index);
            let mut m = self.marking(&mut marker);
            loop {
                let t = tasks.fetch_add(1, Relaxed);
                if t * CHUNK >= used {
                    break;
                }
                for b in t * CHUNK..((t + 1) * CHUNK).min(used) {
                    m.modified(b);
                }
            }
            m.drain();
        };
        self.gang.run(true, &job);
        let mut marker = self.major.marker(0);
        for i in 1..self.gang.workers() {
            let mut other = self.major.marker(i);
            while let Some(t) = other.ephemerons.pop() {
                marker.ephemerons.push(t);
            }
            while let Some(f) = other.fields.pop() {
                marker.fields.push(f);
            }
        }
    }
    /// Where an object is after marking: None if nobody reached it.
    fn marked(&self, object: usize) -> Option<(usize, bool)> {
        match self.space.kind_at(object) {
            Kind::Old => self.space.is_marked(object).then_some((object, false)),
            Kind::Large => (self.space.info(self.space.block(object)).hit.load(Relaxed) != 0)
                .then_some((object, false)),
            Kind::Nursery => Some((object, true)),
            _ => Some((object, false)),
        }
    }
    /// Values of pairs whose keys are marked are marked, and what they refer to, until nothing changes.
    fn pairs_to_fixpoint(&self, m: &mut Marking<'_, M, W>, waiting: &mut Waiting) {
        let is_alive = |key: usize| key == 0 || self.marked(key).is_some();
        waiting.resume(is_alive);
        let mut pairs = 0;
        loop {
            if let Some(table) = m.own.ephemerons.pop() {
                let row = Row::of::<M>(table);
                pairs += row.len();
                for pair in row.pairs() {
                    if is_alive(pair.load_key()) {
                        m.field(pair.key());
                        m.field(pair.value());
                    } else {
                        waiting.wait(pair);
                    }
                }
            } else if let Some(pair) = waiting.next_due() {
                m.field(pair.key());
                m.field(pair.value());
            } else if let Some(entry) = m.own.next() {
                if entry & 1 == 0 {
                    waiting.reached(entry);
                }
                m.scan(entry);
            } else {
                break;
            }
        }
        waiting.settle();
        self.stats.pairs.fetch_add(pairs as u64, Relaxed);
    }
    /// Pairs whose keys are dead are made empty.
    fn bury_pairs(&self, m: &mut Marking<'_, M, W>, waiting: &mut Waiting) {
        let tombstone = self.world.tombstone();
        while let Some(pair) = waiting.next_dead() {
            pair.bury(tombstone);
            if self.space.kind_at(tombstone) == Kind::Nursery {
                self.space.dirty(pair.key());
            }
            m.field(pair.key());
        }
    }
    /// Old objects nobody reached whose finalizers are to run are queued, and kept with all they refer to.
    fn finalize_old(&self, m: &mut Marking<'_, M, W>) {
        if !self
            .finalizers
            .old::<M>(&self.space, |o| self.marked(o).is_some())
        {
            return;
        }
        self.finalizers.roots(&mut |f| m.object(word(f)));
        while let Some(o) = m.own.next() {
            m.scan(o);
        }
    }

    /// Sweeps every block that was not, then gives free memory back. On the collector's thread, the world running.
    fn sweep(&self) {
        let space = &self.space;
        // What is promoted meanwhile adds to the figure; what the swept blocks were counted as is corrected at the end.
        let before = self.old.at_mark.load(Relaxed);
        let mut live = 0;
        let (mut empty, mut empties) = ([0; BATCH], 0);
        self.give_unmarked();
        for b in 0..space.used() {
            if space.kind(b) != Kind::Old || space.info(b).unswept.load(Acquire) == 0 {
                continue;
            }
            self.gate.step(|| {
                let used = old::sweep::<M>(space, b);
                if used == Lines::EMPTY {
                    empty[empties] = b;
                    empties += 1;
                    return;
                }
                live += used.bytes();
                self.old.note_room(space, b, &used);
            });
            if empties == empty.len() {
                self.give_all(&empty);
                empties = 0;
            }
        }
        self.give_all(&empty[..empties]);
        self.gate
            .between_stops(|| self.free_large(&mut self.major.dead_large.lock()));
        self.old.bytes.fetch_add(live, Relaxed);
        self.old.bytes.fetch_sub(before, Relaxed);
        let live = self.old_bytes();
        let promoted = self.stats.promoted.load(Relaxed) - self.major.promoted.load(Relaxed);
        let threshold = self.next_threshold(live, live.saturating_sub(promoted as usize));
        self.major
            .threshold
            .store(threshold.min(self.config.max_heap), Relaxed);
        // What the program will fill before the next cycle has ended would only have to be asked for again.
        self.trim(threshold - live.min(threshold) + promoted as usize);
    }
    /// Gives back the blocks in which nothing was reached: that is known without looking at objects, and the program needs room.
    fn give_unmarked(&self) {
        let space = &self.space;
        let used = space.used();
        for first in (0..used).step_by(BATCH) {
            let (mut empty, mut empties) = ([0; BATCH], 0);
            self.gate.step(|| {
                for b in first..(first + BATCH).min(used) {
                    if space.kind(b) == Kind::Old
                        && space.info(b).unswept.load(Acquire) != 0
                        && space.has_no_marks(b)
                    {
                        empty[empties] = b;
                        empties += 1;
                    }
                }
            });
            if empties > 0 {
                self.give_all(&empty[..empties]);
            }
        }
    }
    /// Gives empty blocks back, while no minor collection looks at their cards.
    fn give_all(&self, blocks: &[usize]) {
        self.gate.between_stops(|| {
            for &b in blocks {
                if self.config.debug.poison {
                    crate::memory::poison(self.space.address(b), self.space.address(b + 1));
                }
                self.space.give(b);
            }
        });
    }
}
