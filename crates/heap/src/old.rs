//! Blocks of small old objects: bump allocation into their holes, and sweeping.
//!
//! # Invariants
//! * A hole is a run of free lines (128 bytes); a line is free if no live object overlaps it. Only the last object that
//!   begins in a line has to be asked for its size, so looking for holes reads at most one header per line.
//! * A block is filled by one [`Buffer`] at a time. Objects' `start` bits are set when they are complete, a card's at a time.
//! * Sweeping changes `start` to the live objects, clears `unswept`, and then the `mark` bits, in this order: a minor collection
//!   may look at the block meanwhile.
use crate::memory::List;
use crate::model::Model;
use crate::rooms::Rooms;
use crate::space::{BLOCK, CARD, CARDS, Kind, Space};
use std::sync::atomic::{AtomicUsize, Ordering::*};

/// Bytes of a line.
pub const LINE: usize = 128;
const LINES: usize = BLOCK / LINE;
/// One bit per line of a block: set if it is used.
pub type Lines = [u64; LINES / 64];
/// A block with at least this many free bytes is filled up again.
const WORTH: usize = BLOCK / 4;

/// The old space's shared parts.
pub struct Old {
    /// Swept blocks with room.
    pub rooms: Rooms,
    /// Bytes of small objects, old: what the last sweep found, and what was promoted since.
    pub bytes: AtomicUsize,
    /// What `bytes` was when the last marking ended.
    pub at_mark: AtomicUsize,
}

/// Which lines of an old block live objects overlap.
pub fn lines<M: Model>(space: &Space, block: usize) -> Lines {
    let mut used: Lines = [0; LINES / 64];
    let base = space.address(block);
    for card in 0..CARDS {
        let at = base + card * CARD;
        let mut bits = space.live_starts(block, at);
        // Four lines of 16 words each.
        let mut line = card * (CARD / LINE);
        while bits != 0 {
            let here = bits & 0xFFFF;
            if here != 0 {
                let last = at + (line - card * 4) * LINE + 8 * (63 - here.leading_zeros() as usize);
                // SAFETY: a live start bit: an object with its header lies there.
                let size = unsafe {
                    let header = *(last as *const u64);
                    M::descriptor(header).size::<M>(last, header)
                };
                for l in line..=(last + size - 1 - base) / LINE {
                    used[l / 64] |= 1 << (l % 64);
                }
            }
            bits >>= 16;
            line += 1;
        }
    }
    used
}

/// The live object that begins before a card of the block and reaches into it.
pub fn reaching_into<M: Model>(space: &Space, block: usize, card: usize) -> Option<usize> {
    if card == space.address(block) {
        return None;
    }
    let first = space.last_start(block, card - 8)?;
    // SAFETY: a live start bit.
    let size = unsafe { M::size(first, *(first as *const u64)) };
    (first + size > card).then_some(first)
}

/// The first run of free lines at or after line `from`: (first line, line behind the last).
fn hole(used: &Lines, from: usize) -> Option<(usize, usize)> {
    let find = |mut l: usize, want_free: bool| loop {
        if l >= LINES {
            return LINES;
        }
        let word = if want_free {
            !used[l / 64]
        } else {
            used[l / 64]
        } >> (l % 64);
        if word != 0 {
            return (l + word.trailing_zeros() as usize).min(LINES);
        }
        l = (l / 64 + 1) * 64;
    };
    let first = find(from, true);
    (first < LINES).then(|| (first, find(first, false)))
}

/// Sweeps a block: forgets dead objects. Returns the bytes of its used lines: 0 if it is empty.
pub fn sweep<M: Model>(space: &Space, block: usize) -> usize {
    let base = space.address(block);
    for card in 0..CARDS {
        let at = base + card * CARD;
        let live = space.mark_word(at).load(Relaxed);
        space.start_word(at).fetch_and(live, AcqRel);
    }
    space.info(block).unswept.store(0, Release);
    space.clear_marks(block);
    let used = lines::<M>(space, block);
    let bytes = used.iter().map(|w| w.count_ones() as usize).sum::<usize>() * LINE;
    space.info(block).live.store(bytes as u32, Relaxed);
    bytes
}

/// A worker's way to allocate old memory. See the module.
pub struct Buffer {
    block: Option<usize>,
    used: Lines,
    line: usize,
    next: usize,
    end: usize,
    /// For objects that do not fit a hole.
    wide_next: usize,
    wide_end: usize,
    /// A card, and the `start` bits of objects complete there that are not in the bitmap yet.
    card: usize,
    starts: u64,
    /// Cards and `mark` bits that are to be set at the end, if objects are to be `marked`.
    marks: List<(usize, u64)>,
    /// Objects are born marked.
    pub marked: bool,
    /// Bytes allocated.
    pub bytes: usize,
}

