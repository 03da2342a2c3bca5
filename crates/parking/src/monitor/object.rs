//! An object's lock: its sync word, and the monitor that the word may name.
//!
//! # Invariants
//! * The word changes by compare-and-swap only: from free to thin and back by the thread itself, to fat by any thread. Only the collector deflates a
//!   monitor, with the world stopped.
//! * A thread that inflates copies owner, count and hash from the very word that it replaces, so an owner that comes to leave a thin lock and finds it
//!   fat finds its own state there.
//! * Between reading a fat word and being counted in the monitor's `users` a thread does not let the world stop; so the monitor that the word named
//!   stays the object's. A thread that has waited is among its `waiters` until it owns the monitor again.
use super::slow_path::{Entry, Missed, Place};
use super::{Left, Monitor, Owner, Park, Stop, Table, Thread, index_of};
use crate::sync::{AtomicU32, Ordering};
use crate::thin::{self, Step};
use vervet_abi::object::sync_word::*;
use vervet_os::perturb;

/// How long a thin lock of another thread is watched before it is inflated.
const THIN_SPIN: u32 = 8;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Lock<'l, T> {
    /// The object's sync word.
    pub word: &'l AtomicU32,
    /// Where its monitor is if it has one.
    pub table: &'l T,
}

/// How [`Lock::exit_fast`] went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Exit {
    /// Nothing was done.
    Not = 0,
    /// The monitor is left once.
    Done = 1,
    /// It is free, and a thread that enters it has come meanwhile: [`Lock::wake`].
    Wake = 2,
}

