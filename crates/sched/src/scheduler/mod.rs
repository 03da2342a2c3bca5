//! All of it together: what threads and carriers call.
//!
//! | file | what |
//! |---|---|
//! | `mod` | making threads ready: spawn, unpark, timers |
//! | `next` | which thread a carrier runs next |
//! | `rest` | resting, and waking those who rest |
//! | `native` | native calls and the hand-over of processors |
//! | `watch` | the watcher |
//! | `carry` | the loops of the OS threads |
//!
//! # Invariants
//! * The holder of a processor, and nobody else, uses the owner's functions of its queue: [`Carrier::place`] says what the carrier holds.
//! * Whoever puts a thread into a queue that others look at calls [`Scheduler::notify`] after it, but for the cases where it says why not.
//! * No lock of this crate is held when the host is called.
#[cfg(not(feature = "loom"))]
mod carry;
mod native;
mod next;
mod rest;
mod spin;
mod watch;

use crate::carrier::{Place, Seats};
use crate::idle::Idle;
use crate::injector::Injector;
use crate::processor::Processor;
use crate::stats::{Shared, Stats, bump, count};
use crate::sync::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed},
    Padded, TIMER_BATCH,
};
use crate::timers::{TICK, Timers};
use crate::{Carrier, Host};

/// What can be chosen.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How many green threads run at once: 1 to 32,768.
    pub processors: u32,
    /// How many OS threads there are at most, counting those in native calls.
    pub carriers: u32,
    /// How many sleeping OS threads are kept beyond one for each processor.
    pub spare: u32,
}

impl Default for Options {
    /// As many as the process may use.
    fn default() -> Options {
        Options {
            processors: vervet_os::thread::processors() as u32,
            carriers: 10_000,
            spare: 4,
        }
    }
}

/// The scheduler. See the crate and the module.
pub struct Scheduler<H> {
    host: H,
    options: Options,
    processors: Box<[Processor]>,
    injector: Injector,
    idle: Idle,
    seats: Seats,
    timers: Timers,
    /// The tick that it is, not later than the clock says. Whoever reads the clock brings it up to date; while any carrier runs, the watcher does.
    tick: Padded<AtomicU64>,
    /// The tick of the last poll that did not wait.
    last_poll: AtomicU64,
    /// See `watch`.
    watcher: AtomicU32,
    shared: Shared,
}

impl<H: Host> Scheduler<H> {
    /// A scheduler without threads and carriers. Carriers are started when there is work for them.
    pub fn new(host: H, options: Options) -> Scheduler<H> {
        assert!((1..1 << 15).contains(&options.processors), "{options:?}");
        let count = options.processors;
        Scheduler {
            host,
            options,
            processors: (0..count).map(|_| Processor::new()).collect(),
            injector: Injector::new(),
            idle: Idle::new(count, options.carriers),
            seats: Seats::new(),
            timers: Timers::new(count),
            tick: Padded(AtomicU64::new(0)),
            last_poll: AtomicU64::new(0),
            watcher: AtomicU32::new(0),
            shared: Shared::default(),
        }
    }
    /// The world around.
    pub fn host(&self) -> &H {
        &self.host
    }
    /// How many green threads are ready, and how many run, for reports. A hint: they run meanwhile.
    pub fn load(&self) -> (u64, u64) {
        let ready = |p: &Processor| p.queue.len() + u64::from(p.slot() != 0);
        let queued: u64 = self.processors.iter().map(ready).sum();
        let running = self.running().iter().filter(|id| **id != 0).count();
        (queued + self.injector.len() as u64, running as u64)
    }
    /// Sums of all counters.
    pub fn stats(&self) -> Stats {
        Stats::sum(&self.shared, self.processors.iter().map(|p| &p.counters))
    }
    /// The thread that each processor runs, for reports; 0 for none. A hint: they run meanwhile.
    pub fn running(&self) -> Vec<u32> {
        let current = |p: &Processor| p.current.load(Relaxed);
        self.processors.iter().map(current).collect()
    }
    /// What everything is doing, for reports: a line for each processor, and one for the rest. A hint: they run meanwhile.
    ///
    /// A processor in a native call with work in the injector for long says that the watcher does not run. A thread in the injector with an idle
    /// processor and no searching carrier says that a wake-up was lost.
    ///
    /// The words are read one after the other without a lock, so two of them may contradict each other for a moment.
    pub fn describe(&self) -> String {
        use std::fmt::Write;
        let mut text = String::new();
        for (number, p) in self.processors.iter().enumerate() {
            let _ = writeln!(
                text,
                "processor {number}: {:?}, runs {}, slot {}, queue {}",
                p.owner.get(),
                p.current.load(Relaxed),
                p.slot(),
                p.queue.len()
            );
        }
        let summary = self.idle.summary();
        let _ = writeln!(
            text,
            "injector {}, idle processors {}, searching {}, polled {}, watcher {}",
            self.injector.len(),
            summary.idle,
            summary.searching,
            self.idle.is_polled(),
            if self.is_watcher_asleep() {
                "asleep"
            } else {
                "awake"
            },
        );
        text
    }
    fn processor(&self, number: u32) -> &Processor {
        &self.processors[number as usize]
    }
    /// The processor of a carrier that runs threads.
    #[inline]
    fn held(&self, carrier: &Carrier) -> Option<&Processor> {
        match carrier.place {
            Place::Holds(p) => Some(self.processor(p)),
            _ => None,
        }
    }

