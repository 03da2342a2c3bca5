//! Native half of Mono.SafeStringMarshal.
//!
//! Keeps nothing: the strings are malloc's.
use vervet_runtime::cx::Cx;
use vervet_runtime::interop::marshal::strings;
use vervet_runtime::{ObjRef, icalls};
use vervet_types::Known;

/// A malloc'ed NUL-terminated copy.
pub fn malloc_bytes(bytes: &[u8]) -> *mut u8 {
    // SAFETY: there is room for the bytes and the terminator.
    unsafe {
        let p = libc::malloc(bytes.len() + 1) as *mut u8;
        assert!(!p.is_null(), "out of memory");
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), p, bytes.len());
        *p.add(bytes.len()) = 0;
        p
    }
}
/// UTF-8 of units; ArgumentException for a lone surrogate.
pub fn utf8(cx: &Cx<'_>, units: &[u16]) -> vervet_runtime::cx::Result<String> {
    match strings::no_utf8(units) {
        Some(reason) => Err(cx.throw2(Known::ArgumentException, reason, "string")),
        None => Ok(String::from_utf16_lossy(units)),
    }
}

icalls! {
    /// Null for null.
    "Mono.SafeStringMarshal::StringToUtf8" fn string_to_utf8(cx, s: ObjRef<'cx>) -> *mut u8 {
        if s.is_null() {
            return Ok(std::ptr::null_mut());
        }
        Ok(malloc_bytes(utf8(cx, s.units())?.as_bytes()))
    }
    /// Frees what `StringToUtf8` returned.
    "Mono.SafeStringMarshal::GFree" fn g_free(cx, p: *mut u8) {
        // SAFETY: managed code passes what `StringToUtf8` gave it, or null.
        unsafe { libc::free(p.cast()) };
        Ok(())
    }
}
