//! Root memory: words outside the heap in which Rust code and generated code keep references.
//!
//! | what lies there | made by | given back by |
//! |---|---|---|
//! | a reference that Rust code keeps | [`Root::new`], [`Root::of`], [`keep`] | [`Root::free`] |
//! | literals, Type objects | [`keep`], [`keep_in`] in the domain's tables | never: generated code names their addresses |
//! | static fields with references | [`reserve_mapped`], when a VTable is made | [`free_mapped`], if the VTable was not the first |
//! | thread statics | [`reserve_mapped`], at a thread's first access | [`free_mapped`], when the thread ends |
//!
//! # Invariants
//! * A map says of every word whether it is a reference, and says so before the memory is handed out. Words that are
//!   none may lie between them (structs among the statics); the collector does not look at those.
//! * Root memory never moves. It is zeroed when it is handed out, and a word is written by [`Root::set`] or
//!   [`store_ref`](crate::object::store_ref) (which mark its card) or by generated code that does the same.
//! * Given back, it is zeroed and its map cleared before anybody gets it again, which is not while marking runs.
use crate::memory::gc::heap;
pub use crate::memory::root_slot::Root;
use crate::object::ObjRef;
use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicUsize, Ordering};
use vervet_os::LeafLock;
use vervet_types::LoadError;

/// Root memory that was given back.
#[derive(Default)]
struct Area {
    /// Blocks given back, by size in bytes.
    free: FxHashMap<usize, Vec<usize>>,
    /// Slots given back; their map bits stay.
    free_slots: Vec<usize>,
}
static AREA: LeafLock<Option<Area>> = LeafLock::new(None);

/// `bytes` (a multiple of 8) with that map.
fn take(bytes: usize, references: impl Iterator<Item = usize>) -> Result<usize, LoadError> {
    let mut used = None;
    // (While marking runs, the marker may be looking at what was given back.)
    if !heap().is_marking() {
        let mut area = AREA.lock();
        let free = area.get_or_insert_default().free.get_mut(&bytes);
        used = free.and_then(Vec::pop);
    }
    match used {
        Some(at) => {
            heap().map_statics(at, references);
            Ok(at)
        }
        None => heap()
            .allocate_statics(bytes, references)
            .ok_or(LoadError::OutOfMemory("statics")),
    }
}

/// So many zeroed words that all are references.
pub fn reserve_refs(words: usize) -> *mut usize {
    let bytes = 8 * words.max(1);
    // The caller is part of the runtime and has no exception to throw. The heap keeps more free than this for collections.
    take(bytes, 0..words).unwrap_or_else(|_| vervet_os::allocator::no_memory("roots", bytes))
        as *mut usize
}

/// `bytes` zeroed bytes, 8-aligned, whose words `ref_words` are references and no others.
pub fn reserve_mapped(bytes: usize, ref_words: &[u32]) -> Result<*mut u8, LoadError> {
    let bytes = bytes.max(1).next_multiple_of(8);
    assert!(
        ref_words.iter().all(|w| (*w as usize) < bytes / 8),
        "a map of more words than there are"
    );
    take(bytes, ref_words.iter().map(|w| *w as usize)).map(|at| at as *mut u8)
}

/// Takes back what [`reserve_mapped`] or [`reserve_refs`] gave.
///
/// # Safety
/// It was reserved with that size and nobody, generated code included, will use it again.
pub unsafe fn free_mapped(at: *mut u8, bytes: usize) {
    let bytes = bytes.max(1).next_multiple_of(8);
    heap().forget_statics(at as usize, bytes);
    let mut area = AREA.lock();
    let free = &mut area.get_or_insert_default().free;
    free.entry(bytes).or_default().push(at as usize);
}

/// Does the word at that address of root memory hold a reference?
pub fn is_reference(address: usize) -> bool {
    heap().is_static_reference(address & !7)
}

