//! Strings, in and out of three encodings.
//!
//! # Invariants
//! A host's text is decoded in Native state, and a string's is encoded in steps with polls between them: however long one is, it holds no stop up.
use crate::support::{Bool, ImageP, Object, address, new_bytes, object, or_null, read};
use std::ffi::{c_char, c_int};
use vervet_abi::object::STRING_LENGTH_OFFSET;
use vervet_runtime::memory::copy::poll_point;
use vervet_runtime::{Cx, ObjRef};

/// What lies at a host's pointer: null is nothing.
///
/// # Safety
/// So many lie there, and stay as they are while the function of the API runs.
unsafe fn given<'h, T>(at: *const T, count: usize) -> &'h [T] {
    if at.is_null() {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(at, count) }
}
/// A text of so few bytes is decoded in the frame: that holds no stop up.
const SHORT: usize = 256;

/// A string of the units that `decode` makes of a host's text; null if it makes none.
fn made_of(cx: &'static Cx<'static>, decode: impl FnOnce() -> Option<Vec<u16>>) -> Object {
    match cx.native(decode) {
        Some(units) => or_null(cx, cx.alloc_utf16(&units)),
        None => std::ptr::null_mut(),
    }
}
fn from_utf8(cx: &'static Cx<'static>, bytes: &[u8]) -> Object {
    if bytes.len() <= SHORT && bytes.is_ascii() {
        let mut units = [0; SHORT];
        units
            .iter_mut()
            .zip(bytes)
            .for_each(|(unit, byte)| *unit = u16::from(*byte));
        return or_null(cx, cx.alloc_utf16(&units[..bytes.len()]));
    }
    made_of(cx, || {
        let text = std::str::from_utf8(bytes).ok()?;
        Some(text.encode_utf16().collect())
    })
}
fn from_utf32(cx: &'static Cx<'static>, units: &[u32]) -> Object {
    made_of(cx, || {
        let text: Option<String> = units.iter().map(|&u| char::from_u32(u)).collect();
        Some(text?.encode_utf16().collect())
    })
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
/// Units of a string between two polls.
const STEP: usize = 32 << 10;
/// Gives `work` the units of a string, a piece at a time; no piece ends between two surrogates.
fn in_pieces(cx: &Cx<'_>, text: ObjRef<'_>, mut work: impl FnMut(&[u16])) {
    let (length, mut done) = (text.string_len(), 0);
    while done < length {
        let mut end = length.min(done + STEP);
        if end < length && (0xDC00..0xE000).contains(&text.units()[end]) {
            end -= 1;
        }
        work(&text.units()[done..end]);
        done = end;
        if done < length {
            poll_point(cx);
        }
    }
}
/// The UTF-8 of a string, for the host to free; a lone surrogate becomes the replacement character.
fn to_utf8(cx: &Cx<'_>, text: ObjRef<'_>) -> *mut u8 {
    if text.string_len() <= SHORT && text.units().iter().all(|unit| *unit < 0x80) {
        let mut bytes = [0; SHORT];
        bytes
            .iter_mut()
            .zip(text.units())
            .for_each(|(byte, unit)| *byte = *unit as u8);
        return new_bytes(&bytes[..text.string_len()]);
    }
    let mut bytes = Vec::with_capacity(text.string_len());
    in_pieces(cx, text, |units| {
        bytes.extend_from_slice(String::from_utf16_lossy(units).as_bytes());
    });
    new_bytes(&bytes)
}

object_api! {
    fn mono_string_new_wrapper(cx; text: *const c_char) -> Object {
        if text.is_null() { return std::ptr::null_mut(); }
        from_utf8(cx, std::ffi::CStr::from_ptr(text).to_bytes())
    }
    fn mono_string_from_utf16(cx; text: *const u16) -> Object {
        if text.is_null() { return std::ptr::null_mut(); }
        or_null(cx, cx.alloc_utf16(std::slice::from_raw_parts(text, length(text))))
    }
    fn mono_string_from_utf32(cx; text: *const u32) -> Object {
        if text.is_null() { return std::ptr::null_mut(); }
        from_utf32(cx, std::slice::from_raw_parts(text, length(text)))
    }
    fn mono_string_empty_wrapper(cx;) -> Object { or_null(cx, cx.intern(&[])) }
    fn mono_string_to_utf8(cx; text: Object) -> *mut u8 {
        let s = object(text);
        if s.is_null() { return std::ptr::null_mut(); }
        to_utf8(cx, s)
    }
    fn mono_string_to_utf8_checked(cx; text: Object, error: *mut crate::exceptions::Error) -> *mut u8 {
        crate::exceptions::Error::clear(error);
        let s = object(text);
        if s.is_null() { return std::ptr::null_mut(); }
        let mut is_text = true;
        in_pieces(cx, s, |units| is_text &= String::from_utf16(units).is_ok());
        if !is_text {
            crate::exceptions::Error::put(error, 8, "Argument cannot be converted: invalid UTF-16");
            return std::ptr::null_mut();
        }
        to_utf8(cx, s)
    }
    fn mono_string_to_utf16(cx; text: Object) -> *mut u8 {
        let s = object(text);
        if s.is_null() { return std::ptr::null_mut(); }
        let mut bytes: Vec<u8> = Vec::with_capacity(2 * s.string_len());
        in_pieces(cx, s, |units| bytes.extend(units.iter().flat_map(|u| u.to_le_bytes())));
        new_bytes(&bytes)
    }
    fn mono_string_to_utf32(cx; text: Object) -> *mut u8 {
        let s = object(text);
        if s.is_null() { return std::ptr::null_mut(); }
        let mut bytes: Vec<u8> = Vec::with_capacity(4 * s.string_len());
        in_pieces(cx, s, |units| {
            let all = char::decode_utf16(units.iter().copied());
            bytes.extend(all.flat_map(|c| u32::from(c.unwrap_or('\u{fffd}')).to_le_bytes()));
        });
        new_bytes(&bytes)
    }
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

/// The length of a string, in UTF-16 units.
///
/// # Safety
/// The argument is a string that the caller's frames keep in place, or null, which is a fault of the caller.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_string_length(_text: Object) -> c_int {
    // One load: a frame would cost more.
    std::arch::naked_asm!("mov eax, [rdi + {length}]", "ret", length = const STRING_LENGTH_OFFSET)
}

pinned_api! {
    /// The characters in the object, which stays in place while the host's frames refer to it.
    fn mono_string_chars(text: Object) -> *mut u16 { object(text).string_ptr() }
}

domain_api! {
    fn mono_string_new(cx; text: *const c_char) -> Object {
        if text.is_null() { return std::ptr::null_mut(); }
        from_utf8(cx, std::ffi::CStr::from_ptr(text).to_bytes())
    }
    fn mono_string_new_len(cx; text: *const u8, length: u32) -> Object {
        from_utf8(cx, given(text, length as usize))
    }
    fn mono_string_new_utf16(cx; text: *const u16, length: i32) -> Object {
        or_null(cx, cx.alloc_utf16(given(text, length.max(0) as usize)))
    }
    fn mono_string_new_utf32(cx; text: *const u32, length: i32) -> Object {
        from_utf32(cx, given(text, length.max(0) as usize))
    }
    fn mono_string_new_size(cx; length: i32) -> Object {
        or_null(cx, cx.alloc_utf16(&vec![0; length.max(0) as usize]))
    }
    fn mono_string_empty(cx; ) -> Object { or_null(cx, cx.intern(&[])) }
    fn mono_ldstr(cx; image: ImageP, index: u32) -> Object {
        let Some(image) = image else { return std::ptr::null_mut() };
        match cx.domain().literal(cx, image, 0x7000_0000 | index) {
            Ok(root) => address(root.get()),
            Err(throw) => or_null(cx, Err(throw)),
        }
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
