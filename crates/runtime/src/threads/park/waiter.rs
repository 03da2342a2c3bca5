//! The waiters: what other threads need of a thread that waits, found by its owner id; and queues of waiting threads.
//!
//! # The word of blocking I/O
//! | bits | meaning | set by | cleared by |
//! |---|---|---|---|
//! | `INSIDE` | the thread is inside a blocking operation on a descriptor | the thread | the thread |
//! | `CANCEL` | the operation is to end with EINTR | any thread, while `INSIDE` | the thread, when it leaves |
//! | `REQUEST` | the thread is to look for interrupt requests | any thread, while `INSIDE` | the thread, when it leaves |
//! | the rest | counts operations, so a wake-up meant for one never ends a later one | | the thread adds one when it leaves |
//!
//! # Invariants
//! * Waiters are never freed or moved, so an id may be unparked at any time, even one whose thread has ended.
//! * A waiter is in at most one [`Queue`] at a time; its links, and the word that says whether it is in one, belong to the lock of that queue. A thread
//!   goes from one queue to another only after it has held the first one's lock, or was unparked by who had, or has found that it is in no queue
//!   any more ([`is_queued`]).
//! * An unpark always leaves a token in the park word ([`ParkWord`], whose models are in its crate), which ends the current park or the
//!   next one.
use crate::threads::green;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;
use vervet_os::chunks::Zeroed;
use vervet_os::{Chunks, futex, interruptible};
use vervet_parking::ParkWord;

pub(super) const INSIDE: u32 = 1;
pub(super) const CANCEL: u32 = 2;
pub(super) const REQUEST: u32 = 4;
pub(super) const ROUND: u32 = 8;
const _: () = assert!(CANCEL | REQUEST == interruptible::STOP);

/// What others need of a thread that may wait. See the module.
#[repr(align(64))]
pub struct Waiter {
    pub(super) word: ParkWord,
    next: AtomicU32,
    previous: AtomicU32,
    queued: AtomicU32,
    signalled: AtomicU32,
    /// The word of [`blocking_io`].
    pub(super) io: AtomicU32,
    /// The record of the green thread that has this id, or 0.
    green: AtomicUsize,
    /// Where its managed stack begins.
    top: AtomicUsize,
    /// Why the thread waits, packed, and until when, in nanoseconds. The module `reason` has both.
    pub(super) why: AtomicU64,
    pub(super) until: AtomicU64,
}

// SAFETY: atomics of zero: running, in no queue.
unsafe impl Zeroed for Waiter {}

static WAITERS: Chunks<Waiter> = Chunks::new();

pub(super) fn waiter(id: u32) -> &'static Waiter {
    WAITERS.at(id)
}

/// Lets a thread go on: ends its park, or its next one.
pub fn unpark(id: u32) {
    let w = waiter(id);
    if w.word.unpark() {
        match w.green.load(Ordering::Relaxed) {
            0 => futex::wake(w.word.futex(), 1),
            _ => green::make_ready(id),
        }
    }
}

/// The park word of the thread with that id.
pub(crate) fn word(id: u32) -> &'static ParkWord {
    &waiter(id).word
}

/// The park of a thread that left its native stack is over.
pub(crate) fn end(id: u32) {
    let w = waiter(id);
    w.why.store(0, Ordering::Relaxed);
    w.word.end();
}

/// The id is from now on that of a green thread, whose record lies at `record` and whose managed stack begins at `top`.
pub(crate) fn set_green(id: u32, record: usize, top: usize) {
    let w = waiter(id);
    w.top.store(top, Ordering::Relaxed);
    w.green.store(record, Ordering::Release);
}

/// The record of the green thread with that id, and where its managed stack begins.
pub(crate) fn places(id: u32) -> (usize, usize) {
    let w = waiter(id);
    (
        w.green.load(Ordering::Acquire),
        w.top.load(Ordering::Relaxed),
    )
}

/// The record of the green thread with that id; 0: there is none.
pub(crate) fn green(id: u32) -> usize {
    waiter(id).green.load(Ordering::Acquire)
}

/// One futex wait while the word says that its thread sleeps; false if the deadline has passed.
pub(super) fn futex_wait(word: &AtomicU32, deadline: Option<Instant>) -> bool {
    let left = match deadline.map(|d| d.saturating_duration_since(Instant::now())) {
        Some(left) if left.is_zero() => return false,
        left => left,
    };
    futex::wait(word, ParkWord::PARKED, left);
    true
}

