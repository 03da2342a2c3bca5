//! Inflated ("fat") monitors: their table and its free list.
//!
//! # The life of an entry
//! ```text
//!   made --> in use --(deflate: idle)----> free --> in use ...
//!                 \--(abandon: object dead)-^
//! ```
//!
//! | step | who | what orders it |
//! |---|---|---|
//! | taken off the free list, or made | a thread that inflates | the lock of the list |
//! | begins with the state of the thin lock | the same thread | nobody else knows the index yet |
//! | named by the sync word | the same thread, by compare-and-swap (release) | readers load the word with acquire, so they see the state |
//! | lost the race for the word: put back | the same thread | the lock of the list |
//! | deflated or abandoned | the thread that collects | the world is stopped |
//!
//! # Invariants
//! * An entry never moves and is never freed, only used again; its index is what an inflated sync word holds.
//! * An entry holds no object reference. It belongs to the one object whose sync word names it.
//! * [`vervet_parking::monitor`] decides which entries may be deflated while the world is stopped.
use crate::object::ObjRef;
use crate::threads::park::{self, Queue};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use vervet_os::{Chunks, LeafLock, Published};
use vervet_parking::monitor::{self, Monitor};

pub use vervet_parking::monitor::index_of;

/// An entry. See the module.
struct Fat {
    monitor: Monitor<Queue>,
    /// Index of the next free entry, 0 at the end. Under the lock of the list.
    next_free: AtomicU32,
    /// It is not on the free list. For the verifier and the counts, which look without the lock.
    in_use: AtomicBool,
}

static TABLE: Chunks<Published<Fat>> = Chunks::new();

struct Free {
    /// First entry of the list of free ones, 0 if there is none.
    first: u32,
    /// Number of entries ever made; indices begin with 1.
    made: u32,
}
static FREE: LeafLock<Free> = LeafLock::new(Free { first: 0, made: 0 });

/// The entry behind a fat sync word.
#[inline]
fn get(index: u32) -> &'static Fat {
    TABLE
        .get(index)
        .and_then(Published::get)
        .expect("a fat sync word names an entry")
}

/// A fresh entry with that state.
fn allocate(owner: u32, count: u32, hash: u32) -> &'static Fat {
    let (reused, index) = {
        let mut free = FREE.lock();
        match free.first {
            0 => {
                free.made += 1;
                assert!(free.made < 1 << 30, "too many monitors");
                (false, free.made)
            }
            i => {
                free.first = get(i).next_free.load(Ordering::Relaxed);
                (true, i)
            }
        }
    };
    let entry = if reused {
        get(index)
    } else {
        TABLE.at(index).put(Fat {
            monitor: Monitor::new(index),
            next_free: AtomicU32::new(0),
            in_use: AtomicBool::new(false),
        })
    };
    entry.monitor.begin(owner, count, hash);
    entry.in_use.store(true, Ordering::Release);
    entry
}

/// Gives an entry back that no sync word names (any more).
fn release(entry: &'static Fat) {
    let was = entry.in_use.swap(false, Ordering::AcqRel);
    debug_assert!(was, "an entry is given back once");
    entry.monitor.end();
    let mut free = FREE.lock();
    entry.next_free.store(free.first, Ordering::Relaxed);
    free.first = entry.monitor.index();
}

/// The table, as one object sees it.
#[derive(Clone, Copy)]
pub(super) struct Of<'o>(pub ObjRef<'o>);

impl monitor::Table for Of<'_> {
    type Queue = Queue;
    #[inline]
    fn get(&self, index: u32) -> &Monitor<Queue> {
        &get(index).monitor
    }
    fn allocate(&self, owner: u32, count: u32, hash: u32) -> &Monitor<Queue> {
        &allocate(owner, count, hash).monitor
    }
    fn release(&self, monitor: &Monitor<Queue>) {
        release(get(monitor.index()));
    }
    fn inflated(&self) {
        super::side_table::add(self.0);
    }
}

