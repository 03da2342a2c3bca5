//! The localloc stack: memory of `localloc`, and of our own calls into managed code, that is no fixed part of a frame.
//!
//! # Invariants
//! * A thread has one chunk, which stays where it is as long as the thread is attached. `ThreadContext::localloc_next` is its first free
//!   byte, `localloc_end` its end.
//! * The chunk is as large as the plan says, and no smaller than the thread's own stack if that is larger than most ([`fit`]): what a program may take of a stack that
//!   it has asked for does not end before the stack does. Where address space is limited, that of a thread that has ended is as large as the plan says ([`shrink`]).
//! * A method that takes memory saves `localloc_next` at entry and restores it at return, and a catch restores it for the frames that it
//!   ended. So what lies below `localloc_next` belongs to frames that are active.
//! * Memory that is handed out is zeroed. The collector scans what is in use as it scans a stack, so references and addresses
//!   inside objects may lie here.
use super::address_plan;
use crate::cx::{Cx, Result};
use vervet_abi::ThreadContext;
use vervet_os::memory;

/// A thread that asks for no size has about such a stack. Where address space is limited, many of these have to find room.
const USUAL_STACK: usize = 8 << 20;

/// Bytes of the localloc stack of a thread whose own stack has that size.
pub fn size_for(stack: usize) -> usize {
    let usual = address_plan::localloc_stack();
    match stack > USUAL_STACK {
        true => stack.next_multiple_of(1 << 16).max(usual),
        false => usual,
    }
}

/// Gives a thread that is about to attach a chunk for its stack. What it has is kept if it is large enough, or if there is no room for another.
///
/// # Safety
/// The thread is on no list, and its localloc stack is empty.
pub(crate) unsafe fn fit(context: *mut ThreadContext, stack: usize) {
    let size = size_for(stack);
    // SAFETY: nobody else uses the context, and nothing lies in the chunk that is released.
    unsafe {
        let (low, end) = ((*context).localloc_low, (*context).localloc_end);
        if end - low >= size || !address_plan::has_room_for(size) {
            return;
        }
        if let Ok(chunk) = memory::reserve(size) {
            (*context).localloc_low = chunk as usize;
            (*context).localloc_next = chunk as usize;
            (*context).localloc_end = chunk as usize + size;
            memory::release(low as *mut u8, end - low);
        }
    }
}

/// Takes from a thread that has ended what its chunk has beyond the usual size, where address space is limited: others need it.
///
/// # Safety
/// The thread is on no list, and its localloc stack is empty.
pub(crate) unsafe fn shrink(context: *mut ThreadContext) {
    let usual = address_plan::localloc_stack();
    // SAFETY: nobody else uses the context, and nothing lies in the part that is released, which is whole pages of one reservation.
    unsafe {
        let (low, end) = ((*context).localloc_low, (*context).localloc_end);
        if address_plan::is_limited() && end - low > usual {
            (*context).localloc_end = low + usual;
            memory::release((low + usual) as *mut u8, end - low - usual);
        }
    }
}

/// `bytes` zeroed bytes, 16-aligned.
pub fn take<'cx>(cx: &'cx Cx<'cx>, bytes: usize) -> Result<usize> {
    let context = cx.context();
    // SAFETY: these words are the calling thread's; the range lies in the chunk and nobody else has it.
    unsafe {
        let at = (*context).localloc_next;
        let size = match bytes.max(1).checked_next_multiple_of(16) {
            Some(size) if (*context).localloc_end - at >= size => size,
            _ => crate::arch::upcalls::stack_overflow(context),
        };
        (*context).localloc_next = at + size;
        std::ptr::write_bytes(at as *mut u8, 0, size);
        Ok(at)
    }
}

/// Memory of the localloc stack for as long as this lives: where Rust code keeps arguments and struct values that may hold
/// references and are too many for an array in its frame. Scopes end in the reverse order of their making.
pub struct Scope<'cx> {
    cx: &'cx Cx<'cx>,
    before: usize,
}
impl<'cx> Scope<'cx> {
    /// An empty one.
    pub fn new(cx: &'cx Cx<'cx>) -> Scope<'cx> {
        // SAFETY: the context belongs to this thread.
        let before = unsafe { (*cx.context()).localloc_next };
        Scope { cx, before }
    }
    /// Of the thread that made it.
    pub fn cx(&self) -> &'cx Cx<'cx> {
        self.cx
    }
    /// `bytes` zeroed bytes, 16-aligned.
    pub fn bytes(&self, bytes: usize) -> Result<*mut u8> {
        Ok(take(self.cx, bytes)? as *mut u8)
    }
    /// So many copies of a value. It is dropped as plain memory.
    #[expect(clippy::mut_from_ref, reason = "each call hands out other memory")]
    pub fn slice<T: Copy>(&self, len: usize, value: T) -> Result<&mut [T]> {
        const { assert!(align_of::<T>() <= 16) };
        let at = self.bytes(len * size_of::<T>())? as *mut T;
        // SAFETY: fresh memory with that room; it is given back after the borrow of `self` has ended.
        unsafe {
            for i in 0..len {
                at.add(i).write(value);
            }
            Ok(std::slice::from_raw_parts_mut(at, len))
        }
    }
}
impl Drop for Scope<'_> {
    fn drop(&mut self) {
        // SAFETY: the context belongs to this thread; what was taken since lies above.
        unsafe {
            let next = &mut (*self.cx.context()).localloc_next;
            debug_assert!(
                *next >= self.before,
                "a scope of the localloc stack outlived an outer one"
            );
            *next = self.before;
        }
    }
}
