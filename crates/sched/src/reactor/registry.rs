//! Which threads wait for which descriptors.
//!
//! # How it works
//! A descriptor is registered once, for all its life, and its events are *edges*: they say that something has changed. An entry counts the edges
//! of each direction. A thread that wants to read takes the count ([`Registry::ticket`]), tries, and, if the descriptor is not ready, waits with
//! what it took. If an edge has come since, it does not wait but tries again.
//!
//! ```text
//!   thread                                   poller
//!   ---------------------------------------  ----------------------------------------------
//!   ticket = edges
//!   read: EAGAIN
//!                                            lock; edges += 1; takes all that wait; unlock
//!   lock; edges == ticket? queue; unlock     unparks them
//!   parks
//! ```
//!
//! # Why edges, and why all are woken
//! Oneshot events would cost a system call for each wait, to arm the descriptor again. An edge says nothing of how much is ready: if one of several
//! waiting threads were woken, and left something over, no edge would follow for the others. So all are woken, and all try.
//!
//! # Invariants
//! * An edge that comes after a thread's ticket wakes the thread or keeps it from waiting. The count and the queue change under one lock.
//! * A registration has a generation. [`Registry::remove`] ends it: those who wait are woken, and events, tickets and waits with the old generation find
//!   that it is over. So neither an event that the kernel has reported already nor a thread that comes late touches the next descriptor
//!   with the same entry.
//! * A thread waits in one queue at most. `waits_at` names it, and is 0 if there is none; it changes under the lock of the entry that it names.
use crate::sync::{
    AtomicU32, LeafLock,
    Ordering::{Acquire, Relaxed, Release},
};
use crate::table::{Table, Zeroed};
use smallvec::SmallVec;

/// What a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Something to read, or a connection to accept.
    Read,
    /// Room to write, or a connection that is made.
    Write,
}

/// A descriptor that is registered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Registration {
    pub(super) entry: u32,
    pub(super) generation: u32,
}

impl Registration {
    /// As the number that the kernel keeps.
    pub(super) fn number(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.entry)
    }
    /// As a word that is not 0.
    pub fn pack(self) -> u64 {
        self.number() + 1
    }
    /// What [`Registration::pack`] made of it; None for 0.
    pub fn unpack(word: u64) -> Option<Registration> {
        word.checked_sub(1).map(Registration::of)
    }
    pub(super) fn of(number: u64) -> Registration {
        Registration {
            entry: number as u32,
            generation: (number >> 32) as u32,
        }
    }
}

/// How many edges a thread knows of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket(u32);

/// What a thread that wants to wait does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waits {
    /// It parks; it is in the queue.
    Queued,
    /// It tries again: something has changed.
    Again,
    /// The registration is over.
    Closed,
}

/// Threads that are woken; one or two in most cases.
type Ids = SmallVec<[u32; 4]>;

/// Threads that wait in one direction: a list through `links`.
#[derive(Default, Debug)]
struct Queue {
    edges: u32,
    first: u32,
}

#[derive(Default, Debug)]
struct Inner {
    generation: u32,
    /// Of read and write.
    queues: [Queue; 2],
}

/// What is known of a registration. An entry is used again for another one, of the next generation.
#[derive(Default)]
struct Entry(LeafLock<Inner>);

#[cfg(not(feature = "loom"))]
mod entries {
    use super::Entry;
    use vervet_os::LeafLock;
    use vervet_os::{Chunks, Published};

    /// Entries by number; they are never freed.
    #[derive(Default)]
    pub(super) struct Entries(Chunks<Published<Entry>>);
    impl Entries {
        pub(super) fn new() -> Entries {
            Entries::default()
        }
        /// The entry; it is made if it does not exist.
        pub(super) fn make(&self, number: u32) -> &Entry {
            self.0.at(number).put(Entry(LeafLock::default()))
        }
        /// The entry, if it exists.
        pub(super) fn get(&self, number: u32) -> Option<&Entry> {
            self.0.get(number)?.get()
        }
    }
}
#[cfg(feature = "loom")]
mod entries {
    use super::Entry;

    pub(super) struct Entries(Vec<Entry>);
    impl Entries {
        pub(super) fn new() -> Entries {
            Entries((0..3).map(|_| Entry::default()).collect())
        }
        pub(super) fn make(&self, number: u32) -> &Entry {
            &self.0[number as usize]
        }
        pub(super) fn get(&self, number: u32) -> Option<&Entry> {
            self.0.get(number as usize)
        }
    }
}
use entries::Entries;

