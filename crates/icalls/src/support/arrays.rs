//! Managed arrays made from Rust slices.
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::object::ObjRef;
use vervet_types::Known;

/// A string array from texts.
pub fn string_array<'cx, S: AsRef<str>>(cx: &'cx Cx<'cx>, items: &[S]) -> Result<ObjRef<'cx>> {
    cx.alloc_ref_array(cx.known(Known::String), items.len(), |i| {
        cx.alloc_str(items[i].as_ref())
    })
}
/// A byte array.
pub fn byte_array<'cx>(cx: &'cx Cx<'cx>, bytes: &[u8]) -> Result<ObjRef<'cx>> {
    let a = cx.alloc_array(cx.known(Known::Byte), bytes.len())?;
    // SAFETY: the array has just been made with that many bytes.
    unsafe {
        vervet_runtime::memory::copy::move_bytes(
            cx,
            a.array_data(),
            bytes.as_ptr(),
            bytes.len(),
            false,
        );
    }
    Ok(a)
}
