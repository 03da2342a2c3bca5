//! The nursery: pieces of young memory for TLABs.
//!
//! # Invariants
//! * A piece lies in one nursery block, begins at a `start` bit, and reads as zeros when a TLAB gets it. Objects fill it without gaps, so a
//!   walk from a `start` bit by object sizes meets every object and ends at a zero header.
//! * Memory that is not handed out has no `start` bits, and begins with a zero header, where such a walk ends ([`terminate`]).
//! * `handed_out` counts the bytes of the pieces handed out since the last minor collection, less what TLABs gave back.
use crate::memory::List;
use crate::minor::pace::Pace;
use crate::space::{BLOCK, BlockKind, Space};
use std::io;
use std::sync::atomic::Ordering::Relaxed;

/// Largest piece that a TLAB gets, in bytes, unless one object needs more.
pub const MAX_TLAB: usize = 32 << 10;
const MIN_TLAB: usize = 2 << 10;
/// Gaps between pinned objects that have fewer bytes than this are not used.
pub const FRAGMENT: usize = 256;

/// Ends the row of objects before unused young memory, by a zero header at `at`.
///
/// # Safety
/// `at` is the aligned address of unused young memory of at least a word, which no other thread uses meanwhile.
pub unsafe fn terminate(at: usize) {
    // SAFETY: the caller's promise.
    unsafe { *(at as *mut u64) = 0 };
}

/// The nursery of a heap. See the module.
pub struct Nursery {
    /// Unused pieces of nursery blocks.
    pub fragments: List<(usize, usize)>,
    /// How many blocks may be filled between two collections, at present.
    pub eden: usize,
    /// Blocks that may still be taken before the next minor collection.
    pub blocks_left: usize,
    /// Bytes handed out since the last minor collection, less what was given back.
    pub handed_out: usize,
    /// Bytes of the unused pieces that the last minor collection left.
    pub fragment_bytes: usize,
    /// Bytes that a TLAB usually gets, at present.
    pub tlab_size: usize,
    /// Threads that have TLABs.
    pub threads: usize,
    /// How long collections may take.
    pub(crate) pace: Pace,
    /// Which round of allocation this is: minor collections end one and begin the next.
    pub round: u32,
}

/// The first round. Smaller numbers are left for others to mean something else ([`super::parked`]).
pub const FIRST_ROUND: u32 = 256;

impl Nursery {
    /// An empty nursery that may take `blocks`.
    pub fn new(blocks: usize) -> io::Result<Nursery> {
        Ok(Nursery {
            fragments: List::new(1 << 24)?,
            eden: blocks,
            blocks_left: blocks,
            handed_out: 0,
            fragment_bytes: 0,
            tlab_size: MAX_TLAB,
            threads: 1,
            pace: Pace::default(),
            round: 2 * FIRST_ROUND,
        })
    }
    /// Adapts the size of TLABs to the number of threads, so that each gets several before the next collection.
    pub fn size_tlabs(&mut self) {
        let share = self.eden * BLOCK / (4 * self.threads.max(1));
        self.tlab_size = share.clamp(MIN_TLAB, MAX_TLAB) & !511;
    }
    /// A piece of at least `want` bytes, not yet zeroed. None: it is time to collect.
    pub fn take_piece(&mut self, space: &Space, want: usize) -> Option<(usize, usize)> {
        let tlab = self.tlab_size.max((want + 511) & !511);
        let fits = self
            .fragments
            .as_slice()
            .iter()
            .rposition(|f| f.1 - f.0 >= want);
        let (from, to) = match fits {
            Some(i) => {
                let last = self.fragments.pop()?;
                if i < self.fragments.len() {
                    std::mem::replace(&mut self.fragments.as_mut_slice()[i], last)
                } else {
                    last
                }
            }
            None => {
                self.blocks_left = self.blocks_left.checked_sub(1)?;
                let b = space.alloc_block(BlockKind::Nursery)?;
                space.clear_starts(b);
                space.clear_marks(b);
                let info = space.info(b);
                info.age.store(0, Relaxed);
                info.live.store(self.round, Relaxed);
                (space.address(b), space.end(b))
            }
        };
        let end = if to - from > tlab + FRAGMENT {
            from + tlab
        } else {
            to
        };
        if end < to {
            // SAFETY: the memory from `end` on is a piece that nobody was given yet.
            unsafe { terminate(end) };
            self.fragments.push((end, to));
        }
        self.handed_out += end - from;
        Some((from, end))
    }
}
