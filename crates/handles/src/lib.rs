//! Lock-free GC handles: words outside the heap that refer to objects, named by 32-bit values.
//!
//! Knows nothing of objects but that their addresses are multiples of 8, and nothing of the CLI.
//!
//! # Terms
//! * *handle*: `(index << 3) | (kind + 1)`, never 0. There is one table for each [`Kind`].
//! * *slot*: what an index names; one word, and one *side* word of 32 bits.
//! * *group*: [`GROUP`] neighbouring slots. Threads take fresh slots by groups, and the collector skips whole groups.
//! * *bucket*: the memory of some groups, each bucket twice as large as the last.
//! * *hint*: a thread's own slots in waiting ([`Hint`]).
//!
//! # Invariants
//! * A word is 0 (free), `object | VALID | OCCUPIED`, or `domain << 2 | OCCUPIED` (the object is gone).
//! * A free slot has exactly one owner: the table (its group was never given out), one hint, or the shared queue. Only its
//!   owner claims it. So nobody retries, a slot is never in two queues, and a plain store claims it (a compare-and-swap from
//!   0 would cost a third of an allocation and cannot fail; debug builds and the models assert that).
//! * An occupied word changes by compare-and-swap from the word seen, so of two frees one wins, and a set that lost against a
//!   free stores nothing.
//! * The side word is the next slot of the queue while the slot is free, and the slot's domain while it is occupied.
//! * A bucket is published by one compare-and-swap of its pointer and never moves. There is no capacity beside the pointers
//!   that could be seen too early: an index whose bucket is null is no handle.
//! * A group's 'may hold young' byte is set after every store of a reference into the group, before its thread can be
//!   stopped: handles are allocated, set and freed in Runtime state only.
//! * No value, however wrong, makes anything read outside a bucket: what is stale, foreign or garbage gives `None` or `false`.
//!
//! A handle has no generation bits, since its word must be recognisable on a stack by its high bits; a stale handle is known
//! as long as its slot is not reused, and freed slots wait in first-in-first-out queues to put that off.
//!
//! # For generated code
//! The target of any 32 bits `h`, with `t` = [`Tables::rows`]:
//! ```text
//! row    = t + ((h & 7) << ROW_SHIFT)
//! j = (h >> 3) + FIRST_BUCKET        b = index of the highest set bit of j (bsr)
//! bucket = load row[b]               null: no such handle, go the slow way
//! word   = load bucket[j ^ 1 << b]   (8-byte words)
//! word & VALID == 0: free or expired, go the slow way; else the object is word & !TAGS
//! ```
//! The low bits that are no kind's (0, 5, 6, 7) have rows of nulls, and `b` is never beyond a row's bucket pointers.
//!
//! # Model checking
//! `cargo test -p vervet-handles --features loom --lib` runs the models of allocate, free, expire and grow on tables
//! of a few slots. The feature replaces the atomics, so the other tests are not built with it.
mod collect;
mod memory;
#[cfg(all(test, feature = "loom"))]
mod models;
mod queue;
mod table;
mod word;

pub use collect::Count;
pub use memory::{FIRST_BUCKET, GROUP};
pub use queue::Hint;
pub use word::{TAGS, VALID};

use memory::Ordering;
use table::Table;
use word::Word;

/// What a handle does for its object; the numbers are those of System.Runtime.InteropServices.GCHandleType.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Keeps nothing alive; null once the object is to be finalized.
    Weak = 0,
    /// Keeps nothing alive; null once the object is gone for good.
    WeakTrackResurrection = 1,
    /// Keeps the object alive.
    Normal = 2,
    /// Keeps the object alive and in its place.
    Pinned = 3,
}

impl Kind {
    /// All of them, by number.
    pub const ALL: [Kind; 4] = [
        Kind::Weak,
        Kind::WeakTrackResurrection,
        Kind::Normal,
        Kind::Pinned,
    ];

    /// From its number.
    pub fn from_i32(n: i32) -> Option<Kind> {
        Kind::ALL.get(usize::try_from(n).ok()?).copied()
    }

    /// What a handle value says of its kind, whether or not it is in use.
    pub fn of(handle: u32) -> Option<Kind> {
        Kind::from_i32((handle & 7) as i32 - 1)
    }
}

fn handle_of(kind: Kind, index: u32) -> u32 {
    index << 3 | (kind as u32 + 1)
}

/// Each kind's table takes `1 << ROW_SHIFT` bytes and begins with the bucket pointers.
pub const ROW_SHIFT: u32 = 9;
#[cfg(not(feature = "loom"))]
const _: () = assert!(size_of::<Table>() == 1 << ROW_SHIFT);

/// The row of low bits that are no kind's: null bucket pointers.
#[derive(Debug)]
#[repr(C, align(512))]
struct NoTable([usize; (1 << ROW_SHIFT) / size_of::<usize>()]);

impl NoTable {
    const fn new() -> NoTable {
        NoTable([0; (1 << ROW_SHIFT) / size_of::<usize>()])
    }
}

/// The handles of a process. See the crate.
#[derive(Debug)]
#[repr(C)]
pub struct Tables {
    none: NoTable,
    tables: [Table; 4],
    beyond: [NoTable; 3],
}

