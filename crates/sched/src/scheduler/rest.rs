//! Resting, and waking those who rest. The protocol is that of `idle`; here are its parts that touch queues, seats and the host.
//!
//! # Invariants
//! * A carrier looks at all queues after it has listed its processor, and at all wheels.
//! * A processor is given to a carrier with its seat, once it is off the list. The carrier is woken after that: a poller both by the alarm, which ends its poll, and by its
//!   seat, because its poll may have ended by itself since, and it may sleep there.
use super::Scheduler;
use crate::carrier::{Gift, MAX_CARRIERS, Place};
use crate::idle::{Rest, Who};
use crate::stats::count;
use crate::sync::Ordering::Relaxed;
use crate::timers::TICK;
use crate::{Carrier, Host, Next, Wait, deadline};

impl<H: Host> Scheduler<H> {
    /// A thread was put into a queue that others look at: wakes a carrier if one is to be woken.
    #[inline]
    pub(super) fn notify(&self) {
        if self.idle.should_wake() {
            self.wake_one();
        }
    }
    /// Wakes or starts a carrier that searches, unless one searches already or no processor is idle.
    #[cold]
    pub(super) fn wake_one(&self) {
        if let Some((p, who)) = self.idle.wake() {
            self.activated();
            self.give(p, who, true);
        }
    }
    /// Gives a processor, which is on no list, to a carrier, which is on none either.
    pub(super) fn give(&self, p: u32, who: Who, searching: bool) {
        match who {
            Who::Sleeper(id) | Who::Poller(id) => {
                count(&self.shared.wakes, 1);
                // The processor's queue and slot were its last holder's; the release of the seat hands them on.
                let seat = self.seats.at(id);
                seat.give(Gift::Processor(p, searching));
                self.wake_resting(id, who);
            }
            Who::New(id) => {
                debug_assert!(id < MAX_CARRIERS);
                let mut carrier = Carrier::new(id, Place::None, searching);
                self.hold(&mut carrier, p);
                match self.host.start_carrier(carrier) {
                    Ok(()) => count(&self.shared.carriers_started, 1),
                    Err(carrier) => {
                        count(&self.shared.carriers_refused, 1);
                        self.processor(p).owner.end();
                        // What the processor has is stolen by others. The watcher tries again as long as there is work.
                        self.idle.not_started(carrier.id, p, searching);
                    }
                }
            }
        }
    }

    /// The carrier has found nothing: it gives up its processor. None: it has found something after all, and holds one.
    #[cold]
    #[inline(never)]
    pub(super) fn rest(&self, c: &mut Carrier, number: u32) -> Option<Next> {
        let p = self.processor(number);
        p.current.store(0, Relaxed);
        p.owner.end();
        let searching = std::mem::take(&mut c.searching);
        let rest = self.idle.rest(c.id, Some(number), searching);
        self.rest_as(c, rest)
    }
    /// A carrier without processor takes an idle one, or rests. None: it holds one.
    pub(super) fn rest_without(&self, c: &mut Carrier) -> Option<Next> {
        if let Some(p) = self.idle.take(c.last) {
            self.hold(c, p);
            self.activated();
            return None;
        }
        let rest = self.idle.rest(c.id, None, false);
        self.rest_as(c, rest)
    }
    /// The carrier is listed: it looks at everything once more.
    fn rest_as(&self, c: &mut Carrier, rest: Rest) -> Option<Next> {
        c.place = match rest {
            Rest::End => return Some(Next::End),
            Rest::Sleep => Place::Sleeping,
            Rest::Poll => Place::Polling,
        };
        // (`Idle::rest` has made the fence.) If the work is gone when the processor is back, the carrier searches in vain and comes here again.
        let tick = self.read_clock();
        if self.any_work(tick)
            && let Some(p) = self.idle.take_back(c.id)
        {
            c.searching = true;
            self.hold(c, p);
            self.activated();
            return None;
        }
        if rest == Rest::Poll {
            // (None: it is being given a processor. Its poll ends at once.)
            let until = self.idle.plan(c.id, || self.timers.nearest());
            return Some(Next::Poll(match until {
                Some(deadline::NEVER) => Wait::Forever,
                Some(tick) => Wait::Until(tick.saturating_mul(TICK)),
                None => Wait::Not,
            }));
        }
        self.guard_deadlines();
        // After many carriers were in native calls at once there are more than can ever hold processors.
        let keep = (self.options.processors + self.options.spare) as usize;
        if self.idle.retire(c.id, keep) {
            count(&self.shared.carriers_ended, 1);
            return Some(Next::End);
        }
        Some(Next::Sleep)
    }
    /// Who rests makes sure that somebody wakes at the nearest deadline.
    pub(super) fn guard_deadlines(&self) {
        if self.idle.is_late(|| self.timers.nearest()) {
            self.host.wake_poller();
        }
    }
    /// The poller has polled: makes ready whose descriptors are.
    pub fn polled(&self, c: &mut Carrier, ready: &mut [u32]) {
        count(&self.shared.polls, 1);
        let tick = self.read_clock();
        self.last_poll.store(tick, Relaxed);
        match ready.is_empty() {
            true => c.spin_budget.missed(self.host.now()),
            false => c.spin_budget.met(self.host.now()),
        }
        if self.wake_up_from_poll(c) {
            let slept = self.unpark_all(self.held(c), ready);
            // One it runs itself.
            if slept > 1 {
                self.notify();
            }
        } else if self.unpark_all(None, ready) > 0 {
            self.notify();
        }
    }
    /// The poller comes out of its poll. False: it has no processor.
    fn wake_up_from_poll(&self, c: &mut Carrier) -> bool {
        debug_assert_eq!(c.place, Place::Polling);
        match self.idle.leave_poll(c.id) {
            crate::idle::Left::Took(p) => {
                self.hold(c, p);
                self.activated();
                true
            }
            _ => {
                c.place = Place::Sleeping;
                false
            }
        }
    }
    /// Ends all carriers and the watcher, as soon as they have nothing to run. A carrier in [`Scheduler::wait_for_hand`] goes on waiting: whoever stops
    /// the scheduler has seen to it that no thread is bound to a carrier.
    pub fn stop(&self) {
        for who in self.idle.stop() {
            let (Who::Sleeper(id) | Who::Poller(id) | Who::New(id)) = who;
            let seat = self.seats.at(id);
            seat.give(Gift::Stop);
            self.wake_resting(id, who);
        }
        self.wake_watcher();
    }
    /// Wakes a carrier whose seat has something.
    fn wake_resting(&self, id: u32, who: Who) {
        if matches!(who, Who::Poller(_)) {
            self.host.wake_poller();
        }
        self.host.wake(self.seats.at(id).futex());
    }
}
