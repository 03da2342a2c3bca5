//! Memory of static fields and thread statics.
//!
//! # Invariants
//! A class's reference statics lie in root memory (8-aligned words, marked through cards), its other statics
//! elsewhere; both are zeroed, are allocated when the class's VTable is made, and never move. A thread's block
//! of a class's thread statics is root memory, made at the first access and given back when the thread ends; the
//! thread's table of blocks holds no reference and is the thread's own.
use crate::cx::Cx;
use crate::memory::context_statics;
use crate::memory::thread_static_classes::THREAD_STATIC_CLASSES;
pub use crate::memory::thread_static_classes::thread_static_index;
use std::sync::atomic::{AtomicUsize, Ordering};
use vervet_abi::{ThreadContext, VTable};
use vervet_os::{Chunks, LeafLock, Published};
use vervet_types::FieldRef;

static VALUES: LeafLock<(usize, usize)> = LeafLock::new((0, 0));

/// `bytes` zeroed bytes outside the heap, 16-aligned, for statics without references and RVA data copies.
pub fn reserve_values(bytes: usize) -> Result<*mut u8, vervet_types::LoadError> {
    let bytes = (bytes + 15) & !15;
    let mut v = VALUES.lock();
    if v.1 - v.0 < bytes {
        let size = (1usize << 20).max(bytes);
        let p = vervet_os::memory::reserve(size)
            .map_err(|_| vervet_types::LoadError::OutOfMemory("statics"))? as usize;
        *v = (p, p + size);
    }
    let at = v.0;
    v.0 += bytes;
    Ok(at as *mut u8)
}

static RVA: Chunks<Published<usize>> = Chunks::new();

/// The writable copy of an RVA field's data.
pub fn rva_data(field: FieldRef) -> Result<usize, vervet_types::LoadError> {
    RVA.at(field.id)
        .get_or_try(|| {
            let data = field.rva_data()?;
            let at = reserve_values(data.len().max(16))?;
            // SAFETY: `at` has room for all of it and nobody else knows it.
            unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), at, data.len()) };
            Ok(at as usize)
        })
        .copied()
}

/// The least entries of a thread's table of blocks. There may be a million threads, each of which uses the statics of few classes.
const LEAST_TABLE: usize = 2;

/// This thread's block of a class's thread statics, made if it is not there.
pub fn thread_block(cx: &Cx<'_>, vt: &'static VTable) -> Result<*mut u8, vervet_types::LoadError> {
    // SAFETY: a token's context is the calling thread's.
    unsafe { block_of(cx.context(), vt) }
}

/// See [`thread_block`].
///
/// # Safety
/// The context is the calling thread's.
unsafe fn block_of(
    context: *mut ThreadContext,
    vt: &'static VTable,
) -> Result<*mut u8, vervet_types::LoadError> {
    let index = vt.thread_static_index as usize;
    // SAFETY: the context belongs to this thread; its table has the length that the context says and is a boxed slice.
    unsafe {
        if index >= (*context).thread_statics_len {
            let mut table =
                vec![std::ptr::null_mut(); (index + 1).next_power_of_two().max(LEAST_TABLE)]
                    .into_boxed_slice();
            let old = thread_table(context);
            table[..old.len()].copy_from_slice(&old);
            (*context).thread_statics_len = table.len();
            (*context).thread_statics = Box::into_raw(table) as *mut *mut u8;
        }
        let slot = (*context).thread_statics.add(index);
        if (*slot).is_null() {
            let (size, references) = {
                let shape = &THREAD_STATIC_CLASSES.lock()[index];
                (shape.size as usize, shape.references)
            };
            *slot = crate::memory::roots::reserve_mapped(size, references)?;
            if vt.domain != 0 {
                let shapes = &mut THREAD_STATIC_CLASSES.lock();
                shapes[index].blocks.push(*slot as usize);
            }
        }
        Ok(*slot)
    }
}

/// A domain is unloaded: what its thread statics hold goes. Nothing runs in the domain, and the blocks stay until their threads end.
pub(crate) fn clear_thread_statics(domain: u32) {
    // Under the lock: a thread that ends gives its blocks back only after it has taken them off the list.
    for shape in THREAD_STATIC_CLASSES.lock().iter() {
        if shape.owner.0 == domain {
            for block in &shape.blocks {
                // SAFETY: the block has that size, and its thread, which does not run in the domain, leaves it alone.
                unsafe { clear_words(*block as *mut u8, shape.size as usize) };
            }
        }
    }
}

