//! Lock-free GC handles: words outside the heap that refer to objects, named by 32-bit values.
//!
//! This crate knows nothing of objects but that their addresses are multiples of 8, and nothing of the CLI.
//!
//! # Terms
//! * *handle*: `(index << 3) | (kind + 1)`, never 0. There is one table for each [`Kind`].
//! * *slot*: what an index names; one word, and one *side* word of 32 bits.
//! * *group*: [`GROUP`] neighbouring slots. Threads take fresh slots by groups, and the collector skips whole groups.
//! * *hint*: a thread's own cache of free slots ([`Hint`]).
//!
//! ```text
//!   handle   31 .................................. 3 | 2 .. 0
//!            index of the slot                       | kind + 1 (0, 5, 6, 7: no handle)
//!
//!   word     63 ................................ 3 | 2 | 1     | 0          side word
//!            0                                     | 0 | 0     | 0          free        the next free slot, or garbage
//!            address of the object, or 0 for null  | 0 | VALID | OCCUPIED   in use      the domain
//!            domain << 2 (the object is gone)      | . | 0     | OCCUPIED   expired     the domain
//! ```
//!
//! # The life of a slot
//! ```text
//!   fresh group --take_group--> hint --claim: store--> in use --free: compare-and-swap to 0--> the hint of the freeing thread
//!                                ^                       | the collector: object gone            |
//!                                |                       v                                       | waits (first in, first out)
//!                                |                    expired --free--> as above                 v
//!                                +---------------- shared queue <---- too many, or the thread ends
//! ```
//!
//! # Invariants
//! * A word is 0 (free), `object | VALID | OCCUPIED`, or `domain << 2 | OCCUPIED` (the object is gone).
//! * A free slot has exactly one owner: the table (its group was never handed out), one hint, or the shared queue. Only its owner claims it. So
//!   claiming never has to be retried, and a slot is never in two queues. Claiming is a plain store: a compare-and-swap from 0 would cost a
//!   third of an allocation and could not fail. The models keep account of owners; debug builds check that the word is 0.
//! * An occupied word changes by compare-and-swap from the word that was read. So of two threads that free a handle one wins, and a thread that
//!   sets the target and loses against a free stores nothing.
//! * The side word is the slot's domain while the slot is occupied, and the next slot while it is in a linked queue.
//! * All words lie in one range of addresses that is reserved at once, and every word of it can be read: a slot that was never handed out reads
//!   as free.
//! * A group's 'may hold young' byte is set after every store of a reference into the group, and before the storing thread can be stopped:
//!   handles are allocated, set and freed in Runtime state only.
//! * No value, however wrong, makes anything read outside that range. A stale, foreign or garbage value gives `None` or `false`.
//!
//! A handle has no generation bits, since its word must be recognisable on a stack by its high bits. A stale handle is detected as long as its
//! slot is not reused, and freed slots wait in first-in-first-out queues to postpone that.
//!
//! # For generated code
//! The target of any 32 bits `h`, with `t` = [`Tables::rows`]:
//! ```text
//! word   = load t[h rotated right by KIND_BITS]   (8-byte words, the index has 32 bits)
//! word & VALID == 0: free, expired or no handle at all, take the slow path; else the object is word & !TAGS
//! ```
//! The low bits that belong to no kind (0, 5, 6, 7) have words too, all 0. If indices have fewer than the usual bits ([`Tables::limit`]),
//! `h >> KIND_BITS` must be found below `1 << bits` first; the number of the word is then `(h & 7) << bits | h >> KIND_BITS`.
//!
//! A new handle to an object that is not null, where the thread cannot be stopped: take a slot of the thread's own (`ring[first]` of the lane of
//! its kind, if `first` is not `ready`), store the domain in the side word, then the word, then the group's byte ([`layout`]). To free a handle:
//! change the word by compare-and-swap, as everywhere, then put the slot at the end of the ring, which must have space for one more than that.
//! Every other case is left to [`Tables::alloc`] and [`Tables::free`].
//!
//! # Model checking
//! `cargo test -p vervet-handles --features loom --lib` runs the models of allocate, free, expire and grow on tables of a few slots: the code that
//! ships, and the sequences of generated code, which `inlined.txt` lists instruction by instruction. The feature replaces the atomics, the sizes
//! and the memory, so the other tests are not built with it.
mod collect;
#[cfg(all(test, feature = "loom"))]
mod inlined;
#[cfg(not(feature = "loom"))]
pub mod layout;
mod memory;
#[cfg(all(test, feature = "loom"))]
mod models;
mod queue;
mod table;
mod word;

pub use collect::Count;
pub use memory::{GROUP, INDEX_BITS};
pub use queue::Hint;
pub use word::{OCCUPIED, TAGS, VALID};

use memory::{Ordering, Space};
use table::{Slot, State, Table};
use vervet_os::perturb;
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
        Kind::from_i32((handle & ((1 << KIND_BITS) - 1)) as i32 - 1)
    }
}

fn handle_of(kind: Kind, index: u32) -> u32 {
    index << KIND_BITS | (kind as u32 + 1)
}

/// How many low bits of a handle are its kind's.
pub const KIND_BITS: u32 = 3;
#[cfg(not(feature = "loom"))]
const _: () = assert!(KIND_BITS + INDEX_BITS == 32);

/// The handles of a process. See the crate.
#[derive(Debug)]
pub struct Tables {
    space: Space,
    states: [State; 4],
}

