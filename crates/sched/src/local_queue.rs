//! The ready threads of a processor: a ring of ids that its carrier fills and empties, and from which the others steal.
//!
//! ```text
//!   ids    . . 7 4 9 2 . .        head: the oldest id; moved by whoever takes ids, by compare-and-swap
//!              ^       ^          tail: the next free place; moved by the carrier alone
//!             head    tail        both count up for ever; a place is a count modulo ROOM
//! ```
//!
//! | who | does | orders |
//! |---|---|---|
//! | carrier | [`push`](LocalQueue::push): writes the place at `tail`, then `tail` | the release of `tail` publishes the id |
//! | carrier | [`pop`](LocalQueue::pop): reads the place at `head`, then moves `head` by one | |
//! | thief | [`steal_into`](LocalQueue::steal_into): reads half of the places, then moves `head` past them | its release of `head` lets the carrier write there again |
//! | carrier | a full queue: as a thief, for half of the ids | |
//!
//! # Invariants
//! * Ids lie in `head .. tail`, and there are at most `ROOM` of them. The carrier writes a place only after it has seen `head` past the place's
//!   last use.
//! * Who reads places and then moves `head` has read what it took: nobody else moved `head` meanwhile, so the places were not written again. The
//!   counts have 64 bits and do not come back to an old value, so an exchange that succeeds says just that.
//! * What a thief has read before its exchange failed may be any id. It is thrown away.
//! * First in, first out.
use crate::sync::{
    AtomicU32, AtomicU64, HALF,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
    Padded, ROOM,
};

/// See the module. `push`, `pop` and the second queue of `steal_into` are for the carrier that holds the processor.
#[derive(Debug)]
pub(crate) struct LocalQueue {
    head: Padded<AtomicU64>,
    tail: Padded<AtomicU64>,
    ids: [AtomicU32; ROOM],
}

