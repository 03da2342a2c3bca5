//! A simulated world around the scheduler that ships: carriers, a clock, descriptors and green threads are records; one thread runs everything.
//!
//! # How it works
//! Time stands still while the scheduler's functions run. A carrier that runs a green thread is busy until the thread's step is over; one that is
//! told to sleep or to poll is so until it is woken, its deadline comes, or a descriptor is ready. Of all that can happen at one moment the seed
//! chooses the order; the clock then goes on to the next moment.
//!
//! # Invariants that are checked
//! * A thread runs on one carrier at a time, and runs only when something made it ready; at the end every thread has ended.
//! * A ready thread runs within `bound`, which follows from the load.
//! * A sleeping thread wakes at its deadline or up to two ticks later (and then runs within the bound), never before.
//! * A thread that computes is asked to let others run within 10 ms and two ticks if others wait all that time.
//! * A processor whose carrier is in a native call is another carrier's within 1 ms and two ticks if threads wait all that time.
//! * When no carrier runs and no timer is pending, no thread is ready.
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::atomic::AtomicU32;
use vervet_parking::ParkWord;
use vervet_sched::watcher::{Pause, Watcher};
use vervet_sched::{Carrier, Host, Next, Options, Outcome, Scheduler, TICK, Wait};

pub const MS: u64 = 1_000_000;

/// What a green thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Computes for so long; may be preempted.
    Compute(u64),
    Yield,
    /// Sleeps for so long.
    Sleep(u64),
    /// Waits until its partner has woken it so often as it waits.
    Wait,
    /// Waits as that, at most so long.
    WaitFor(u64),
    /// Wakes that thread.
    Wake(u32),
    /// Starts that thread.
    Spawn(u32),
    /// Is in a native call for so long.
    Native(u64),
    /// Blocks the carrier for so long, and says so before.
    Block(u64),
    /// As Block, with frames that keep the thread on its carrier.
    Bound(u64),
    /// Waits until descriptor of its own number is ready, which is in so long.
    Read(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    New,
    Ready { since: u64 },
    Running,
    Parked,
    Ended,
}

struct Thread {
    steps: Vec<Step>,
    at: usize,
    phase: Phase,
    /// How much of a Compute is left.
    left: u64,
    /// Permits, for Wait.
    permits: u32,
    /// The end of the present wait.
    deadline: Option<u64>,
    fd_ready: bool,
    /// On which carrier it must go on.
    bound_to: Option<u32>,
    /// It has begun to park and not ended it.
    parked: bool,
    fd_waits: bool,
}

/// What a step makes the carrier do.
enum Does {
    GoesOn,
    Busy(Doing),
    Leaves(Outcome),
}

/// What a carrier is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    /// It asks for the next thread.
    Asks,
    Runs {
        id: u32,
        until: u64,
        preempted: bool,
    },
    /// In a native call; `bound`: with frames that keep the thread there.
    Native {
        id: u32,
        until: u64,
        bound: bool,
    },
    Sleeps,
    /// A thread is leaving it.
    Leaves {
        id: u32,
        outcome: Outcome,
        until: u64,
    },
    /// It waits for a processor, with thread `id` bound to it.
    WaitsForHand {
        id: u32,
    },
    Polls {
        wait: Wait,
    },
    Gone,
}

struct Seat {
    carrier: Carrier,
    doing: Doing,
}

pub struct World {
    pub now: Cell<u64>,
    words: Vec<ParkWord>,
    threads: RefCell<Vec<Thread>>,
    started: RefCell<Vec<Carrier>>,
    preempt: RefCell<Vec<(u32, u32)>>,
    poller_woken: Cell<bool>,
    watcher_woken: Cell<bool>,
    /// How many OS threads were to be started; all but one of so many are refused.
    starts: Cell<u32>,
    refuses: Cell<u32>,
    /// When which thread's descriptor is ready.
    descriptors: RefCell<BTreeSet<(u64, u32)>>,
    /// Threads whose words the scheduler has asked for.
    asked: RefCell<Vec<u32>>,
    /// What carriers without work may still prepare.
    to_prepare: Cell<u32>,
}

