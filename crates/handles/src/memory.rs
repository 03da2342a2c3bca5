//! The atomics, the sizes and the memory of the tables: the real ones, or loom's.
//!
//! ```text
//!   one reserved range of addresses, with 2^29 indices
//!   +------------------------------------------------+--------------------------+-----------------------+
//!   | words: 8 rows of 2^29 * 8 bytes, by low bits   | side words: 4 rows of    | groups' bytes: 4 rows |
//!   | of a handle; only rows 1 to 4 are ever written | 2^29 * 4 bytes, by kind  | of 2^23 bytes         |
//!   +------------------------------------------------+--------------------------+-----------------------+
//!     32 GiB                                           8 GiB                      32 MiB
//! ```
//!
//! # Invariants
//! * Memory starts as zeros: all slots are free, and no group holds young objects. It never moves.
//! * Once there is memory, every slot of every index can be read. Only those of groups that were handed out can be written to
//!   ([`Row::commit`](space::Row::commit) comes first), so a system that counts writable memory counts little.
//! * Usually an index is any number of [`INDEX_BITS`] bits, so no handle value needs a check. A process whose address space is limited has fewer
//!   ([`Space::limit`](space::Space::limit), called before there is memory), and a value whose index has more bits is no handle.

#[cfg(feature = "loom")]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicUsize, Ordering};
#[cfg(not(feature = "loom"))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicUsize, Ordering};

#[cfg(not(feature = "loom"))]
mod sizes {
    /// Slots in a group.
    pub const GROUP: u32 = 64;
    /// Indices have as many bits.
    pub const INDEX_BITS: u32 = 29;
    /// How many freed slots wait in a thread's queue before the first of them is used again.
    pub(crate) const REUSE_DELAY: u32 = 256;
    /// Room in a thread's queue; a power of two.
    pub(crate) const ROOM: u32 = 512;
    /// How many slots are handed over, or taken from the shared queue, at once.
    pub(crate) const BATCH: u32 = 128;
}
#[cfg(feature = "loom")]
mod sizes {
    #![allow(missing_docs, reason = "as without the feature")]
    pub const GROUP: u32 = 1;
    pub const INDEX_BITS: u32 = 3;
    pub(crate) const REUSE_DELAY: u32 = 0;
    pub(crate) const ROOM: u32 = 2;
    pub(crate) const BATCH: u32 = 1;
}
pub use sizes::*;

/// Slots of a kind, at most.
#[cfg(feature = "loom")]
pub(crate) const MAX_SLOTS: u32 = 1 << INDEX_BITS;
// What a thread takes from elsewhere, when too few of its own have waited, fits in front of them.
const _: () = assert!(REUSE_DELAY + GROUP + GROUP <= ROOM && REUSE_DELAY + GROUP + BATCH <= ROOM);
const _: () = assert!(ROOM.is_power_of_two());

#[cfg(not(feature = "loom"))]
mod space {
    use super::*;
    use std::sync::atomic::AtomicPtr;

    /// Words of the eight values of a handle's low bits (of which four are kinds), then the side words of the four kinds,
    /// then their groups' bytes. One range of addresses, reserved at once.
    #[derive(Debug)]
    pub(crate) struct Space {
        /// The beginning of the range; null before it is reserved.
        base: AtomicPtr<u8>,
        /// How many bits an index has. It does not change once there is memory.
        bits: AtomicU32,
    }

    /// Where the side words begin, if indices have so many bits.
    pub(crate) const fn sides_at(bits: u32) -> usize {
        (8 * 8) << bits
    }
    /// Where the groups' bytes begin.
    pub(crate) const fn young_at(bits: u32) -> usize {
        sides_at(bits) + ((4 * 4) << bits)
    }
    /// Bytes of the whole range.
    pub(crate) const fn bytes(bits: u32) -> usize {
        young_at(bits) + (4 << bits) / GROUP as usize
    }
    /// Memory becomes writable in steps that begin at multiples of this many groups.
    const STEP: u32 = 64;