impl<'l, T: Table> Lock<'l, T> {
    /// The object's fat monitor, made if need be; its state is what the sync word said.
    fn fat(&self) -> &'l Monitor<T::Queue> {
        loop {
            let v = self.word.load(Ordering::Acquire);
            let Some((owner, count, hash)) = thin::state(v) else {
                return self.table.get(v >> PAYLOAD_SHIFT);
            };
            let monitor = self.table.allocate(owner, count, hash);
            perturb::here();
            if thin::exchange(self.word, v, monitor.word()) {
                perturb::here();
                self.table.inflated();
                return monitor;
            }
            self.table.release(monitor);
        }
    }
    fn fat_if_inflated(&self) -> Option<&'l Monitor<T::Queue>> {
        let index = index_of(self.word.load(Ordering::Acquire))?;
        Some(self.table.get(index))
    }

    /// Enters within that many milliseconds (-1: for ever, 0: only what is free); false if that was not possible.
    pub fn enter<H: Thread>(&self, thread: &H, ms: i32) -> Result<bool, Stop<H::Alert>> {
        let me = thread.id();
        if thread.resumed().is_some() {
            // It is a user of the monitor, so the word names that still.
            return Self::enter_slowly(self.fat(), thread, ms, Place::Parked);
        }
        loop {
            match thin::enter(self.word, me) {
                Step::Changed => {
                    thread.held(1);
                    return Ok(true);
                }
                Step::Counted => return Ok(true),
                Step::Other(v) => match v & KIND_MASK {
                    KIND_FAT => return self.enter_fat(v >> PAYLOAD_SHIFT, thread, ms),
                    KIND_THIN if v >> OWNER_SHIFT != me => {
                        if ms == 0 {
                            return Ok(false);
                        }
                        if !H::spin(
                            THIN_SPIN,
                            || v >> OWNER_SHIFT,
                            || self.word.load(Ordering::Relaxed) != v,
                        ) {
                            self.fat();
                        }
                    }
                    _ => {
                        self.fat();
                    }
                },
            }
        }
    }

    fn enter_fat<H: Thread>(
        &self,
        index: u32,
        thread: &H,
        ms: i32,
    ) -> Result<bool, Stop<H::Alert>> {
        let (m, me) = (self.table.get(index), thread.id());
        if m.lock.is_own(me) {
            m.count.fetch_add(1, Ordering::Relaxed);
            return Ok(true);
        }
        if !m.try_lock(me) {
            if ms == 0 {
                return Ok(false);
            }
            if !m.spin_for::<H>(me) {
                m.add_user();
                return Self::enter_slowly(m, thread, ms, Place::Outside);
            }
        }
        thread.held(1);
        Ok(true)
    }

    /// The thread is a user of the monitor: until it has it, or gives up.
    fn enter_slowly<H: Thread>(
        m: &Monitor<T::Queue>,
        thread: &H,
        ms: i32,
        from: Place,
    ) -> Result<bool, Stop<H::Alert>> {
        let entry = Entry {
            alertable: true,
            deadline: thread.deadline(ms),
            left: Left {
                park: Park::Entering,
                count: 0,
            },
            from,
        };
        let result = m.lock(thread, entry);
        if let Err(Missed::Stopped(Stop::Leaves)) = result {
            return Err(Stop::Leaves);
        }
        m.remove_user();
        match result {
            Ok(()) => {
                thread.held(1);
                Ok(true)
            }
            Err(Missed::Late) => Ok(false),
            Err(Missed::Stopped(stop)) => Err(stop),
        }
    }

    /// Leaves it; false if the thread does not own it.
    pub fn exit(&self, thread: &impl Owner) -> bool {
        let me = thread.id();
        match thin::exit(self.word, me) {
            Step::Changed => thread.held(-1),
            Step::Counted => {}
            Step::Other(v) => match index_of(v).map(|i| self.table.get(i)) {
                Some(m) if m.lock.is_own(me) => match m.count.load(Ordering::Relaxed) {
                    1 => {
                        thread.held(-1);
                        m.unlock();
                    }
                    n => m.count.store(n - 1, Ordering::Relaxed),
                },
                _ => return false,
            },
        }
        true
    }

    /// Enters if it is free or the thread's own, without lock or memory. False: the long way.
    #[inline]
    pub fn enter_fast(&self, thread: &impl Owner) -> bool {
        let me = thread.id();
        match thin::enter(self.word, me) {
            Step::Changed => {
                thread.held(1);
                true
            }
            Step::Counted => true,
            Step::Other(v) => match index_of(v).map(|i| self.table.get(i)) {
                Some(m) if m.lock.is_own(me) => {
                    let count = m.count.load(Ordering::Relaxed) + 1;
                    m.count.store(count, Ordering::Relaxed);
                    true
                }
                Some(m) => {
                    let taken = m.try_lock(me);
                    if taken {
                        thread.held(1);
                    }
                    taken
                }
                None => false,
            },
        }
    }

    /// Leaves it, if nobody has to be woken for that by all one can see.
    #[inline]
    pub fn exit_fast(&self, thread: &impl Owner) -> Exit {
        let me = thread.id();
        match thin::exit(self.word, me) {
            Step::Changed => {
                thread.held(-1);
                Exit::Done
            }
            Step::Counted => Exit::Done,
            Step::Other(v) => match index_of(v).map(|i| self.table.get(i)) {
                Some(m) if m.lock.is_own(me) && m.lock.is_uncontended() => {
                    let count = m.count.load(Ordering::Relaxed) - 1;
                    m.count.store(count, Ordering::Relaxed);
                    if count != 0 {
                        return Exit::Done;
                    }
                    thread.held(-1);
                    match m.lock.give_up() {
                        true => Exit::Wake,
                        false => Exit::Done,
                    }
                }
                _ => Exit::Not,
            },
        }
    }

    /// Wakes a thread that enters the monitor, if none has been woken yet.
    pub fn wake(&self) {
        // Whoever enters is a user of the monitor, or one of its waiters, so it is still there if it is needed.
        if let Some(m) = self.fat_if_inflated() {
            m.wake_next();
        }
    }

    /// The owner waits for a pulse, at most that many milliseconds (-1: for ever); false if none came before that or an alert. The error is
    /// [`Stop::Leaves`].
    pub fn wait<H: Thread>(&self, thread: &H, ms: i32) -> Result<bool, Stop<H::Alert>> {
        self.fat().wait(thread, ms)
    }
    /// The owner lets the first waiter go on, or all of them, once it leaves.
    pub fn pulse(&self, all: bool) {
        // Who waits has inflated it.
        if let Some(m) = self.fat_if_inflated() {
            m.pulse(all);
        }
    }

    /// Who owns it: (owner id or 0, recursion count).
    pub fn owner(&self) -> (u32, u32) {
        let v = self.word.load(Ordering::Acquire);
        match thin::state(v) {
            Some((owner, count, _)) => (owner, count),
            None => {
                let m = self.table.get(v >> PAYLOAD_SHIFT);
                (m.lock.owner(), m.count.load(Ordering::Relaxed))
            }
        }
    }

    /// The object's identity hash: made once, kept in the sync word or in its monitor.
    pub fn hash(&self, fresh: impl Fn() -> u32) -> u32 {
        loop {
            let v = self.word.load(Ordering::Acquire);
            match v & KIND_MASK {
                KIND_HASH => return v >> PAYLOAD_SHIFT,
                KIND_FAT => {
                    let hash = &self.table.get(v >> PAYLOAD_SHIFT).hash;
                    match hash.load(Ordering::Acquire) {
                        0 => {}
                        h => return h,
                    }
                    let new = fresh();
                    let first = hash.compare_exchange(0, new, Ordering::AcqRel, Ordering::Acquire);
                    return first.map_or_else(|h| h, |_| new);
                }
                _ if v == 0 => {
                    let h = fresh();
                    if thin::exchange(self.word, 0, h << PAYLOAD_SHIFT | KIND_HASH) {
                        return h;
                    }
                }
                _ => {
                    self.fat();
                }
            }
        }
    }
}
