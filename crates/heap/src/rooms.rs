//! Old blocks with room for what is promoted.
//!
//! # Invariants
//! * A block is listed once: its `flag` says that it is. Its `live` bytes are those it had when it was listed.
//! * `free` is the sum of what the listed blocks have free. It is read without the lock: who asks in a stop of the world must not
//!   wait for a thread that sweeps and has lost its processor.
use crate::memory::List;
use crate::space::{BLOCK, Space};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use vervet_os::LeafLock;

/// See the module.
pub struct Rooms {
    blocks: LeafLock<List<u32>>,
    free: AtomicUsize,
}

impl Rooms {
    pub(crate) fn new() -> io::Result<Rooms> {
        Ok(Rooms {
            blocks: LeafLock::new(List::new(1 << 24)?),
            free: AtomicUsize::new(0),
        })
    }
    /// Free bytes of the listed blocks.
    pub fn free(&self) -> usize {
        self.free.load(Relaxed)
    }
    /// Lists a block that has `free` bytes free, unless it is listed.
    pub fn push(&self, space: &Space, block: usize, free: usize) {
        let mut blocks = self.blocks.lock();
        let info = space.info(block);
        if info.flag.swap(1, Relaxed) == 0 {
            info.live.store((BLOCK - free) as u32, Relaxed);
            blocks.push(block as u32);
            self.free.fetch_add(free, Relaxed);
        }
    }
    fn forget(&self, space: &Space, block: usize) {
        let info = space.info(block);
        info.flag.store(0, Relaxed);
        self.free
            .fetch_sub(BLOCK - info.live.load(Relaxed) as usize, Relaxed);
    }
    /// Takes a block, to fill it: it counts as full from now on.
    pub fn pop(&self, space: &Space) -> Option<usize> {
        let mut blocks = self.blocks.lock();
        let block = blocks.pop()? as usize;
        self.forget(space, block);
        space.info(block).live.store(BLOCK as u32, Relaxed);
        Some(block)
    }
    /// Keeps those that `keep` says.
    pub fn retain(&self, space: &Space, keep: impl Fn(usize) -> bool) {
        self.blocks.lock().retain_map(|b| {
            let kept = keep(b as usize);
            if !kept {
                self.forget(space, b as usize);
            }
            kept.then_some(b)
        });
    }
}
