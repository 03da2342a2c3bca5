//! The heap's address range: blocks, what each is, and the free ones.
//!
//! # Invariants
//! * The range is cut into blocks of 64 KiB. A block's [`Kind`] is one byte of a table, which is all that "is it
//!   young" needs. Kinds change only while the world is stopped, except FREE to NURSERY, LARGE and STATICS.
//! * A free block is `clean` if its pages read as zeros.
//! * Side bitmaps have one bit per 8 bytes of heap: `start` (an object, or the first of a walkable row of objects, begins
//!   here), `mark` (old: reached in this cycle; young: pinned in this collection), `finalizable` (its finalizer is to run).
//!   One word of a bitmap covers one card.
pub mod block_bits;
pub mod card_marks;
pub mod large;
pub mod lines;
pub mod old;
pub mod recyclable;
pub(crate) mod reserve;

use crate::memory::{discard, prefer_huge_pages, reserve};
use crate::space::block_bits::CardBits;
use std::io;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering::*, fence};
use vervet_os::{LeafLock, perturb};

/// log2 of a block's size.
pub const BLOCK_SHIFT: u32 = 16;
/// Bytes of a block.
pub const BLOCK: usize = 1 << BLOCK_SHIFT;
/// log2 of the bytes that a card, and a word of a bitmap, covers.
pub const CARD_SHIFT: u32 = 9;
/// Bytes of a card.
pub const CARD: usize = 1 << CARD_SHIFT;
/// Cards of a block.
pub const CARDS: usize = BLOCK / CARD;
pub use crate::space::card_marks::CLEAN;

/// Beyond this part of the range huge pages are preferred: a large heap is walked much faster, a small one is to stay small.
const HUGE_FROM: usize = 32 << 20;

/// What a block is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    /// Nobody's.
    Free = 0,
    /// Young objects.
    Nursery = 1,
    /// Young objects that this minor collection has copied here.
    Survivors = 2,
    /// Old objects of at most [`crate::SMALL`] bytes.
    Old = 3,
    /// The first block of a large object.
    Large = 4,
    /// A further block of a large object.
    LargeTail = 5,
    /// Root memory: words, of which `start` bits mark the references.
    Statics = 6,
    /// Being made into something else.
    Taken = 7,
}
impl Kind {
    #[inline(always)]
    fn from_u8(n: u8) -> Kind {
        debug_assert!(n <= 7);
        // SAFETY: the table holds values of `Kind` only.
        unsafe { std::mem::transmute(n) }
    }
}

/// What is noted of a block. All zero is a fresh one.
#[repr(C)]
pub struct Info {
    /// Young: collections survived. Free: 1 if its pages may hold anything but zeros.
    pub age: AtomicU8,
    /// Old: its `start` bits include dead objects, those without `mark` bits. Large: the object is dead, and its blocks are to be given back.
    pub unswept: AtomicU8,
    /// Old: it is to be emptied at the end of this cycle.
    pub evacuate: AtomicU8,
    /// Old: a conservative reference points into it. Large: it was reached in this cycle.
    pub hit: AtomicU8,
    /// Large: it holds references. Old: it is in the list of blocks with room.
    pub flag: AtomicU8,
    /// It is in the list of free blocks (perhaps as a part of a large object: the list forgets those late).
    pub(crate) listed: AtomicU8,
    /// Young: some of its objects are pinned in this collection.
    pub pinned: AtomicU8,
    _pad: u8,
    /// Old: bytes of live objects when it was last swept. LargeTail: blocks since the first.
    pub live: AtomicU32,
    /// Link of the list of free blocks.
    next: AtomicU32,
    /// Large: bytes of the object.
    pub size: AtomicUsize,
}

/// Calls `f` with the address of each dirty one of 8 cards.
fn each_dirty(eight: u64, at: usize, f: &mut impl FnMut(usize)) {
    if eight != u64::MAX {
        for (i, card) in eight.to_le_bytes().into_iter().enumerate() {
            if card != CLEAN {
                f(at + i * CARD);
            }
        }
    }
}

/// No block.
pub const NONE: u32 = u32::MAX;

