//! Processors and carriers that have nothing to do, and how one of them is woken when a thread is made ready.
//!
//! # The protocol
//! ```text
//!   making a thread ready                        going to rest
//!   -------------------------------------------  -----------------------------------------------------
//!   put it into a queue                          list the processor as idle; searching -= 1 if it was
//!   fence                                        fence
//!   summary: idle > 0 and searching = 0?         look at all queues: anything there?
//!     wake one carrier, counted as searching       take a processor back and go on
//! ```
//! Each side stores and then looks, with a fence between. So either the one who makes the thread ready sees the idle processor and wakes a
//! carrier, or the carrier that goes to rest sees the thread. If the former sees a searching carrier instead, that one will find the thread, or
//! will end its search by the right-hand column. A carrier that finds something and was the last that searched looks for more work by the
//! same fence and wakes the next. So carriers are woken one after another, and only while there is work.
//!
//! # Who does what when idle
//! One resting carrier is the *poller*: it waits for descriptors and for the nearest deadline. All others sleep on their seats.
//!
//! ```text
//!   poller          meaning                                          changes to
//!   --------------  -----------------------------------------------  ----------------------------------------------------
//!   0               nobody polls                                     c, when c rests
//!   c               c polls, or is about to, or has just polled      0, by c; c + LEAVING, by who gives it a processor
//!   c + LEAVING     c is being woken, and may still be in its poll   0, by c, when it has come out of it
//! ```
//! The role is not free before its holder has come out of its poll. Otherwise two carriers would wait at once, and one of them could take the
//! wake-up that was meant for the other.
//!
//! # Invariants
//! * The count of idle processors in `summary` and the lists change together, under the lock. The count of searching carriers changes at any time.
//! * A processor is held by a carrier, or is listed here, or is on its way (taken off the list, and about to be put onto a seat). It is never two of
//!   these.
//! * A carrier that is listed as a sleeper or as the poller is given a processor by whoever takes it off the list, once.
//! * If all processors are listed, somebody is the poller: who would list a processor without being listed makes sure of that
//!   ([`Idle::list_if_polled`]).
use crate::carrier::MAX_CARRIERS;
use crate::deadline::PLANNING;
use crate::sync::{
    AtomicU32, AtomicU64, LeafLock,
    Ordering::{Relaxed, SeqCst},
    Padded, fence,
};

/// One idle processor in `summary`, whose high half counts them; the low half counts searching carriers.
const IDLE: u32 = 1 << 16;
/// Of `poller`: its holder is being woken.
const LEAVING: u32 = 1 << 31;

/// The counts at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Summary {
    pub(crate) idle: u32,
    pub(crate) searching: u32,
}

/// The carrier that is to hold a processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Who {
    /// It sleeps on its seat.
    Sleeper(u32),
    /// It waits for descriptors.
    Poller(u32),
    /// It is to be started.
    New(u32),
}

/// How a carrier rests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rest {
    Sleep,
    Poll,
    /// The scheduler has stopped.
    End,
}

/// What a carrier that stops polling has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Left {
    /// Somebody has filled its seat, or is about to.
    Given,
    /// An idle processor.
    Took(u32),
    /// Nothing: there is no idle processor. It is listed as a sleeper.
    Sleeps,
}

#[derive(Default, Debug)]
pub(crate) struct Lists {
    /// Idle processors. The last one listed is the first to be used: its caches are warm.
    processors: Vec<u32>,
    /// Sleeping carriers, likewise.
    sleepers: Vec<u32>,
    /// Ids of carriers that have ended.
    free_ids: Vec<u32>,
    /// How many ids were ever given out.
    ids: u32,
    stopped: bool,
}

/// See the module.
pub(crate) struct Idle {
    summary: Padded<AtomicU32>,
    /// The poller's id, 0 if there is none. It changes under the lock.
    pub(crate) poller: AtomicU32,
    /// Until which tick the poller sleeps; see `deadline`. The poller changes it under the lock.
    pub(crate) until: AtomicU64,
    pub(crate) lists: LeafLock<Lists>,
    /// How many processors there are.
    count: u32,
    /// Carriers there are at most.
    limit: u32,
}

