//! Names as text, also those that are not UTF-8 (obfuscators write such names).
//!
//! Invariant: two names are the same text exactly if they are the same bytes.
//! A byte that is part of no character stands as the character
//! `U+10FF00 + byte`, of a private-use range; so that no name can be mistaken
//! for another's, a character of that range is taken apart into its bytes too.
//! Everything else is as it is written, and borrowed from the image. A text
//! that had to be made is made once for all images and never freed.

use std::collections::HashSet;
use vervet_os::LeafLock;

/// Where the characters that stand for bytes begin.
const BYTES: u32 = 0x10_FF00;
/// The first byte of every character of that range.
const LEAD: u8 = 0xF4;

static MADE: LeafLock<Option<HashSet<&'static str>>> = LeafLock::new(None);

/// The text of a name.
#[inline]
pub(crate) fn of(name: &[u8]) -> &str {
    match core::str::from_utf8(name) {
        Ok(text) if !name.contains(&LEAD) => text,
        _ => exact(name),
    }
}

#[cold]
fn exact(name: &[u8]) -> &str {
    let mut text = String::with_capacity(name.len() + 8);
    let escape = |text: &mut String, bytes: &[u8]| {
        text.extend(
            bytes
                .iter()
                .filter_map(|b| char::from_u32(BYTES + u32::from(*b))),
        );
    };
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c as u32 >= BYTES {
                escape(&mut text, c.encode_utf8(&mut [0; 4]).as_bytes());
            } else {
                text.push(c);
            }
        }
        escape(&mut text, chunk.invalid());
    }
    if let Ok(same) = core::str::from_utf8(name)
        && same == text
    {
        return same;
    }
    let mut made = MADE.lock();
    let made = made.get_or_insert_default();
    match made.get(text.as_str()) {
        Some(known) => known,
        None => {
            let text: &'static str = Box::leak(text.into_boxed_str());
            made.insert(text);
            text
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf8_is_borrowed_as_it_is() {
        for name in ["", "Main", "Größe", "😀", "\u{F8FF}", "\u{100000}"] {
            let text = of(name.as_bytes());
            assert_eq!(text, name);
            assert_eq!(text.as_ptr(), name.as_ptr());
        }
    }

    #[test]
    fn different_bytes_are_different_texts() {
        let names: &[&[u8]] = &[
            b"a\xFF",
            b"a\xFE",
            b"a\xC3",
            b"a\xC3\xC3",
            b"\xED\xA0\x80",
            b"\xEF\xBF\xBD",
            "\u{10FFFF}".as_bytes(),
            "\u{10FFC3}".as_bytes(),
            b"\xC3",
            b"\xF4\x8F\xBF",
        ];
        let texts: HashSet<&str> = names.iter().map(|n| of(n)).collect();
        assert_eq!(texts.len(), names.len());
        assert_eq!(of(b"a\xFF"), "a\u{10FFFF}");
        assert_eq!(of(b"a\xFF").as_ptr(), of(&[b'a', 0xFF]).as_ptr());
    }
}
