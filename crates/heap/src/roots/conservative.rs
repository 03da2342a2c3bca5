//! From words that may be references to the objects that they keep alive.
//!
//! # Invariants
//! * Addresses inside an object count as references to it, and so does the address one past its end if compiled code may hold nothing else
//!   ([`each_object`]).
//! * The answer is exact: an object that is found is there. Words that lie in no object are dropped.
//! * Addresses are resolved in ascending order, so a row of young objects without `start` bits of their own is walked once ([`Cursor`]).
use crate::memory::List;
use crate::model::Model;
use crate::space::{BLOCK, BlockId, BlockKind, Card, Space};
use std::sync::atomic::Ordering::{Acquire, Relaxed};

/// Collects from `[from, to)` the words that lie in old blocks or large objects, or one past the end of such a block. Each stands for two addresses:
/// [`each_object`].
///
/// # Safety
/// The range is readable.
pub unsafe fn collect(space: &Space, from: usize, to: usize, out: &mut List<usize>) {
    let is_old = |address| {
        matches!(
            space.kind_at(address),
            BlockKind::Old | BlockKind::Large | BlockKind::LargeTail
        )
    };
    for at in words(from, to) {
        // SAFETY: the word lies in the range that the caller promises to be readable; `stack_word` bears a thread that writes to it.
        let word = unsafe { vervet_os::memory::stack_word(at) };
        if is_old(word) || word & (BLOCK - 1) == 0 && is_old(word.wrapping_sub(1)) {
            out.push(word);
        }
    }
}

/// Collects from `[from, to)` the words that lie in nursery blocks, or one past the end of such a block, if `counts` says of the block that it counts.
/// Each word stands for two addresses: [`each_object`].
///
/// # Safety
/// The range is readable.
pub unsafe fn collect_young(
    space: &Space,
    from: usize,
    to: usize,
    out: &mut List<usize>,
    mut counts: impl FnMut(BlockId) -> bool,
) {
    // Most references occur several times on a stack: callers pass them on. What was found shortly before is not added again.
    let mut recent = [0; 16];
    for at in words(from, to) {
        // SAFETY: the word lies in the range that the caller promises to be readable; `stack_word` bears a thread that writes to it.
        let word = unsafe { vervet_os::memory::stack_word(at) };
        let mut found = young_block(space, word).is_some_and(&mut counts);
        if word & (BLOCK - 1) == 0 {
            found |= young_block(space, word.wrapping_sub(1)).is_some_and(&mut counts);
        }
        if found {
            let seen = &mut recent[(word >> 4) & 15];
            if *seen != word {
                *seen = word;
                out.push(word);
            }
        }
    }
}

/// Calls `f` with the objects that a candidate refers to: the one it lies in, and, before that, the one that ends there, if its end
/// [may refer to it](crate::descriptor::Descriptor::end_refers). (If it did always, any reference would keep the object before too: a program that makes
/// an object and then a weak reference to it would never see the object die.) Only addresses are looked at of which `counts` says that they count.
/// Candidates must come in ascending order.
#[inline]
pub fn each_object<M: Model>(
    space: &Space,
    candidate: usize,
    cursor: &mut Cursor,
    counts: impl Fn(usize) -> bool,
    mut f: impl FnMut(usize),
) {
    let mut find = |address: usize| {
        counts(address)
            .then(|| object_at::<M>(space, address, cursor))
            .flatten()
    };
    let before = match candidate & 7 {
        0 => find(candidate.wrapping_sub(1)),
        _ => None,
    };
    let inside = find(candidate);
    if let Some(object) = before
        && before != inside
    {
        // SAFETY: an object with its header was found there.
        let refers = unsafe { M::descriptor(*(object as *const u64)).end_refers::<M>(object) };
        if refers {
            f(object);
        }
    }
    if let Some(object) = inside {
        f(object);
    }
}

/// The addresses of the whole words of `[from, to)`.
pub fn words(from: usize, to: usize) -> impl Iterator<Item = usize> {
    ((from + 7) & !7..to & !7).step_by(8)
}

/// The nursery block that an address lies in.
#[inline]
pub fn young_block(space: &Space, address: usize) -> Option<BlockId> {
    let block = space.block_of(address)?;
    (space.kind(block) == BlockKind::Nursery).then_some(block)
}

/// Sorts candidates and drops what occurs twice.
pub fn prepare(candidates: &mut List<usize>) {
    candidates.as_mut_slice().sort_unstable();
    let mut last = 0;
    candidates.retain_map(|c| (std::mem::replace(&mut last, c) != c).then_some(c));
}

/// Where the walk of a row of young objects is.
#[derive(Default)]
pub struct Cursor {
    start: usize,
    at: usize,
}

/// The object that an address lies in (or, for the byte before a candidate, ends at). Addresses must come in ascending
/// order.
pub fn object_at<M: Model>(space: &Space, address: usize, cursor: &mut Cursor) -> Option<usize> {
    let block = space.block_of(address)?;
    match space.kind(block) {
        BlockKind::Nursery => {
            let start = space.last_start(block, address)?;
            if cursor.start != start {
                *cursor = Cursor { start, at: start };
            }
            walk::<M>(space, block, address, cursor)
        }
        BlockKind::Old => {
            let at = space.last_start(block, address)?;
            // SAFETY: a live object begins at a live `start` bit, with its header.
            let size = unsafe { M::size(at, *(at as *const u64)) };
            (address < at + size).then_some(at)
        }
        BlockKind::Large | BlockKind::LargeTail => {
            let head = match space.kind(block) {
                BlockKind::Large => block,
                _ => block.minus(space.info(block).live.load(Relaxed) as usize),
            };
            let at = space.address(head);
            // SAFETY: the first word of a large object.
            let header = unsafe { *(at as *const u64) };
            let size = space.info(head).size.load(Relaxed);
            (header != 0 && address < at + size).then_some(at)
        }
        _ => None,
    }
}

fn walk<M: Model>(
    space: &Space,
    block: BlockId,
    address: usize,
    cursor: &mut Cursor,
) -> Option<usize> {
    let end = space.end(block);
    while cursor.at <= address && cursor.at < end {
        // SAFETY: the walk goes from object to object and ends at a zero header.
        let header = unsafe { *(cursor.at as *const u64) };
        if header == 0 {
            return None;
        }
        // SAFETY: an object with that header.
        let size = unsafe { M::descriptor(header).size::<M>(cursor.at, header) };
        if address < cursor.at + size {
            return Some(cursor.at);
        }
        cursor.at += size;
    }
    None
}

/// Calls `f` for every object of a nursery block, with its size.
pub fn each_young<M: Model>(space: &Space, block: BlockId, mut f: impl FnMut(usize, usize)) {
    let (base, end) = (space.address(block), space.end(block));
    let mut at = base;
    while at < end {
        let bits = space.start_word(Card::of(at)).load(Acquire) >> ((at >> 3) & 63);
        if bits == 0 {
            at = Card::of(at).end();
            continue;
        }
        at += 8 * bits.trailing_zeros() as usize;
        while at < end {
            // SAFETY: the row begins at a `start` bit, goes from object to object, and ends at a zero header.
            let header = unsafe { *(at as *const u64) };
            if header == 0 {
                at += 8;
                break;
            }
            // SAFETY: a nonzero header in a row is that of an object.
            let size = unsafe { M::descriptor(header).size::<M>(at, header) };
            f(at, size);
            at += size;
            // The next row may begin right here; its start bit is met by the outer loop as well.
            if at < end && space.is_start(at) {
                break;
            }
        }
    }
}