/// Queues of parked threads: a thread is linked by its park slot, so queuing takes no memory.
impl monitor::Queue for Queue {
    fn push_back(&mut self, id: u32) {
        Queue::push_back(self, id);
    }
    fn push_front(&mut self, id: u32) {
        Queue::push_front(self, id);
    }
    fn pop_front(&mut self) -> Option<u32> {
        Queue::pop_front(self)
    }
    fn remove(&mut self, id: u32) -> bool {
        Queue::remove(self, id)
    }
    fn is_queued(id: u32) -> bool {
        park::is_queued(id)
    }
    fn unpark(id: u32) {
        park::unpark(id);
    }
    fn set_signalled(id: u32, value: bool) {
        park::set_signalled(id, value);
    }
    fn is_signalled(id: u32) -> bool {
        park::is_signalled(id)
    }
}

/// World stopped: takes the monitor of a live object away if nobody owns, enters or waits at it. The answer is the
/// sync word that the object gets instead (its hash, or 0).
pub fn deflate(index: u32) -> Option<u32> {
    let entry = get(index);
    let word = entry.monitor.deflated()?;
    release(entry);
    Some(word)
}

/// World stopped: the monitor's object is gone. (An owner has dropped it; nobody can ever leave.)
pub fn abandon(index: u32) {
    let entry = get(index);
    debug_assert!(
        !entry.monitor.has_users(),
        "an object that somebody waits at is on a stack"
    );
    release(entry);
}
/// Is there such a monitor, and is it an object's? (A thread may be about to give it to one.)
pub(super) fn is_in_use(index: u32) -> bool {
    let entry = TABLE.get(index).and_then(Published::get);
    entry.is_some_and(|e| e.in_use.load(Ordering::Acquire) && e.monitor.index() == index)
}
/// Entries of the list of free ones; None if one of them is in use, or the list has no end.
pub(super) fn count_free() -> Option<usize> {
    let free = FREE.lock();
    let (mut index, mut count) = (free.first, 0);
    while index != 0 {
        let entry = TABLE.get(index).and_then(Published::get)?;
        if entry.in_use.load(Ordering::Acquire) || count > free.made {
            return None;
        }
        (index, count) = (entry.next_free.load(Ordering::Relaxed), count + 1);
    }
    Some(count as usize)
}
/// Monitors in use, and ever made.
pub fn counts() -> (usize, usize) {
    let mut used = 0;
    for_each_in_use(|_| used += 1);
    (used, FREE.lock().made as usize)
}
/// Entries that are made meanwhile may be missed.
fn for_each_in_use(mut f: impl FnMut(&'static Fat)) {
    let made = FREE.lock().made;
    for i in 1..=made {
        if let Some(e) = TABLE.get(i).and_then(Published::get)
            && e.in_use.load(Ordering::Acquire)
        {
            f(e);
        }
    }
}

/// For the tests of what checks the table.
#[cfg(test)]
pub(super) mod for_tests {
    use super::*;
    /// The index of a fresh entry that nobody owns.
    pub fn allocate() -> u32 {
        super::allocate(0, 0, 0).monitor.index()
    }
    /// The first entry of the list of free ones is in no list.
    pub fn lose_free() {
        let mut free = FREE.lock();
        free.first = get(free.first).next_free.load(Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vervet_abi::object::sync_word::*;

    // One test: the table is one for the process.
    #[test]
    fn entries_come_and_go() {
        let index = |entry: &Fat| entry.monitor.index();
        let owned = allocate(7, 1, 0);
        let hashed = allocate(0, 0, 0x1234);
        let used = allocate(0, 0, 0);
        used.monitor.add_user();
        assert_eq!(index_of(owned.monitor.word()), Some(index(owned)));
        assert_eq!(index_of(0x1234 << PAYLOAD_SHIFT | KIND_HASH), None);
        assert_eq!(deflate(index(owned)), None);
        assert_eq!(deflate(index(used)), None);
        assert_eq!(
            deflate(index(hashed)),
            Some(0x1234 << PAYLOAD_SHIFT | KIND_HASH)
        );
        let again = allocate(0, 0, 0);
        assert!(std::ptr::eq(again, hashed), "a free entry is used again");
        // Its hash was forgotten with its object.
        assert_eq!(deflate(index(again)), Some(0));
        let kept = allocate(0, 0, 0);
        abandon(index(owned));
        assert_eq!(counts().0, 2);
        used.monitor.remove_user();
        assert_eq!(
            (deflate(index(used)), deflate(index(kept))),
            (Some(0), Some(0))
        );
        assert_eq!(counts().0, 0);
        super::super::side_table::tests::every_damage_is_found();
    }
}
