//! A carrier that has found nothing to run looks at descriptors for some microseconds more before it rests.
//!
//! # Why
//! Sleeping and being woken cost more than a request takes: the kernel wakes the poller, and a virtual machine its processor. A server whose clients
//! answer within that time spends it waiting for its own wake-up (of a server of plain text with 64 connections, a tenth of all time).
//!
//! # Invariants
//! * The time is bounded, and each round lets other OS threads run first, so a client on the same core is not kept from answering.
//! * It adapts to how long the carrier's waits for descriptors last ([`SpinBudget`](crate::spin_budget::SpinBudget)).
//! * The carrier is counted as searching meanwhile, so nobody wakes another one for what it will find.
use super::Scheduler;
use crate::processor::Processor;
use crate::sync::Ordering::Relaxed;
use crate::{Carrier, Host};

impl<H: Host> Scheduler<H> {
    /// Looks for a thread until the carrier's budget is used up. The carrier searches.
    pub(super) fn spin(&self, c: &mut Carrier, p: &Processor, number: u32) -> Option<u32> {
        debug_assert!(c.searching);
        c.spin_budget.begin(self.host.now());
        for _ in 0..c.spin_budget.rounds() {
            // What is ready is the poller's, if there is one.
            if self.idle.is_polled() || !self.host.has_waiters() {
                return None;
            }
            self.host.let_others_run();
            let tick = self.read_clock();
            self.last_poll.store(tick, Relaxed);
            let ready = self.poll_now(Some(p));
            if ready > 0 {
                c.spin_budget.met(self.host.now());
            }
            if ready + self.expire(Some(p), number, tick, 1) > 1 {
                self.notify();
            }
            // (A thief may have been faster.)
            let found = p.queue.pop();
            if let Some(id) = found.or_else(|| self.search_once(c, p, number, tick)) {
                return Some(id);
            }
        }
        None
    }
}
