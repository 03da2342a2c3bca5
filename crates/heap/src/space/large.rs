//! Allocation, sweeping and freeing of large objects: objects that are not copied, each in blocks of its own.
//!
//! # Invariants
//! * A large object begins at the start of a block and is old from birth. Its cards are clean before anybody can store into it.
//! * Its header is stored before its first block becomes Large, so whoever finds the block finds an object.
//! * A large object that is made while marking runs is born marked (`large_marked`). The marker does not scan the whole of it, but the cards
//!   that stores into it mark; a table of ephemerons is recorded at birth ([`crate::major::state::Major::table_born`]).
//! * `large_dead` is set from when a cycle found the object dead until its blocks are freed.
use crate::Heap;
use crate::memory::List;
use crate::model::{Contents, Model, World};
use crate::space::{BLOCK, BlockId, BlockKind, CARD, Space};
use std::sync::atomic::Ordering::*;
use vervet_os::perturb;

impl<M: Model, W: World> Heap<M, W> {
    /// Allocates a large object: `size` zeroed bytes with that header. None: the address range is used up.
    pub(crate) fn place_large(&self, size: usize, header: u64) -> Option<usize> {
        let space: &Space = &self.space;
        let blocks = size.div_ceil(BLOCK);
        let first = space.alloc_run(blocks)?;
        let at = space.address(first);
        perturb::here();
        space.prepare_run(first, blocks, size);
        // SAFETY: a header of the model's.
        let contents = unsafe { M::contents(header) };
        let refs = contents != Contents::Plain;
        if refs {
            space.clean_cards(at, (size + 8 * CARD - 1) & !(8 * CARD - 1));
        }
        let info = space.info(first);
        info.size.store(size, Relaxed);
        info.has_references.store(u8::from(refs), Relaxed);
        let marking = self.major.is_marking();
        info.large_marked.store(u8::from(marking), Relaxed);
        // SAFETY: fresh memory of ours.
        unsafe { (*(at as *const std::sync::atomic::AtomicU64)).store(header, Release) };
        perturb::here();
        for i in (0..blocks).rev() {
            space.info(first.plus(i)).live.store(i as u32, Relaxed);
            space.set_kind(
                first.plus(i),
                if i == 0 {
                    BlockKind::Large
                } else {
                    BlockKind::LargeTail
                },
            );
        }
        // Its blocks are a large object's, which no list has yet.
        perturb::here();
        if marking && contents == Contents::Ephemerons {
            self.major.table_born(at);
        }
        self.large.heads.lock().push(first);
        self.large.bytes.fetch_add(size, Relaxed);
        Some(at)
    }
    /// Takes the objects that were not reached in this cycle off the list; their first blocks go to `dead`.
    pub(crate) fn sweep_large(&self, dead: &mut List<BlockId>) {
        let space = &self.space;
        self.large.heads.lock().retain_map(|b| {
            let info = space.info(b);
            if info.large_marked.swap(0, Relaxed) != 0 {
                return Some(b);
            }
            // The cards of dead objects are not scanned any more.
            info.has_references.store(0, Relaxed);
            info.large_dead.store(1, Relaxed);
            self.large.bytes.fetch_sub(info.size.load(Relaxed), Relaxed);
            dead.push(b);
            None
        });
    }
    /// Is the large object of that first block dead?
    pub(crate) fn is_dead_large(&self, block: BlockId) -> bool {
        self.space.info(block).large_dead.load(Relaxed) != 0
    }
    /// Frees the blocks of dead large objects. Their pages are kept until the end of the cycle, which gives back what the program
    /// will not need before the next one ([`crate::Heap::trim`]).
    pub(crate) fn free_large(&self, dead: &mut List<BlockId>) {
        while let Some(b) = dead.pop() {
            let n = self.space.info(b).size.load(Relaxed).div_ceil(BLOCK);
            // SAFETY: the object is dead: a zero header says so to whoever still meets the block.
            unsafe { *(self.space.address(b) as *mut u64) = 0 };
            self.space.release_run(b, n);
            self.space.free_run(b, n);
        }
    }
}
