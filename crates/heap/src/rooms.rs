//! Old blocks with room for what is promoted.
//!
//! # Invariants
//! * A block is listed once: its `flag` says that it is. Its `live` bytes are those it had when it was listed.
//! * `free` is the sum of what the listed blocks have free.
use crate::memory::List;
use crate::space::{BLOCK, Space};
use std::io;
use std::sync::atomic::Ordering::Relaxed;

/// See the module.
pub struct Rooms {
    blocks: List<u32>,
    free: usize,
}

impl Rooms {
    pub(crate) fn new() -> io::Result<Rooms> {
        Ok(Rooms {
            blocks: List::new(1 << 24)?,
            free: 0,
        })
    }
    /// Free bytes of the listed blocks.
    pub fn free(&self) -> usize {
        self.free
    }
    /// Lists a block that has `free` bytes free, unless it is listed.
    pub fn push(&mut self, space: &Space, block: usize, free: usize) {
        let info = space.info(block);
        if info.flag.swap(1, Relaxed) == 0 {
            info.live.store((BLOCK - free) as u32, Relaxed);
            self.blocks.push(block as u32);
            self.free += free;
        }
    }
    fn forget(&mut self, space: &Space, block: usize) {
        let info = space.info(block);
        info.flag.store(0, Relaxed);
        self.free -= BLOCK - info.live.load(Relaxed) as usize;
    }
    /// Takes a block, to fill it: it counts as full from now on.
    pub fn pop(&mut self, space: &Space) -> Option<usize> {
        let block = self.blocks.pop()? as usize;
        self.forget(space, block);
        space.info(block).live.store(BLOCK as u32, Relaxed);
        Some(block)
    }
    /// Keeps those that `keep` says.
    pub fn retain(&mut self, space: &Space, keep: impl Fn(usize) -> bool) {
        for i in 0..self.blocks.len() {
            let b = self.blocks.as_slice()[i] as usize;
            if !keep(b) {
                self.forget(space, b);
            }
        }
        self.blocks
            .retain_map(|b| (space.info(b as usize).flag.load(Relaxed) != 0).then_some(b));
    }
}
