//! Native half of System.Buffer.
//!
//! Keeps nothing.
use vervet_runtime::memory::copy;
use vervet_runtime::{ObjRef, icalls};
use vervet_types::Prim;

/// Bytes of a primitive array; None for any other.
fn byte_length(array: ObjRef<'_>) -> Option<usize> {
    let element = array.class().element()?;
    matches!(element.prim, Some(p) if p != Prim::Void)
        .then(|| array.array_len() * array.vtable().size as usize)
}

icalls! {
    /// -1 if it is not an array of primitives.
    "System.Buffer::_ByteLength" fn byte_length_icall(cx, array: ObjRef<'cx>) -> i32 {
        Ok(byte_length(cx.non_null(array)?).map_or(-1, |n| n as i32))
    }
    /// False if a range does not fit or an array is not of primitives.
    "System.Buffer::InternalBlockCopy" fn internal_block_copy(cx, src: ObjRef<'cx>, src_offset: i32, dst: ObjRef<'cx>, dst_offset: i32, count: i32) -> bool {
        let Some(src) = src.non_null() else {
            return Err(cx.throw_arg_null("src"));
        };
        let Some(dst) = dst.non_null() else {
            return Err(cx.throw_arg_null("dest"));
        };
        let (from, to, n) = (src_offset as usize, dst_offset as usize, count as usize);
        let fits = |a, at: i32| at >= 0 && count >= 0 && byte_length(a).is_some_and(|size| at as usize + n <= size);
        if !fits(src, src_offset) || !fits(dst, dst_offset) {
            return Ok(false);
        }
        // SAFETY: both ranges lie inside their arrays, whose elements are primitives.
        unsafe { copy::move_bytes(cx, dst.array_data().add(to), src.array_data().add(from), n, false) };
        Ok(true)
    }
    /// Copies bytes that may overlap. The thread polls every 64 KiB, so that a long copy does not hold up a stop.
    "System.Buffer::InternalMemcpy" fn internal_memcpy(cx, dest: *mut u8, src: *const u8, count: i32) {
        // SAFETY: unsafe managed code vouches for the ranges.
        unsafe { copy::move_bytes(cx, dest, src, count.max(0) as usize, false) };
        Ok(())
    }
}
