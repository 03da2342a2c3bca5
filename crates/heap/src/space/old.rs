//! Blocks of small old objects: bump allocation into their holes, and sweeping.
//!
//! # Invariants
//! * One [`OldAllocator`] fills a block at a time. It sets the `start` bits of complete objects, a card's at a time ([`OldAllocator::flush`]).
//! * A block is swept while minor collections read its bits ([`crate::space::block_bits`]); other threads learn of its free space only after
//!   that, from the list of recyclable blocks.
//! * An allocator allocates in two places: the current hole, and an overflow block for objects that do not fit the hole. The end of one may be
//!   the beginning of the other. So the place an allocation came from is told by its first byte, never by its end.
use crate::memory::List;
use crate::model::Model;
use crate::object::header_of;
use crate::space::lines::{LINE, Lines};
use crate::space::recyclable::RecyclableBlocks;
use crate::space::{BLOCK, BlockId, BlockKind, Card, Space};
use std::sync::atomic::{AtomicUsize, Ordering::*};

/// A block with at least this many free bytes is recyclable. A larger limit would leave holes unused: a graph that dies evenly never frees
/// more.
const MIN_FREE: usize = BLOCK / 16;

/// What all workers share of the space of small old objects.
pub struct Old {
    /// Swept blocks with enough free lines.
    pub recyclable: RecyclableBlocks,
    /// Bytes of small old objects: what the last sweep found, and what was promoted since.
    pub bytes: AtomicUsize,
    /// What `bytes` was when the last marking ended.
    pub at_mark: AtomicUsize,
}

impl Old {
    /// Lists an old block with these used lines, if it has enough others.
    pub(crate) fn list_if_recyclable(&self, space: &Space, block: BlockId, used: &Lines) {
        if is_recyclable(used.bytes()) {
            self.recyclable.push(space, block, used);
        }
    }
}

/// The live object of a block that begins before a card and reaches into it.
///
/// # Safety
/// `block` is an old block, or a nursery block whose `start` bits are all of objects, and `card` one of its cards. Its live objects are not
/// freed meanwhile.
pub unsafe fn reaching_into<M: Model>(space: &Space, block: BlockId, card: Card) -> Option<usize> {
    if card.address() == space.address(block) {
        return None;
    }
    let first = space.last_start(block, card.address() - 8)?;
    // SAFETY: a live object begins at a live `start` bit, with its header.
    let size = unsafe { M::size(first, header_of(first).load(Relaxed)) };
    (first + size > card.address()).then_some(first)
}

/// Sweeps a block: clears the bits of its dead objects. Returns its used lines.
///
/// # Safety
/// `block` is an unswept old block, and stays one until this returns: the caller is in a step of the gate.
pub unsafe fn sweep<M: Model>(space: &Space, block: BlockId) -> Lines {
    space.sweep(block);
    // SAFETY: the `start` bits of a swept block are those of its live objects, which have their headers.
    let used = unsafe { Lines::inspect::<M>(space, block) };
    space.info(block).live.store(used.bytes() as u32, Relaxed);
    used
}

/// The old-space allocator of one worker. See the module.
pub struct OldAllocator {
    /// The block that is being filled.
    block: Option<BlockId>,
    /// Its used lines, without those of the bytes from `hole` to `next`, which were allocated in the hole that ends at `end`.
    used: Lines,
    hole: usize,
    next: usize,
    end: usize,
    /// The unused part of the overflow block, for objects that do not fit the hole.
    overflow_next: usize,
    overflow_end: usize,
    /// A card, and the `start` bits of complete objects on it that are not in the bitmap yet.
    card: Card,
    starts: u64,
    /// Cards and `mark` bits that will be set at the end, if objects are born `marked`.
    marks: List<(Card, u64)>,
    /// Objects are born marked.
    pub marked: bool,
    /// Bytes allocated.
    pub bytes: usize,
}

