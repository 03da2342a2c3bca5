//! Fat monitors: the table, its free list, and what the collector asks of it.
//!
//! # Invariants
//! * An entry never moves and is never freed, only used again; its index is what an inflated sync word holds.
//! * An entry holds no object reference. It belongs to the one object whose sync word names it.
//! * A thread that holds an index over anything that may let the world stop is counted in `users`. So while the world
//!   is stopped, an entry without owner and users is known to its object only, and may be taken away.
//! * Only the owner writes `count`.
use crate::park::Queue;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use vervet_abi::object::sync_word::*;
use vervet_os::{Chunks, LeafLock, Published};
use vervet_parking::Handoff;

/// Who waits at a monitor.
#[derive(Default, Debug)]
pub(super) struct Queues {
    /// For its lock.
    pub entering: Queue,
    /// For a pulse.
    pub waiting: Queue,
}

/// An entry. See the module.
pub(super) struct Fat {
    index: u32,
    /// Its owner's id, and whom it wakes.
    pub lock: Handoff,
    /// How often the owner has entered.
    pub count: AtomicU32,
    /// Identity hash, or 0.
    pub hash: AtomicU32,
    /// Threads that enter, wait, or are about to.
    pub users: AtomicU32,
    /// How long to spin before sleeping.
    pub spin: AtomicU32,
    pub queues: LeafLock<Queues>,
    next_free: AtomicU32,
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
pub(super) fn get(index: u32) -> &'static Fat {
    TABLE
        .get(index)
        .and_then(Published::get)
        .expect("a fat sync word names an entry")
}

/// A fresh entry with that state.
pub(super) fn allocate(owner: u32, count: u32, hash: u32) -> &'static Fat {
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
            index,
            lock: Handoff::new(0),
            count: AtomicU32::new(0),
            hash: AtomicU32::new(0),
            users: AtomicU32::new(0),
            spin: AtomicU32::new(0),
            queues: LeafLock::default(),
            next_free: AtomicU32::new(0),
            in_use: AtomicBool::new(false),
        })
    };
    entry.lock.reset(owner);
    entry.count.store(count, Ordering::Relaxed);
    entry.hash.store(hash, Ordering::Relaxed);
    entry
        .spin
        .store(super::contend::FIRST_SPIN, Ordering::Relaxed);
    entry.in_use.store(true, Ordering::Release);
    entry
}

/// Gives an entry back that no sync word names (any more).
pub(super) fn release(entry: &'static Fat) {
    let was = entry.in_use.swap(false, Ordering::AcqRel);
    debug_assert!(was, "an entry is given back once");
    entry.lock.reset(0);
    entry.count.store(0, Ordering::Relaxed);
    let mut free = FREE.lock();
    entry.next_free.store(free.first, Ordering::Relaxed);
    free.first = entry.index;
}

impl Fat {
    /// The sync word that names it.
    pub fn word(&self) -> u32 {
        self.index << PAYLOAD_SHIFT | KIND_FAT
    }
    fn is_idle(&self) -> bool {
        self.lock.owner() == 0 && self.users.load(Ordering::Acquire) == 0
    }
}

/// The index in a fat sync word, for the collector; None for any other word.
pub fn index_of(sync_word: u32) -> Option<u32> {
    (sync_word & KIND_MASK == KIND_FAT).then_some(sync_word >> PAYLOAD_SHIFT)
}

/// World stopped: takes the monitor of a live object away if nobody owns, enters or waits at it. The answer is the
/// sync word that the object gets instead (its hash, or 0).
pub fn deflate(index: u32) -> Option<u32> {
    let entry = get(index);
    if !entry.is_idle() {
        return None;
    }
    let word = match entry.hash.load(Ordering::Relaxed) {
        0 => 0,
        h => h << PAYLOAD_SHIFT | KIND_HASH,
    };
    release(entry);
    Some(word)
}

/// World stopped: the monitor's object is gone. (An owner has dropped it; nobody can ever leave.)
pub fn abandon(index: u32) {
    let entry = get(index);
    debug_assert!(
        entry.users.load(Ordering::Acquire) == 0,
        "an object that somebody waits at is on a stack"
    );
    release(entry);
}
/// Monitors in use, and ever made.
pub fn counts() -> (usize, usize) {
    let mut used = 0;
    for_each_in_use(|_| used += 1);
    (used, FREE.lock().made as usize)
}
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

#[cfg(test)]
mod tests {
    use super::*;

    // One test: the table is one for the process.
    #[test]
    fn entries_come_and_go() {
        let owned = allocate(7, 1, 0);
        let hashed = allocate(0, 0, 0x1234);
        let used = allocate(0, 0, 0);
        used.users.store(1, Ordering::Relaxed);
        assert_eq!(index_of(owned.word()), Some(owned.index));
        assert_eq!(index_of(0x1234 << PAYLOAD_SHIFT | KIND_HASH), None);
        assert_eq!(deflate(owned.index), None);
        assert_eq!(deflate(used.index), None);
        assert_eq!(
            deflate(hashed.index),
            Some(0x1234 << PAYLOAD_SHIFT | KIND_HASH)
        );
        let again = allocate(0, 0, 0);
        assert!(std::ptr::eq(again, hashed), "a free entry is used again");
        assert_eq!(again.hash.load(Ordering::Relaxed), 0);
        assert_eq!(deflate(again.index), Some(0));
        let kept = allocate(0, 0, 0);
        abandon(owned.index);
        assert_eq!(counts().0, 2);
        used.users.store(0, Ordering::Relaxed);
        assert_eq!(
            (deflate(used.index), deflate(kept.index)),
            (Some(0), Some(0))
        );
        assert_eq!(counts().0, 0);
    }
}
