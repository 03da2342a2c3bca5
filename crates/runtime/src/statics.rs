//! Memory of static fields and thread statics.
//!
//! # Invariants
//! A class's reference statics lie in root memory (8-aligned words, marked through cards), its other statics
//! elsewhere; both are zeroed, are allocated when the class's VTable is made, and never move. A thread's block
//! of a class's thread statics is root memory, made at the first access.
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

/// This thread's block of a class's thread statics, made if it is not there.
pub fn thread_block(ctx: *mut Context, vt: &'static VTable) -> *mut u8 {
    let index = vt.thread_static_index as usize;
    // SAFETY: the context belongs to this thread; its table has the noted length.
    unsafe {
        if index >= (*ctx).thread_statics_len {
            let len = (index + 1).next_power_of_two().max(64);
            let table = crate::roots::reserve(len * 8) as *mut *mut u8;
            for i in 0..(*ctx).thread_statics_len {
                *table.add(i) = *(*ctx).thread_statics.add(i);
            }
            (*ctx).thread_statics = table;
            (*ctx).thread_statics_len = len;
        }
        let slot = (*ctx).thread_statics.add(index);
        if (*slot).is_null() {
            let size = THREAD_STATIC_CLASSES.lock()[index];
            *slot = crate::roots::reserve(size as usize);
        }
        *slot
    }
}

/// Forgets what a thread's thread statics hold; the blocks stay with the context for the next thread that has it.
pub fn clear_thread_blocks(ctx: *mut Context) {
    let sizes = THREAD_STATIC_CLASSES.lock();
    // SAFETY: the context belongs to this thread, in Runtime state; each block has the size noted for its class.
    unsafe {
        for (index, &size) in sizes.iter().enumerate().take((*ctx).thread_statics_len) {
            let block = *(*ctx).thread_statics.add(index);
            if !block.is_null() {
                std::ptr::write_bytes(block as *mut usize, 0, (size as usize).div_ceil(8));
            }
        }
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