impl Root {
    /// A slot holding null.
    pub fn new() -> Root {
        if let Some(slot) = AREA.lock().get_or_insert_default().free_slots.pop() {
            return Root(slot);
        }
        Root(reserve_refs(1) as usize)
    }
    /// A slot holding `object`.
    pub fn of(object: ObjRef<'_>) -> Root {
        let r = Root::new();
        r.set(object);
        r
    }
    /// Gives the slot back. Nobody may use a copy of it, or code that names its address, any more.
    pub fn free(self) {
        self.set(ObjRef::NULL);
        AREA.lock().get_or_insert_default().free_slots.push(self.0);
    }
}
impl Default for Root {
    fn default() -> Self {
        Root::new()
    }
}

/// The root under a key of a table, made to hold `object` if there is none: of several threads the first wins, and the
/// others' slots go back.
pub fn keep<K: Eq + Hash>(
    table: &LeafLock<FxHashMap<K, Root>>,
    key: K,
    object: ObjRef<'_>,
) -> Root {
    let made = Root::of(object);
    let kept = *table.lock().entry(key).or_insert(made);
    if kept != made {
        made.free();
    }
    kept
}

/// The root whose address a cell holds, made to hold `object` if the cell is 0: of several threads the first wins, and the others' slots go back. A cell
/// that is not 0 stays as it is.
pub fn keep_in(cell: &AtomicUsize, object: ObjRef<'_>) -> Root {
    let made = Root::of(object);
    match cell.compare_exchange(0, made.0, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => made,
        Err(kept) => {
            made.free();
            Root(kept)
        }
    }
}
/// The root whose address a cell of [`keep_in`] holds.
pub fn kept_in(cell: &AtomicUsize) -> Option<Root> {
    match cell.load(Ordering::Acquire) {
        0 => None,
        address => Some(Root(address)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::gc;
    const CHUNK: usize = 1 << 20;

    /// A stand-in for an object: roots do not look at what they refer to.
    fn object(n: usize) -> ObjRef<'static> {
        gc::for_tests();
        // SAFETY: never dereferenced.
        unsafe { ObjRef::from_addr(0x10_0000 + 8 * n) }
    }

    #[test]
    fn a_map_says_which_words_are_references() {
        gc::for_tests();
        let at = reserve_mapped(40, &[1, 3]).expect("memory") as usize;
        let map: Vec<bool> = (0..5).map(|w| is_reference(at + 8 * w)).collect();
        assert_eq!(map, [false, true, false, true, false]);
    }

    #[test]
    fn what_was_given_back_comes_again_zeroed_under_its_new_map() {
        gc::for_tests();
        const SIZE: usize = 8 * 1001;
        let at = reserve_mapped(SIZE, &[0, 1, 1000]).expect("memory");
        // SAFETY: the memory is ours until it is freed.
        unsafe {
            *(at as *mut usize) = 8;
            *(at as *mut usize).add(1000) = 8;
            free_mapped(at, SIZE);
        }
        let again = reserve_mapped(SIZE, &[2]).expect("memory");
        assert_eq!(at, again);
        let words: Vec<bool> = (0..1001)
            .map(|w| is_reference(again as usize + 8 * w))
            .collect();
        assert!(words.iter().enumerate().all(|(w, r)| *r == (w == 2)));
        // SAFETY: the memory was reserved with that size, and only this test uses it.
        unsafe {
            assert_eq!(
                (*(again as *mut usize), *(again as *mut usize).add(1000)),
                (0, 0)
            )
        };
    }

    #[test]
    fn the_slot_of_who_came_second_goes_back() {
        let table = LeafLock::new(FxHashMap::default());
        let first = keep(&table, 1, object(1));
        let second = keep(&table, 1, object(2));
        assert_eq!(first, second);
        assert_eq!(first.get(), object(1));
        assert_eq!(table.lock().len(), 1);
        let free = AREA.lock().as_ref().map_or(0, |a| a.free_slots.len());
        assert!(free >= 1, "the loser's slot is in the pool");
    }

    #[test]
    fn a_slot_is_a_reference_word_and_holds_null_again() {
        let a = Root::of(object(3));
        assert!(is_reference(a.address()));
        a.free();
        let b = Root::new();
        assert!(b.get().is_null());
        b.free();
    }

    #[test]
    fn more_than_a_chunk_at_once() {
        gc::for_tests();
        let at = reserve_refs(CHUNK / 8 + 7) as usize;
        assert!(is_reference(at) && is_reference(at + CHUNK + 48));
    }
}
