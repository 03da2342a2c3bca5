//! The scheduler with real carriers, a real clock and real descriptors. Green threads are state machines, which need no stacks.
#![cfg(not(feature = "loom"))]
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::*};
use std::time::{Duration, Instant};
use vervet_os::{LeafLock, clock, futex};
use vervet_parking::ParkWord;
use vervet_sched::reactor::{Direction, Reactor, Registration, Waits};
use vervet_sched::{Carrier, Host, Options, Outcome, Runner, Scheduler, Wait};

/// A turn of a green thread.
type Turn = Box<dyn FnMut(&Scheduler<Shared>, &mut Carrier, u32) -> Outcome + Send>;

struct Green {
    word: ParkWord,
    turn: LeafLock<Option<Turn>>,
    /// Is it on a carrier?
    running: AtomicBool,
    preempt: AtomicBool,
}

struct World {
    greens: Vec<Green>,
    reactor: Reactor,
    scheduler: LeafLock<Option<Arc<Scheduler<Shared>>>>,
    ended: AtomicU32,
}
#[derive(Clone)]
struct Shared(Arc<World>);

impl Host for Shared {
    fn word(&self, id: u32) -> &ParkWord {
        &self.0.greens[id as usize].word
    }
    fn now(&self) -> u64 {
        clock::now()
    }
    fn start_carrier(&self, carrier: Carrier) -> Result<(), Carrier> {
        let scheduler = self.0.scheduler.lock().clone().expect("it is set");
        std::thread::spawn(move || scheduler.carry(carrier));
        Ok(())
    }
    fn wake(&self, word: &AtomicU32) {
        futex::wake(word, 1);
    }
    fn preempt(&self, _: u32, id: u32) {
        self.0.greens[id as usize].preempt.store(true, Relaxed);
    }
    fn poll(&self, wait: Wait, ready: &mut dyn FnMut(u32)) {
        self.0.reactor.poll(wait, clock::now(), ready);
    }
    fn wake_poller(&self) {
        self.0.reactor.wake();
    }
    fn let_others_run(&self) {
        std::thread::yield_now();
    }
    fn has_waiters(&self) -> bool {
        self.0.reactor.is_used()
    }
}
impl Runner for Shared {
    fn run(&self, carrier: &mut Carrier, id: u32) -> Outcome {
        let green = &self.0.greens[id as usize];
        assert!(!green.running.swap(true, AcqRel), "{id} runs twice");
        green.word.end();
        let scheduler = self.0.scheduler.lock().clone().expect("it is set");
        // (The turn is taken out: no lock is held while it runs.)
        let mut turn = green.turn.lock().take().expect("it has not ended");
        let outcome = turn(&scheduler, carrier, id);
        if outcome == Outcome::End {
            self.0.ended.fetch_add(1, AcqRel);
        } else {
            *green.turn.lock() = Some(turn);
        }
        green.running.store(false, Release);
        outcome
    }
}

