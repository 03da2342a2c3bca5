//! The side stack: memory of `localloc` that is no fixed part of a frame.
//!
//! # Invariants
//! Chunks never move. The method that takes memory saves `Context::side_next` at entry and puts it back at
//! return; memory handed out is zeroed.
use crate::cx::{Cx, Result};

const CHUNK: usize = 16 << 20;

/// Gives a thread its side stack. It exists from the first, since methods save and restore `side_next`.
pub fn attach(ctx: &mut vervet_abi::Context) {
    let chunk = vervet_os::memory::reserve(CHUNK)
        .unwrap_or_else(|e| panic!("no memory for a side stack: {e}"));
    ctx.side_next = chunk as usize;
    ctx.side_end = chunk as usize + CHUNK;
}

/// `bytes` zeroed bytes, 16-aligned.
pub fn take<'cx>(cx: &'cx Cx<'cx>, bytes: usize) -> Result<usize> {
    // SAFETY: the context belongs to this thread.
    let ctx = unsafe { &mut *cx.context() };
    let size = match bytes.max(1).checked_next_multiple_of(16) {
        Some(size) if ctx.side_end - ctx.side_next >= size => size,
        _ => crate::exceptions::traps::stack_overflow(cx.context()),
    };
    let at = ctx.side_next;
    ctx.side_next += size;
    // SAFETY: the range lies in the chunk and nobody else has it.
    unsafe { std::ptr::write_bytes(at as *mut u8, 0, size) };
    Ok(at)
}