impl Host for World {
    fn word(&self, id: u32) -> &ParkWord {
        self.asked.borrow_mut().push(id);
        &self.words[id as usize]
    }
    fn now(&self) -> u64 {
        self.now.get()
    }
    fn start_carrier(&self, carrier: Carrier) -> Result<(), Carrier> {
        self.starts.set(self.starts.get() + 1);
        if !self.starts.get().is_multiple_of(self.refuses.get()) {
            return Err(carrier);
        }
        self.started.borrow_mut().push(carrier);
        Ok(())
    }
    fn wake(&self, _: &AtomicU32) {
        // Sleeping carriers look at their seats each time; the watcher is told so.
        self.watcher_woken.set(true);
    }
    fn preempt(&self, carrier: u32, id: u32) {
        self.preempt.borrow_mut().push((carrier, id));
    }
    fn poll(&self, wait: Wait, ready: &mut dyn FnMut(u32)) {
        assert_eq!(wait, Wait::Not, "nothing waits within the scheduler");
        self.ready_descriptors(ready);
    }
    fn wake_poller(&self) {
        self.poller_woken.set(true);
    }
    fn has_waiters(&self) -> bool {
        !self.descriptors.borrow().is_empty()
    }
    fn prepare(&self) -> bool {
        let left = self.to_prepare.get();
        self.to_prepare.set(left.saturating_sub(1));
        left > 0
    }
}

impl World {
    /// Passes the threads whose descriptors have become ready, once each.
    fn ready_descriptors(&self, ready: &mut dyn FnMut(u32)) {
        let now = self.now.get();
        loop {
            let mut descriptors = self.descriptors.borrow_mut();
            let Some((at, id)) = descriptors.pop_first() else {
                break;
            };
            if at > now {
                descriptors.insert((at, id));
                break;
            }
            self.threads.borrow_mut()[id as usize].fd_ready = true;
            ready(id);
        }
    }
}

/// A run of the simulation.
pub struct Simulation {
    scheduler: Scheduler<World>,
    carriers: Vec<Seat>,
    watcher: Watcher,
    /// When the watcher looks next; None: it sleeps.
    watcher_at: Option<u64>,
    random: Xoshiro256PlusPlus,
    processors: u32,
    /// How long a ready thread may have to wait.
    bound: u64,
    pub longest_wait: u64,
    pub latest_timer: u64,
}