impl Tables {
    /// No handles, and no memory yet.
    #[cfg(not(feature = "loom"))]
    #[expect(
        clippy::new_without_default,
        reason = "there is one per process, a static"
    )]
    pub const fn new() -> Tables {
        Tables {
            space: Space::new(),
            states: [const { State::new() }; 4],
        }
    }
    /// No handles, and no memory yet.
    #[cfg(feature = "loom")]
    #[expect(clippy::new_without_default, reason = "as without the feature")]
    pub fn new() -> Tables {
        Tables {
            space: Space::new(),
            states: std::array::from_fn(|_| State::new()),
        }
    }

    /// The table of a kind. None before there is memory.
    #[inline]
    pub(crate) fn table(&self, kind: Kind) -> Option<Table<'_>> {
        Some(Table {
            row: self.space.of(kind as usize)?,
            state: &self.states[kind as usize],
        })
    }

    /// The slot that a handle names, in use or not. None: the value is no handle, or there is no memory yet.
    #[inline]
    fn slot(&self, handle: u32) -> Option<Slot<'_>> {
        let index = handle >> KIND_BITS;
        let table = self.table(Kind::of(handle)?)?;
        (index < table.row.slots()).then(|| table.slot(index))
    }

    /// A new handle to the object at `object` (0: null), which belongs to `domain` (under 2^30). None: no memory, or all 2^29
    /// handles of the kind are in use.
    pub fn alloc(&self, hint: &mut Hint, kind: Kind, object: usize, domain: u32) -> Option<u32> {
        self.rows()?;
        let table = self.table(kind)?;
        let index = table.take(&mut hint.lanes[kind as usize])?;
        Some(claim(table, kind, index, object, domain))
    }

    /// As [`Tables::alloc`], in a few instructions, with slots that the hint has already. None: it has none that may be taken, and
    /// [`Tables::alloc`] has to be called.
    #[inline]
    pub fn alloc_own(
        &self,
        hint: &mut Hint,
        kind: Kind,
        object: usize,
        domain: u32,
    ) -> Option<u32> {
        let index = hint.lanes[kind as usize].take()?;
        // There is memory: a lane that has slots got them from a table that has memory.
        Some(claim(self.table(kind)?, kind, index, object, domain))
    }

    /// Frees a handle; false if it is not in use. The thread waits for no other. Of two threads that free one handle, one gets true.
    #[inline]
    pub fn free(&self, hint: &mut Hint, handle: u32) -> bool {
        let (index, kind) = (handle >> KIND_BITS, Kind::of(handle));
        let Some((kind, table)) = kind.and_then(|kind| Some((kind, self.table(kind)?))) else {
            return false;
        };
        if index >= table.row.slots() {
            return false;
        }
        let slot = table.slot(index);
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
        // The slot is free and in no queue here. It is this thread's: only one thread can have changed the word to 0.
        perturb::here();
        table.row.freed(index);
        table.put(&mut hint.lanes[kind as usize], index);
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

    /// Makes a handle refer to `object` if what it refers to is `wanted`. Returns what it referred to before. None: the handle is not in use.
    fn replace(&self, handle: u32, object: usize, wanted: impl Fn(usize) -> bool) -> Option<usize> {
        let slot = self.slot(handle)?;
        // Acquire: pairs with the release of the store that made the word, so the caller may use the object it names.
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
                    // The thread is in Runtime state: no collection can begin before the group's byte is set.
                    if object != 0 {
                        perturb::here();
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
            // The side word is a domain only if the slot was not freed between the two loads of the word. If it was freed and is in use
            // again with the same word, the domain that was read is that of the old or of the new handle, which are the same value.
            match slot.word.load(Ordering::Acquire) {
                now if now == seen => return Some(domain),
                now => seen = now,
            }
        }
    }

    /// A thread ends: the free slots of its hint go to the shared queues, where other threads find them.
    pub fn retire(&self, hint: &mut Hint) {
        for kind in Kind::ALL {
            if let Some(table) = self.table(kind) {
                table.retire(&mut hint.lanes[kind as usize]);
            }
        }
    }

    /// Indices are to have `bits` bits instead of [`INDEX_BITS`]: there are `1 << bits` handles of each kind at most, and the
    /// tables take [`layout::address_space`] of that. Called by one thread, before the first handle is made.
    #[cfg(not(feature = "loom"))]
    pub fn limit(&self, bits: u32) {
        self.space.limit(bits);
    }

    /// How many bits an index has.
    #[cfg(not(feature = "loom"))]
    pub fn index_bits(&self) -> u32 {
        self.space.bits()
    }

    /// Address of what generated code reads: the words, first by the low [`KIND_BITS`] of a handle, then by index. See the
    /// crate. Reserves them at the first call; None: there is not enough address space.
    #[inline]
    pub fn rows(&self) -> Option<usize> {
        self.space.reserve()
    }
}

/// Makes a slot that the caller owns a handle. The side word is stored first: whoever sees the word with acquire sees the domain. Both are plain
/// stores, because no other thread writes to a free slot.
#[inline]
fn claim(table: Table<'_>, kind: Kind, index: u32, object: usize, domain: u32) -> u32 {
    debug_assert!(domain < 1 << 30);
    let slot = table.slot(index);
    table.row.claimed(index);
    slot.side.store(domain, Ordering::Release);
    slot.word.store(Word::object(object).0, Ordering::Release);
    if object != 0 {
        slot.note_young();
    }
    handle_of(kind, index)
}
