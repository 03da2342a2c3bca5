//! Native calls and the hand-over of processors: a carrier that cannot be taken off its thread's stack does not hold up the others.
//!
//! | the carrier | its processor |
//! |---|---|
//! | calls something that may block ([`Scheduler::enter_native`]) | stays its own, until the watcher retakes it after a millisecond |
//! | computes in a native call ([`Scheduler::enter_computing`]) | stays its own for a slice |
//! | calls something that will block ([`Scheduler::enter_blocking`]) | goes to another carrier at once |
//! | comes back ([`Scheduler::leave_native`]) | is its own again, or else any idle one; if there is none, its thread is queued |
//! | comes back with a thread that cannot leave it ([`Scheduler::wait_for_hand`]) | is that of the carrier which takes the thread from the queue |
//!
//! # Invariants
//! * A processor with work that is given up goes to a carrier, woken or started. One without work is listed as idle, if somebody polls; else a carrier
//!   gets it, which then polls. After listing, the queues are looked at again.
//! * A carrier in a native call touches nothing of the processor.
use super::Scheduler;
use crate::carrier::{Gift, Place};
use crate::owner::{NativeCall, OwnerWord};
use crate::stats::count;
use crate::sync::Ordering::Relaxed;
use crate::{Carrier, Host};

impl<H: Host> Scheduler<H> {
    /// The thread on this carrier calls native code that may block. Until [`Scheduler::leave_native`] it calls nothing else here.
    #[inline]
    pub fn enter_native(&self, c: &mut Carrier) {
        self.enter(c, OwnerWord::enter_native);
    }
    /// As [`Scheduler::enter_native`], for native code that computes: to give its processor to another would make the thread wait as if its slice were over. (It may
    /// wait for a lock that a thread without a processor has, so it does not keep it for ever.)
    pub fn enter_computing(&self, c: &mut Carrier) {
        self.enter(c, OwnerWord::enter_computing);
    }
    #[inline]
    fn enter(&self, c: &mut Carrier, enter: impl FnOnce(&OwnerWord, u32, u64) -> NativeCall) {
        if let Place::Holds(p) = c.place {
            c.calls += 1;
            let call = enter(&self.processor(p).owner, c.id, c.calls);
            c.place = Place::Native(p, call);
        }
    }
    /// The thread on this carrier is going to block the carrier: another one runs the processor's threads from now on.
    pub fn enter_blocking(&self, c: &mut Carrier) {
        if let Place::Holds(number) = c.place {
            c.place = Place::None;
            let p = self.processor(number);
            p.current.store(0, Relaxed);
            p.owner.end();
            count(&self.shared.handed_over, 1);
            self.hand_off(number);
        }
    }
    /// The native call, or what blocked, is over. False: the carrier has no processor. The thread then leaves the carrier and says
    /// [`Outcome::Requeue`](crate::Outcome::Requeue), or it calls [`Scheduler::wait_for_hand`].
    #[inline]
    pub fn leave_native(&self, c: &mut Carrier, id: u32) -> bool {
        match c.place {
            Place::Native(p, call) => {
                // The usual end: one exchange. The processor's queue and slot are as the carrier left them.
                if self.processor(p).owner.leave_native(call) {
                    c.place = Place::Holds(p);
                    return true;
                }
                c.place = Place::None;
                c.retaken = true;
            }
            Place::None => {}
            _ => return true,
        }
        self.find_processor(c, id)
    }
    /// Takes an idle processor and goes on with thread `id`.
    #[cold]
    fn find_processor(&self, c: &mut Carrier, id: u32) -> bool {
        match self.idle.take(c.last) {
            Some(p) => {
                self.hold(c, p);
                self.activated();
                self.processor(p).begin_run(id, true);
                true
            }
            None => {
                count(&self.shared.lost, 1);
                false
            }
        }
    }
    /// Queues a thread that can run on this carrier only. The carrier sleeps until [`Scheduler::is_given`], and calls [`Scheduler::take_hand`].
    pub fn wait_for_hand(&self, c: &mut Carrier, id: u32) {
        debug_assert_eq!(c.place, Place::None);
        // It keeps an OS thread waiting, and may have what others wait for.
        self.injector.push_urgent(id);
        self.notify();
    }
    /// As [`Scheduler::wait_for_hand`], for a thread that lets others run: it goes behind them.
    /// A thread that yields is not urgent: if it were, it would come back before the threads for which it made room.
    pub fn yield_for_hand(&self, c: &mut Carrier, id: u32) {
        debug_assert_eq!(c.place, Place::None);
        self.injector.push(&[id]);
        self.notify();
    }
    /// A carrier that was told to run thread `id`, which can run on carrier `to` only, gives `to` its processor. It says
    /// [`Outcome::HandedOver`](crate::Outcome::HandedOver) after that.
    pub fn hand_to(&self, c: &mut Carrier, to: u32, id: u32) {
        let Place::Holds(number) = c.place else {
            unreachable!("carrier {} was told to run a thread", c.id);
        };
        c.place = Place::None;
        let p = self.processor(number);
        p.owner.end();
        p.begin_run(id, true);
        // `to` is on no list: it waits for just this, and the injector gave its thread to one carrier only.
        let seat = self.seats.at(to);
        seat.give(Gift::Processor(number, false));
        self.host.wake(seat.futex());
    }
    /// The carrier that waited for it takes the processor. False: there is none yet.
    pub fn take_hand(&self, c: &mut Carrier) -> bool {
        match self.seats.at(c.id).take() {
            Some(Gift::Processor(p, _)) => {
                self.hold(c, p);
                true
            }
            _ => false,
        }
    }
    /// The watcher's: takes a processor from a carrier that is in that call.
    pub(crate) fn retake(&self, number: u32, call: NativeCall) {
        let p = self.processor(number);
        if p.owner.retake(call) {
            p.current.store(0, Relaxed);
            count(&self.shared.retaken, 1);
            self.hand_off(number);
        }
    }
    /// Gives away a processor that the caller holds without being listed.
    fn hand_off(&self, number: u32) {
        let p = self.processor(number);
        // What is in the slot cannot be stolen, so a processor with a full slot is not listed.
        let work = p.has_work() || self.injector.len() > 0;
        if (work || !self.idle.list_if_polled(number))
            && let Some(who) = self.idle.assign(number)
        {
            return self.give(number, who, false);
        }
        // It is listed: what was made ready before others could see that is looked for.
        if self.idle.should_wake() && self.any_work(self.tick.load(Relaxed)) {
            self.wake_one();
        }
        self.guard_deadlines();
    }
}