/// Stores zero into each word, whole: the collector may read them meanwhile.
///
/// # Safety
/// The memory is the caller's to write, begins at a multiple of 8, and has so many bytes.
pub(crate) unsafe fn clear_words(at: *mut u8, bytes: usize) {
    for word in 0..bytes / 8 {
        // SAFETY: the caller's promise.
        unsafe { AtomicUsize::from_ptr((at as *mut usize).add(word)) }.store(0, Ordering::Relaxed);
    }
}

/// Takes the table of blocks out of a context, for the caller to drop.
///
/// # Safety
/// The context is the caller's alone.
unsafe fn thread_table(context: *mut ThreadContext) -> Box<[*mut u8]> {
    // SAFETY: the two words are those of a boxed slice, or null and 0.
    unsafe {
        let (at, len) = ((*context).thread_statics, (*context).thread_statics_len);
        ((*context).thread_statics, (*context).thread_statics_len) = (std::ptr::null_mut(), 0);
        if at.is_null() {
            Box::default()
        } else {
            Box::from_raw(std::ptr::slice_from_raw_parts_mut(at, len))
        }
    }
}

/// Gives back the thread statics of a thread that ends: nothing managed runs on it any more.
///
/// # Safety
/// The context is the ending thread's: the calling one, or one that has ended.
pub unsafe fn release_thread_blocks(context: *mut ThreadContext) {
    // SAFETY: the context belongs to the ending thread.
    for (i, block) in unsafe { thread_table(context) }.iter().enumerate() {
        if !block.is_null() {
            let size = {
                let shape = &mut THREAD_STATIC_CLASSES.lock()[i];
                shape.blocks.retain(|b| *b != *block as usize);
                shape.size as usize
            };
            // SAFETY: reserved with that size by `thread_block`; its thread was its only user.
            unsafe { crate::memory::roots::free_mapped(*block, size) };
        }
    }
}

/// Address of a static field of an initialised or initialising class, in this thread's view and in its context's.
pub fn field_address(
    cx: &Cx<'_>,
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
            StaticKind::Thread => thread_block(cx, vt)?.add(offset()?),
            StaticKind::Context => context_statics::block(cx, vt)?.add(offset()?),
            StaticKind::Rva => rva_data(field)? as *mut u8,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_statics_of_an_ended_thread_go_to_the_next() {
        crate::memory::gc::for_tests();
        // SAFETY: both are plain data of which zeros are valid; the class of the VTable is not looked at.
        let (mut context, vt): (ThreadContext, &'static mut VTable) =
            unsafe { (std::mem::zeroed(), Box::leak(Box::new(std::mem::zeroed()))) };
        vt.thread_static_index = thread_static_index((0, u32::MAX), 5 * 808, &[0, 2]);
        assert_eq!(
            vt.thread_static_index,
            thread_static_index((0, u32::MAX), 5 * 808, &[0, 2]),
            "one index for a class"
        );
        assert_ne!(
            vt.thread_static_index,
            thread_static_index((1, u32::MAX), 5 * 808, &[0, 2]),
            "another in another domain"
        );
        let context = &raw mut context;
        // SAFETY: a context that only this test uses.
        let block_of = |context| unsafe { block_of(context, vt) };
        let block = block_of(context).expect("memory");
        assert_eq!(
            block,
            block_of(context).expect("memory"),
            "one block for a thread"
        );
        let map: Vec<bool> = (0..3)
            .map(|w| crate::memory::roots::is_reference(block as usize + 8 * w))
            .collect();
        assert_eq!(map, [true, false, true]);
        // SAFETY: the block is this thread's.
        unsafe { (block as *mut usize).add(1).write(7) };
        // SAFETY: a context that only this test uses.
        unsafe { release_thread_blocks(context) };
        assert!(
            !crate::memory::roots::is_reference(block as usize),
            "nobody's references"
        );
        let next = block_of(context).expect("memory");
        assert_eq!(block, next);
        // SAFETY: the block is this thread's, and has three words.
        assert_eq!(unsafe { (next as *const usize).add(1).read() }, 0);
        // SAFETY: a context that only this test uses.
        unsafe { release_thread_blocks(context) };
    }
}
