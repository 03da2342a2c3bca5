//! The watcher's hands: what it sees of the processors, and how its decisions (`watcher`) are carried out.
//!
//! # When it sleeps
//! ```text
//!   the watcher                                   a carrier that takes a processor off the idle list
//!   --------------------------------------------  ---------------------------------------------------
//!   word = ASLEEP                                 (the count of idle processors has changed)
//!   fence                                         fence
//!   all processors idle? sleeps                   word = ASLEEP? word = AWAKE, wakes the watcher
//! ```
//! So the watcher does not sleep while a processor is in use, and a process in which no green thread runs has nobody who wakes up.
//!
//! # Invariants
//! * The watcher holds no processor. What it makes ready goes to the injector.
//! * It sleeps only if all processors were idle for a while, so that short rests cost no wake-up.
use super::Scheduler;
use crate::Host;
use crate::owner::Owner;
use crate::stats::count;
use crate::sync::{
    Ordering::{Acquire, Relaxed, SeqCst},
    fence,
};
use crate::timers::TICK;
use crate::watcher::{Action, Holder, Overview, Pause, View, Watcher};

/// Batches of expired timers that the watcher handles in a step: some milliseconds' work at most, since it has other things to do.
const EXPIRE: u32 = 64;

/// The watcher's word while it runs or sleeps for a tick.
const AWAKE: u32 = 0;
/// The watcher's word while it sleeps until a carrier runs.
pub(super) const ASLEEP: u32 = 1;

impl<H: Host> Scheduler<H> {
    /// A processor was taken off the idle list: the watcher is to watch it.
    #[inline]
    pub(super) fn activated(&self) {
        fence(SeqCst);
        if self.watcher.load(Relaxed) == ASLEEP {
            self.wake_watcher();
        }
    }
    pub(super) fn wake_watcher(&self) {
        if self.watcher.swap(AWAKE, SeqCst) == ASLEEP {
            self.host.wake(&self.watcher);
        }
    }
    /// What the watcher sees of a processor.
    fn view(&self, number: usize, tick: u64) -> View {
        let p = &self.processors[number];
        View {
            holder: match p.owner.get() {
                Owner::Free => Holder::Nobody,
                Owner::Running(carrier) => Holder::Running(carrier),
                Owner::Native(call) => Holder::Native(call),
            },
            slice: p.slices.load(Relaxed),
            current: p.current.load(Relaxed),
            slot: p.slot(),
            queued: !p.queue.is_empty(),
            due: tick.saturating_sub(self.timers.nearest_of(number as u32).saturating_sub(1)),
        }
    }
    /// One step of the watcher: looks at everything, and does what is to be done. How long it may sleep then.
    pub fn step_watcher(&self, watcher: &mut Watcher) -> Pause {
        if self.idle.is_stopped() {
            return Pause::End;
        }
        let now = self.host.now();
        let tick = self.read_clock();
        let summary = self.idle.summary();
        let overview = Overview {
            now,
            idle: summary.idle,
            searching: summary.searching,
            polled: self.idle.is_polled(),
            injected: self.injector.len() > 0,
            // Those who wait for descriptors or deadlines.
            waiters: self.host.has_waiters(),
            unpolled: tick.saturating_sub(self.last_poll.load(Relaxed)),
        };
        let views: Vec<View> = (0..self.processors.len())
            .map(|number| self.view(number, tick))
            .collect();
        let mut actions = Vec::new();
        let pause = watcher.step(&overview, &views, &mut actions);
        for action in actions {
            self.carry_out(action, &views, tick);
        }
        if pause == Pause::UntilActive && !self.may_sleep() {
            return Pause::For(TICK);
        }
        pause
    }
    fn carry_out(&self, action: Action, views: &[View], tick: u64) {
        match action {
            Action::Preempt(number) => {
                let view = &views[number as usize];
                if let Some(carrier) = view.holder.carrier() {
                    count(&self.shared.preempt_requests, 1);
                    self.host.preempt(carrier, view.current);
                }
            }
            Action::Retake(number) => {
                if let Holder::Native(call) = views[number as usize].holder {
                    self.retake(number, call);
                }
            }
            Action::FlushSlot(number) => {
                let id = views[number as usize].slot;
                if self.processor(number).flush_slot(id) {
                    count(&self.shared.slots_flushed, 1);
                    self.injector.push(&[id]);
                    self.notify();
                }
            }
            Action::Expire(number) => {
                if self.expire(None, number, tick, EXPIRE) > 0 {
                    self.notify();
                }
            }
            Action::Poll => {
                if self.begin_poll(tick) && self.poll_now(None) > 0 {
                    self.notify();
                }
            }
            Action::Wake => self.wake_one(),
        }
    }
    /// The watcher has seen nothing to do for a while: may it sleep until a carrier runs?
    pub(crate) fn may_sleep(&self) -> bool {
        self.watcher.store(ASLEEP, SeqCst);
        fence(SeqCst);
        let all_idle = self.idle.summary().idle == self.options.processors;
        if all_idle && self.injector.len() == 0 && !self.idle.is_stopped() {
            return true;
        }
        self.watcher.store(AWAKE, SeqCst);
        false
    }
    /// Does the watcher sleep until a carrier runs?
    pub fn is_watcher_asleep(&self) -> bool {
        self.watcher.load(Acquire) == ASLEEP
    }
}
