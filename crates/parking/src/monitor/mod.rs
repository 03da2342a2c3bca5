//! Monitors: the lock and the condition variable that every object has, without what they stand on.
//!
//! # Map
//! * Here: the state of a fat monitor, and the traits that its surroundings implement: threads ([`Owner`], [`Thread`]), queues ([`Queue`]) and the
//!   table of monitors ([`Table`]). The runtime implements them with threads that park, intrusive queues and a table that never moves, and makes
//!   exceptions of the answers; the models implement them with loom's threads.
//! * [`Lock`]: an object's sync word, and the monitor that it may name.
//! * `slow_path`: taking and leaving a fat monitor for which other threads compete. `wait`: Wait and Pulse.
//!
//! ```text
//!   sync word (thin) --inflate: contention, Wait, hash--> Monitor { lock: owner, contenders, woken
//!                                                                   count: how often entered
//!                                                                   queues.entering: threads that want the lock
//!                                                                   queues.waiting:  threads that want a pulse }
//!   waiting --Pulse--> entering --the owner leaves--> woken --> owner
//! ```
//!
//! # Waits that are called again
//! A thread may leave its stack while it is parked. Then [`Thread::park`] says [`Stop::Leaves`] and keeps what it was given as [`Left`]; the call returns
//! at once, and is made again with the same arguments when the thread goes on. That call finds what was kept ([`Thread::resumed`]) and goes on behind
//! the park.
//!
//! # Invariants
//! * A monitor belongs to the one object whose sync word names it.
//! * A thread that works with a monitor across anything that may let the world stop is counted in `users`, or in `waiters` if it waits for a pulse.
//!   So while the world is stopped, a monitor without owner, users and waiters is known to its object only, and may be taken away.
//! * Only the owner writes `count` and `waiters`: a wait begins and ends with the monitor.
#[cfg(all(test, feature = "loom"))]
mod models;
mod object;
mod slow_path;
mod wait;

pub use object::{Exit, Lock};

use crate::Handoff;
use crate::sync::{AtomicU32, LeafLock, Ordering};
use vervet_abi::object::sync_word::*;

/// A queue of threads by id, and what is told to those in it. A thread is in one queue at a time.
///
/// The methods with `&mut self` are called under the lock of the queues ([`Monitor`]); [`Queue::unpark`] is called without it.
pub trait Queue: Default {
    /// Puts a thread at the end.
    fn push_back(&mut self, id: u32);
    /// Puts a thread at the front.
    fn push_front(&mut self, id: u32);
    /// Takes the first out.
    fn pop_front(&mut self) -> Option<u32>;
    /// Takes a thread out; false if it is in no queue.
    fn remove(&mut self, id: u32) -> bool;
    /// Is the thread in a queue? Asked without the lock. If it was put into one, as far as the caller has seen, then false says that it was taken out, and
    /// that whoever did it does not look at it any more.
    fn is_queued(id: u32) -> bool;
    /// Ends the thread's park, or its next one.
    fn unpark(id: u32);
    /// Notes for the thread whether it was pulsed. Under the lock of the queues.
    fn set_signalled(id: u32, value: bool);
    /// See [`Queue::set_signalled`].
    fn is_signalled(id: u32) -> bool;
}

/// The calling thread, where it only takes and leaves what is free.
pub trait Owner {
    /// Its id, not 0.
    fn id(&self) -> u32;
    /// Counts a monitor taken (+1) or given up (-1).
    fn held(&self, change: i32);
}

/// Where a wait was when its thread left its stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Left {
    /// In which of its parks.
    pub park: Park,
    /// How often the thread had entered the monitor.
    pub count: u32,
}

/// The parks of a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Park {
    /// The thread enters the monitor.
    Entering,
    /// It waits for a pulse.
    Waiting,
    /// It has waited without getting a pulse, and enters again.
    ReenteringLate,
    /// It was pulsed, and enters again.
    ReenteringPulsed,
}

/// Why a park does not go on to the next look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop<A> {
    /// The thread is alerted.
    Alerted(A),
    /// The thread leaves its stack: the caller undoes nothing and returns this. The call is made again.
    Leaves,
}

/// What a thread waits for at a monitor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// To own it.
    Enter,
    /// A pulse.
    Pulse,
}

/// The calling thread, where it may wait.
pub trait Thread: Owner {
    /// What ends a wait besides what was waited for.
    type Alert;
    /// When a wait is over.
    type Deadline: Copy;
    /// While it lives, others see that the thread waits.
    type Waiting<'t>
    where
        Self: 't;
    /// The wait that this call goes on with; None: the call begins.
    fn resumed(&self) -> Option<Left>;
    /// The end of a wait of that many milliseconds, -1: for ever. It is that of the wait that the call goes on with.
    fn deadline(&self, ms: i32) -> Self::Deadline;
    /// A wait without end.
    fn never() -> Self::Deadline;
    /// Is it over?
    fn is_over(deadline: Self::Deadline) -> bool;
    /// It begins to wait for that, until the deadline.
    fn waiting(&self, why: Why, deadline: Self::Deadline) -> Self::Waiting<'_>;
    /// Sleeps until it is unparked or the deadline is over, or for no reason. `commit` runs once, before. The world may stop. If the thread leaves its
    /// stack, `left` is kept. It is never alerted.
    fn park(
        &self,
        left: Left,
        commit: impl FnOnce(),
        deadline: Self::Deadline,
    ) -> Result<(), Stop<Self::Alert>>;
    /// The same, unless the thread is alerted before (then there is no commit) or meanwhile.
    fn park_alertable(
        &self,
        left: Left,
        commit: impl FnOnce(),
        deadline: Self::Deadline,
    ) -> Result<(), Stop<Self::Alert>>;
    /// Is it to stop waiting, and why?
    fn alert(&self) -> Option<Self::Alert>;
    /// Looks so many times whether something is so, at least once, with pauses as long as the thread with the id that `owner` says runs. The world
    /// is not stopped meanwhile.
    fn spin(turns: u32, owner: impl Fn() -> u32, wanted: impl FnMut() -> bool) -> bool;
}

