//! The slots of one kind: finding one, and giving out fresh ones.
//!
//! # Invariants
//! * Groups below `fresh` were given out, each once; their buckets need not exist yet, but do before a slot of theirs is
//!   owned by a hint.
//! * A bucket pointer goes from null to a bucket once.
use crate::memory::*;
use crate::queue::Shared;
use std::ptr;

/// See the module. Readers of buckets and the writers of the rest use different cache lines. The size is a power of two, so
/// that generated code finds a kind's table by a shift ([`ROW_SHIFT`](crate::ROW_SHIFT)).
#[derive(Debug)]
#[repr(C, align(512))]
pub(crate) struct Table {
    buckets: [AtomicPtr<Start>; BUCKETS],
    /// The next group to be given out.
    fresh: AtomicU32,
    pub(crate) shared: Shared,
}

/// A slot that exists.
#[derive(Clone, Copy)]
pub(crate) struct Slot<'t> {
    pub(crate) word: &'t AtomicUsize,
    pub(crate) side: &'t AtomicU32,
    young: &'t AtomicU8,
}

impl Slot<'_> {
    /// A reference was stored. Tested first, because the bytes of 64 groups share a cache line.
    #[inline]
    pub(crate) fn note_young(self) {
        if self.young.load(Ordering::Relaxed) == 0 {
            self.young.store(1, Ordering::Relaxed);
        }
    }
    pub(crate) fn may_be_young(self) -> bool {
        self.young.load(Ordering::Relaxed) != 0
    }
    pub(crate) fn set_young(self, young: bool) {
        self.young.store(u8::from(young), Ordering::Relaxed);
    }
}

/// Which bucket a slot is in (its size is `1 << b`), and where in it.
#[inline]
fn place(index: u32) -> (usize, usize) {
    let j = index + FIRST_BUCKET;
    let b = j.ilog2();
    (b as usize, (j ^ 1 << b) as usize)
}

impl Table {
    #[cfg(not(feature = "loom"))]
    pub(crate) const fn new() -> Table {
        Table {
            buckets: [const { AtomicPtr::new(ptr::null_mut()) }; BUCKETS],
            fresh: AtomicU32::new(0),
            shared: Shared::new(),
        }
    }
    #[cfg(feature = "loom")]
    pub(crate) fn new() -> Table {
        Table {
            buckets: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
            fresh: AtomicU32::new(0),
            shared: Shared::new(),
        }
    }

    #[inline]
    pub(crate) fn bucket(&self, b: usize) -> Option<Bucket<'_>> {
        let start = self.buckets.get(b)?.load(Ordering::Acquire);
        // SAFETY: a published bucket has `1 << b` slots and lives as long as the table.
        (!start.is_null()).then(|| unsafe { Bucket::at(start, 1 << b) })
    }

    /// The slot with that index, if its bucket exists. `index` is anything of 29 bits.
    #[inline]
    pub(crate) fn slot(&self, index: u32) -> Option<Slot<'_>> {
        let (b, i) = place(index);
        let bucket = self.bucket(b)?;
        Some(Slot {
            word: bucket.word(i),
            side: bucket.side(i),
            young: bucket.young(i),
        })
    }

    /// As [`Table::slot`], for the index of a slot that was given out.
    #[inline]
    pub(crate) fn given_slot(&self, index: u32) -> Slot<'_> {
        self.slot(index).expect("a slot that was given out")
    }

    /// Groups given out so far.
    pub(crate) fn groups(&self) -> u32 {
        self.fresh.load(Ordering::Acquire)
    }

    /// Takes a group nobody has had; its first index. None: no memory or no indices left.
    pub(crate) fn take_group(&self) -> Option<u32> {
        let mut group = self.fresh.load(Ordering::Relaxed);
        loop {
            if group >= MAX_SLOTS / GROUP {
                return None;
            }
            // The bucket comes first: a group whose bucket cannot be had is not given out.
            self.ensure(place(group * GROUP).0)?;
            match self.fresh.compare_exchange_weak(
                group,
                group + 1,
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(group * GROUP),
                Err(now) => group = now,
            }
        }
    }

    /// Makes bucket `b` exist. Of several threads that allocate it one publishes, the others give theirs back.
    fn ensure(&self, b: usize) -> Option<()> {
        if !self.buckets[b].load(Ordering::Acquire).is_null() {
            return Some(());
        }
        let made = Bucket::allocate(1 << b)?;
        let published = self.buckets[b].compare_exchange(
            ptr::null_mut(),
            made,
            Ordering::AcqRel,
            Ordering::Acquire,
        );
        if published.is_err() {
            // SAFETY: made above and seen by nobody.
            unsafe { Bucket::release(made, 1 << b) };
        }
        Some(())
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        for (b, bucket) in self.buckets.iter().enumerate() {
            let start = bucket.load(Ordering::Relaxed);
            if !start.is_null() {
                // SAFETY: published by `ensure` with that size; the table is going, and slots borrow it.
                unsafe { Bucket::release(start, 1 << b) };
            }
        }
    }
}
