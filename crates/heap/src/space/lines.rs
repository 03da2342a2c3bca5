//! Which lines of an old block are in use (Immix lines).
//!
//! ```text
//!   block of 64 KiB = 512 lines of 128 bytes, one bit each
//!   | object      |obj|                |  object          |      |
//!   1    1    1    1    0    0    0    1    1    1    1    0    0
//!                       \_____hole____/                    \ hole
//! ```
//!
//! # Invariants
//! * A line is in use if a live object overlaps it. A run of other lines is a hole, into which an allocator may bump-allocate.
//! * [`Lines::inspect`] asks an object for its size only if no other object begins behind it in its line or in the next one. So for dense
//!   blocks it reads bitmaps only. For a sparse block that is not in the cache it can take 40 us, so the result is kept and passed on.
use crate::model::Model;
use crate::object::header_of;
use crate::space::{BLOCK, BlockId, CARD, Space};
use std::sync::atomic::Ordering::Relaxed;

/// Bytes of a line.
pub const LINE: usize = 128;
const COUNT: usize = BLOCK / LINE;

/// The `start` bits of a line.
const LINE_OF_STARTS: u64 = (1 << (LINE / 8)) - 1;

/// One bit for each line of a block, set if the line is in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Lines([u64; COUNT / 64]);

impl Lines {
    /// No line is in use.
    pub const EMPTY: Lines = Lines([0; COUNT / 64]);

    /// Finds the lines that live objects of a block overlap.
    ///
    /// # Safety
    /// The live `start` bits of the block are those of complete objects, whose headers are those of the model, and none of them is freed
    /// meanwhile.
    pub unsafe fn inspect<M: Model>(space: &Space, block: BlockId) -> Lines {
        let mut used = Lines::EMPTY;
        let base = space.address(block);
        // The last object that begins before the line looked at, and its line.
        let mut last: Option<(usize, usize)> = None;
        for (i, card) in space.cards_of(block).enumerate() {
            let mut bits = space.live_starts(block, card);
            let mut line = i * (CARD / LINE);
            while bits != 0 {
                let here = bits & LINE_OF_STARTS;
                if here != 0 {
                    if let Some((object, from)) = last
                        && from + 1 < line
                    {
                        // SAFETY: a live `start` bit of the block is that of an object, as the caller promises.
                        let end = unsafe { end::<M>(object) };
                        used.add(from * LINE, end - base);
                    }
                    used.0[line / 64] |= 1 << (line % 64);
                    let word = 63 - here.leading_zeros() as usize;
                    last = Some((base + line * LINE + 8 * word, line));
                }
                bits >>= LINE / 8;
                line += 1;
            }
        }
        if let Some((object, from)) = last {
            // SAFETY: a live `start` bit of the block is that of an object, as the caller promises.
            let end = unsafe { end::<M>(object) };
            used.add(from * LINE, end - base);
        }
        used
    }
    /// Adds the lines that the bytes `[from, to)` of the block overlap.
    #[inline]
    pub fn add(&mut self, from: usize, to: usize) {
        for line in from / LINE..to.div_ceil(LINE) {
            self.0[line / 64] |= 1 << (line % 64);
        }
    }
    /// Are all lines in use that the bytes `[from, to)` of the block overlap?
    pub fn covers(&self, from: usize, to: usize) -> bool {
        let mut all = *self;
        all.add(from, to);
        all == *self
    }
    /// Bytes of the used lines.
    pub fn bytes(&self) -> usize {
        self.0
            .iter()
            .map(|w| w.count_ones() as usize)
            .sum::<usize>()
            * LINE
    }
    /// The first hole at or after the byte `from` of the block, which is not inside a hole: its first byte, and the byte behind its last.
    pub fn hole(&self, from: usize) -> Option<(usize, usize)> {
        let first = self.find(from / LINE, true);
        (first < COUNT).then(|| (first * LINE, self.find(first, false) * LINE))
    }
    /// The first line from `line` on that is free, or that is in use.
    fn find(&self, mut line: usize, free: bool) -> usize {
        while line < COUNT {
            let word = self.0[line / 64];
            let word = if free { !word } else { word } >> (line % 64);
            if word != 0 {
                return line + word.trailing_zeros() as usize;
            }
            line = (line / 64 + 1) * 64;
        }
        COUNT
    }
}

/// The end of a live object.
///
/// # Safety
/// `object` is a live object with its own header.
unsafe fn end<M: Model>(object: usize) -> usize {
    // SAFETY: the caller's promise: an object with that header.
    unsafe {
        let header = header_of(object).load(Relaxed);
        object + M::descriptor(header).size::<M>(object, header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn holes_are_what_was_not_taken() {
        let mut lines = Lines::EMPTY;
        assert_eq!(lines.hole(0), Some((0, BLOCK)));
        lines.add(0, 1);
        lines.add(3 * LINE + 5, 6 * LINE);
        lines.add(70 * LINE - 1, BLOCK - LINE);
        assert_eq!(lines.hole(0), Some((LINE, 3 * LINE)));
        assert_eq!(lines.hole(3 * LINE), Some((6 * LINE, 69 * LINE)));
        assert_eq!(lines.hole(69 * LINE), Some((BLOCK - LINE, BLOCK)));
        assert_eq!(lines.hole(BLOCK), None);
        assert!(lines.covers(4 * LINE, 5 * LINE) && !lines.covers(5 * LINE, 6 * LINE + 1));
        assert_eq!(lines.bytes(), BLOCK - (2 + 63 + 1) * LINE);
    }
}