    /// Starts a green thread, whose word says that it runs and whose stack is ready to be switched to. `carrier` is the calling thread's, if it is one.
    pub fn spawn(&self, carrier: Option<&mut Carrier>, id: u32) {
        match carrier.and_then(|c| self.held(c)) {
            Some(p) => {
                bump(&p.counters.spawned);
                self.push_local(p, id);
            }
            None => {
                count(&self.shared.spawned, 1);
                self.injector.push(&[id]);
            }
        }
        self.notify();
    }
    /// Wakes a green thread that is parked, or leaves a token for its next park. `carrier` is the calling thread's, if it is one.
    #[inline]
    pub fn unpark(&self, carrier: Option<&mut Carrier>, id: u32) {
        if self.host.word(id).unpark() {
            self.make_ready(carrier, id);
        }
    }
    /// As [`Scheduler::unpark`], for a thread whose word has been given a token by [`ParkWord::unpark`](vervet_parking::ParkWord::unpark), which
    /// said that the thread sleeps.
    #[inline]
    pub fn make_ready(&self, carrier: Option<&mut Carrier>, id: u32) {
        match carrier.and_then(|c| self.held(c)) {
            Some(p) => {
                bump(&p.counters.unparks);
                // Nobody is woken for what is in the slot: see `processor`.
                let Some(displaced) = p.fill_slot(id) else {
                    return;
                };
                self.push_local(p, displaced);
            }
            None => {
                count(&self.shared.unparks, 1);
                self.injector.push(&[id]);
            }
        }
        self.notify();
    }
    /// Puts a thread behind all others of a processor that the caller holds.
    #[inline]
    fn push_local(&self, p: &Processor, id: u32) {
        p.queue.push(id, |ids| {
            bump(&p.counters.overflows);
            self.injector.push(ids);
        });
    }

    /// Sets the timer of a thread that is about to park: it is unparked at `deadline`, in nanoseconds of [`Host::now`], or up to two ticks
    /// later. The thread has no other timer.
    pub fn set_timer(&self, carrier: &mut Carrier, id: u32, deadline: u64) {
        let shard = match carrier.place {
            Place::Holds(p) => {
                bump(&self.processor(p).counters.timers_set);
                p
            }
            _ => carrier.last,
        };
        let now = self.tick.load(Relaxed);
        self.timers.set(shard, id, Timers::tick_of(deadline), now);
    }
    /// Cancels the timer of a thread that goes on. False: it has expired, so that there may be a token for the next park.
    pub fn cancel_timer(&self, id: u32) -> bool {
        self.timers.cancel(id)
    }
    /// Unparks threads whose deadlines are over. With a carrier that holds a processor they go to its queue. At most so many batches; how many threads
    /// were made ready.
    fn expire(&self, p: Option<&Processor>, shard: u32, tick: u64, batches: u32) -> usize {
        let mut ready = 0;
        for _ in 0..batches {
            if self.timers.nearest_of(shard) > tick {
                break;
            }
            let mut buffer = [0; TIMER_BATCH];
            let (expired, more) = self.timers.take_due(shard, tick, &mut buffer);
            count(&self.shared.timers_fired, expired as u64);
            ready += self.unpark_all(p, &mut buffer[..expired]);
            if !more {
                break;
            }
        }
        ready
    }
    /// Unparks threads, and puts those that slept into the queue of a processor that the caller holds, or else into the injector. How many slept.
    /// The caller calls [`Scheduler::notify`].
    fn unpark_all(&self, p: Option<&Processor>, ids: &mut [u32]) -> usize {
        // The words of threads that slept for long are in no cache. Looked at without waiting for each other, they come side by side; the exchanges
        // below would come one by one.
        let parked = ids.iter().filter(|id| self.host.word(**id).is_parked());
        std::hint::black_box(parked.count());
        let mut slept = 0;
        for i in 0..ids.len() {
            if self.host.word(ids[i]).unpark() {
                ids[slept] = ids[i];
                slept += 1;
            }
        }
        match p {
            Some(p) => ids[..slept].iter().for_each(|id| self.push_local(p, *id)),
            None => self.injector.push(&ids[..slept]),
        }
        count(&self.shared.unparks, slept as u64);
        slept
    }
    /// Polls without waiting, and makes ready what is: how many.
    fn poll_now(&self, p: Option<&Processor>) -> usize {
        count(&self.shared.polls, 1);
        let mut ids = smallvec::SmallVec::<[u32; 64]>::new();
        self.host.poll(crate::Wait::Not, &mut |id| ids.push(id));
        self.unpark_all(p, &mut ids)
    }
    /// Reads the clock and brings `tick` up to date.
    fn read_clock(&self) -> u64 {
        let now = self.host.now() / TICK;
        if now > self.tick.load(Relaxed) {
            // Of two that store at once the later time may be overwritten, until the next reads the clock: ticks are looked at to save reading it.
            self.tick.store(now, Relaxed);
        }
        now
    }
    /// Is there anything in a queue that others look at, or a timer that has expired at `tick`? Looked at after a fence.
    fn any_work(&self, tick: u64) -> bool {
        self.injector.len() > 0
            || self.processors.iter().any(|p| !p.queue.is_empty())
            || self.timers.nearest() <= tick
    }
    /// Is there anything for a carrier to do?
    pub fn is_given(&self, carrier: &Carrier) -> bool {
        self.seats.at(carrier.id).is_given()
    }
    /// Has [`Scheduler::stop`] been called?
    pub fn is_stopped(&self) -> bool {
        self.idle.is_stopped()
    }
    /// The watcher's word; see `watch`.
    fn watcher_word(&self) -> u32 {
        self.watcher.load(Acquire)
    }
}
