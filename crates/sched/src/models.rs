//! The scheduler under loom: the code that ships, with queues of four ids and tables of eight.
//!
//! | invariant | models |
//! |---|---|
//! | an id that was put into a local queue is taken once | `thieves_and_the_carrier_take_each_id_once`, `a_full_queue_is_stolen_from`, `two_thieves_meet` |
//! | a ready thread is not left in a queue while all carriers sleep | `a_thread_made_ready_from_outside_is_run`, `two_are_made_ready_from_outside` |
//! | who makes threads ready need not run them itself | `a_thread_is_run_while_its_spawner_computes`, `one_after_the_other_is_run_while_their_spawner_computes`, `a_carrier_that_has_found_work_wakes_the_next` |
//! | a thread runs on one carrier, after it has left the one before | `a_thread_that_parks_is_unparked`, `a_thread_that_parks_is_unparked_twice` |
//! | a processor has one holder, and a carrier that blocks keeps nobody waiting | `a_call_comes_back_while_it_is_retaken`, `a_blocking_call_hands_over` |
//! | the thread in a slot is run once | `a_slot_is_flushed_while_it_is_emptied` |
//! | the watcher does not sleep while a carrier runs | `the_watcher_falls_asleep_while_a_carrier_wakes` |
//! | somebody wakes at the nearest deadline | `a_deadline_is_set_while_the_poller_plans` |
//! | an edge is not lost, and finds no thread of another descriptor | `an_edge_meets_a_thread_that_begins_to_wait`, `a_descriptor_is_closed_while_an_edge_comes` |
//!
//! A carrier or a thread that waits is blocked for loom, so a lost wake-up is a deadlock, which loom reports. Where a thread's frames would be, there is
//! a cell; if two carriers run the thread at once, or one before the other has left it, loom reports that.
use crate::carrier::Place;
use crate::local_queue::LocalQueue;
use crate::processor::Processor;
use crate::reactor::{Direction, Registry, Waits};
use crate::sync::AtomicU32;
use crate::watcher::{Pause, Watcher};
use crate::{Carrier, Host, Next, Options, Outcome, Scheduler, TICK, Wait};
use loom::cell::UnsafeCell;
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use vervet_parking::ParkWord;

const IDS: usize = 6;

/// Tries every interleaving with at most so many preemptions.
fn model(preemptions: usize, f: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(f);
}

/// What the threads of a model wait for.
#[derive(Default)]
struct Events {
    /// The poller was woken.
    alarm: bool,
    /// Which green threads have run to their end.
    ended: [bool; IDS],
    watcher_woken: bool,
}

/// The world of a model.
struct World {
    words: [ParkWord; IDS],
    /// The frames of each green thread.
    stacks: [UnsafeCell<u32>; IDS],
    /// Carriers that were started and have no OS thread yet.
    started: Mutex<Vec<Carrier>>,
    events: Mutex<Events>,
    changed: Condvar,
    /// What thread 1 waits for.
    condition: loom::sync::atomic::AtomicU32,
    /// The time, which stands still.
    now: u64,
}

impl Host for World {
    fn word(&self, id: u32) -> &ParkWord {
        &self.words[id as usize]
    }
    fn now(&self) -> u64 {
        self.now
    }
    fn start_carrier(&self, carrier: Carrier) -> Result<(), Carrier> {
        self.started.lock().unwrap().push(carrier);
        Ok(())
    }
    fn wake(&self, _: &AtomicU32) {
        // Who sleeps looks at its word under the lock.
        self.events.lock().unwrap().watcher_woken = true;
        self.changed.notify_all();
    }
    fn preempt(&self, _: u32, _: u32) {}
    fn poll(&self, _: Wait, _: &mut dyn FnMut(u32)) {}
    fn wake_poller(&self) {
        self.events.lock().unwrap().alarm = true;
        self.changed.notify_all();
    }
    fn has_waiters(&self) -> bool {
        false
    }
}

impl World {
    /// Blocks until `over` says so.
    fn wait(&self, mut over: impl FnMut(&mut Events) -> bool) {
        let mut events = self.events.lock().unwrap();
        while !over(&mut events) {
            events = self.changed.wait(events).unwrap();
        }
    }
    fn end(&self, id: u32) {
        self.events.lock().unwrap().ended[id as usize] = true;
        self.changed.notify_all();
    }
    /// A thread that computes until another has ended.
    fn wait_for(&self, id: u32) {
        self.wait(|events| events.ended[id as usize]);
    }
    /// Uses the frames of a thread.
    fn touch(&self, id: u32) {
        self.stacks[id as usize].with_mut(|_| ());
    }
    fn take_started(&self) -> Carrier {
        self.started.lock().unwrap().pop().expect("one was started")
    }
}