impl LocalQueue {
    /// An empty one.
    pub(crate) fn new() -> LocalQueue {
        LocalQueue::starting_at(0)
    }
    /// An empty one whose counts begin elsewhere, for tests.
    fn starting_at(count: u64) -> LocalQueue {
        LocalQueue {
            head: Padded(AtomicU64::new(count)),
            tail: Padded(AtomicU64::new(count)),
            ids: std::array::from_fn(|_| AtomicU32::new(0)),
        }
    }
    #[inline]
    fn place(&self, count: u64) -> &AtomicU32 {
        &self.ids[count as usize % ROOM]
    }
    /// Puts an id behind all others. If the queue is full, its older half and then `id` go to `spill` instead.
    #[inline]
    pub(crate) fn push(&self, id: u32, spill: impl FnOnce(&[u32])) {
        let tail = self.tail.load(Relaxed);
        // Acquire: a thief that moved the head has read the places before it.
        let head = self.head.load(Acquire);
        if tail - head < ROOM as u64 || !self.hand_over(id, head, spill) {
            // (If the exchange failed, thieves have made room.)
            self.place(tail).store(id, Relaxed);
            self.tail.store(tail + 1, Release);
        }
    }
    /// Takes the older half out of a full queue and gives it to `spill`, with `id` behind it. False: a thief has taken something.
    #[cold]
    fn hand_over(&self, id: u32, head: u64, spill: impl FnOnce(&[u32])) -> bool {
        let mut ids = [0; HALF + 1];
        for (i, to) in ids[..HALF].iter_mut().enumerate() {
            *to = self.place(head + i as u64).load(Relaxed);
        }
        ids[HALF] = id;
        let taken = self
            .head
            .compare_exchange(head, head + HALF as u64, AcqRel, Acquire)
            .is_ok();
        if taken {
            spill(&ids);
        }
        taken
    }
    /// Takes the oldest id.
    #[inline]
    pub(crate) fn pop(&self) -> Option<u32> {
        let mut head = self.head.load(Acquire);
        loop {
            // The carrier itself wrote the tail.
            if self.tail.load(Relaxed) == head {
                return None;
            }
            let id = self.place(head).load(Relaxed);
            match self.head.compare_exchange(head, head + 1, AcqRel, Acquire) {
                Ok(_) => return Some(id),
                Err(moved) => head = moved,
            }
        }
    }
    /// The oldest id, which stays. For hints: a thief may take it meanwhile.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u32> {
        let head = self.head.load(Relaxed);
        (self.tail.load(Relaxed) != head).then(|| self.place(head).load(Relaxed))
    }
    /// Takes the older half of the ids: returns the oldest and the number taken, and puts the others into the caller's own queue, which is empty.
    pub(crate) fn steal_into(&self, own: &LocalQueue) -> Option<(u32, u32)> {
        let own_tail = own.tail.load(Relaxed);
        debug_assert!(own.is_empty(), "a thief has threads of its own to run");
        let mut head = self.head.load(Acquire);
        loop {
            let count = self.tail.load(Acquire) - head;
            let take = count - count / 2;
            if take == 0 {
                return None;
            }
            if take > HALF as u64 {
                // More than there is room for: the head that was read is an old one.
                head = self.head.load(Acquire);
                continue;
            }
            // Copied before the exchange: after it the carrier may write to the places. The copies lie beyond the own queue's tail, where nobody
            // looks until it moves.
            let first = self.place(head).load(Relaxed);
            for i in 1..take {
                let id = self.place(head + i).load(Relaxed);
                own.place(own_tail + i - 1).store(id, Relaxed);
            }
            match self
                .head
                .compare_exchange(head, head + take, AcqRel, Acquire)
            {
                Ok(_) => {
                    own.tail.store(own_tail + take - 1, Release);
                    return Some((first, take as u32));
                }
                Err(moved) => head = moved,
            }
        }
    }
    /// How many ids there are, for others an estimate. It is never 0 while an id lies in the queue: the head is read first, and neither count
    /// moves back.
    #[inline]
    pub(crate) fn len(&self) -> u64 {
        let head = self.head.load(Acquire);
        self.tail.load(Acquire) - head
    }
    /// Is there nothing in it? As certain as [`LocalQueue::len`].
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    fn no_spill(_: &[u32]) {
        panic!("there is room");
    }

    #[test]
    fn ids_come_out_in_their_order() {
        let queue = LocalQueue::new();
        for round in 0..5 {
            for id in 0..200 {
                queue.push(round * 1000 + id, no_spill);
            }
            for id in 0..200 {
                assert_eq!(queue.pop(), Some(round * 1000 + id));
            }
            assert_eq!(queue.pop(), None);
        }
    }

    #[test]
    fn a_full_queue_hands_over_its_older_half_and_the_new_id() {
        let queue = LocalQueue::new();
        (1..=ROOM as u32).for_each(|id| queue.push(id, no_spill));
        let mut spilled = Vec::new();
        queue.push(1000, |ids| spilled.extend_from_slice(ids));
        let expected: Vec<u32> = (1..=HALF as u32).chain([1000]).collect();
        assert_eq!(spilled, expected);
        assert_eq!(queue.len(), HALF as u64);
        assert_eq!(queue.pop(), Some(HALF as u32 + 1));
    }

    #[test]
    fn a_thief_takes_the_older_half_rounded_up() {
        for count in 0..=ROOM as u32 {
            let (queue, own) = (LocalQueue::new(), LocalQueue::new());
            (1..=count).for_each(|id| queue.push(id, no_spill));
            let stolen = queue.steal_into(&own);
            assert_eq!(stolen, (count > 0).then_some((1, count.div_ceil(2))));
            let rest: Vec<u32> = std::iter::from_fn(|| own.pop()).collect();
            assert_eq!(rest, (2..=count.div_ceil(2)).collect::<Vec<_>>());
            let left: Vec<u32> = std::iter::from_fn(|| queue.pop()).collect();
            assert_eq!(left, (count.div_ceil(2) + 1..=count).collect::<Vec<_>>());
        }
    }

    /// A count of 32 bits would come round here, and a place be taken for another.
    #[test]
    fn counts_go_past_32_bits() {
        let queue = LocalQueue::starting_at(u64::from(u32::MAX) - 3);
        let own = LocalQueue::starting_at(u64::from(u32::MAX));
        (1..=8).for_each(|id| queue.push(id, no_spill));
        assert_eq!(queue.len(), 8);
        assert_eq!(queue.steal_into(&own), Some((1, 4)));
        assert_eq!(
            [(); 4].map(|()| own.pop()),
            [Some(2), Some(3), Some(4), None]
        );
        assert_eq!(queue.pop(), Some(5));
    }

    /// A carrier pushes and pops, others steal: each id is taken once.
    #[test]
    fn each_id_is_taken_once() {
        use std::sync::atomic::{AtomicBool, AtomicU8};
        let count: u32 = if cfg!(miri) { 500 } else { 300_000 };
        let queue = LocalQueue::new();
        let seen: Vec<AtomicU8> = (0..=count).map(|_| AtomicU8::new(0)).collect();
        let done = AtomicBool::new(false);
        let take = |id: u32| assert_eq!(seen[id as usize].fetch_add(1, Relaxed), 0, "{id} twice");
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let own = LocalQueue::new();
                    loop {
                        let last = done.load(Acquire);
                        while let Some((first, _)) = queue.steal_into(&own) {
                            take(first);
                            while let Some(id) = own.pop() {
                                take(id);
                            }
                        }
                        if last {
                            break;
                        }
                    }
                });
            }
            for id in 1..=count {
                queue.push(id, |ids| ids.iter().for_each(|id| take(*id)));
                if id % 3 == 0
                    && let Some(id) = queue.pop()
                {
                    take(id);
                }
            }
            done.store(true, Release);
        });
        while let Some(id) = queue.pop() {
            take(id);
        }
        assert!(
            seen[1..].iter().all(|s| s.load(Relaxed) == 1),
            "one is lost"
        );
    }
}