impl Tables {
    /// No handles, and no memory yet.
    #[cfg(not(feature = "loom"))]
    #[allow(
        clippy::new_without_default,
        reason = "there is one per process, a static"
    )]
    pub const fn new() -> Tables {
        Tables {
            none: NoTable::new(),
            tables: [const { Table::new() }; 4],
            beyond: [const { NoTable::new() }; 3],
        }
    }
    /// No handles, and no memory yet.
    #[cfg(feature = "loom")]
    #[allow(clippy::new_without_default, reason = "as without the feature")]
    pub fn new() -> Tables {
        Tables {
            none: NoTable::new(),
            tables: std::array::from_fn(|_| Table::new()),
            beyond: [const { NoTable::new() }; 3],
        }
    }

    pub(crate) fn table(&self, kind: Kind) -> &Table {
        &self.tables[kind as usize]
    }

    fn slot(&self, handle: u32) -> Option<table::Slot<'_>> {
        self.table(Kind::of(handle)?).slot(handle >> 3)
    }

    /// A new handle to the object at `object` (0: null), which belongs to `domain` (under 2^30). None: no memory, or all 2^29
    /// handles of the kind are in use.
    pub fn alloc(&self, hint: &mut Hint, kind: Kind, object: usize, domain: u32) -> Option<u32> {
        let index = self.table(kind).take(&mut hint.lanes[kind as usize])?;
        Some(self.claim(kind, index, object, domain))
    }

    /// As [`Tables::alloc`], in a few instructions, with slots that are the hint's already. None: it has none to spare, call
    /// that one.
    #[inline]
    pub fn alloc_own(
        &self,
        hint: &mut Hint,
        kind: Kind,
        object: usize,
        domain: u32,
    ) -> Option<u32> {
        let lane = &mut hint.lanes[kind as usize];
        let index = self.table(kind).take_own(lane)?;
        Some(self.claim(kind, index, object, domain))
    }

    /// A slot that is the caller's becomes a handle.
    #[inline]
    fn claim(&self, kind: Kind, index: u32, object: usize, domain: u32) -> u32 {
        debug_assert!(domain < 1 << 30);
        let slot = self.table(kind).given_slot(index);
        slot.side.store(domain, Ordering::Release);
        let word = Word::object(object).0;
        if cfg!(debug_assertions) {
            let before = slot.word.swap(word, Ordering::AcqRel);
            assert_eq!(before, 0, "a slot with two owners");
        } else {
            slot.word.store(word, Ordering::Release);
        }
        if object != 0 {
            slot.note_young();
        }
        handle_of(kind, index)
    }

    /// Frees a handle; false if it is not in use. Waits for nobody.
    #[inline]
    pub fn free(&self, hint: &mut Hint, handle: u32) -> bool {
        let Some(slot) = self.slot(handle) else {
            return false;
        };
        let mut seen = slot.word.load(Ordering::Relaxed);
        loop {
            if !Word(seen).is_occupied() {
                return false;
            }
            match slot
                .word
                .compare_exchange_weak(seen, 0, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => break,
                Err(now) => seen = now,
            }
        }
        let kind = (handle & 7) as usize - 1;
        self.tables[kind].put(&mut hint.lanes[kind], handle >> 3);
        true
    }

    /// Address of the object a handle refers to, 0 if that is null or gone. None: not in use.
    #[inline]
    pub fn target(&self, handle: u32) -> Option<usize> {
        Word(self.slot(handle)?.word.load(Ordering::Acquire)).target()
    }

    /// Makes a handle refer to another object, or null; false if it is not in use.
    pub fn set_target(&self, handle: u32, object: usize) -> bool {
        self.replace(handle, object, |_| true).is_some()
    }

    /// Makes a handle refer to `new` if it refers to `current` (0: null or gone). Returns what it referred to before, None if
    /// the handle is not in use.
    pub fn compare_exchange_target(
        &self,
        handle: u32,
        current: usize,
        new: usize,
    ) -> Option<usize> {
        self.replace(handle, new, |before| before == current)
    }

    fn replace(&self, handle: u32, object: usize, wanted: impl Fn(usize) -> bool) -> Option<usize> {
        let slot = self.slot(handle)?;
        let mut seen = slot.word.load(Ordering::Acquire);
        loop {
            let before = Word(seen).target()?;
            if !wanted(before) {
                return Some(before);
            }
            match slot.word.compare_exchange_weak(
                seen,
                Word::object(object).0,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => {
                    if object != 0 {
                        slot.note_young();
                    }
                    return Some(before);
                }
                Err(now) => seen = now,
            }
        }
    }

    /// The kind of a handle in use.
    pub fn kind(&self, handle: u32) -> Option<Kind> {
        self.target(handle).and(Kind::of(handle))
    }

    /// The domain a handle in use belongs to.
    pub fn domain(&self, handle: u32) -> Option<u32> {
        let slot = self.slot(handle)?;
        let mut seen = slot.word.load(Ordering::Acquire);
        loop {
            Word(seen).target()?;
            let domain = slot.side.load(Ordering::Acquire);
            // The side word was a domain only if the slot was not freed meanwhile.
            match slot.word.load(Ordering::Acquire) {
                now if now == seen => return Some(domain),
                now => seen = now,
            }
        }
    }

    /// A thread ends: its slots in waiting go to the shared queues.
    pub fn retire(&self, hint: &mut Hint) {
        for (table, lane) in self.tables.iter().zip(&mut hint.lanes) {
            table.retire(lane);
        }
    }

    /// Address of the slot's word; None if there is no such slot.
    pub fn slot_address(&self, kind: Kind, index: u32) -> Option<usize> {
        let slot = self.table(kind).slot(index)?;
        Some(std::ptr::from_ref(slot.word) as usize)
    }

    /// Address of what generated code reads: a row of bucket pointers for each value of a handle's low bits. See the crate.
    pub fn rows(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }
}
