//! Recyclable blocks (Immix): old blocks with enough holes that promoted objects are allocated into them.
//!
//! # Invariants
//! * A block is listed at most once: its `recyclable` byte says that it is. Its `live` bytes are those it had when it was listed.
//! * The used lines of a listed block are known, and can only become fewer (objects die) until the block is taken.
//! * `free` is the sum of the free bytes of the listed blocks. It is read without the lock: a thread that asks in a pause must not wait for a
//!   sweeping thread that has lost its processor.
use crate::memory::{List, reserve};
use crate::space::lines::Lines;
use crate::space::{BLOCK, BlockId, Space};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use vervet_os::LeafLock;

/// The recyclable blocks of a heap.
pub struct RecyclableBlocks {
    blocks: LeafLock<List<BlockId>>,
    /// Address of a table with the used lines of each block of the space.
    used: usize,
    free: AtomicUsize,
}

impl RecyclableBlocks {
    pub(crate) fn new(space: &Space) -> io::Result<RecyclableBlocks> {
        let (low, high) = space.range();
        Ok(RecyclableBlocks {
            used: reserve((high - low) / BLOCK * size_of::<Lines>())?,
            blocks: LeafLock::new(List::new(1 << 24)?),
            free: AtomicUsize::new(0),
        })
    }
    /// Free bytes of the listed blocks.
    pub fn free(&self) -> usize {
        self.free.load(Relaxed)
    }
    /// An entry of the table. It is read and written under the lock.
    fn used(&self, block: BlockId) -> *mut Lines {
        (self.used as *mut Lines).wrapping_add(block.number())
    }
    /// Lists a block with these used lines, unless it is listed already.
    pub fn push(&self, space: &Space, block: BlockId, used: &Lines) {
        let mut blocks = self.blocks.lock();
        let info = space.info(block);
        if info.recyclable.swap(1, Relaxed) == 0 {
            let bytes = used.bytes();
            info.live.store(bytes as u32, Relaxed);
            // SAFETY: the table has an entry for each block; under the lock.
            unsafe { *self.used(block) = *used };
            blocks.push(block);
            self.free.fetch_add(BLOCK - bytes, Relaxed);
        }
    }
    /// A block leaves the list.
    fn forget(&self, space: &Space, block: BlockId) {
        let info = space.info(block);
        info.recyclable.store(0, Relaxed);
        self.free
            .fetch_sub(BLOCK - info.live.load(Relaxed) as usize, Relaxed);
    }
    /// Takes a block off the list to fill it. Returns it and its used lines; it counts as full from now on.
    pub fn pop(&self, space: &Space) -> Option<(BlockId, Lines)> {
        let mut blocks = self.blocks.lock();
        let block = blocks.pop()?;
        self.forget(space, block);
        space.info(block).live.store(BLOCK as u32, Relaxed);
        // SAFETY: the table has an entry for each block; under the lock.
        Some((block, unsafe { *self.used(block) }))
    }
    /// The used lines of a block, if it is listed.
    pub fn of(&self, space: &Space, block: BlockId) -> Option<Lines> {
        let _lock = self.blocks.lock();
        // SAFETY: the table has an entry for each block; under the lock.
        (space.info(block).recyclable.load(Relaxed) != 0).then(|| unsafe { *self.used(block) })
    }
    /// Calls `f` with each listed block.
    pub(crate) fn each(&self, mut f: impl FnMut(BlockId)) {
        for &b in self.blocks.lock().as_slice() {
            f(b);
        }
    }
    /// Takes the blocks off the list for which `keep` says false.
    pub fn retain(&self, space: &Space, keep: impl Fn(BlockId) -> bool) {
        self.blocks.lock().retain_map(|b| {
            let kept = keep(b);
            if !kept {
                self.forget(space, b);
            }
            kept.then_some(b)
        });
    }
}