impl Buffer {
    /// One that has no block yet.
    pub fn new() -> std::io::Result<Buffer> {
        Ok(Buffer {
            block: None,
            used: [0; LINES / 64],
            line: 0,
            next: 0,
            end: 0,
            wide_next: 0,
            wide_end: 0,
            card: 0,
            starts: 0,
            marks: List::new(1 << 24)?,
            marked: false,
            bytes: 0,
        })
    }
    /// An object whose memory came from here is complete. It is found by its `start` bit after [`Buffer::flush`].
    #[inline(always)]
    pub fn complete(&mut self, space: &Space, object: usize) {
        let card = object & !(CARD - 1);
        if card != self.card {
            self.flush(space);
            self.card = card;
        }
        self.starts |= Space::bit(object);
    }
    /// Complete objects are found by their `start` bits from now on.
    #[inline]
    pub fn flush(&mut self, space: &Space) {
        if self.starts == 0 {
            return;
        }
        space.set_starts_alone(self.card, self.starts);
        if self.marked {
            self.marks.push((self.card, self.starts));
        }
        self.starts = 0;
    }
    /// `size` bytes for one object. None: there is no memory left at all.
    #[inline]
    pub fn allocate<M: Model>(&mut self, space: &Space, old: &Old, size: usize) -> Option<usize> {
        self.bytes += size;
        if self.next + size <= self.end {
            let at = self.next;
            self.next += size;
            return Some(at);
        }
        self.slow::<M>(space, old, size)
    }
    #[cold]
    fn slow<M: Model>(&mut self, space: &Space, old: &Old, size: usize) -> Option<usize> {
        if size > LINE && self.end - self.next >= LINE {
            return self.wide(space, size);
        }
        loop {
            while let (Some(block), Some((from, to))) = (self.block, hole(&self.used, self.line)) {
                self.line = to;
                let base = space.address(block);
                (self.next, self.end) = (base + from * LINE, base + to * LINE);
                if self.next + size <= self.end {
                    self.next += size;
                    return Some(self.next - size);
                }
            }
            let room = old.rooms.pop(space);
            match room {
                Some(b) => {
                    self.block = Some(b);
                    self.used = lines::<M>(space, b);
                }
                None => {
                    self.block = Some(fresh(space)?);
                    self.used = [0; LINES / 64];
                }
            }
            self.line = 0;
            (self.next, self.end) = (0, 0);
        }
    }
    fn wide(&mut self, space: &Space, size: usize) -> Option<usize> {
        if self.wide_next + size > self.wide_end {
            let b = fresh(space)?;
            (self.wide_next, self.wide_end) = (space.address(b), space.address(b) + BLOCK);
        }
        self.wide_next += size;
        Some(self.wide_next - size)
    }
    /// Takes the last allocation back (another worker copied the object first).
    pub fn undo(&mut self, at: usize, size: usize) {
        self.bytes -= size;
        if self.next == at + size {
            self.next = at;
        } else if self.wide_next == at + size {
            self.wide_next = at;
        }
    }
    /// The collection is over: what room is left can be used by the next. Nobody else sets `mark` bits.
    pub fn finish(&mut self, space: &Space, old: &Old) {
        if let Some(b) = self.block {
            let ahead = (self.line..LINES)
                .filter(|l| self.used[l / 64] >> (l % 64) & 1 == 0)
                .count()
                * LINE;
            let free = ahead + (self.end - self.next);
            if free >= 8 * LINE {
                old.rooms.push(space, b, free);
            }
        }
        let wide = self.wide_end - self.wide_next;
        if wide >= WORTH {
            old.rooms.push(space, space.block(self.wide_next), wide);
        }
        self.flush(space);
        while let Some((card, bits)) = self.marks.pop() {
            space.set_marks_alone(card, bits);
        }
        self.marks.clear();
        old.bytes
            .fetch_add(std::mem::take(&mut self.bytes), Relaxed);
        self.block = None;
        (self.next, self.end) = (0, 0);
        (self.wide_next, self.wide_end) = (0, 0);
    }
}

/// A fresh old block: clean cards, no objects.
fn fresh(space: &Space) -> Option<usize> {
    let b = space.take(Kind::Taken)?;
    space.clear_starts(b);
    space.clear_marks(b);
    space.clean_cards(space.address(b), BLOCK);
    let info = space.info(b);
    info.age.store(0, Relaxed);
    info.unswept.store(0, Relaxed);
    info.live.store(BLOCK as u32, Relaxed);
    space.set_kind(b, Kind::Old);
    Some(b)
}

/// Is a swept block worth filling up?
pub fn has_room(bytes: usize) -> bool {
    BLOCK - bytes >= WORTH
}