impl Simulation {
    /// Threads from 1, with their scripts; those that nobody spawns are started at once.
    pub fn new(seed: u64, processors: u32, bound: u64, scripts: Vec<Vec<Step>>) -> Simulation {
        let spawned: Vec<u32> = scripts
            .iter()
            .flatten()
            .filter_map(|s| match s {
                Step::Spawn(id) => Some(*id),
                _ => None,
            })
            .collect();
        let count = scripts.len() as u32;
        let thread = |steps| Thread {
            steps,
            at: 0,
            phase: Phase::New,
            left: 0,
            permits: 0,
            deadline: None,
            fd_ready: false,
            bound_to: None,
            parked: false,
            fd_waits: false,
        };
        let world = World {
            now: Cell::new(1_000 * MS),
            words: (0..=count).map(|_| ParkWord::new()).collect(),
            threads: RefCell::new(
                std::iter::once(Vec::new())
                    .chain(scripts)
                    .map(thread)
                    .collect(),
            ),
            started: RefCell::default(),
            preempt: RefCell::default(),
            poller_woken: Cell::default(),
            watcher_woken: Cell::default(),
            starts: Cell::default(),
            refuses: Cell::new(1),
            descriptors: RefCell::default(),
            asked: RefCell::default(),
            to_prepare: Cell::new(0),
        };
        world.threads.borrow_mut()[0].phase = Phase::Ended;
        let options = Options {
            processors,
            ..Options::default()
        };
        let simulation = Simulation {
            scheduler: Scheduler::new(world, options),
            carriers: Vec::new(),
            watcher: Watcher::new(processors as usize),
            watcher_at: Some(1_000 * MS),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            processors,
            bound,
            longest_wait: 0,
            latest_timer: 0,
        };
        for id in (1..=count).filter(|id| !spawned.contains(id)) {
            simulation.make_ready(id);
            simulation.scheduler.spawn(None, id);
        }
        simulation
    }
    fn world(&self) -> &World {
        self.scheduler.host()
    }
    fn now(&self) -> u64 {
        self.world().now.get()
    }
    /// From now on only one OS thread of so many can be started.
    pub fn refuse_carriers(&mut self, of: u32) {
        self.world().refuses.set(of);
    }
    /// Carriers without work have so much to prepare.
    pub fn to_prepare(&self, count: u32) {
        self.world().to_prepare.set(count);
    }
    pub fn left_to_prepare(&self) -> u32 {
        self.world().to_prepare.get()
    }
    pub fn stats(&self) -> vervet_sched::stats::Stats {
        self.scheduler.stats()
    }
    /// The model's side of a thread becoming ready.
    fn make_ready(&self, id: u32) {
        let now = self.now();
        let mut threads = self.world().threads.borrow_mut();
        let thread = &mut threads[id as usize];
        match thread.phase {
            Phase::New | Phase::Parked | Phase::Running => {
                thread.phase = Phase::Ready { since: now }
            }
            Phase::Ready { .. } => panic!("thread {id} is made ready twice"),
            Phase::Ended => panic!("thread {id} has ended"),
        }
    }
    /// Parked threads whose words say that they were unparked are ready.
    fn notice_unparked(&self) {
        let since = self.now();
        let mut threads = self.world().threads.borrow_mut();
        for id in self.world().asked.borrow_mut().drain(..) {
            let thread = &mut threads[id as usize];
            if thread.phase == Phase::Parked && !self.world().words[id as usize].is_parked() {
                thread.phase = Phase::Ready { since };
            }
        }
    }

