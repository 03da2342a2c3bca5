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
/// A malloc'ed NUL-terminated copy of a text of ASCII, as names are; None for any other.
fn malloc_ascii(units: &[u16]) -> Option<*mut u8> {
    if units.iter().fold(0, |all, unit| all | unit) >= 0x80 {
        return None;
    }
    // SAFETY: there is room for a byte for each unit and the terminator.
    unsafe {
        let p = libc::malloc(units.len() + 1) as *mut u8;
        assert!(!p.is_null(), "out of memory");
        for (i, unit) in units.iter().enumerate() {
            *p.add(i) = *unit as u8;
        }
        *p.add(units.len()) = 0;
        Some(p)
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
        let units = s.units();
        match malloc_ascii(units) {
            Some(copy) => Ok(copy),
            None => Ok(malloc_bytes(utf8(cx, units)?.as_bytes())),
        }
    }
    /// Frees what `StringToUtf8` returned.
    "Mono.SafeStringMarshal::GFree" fn g_free(cx, p: *mut u8) {
        // SAFETY: managed code passes what `StringToUtf8` gave it, or null.
        unsafe { libc::free(p.cast()) };
        Ok(())
    }
}