    impl Space {
        pub(crate) const fn new() -> Space {
            Space {
                base: AtomicPtr::new(std::ptr::null_mut()),
                bits: AtomicU32::new(INDEX_BITS),
            }
        }
        /// Indices are to have `bits` bits. Called by one thread, before there is memory.
        pub(crate) fn limit(&self, bits: u32) {
            assert!((GROUP.ilog2() + STEP.ilog2()..=INDEX_BITS).contains(&bits));
            assert!(self.base.load(Ordering::Acquire).is_null());
            self.bits.store(bits, Ordering::Release);
        }
        /// How many bits an index has.
        pub(crate) fn bits(&self) -> u32 {
            self.bits.load(Ordering::Relaxed)
        }
        /// Address of the words; reserves everything if that was not done yet. None: there is not enough address space.
        pub(crate) fn reserve(&self) -> Option<usize> {
            let there = self.base.load(Ordering::Acquire);
            if !there.is_null() {
                return Some(there as usize);
            }
            let size = bytes(self.bits());
            let made = vervet_os::memory::reserve_read_only(size).ok()?;
            // Of two threads that reserve at once the first to publish wins; the other releases its range, which nobody has seen.
            match self.base.compare_exchange(
                std::ptr::null_mut(),
                made,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => Some(made as usize),
                Err(other) => {
                    // SAFETY: made above and seen by nobody.
                    unsafe { vervet_os::memory::release(made, size) };
                    Some(other as usize)
                }
            }
        }
        /// What belongs to the slots of a kind; None before [`Space::reserve`].
        #[inline]
        pub(crate) fn of(&self, kind: usize) -> Option<Row<'_>> {
            debug_assert!(kind < 4);
            let base = self.base.load(Ordering::Acquire);
            (!base.is_null()).then_some(Row {
                base,
                bits: self.bits(),
                kind,
                space: std::marker::PhantomData,
            })
        }
    }
    impl Drop for Space {
        fn drop(&mut self) {
            let base = *self.base.get_mut();
            if !base.is_null() {
                // SAFETY: reserved with that size; the tables are going, and slots borrow them.
                unsafe { vervet_os::memory::release(base, bytes(self.bits())) };
            }
        }
    }

    /// The slots of one kind.
    #[derive(Clone, Copy)]
    pub(crate) struct Row<'t> {
        base: *mut u8,
        bits: u32,
        kind: usize,
        space: std::marker::PhantomData<&'t ()>,
    }

    impl<'t> Row<'t> {
        /// How many slots there are: every index is below.
        #[inline]
        pub(crate) fn slots(self) -> u32 {
            1 << self.bits
        }
        /// Where the kind's words begin, from `base` on. The row of number `kind + 1`: rows are ordered by the low bits of a handle.
        #[inline]
        fn words_at(self) -> usize {
            (self.kind + 1) << self.bits << 3
        }
        /// Where the kind's side words begin.
        #[inline]
        fn sides_at(self) -> usize {
            sides_at(self.bits) + (self.kind << self.bits << 2)
        }
        /// Where the bytes of the kind's groups begin.
        #[inline]
        fn young_at(self) -> usize {
            young_at(self.bits) + (self.kind << self.bits) / GROUP as usize
        }
        /// The word of slot `i`.
        #[inline]
        pub(crate) fn word(self, i: u32) -> &'t AtomicUsize {
            debug_assert!(i < self.slots());
            // SAFETY: `i` is below the number of slots, so the word lies in the kind's row of the reservation; zeros are a valid atomic.
            unsafe {
                &*self
                    .base
                    .add(self.words_at() + i as usize * 8)
                    .cast::<AtomicUsize>()
            }
        }
        /// The words of the group that begins with slot `i`.
        #[inline]
        pub(crate) fn group(self, i: u32) -> &'t [AtomicUsize] {
            debug_assert!(i.is_multiple_of(GROUP));
            // SAFETY: `i` begins a group, so the group's words lie side by side in the kind's row.
            unsafe { std::slice::from_raw_parts(self.word(i), GROUP as usize) }
        }
        /// The side word of slot `i`.
        #[inline]
        pub(crate) fn side(self, i: u32) -> &'t AtomicU32 {
            debug_assert!(i < self.slots());
            // SAFETY: `i` is below the number of slots, so the word lies in the kind's row of side words.
            unsafe {
                &*self
                    .base
                    .add(self.sides_at() + i as usize * 4)
                    .cast::<AtomicU32>()
            }
        }
        /// The 'may hold young' byte of the group of slot `i`.
        #[inline]
        pub(crate) fn young(self, i: u32) -> &'t AtomicU8 {
            debug_assert!(i < self.slots());
            // SAFETY: `i` is below the number of slots, so its group's byte lies in the kind's row of such bytes.
            unsafe {
                &*self
                    .base
                    .add(self.young_at() + (i / GROUP) as usize)
                    .cast::<AtomicU8>()
            }
        }
        /// A free slot is about to be claimed by its one owner. The models check that; here only debug builds do.
        #[inline]
        pub(crate) fn claimed(self, i: u32) {
            let free = self.word(i).load(Ordering::Relaxed) == 0;
            debug_assert!(free, "a slot with two owners");
        }
        /// A slot was freed, and has an owner again.
        #[inline]
        pub(crate) fn freed(self, _: u32) {}
        /// Makes what belongs to a group writable. `done` is how many groups of this kind are so already, or fewer.
        pub(crate) fn commit(self, group: u32, done: &AtomicU32) -> Option<()> {
            let before = done.load(Ordering::Acquire);
            if group < before {
                return Some(());
            }
            // Double what there is: few system calls, and few mappings.
            let end = (before * 2)
                .max(group + 1)
                .next_multiple_of(STEP)
                .min(self.slots() / GROUP) as usize;
            let (first, end_slot) = (before as usize * GROUP as usize, end * GROUP as usize);
            for (at, low, high) in [
                (self.words_at(), first * 8, end_slot * 8),
                (self.sides_at(), first * 4, end_slot * 4),
                (self.young_at(), before as usize, end),
            ] {
                // SAFETY: part of the reservation; the pages become writable and keep what is in them.
                unsafe {
                    vervet_os::memory::make_writable(
                        self.base as usize + at + low,
                        self.base as usize + at + high,
                    )
                }
                .ok()?;
            }
            done.fetch_max(end as u32, Ordering::AcqRel);
            Some(())
        }
    }
}
#[cfg(feature = "loom")]
mod space {
    use super::*;
    use vervet_os::LeafLock;

