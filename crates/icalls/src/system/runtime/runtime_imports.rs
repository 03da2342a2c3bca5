//! Native half of System.Runtime.RuntimeImports.
//!
//! Keeps nothing.
use vervet_runtime::code::icall::Handle;
use vervet_runtime::icalls;
use vervet_runtime::memory::copy;
use vervet_types::Class;

icalls! {
    /// Clears bytes that hold no references. The thread polls every 64 KiB.
    "System.Runtime.RuntimeImports::ZeroMemory" fn zero_memory(cx, p: *mut u8, length: u32) {
        // SAFETY: unsafe managed code vouches for the range.
        unsafe { copy::clear_bytes(cx, p, length as usize, false) };
        Ok(())
    }
    /// Copies bytes that hold no references and may overlap. The thread polls every 64 KiB.
    "System.Runtime.RuntimeImports::Memmove" fn memmove(cx, dest: *mut u8, src: *const u8, length: u32) {
        // SAFETY: unsafe managed code vouches for the ranges.
        unsafe { copy::move_bytes(cx, dest, src, length as usize, false) };
        Ok(())
    }
    /// `count` elements of a type with references.
    "System.Runtime.RuntimeImports::Memmove_wbarrier" fn memmove_wbarrier(cx, dest: *mut u8, src: *const u8, count: u32, type_handle: Handle<Class>) {
        let class = cx.class_of_handle(type_handle)?;
        let (size, refs) = if cx.load(class.is_value_type())? {
            let layout = cx.load(class.layout())?;
            (layout.size as usize, !layout.ref_map.is_empty())
        } else {
            (8, true)
        };
        // SAFETY: unsafe managed code vouches for the ranges, which hold elements of that type.
        unsafe { copy::move_bytes(cx, dest, src, size * count as usize, refs) };
        Ok(())
    }
}
