//! The park layer: where a thread waits, whatever it waits for.
//!
//! # How it works
//! Every thread has a [`Waiter`], found by its owner id. Who wants to wait calls [`park`] with a `commit` that makes
//! the wait known (usually by letting go of a queue's lock); who wants it to go on calls [`unpark`] with the id.
//! On an OS thread waiting is a futex in Native state; a scheduler of green threads takes that place later.
//!
//! # Invariants
//! * An unpark always leaves a token ([`ParkWord`], whose models are in its crate), which ends the current park or the next one; so a wake-up is never lost, and every caller of `park` looks at
//!   its condition again in a loop, because a token may be old.
//! * Commit runs exactly once, in Runtime, before the thread sleeps.
//! * Waiters are never freed or moved, so an id may be unparked at any time, even one whose thread has ended.
//! * Waits for descriptors are in [`blocking_io`].
//! * A waiter is in at most one [`Queue`] at a time; its links belong to the lock of that queue.
pub mod blocking_io;

pub use blocking_io::interrupt_io;

use crate::cx::Cx;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use vervet_os::chunks::Zeroed;
use vervet_os::{Chunks, futex};
use vervet_parking::ParkWord;

/// What others need of a thread that may wait. See the module.
#[repr(align(64))]
pub struct Waiter {
    word: ParkWord,
    next: AtomicU32,
    previous: AtomicU32,
    queued: AtomicU32,
    signalled: AtomicU32,
    /// The word of [`blocking_io`].
    io: AtomicU32,
}
// SAFETY: atomics of zero: running, in no queue.
unsafe impl Zeroed for Waiter {}

static WAITERS: Chunks<Waiter> = Chunks::new();

fn waiter(id: u32) -> &'static Waiter {
    WAITERS.at(id)
}

/// The id of the calling thread, by which others unpark it.
pub fn id(cx: &Cx<'_>) -> u32 {
    // SAFETY: the context belongs to this thread.
    unsafe { (*cx.context()).owner_id }
}

/// The end of a wait of that many milliseconds; None for ever (-1).
pub fn deadline(ms: i32) -> Option<Instant> {
    u64::try_from(ms)
        .ok()
        .map(|ms| Instant::now() + Duration::from_millis(ms))
}
/// Is it over?
pub fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|d| Instant::now() >= d)
}

/// Waits for an [`unpark`] of this thread or the deadline. True if a token ended it. May end early: look again.
pub fn park(cx: &Cx<'_>, commit: impl FnOnce(), deadline: Option<Instant>) -> bool {
    let me = waiter(id(cx));
    let starts = me.word.begin();
    commit();
    if starts && me.word.sleeps() {
        cx.native(|| while me.word.is_parked() && futex_wait(me.word.futex(), deadline) {});
    }
    me.word.end()
}

/// Lets a thread go on: ends its park, or its next one.
pub fn unpark(id: u32) {
    let w = waiter(id);
    if w.word.unpark() {
        futex::wake(w.word.futex(), 1);
    }
}

/// One futex wait while the word says that its thread sleeps; false if the deadline has passed.
fn futex_wait(word: &AtomicU32, deadline: Option<Instant>) -> bool {
    let left = match deadline.map(|d| d.saturating_duration_since(Instant::now())) {
        Some(left) if left.is_zero() => return false,
        left => left,
    };
    futex::wait(word, ParkWord::PARKED, left);
    true
}

/// A note of whoever took the thread out of a queue, for the thread: it was signalled. Under the queue's lock.
pub fn set_signalled(id: u32, value: bool) {
    waiter(id).signalled.store(value as u32, Ordering::SeqCst);
}
/// See [`set_signalled`].
pub fn is_signalled(id: u32) -> bool {
    waiter(id).signalled.load(Ordering::SeqCst) != 0
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
        let was = w.queued.swap(1, Ordering::Relaxed);
        debug_assert_eq!(was, 0, "a thread waits in one queue at a time");
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
        if w.queued.swap(0, Ordering::Relaxed) == 0 {
            return false;
        }
        let (before, after) = (
            w.previous.load(Ordering::Relaxed),
            w.next.load(Ordering::Relaxed),
        );
        self.link(before, after);
        self.link_back(before, after);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let end = Some(Instant::now() + Duration::from_millis(5));
        while futex_wait(&word, end) {}
        assert!(is_over(end));
    }
}