type Sched = Arc<Scheduler<World>>;

fn scheduler(processors: u32) -> Sched {
    let world = World {
        words: std::array::from_fn(|_| ParkWord::new()),
        stacks: std::array::from_fn(|_| UnsafeCell::new(0)),
        started: Mutex::new(Vec::new()),
        events: Mutex::new(Events::default()),
        changed: Condvar::new(),
        condition: loom::sync::atomic::AtomicU32::new(0),
        now: 1000 * TICK,
    };
    Arc::new(Scheduler::new(
        world,
        Options {
            processors,
            carriers: 5,
            spare: 4,
        },
    ))
}
fn run_next(s: &Sched, c: &mut Carrier) -> u32 {
    match s.next(c) {
        Next::Run(id) => id,
        other => panic!("{other:?}"),
    }
}
/// A carrier that runs thread `id`.
fn running(s: &Sched, id: u32) -> Carrier {
    s.spawn(None, id);
    let mut c = s.host().take_started();
    assert_eq!(run_next(s, &mut c), id);
    c
}

/// What a carrier's OS thread does: `run` is a green thread's turn.
fn carry(s: &Sched, c: &mut Carrier, run: &impl Fn(&mut Carrier, u32) -> Outcome) {
    loop {
        match s.next(c) {
            Next::Run(id) => {
                let outcome = run(c, id);
                s.after(c, id, outcome);
            }
            Next::Sleep => s.host().wait(|_| s.is_given(c)),
            Next::Poll(Wait::Not) => s.polled(c, &mut []),
            Next::Poll(_) => {
                s.host().wait(|events| std::mem::take(&mut events.alarm));
                s.polled(c, &mut []);
            }
            Next::End => return,
        }
    }
}
/// A green thread that ends; the scheduler stops with the last of `count`.
fn run_to_end(s: &Sched, id: u32, count: usize) -> Outcome {
    s.host().touch(id);
    s.host().end(id);
    let ended = s.host().events.lock().unwrap().ended;
    if ended.iter().filter(|e| **e).count() == count {
        s.stop();
    }
    Outcome::End
}

#[test]
fn a_thread_made_ready_from_outside_is_run() {
    model(3, || {
        let s = scheduler(1);
        let mut c = running(&s, 1);
        s.after(&mut c, 1, Outcome::End);
        let s2 = s.clone();
        let carrier = thread::spawn(move || carry(&s2, &mut c, &|_, id| run_to_end(&s2, id, 1)));
        s.spawn(None, 2);
        carrier.join().unwrap();
    });
}

#[test]
fn two_are_made_ready_from_outside() {
    model(1, || {
        let s = scheduler(2);
        let mut c = running(&s, 1);
        let mut d = running(&s, 2);
        s.after(&mut c, 1, Outcome::End);
        s.after(&mut d, 2, Outcome::End);
        let carriers = [c, d].map(|mut c| {
            let s = s.clone();
            thread::spawn(move || carry(&s, &mut c, &|_, id| run_to_end(&s, id, 2)))
        });
        s.spawn(None, 3);
        s.spawn(None, 4);
        for carrier in carriers {
            carrier.join().unwrap();
        }
    });
}

/// Thread 1 starts threads and computes until they have ended, so another carrier has to run them.
fn spawner(preemptions: usize, children: &'static [u32]) {
    model(preemptions, move || {
        let s = scheduler(2);
        let mut c = running(&s, 1);
        let mut d = running(&s, 2);
        s.after(&mut d, 2, Outcome::End);
        let s2 = s.clone();
        let count = children.len() + 1;
        let other = thread::spawn(move || carry(&s2, &mut d, &|_, id| run_to_end(&s2, id, count)));
        s.host().touch(1);
        for id in children {
            s.spawn(Some(&mut c), *id);
            s.host().wait_for(*id);
        }
        run_to_end(&s, 1, count);
        s.after(&mut c, 1, Outcome::End);
        other.join().unwrap();
    });
}
#[test]
fn a_thread_is_run_while_its_spawner_computes() {
    spawner(3, &[3]);
}
#[test]
fn one_after_the_other_is_run_while_their_spawner_computes() {
    spawner(2, &[3, 4]);
}