/// Where fat monitors are, as one object sees it.
pub trait Table {
    /// The queues of its monitors.
    type Queue: Queue;
    /// The monitor behind a fat sync word.
    fn get(&self, index: u32) -> &Monitor<Self::Queue>;
    /// One that nobody uses, begun with that state ([`Monitor::begin`]).
    fn allocate(&self, owner: u32, count: u32, hash: u32) -> &Monitor<Self::Queue>;
    /// Takes one back that no sync word names.
    fn release(&self, monitor: &Monitor<Self::Queue>);
    /// The object's sync word names a monitor from now on.
    fn inflated(&self);
}

/// Who waits at a monitor.
#[derive(Default, Debug)]
pub(crate) struct Queues<Q> {
    /// For its lock.
    pub(crate) entering: Q,
    /// For a pulse.
    pub(crate) waiting: Q,
}

/// A fat monitor. See the module.
#[derive(Debug)]
pub struct Monitor<Q> {
    /// Its place in the table, which its object's sync word has.
    index: u32,
    /// Its owner's id, and whom it wakes.
    pub(crate) lock: Handoff,
    /// How often the owner has entered.
    pub(crate) count: AtomicU32,
    /// Identity hash, or 0.
    pub(crate) hash: AtomicU32,
    /// Threads that enter or are about to: the collector takes no monitor away that has some.
    users: AtomicU32,
    /// Threads that wait for a pulse, or have waited and do not own the monitor yet.
    waiters: AtomicU32,
    /// How many turns a thread spins before it sleeps; adapted to whether that was worth it.
    pub(crate) spin: AtomicU32,
    /// Threads that wait, and the lock of the protocol of [`Handoff`].
    pub(crate) queues: LeafLock<Queues<Q>>,
}

impl<Q: Queue> Monitor<Q> {
    /// The monitor of that index, of no object yet.
    pub fn new(index: u32) -> Monitor<Q> {
        Monitor {
            index,
            lock: Handoff::new(0),
            count: AtomicU32::new(0),
            hash: AtomicU32::new(0),
            users: AtomicU32::new(0),
            waiters: AtomicU32::new(0),
            spin: AtomicU32::new(0),
            queues: LeafLock::default(),
        }
    }
    /// No thread uses it: it begins with the state of the sync word that is going to name it.
    pub fn begin(&self, owner: u32, count: u32, hash: u32) {
        self.lock.reset(owner);
        self.count.store(count, Ordering::Relaxed);
        self.hash.store(hash, Ordering::Relaxed);
        self.spin.store(slow_path::FIRST_SPIN, Ordering::Relaxed);
    }
    /// No sync word names it any more.
    pub fn end(&self) {
        self.lock.reset(0);
        self.count.store(0, Ordering::Relaxed);
    }
    /// Its place in the table.
    pub fn index(&self) -> u32 {
        self.index
    }
    /// The sync word that names it.
    pub fn word(&self) -> u32 {
        self.index << PAYLOAD_SHIFT | KIND_FAT
    }
    /// World stopped: what the sync word of its object may be instead, if nobody owns it, enters or waits.
    pub fn deflated(&self) -> Option<u32> {
        let is_idle = self.lock.owner() == 0 && !self.has_users();
        is_idle.then(|| match self.hash.load(Ordering::Relaxed) {
            0 => 0,
            h => h << PAYLOAD_SHIFT | KIND_HASH,
        })
    }
    /// Does a thread enter or wait?
    pub fn has_users(&self) -> bool {
        self.users.load(Ordering::Acquire) != 0 || self.waiters.load(Ordering::Acquire) != 0
    }
    /// The owner begins to wait (+1), or has waited (-1).
    pub(crate) fn count_waiter(&self, change: i32) {
        let waiters = self.waiters.load(Ordering::Relaxed);
        let then = waiters.wrapping_add_signed(change);
        self.waiters.store(then, Ordering::Relaxed);
    }
    /// The calling thread may let the world stop while it works with the monitor.
    pub fn add_user(&self) {
        self.users.fetch_add(1, Ordering::SeqCst);
    }
    /// It does not use the monitor any more.
    pub fn remove_user(&self) {
        self.users.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The index in a fat sync word; None for any other word.
#[inline]
pub fn index_of(sync_word: u32) -> Option<u32> {
    (sync_word & KIND_MASK == KIND_FAT).then_some(sync_word >> PAYLOAD_SHIFT)
}
