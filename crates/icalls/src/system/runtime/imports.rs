//! Native half of System.Runtime.RuntimeImports.
//!
//! Keeps nothing.
use vervet_runtime::{heap, icalls};

icalls! { "System.Runtime.RuntimeImports" =>
    "ZeroMemory" fn zero_memory(cx, p: *mut u8, length: u32) {
        // SAFETY: unsafe managed code vouches for the range.
        unsafe { std::ptr::write_bytes(p, 0, length as usize) };
        Ok(())
    }
    "Memmove" fn memmove(cx, dest: *mut u8, src: *const u8, length: u32) {
        // SAFETY: unsafe managed code vouches for the ranges.
        unsafe { std::ptr::copy(src, dest, length as usize) };
        Ok(())
    }
    /// `count` elements of a type with references.
    "Memmove_wbarrier" fn memmove_wbarrier(cx, dest: *mut u8, src: *const u8, count: u32, type_handle: usize) {
        let class = cx.class_of_handle(type_handle)?;
        let size = if cx.load(class.is_value_type())? { cx.load(class.layout())?.size as usize } else { 8 };
        // SAFETY: unsafe managed code vouches for the ranges, which hold elements of that type.
        unsafe { heap::copy_value(dest, src, size * count as usize, true) };
        Ok(())
    }
}
