//! Which thread a carrier runs next.
//!
//! ```text
//!   1  once a tick, and every 61st time: due timers, descriptors and a share of the injector go to the own queue   (so none starves)
//!   2  the slot, unless 16 threads in succession came from it while others wait
//!   3  the own queue
//!   4  a share of the injector
//!   5  due timers, descriptors                              --.
//!   6  half of the queue of another processor                 | searching
//!   7  timers of other processors                             |
//!   8  descriptors, some microseconds more (`spin`)         --'
//!   9  rest (`rest`)
//! ```
//!
//! # Invariants
//! * A thread that yields goes behind all others of its processor; one that is preempted, behind all in the injector. So a thread that is ready runs
//!   after a bounded number of slices of others: those before it in the injector, of which each processor takes a share at least once a tick,
//!   and then those before it in the queue.
//! * While threads lie in the injector, a queue is not longer than half its room for long: its processor is *crowded*, and threads that yield go to
//!   the injector. Otherwise the threads of a full queue would run in turn, and those in the injector hardly ever.
//! * A carrier that searches and finds something ends its search before it runs anything.
use super::Scheduler;
use crate::carrier::{Gift, Place};
use crate::idle::Left;
use crate::processor::Processor;
use crate::stats::{bump, count};
use crate::sync::{HALF, Ordering::Relaxed, SEARCH_ROUNDS};
use crate::{Carrier, Host, Next, Outcome};

/// Every so many threads a carrier looks at more than its own queue. A prime, so that no pattern of the program hides in it.
const LOOK_AROUND: u32 = 61;
/// So many threads in succession may come from the slot while others wait.
const SLOT_RUNS: u32 = 16;

impl<H: Host> Scheduler<H> {
    /// What the carrier does next.
    #[inline]
    pub fn next(&self, c: &mut Carrier) -> Next {
        loop {
            let Place::Holds(number) = c.place else {
                match self.wake_up(c) {
                    Some(next) => return next,
                    None => continue,
                }
            };
            let p = self.processor(number);
            if let Some(id) = self.find(c, p, number) {
                return Next::Run(id);
            }
            if let Some(id) = self.search(c, p, number) {
                return Next::Run(id);
            }
            if let Some(next) = self.rest(c, number) {
                return next;
            }
        }
    }
    /// A carrier without processor asks what to do. None: it has one now.
    #[cold]
    fn wake_up(&self, c: &mut Carrier) -> Option<Next> {
        match c.place {
            Place::Holds(_) => return None,
            Place::Native(..) => unreachable!("carrier {} is in a native call", c.id),
            Place::None => return self.rest_without(c),
            Place::Polling => match self.idle.leave_poll(c.id) {
                Left::Took(p) => {
                    self.hold(c, p);
                    self.activated();
                    return None;
                }
                Left::Given | Left::Sleeps => c.place = Place::Sleeping,
            },
            Place::Sleeping => {}
        }
        match self.seats.at(c.id).take() {
            None => Some(Next::Sleep),
            Some(Gift::Stop) => Some(Next::End),
            Some(Gift::Processor(p, searching)) => {
                c.searching = searching;
                c.spin_budget.missed(self.host.now());
                self.hold(c, p);
                // Time has passed while it slept, and the watcher may have slept, too.
                self.read_clock();
                None
            }
        }
    }
    /// The carrier holds a processor that was given to it, or that it took off the list.
    pub(super) fn hold(&self, c: &mut Carrier, p: u32) {
        c.place = Place::Holds(p);
        c.last = p;
        self.processor(p).owner.begin(c.id);
    }

