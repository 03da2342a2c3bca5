//! Which classes have thread statics, and what a thread's block of them is like.
//!
//! # Invariants
//! A class keeps its index and the size and map of its blocks as long as the process lives.
use vervet_abi::ThreadContext;
use vervet_os::LeafLock;

/// What a thread's block of one class's thread statics is like.
pub(super) struct BlockShape {
    /// The ids of the domain and of the class.
    pub owner: (u32, u32),
    pub size: u32,
    /// Which words are references. It lives with the class's layout, for ever.
    pub references: &'static [u32],
    /// The blocks of threads, unless the domain is the root domain, which is never unloaded.
    pub blocks: Vec<usize>,
}
/// By [`VTable::thread_static_index`].
pub(super) static THREAD_STATIC_CLASSES: LeafLock<Vec<BlockShape>> = LeafLock::new(Vec::new());

/// The index of a class that has thread statics (`owner`: ids of the domain and of the class); `size` is that of its block, `references` its map. A class that is
/// asked for twice (two threads make its VTable) keeps its index.
pub fn thread_static_index(owner: (u32, u32), size: u32, references: &'static [u32]) -> u32 {
    let mut t = THREAD_STATIC_CLASSES.lock();
    if let Some(i) = t.iter().position(|b| b.owner == owner) {
        return i as u32;
    }
    t.push(BlockShape {
        owner,
        size,
        references,
        blocks: Vec::new(),
    });
    t.len() as u32 - 1
}

/// Calls `visit` with each block of thread statics that a thread has: where it begins, and its bytes.
///
/// # Safety
/// The context is that of an attached thread that is stopped, or of a green thread that is parked.
pub(crate) unsafe fn each_thread_block(
    context: *mut ThreadContext,
    mut visit: impl FnMut(usize, usize),
) {
    // SAFETY: the caller's promise: the table has the length that the context says, and nobody writes to it meanwhile.
    let table = unsafe {
        let (at, len) = ((*context).thread_statics, (*context).thread_statics_len);
        (0..len).map(move |i| *at.add(i))
    };
    for (i, block) in table.enumerate() {
        if !block.is_null() {
            let size = THREAD_STATIC_CLASSES.lock()[i].size;
            visit(block as usize, size as usize);
        }
    }
}