/// Thread 1 starts 4 and 5, and waits for both; 4 waits for 5. The second is made ready while a carrier searches already, so nobody is woken for it
/// but by that carrier.
#[test]
fn a_carrier_that_has_found_work_wakes_the_next() {
    model(1, || {
        let s = scheduler(3);
        let mut c = running(&s, 1);
        let others = [running(&s, 2), running(&s, 3)];
        let others = others.map(|mut c| {
            s.after(&mut c, 2, Outcome::End);
            let rest = s.next(&mut c);
            (c, rest)
        });
        let others = others.map(|(mut c, rest)| {
            let s = s.clone();
            thread::spawn(move || {
                // It rests when the model begins.
                match rest {
                    Next::Sleep => s.host().wait(|_| s.is_given(&c)),
                    _ => {
                        s.host().wait(|events| std::mem::take(&mut events.alarm));
                        s.polled(&mut c, &mut []);
                    }
                }
                carry(&s, &mut c, &|_, id| {
                    if id == 4 {
                        s.host().wait_for(5);
                    }
                    run_to_end(&s, id, 3)
                });
            })
        });
        s.spawn(Some(&mut c), 4);
        s.spawn(Some(&mut c), 5);
        s.host().wait_for(4);
        run_to_end(&s, 1, 3);
        s.after(&mut c, 1, Outcome::End);
        for other in others {
            other.join().unwrap();
        }
    });
}

/// Thread 1 parks until the condition says `wake_ups`; others raise it and unpark. Two carriers may run it.
fn parks(preemptions: usize, wake_ups: u32) {
    use loom::sync::atomic::Ordering::Relaxed;
    model(preemptions, move || {
        let s = scheduler(2);
        let mut c = running(&s, 1);
        let mut d = running(&s, 2);
        s.after(&mut d, 2, Outcome::End);
        // What thread 1 does in a turn on a carrier.
        let turn = move |s: &Sched, id: u32| {
            if id != 1 {
                return run_to_end(s, id, 1);
            }
            let host = s.host();
            host.touch(1);
            host.words[1].end();
            loop {
                if host.condition.load(Relaxed) == wake_ups {
                    return run_to_end(s, 1, 1);
                }
                if host.words[1].begin() {
                    host.touch(1);
                    return Outcome::Park;
                }
                host.words[1].end();
            }
        };
        let s2 = s.clone();
        let other = thread::spawn(move || carry(&s2, &mut d, &|_, id| turn(&s2, id)));
        let s3 = s.clone();
        let waker = thread::spawn(move || {
            for _ in 0..wake_ups {
                s3.host().condition.fetch_add(1, Relaxed);
                s3.unpark(None, 1);
            }
        });
        let outcome = turn(&s, 1);
        s.after(&mut c, 1, outcome);
        carry(&s, &mut c, &|_, id| turn(&s, id));
        other.join().unwrap();
        waker.join().unwrap();
    });
}
#[test]
fn a_thread_that_parks_is_unparked() {
    parks(1, 1);
}
#[test]
fn a_thread_that_parks_is_unparked_twice() {
    parks(1, 2);
}

/// The carrier of thread 1 is in a native call, with thread 2 in its queue, while the watcher retakes the processor.
#[test]
fn a_call_comes_back_while_it_is_retaken() {
    model(2, || {
        let s = scheduler(1);
        let mut c = running(&s, 1);
        s.spawn(Some(&mut c), 2);
        s.enter_native(&mut c);
        let Place::Native(p, call) = c.place else {
            panic!("{c:?}")
        };
        let s2 = s.clone();
        let watcher = thread::spawn(move || {
            s2.retake(p, call);
            // If it was retaken, a carrier was started for thread 2.
            let started = s2.host().started.lock().unwrap().pop();
            if let Some(mut d) = started {
                carry(&s2, &mut d, &|_, id| run_to_end(&s2, id, 2));
            }
        });
        let outcome = match s.leave_native(&mut c, 1) {
            true => run_to_end(&s, 1, 2),
            false => Outcome::Requeue,
        };
        s.after(&mut c, 1, outcome);
        carry(&s, &mut c, &|_, id| run_to_end(&s, id, 2));
        watcher.join().unwrap();
    });
}