/// A thread's place in a queue.
#[derive(Default, Debug)]
struct Link {
    /// The id behind it.
    next: AtomicU32,
    /// entry * 2 + direction + 1, or 0.
    waits_at: AtomicU32,
}
#[expect(unsafe_code, reason = "promises that zeros are a value")]
// SAFETY: atomics of zero, which need no drop.
unsafe impl Zeroed for Link {}

#[derive(Default, Debug)]
struct Free {
    entries: Vec<u32>,
    /// How many entries were ever used.
    used: u32,
}

/// See the module.
pub(crate) struct Registry {
    entries: Entries,
    free: LeafLock<Free>,
    links: Table<Link>,
    /// How many registrations there are.
    count: AtomicU32,
}

impl Registry {
    /// Without registrations.
    pub(crate) fn new() -> Registry {
        Registry {
            entries: Entries::new(),
            free: LeafLock::new(Free::default()),
            links: Table::new(),
            count: AtomicU32::new(0),
        }
    }
    /// Are there registrations?
    pub(crate) fn is_used(&self) -> bool {
        self.count.load(Relaxed) != 0
    }
    /// A new registration.
    pub(crate) fn add(&self) -> Registration {
        let entry = {
            let mut free = self.free.lock();
            free.entries.pop().unwrap_or_else(|| {
                free.used += 1;
                free.used - 1
            })
        };
        self.count.fetch_add(1, Relaxed);
        let generation = self.entries.make(entry).0.lock().generation;
        Registration { entry, generation }
    }
    /// Uses the entry of a registration under its lock; None if that is over.
    fn with<T>(&self, of: Registration, use_it: impl FnOnce(&mut Inner) -> T) -> Option<T> {
        let mut inner = self.entries.get(of.entry)?.0.lock();
        (inner.generation == of.generation).then(|| use_it(&mut inner))
    }
    /// Ends a registration, and gives `wake` all that wait. False: it was over already.
    pub(crate) fn remove(&self, of: Registration, wake: &mut dyn FnMut(u32)) -> bool {
        let all = self.with(of, |inner| {
            inner.generation = inner.generation.wrapping_add(1);
            [0, 1].map(|d| self.take_all(&mut inner.queues[d]))
        });
        let Some(all) = all else { return false };
        all.into_iter().flatten().for_each(wake);
        self.count.fetch_sub(1, Relaxed);
        self.free.lock().entries.push(of.entry);
        true
    }
    /// Empties a queue, under the entry's lock.
    fn take_all(&self, queue: &mut Queue) -> Ids {
        queue.edges = queue.edges.wrapping_add(1);
        let mut all = Ids::new();
        let mut id = std::mem::replace(&mut queue.first, 0);
        while id != 0 {
            all.push(id);
            let link = self.links.at(id);
            id = link.next.load(Relaxed);
            // From here on the thread may wait elsewhere.
            link.waits_at.store(0, Release);
        }
        all
    }
    /// What a thread takes before it tries. None: the registration is over.
    pub(crate) fn ticket(&self, of: Registration, direction: Direction) -> Option<Ticket> {
        self.with(of, |inner| Ticket(inner.queues[direction as usize].edges))
    }
    /// A thread that has tried waits, unless there was an edge since it took its ticket.
    pub(crate) fn begin_wait(
        &self,
        of: Registration,
        direction: Direction,
        ticket: Ticket,
        id: u32,
    ) -> Waits {
        let waits = self.with(of, |inner| {
            let queue = &mut inner.queues[direction as usize];
            if queue.edges != ticket.0 {
                return Waits::Again;
            }
            let link = self.links.at(id);
            debug_assert_eq!(link.waits_at.load(Relaxed), 0, "it waits elsewhere");
            link.next.store(queue.first, Relaxed);
            link.waits_at
                .store(of.entry * 2 + direction as u32 + 1, Relaxed);
            queue.first = id;
            Waits::Queued
        });
        waits.unwrap_or(Waits::Closed)
    }
    /// A thread waits no more, for whatever reason it was woken.
    pub(crate) fn end_wait(&self, id: u32) {
        let link = self.links.at(id);
        // Only the thread itself makes this other than 0.
        let at = link.waits_at.load(Acquire);
        if at == 0 {
            return;
        }
        let Some(entry) = self.entries.get((at - 1) / 2) else {
            return;
        };
        let mut inner = entry.0.lock();
        if link.waits_at.load(Relaxed) == 0 {
            return;
        }
        let queue = &mut inner.queues[(at - 1) as usize % 2];
        let next = link.next.load(Relaxed);
        if queue.first == id {
            queue.first = next;
        } else {
            let mut before = self.links.at(queue.first);
            while before.next.load(Relaxed) != id {
                before = self.links.at(before.next.load(Relaxed));
            }
            before.next.store(next, Relaxed);
        }
        link.waits_at.store(0, Relaxed);
    }
    /// Events have come for a registration; gives `wake` those who wait for them. Those of a registration that is over are for nobody.
    pub(crate) fn event(
        &self,
        of: Registration,
        read: bool,
        write: bool,
        wake: &mut dyn FnMut(u32),
    ) {
        let all = self.with(of, |inner| {
            [read, write]
                .into_iter()
                .zip(&mut inner.queues)
                .filter(|(happened, _)| *happened)
                .map(|(_, queue)| self.take_all(queue))
                .collect::<SmallVec<[Ids; 2]>>()
        });
        all.into_iter().flatten().flatten().for_each(wake);
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::Direction::{Read, Write};
    use super::*;

    fn event(registry: &Registry, of: Registration, read: bool, write: bool) -> Vec<u32> {
        let mut woken = Vec::new();
        registry.event(of, read, write, &mut |id| woken.push(id));
        woken.sort();
        woken
    }

    /// Each direction has its own queue and its own count.
    #[test]
    fn an_edge_wakes_all_that_wait_in_its_direction() {
        let registry = Registry::new();
        let of = registry.add();
        for (id, direction) in [(1, Read), (2, Read), (3, Write)] {
            let ticket = registry.ticket(of, direction).unwrap();
            assert_eq!(
                registry.begin_wait(of, direction, ticket, id),
                Waits::Queued
            );
        }
        assert_eq!(event(&registry, of, true, false), [1, 2]);
        assert_eq!(event(&registry, of, true, false), []);
        assert_eq!(event(&registry, of, true, true), [3]);
    }

    #[test]
    fn an_edge_behind_the_ticket_is_not_slept_through() {
        let registry = Registry::new();
        let of = registry.add();
        let old = registry.ticket(of, Read).unwrap();
        let other = registry.ticket(of, Write).unwrap();
        event(&registry, of, true, false);
        // All who took their tickets before it try again, not the first only.
        assert_eq!(registry.begin_wait(of, Read, old, 1), Waits::Again);
        assert_eq!(registry.begin_wait(of, Read, old, 2), Waits::Again);
        assert_eq!(registry.begin_wait(of, Write, other, 3), Waits::Queued);
        registry.end_wait(3);
    }

    /// A thread whose deadline is over, or that was aborted, is no longer in the list, and the others still are.
    #[test]
    fn a_thread_leaves_the_queue_wherever_it_stands() {
        for leaver in 1..=3 {
            let registry = Registry::new();
            let of = registry.add();
            let ticket = registry.ticket(of, Read).unwrap();
            for id in 1..=3 {
                registry.begin_wait(of, Read, ticket, id);
            }
            registry.end_wait(leaver);
            registry.end_wait(leaver);
            let rest: Vec<u32> = (1..=3).filter(|id| *id != leaver).collect();
            assert_eq!(event(&registry, of, true, false), rest);
        }
    }

    /// The entry is used again at once, while somebody still has the old registration in hand.
    #[test]
    fn what_belongs_to_a_closed_descriptor_does_not_touch_the_next() {
        let registry = Registry::new();
        let first = registry.add();
        let ticket = registry.ticket(first, Read).unwrap();
        assert_eq!(registry.begin_wait(first, Read, ticket, 1), Waits::Queued);
        let mut woken = Vec::new();
        assert!(registry.remove(first, &mut |id| woken.push(id)));
        assert_eq!(woken, [1]);
        assert!(!registry.remove(first, &mut |_| panic!("woken twice")));
        let second = registry.add();
        assert_eq!(second.entry, first.entry, "the entry is used again");
        let fresh = registry.ticket(second, Read).unwrap();
        assert_eq!(registry.begin_wait(second, Read, fresh, 2), Waits::Queued);
        // A late event, a late ticket, a late wait, and a thread that wakes late.
        assert_eq!(event(&registry, first, true, true), []);
        assert_eq!(registry.ticket(first, Read), None);
        assert_eq!(registry.begin_wait(first, Read, ticket, 3), Waits::Closed);
        registry.end_wait(1);
        assert_eq!(event(&registry, second, true, true), [2]);
        assert!(registry.is_used());
        registry.remove(second, &mut |_| ());
        assert!(!registry.is_used());
    }
}
