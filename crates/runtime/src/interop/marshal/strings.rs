//! Strings between UTF-16 objects and native memory.
use super::{allocate, release};
use crate::cx::{Cx, Result};
use crate::object::ObjRef;
use vervet_jit::stubs::native::layout::Encoding;
use vervet_types::Known;

/// Bytes of a BSTR's block before its text, as native code that was written for mono makes and frees them.
const BSTR_PREFIX: usize = 4;

/// A native copy of UTF-16 units with its terminator.
pub fn units_to_native(units: &[u16], encoding: Encoding) -> *mut u8 {
    match encoding {
        Encoding::Utf8 => {
            let text = String::from_utf16_lossy(units);
            let p = allocate(text.len() + 1);
            // SAFETY: the block has room for the text; its last byte is zero.
            unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), p, text.len()) };
            p
        }
        Encoding::Utf16 => {
            let p = allocate(units.len() * 2 + 2);
            // SAFETY: the block has room for the units; its last two bytes are zero.
            unsafe { std::ptr::copy_nonoverlapping(units.as_ptr().cast(), p, units.len() * 2) };
            p
        }
        Encoding::Bstr => {
            let p = allocate(BSTR_PREFIX + units.len() * 2 + 2);
            // SAFETY: the block begins with the length in bytes. Behind the units are two bytes of zero: a BSTR is terminated, too.
            unsafe {
                (p as *mut u32).write(units.len() as u32 * 2);
                let text = p.add(BSTR_PREFIX);
                std::ptr::copy_nonoverlapping(units.as_ptr().cast(), text, units.len() * 2);
                text
            }
        }
    }
}

/// What keeps a text from being written in UTF-8, in mono's words: half a pair of surrogates, at the end of the text or before it.
pub fn no_utf8(units: &[u16]) -> Option<&'static str> {
    let mut rest = units;
    while let [first, behind @ ..] = rest {
        rest = behind;
        if matches!(first, 0xD800..=0xDBFF) {
            match behind {
                [] => return Some("Partial byte sequence encountered in the input."),
                [0xDC00..=0xDFFF, behind @ ..] => rest = behind,
                _ => return Some(ILLEGAL),
            }
        } else if matches!(first, 0xDC00..=0xDFFF) {
            return Some(ILLEGAL);
        }
    }
    None
}
/// What native code reads of a text: mono's conversion ends at the first NUL.
pub fn before_nul(units: &[u16]) -> &[u16] {
    let end = units.iter().position(|unit| *unit == 0);
    &units[..end.unwrap_or(units.len())]
}
const ILLEGAL: &str = "Illegal byte sequence encounted in the input.";

/// A native copy of a string object; null for null. ArgumentException if the encoding cannot write it.
pub fn to_native<'cx>(
    cx: &'cx Cx<'cx>,
    string: ObjRef<'cx>,
    encoding: Encoding,
) -> Result<*mut u8> {
    if string.is_null() {
        return Ok(std::ptr::null_mut());
    }
    let units = string.units();
    if encoding == Encoding::Utf8
        && let Some(reason) = no_utf8(before_nul(units))
    {
        return Err(cx.throw2(Known::ArgumentException, reason, "string"));
    }
    Ok(units_to_native(units, encoding))
}

/// The units of a native string.
///
/// # Safety
/// `p` is a native string of that encoding.
pub unsafe fn units(p: *const u8, encoding: Encoding) -> Vec<u16> {
    // SAFETY: the caller says that it is terminated, or carries its length.
    unsafe {
        match encoding {
            Encoding::Utf8 => std::ffi::CStr::from_ptr(p.cast())
                .to_string_lossy()
                .encode_utf16()
                .collect(),
            Encoding::Utf16 => {
                let mut out = Vec::new();
                let mut at = p as *const u16;
                while at.read_unaligned() != 0 {
                    out.push(at.read_unaligned());
                    at = at.add(1);
                }
                out
            }
            Encoding::Bstr => {
                let bytes = (p.sub(4) as *const u32).read_unaligned() as usize;
                (0..bytes / 2)
                    .map(|i| (p as *const u16).add(i).read_unaligned())
                    .collect()
            }
        }
    }
}

/// A string object from native memory; null for null.
///
/// # Safety
/// `p` is null or a native string of that encoding.
pub unsafe fn to_managed<'cx>(
    cx: &'cx Cx<'cx>,
    p: *const u8,
    encoding: Encoding,
) -> Result<ObjRef<'cx>> {
    if p.is_null() {
        return Ok(ObjRef::NULL);
    }
    // SAFETY: the address is not null, so by the caller's promise a terminated string of that encoding lies there.
    cx.alloc_utf16(&unsafe { units(p, encoding) })
}

/// Frees a native string.
///
/// # Safety
/// `p` is null or a string that was allocated as [`to_native`] does.
pub unsafe fn free(p: *mut u8, encoding: Encoding) {
    // SAFETY: the caller says that `to_native` allocated the string; the block of a BSTR begins with its length.
    unsafe {
        match encoding {
            Encoding::Bstr if !p.is_null() => release(p.sub(BSTR_PREFIX)),
            _ => release(p),
        }
    }
}