struct Running {
    scheduler: Arc<Scheduler<Shared>>,
    watcher: Option<std::thread::JoinHandle<()>>,
}
impl Running {
    fn start(processors: u32, turns: Vec<Turn>) -> Running {
        let green = |turn| Green {
            word: ParkWord::new(),
            turn: LeafLock::new(turn),
            running: AtomicBool::new(false),
            preempt: AtomicBool::new(false),
        };
        let count = turns.len() as u32;
        let greens = std::iter::once(None).chain(turns.into_iter().map(Some));
        let world = Arc::new(World {
            greens: greens.map(green).collect(),
            reactor: Reactor::new().expect("an epoll"),
            scheduler: LeafLock::new(None),
            ended: AtomicU32::new(0),
        });
        let options = Options {
            processors,
            ..Options::default()
        };
        let scheduler = Arc::new(Scheduler::new(Shared(world.clone()), options));
        *world.scheduler.lock() = Some(scheduler.clone());
        let watched = scheduler.clone();
        let watcher = Some(std::thread::spawn(move || watched.watch()));
        for id in 1..=count {
            scheduler.spawn(None, id);
        }
        Running { scheduler, watcher }
    }
    fn world(&self) -> &World {
        &self.scheduler.host().0
    }
    fn wait_for_all(&self) {
        let count = self.world().greens.len() as u32 - 1;
        let from = Instant::now();
        while self.world().ended.load(Acquire) < count {
            let stats = self.scheduler.stats();
            assert!(from.elapsed() < Duration::from_secs(60), "stuck: {stats:?}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    fn stop(mut self) {
        self.scheduler.stop();
        self.watcher.take().expect("one").join().expect("it ended");
        *self.world().scheduler.lock() = None;
    }
}

/// Parks, until `deadline` if there is one. None: there was a token, and the thread looks at its condition again.
fn park(s: &Scheduler<Shared>, c: &mut Carrier, id: u32, deadline: Option<u64>) -> Option<Outcome> {
    let word = s.host().word(id);
    if !word.begin() {
        word.end();
        return None;
    }
    if let Some(deadline) = deadline {
        s.set_timer(c, id, deadline);
    }
    Some(Outcome::Park)
}

#[test]
fn pairs_wake_each_other_beside_sleepers_and_yielders() {
    const PAIRS: u32 = 50;
    const ROUNDS: u32 = 300;
    let permits: Arc<Vec<AtomicU32>> = Arc::new((0..500).map(|_| AtomicU32::new(0)).collect());
    let mut turns: Vec<Turn> = Vec::new();
    for pair in 0..PAIRS {
        for half in 0..2 {
            let (permits, other) = (permits.clone(), pair * 2 + 2 - half);
            let mut round = 0;
            let mut gives = half == 0;
            turns.push(Box::new(move |s, c, id| {
                loop {
                    if round == ROUNDS {
                        return Outcome::End;
                    }
                    if gives {
                        permits[other as usize].fetch_add(1, SeqCst);
                        s.unpark(Some(c), other);
                        gives = false;
                        if half == 1 {
                            round += 1;
                        }
                    } else if permits[id as usize].swap(0, SeqCst) > 0 {
                        gives = true;
                        if half == 0 {
                            round += 1;
                        }
                        if round % 50 == 7 {
                            return Outcome::Yield;
                        }
                    } else if let Some(outcome) = park(s, c, id, None) {
                        return outcome;
                    }
                }
            }));
        }
    }
    for i in 0..100 {
        let (mut times, mut deadline) = (0, None);
        turns.push(Box::new(move |s, c, id| {
            loop {
                if deadline.is_some() && s.cancel_timer(id) {
                    panic!("nobody else wakes it");
                }
                let now = clock::now();
                match deadline {
                    Some(at) if now < at => {}
                    Some(_) => deadline = None,
                    None if times == 10 => return Outcome::End,
                    None => {
                        times += 1;
                        deadline = Some(now + i * 50_000);
                    }
                }
                if deadline.is_some()
                    && let Some(outcome) = park(s, c, id, deadline)
                {
                    return outcome;
                }
            }
        }));
    }
    let running = Running::start(3, turns);
    running.wait_for_all();
    let stats = running.scheduler.stats();
    assert!(stats.timers_fired >= 900, "{stats:?}");
    running.stop();
}

/// Threads that compute until they are preempted, that call native code, and that block, do not keep each other waiting.
#[test]
fn nobody_is_kept_waiting_by_those_who_hold_carriers() {
    let mut turns: Vec<Turn> = Vec::new();
    for i in 0..12u32 {
        let (mut times, mut bound) = (0, false);
        turns.push(Box::new(move |s, c, id| {
            times += 1;
            if times == 6 {
                return Outcome::End;
            }
            let green = &s.host().0.greens[id as usize];
            match i % 3 {
                0 => {
                    while !green.preempt.swap(false, Relaxed) && s.stats().switches < 60 {
                        std::hint::spin_loop();
                    }
                    Outcome::Preempted
                }
                kind => {
                    if kind == 1 {
                        s.enter_native(c);
                    } else {
                        s.enter_blocking(c);
                    }
                    std::thread::sleep(Duration::from_millis(5));
                    bound = !bound;
                    match s.leave_native(c, id) {
                        true => Outcome::Yield,
                        false => Outcome::Requeue,
                    }
                }
            }
        }));
    }
    let running = Running::start(2, turns);
    running.wait_for_all();
    let stats = running.scheduler.stats();
    assert!(
        stats.handed_over >= 20 && stats.carriers_started > 2,
        "{stats:?}"
    );
    running.stop();
}

/// An echo over sockets: each thread waits for its descriptor, and answers.
#[test]
fn threads_wait_for_descriptors() {
    const COUNT: usize = 100;
    const ROUNDS: u32 = 50;
    let pairs: Vec<(UnixStream, UnixStream)> =
        (0..COUNT).map(|_| UnixStream::pair().unwrap()).collect();
    let mut turns: Vec<Turn> = Vec::new();
    let mut outside = Vec::new();
    for (mut green_end, other_end) in pairs {
        green_end.set_nonblocking(true).unwrap();
        outside.push(other_end);
        let mut registration: Option<Registration> = None;
        turns.push(Box::new(move |s, c, id| {
            let reactor = &s.host().0.reactor;
            let of =
                *registration.get_or_insert_with(|| reactor.add(green_end.as_raw_fd()).unwrap());
            reactor.end_wait(id);
            loop {
                let ticket = reactor.ticket(of, Direction::Read).unwrap();
                let mut byte = [0];
                match green_end.read(&mut byte) {
                    Ok(0) => {
                        reactor.remove(green_end.as_raw_fd(), of, &mut |_| panic!("nobody waits"));
                        return Outcome::End;
                    }
                    Ok(_) => green_end.write_all(&[byte[0] + 1]).unwrap(),
                    Err(e) => {
                        assert_eq!(e.kind(), std::io::ErrorKind::WouldBlock);
                        if reactor.begin_wait(of, Direction::Read, ticket, id) == Waits::Again {
                            continue;
                        }
                        match park(s, c, id, None) {
                            Some(outcome) => return outcome,
                            None => reactor.end_wait(id),
                        }
                    }
                }
            }
        }));
    }
    let running = Running::start(2, turns);
    let clients: Vec<_> = outside
        .chunks(COUNT / 4)
        .map(|chunk| {
            let mut ends: Vec<UnixStream> = chunk.iter().map(|e| e.try_clone().unwrap()).collect();
            std::thread::spawn(move || {
                for round in 0..ROUNDS {
                    for end in &mut ends {
                        end.write_all(&[round as u8]).unwrap();
                    }
                    for end in &mut ends {
                        let mut byte = [0];
                        end.read_exact(&mut byte).unwrap();
                        assert_eq!(byte[0], round as u8 + 1);
                    }
                }
            })
        })
        .collect();
    for client in clients {
        client.join().unwrap();
    }
    drop(outside);
    running.wait_for_all();
    running.stop();
}

/// Nobody wakes up while no thread runs: no carrier polls, and the watcher sleeps until there is work.
#[test]
fn idle_costs_nothing() {
    let ran_at = Arc::new(AtomicU64::new(0));
    let at = ran_at.clone();
    let mut parked = false;
    let running = Running::start(
        2,
        vec![Box::new(move |s, c, id| {
            at.store(clock::now(), SeqCst);
            match std::mem::replace(&mut parked, true) {
                true => Outcome::End,
                false => park(s, c, id, None).expect("there is no token"),
            }
        })],
    );
    let from = Instant::now();
    while !running.scheduler.is_watcher_asleep() {
        assert!(from.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
    let before = running.scheduler.stats();
    std::thread::sleep(Duration::from_millis(200));
    assert!(running.scheduler.is_watcher_asleep());
    assert_eq!(running.scheduler.stats(), before);
    assert!(ran_at.load(SeqCst) > 0);
    running.scheduler.unpark(None, 1);
    running.wait_for_all();
    running.stop();
}
