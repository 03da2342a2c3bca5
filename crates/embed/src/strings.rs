//! Strings, in and out of three encodings.
use crate::support::{Bool, ImageP, Object, address, new_bytes, object, or_null, read};
use std::ffi::{c_char, c_int};
use vervet_runtime::domain::Domain;
use vervet_runtime::{Cx, ObjRef};

/// # Safety
/// So many bytes lie there.
unsafe fn from_utf8(cx: &'static Cx<'static>, bytes: &[u8]) -> Object {
    match std::str::from_utf8(bytes) {
        Ok(text) => or_null(cx, cx.alloc_str(text)),
        Err(_) => std::ptr::null_mut(),
    }
}
fn from_utf32(cx: &'static Cx<'static>, units: &[u32]) -> Object {
    let text: Option<String> = units.iter().map(|&u| char::from_u32(u)).collect();
    match text {
        Some(text) => or_null(cx, cx.alloc_str(&text)),
        None => std::ptr::null_mut(),
    }
}
/// How many units lie before a zero.
///
/// # Safety
/// There is a zero.
unsafe fn length<T: Copy + Default + PartialEq>(text: *const T) -> usize {
    let mut n = 0;
    // SAFETY: the caller's promise.
    while unsafe { *text.add(n) } != T::default() {
        n += 1;
    }
    n
}
/// The UTF-8 of a string; a lone surrogate becomes three bytes, as it is.
fn to_utf8(s: ObjRef<'_>) -> Vec<u8> {
    String::from_utf16_lossy(s.units()).into_bytes()
}

object_api! {
    fn mono_string_new(cx; _domain: *const Domain, text: *const c_char) -> Object {
        from_utf8(cx, std::ffi::CStr::from_ptr(text).to_bytes())
    }
    fn mono_string_new_wrapper(cx; text: *const c_char) -> Object {
        if text.is_null() { return std::ptr::null_mut(); }
        from_utf8(cx, std::ffi::CStr::from_ptr(text).to_bytes())
    }
    fn mono_string_new_len(cx; _domain: *const Domain, text: *const u8, length: u32) -> Object {
        from_utf8(cx, std::slice::from_raw_parts(text, length as usize))
    }
    fn mono_string_new_utf16(cx; _domain: *const Domain, text: *const u16, length: i32) -> Object {
        or_null(cx, cx.alloc_utf16(std::slice::from_raw_parts(text, length as usize)))
    }
    fn mono_string_new_utf32(cx; _domain: *const Domain, text: *const u32, length: i32) -> Object {
        from_utf32(cx, std::slice::from_raw_parts(text, length as usize))
    }
    fn mono_string_from_utf16(cx; text: *const u16) -> Object {
        if text.is_null() { return std::ptr::null_mut(); }
        or_null(cx, cx.alloc_utf16(std::slice::from_raw_parts(text, length(text))))
    }
    fn mono_string_from_utf32(cx; text: *const u32) -> Object {
        if text.is_null() { return std::ptr::null_mut(); }
        from_utf32(cx, std::slice::from_raw_parts(text, length(text)))
    }
    fn mono_string_new_size(cx; _domain: *const Domain, length: i32) -> Object {
        or_null(cx, cx.alloc_utf16(&vec![0; length.max(0) as usize]))
    }
    fn mono_string_empty(cx; _domain: *const Domain) -> Object { or_null(cx, cx.intern(&[])) }
    fn mono_string_empty_wrapper(cx;) -> Object { or_null(cx, cx.intern(&[])) }
    fn mono_ldstr(cx; _domain: *const Domain, image: ImageP, index: u32) -> Object {
        let Some(image) = image else { return std::ptr::null_mut() };
        match cx.domain().literal(cx, image, 0x7000_0000 | index) {
            Ok(root) => address(root.get()),
            Err(throw) => or_null(cx, Err(throw)),
        }
    }
    fn mono_string_to_utf8(cx; text: Object) -> *mut u8 {
        let s = object(text);
        if s.is_null() { return std::ptr::null_mut(); }
        new_bytes(&to_utf8(s))
    }
    fn mono_string_to_utf8_checked(cx; text: Object, error: *mut crate::exceptions::Error) -> *mut u8 {
        crate::exceptions::Error::clear(error);
        let s = object(text);
        if s.is_null() { return std::ptr::null_mut(); }
        if String::from_utf16(s.units()).is_err() {
            crate::exceptions::Error::put(error, 8, "Argument cannot be converted: invalid UTF-16");
            return std::ptr::null_mut();
        }
        new_bytes(&to_utf8(s))
    }
    fn mono_string_to_utf16(cx; text: Object) -> *mut u8 {
        let s = object(text);
        if s.is_null() { return std::ptr::null_mut(); }
        let bytes: Vec<u8> = s.units().iter().flat_map(|u| u.to_le_bytes()).collect();
        new_bytes(&bytes)
    }
    fn mono_string_to_utf32(cx; text: Object) -> *mut u8 {
        let s = object(text);
        if s.is_null() { return std::ptr::null_mut(); }
        let bytes: Vec<u8> = char::decode_utf16(s.units().iter().copied())
            .flat_map(|c| u32::from(c.unwrap_or('\u{fffd}')).to_le_bytes())
            .collect();
        new_bytes(&bytes)
    }
    fn mono_string_length(cx; text: Object) -> c_int { object(text).string_len() as c_int }
    /// The characters in the object, which stays in place while the host's frames refer to it.
    fn mono_string_chars(cx; text: Object) -> *mut u16 { object(text).string_ptr() }
    fn mono_string_equal(cx; a: Object, b: Object) -> Bool {
        let (a, b) = (object(a), object(b));
        Bool::from(a.addr() == b.addr() || !a.is_null() && !b.is_null() && a.units() == b.units())
    }
    /// The hash of mono: each unit, after five shifts less one times what came before.
    fn mono_string_hash(cx; text: Object) -> u32 {
        object(text).units().iter().fold(0u32, |h, &u| (h << 5).wrapping_sub(h).wrapping_add(u32::from(u)))
    }
    fn mono_string_intern(cx; text: Object) -> Object { address(cx.domain().intern_object(object(text))) }
    fn mono_string_is_interned(cx; text: Object) -> Object {
        cx.domain().is_interned(object(text).units()).map_or(std::ptr::null_mut(), address)
    }
}

api! {
    /// The UTF-8 is what Linux uses for everything from outside.
    fn mono_utf8_from_external(text: *const c_char) -> *mut u8 { new_bytes(read(text).as_bytes()) }
    fn mono_unicode_to_external(text: *const u16) -> *mut u8 {
        if text.is_null() { return std::ptr::null_mut(); }
        new_bytes(String::from_utf16_lossy(std::slice::from_raw_parts(text, length(text))).as_bytes())
    }
    fn mono_unicode_from_external(text: *const c_char, bytes: *mut usize) -> *mut u8 {
        let units: Vec<u8> = read(text).encode_utf16().flat_map(u16::to_le_bytes).collect();
        crate::support::set(bytes, units.len());
        new_bytes(&units)
    }
}