impl Lists {
    /// A carrier that can be given a processor; None: all that there may be are busy.
    fn pick(&mut self, idle: &Idle) -> Option<Who> {
        if let Some(id) = self.sleepers.pop() {
            return Some(Who::Sleeper(id));
        }
        idle.take_poller()
            .or_else(|| self.new_id(idle.limit).map(Who::New))
    }
    fn new_id(&mut self, limit: u32) -> Option<u32> {
        self.free_ids.pop().or_else(|| {
            (self.ids < limit).then(|| {
                self.ids += 1;
                self.ids
            })
        })
    }
}

impl Idle {
    /// All processors are idle, and there are no carriers.
    pub(crate) fn new(count: u32, limit: u32) -> Idle {
        Idle {
            summary: Padded(AtomicU32::new(count * IDLE)),
            poller: AtomicU32::new(0),
            until: AtomicU64::new(PLANNING),
            lists: LeafLock::new(Lists {
                processors: (0..count).rev().collect(),
                ..Lists::default()
            }),
            count,
            limit: limit.clamp(1, MAX_CARRIERS - 1),
        }
    }
    /// The counts; a hint but after a fence.
    #[inline]
    pub(crate) fn summary(&self) -> Summary {
        let word = self.summary.load(Relaxed);
        Summary {
            idle: word / IDLE,
            searching: word % IDLE,
        }
    }
    /// Adds to both counts.
    fn change(&self, idle: i32, searching: i32) -> Summary {
        let by = (idle as u32)
            .wrapping_mul(IDLE)
            .wrapping_add(searching as u32);
        let before = self.summary.fetch_add(by, SeqCst);
        Summary {
            idle: before / IDLE,
            searching: before % IDLE,
        }
    }
    /// Takes the poller off its list, under the lock; None: there is none, or it is off already.
    fn take_poller(&self) -> Option<Who> {
        let id = self.poller.load(Relaxed);
        (id != 0 && id & LEAVING == 0).then(|| {
            self.poller.store(id | LEAVING, Relaxed);
            // It will run, and then looks at the deadlines itself.
            self.until.store(PLANNING, Relaxed);
            Who::Poller(id)
        })
    }
    /// Has a carrier the role of the poller?
    #[inline]
    pub(crate) fn is_polled(&self) -> bool {
        self.poller.load(Relaxed) != 0
    }
    /// A thread was made ready: is a carrier to be woken for it?
    #[inline]
    pub(crate) fn should_wake(&self) -> bool {
        fence(SeqCst);
        let now = self.summary();
        now.idle > 0 && now.searching == 0
    }
    /// Takes an idle processor and a carrier for it, which is counted as searching from now on. None: no processor is idle, a carrier searches
    /// already, or there can be no more carriers.
    pub(crate) fn wake(&self) -> Option<(u32, Who)> {
        let mut lists = self.lists.lock();
        // Looked at again: of several that make threads ready at once one wakes a carrier, and the others see it searching. (A carrier may begin to
        // search by itself meanwhile; then there are two.)
        let now = self.summary();
        if now.idle == 0 || now.searching > 0 || lists.stopped {
            return None;
        }
        let who = lists.pick(self)?;
        let processor = lists.processors.pop().expect("as many as are counted");
        self.change(-1, 1);
        Some((processor, who))
    }
    /// Finds a carrier for a processor that its holder gives up with work in it. None: there can be no more carriers; the processor is listed.
    pub(crate) fn assign(&self, processor: u32) -> Option<Who> {
        let mut lists = self.lists.lock();
        let who = match lists.stopped {
            true => None,
            false => lists.pick(self),
        };
        if who.is_none() {
            lists.processors.push(processor);
            self.change(1, 0);
        }
        who
    }
    /// Lists a processor whose holder does not rest. False, and it is not listed: nobody polls, so a carrier has to be found that will.
    pub(crate) fn list_if_polled(&self, processor: u32) -> bool {
        let mut lists = self.lists.lock();
        let listed = self.is_polled() || lists.stopped;
        if listed {
            lists.processors.push(processor);
            self.change(1, 0);
        }
        listed
    }
    /// A carrier could not be started: its processor is idle, and it searches no more.
    pub(crate) fn not_started(&self, carrier: u32, processor: u32, searching: bool) {
        let mut lists = self.lists.lock();
        lists.free_ids.push(carrier);
        lists.processors.push(processor);
        self.change(1, -i32::from(searching));
    }
    /// Begins to search, unless half of the busy processors' carriers do: more would only get into each other's way.
    pub(crate) fn begin_search(&self) -> bool {
        // Not one step: of two that look at once both may begin. Only the count has to be exact, not the limit.
        let now = self.summary();
        let may = 2 * now.searching < self.count - now.idle;
        if may {
            self.change(0, 1);
        }
        may
    }
    /// The carrier has found something. True: nobody searches now, so it has to look whether there is more.
    pub(crate) fn end_search(&self) -> bool {
        self.change(0, -1).searching == 1
    }
    /// The carrier rests and gives up its processor, if it holds one; its search ends too. It then looks at all queues.
    pub(crate) fn rest(&self, carrier: u32, processor: Option<u32>, searching: bool) -> Rest {
        let rest = {
            let mut lists = self.lists.lock();
            lists.processors.extend(processor);
            self.change(i32::from(processor.is_some()), -i32::from(searching));
            if lists.stopped {
                lists.free_ids.push(carrier);
                Rest::End
            } else if processor.is_some() && !self.is_polled() {
                self.until.store(PLANNING, Relaxed);
                self.poller.store(carrier, Relaxed);
                Rest::Poll
            } else {
                lists.sleepers.push(carrier);
                Rest::Sleep
            }
        };
        fence(SeqCst);
        rest
    }
    /// A resting carrier has found work: it takes itself off the list, with an idle processor, and searches. None: there is no idle processor, or
    /// its seat is being filled.
    pub(crate) fn take_back(&self, carrier: u32) -> Option<u32> {
        let mut lists = self.lists.lock();
        let polls = self.poller.load(Relaxed) == carrier;
        let at = lists.sleepers.iter().rposition(|c| *c == carrier);
        if lists.processors.is_empty() || !polls && at.is_none() {
            return None;
        }
        match at {
            Some(at) => _ = lists.sleepers.remove(at),
            None => self.poller.store(0, Relaxed),
        }
        self.change(-1, 1);
        lists.processors.pop()
    }
    /// The poller has polled: it takes an idle processor, or sleeps.
    pub(crate) fn leave_poll(&self, carrier: u32) -> Left {
        let mut lists = self.lists.lock();
        // With LEAVING: somebody has given it a processor, or will as soon as this lock is free. Its seat says which.
        let given = self.poller.load(Relaxed) != carrier;
        self.poller.store(0, Relaxed);
        if given {
            return Left::Given;
        }
        match lists.processors.pop() {
            Some(processor) => {
                self.change(-1, 0);
                Left::Took(processor)
            }
            None => {
                lists.sleepers.push(carrier);
                Left::Sleeps
            }
        }
    }
    /// A carrier that is not listed takes an idle processor, `last` if that is one.
    pub(crate) fn take(&self, last: u32) -> Option<u32> {
        if self.summary().idle == 0 {
            return None;
        }
        let mut lists = self.lists.lock();
        if let Some(at) = lists.processors.iter().position(|p| *p == last) {
            let end = lists.processors.len() - 1;
            lists.processors.swap(at, end);
        }
        let processor = lists.processors.pop()?;
        self.change(-1, 0);
        Some(processor)
    }
    /// A sleeping carrier of which there are more than `keep` may end: takes it off the list. False: it is being given a processor, or is needed.
    pub(crate) fn retire(&self, carrier: u32, keep: usize) -> bool {
        let mut lists = self.lists.lock();
        if lists.sleepers.len() <= keep {
            return false;
        }
        let Some(at) = lists.sleepers.iter().rposition(|c| *c == carrier) else {
            return false;
        };
        lists.sleepers.remove(at);
        lists.free_ids.push(carrier);
        true
    }
    /// Nobody rests any more: all that do are taken off the list, and have to be told.
    pub(crate) fn stop(&self) -> Vec<Who> {
        let mut lists = self.lists.lock();
        lists.stopped = true;
        let mut all: Vec<Who> = lists.sleepers.drain(..).map(Who::Sleeper).collect();
        all.extend(self.take_poller());
        all
    }
    /// Has it been stopped?
    pub(crate) fn is_stopped(&self) -> bool {
        self.lists.lock().stopped
    }
}