struct Free {
    /// Head of the list of single free blocks.
    head: u32,
    /// Free blocks below `used`.
    count: usize,
    /// Blocks from here on were never used.
    used: usize,
}

/// See [`Space::with_free`].
pub(crate) struct FreeBlocks<'s> {
    space: &'s Space,
    head: u32,
    /// Free blocks below `used`.
    pub count: usize,
    /// Blocks from here on were never used.
    pub used: usize,
}
impl FreeBlocks<'_> {
    /// The list, as its links have it: for ever, if they form a ring.
    pub fn list(&self) -> impl Iterator<Item = usize> {
        let next = |b: u32| (b != NONE).then_some(b);
        std::iter::successors(next(self.head), move |b| {
            next(self.space.info(*b as usize).next.load(Relaxed))
        })
        .map(|b| b as usize)
    }
}

/// See the module.
pub struct Space {
    base: usize,
    blocks: usize,
    kinds: usize,
    infos: usize,
    start: usize,
    mark: usize,
    finalizable: usize,
    cards: usize,
    card_mask: usize,
    mod_union: usize,
    used: AtomicUsize,
    free: LeafLock<Free>,
}

/// Bytes of address space that a space of `size` bytes takes.
pub(crate) const fn address_space(size: usize) -> usize {
    let bitmaps = 3 * (size / 64) + mod_union_bytes(size);
    size + BLOCK + bitmaps + size / BLOCK * (1 + size_of::<Info>())
}
const fn mod_union_bytes(size: usize) -> usize {
    (size >> CARD_SHIFT) / 8 + 8
}

impl Space {
    /// Reserves `size` bytes, or what the card table covers if that is less. `cards` is the card table, with `card_mask + 1` cards.
    pub fn new(size: usize, cards: usize, card_mask: usize) -> io::Result<Space> {
        let size = (size.min((card_mask + 1) << CARD_SHIFT)).max(16 * BLOCK) & !(BLOCK - 1);
        let base = (reserve(size + BLOCK)? + BLOCK - 1) & !(BLOCK - 1);
        let blocks = size / BLOCK;
        if size > HUGE_FROM {
            prefer_huge_pages(base + HUGE_FROM, base + size);
        }
        Ok(Space {
            base,
            blocks,
            kinds: reserve(blocks)?,
            infos: reserve(blocks * size_of::<Info>())?,
            start: reserve(size / 64)?,
            mark: reserve(size / 64)?,
            finalizable: reserve(size / 64)?,
            cards,
            card_mask,
            mod_union: reserve(mod_union_bytes(size))?,
            used: AtomicUsize::new(0),
            free: LeafLock::new(Free {
                head: NONE,
                count: 0,
                used: 0,
            }),
        })
    }

    // ---- addresses ----------------------------------------------------------------------------------------

    /// Address of a block.
    #[inline]
    pub fn address(&self, block: usize) -> usize {
        self.base + (block << BLOCK_SHIFT)
    }
    /// The block an address lies in, if it was ever used.
    #[inline(always)]
    pub fn block_of(&self, address: usize) -> Option<usize> {
        let b = address.wrapping_sub(self.base) >> BLOCK_SHIFT;
        (b < self.used.load(Relaxed)).then_some(b)
    }
    /// The block of an address known to lie in the heap.
    #[inline]
    pub fn block(&self, address: usize) -> usize {
        debug_assert!(
            self.block_of(address).is_some(),
            "{address:#x} is not in the heap"
        );
        (address - self.base) >> BLOCK_SHIFT
    }
    /// Number of blocks ever used.
    pub fn used(&self) -> usize {
        self.used.load(Relaxed)
    }
    /// The whole reserved range.
    pub fn range(&self) -> (usize, usize) {
        (self.base, self.base + self.blocks * BLOCK)
    }
    #[inline(always)]
    fn kind_cell(&self, block: usize) -> &AtomicU8 {
        // SAFETY: the table has an entry for each block.
        unsafe { &*((self.kinds + block) as *const AtomicU8) }
    }
    /// What a block is.
    #[inline(always)]
    pub fn kind(&self, block: usize) -> Kind {
        Kind::from_u8(self.kind_cell(block).load(Relaxed))
    }
    /// What the block of an address is; Free outside the heap.
    #[inline(always)]
    pub fn kind_at(&self, address: usize) -> Kind {
        match self.block_of(address) {
            Some(b) => self.kind(b),
            None => Kind::Free,
        }
    }
    /// Changes what a block is.
    #[inline]
    pub fn set_kind(&self, block: usize, kind: Kind) {
        self.kind_cell(block).store(kind as u8, Release);
    }
    /// What is noted of a block.
    #[inline(always)]
    pub fn info(&self, block: usize) -> &Info {
        debug_assert!(block < self.blocks);
        // SAFETY: the table has an entry for each block, zeroed at first.
        unsafe { &*((self.infos as *const Info).add(block)) }
    }

