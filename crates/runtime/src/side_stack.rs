//! The side stack: memory of `localloc` that is no fixed part of a frame.
//!
//! # Invariants
//! Chunks never move. The method that takes memory saves `Context::side_next` at entry and puts it back at
//! return; memory handed out is zeroed.
use crate::cx::{Cx, Result};

const CHUNK: usize = 16 << 20;

/// `bytes` zeroed bytes, 16-aligned.
pub fn take<'cx>(cx: &'cx Cx<'cx>, bytes: usize) -> Result<usize> {
    let size = (bytes.max(1) + 15) & !15;
    // SAFETY: the context belongs to this thread; the chunk is ours.
    unsafe {
        let ctx = &mut *cx.context();
        if ctx.side_end == 0 {
            let Ok(p) = vervet_os::memory::reserve(CHUNK) else { return Err(cx.rt().throw_out_of_memory(cx)) };
            ctx.side_next = p as usize;
            ctx.side_end = p as usize + CHUNK;
        }
        if ctx.side_end - ctx.side_next < size {
            crate::exceptions::traps::stack_overflow(cx.context());
        }
        let at = ctx.side_next;
        ctx.side_next += size;
        std::ptr::write_bytes(at as *mut u8, 0, size);
        Ok(at)
    }
}