/// Thread 1 blocks until thread 2 has ended, which was ready before or becomes so meanwhile.
#[test]
fn a_blocking_call_hands_over() {
    model(2, || {
        let s = scheduler(1);
        let mut c = running(&s, 1);
        // A second carrier, which sleeps.
        s.enter_blocking(&mut c);
        let mut d = s.host().take_started();
        assert!(matches!(s.next(&mut d), Next::Poll(_)));
        assert!(s.leave_native(&mut c, 1));
        let s2 = s.clone();
        let other = thread::spawn(move || {
            s2.host().wait(|events| std::mem::take(&mut events.alarm));
            s2.polled(&mut d, &mut []);
            carry(&s2, &mut d, &|_, id| run_to_end(&s2, id, 2));
        });
        let s3 = s.clone();
        let outside = thread::spawn(move || s3.spawn(None, 2));
        s.enter_blocking(&mut c);
        s.host().wait_for(2);
        let outcome = match s.leave_native(&mut c, 1) {
            true => run_to_end(&s, 1, 2),
            false => Outcome::Requeue,
        };
        s.after(&mut c, 1, outcome);
        carry(&s, &mut c, &|_, id| run_to_end(&s, id, 2));
        other.join().unwrap();
        outside.join().unwrap();
    });
}

#[test]
fn the_watcher_falls_asleep_while_a_carrier_wakes() {
    model(3, || {
        let s = scheduler(1);
        let mut c = running(&s, 1);
        s.after(&mut c, 1, Outcome::End);
        assert!(matches!(s.next(&mut c), Next::Poll(_)));
        let s2 = s.clone();
        let other = thread::spawn(move || {
            s2.polled(&mut c, &mut []);
            c
        });
        // What it remembers makes no difference: it is asked whether it may sleep.
        let asleep = s.may_sleep();
        let c = other.join().unwrap();
        assert!(c.processor().is_some());
        let woken = s.host().events.lock().unwrap().watcher_woken;
        assert!(!asleep || woken, "a carrier runs, and the watcher sleeps");
        assert!(!s.is_watcher_asleep());
        assert_ne!(s.step_watcher(&mut Watcher::new(1)), Pause::UntilActive);
    });
}

/// One carrier rests and becomes the poller, or is it; the other sets a timer and rests.
#[test]
fn a_deadline_is_set_while_the_poller_plans() {
    model(3, || {
        let s = scheduler(2);
        let mut c = running(&s, 1);
        let mut d = running(&s, 2);
        s.after(&mut d, 2, Outcome::End);
        let s2 = s.clone();
        let other = thread::spawn(move || s2.next(&mut d));
        let deadline = 1010 * TICK;
        s.host().words[1].begin();
        s.set_timer(&mut c, 1, deadline);
        s.after(&mut c, 1, Outcome::Park);
        let rests = [s.next(&mut c), other.join().unwrap()];
        let poll = rests.iter().find(|n| matches!(n, Next::Poll(_)));
        let woken = s.host().events.lock().unwrap().alarm;
        match poll.expect("one polls") {
            Next::Poll(Wait::Until(until)) if *until <= deadline => {}
            other => assert!(woken, "nobody wakes at the deadline: {other:?}"),
        }
    });
}

#[test]
fn a_slot_is_flushed_while_it_is_emptied() {
    model(3, || {
        let p = Arc::new(Processor::new());
        assert_eq!(p.fill_slot(5), None);
        let p2 = p.clone();
        let watcher = thread::spawn(move || p2.flush_slot(5));
        let taken = p.take_slot();
        let displaced = p.fill_slot(6);
        let flushed = watcher.join().unwrap();
        assert_eq!(displaced, None);
        assert_eq!(taken.is_some(), !flushed);
        assert_eq!(p.take_slot(), Some(6));
    });
}

/// Puts what a queue holds into a list.
fn drain(queue: &LocalQueue, into: &mut Vec<u32>) {
    into.extend(std::iter::from_fn(|| queue.pop()));
}
fn each_once(mut ids: Vec<u32>, last: u32) {
    ids.sort();
    assert_eq!(ids, (1..=last).collect::<Vec<_>>());
}
fn thief(queue: &Arc<LocalQueue>, turns: u32) -> thread::JoinHandle<Vec<u32>> {
    let queue = queue.clone();
    thread::spawn(move || {
        let own = LocalQueue::new();
        let mut ids = Vec::new();
        for _ in 0..turns {
            ids.extend(queue.steal_into(&own).map(|s| s.0));
            drain(&own, &mut ids);
        }
        ids
    })
}

