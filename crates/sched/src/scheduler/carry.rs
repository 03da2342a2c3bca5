//! The loops of the OS threads: carriers and the watcher. A simulation has loops of its own.
use super::Scheduler;
use crate::watcher::{Pause, Watcher};
use crate::{Carrier, Next, Runner};

impl<H: Runner> Scheduler<H> {
    /// Runs green threads until the carrier is told to end. The OS thread that [`Host::start_carrier`](crate::Host::start_carrier) has started calls this.
    pub fn carry(&self, mut carrier: Carrier) {
        let c = &mut carrier;
        loop {
            match self.next(c) {
                Next::Run(id) => {
                    let outcome = self.host().run(c, id);
                    self.after(c, id, outcome);
                }
                Next::Sleep => self.sleep(c),
                Next::Poll(wait) => {
                    let mut ready = smallvec::SmallVec::<[u32; 64]>::new();
                    self.host().poll(wait, &mut |id| ready.push(id));
                    self.polled(c, &mut ready);
                }
                Next::End => return,
            }
        }
    }
    /// Sleeps until the carrier is given something.
    pub fn sleep(&self, c: &Carrier) {
        let seat = self.seats.at(c.id);
        while !seat.is_given() {
            vervet_os::futex::wait(seat.futex(), 0, None);
        }
    }
    /// Watches the processors until [`Scheduler::stop`]. One OS thread calls this.
    pub fn watch(&self) {
        let mut watcher = Watcher::new(self.processors.len());
        loop {
            let seen = self.watcher_word();
            let limit = match self.step_watcher(&mut watcher) {
                Pause::For(ns) => Some(std::time::Duration::from_nanos(ns)),
                Pause::UntilActive => None,
                Pause::End => return,
            };
            match limit {
                Some(limit) => vervet_os::futex::wait(&self.watcher, seen, Some(limit)),
                None => self.sleep_watcher(),
            }
        }
    }
    fn sleep_watcher(&self) {
        while self.watcher_word() == super::watch::ASLEEP {
            vervet_os::futex::wait(&self.watcher, super::watch::ASLEEP, None);
        }
    }
}
