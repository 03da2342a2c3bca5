//! The ready threads that belong to no processor: what a full local queue handed over, what was preempted, and what was made ready by a thread that
//! holds no processor. Those that hold an OS thread while they wait (a carrier that came back from a native call, with a thread that cannot leave it) are
//! *urgent*, and come out first.
//!
//! A list through a word of each thread, under a lock. So a million ready threads take no memory beyond that word, and a batch is linked
//! before the lock is taken.
//!
//! # Invariants
//! * The link of a thread is used by whoever made the thread ready, until the thread is taken out: a ready thread is in one queue, once.
//! * `len` changes under the lock. Who finds it 0 after a fence has seen every push that came before the fence in the order of all fences.
//! * First in, first out, of the urgent and of the others. Half of each share that is taken are urgent while there are others. An odd one is urgent every
//!   other time, so neither keep the others waiting for ever.
use crate::sync::{
    AtomicU32, LeafLock,
    Ordering::{Acquire, Relaxed, Release},
    Padded,
};
use crate::table::{Table, Word};

/// The first and the last id; 0 if there is none.
#[derive(Default, Debug)]
struct Ends {
    first: u32,
    last: u32,
}

#[derive(Default, Debug)]
struct Lists {
    /// The urgent ones, and the others.
    ends: [Ends; 2],
    /// 1 if the odd thread of the last share with an odd count was an urgent one, else 0.
    /// It changes at every such share: a carrier that takes one thread at a time would otherwise take urgent threads only.
    odd: usize,
}

const URGENT: usize = 0;
const ORDINARY: usize = 1;

/// See the module.
pub(crate) struct Injector {
    len: Padded<AtomicU32>,
    lists: LeafLock<Lists>,
    /// From an id to the one behind it.
    next: Table<Word>,
}

impl Injector {
    /// An empty one.
    pub(crate) fn new() -> Injector {
        Injector {
            len: Padded(AtomicU32::new(0)),
            lists: LeafLock::new(Default::default()),
            next: Table::new(),
        }
    }
    fn link(&self, id: u32) -> &AtomicU32 {
        &self.next.at(id).0
    }
    /// How many there are.
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.len.load(Acquire)
    }
    /// Puts ids behind all others, in their order.
    pub(crate) fn push(&self, ids: &[u32]) {
        self.push_to(ORDINARY, ids);
    }
    /// Puts an urgent id behind the other urgent ones.
    pub(crate) fn push_urgent(&self, id: u32) {
        self.push_to(URGENT, &[id]);
    }
    fn push_to(&self, list: usize, ids: &[u32]) {
        let (Some(&first), Some(&last)) = (ids.first(), ids.last()) else {
            return;
        };
        // The links are the pusher's: the threads are in no queue yet.
        for pair in ids.windows(2) {
            self.link(pair[0]).store(pair[1], Relaxed);
        }
        self.link(last).store(0, Relaxed);
        let mut lists = self.lists.lock();
        let ends = &mut lists.ends[list];
        match ends.last {
            0 => ends.first = first,
            before => self.link(before).store(first, Relaxed),
        }
        ends.last = last;
        // (Under the lock nobody else changes it.)
        let len = self.len.load(Relaxed);
        self.len.store(len + ids.len() as u32, Release);
    }
    /// Takes the oldest ids, as many as the buffer holds and not more than a fair share for one of `processors`; how many.
    pub(crate) fn pop(&self, buffer: &mut [u32], processors: u32) -> usize {
        if self.len() == 0 {
            return 0;
        }
        let mut lists = self.lists.lock();
        let len = self.len.load(Relaxed);
        if len == 0 {
            return 0;
        }
        // What one carrier takes, others have to steal; so each takes its share only.
        let share = (len / processors + 1).min(len) as usize;
        let count = share.min(buffer.len());
        // The urgent ones, the others, and the urgent ones again if there were not enough others.
        if count % 2 == 1 {
            lists.odd ^= 1;
        }
        let most = [count / 2 + count % 2 * lists.odd, count, count];
        let mut taken = 0;
        for (list, most) in [URGENT, ORDINARY, URGENT].into_iter().zip(most) {
            let ends = &mut lists.ends[list];
            while taken < most && ends.first != 0 {
                buffer[taken] = ends.first;
                taken += 1;
                ends.first = self.link(ends.first).load(Relaxed);
            }
            if ends.first == 0 {
                ends.last = 0;
            }
        }
        debug_assert_eq!(taken, count);
        self.len.store(len - count as u32, Release);
        count
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn ids_come_out_in_their_order_by_fair_shares() {
        let injector = Injector::new();
        let mut buffer = [0; 128];
        assert_eq!(injector.pop(&mut buffer, 4), 0);
        injector.push(&[1, 2, 3]);
        injector.push(&[]);
        injector.push(&[4]);
        injector.push(&(5..=1000).collect::<Vec<_>>());
        assert_eq!(injector.len(), 1000);
        let mut all = Vec::new();
        let mut counts = Vec::new();
        loop {
            let count = injector.pop(&mut buffer, 4);
            if count == 0 {
                break;
            }
            all.extend_from_slice(&buffer[..count]);
            counts.push(count);
        }
        assert_eq!(all, (1..=1000).collect::<Vec<_>>());
        assert_eq!(counts[0], 128, "the buffer bounds it");
        assert!(counts.contains(&2), "a share of 4 is 2: {counts:?}");
        assert_eq!(injector.len(), 0);
        injector.push(&[7]);
        assert_eq!(injector.pop(&mut buffer, 4), 1);
        assert_eq!(buffer[0], 7);
    }

    #[test]
    fn urgent_ids_come_out_first_and_leave_room_for_others() {
        let injector = Injector::new();
        let mut buffer = [0; 8];
        injector.push(&(1..=20).collect::<Vec<_>>());
        (101..=106).for_each(|id| injector.push_urgent(id));
        assert_eq!(injector.len(), 26);
        assert_eq!(injector.pop(&mut buffer, 1), 8);
        assert_eq!(buffer, [101, 102, 103, 104, 1, 2, 3, 4]);
        assert_eq!(injector.pop(&mut buffer[..1], 1), 1);
        assert_eq!(buffer[0], 105);
        assert_eq!(injector.pop(&mut buffer[..1], 1), 1);
        assert_eq!(buffer[0], 5, "one at a time, in turn");
        assert_eq!(injector.pop(&mut buffer, 1), 8);
        assert_eq!(buffer[..3], [106, 6, 7]);
        injector.push_urgent(107);
        while injector.pop(&mut buffer, 1) != 0 {}
        assert_eq!(injector.len(), 0);
        (1..=4).for_each(|id| injector.push_urgent(id));
        assert_eq!(injector.pop(&mut buffer, 1), 4, "there are no others");
        assert_eq!(buffer[..4], [1, 2, 3, 4]);
    }
}