impl OldAllocator {
    /// One that has no block yet.
    pub fn new() -> std::io::Result<OldAllocator> {
        Ok(OldAllocator {
            block: None,
            used: Lines::EMPTY,
            hole: 0,
            next: 0,
            end: 0,
            overflow_next: 0,
            overflow_end: 0,
            card: Card::of(0),
            starts: 0,
            marks: List::new(1 << 24)?,
            marked: false,
            bytes: 0,
        })
    }
    /// An object whose memory came from here is complete. It is found by its `start` bit after [`OldAllocator::flush`].
    #[inline(always)]
    pub fn complete(&mut self, space: &Space, object: usize) {
        let card = Card::of(object);
        if card != self.card {
            self.flush(space);
            self.card = card;
        }
        self.starts |= Space::bit(object);
    }
    /// Puts the `start` bits of complete objects into the bitmap.
    #[inline]
    pub fn flush(&mut self, space: &Space) {
        if self.starts == 0 {
            return;
        }
        space.set_starts_exclusive(self.card, self.starts);
        if self.marked {
            self.marks.push((self.card, self.starts));
        }
        self.starts = 0;
    }
    /// Allocates `size` bytes for one object. None: the address range is used up.
    #[inline]
    pub fn allocate(&mut self, space: &Space, old: &Old, size: usize) -> Option<usize> {
        self.bytes += size;
        if self.next + size <= self.end {
            let at = self.next;
            self.next += size;
            return Some(at);
        }
        self.allocate_slow(space, old, size)
    }
    #[cold]
    fn allocate_slow(&mut self, space: &Space, old: &Old, size: usize) -> Option<usize> {
        if size > LINE && self.end - self.next >= LINE {
            return self.overflow(space, size);
        }
        loop {
            self.leave_hole(space);
            while let Some(block) = self.block
                && let Some((from, to)) = self.used.hole(self.end - space.address(block))
            {
                let base = space.address(block);
                (self.hole, self.next, self.end) = (base + from, base + from, base + to);
                if self.next + size <= self.end {
                    self.next += size;
                    return Some(self.next - size);
                }
            }
            let (block, used) = match old.recyclable.pop(space) {
                Some(room) => room,
                None => (fresh(space)?, Lines::EMPTY),
            };
            (self.block, self.used) = (Some(block), used);
            let base = space.address(block);
            (self.hole, self.next, self.end) = (base, base, base);
        }
    }
    /// Leaves the current hole: what was allocated in it counts as used, the rest stays a hole.
    fn leave_hole(&mut self, space: &Space) {
        if let Some(block) = self.block {
            let base = space.address(block);
            self.used.add(self.hole - base, self.next - base);
            self.hole = self.next;
        }
    }
    fn overflow(&mut self, space: &Space, size: usize) -> Option<usize> {
        if self.overflow_next + size > self.overflow_end {
            let b = fresh(space)?;
            (self.overflow_next, self.overflow_end) = (space.address(b), space.end(b));
        }
        self.overflow_next += size;
        Some(self.overflow_next - size)
    }
    /// Takes the last allocation back, because another worker has copied the object first.
    pub fn undo(&mut self, at: usize, size: usize) {
        self.bytes -= size;
        if (self.hole..self.next).contains(&at) {
            debug_assert_eq!(self.next, at + size);
            self.next = at;
        } else {
            debug_assert_eq!(self.overflow_next, at + size);
            self.overflow_next = at;
        }
    }
    /// Ends a collection: lists the blocks whose unused parts the next one can use, and sets the `mark` bits that were put off. No other thread
    /// sets `mark` bits meanwhile.
    pub fn finish(&mut self, space: &Space, old: &Old) {
        self.leave_hole(space);
        if let Some(b) = self.block
            && BLOCK - self.used.bytes() >= 8 * LINE
        {
            old.recyclable.push(space, b, &self.used);
        }
        let overflow = self.overflow_end - self.overflow_next;
        if overflow >= MIN_FREE {
            let b = space.block(self.overflow_next);
            let mut used = Lines::EMPTY;
            used.add(0, self.overflow_next - space.address(b));
            old.recyclable.push(space, b, &used);
        }
        self.flush(space);
        while let Some((card, bits)) = self.marks.pop() {
            space.set_marks_exclusive(card, bits);
        }
        self.marks.clear();
        old.bytes
            .fetch_add(std::mem::take(&mut self.bytes), Relaxed);
        self.block = None;
        (self.hole, self.next, self.end) = (0, 0, 0);
        (self.overflow_next, self.overflow_end) = (0, 0);
    }
}

/// Allocates an old block without objects, with clean cards. None: the address range is used up.
fn fresh(space: &Space) -> Option<BlockId> {
    let b = space.alloc_block(BlockKind::Taken)?;
    space.clear_starts(b);
    space.clear_marks(b);
    space.clean_cards(space.address(b), BLOCK);
    let info = space.info(b);
    info.age.store(0, Relaxed);
    info.unswept.store(0, Relaxed);
    info.live.store(BLOCK as u32, Relaxed);
    space.set_kind(b, BlockKind::Old);
    Some(b)
}

/// Is a swept block with `bytes` used bytes recyclable?
pub fn is_recyclable(bytes: usize) -> bool {
    BLOCK - bytes >= MIN_FREE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{CARDS, CLEAN};

    /// A space that begins with these blocks, clean, in this order.
    fn space() -> Space {
        let mut cards = vec![CLEAN; 64 * CARDS + 8];
        let aligned = cards.as_mut_ptr().align_offset(8);
        let at = cards[aligned..].as_mut_ptr() as usize;
        std::mem::forget(cards);
        Space::new(64 * BLOCK, at, 64 * CARDS - 1).expect("a space")
    }

    #[test]
    fn what_is_taken_back_is_taken_from_where_it_was_allocated() {
        let space = space();
        let old = Old {
            recyclable: RecyclableBlocks::new(&space).expect("a list"),
            bytes: AtomicUsize::new(0),
            at_mark: AtomicUsize::new(0),
        };
        let mut allocator = OldAllocator::new().expect("an allocator");
        // The overflow block is the first; the second has a hole of two lines at its beginning, and is full behind it.
        let overflow = fresh(&space).expect("a block");
        let holed = fresh(&space).expect("a block");
        let (first, second) = (space.address(overflow), space.address(holed));
        assert_eq!(second, first + BLOCK);
        let mut used = Lines::EMPTY;
        used.add(2 * LINE, BLOCK);
        old.recyclable.push(&space, holed, &used);
        (allocator.overflow_next, allocator.overflow_end) = (second - 3 * LINE, second);
        // Another worker was faster: the hole is as it was.
        assert_eq!(allocator.allocate(&space, &old, LINE), Some(second));
        allocator.undo(second, LINE);
        // What does not fit the hole ends where the hole begins, and another worker was faster again.
        let object = second - 3 * LINE;
        assert_eq!(allocator.allocate(&space, &old, 3 * LINE), Some(object));
        allocator.undo(object, 3 * LINE);
        // Both have what they had: what fits the hole goes there, the rest to the overflow block.
        assert_eq!(allocator.allocate(&space, &old, LINE), Some(second));
        assert_eq!(allocator.allocate(&space, &old, 3 * LINE), Some(object));
        assert_eq!(allocator.bytes, 4 * LINE);
    }
}
