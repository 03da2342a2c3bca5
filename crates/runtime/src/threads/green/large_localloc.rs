//! The localloc stack of a green thread that has asked for a large stack: a chunk of its own, as large as that stack.
//!
//! A record's own chunk, from a slab, waits meanwhile. Where it is stands in a header below the large one.
//!
//! # Invariants
//! * A thread gets its chunk before it has taken anything of the record's, and loses it when it has ended: another thread with the record finds the
//!   record's own.
//! * The words of the context change in Runtime state, on the carrier that runs the thread. The world does not stop between them, and a collector that
//!   looks at parked threads does not have this one.
use crate::memory::address_plan;
use vervet_abi::ThreadContext;
use vervet_os::memory;

/// What lies below a large chunk: the record's own.
#[repr(C, align(64))]
struct Header {
    low: usize,
    end: usize,
}

/// Gives the calling green thread, which has asked for a stack of so many bytes, a chunk as large, if the record's is smaller and there is room.
///
/// # Safety
/// The context is the calling thread's, in Runtime state, and its localloc stack is empty.
pub(super) unsafe fn fit(context: *mut ThreadContext, stack: usize) {
    // SAFETY: the caller's promise.
    let (low, end) = unsafe { ((*context).localloc_low, (*context).localloc_end) };
    if end - low >= stack {
        return;
    }
    let size = stack.next_multiple_of(1 << 16) + size_of::<Header>();
    if !address_plan::has_room_for(size) {
        return;
    }
    let Ok(chunk) = memory::reserve(size) else {
        return;
    };
    // SAFETY: the memory is fresh, aligned as pages are, and has room for the header; the context is the caller's.
    unsafe {
        (chunk as *mut Header).write(Header { low, end });
        (*context).localloc_low = chunk as usize + size_of::<Header>();
        (*context).localloc_next = (*context).localloc_low;
        (*context).localloc_end = chunk as usize + size;
    }
}

/// The thread has ended: its record has its own chunk again, of `usual` bytes.
///
/// # Safety
/// The caller is the carrier that ran the thread, in Runtime state. Nothing lies on the thread's localloc stack.
pub(super) unsafe fn take_back(context: *mut ThreadContext, usual: usize) {
    // SAFETY: the caller's promise. Only a large chunk, which `fit` made, is larger than a record's own.
    unsafe {
        let (low, end) = ((*context).localloc_low, (*context).localloc_end);
        if end - low > usual {
            let header = (low as *const Header).sub(1);
            let own = header.read();
            (*context).localloc_low = own.low;
            (*context).localloc_end = own.end;
            memory::release(header as *mut u8, end - header as usize);
        }
        (*context).localloc_next = (*context).localloc_low;
    }
}