    #[derive(Debug)]
    struct Slots {
        words: Vec<AtomicUsize>,
        side: Vec<AtomicU32>,
        young: Vec<AtomicU8>,
        /// Which slots are claimed, for the models. No step of the protocol: threads of a model run one at a time, and
        /// loom does not know of this lock.
        claimed: LeafLock<Vec<bool>>,
    }
    /// As without the feature, of a few slots.
    #[derive(Debug)]
    pub(crate) struct Space(Vec<Slots>);

    impl Space {
        pub(crate) fn new() -> Space {
            let slots = |_| Slots {
                words: (0..MAX_SLOTS).map(|_| AtomicUsize::new(0)).collect(),
                side: (0..MAX_SLOTS).map(|_| AtomicU32::new(0)).collect(),
                young: (0..MAX_SLOTS).map(|_| AtomicU8::new(0)).collect(),
                claimed: LeafLock::new(vec![false; MAX_SLOTS as usize]),
            };
            Space((0..4).map(slots).collect())
        }
        pub(crate) fn reserve(&self) -> Option<usize> {
            Some(0)
        }
        pub(crate) fn of(&self, kind: usize) -> Option<Row<'_>> {
            Some(Row(&self.0[kind]))
        }
    }

    #[derive(Clone, Copy)]
    pub(crate) struct Row<'t>(&'t Slots);

    impl<'t> Row<'t> {
        pub(crate) fn slots(self) -> u32 {
            MAX_SLOTS
        }
        pub(crate) fn word(self, i: u32) -> &'t AtomicUsize {
            &self.0.words[i as usize]
        }
        pub(crate) fn group(self, i: u32) -> &'t [AtomicUsize] {
            &self.0.words[i as usize..(i + GROUP) as usize]
        }
        pub(crate) fn side(self, i: u32) -> &'t AtomicU32 {
            &self.0.side[i as usize]
        }
        pub(crate) fn young(self, i: u32) -> &'t AtomicU8 {
            &self.0.young[(i / GROUP) as usize]
        }
        pub(crate) fn claimed(self, i: u32) {
            let was = std::mem::replace(&mut self.0.claimed.lock()[i as usize], true);
            assert!(!was, "a slot with two owners");
        }
        pub(crate) fn freed(self, i: u32) {
            let was = std::mem::replace(&mut self.0.claimed.lock()[i as usize], false);
            assert!(was, "a slot that is freed twice");
        }
        pub(crate) fn commit(self, group: u32, done: &AtomicU32) -> Option<()> {
            if group >= done.load(Ordering::Acquire) {
                done.fetch_max(group + 1, Ordering::AcqRel);
            }
            Some(())
        }
    }
}
pub(crate) use space::{Row, Space};
#[cfg(not(feature = "loom"))]
pub(crate) use space::{bytes, sides_at, young_at};