    /// Takes a thread from what the processor has, or from the injector.
    #[inline]
    fn find(&self, c: &mut Carrier, p: &Processor, number: u32) -> Option<u32> {
        if c.resume != 0 {
            let id = std::mem::replace(&mut c.resume, 0);
            // In the same slice: threads on two carriers that always unpark each other just before they are parked would never be preempted otherwise.
            return Some(self.found(c, p, id, false));
        }
        c.count = c.count.wrapping_add(1);
        let tick = self.tick.load(Relaxed);
        if tick != c.seen || c.count.is_multiple_of(LOOK_AROUND) {
            self.look_around(c, p, number, tick);
        }
        // The slot first: its thread goes on with what its waker has left in the caches. After many in succession its thread goes to the end of the
        // queue, so that threads which wake each other all the time do not keep the rest waiting.
        if p.slot() != 0 {
            if c.slot_runs < SLOT_RUNS || p.queue.is_empty() {
                if let Some(id) = p.take_slot() {
                    c.slot_runs += 1;
                    bump(&p.counters.slot_runs);
                    return Some(self.found(c, p, id, false));
                }
            } else if let Some(id) = p.take_slot() {
                self.push_local(p, id);
            }
        }
        c.slot_runs = 0;
        if let Some(id) = p.queue.pop() {
            return Some(self.found(c, p, id, true));
        }
        let id = self.take_injected(p)?;
        Some(self.found(c, p, id, true))
    }
    /// The carrier is going to run a thread.
    #[inline]
    fn found(&self, c: &mut Carrier, p: &Processor, id: u32, slice: bool) -> u32 {
        if c.searching {
            self.end_search(c);
        }
        bump(&p.counters.switches);
        p.begin_run(id, slice);
        if let Some(next) = p.queue.peek() {
            self.host.expect(next);
        }
        id
    }
    #[cold]
    fn end_search(&self, c: &mut Carrier) {
        c.searching = false;
        // It is not counted any more, so those who make threads ready look after themselves; what they did before, it looks for now.
        if self.idle.end_search()
            && self.idle.should_wake()
            && self.any_work(self.tick.load(Relaxed))
        {
            self.wake_one();
        }
    }
    /// Takes a share of the injector: one to run, the others into the queue.
    fn take_injected(&self, p: &Processor) -> Option<u32> {
        let mut buffer = [0; HALF];
        let (first, others) = self.pop_injected(p, &mut buffer).split_first()?;
        others.iter().for_each(|id| self.push_local(p, *id));
        if !others.is_empty() {
            self.notify();
        }
        Some(*first)
    }
    /// A share of the injector, of which the queue has room for half of itself: in the order in which they came there.
    fn pop_injected<'b>(&self, p: &Processor, buffer: &'b mut [u32; HALF]) -> &'b [u32] {
        let room = HALF.saturating_sub(p.queue.len() as usize);
        let share = (self.injector).pop(&mut buffer[..room], self.options.processors);
        &buffer[..share]
    }
    /// Are other threads to run on this carrier, as far as its own processor and the injector say?
    #[inline]
    pub fn others_ready(&self, c: &Carrier) -> bool {
        // (Without a processor it is in a native call, or about to wait for a processor.)
        self.held(c)
            .is_some_and(|p| p.has_work() || self.injector.len() > 0)
    }
    /// A thread that would let others run may go on at once: there are none, and nothing else is to be looked at now. It counts as one
    /// of those after which the carrier looks around.
    #[inline]
    pub fn may_go_on(&self, c: &mut Carrier) -> bool {
        let nothing = matches!(c.place, Place::Holds(_))
            && !self.others_ready(c)
            && self.tick.load(Relaxed) == c.seen
            && !c.count.wrapping_add(1).is_multiple_of(LOOK_AROUND);
        if nothing {
            c.count = c.count.wrapping_add(1);
        }
        nothing
    }
    /// What is looked at now and then, however busy the carrier is: timers that are due, descriptors, the injector.
    #[cold]
    #[inline(never)]
    fn look_around(&self, c: &mut Carrier, p: &Processor, number: u32, tick: u64) {
        let new_tick = tick != c.seen;
        c.seen = tick;
        // One batch, which fits into the queue: each of its threads takes a turn, and 61 turns later there is the next batch. Beside a long queue
        // they wait in the injector, and also behind those that wait there already: these became ready before them.
        let has_room = p.queue.len() < HALF as u64 && self.injector.len() == 0;
        let to = has_room.then_some(p);
        let mut ready = self.expire(to, number, tick, 1);
        if new_tick && !self.idle.is_polled() && self.begin_poll(tick) {
            ready += self.poll_now(to);
        }
        // One thread in the own queue has its turn without anybody's help.
        if ready > usize::from(to.is_some()) {
            self.notify();
        }
        if self.injector.len() > 0 {
            c.crowded = p.queue.len() >= HALF as u64;
            // Behind what the processor has, and in their order: a thread that was just preempted would run again before those that it kept waiting.
            if !c.crowded {
                let mut buffer = [0; HALF];
                let share = self.pop_injected(p, &mut buffer);
                share.iter().for_each(|id| self.push_local(p, *id));
                if share.len() > 1 {
                    self.notify();
                }
            }
        } else {
            c.crowded = false;
        }
    }
    /// Does this carrier poll in this tick? One does.
    pub(super) fn begin_poll(&self, tick: u64) -> bool {
        let last = self.last_poll.load(Relaxed);
        last != tick
            && self.host.has_waiters()
            && self
                .last_poll
                .compare_exchange(last, tick, Relaxed, Relaxed)
                .is_ok()
    }

    /// Looks for a thread elsewhere.
    #[cold]
    #[inline(never)]
    fn search(&self, c: &mut Carrier, p: &Processor, number: u32) -> Option<u32> {
        let tick = self.read_clock();
        let mut ready = self.expire(Some(p), number, tick, 1);
        // Before others are robbed: a descriptor that is ready costs nobody anything.
        if ready == 0 && !self.idle.is_polled() && self.host.has_waiters() {
            self.last_poll.store(tick, Relaxed);
            ready = self.poll_now(Some(p));
        }
        if ready > 0 {
            if ready > 1 {
                self.notify();
            }
            // (A thief may have been faster.)
            if let Some(id) = p.queue.pop() {
                return Some(self.found(c, p, id, true));
            }
        }
        if !c.searching {
            if !self.idle.begin_search() {
                return None;
            }
            c.searching = true;
        }
        let mut rounds = 0;
        while rounds < SEARCH_ROUNDS {
            if let Some(id) = self.search_once(c, p, number, tick) {
                return Some(self.found(c, p, id, true));
            }
            // Useful work instead of a pause: a carrier that rests while another one starts threads would be woken for the next one.
            if !self.host.prepare() {
                rounds += 1;
                std::hint::spin_loop();
            }
        }
        let id = self.spin(c, p, number)?;
        Some(self.found(c, p, id, true))
    }
    /// Looks at each other processor once, in random order, and at the injector.
    pub(super) fn search_once(
        &self,
        c: &mut Carrier,
        p: &Processor,
        number: u32,
        tick: u64,
    ) -> Option<u32> {
        let count = self.processors.len() as u32;
        let from = c.random() % count;
        // Any step that has no factor in common with the count visits all. Such steps are dense, so the next one up is near.
        let mut step = 1 + c.random() % count;
        while gcd(step, count) != 1 {
            step += 1;
        }
        let mut victim = from;
        for _ in 0..count {
            victim = (victim + step) % count;
            if victim == number {
                continue;
            }
            if let Some((id, stolen)) = self.processor(victim).queue.steal_into(&p.queue) {
                bump(&p.counters.steals);
                let all = p.counters.stolen.load(Relaxed) + u64::from(stolen);
                p.counters.stolen.store(all, Relaxed);
                return Some(id);
            }
            if self.expire(Some(p), victim, tick, 1) > 0
                && let Some(id) = p.queue.pop()
            {
                return Some(id);
            }
        }
        self.take_injected(p)
    }

    /// The thread that the carrier was told to run has left the carrier, whose own stack is in use again.
    #[inline]
    pub fn after(&self, c: &mut Carrier, id: u32, outcome: Outcome) {
        let Some(p) = self.held(c) else {
            // It came back from a native call without processor.
            return self.after_without(id, outcome);
        };
        match outcome {
            Outcome::Yield => {
                bump(&p.counters.yields);
                // The carrier takes a thread now, so there is no more work for others than before.
                match c.crowded {
                    false => self.push_local(p, id),
                    true => self.injector.push(&[id]),
                }
            }
            Outcome::Preempted => {
                bump(&p.counters.preempted);
                // What it has woken meanwhile does not go on in its slice.
                c.slot_runs = SLOT_RUNS;
                // Behind all others: those in the local queue have waited for it, and go first.
                self.injector.push(&[id]);
                self.notify();
            }
            Outcome::Park => {
                // From this exchange on the thread may be unparked, put into a queue and run by another carrier.
                if self.host.word(id).sleeps() {
                    bump(&p.counters.parks);
                } else {
                    bump(&p.counters.not_parked);
                    c.resume = id;
                }
            }
            Outcome::Requeue => {
                self.push_local(p, id);
                self.notify();
            }
            Outcome::End => bump(&p.counters.ended),
            Outcome::Waits | Outcome::HandedOver => {}
        }
    }
    /// As [`Scheduler::after`], for a carrier that has no processor.
    #[cold]
    fn after_without(&self, id: u32, outcome: Outcome) {
        let ready = match outcome {
            Outcome::Yield | Outcome::Preempted | Outcome::Requeue => true,
            Outcome::Park => !self.host.word(id).sleeps(),
            Outcome::End => {
                count(&self.shared.ended, 1);
                false
            }
            Outcome::Waits | Outcome::HandedOver => false,
        };
        if ready {
            count(&self.shared.unparks, 1);
            self.injector.push(&[id]);
            self.notify();
        }
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