    /// Runs until every thread has ended.
    pub fn run(&mut self) {
        loop {
            self.settle();
            if self.is_over() {
                return;
            }
            let Some(next) = self.next_moment() else {
                self.report_stuck();
            };
            assert!(next > self.now(), "time stands still");
            self.world().now.set(next);
        }
    }
    fn is_over(&self) -> bool {
        let threads = self.world().threads.borrow();
        threads.iter().all(|t| t.phase == Phase::Ended)
    }
    /// Does everything that happens at this moment, in random order.
    fn settle(&mut self) {
        let mut rounds = 0;
        loop {
            rounds += 1;
            assert!(rounds < 1_000_000, "the moment does not end");
            let started = std::mem::take(&mut *self.world().started.borrow_mut());
            for carrier in started {
                let doing = Doing::Asks;
                self.carriers.push(Seat { carrier, doing });
            }
            self.serve_preemptions();
            let now = self.now();
            let mut able: Vec<usize> = (0..self.carriers.len())
                .filter(|i| self.can_go_on(*i, now))
                .collect();
            let watcher = self.watcher_at.is_some_and(|at| at <= now);
            if watcher {
                able.push(usize::MAX);
            }
            let Some(&chosen) = able.get(self.random.next_u64() as usize % able.len().max(1))
            else {
                break;
            };
            if chosen == usize::MAX {
                self.step_watcher();
            } else {
                self.go_on(chosen);
            }
            self.notice_unparked();
            if self.world().watcher_woken.take() && self.watcher_at.is_none() {
                self.watcher_at = Some(self.now());
            }
        }
    }
    fn step_watcher(&mut self) {
        self.watcher_at = match self.scheduler.step_watcher(&mut self.watcher) {
            Pause::For(ns) => Some(self.now() + ns),
            Pause::UntilActive => None,
            Pause::End => unreachable!("nobody stops it"),
        };
    }
    fn serve_preemptions(&mut self) {
        let now = self.now();
        let requests = std::mem::take(&mut *self.world().preempt.borrow_mut());
        for (carrier, id) in requests {
            for seat in &mut self.carriers {
                if let Doing::Runs {
                    id: runs,
                    until,
                    preempted,
                } = &mut seat.doing
                    && seat.carrier.id() == carrier
                    && *runs == id
                    && *until > now
                {
                    let mut threads = self.scheduler.host().threads.borrow_mut();
                    threads[id as usize].left = *until - now;
                    *until = now;
                    *preempted = true;
                }
            }
        }
    }
    fn can_go_on(&self, i: usize, now: u64) -> bool {
        let seat = &self.carriers[i];
        match seat.doing {
            Doing::Asks => true,
            Doing::Runs { until, .. }
            | Doing::Native { until, .. }
            | Doing::Leaves { until, .. } => until <= now,
            Doing::Sleeps | Doing::WaitsForHand { .. } => self.scheduler.is_given(&seat.carrier),
            Doing::Polls { wait } => {
                let late = match wait {
                    Wait::Not => true,
                    Wait::Until(until) => until <= now,
                    Wait::Forever => false,
                };
                late || self.world().poller_woken.get() || self.next_descriptor() <= now
            }
            Doing::Gone => false,
        }
    }
    /// The next moment at which something happens; None: nothing ever does.
    fn next_moment(&self) -> Option<u64> {
        let carriers = self.carriers.iter().filter_map(|s| match s.doing {
            Doing::Runs { until, .. }
            | Doing::Native { until, .. }
            | Doing::Leaves { until, .. } => Some(until),
            Doing::Polls {
                wait: Wait::Until(until),
            } => Some(until),
            _ => None,
        });
        let now = self.now();
        let descriptor = Some(self.next_descriptor()).filter(|at| *at != u64::MAX);
        carriers
            .chain(descriptor)
            .chain(self.watcher_at)
            .filter(|at| *at > now)
            .min()
    }
    /// When the next descriptor is ready.
    fn next_descriptor(&self) -> u64 {
        let descriptors = self.world().descriptors.borrow();
        descriptors.first().map_or(u64::MAX, |d| d.0)
    }
    fn go_on(&mut self, i: usize) {
        match self.carriers[i].doing {
            Doing::Asks => self.ask(i),
            Doing::Sleeps => self.ask(i),
            Doing::Polls { .. } => {
                self.world().poller_woken.set(false);
                let mut ready = Vec::new();
                self.scheduler
                    .host()
                    .ready_descriptors(&mut |id| ready.push(id));
                self.scheduler
                    .polled(&mut self.carriers[i].carrier, &mut ready);
                self.carriers[i].doing = Doing::Asks;
            }
            Doing::Runs { id, preempted, .. } => {
                if preempted {
                    self.leave(i, id, Outcome::Preempted);
                } else {
                    self.run_thread(i, id);
                }
            }
            Doing::Native { id, bound, .. } => {
                let carrier = &mut self.carriers[i].carrier;
                if self.scheduler.leave_native(carrier, id) {
                    self.run_thread(i, id);
                } else if bound {
                    let number = carrier.id();
                    self.make_ready(id);
                    self.world().threads.borrow_mut()[id as usize].bound_to = Some(number);
                    let carrier = &mut self.carriers[i].carrier;
                    self.scheduler.wait_for_hand(carrier, id);
                    self.carriers[i].doing = Doing::WaitsForHand { id };
                } else {
                    self.leave(i, id, Outcome::Requeue);
                }
            }
            Doing::Leaves { id, outcome, .. } => self.left(i, id, outcome),
            Doing::WaitsForHand { id } => {
                if self.scheduler.take_hand(&mut self.carriers[i].carrier) {
                    self.run_thread(i, id);
                }
            }
            Doing::Gone => unreachable!("an ended carrier"),
        }
    }
    /// The thread leaves the carrier, at once or after the time that a switch takes.
    fn leave(&mut self, i: usize, id: u32, outcome: Outcome) {
        let slow = self.random.next_u32().is_multiple_of(4);
        let until = self.now() + if slow { 1_000 } else { 0 };
        self.carriers[i].doing = Doing::Leaves { id, outcome, until };
    }
    /// The thread has left the carrier.
    fn left(&mut self, i: usize, id: u32, outcome: Outcome) {
        if matches!(
            outcome,
            Outcome::Yield | Outcome::Preempted | Outcome::Requeue
        ) {
            self.make_ready(id);
        }
        self.scheduler
            .after(&mut self.carriers[i].carrier, id, outcome);
        if outcome == Outcome::Park {
            let parked = self.world().words[id as usize].is_parked();
            let since = self.now();
            let mut threads = self.world().threads.borrow_mut();
            threads[id as usize].phase = match parked {
                true => Phase::Parked,
                // It was unparked meanwhile, and the carrier runs it at once.
                false => Phase::Ready { since },
            };
        }
        self.carriers[i].doing = Doing::Asks;
    }
    fn ask(&mut self, i: usize) {
        let seat = &mut self.carriers[i];
        match self.scheduler.next(&mut seat.carrier) {
            Next::Sleep => seat.doing = Doing::Sleeps,
            Next::Poll(wait) => seat.doing = Doing::Polls { wait },
            Next::End => seat.doing = Doing::Gone,
            Next::Run(id) => self.start(i, id),
        }
    }
    /// A carrier was told to run a thread.
    fn start(&mut self, i: usize, id: u32) {
        self.notice_unparked();
        let now = self.now();
        let bound_to = {
            let mut threads = self.scheduler.host().threads.borrow_mut();
            let thread = &mut threads[id as usize];
            let Phase::Ready { since } = thread.phase else {
                panic!("thread {id} runs, but is {:?}", thread.phase);
            };
            thread.phase = Phase::Running;
            let waited = now - since;
            assert!(
                waited <= self.bound,
                "thread {id} was ready for {} us",
                waited / 1000
            );
            self.longest_wait = self.longest_wait.max(waited);
            if let Some(deadline) = thread.deadline.filter(|d| since >= *d && thread.parked) {
                let late = since - deadline;
                self.latest_timer = self.latest_timer.max(late);
                assert!(
                    late <= 2 * TICK,
                    "thread {id} was woken {} us late",
                    late / 1000
                );
            }
            thread.bound_to.take()
        };
        let holders = self.holders();
        assert!(holders <= self.processors, "{holders} carriers run threads");
        match bound_to {
            Some(to) if to != self.carriers[i].carrier.id() => {
                let carrier = &mut self.carriers[i].carrier;
                self.scheduler.hand_to(carrier, to, id);
                self.leave(i, id, Outcome::HandedOver);
            }
            _ => self.run_thread(i, id),
        }
    }
    /// How many carriers hold a processor.
    fn holders(&self) -> u32 {
        let holds = |s: &&Seat| s.carrier.processor().is_some();
        self.carriers.iter().filter(holds).count() as u32
    }
    /// The thread is on the carrier: goes through its steps until one takes time.
    fn run_thread(&mut self, i: usize, id: u32) {
        loop {
            match self.step_thread(i, id) {
                Does::GoesOn => {}
                Does::Busy(doing) => return self.carriers[i].doing = doing,
                Does::Leaves(outcome) => {
                    if outcome == Outcome::End {
                        self.world().threads.borrow_mut()[id as usize].phase = Phase::Ended;
                    }
                    return self.leave(i, id, outcome);
                }
            }
        }
    }
    #[expect(clippy::too_many_lines, reason = "an arm for each kind of step")]
    fn step_thread(&mut self, i: usize, id: u32) -> Does {
        let Simulation {
            scheduler,
            carriers,
            ..
        } = self;
        let carrier = &mut carriers[i].carrier;
        let world = scheduler.host();
        let now = world.now.get();
        let mut threads = world.threads.borrow_mut();
        let thread = &mut threads[id as usize];
        if std::mem::take(&mut thread.parked) {
            world.words[id as usize].end();
            scheduler.cancel_timer(id);
        }
        if thread.left > 0 {
            let until = now + std::mem::take(&mut thread.left);
            return Does::Busy(Doing::Runs {
                id,
                until,
                preempted: false,
            });
        }
        let Some(step) = thread.steps.get(thread.at).copied() else {
            return Does::Leaves(Outcome::End);
        };
        let mut waits = |thread: &mut Thread, deadline: Option<u64>| {
            if !world.words[id as usize].begin() {
                // There was a token.
                world.words[id as usize].end();
                return Does::GoesOn;
            }
            thread.parked = true;
            if let Some(deadline) = deadline {
                scheduler.set_timer(carrier, id, deadline);
            }
            Does::Leaves(Outcome::Park)
        };
        match step {
            Step::Sleep(time) => {
                let deadline = *thread.deadline.get_or_insert(now + time);
                if now < deadline {
                    return waits(thread, Some(deadline));
                }
                thread.deadline = None;
            }
            Step::Wait => {
                if thread.permits == 0 {
                    return waits(thread, None);
                }
                thread.permits -= 1;
            }
            Step::WaitFor(time) => {
                let deadline = *thread.deadline.get_or_insert(now + time);
                if thread.permits == 0 && now < deadline {
                    return waits(thread, Some(deadline));
                }
                thread.permits = thread.permits.saturating_sub(1);
                thread.deadline = None;
            }
            Step::Read(time) => {
                if !std::mem::take(&mut thread.fd_ready) {
                    if !thread.fd_waits {
                        thread.fd_waits = true;
                        world.descriptors.borrow_mut().insert((now + time, id));
                    }
                    return waits(thread, None);
                }
                thread.fd_waits = false;
            }
            _ => {}
        }
        thread.at += 1;
        let call = |until, bound| Does::Busy(Doing::Native { id, until, bound });
        match step {
            Step::Compute(time) => {
                let until = now + time;
                return Does::Busy(Doing::Runs {
                    id,
                    until,
                    preempted: false,
                });
            }
            // As the runtime does: with nobody to run, the thread stays.
            Step::Yield if scheduler.may_go_on(carrier) => return Does::GoesOn,
            Step::Yield => return Does::Leaves(Outcome::Yield),
            Step::Wake(other) => {
                threads[other as usize].permits += 1;
                drop(threads);
                scheduler.unpark(Some(carrier), other);
                self.notice_unparked();
            }
            Step::Spawn(other) => {
                drop(threads);
                scheduler.spawn(Some(carrier), other);
                self.make_ready(other);
            }
            Step::Native(time) => {
                scheduler.enter_native(carrier);
                return call(now + time, false);
            }
            Step::Block(time) | Step::Bound(time) => {
                drop(threads);
                scheduler.enter_blocking(carrier);
                return call(now + time, matches!(step, Step::Bound(_)));
            }
            Step::Sleep(_) | Step::Wait | Step::WaitFor(_) | Step::Read(_) => {}
        }
        Does::GoesOn
    }
    fn report_stuck(&self) -> ! {
        let threads = self.world().threads.borrow();
        let rest: Vec<_> = threads
            .iter()
            .enumerate()
            .filter(|(_, t)| t.phase != Phase::Ended)
            .take(10)
            .map(|(id, t)| format!("{id}: {:?} before {:?}", t.phase, t.steps.get(t.at)))
            .collect();
        let carriers: Vec<_> = self.carriers.iter().map(|s| s.doing).collect();
        panic!("nothing will happen any more; threads {rest:#?}, carriers {carriers:?}");
    }
}
