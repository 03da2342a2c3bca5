//! Memory of static fields and thread statics.
//!
//! # Invariants
//! A class's reference statics lie in root memory (8-aligned words, marked through cards), its other statics
//! elsewhere; both are zeroed, are allocated when the class's VTable is made, and never move. A thread's block
//! of a class's thread statics is root memory, made at the first access, and used again when the thread has ended.
use rustc_hash::FxHashMap;
use vervet_abi::{Context, VTable};
use vervet_os::{Chunks, LeafLock, Published};
use vervet_types::{ClassRef, FieldRef};

static VALUES: LeafLock<(usize, usize)> = LeafLock::new((0, 0));

/// `bytes` zeroed bytes outside the heap, 16-aligned, for statics without references and RVA data copies.
pub fn reserve_values(bytes: usize) -> *mut u8 {
    let bytes = (bytes + 15) & !15;
    let mut v = VALUES.lock();
    if v.1 - v.0 < bytes {
        let size = (1usize << 20).max(bytes);
        let p = vervet_os::memory::reserve(size)
            .unwrap_or_else(|e| panic!("no memory for statics: {e}")) as usize;
        *v = (p, p + size);
    }
    let at = v.0;
    v.0 += bytes;
    at as *mut u8
}

static RVA: Chunks<Published<usize>> = Chunks::new();

/// The writable copy of an RVA field's data.
pub fn rva_data(field: FieldRef) -> Result<usize, vervet_types::LoadError> {
    RVA.at(field.id)
        .get_or_try(|| {
            let data = field.rva_data()?;
            let at = reserve_values(data.len().max(16));
            // SAFETY: `at` has room for all of it and nobody else knows it.
            unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), at, data.len()) };
            Ok(at as usize)
        })
        .copied()
}

static THREAD_STATIC_CLASSES: LeafLock<Vec<u32>> = LeafLock::new(Vec::new());

/// The index of a class that has thread statics; `size` is that of its block.
pub fn thread_static_index(size: u32) -> u32 {
    let mut t = THREAD_STATIC_CLASSES.lock();
    t.push(size);
    t.len() as u32 - 1
}

/// What a piece of a thread's memory is for, and its bytes: the block of a class, by its index, or the [`TABLE`]. It is
/// used again for the same only, since a block's references lie where its class has them.
type Piece = (u32, usize);
const TABLE: u32 = u32::MAX;
/// Zeroed pieces of threads that ended.
static SPARE: LeafLock<Option<FxHashMap<Piece, Vec<usize>>>> = LeafLock::new(None);

/// Zeroed root memory for a piece.
fn thread_memory(piece: Piece) -> *mut u8 {
    let bytes = piece.1;
    let spare = SPARE.lock().as_mut().and_then(|s| s.get_mut(&piece)?.pop());
    spare.map_or_else(|| crate::roots::reserve(bytes), |at| at as *mut u8)
}

/// This thread's block of a class's thread statics, made if it is not there.
pub fn thread_block(ctx: *mut Context, vt: &'static VTable) -> *mut u8 {
    let index = vt.thread_static_index as usize;
    // SAFETY: the context belongs to this thread; its table has the noted length.
    unsafe {
        if index >= (*ctx).thread_statics_len {
            let len = (index + 1).next_power_of_two().max(64);
            let table = thread_memory((TABLE, len * 8)) as *mut *mut u8;
            let (old, old_len) = ((*ctx).thread_statics, (*ctx).thread_statics_len);
            for i in 0..old_len {
                *table.add(i) = *old.add(i);
            }
            (*ctx).thread_statics = table;
            (*ctx).thread_statics_len = len;
            if old_len != 0 {
                give_back(&mut [(old as *mut u8, (TABLE, old_len * 8))].into_iter());
            }
        }
        let slot = (*ctx).thread_statics.add(index);
        if (*slot).is_null() {
            let size = THREAD_STATIC_CLASSES.lock()[index];
            *slot = thread_memory((index as u32, size as usize));
        }
        *slot
    }
}

/// The thread ends: its thread statics are zeroed and kept for other threads.
pub fn release_thread_blocks(ctx: *mut Context) {
    // SAFETY: the context belongs to this thread, which runs no managed code any more; its table has the noted length.
    unsafe {
        let (table, len) = ((*ctx).thread_statics, (*ctx).thread_statics_len);
        (*ctx).thread_statics = std::ptr::null_mut();
        (*ctx).thread_statics_len = 0;
        if len == 0 {
            return;
        }
        let sizes = THREAD_STATIC_CLASSES.lock().clone();
        let blocks = (0..len.min(sizes.len()))
            .map(|i| (*table.add(i), (i as u32, sizes[i] as usize)))
            .filter(|b| !b.0.is_null());
        let table = (table as *mut u8, (TABLE, len * 8));
        let all: Vec<(*mut u8, Piece)> = blocks.chain([table]).collect();
        give_back(&mut all.into_iter());
    }
}

/// Zeroes memory of [`thread_memory`] and keeps it.
///
/// # Safety
/// Each is a block of that many bytes which nobody else uses.
unsafe fn give_back(blocks: &mut dyn Iterator<Item = (*mut u8, Piece)>) {
    let mut spare = SPARE.lock();
    let spare = spare.get_or_insert_default();
    for (at, piece) in blocks {
        // SAFETY: passed on.
        unsafe { std::ptr::write_bytes(at, 0, piece.1) };
        spare.entry(piece).or_default().push(at as usize);
    }
}

/// Address of a static field of an initialised or initialising class, in this thread's view.
pub fn field_address(
    ctx: *mut Context,
    vt: &'static VTable,
    field: FieldRef,
) -> Result<*mut u8, vervet_types::LoadError> {
    use vervet_types::StaticKind;
    let offset = || field.offset().map(|o| o as usize);
    // SAFETY: the type system laid the field out inside the memory of its kind.
    Ok(unsafe {
        match field.static_kind()? {
            StaticKind::Refs => vt.statics_refs.add(offset()?),
            StaticKind::Values => vt.statics_values.add(offset()?),
            StaticKind::Thread => thread_block(ctx, vt).add(offset()?),
            StaticKind::Rva => rva_data(field)? as *mut u8,
        }
    })
}

/// Bytes of thread statics a class declares, or None.
pub fn thread_statics_size(class: ClassRef) -> Result<Option<u32>, vervet_types::LoadError> {
    Ok(Some(class.layout()?.thread_statics_size).filter(|s| *s > 0))
}