/// A note of whoever took the thread out of a queue, for the thread: it was signalled. Under the queue's lock.
///
/// The order is that of the lock, and of the park word: who signals a thread unparks it after that.
pub fn set_signalled(id: u32, value: bool) {
    waiter(id).signalled.store(value as u32, Ordering::Release);
}

/// See [`set_signalled`].
pub fn is_signalled(id: u32) -> bool {
    waiter(id).signalled.load(Ordering::Acquire) != 0
}

/// A queue of waiting threads by id, linked through their waiters; it belongs inside a lock. Empty: all zero.
#[derive(Default, Debug)]
pub struct Queue {
    first: u32,
    last: u32,
}

impl Queue {
    /// An empty queue.
    pub const fn new() -> Queue {
        Queue { first: 0, last: 0 }
    }
    /// Is nobody in it?
    pub fn is_empty(&self) -> bool {
        self.first == 0
    }
    /// Puts a thread at the end.
    pub fn push_back(&mut self, id: u32) {
        self.insert(self.last, id, 0);
    }
    /// Puts a thread at the front.
    pub fn push_front(&mut self, id: u32) {
        self.insert(0, id, self.first);
    }
    fn insert(&mut self, before: u32, id: u32, after: u32) {
        let w = waiter(id);
        debug_assert_eq!(
            w.queued.load(Ordering::Relaxed),
            0,
            "a thread waits in one queue at a time"
        );
        w.queued.store(1, Ordering::Relaxed);
        w.previous.store(before, Ordering::Relaxed);
        w.next.store(after, Ordering::Relaxed);
        self.link(before, id);
        self.link_back(id, after);
    }
    /// `id` (or the end, 0) follows `before` (or the start, 0).
    fn link(&mut self, before: u32, id: u32) {
        match before {
            0 => self.first = id,
            b => waiter(b).next.store(id, Ordering::Relaxed),
        }
    }
    fn link_back(&mut self, id: u32, after: u32) {
        match after {
            0 => self.last = id,
            a => waiter(a).previous.store(id, Ordering::Relaxed),
        }
    }
    /// Takes the first thread out.
    pub fn pop_front(&mut self) -> Option<u32> {
        let id = self.first;
        self.remove(id).then_some(id)
    }
    /// Takes a thread out; false if it is in no queue. It must not be in another one.
    pub fn remove(&mut self, id: u32) -> bool {
        if id == 0 {
            return false;
        }
        let w = waiter(id);
        if w.queued.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let (before, after) = (
            w.previous.load(Ordering::Relaxed),
            w.next.load(Ordering::Relaxed),
        );
        self.link(before, after);
        self.link_back(before, after);
        // Last: from here on the thread may put itself into another queue.
        w.queued.store(0, Ordering::Release);
        true
    }
}

/// Is the thread in a queue? Without the queue's lock: see [`vervet_parking::monitor::Queue::is_queued`].
pub fn is_queued(id: u32) -> bool {
    waiter(id).queued.load(Ordering::Acquire) != 0
}

/// Is the thread inside a blocking operation that it was asked to leave? The signal may have found it in a handler of a library's.
pub(crate) fn is_asked(id: u32) -> bool {
    let word = waiter(id).io.load(Ordering::SeqCst);
    word & INSIDE != 0 && word & (CANCEL | REQUEST) != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    // Ids far above those of real threads: the table of waiters is one for the process.
    const A: u32 = 1 << 20;

    #[test]
    fn a_queue_keeps_its_order() {
        let mut q = Queue::new();
        for i in 1..=4 {
            q.push_back(A + i);
        }
        assert!(q.remove(A + 2) && !q.remove(A + 2));
        q.push_front(A + 2);
        assert!(q.remove(A + 4));
        let order: Vec<u32> = std::iter::from_fn(|| q.pop_front()).collect();
        assert_eq!(order, [A + 2, A + 1, A + 3]);
        assert!(q.is_empty() && q.pop_front().is_none());
    }

    #[test]
    fn an_unpark_before_the_park_leaves_a_token() {
        let w = waiter(A + 100);
        unpark(A + 100);
        unpark(A + 100);
        assert!(!w.word.begin() && w.word.end());
        assert!(w.word.begin() && w.word.sleeps() && w.word.is_parked());
        assert!(w.word.unpark() && w.word.end() && !w.word.end());
    }

    #[test]
    fn a_futex_wait_ends_by_its_deadline() {
        let word = AtomicU32::new(ParkWord::PARKED);
        let end = Instant::now() + Duration::from_millis(5);
        while futex_wait(&word, Some(end)) {}
        assert!(Instant::now() >= end);
    }
}
