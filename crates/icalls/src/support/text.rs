//! Texts behind pointers: UTF-16 units, paths for the kernel, NUL-terminated bytes.
use std::ffi::CString;

/// UTF-16 units up to a zero; null gives none.
///
/// # Safety
/// `p` is null or points to zero-terminated units that stay there while the slice is used.
pub unsafe fn chars_z<'a>(p: *const u16) -> &'a [u16] {
    if p.is_null() {
        return &[];
    }
    // SAFETY: the caller promises a terminator.
    unsafe {
        let mut n = 0;
        while *p.add(n) != 0 {
            n += 1;
        }
        std::slice::from_raw_parts(p, n)
    }
}
/// A text from units; lone surrogates become U+FFFD.
pub fn text(units: &[u16]) -> String {
    String::from_utf16_lossy(units)
}
/// A path for the kernel; it ends at the first zero unit.
pub fn path(units: &[u16]) -> CString {
    let mut bytes = text(units).into_bytes();
    if let Some(end) = bytes.iter().position(|b| *b == 0) {
        bytes.truncate(end);
    }
    CString::new(bytes).expect("zeros were cut off")
}
/// The text of a NUL-terminated byte string, undecodable bytes as U+FFFD.
///
/// # Safety
/// `p` points to a NUL-terminated string.
pub unsafe fn utf8_z(p: *const u8) -> String {
    // SAFETY: the caller promises a NUL-terminated string.
    unsafe { std::ffi::CStr::from_ptr(p.cast()) }
        .to_string_lossy()
        .into_owned()
}