/// The carrier goes round the ring while a thief steals.
#[test]
fn thieves_and_the_carrier_take_each_id_once() {
    model(2, || {
        let queue = Arc::new(LocalQueue::new());
        let mut ids = Vec::new();
        (1..=3).for_each(|id| queue.push(id, |_| panic!("there is room")));
        let thief = thief(&queue, 2);
        for id in 4..=7 {
            ids.extend(queue.pop());
            queue.push(id, |spilled| ids.extend_from_slice(spilled));
        }
        drain(&queue, &mut ids);
        ids.extend(thief.join().unwrap());
        each_once(ids, 7);
    });
}

#[test]
fn a_full_queue_is_stolen_from() {
    model(3, || {
        let queue = Arc::new(LocalQueue::new());
        let mut ids = Vec::new();
        (1..=4).for_each(|id| queue.push(id, |_| panic!("there is room")));
        let thief = thief(&queue, 1);
        for id in 5..=6 {
            queue.push(id, |spilled| ids.extend_from_slice(spilled));
        }
        drain(&queue, &mut ids);
        ids.extend(thief.join().unwrap());
        each_once(ids, 6);
    });
}

#[test]
fn two_thieves_meet() {
    model(2, || {
        let queue = Arc::new(LocalQueue::new());
        let mut ids = Vec::new();
        (1..=3).for_each(|id| queue.push(id, |_| panic!("there is room")));
        let thieves = [thief(&queue, 1), thief(&queue, 1)];
        ids.extend(queue.pop());
        queue.push(4, |_| panic!("there is room"));
        for thief in thieves {
            ids.extend(thief.join().unwrap());
        }
        drain(&queue, &mut ids);
        each_once(ids, 4);
    });
}

/// A thread tries, finds nothing, and waits; the edge comes at any time.
#[test]
fn an_edge_meets_a_thread_that_begins_to_wait() {
    use loom::sync::atomic::{AtomicBool, Ordering::*};
    model(3, || {
        let shared = Arc::new((Registry::new(), AtomicBool::new(false)));
        let of = shared.0.add();
        let other = shared.clone();
        let poller = thread::spawn(move || {
            other.1.store(true, Relaxed);
            let mut woken = Vec::new();
            other.0.event(of, true, false, &mut |id| woken.push(id));
            woken
        });
        let ticket = shared.0.ticket(of, Direction::Read).unwrap();
        let ready = shared.1.load(Relaxed);
        let waits = shared.0.begin_wait(of, Direction::Read, ticket, 1);
        let woken = poller.join().unwrap();
        if waits == Waits::Queued {
            assert!(ready || woken == [1], "the edge is lost");
        } else {
            assert_eq!(woken, []);
        }
        shared.0.end_wait(1);
    });
}

/// A descriptor is closed and its entry used for the next one, while an edge of the old one comes and its thread gives up.
#[test]
fn a_descriptor_is_closed_while_an_edge_comes() {
    model(3, || {
        let registry = Arc::new(Registry::new());
        let old = registry.add();
        let ticket = registry.ticket(old, Direction::Read).unwrap();
        assert_eq!(
            registry.begin_wait(old, Direction::Read, ticket, 1),
            Waits::Queued
        );
        let r = registry.clone();
        let poller = thread::spawn(move || {
            let mut woken = 0;
            r.event(old, true, true, &mut |id| {
                assert_eq!(id, 1, "an edge for the wrong thread");
                woken += 1;
            });
            woken
        });
        let r = registry.clone();
        let waiter = thread::spawn(move || r.end_wait(1));
        let mut woken = 0;
        assert!(registry.remove(old, &mut |_| woken += 1));
        let new = registry.add();
        let ticket = registry.ticket(new, Direction::Read).unwrap();
        let waits = registry.begin_wait(new, Direction::Read, ticket, 2);
        assert_eq!(waits, Waits::Queued);
        woken += poller.join().unwrap();
        waiter.join().unwrap();
        assert!(woken <= 1, "woken twice");
        let mut second = Vec::new();
        registry.event(new, true, false, &mut |id| second.push(id));
        assert_eq!(second, [2]);
    });
}