    // ---- bitmaps ------------------------------------------------------------------------------------------

    #[inline(always)]
    fn word(&self, map: usize, address: usize) -> &AtomicU64 {
        // SAFETY: the map has a word for every 512 bytes of the range.
        unsafe { &*((map as *const AtomicU64).add((address - self.base) >> CARD_SHIFT)) }
    }
    #[inline(always)]
    pub(crate) fn bit(address: usize) -> u64 {
        1 << ((address >> 3) & 63)
    }
    /// The word of `start` bits of the 512 bytes around an address.
    #[inline(always)]
    pub fn start_word(&self, address: usize) -> &AtomicU64 {
        self.word(self.start, address)
    }
    /// The word of `mark` bits.
    #[inline(always)]
    pub fn mark_word(&self, address: usize) -> &AtomicU64 {
        self.word(self.mark, address)
    }
    /// Sets a `start` bit.
    #[inline]
    pub fn set_start(&self, address: usize) {
        self.start_word(address)
            .fetch_or(Self::bit(address), AcqRel);
    }
    /// Sets `start` bits on a card of a block where nobody else sets any meanwhile.
    #[inline]
    pub fn set_starts_alone(&self, card: usize, bits: u64) {
        block_bits::add_starts(self.start_word(card), bits);
    }
    /// Sets `mark` bits on a card where nobody else sets any meanwhile.
    #[inline]
    pub fn set_marks_alone(&self, card: usize, bits: u64) {
        let w = self.mark_word(card);
        w.store(w.load(Relaxed) | bits, Relaxed);
    }
    /// Pins a young object for this collection; was it not?
    pub fn pin(&self, object: usize) -> bool {
        self.info(self.block(object)).pinned.store(1, Relaxed);
        self.set_mark(object)
    }
    /// Clears a `start` bit.
    pub fn clear_start(&self, address: usize) {
        self.start_word(address)
            .fetch_and(!Self::bit(address), AcqRel);
    }
    /// Is the `start` bit set?
    #[inline]
    pub fn is_start(&self, address: usize) -> bool {
        self.start_word(address).load(Acquire) & Self::bit(address) != 0
    }
    /// Sets the `mark` bit; was it clear?
    #[inline]
    pub fn set_mark(&self, address: usize) -> bool {
        let (w, b) = (self.mark_word(address), Self::bit(address));
        w.load(Relaxed) & b == 0 && w.fetch_or(b, AcqRel) & b == 0
    }
    /// As [`Space::set_mark`], in a block that nobody else marks in meanwhile.
    #[inline(always)]
    pub fn set_mark_alone(&self, address: usize) -> bool {
        let (w, b) = (self.mark_word(address), Self::bit(address));
        let before = w.load(Relaxed);
        if before & b != 0 {
            return false;
        }
        w.store(before | b, Relaxed);
        true
    }
    /// The bits of the 512 bytes around an address of a block.
    #[inline(always)]
    fn card_bits(&self, block: usize, address: usize) -> CardBits<'_> {
        CardBits {
            unswept: &self.info(block).unswept,
            start: self.start_word(address),
            mark: self.mark_word(address),
        }
    }
    /// The bits of all cards of a block.
    fn block_bits(&self, block: usize) -> impl Iterator<Item = CardBits<'_>> + Clone {
        let base = self.address(block);
        (base..base + BLOCK)
            .step_by(CARD)
            .map(move |card| self.card_bits(block, card))
    }
    /// Makes the `mark` bits of a block its `start` bits; keeps them as `mark` bits if asked. Were there any?
    pub fn start_at_marks(&self, block: usize, keep: bool) -> bool {
        let each = |any, bits: CardBits<'_>| any | bits.start_at_marks(keep);
        self.block_bits(block).fold(0, each) != 0
    }
    /// Forgets the dead objects of an unswept old block. See [`block_bits`].
    pub fn sweep(&self, block: usize) {
        block_bits::sweep(&self.info(block).unswept, self.block_bits(block));
    }
    /// Is no `mark` bit of the block set?
    pub fn has_no_marks(&self, block: usize) -> bool {
        let base = self.address(block);
        (base..base + BLOCK)
            .step_by(CARD)
            .all(|card| self.mark_word(card).load(Relaxed) == 0)
    }
    /// Is the `mark` bit set?
    #[inline(always)]
    pub fn is_marked(&self, address: usize) -> bool {
        self.mark_word(address).load(Relaxed) & Self::bit(address) != 0
    }
    /// Clears a `mark` bit.
    pub fn clear_mark(&self, address: usize) {
        self.mark_word(address)
            .fetch_and(!Self::bit(address), AcqRel);
    }
    /// Sets or clears the `finalizable` bit; returns what it was.
    pub fn set_finalizable(&self, address: usize, on: bool) -> bool {
        let (w, b) = (self.word(self.finalizable, address), Self::bit(address));
        let old = if on {
            w.fetch_or(b, AcqRel)
        } else {
            w.fetch_and(!b, AcqRel)
        };
        old & b != 0
    }
    /// Is the finalizer of the object to run?
    pub fn is_finalizable(&self, address: usize) -> bool {
        self.word(self.finalizable, address).load(Acquire) & Self::bit(address) != 0
    }
    /// The `finalizable` bits of the 512 bytes around an address.
    pub(crate) fn finalizable_bits(&self, address: usize) -> u64 {
        self.word(self.finalizable, address).load(Acquire)
    }
    /// Clears the `start` bits of a block.
    pub fn clear_starts(&self, block: usize) {
        let base = self.address(block);
        for card in (base..base + BLOCK).step_by(CARD) {
            self.start_word(card).store(0, Relaxed);
        }
    }
    /// Clears the `mark` bits of a block.
    pub fn clear_marks(&self, block: usize) {
        let base = self.address(block);
        for card in (base..base + BLOCK).step_by(CARD) {
            self.mark_word(card).store(0, Release);
        }
    }
    /// The `start` bits of live objects in the 512 bytes around an address of an old block.
    #[inline]
    pub fn live_starts(&self, block: usize, address: usize) -> u64 {
        self.card_bits(block, address).live_starts()
    }
    /// The last live object of an old or nursery block that begins at or before `address`.
    pub fn last_start(&self, block: usize, address: usize) -> Option<usize> {
        let first = self.address(block);
        let mut card = address & !(CARD - 1);
        let mut bits = self.live_starts(block, card) & (u64::MAX >> (63 - ((address >> 3) & 63)));
        loop {
            if bits != 0 {
                return Some(card + 8 * (63 - bits.leading_zeros() as usize));
            }
            if card == first {
                return None;
            }
            card -= CARD;
            bits = self.live_starts(block, card);
        }
    }

    // ---- cards --------------------------------------------------------------------------------------------

    /// Base of the card table.
    pub fn cards(&self) -> usize {
        self.cards
    }
    #[inline]
    fn card_at(&self, address: usize) -> usize {
        self.cards + ((address >> CARD_SHIFT) & self.card_mask)
    }
    /// The card of an address.
    #[inline]
    pub fn card(&self, address: usize) -> &AtomicU8 {
        // SAFETY: the table has a card for every masked index.
        unsafe { &*(self.card_at(address) as *const AtomicU8) }
    }
    /// Marks the card of an address.
    #[inline]
    pub fn dirty(&self, address: usize) {
        card_marks::mark(self.card(address));
    }
    /// Makes all cards of `[from, from + size)` clean. Both are multiples of a card.
    pub fn clean_cards(&self, from: usize, size: usize) {
        // SAFETY: the cards of a block lie side by side: the heap is not larger than the table covers, and both are aligned
        // to blocks.
        let at = self.card_at(from) as *mut u8;
        let first = (from >> CARD_SHIFT) & self.card_mask;
        let n = size.div_ceil(CARD);
        let here = n.min(self.card_mask + 1 - first);
        // SAFETY: see above; what goes past the table's end goes on at its beginning.
        unsafe {
            std::ptr::write_bytes(at, CLEAN, here);
            std::ptr::write_bytes(self.cards as *mut u8, CLEAN, n - here);
        }
    }
    /// Calls `f` with the address of each dirty card in `[from, to)` (multiples of 8 cards).
    #[inline]
    pub fn dirty_cards(&self, from: usize, to: usize, mut f: impl FnMut(usize)) {
        let mut at = from;
        while at < to {
            // The cards of a block lie side by side; those of the next may begin the table again.
            let end = to.min((at & !(BLOCK - 1)) + BLOCK);
            let first = self.card_at(at) as *const AtomicU64;
            // SAFETY: 8 cards are aligned, since `at` is a multiple of 4 KiB, and the table has those of the whole block.
            let eights = unsafe { std::slice::from_raw_parts(first, (end - at) / (8 * CARD)) };
            for many in eights.chunks(8) {
                // Mostly all are clean, and a large heap has many.
                if many.iter().fold(u64::MAX, |all, e| all & e.load(Relaxed)) != u64::MAX {
                    for (i, eight) in many.iter().enumerate() {
                        each_dirty(eight.load(Relaxed), at + i * 8 * CARD, &mut f);
                    }
                }
                at += many.len() * 8 * CARD;
            }
        }
    }
    fn mod_union_cell(&self, address: usize) -> (&AtomicU8, u8) {
        let card = (address - self.base) >> CARD_SHIFT;
        // SAFETY: the table has a bit for each card of the range.
        (
            unsafe { &*((self.mod_union + card / 8) as *const AtomicU8) },
            1 << (card % 8),
        )
    }
    /// Notes that a card was dirty during marking.
    pub fn set_mod_union(&self, address: usize) {
        let (cell, bit) = self.mod_union_cell(address);
        card_marks::note(cell, bit);
    }
    /// Is the card of an address noted?
    pub(crate) fn has_mod_union(&self, address: usize) -> bool {
        let (cell, bit) = self.mod_union_cell(address);
        cell.load(Relaxed) & bit != 0
    }
    /// The noted cards of the 4 KiB at an address (a multiple of 4 KiB), one bit each, forgotten now.
    pub fn take_mod_union(&self, address: usize) -> u8 {
        card_marks::take(self.mod_union_cell(address).0)
    }

    // ---- free blocks ----------------------------------------------------------------------------------------

    /// Blocks that are not free.
    pub fn in_use(&self) -> usize {
        let f = self.free.lock();
        f.used - f.count
    }
    /// Bytes of the range that are free.
    pub fn available(&self) -> usize {
        (self.blocks - self.in_use()) * BLOCK
    }
    /// Takes one block and makes it `kind`. None: the reservation is used up.
    pub fn take(&self, kind: Kind) -> Option<usize> {
        let mut f = self.free.lock();
        let block = loop {
            if f.head == NONE {
                break self.fresh(&mut f, 1)?;
            }
            let b = f.head as usize;
            f.head = self.info(b).next.load(Relaxed);
            self.info(b).next.store(NONE, Relaxed);
            self.info(b).listed.store(0, Relaxed);
            // A block of the list may meanwhile be part of a large object.
            if self.kind(b) == Kind::Free {
                f.count -= 1;
                break b;
            }
        };
        self.set_kind(block, kind);
        Some(block)
    }
    fn fresh(&self, f: &mut Free, n: usize) -> Option<usize> {
        let b = f.used;
        if b + n > self.blocks {
            return None;
        }
        f.used = b + n;
        self.used.store(f.used, Release);
        Some(b)
    }
    /// Takes `n` adjacent blocks, of kind `Taken`. Their pages may hold anything; see [`Space::is_clean`].
    pub fn take_run(&self, n: usize) -> Option<usize> {
        let mut f = self.free.lock();
        let mut found = None;
        if f.count >= n {
            let mut run = 0;
            for b in 0..f.used {
                run = if self.kind(b) == Kind::Free {
                    run + 1
                } else {
                    0
                };
                if run == n {
                    found = Some(b + 1 - n);
                    break;
                }
            }
        }
        let first = match found {
            Some(b) => {
                f.count -= n;
                b
            }
            None => self.fresh(&mut f, n)?,
        };
        perturb::here();
        for b in first..first + n {
            self.set_kind(b, Kind::Taken);
        }
        Some(first)
    }
    /// Do the block's pages read as zeros?
    pub fn is_clean(&self, block: usize) -> bool {
        self.info(block).age.load(Relaxed) == 0
    }
    /// Gives a block back whose pages may hold anything.
    pub fn give(&self, block: usize) {
        self.clear_starts(block);
        let mut f = self.free.lock();
        self.free_locked(&mut f, block, 1);
    }
    /// Gives the blocks of a large object back; their pages go back to the system if `discard_pages`.
    pub fn give_run(&self, first: usize, n: usize, discard_pages: bool) {
        if discard_pages {
            discard(self.address(first), self.address(first + n));
        }
        let mut f = self.free.lock();
        for i in 0..n {
            self.free_locked(&mut f, first + i, u8::from(!discard_pages));
        }
    }
    fn free_locked(&self, f: &mut Free, block: usize, dirty: u8) {
        let info = self.info(block);
        info.age.store(dirty, Relaxed);
        info.unswept.store(0, Relaxed);
        info.evacuate.store(0, Relaxed);
        info.hit.store(0, Relaxed);
        info.pinned.store(0, Relaxed);
        info.flag.store(0, Relaxed);
        info.live.store(0, Relaxed);
        fence(Release);
        self.set_kind(block, Kind::Free);
        f.count += 1;
        // A block that left as part of a large object may never have left the list.
        if info.listed.swap(1, Relaxed) == 0 {
            info.next.store(f.head, Relaxed);
            f.head = block as u32;
        }
    }
    /// For the verifier: what is known of free blocks, while nobody takes any or gives any back.
    pub(crate) fn with_free(&self, look: impl FnOnce(FreeBlocks<'_>)) {
        let f = self.free.lock();
        look(FreeBlocks {
            space: self,
            head: f.head,
            count: f.count,
            used: f.used,
        });
    }
    /// Gives the pages of free blocks back to the system, but keeps `keep` blocks as they are. Returns the bytes given.
    pub fn trim(&self, keep: usize) -> usize {
        let mut kept = 0;
        let mut bytes = 0;
        let used = self.used();
        for b in 0..used {
            if self.kind(b) != Kind::Free || self.is_clean(b) {
                continue;
            }
            if kept < keep {
                kept += 1;
                continue;
            }
            let f = self.free.lock();
            if self.kind(b) == Kind::Free && !self.is_clean(b) {
                discard(self.address(b), self.address(b + 1));
                self.info(b).age.store(0, Relaxed);
                bytes += BLOCK;
            }
            drop(f);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dirty_cards_are_found_once_each_also_where_the_table_begins_again() {
        const BLOCKS: usize = 24;
        // The table has cards for 16 blocks only, and is clean.
        let mut table = vec![CLEAN; 16 * CARDS + 8];
        let aligned = table.as_mut_ptr().align_offset(8);
        let cards = table[aligned..].as_mut_ptr() as usize;
        let space = Space {
            base: 7 * BLOCK,
            blocks: BLOCKS,
            cards,
            card_mask: 16 * CARDS - 1,
            ..Space::new(16 * BLOCK, cards, 16 * CARDS - 1).expect("a space")
        };
        let (from, to) = (9 * BLOCK + 8 * CARD, 18 * BLOCK + 72 * CARD);
        let inside = [
            0,
            1,
            7,
            8,
            63,
            64,
            119,
            120,
            127,
            128 * 3 + 5,
            128 * 8 + 191 - 8,
        ];
        let outside = [usize::MAX, 128 * 9 + 64];
        for at in inside.iter().chain(&outside) {
            space.dirty(from.wrapping_add(at.wrapping_mul(CARD)));
        }
        let mut found = Vec::new();
        space.dirty_cards(from, to, |card| found.push((card - from) / CARD));
        assert_eq!(found, inside);
    }
}
