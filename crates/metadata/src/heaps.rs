//! The metadata root (II.24.2.1) and the heaps (II.24.2.3–5).
//!
//! Invariant: each heap is a slice of the image; an item is found and checked
//! only when it is asked for.

use crate::bytes;
use crate::error::Error;
use crate::growing::Growing;
use crate::text;

/// How many bytes of `#Strings` a name may take, with its terminator.
const MAX_NAME: usize = 0x1_0000;

/// The streams a metadata root names.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Root<'a> {
    pub version: &'a str,
    pub heaps: Heaps<'a>,
    pub tables: &'a [u8],
    pub pdb: Option<&'a [u8]>,
}

/// The four heaps; one that is absent is empty.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Heaps<'a> {
    pub strings: &'a [u8],
    pub user_strings: &'a [u8],
    pub blobs: &'a [u8],
    pub guids: &'a [u8],
    /// The items of an image that grows, whose heaps are empty otherwise.
    pub growing: Option<&'static Growing>,
}

impl<'a> Root<'a> {
    pub(crate) fn parse(data: &'a [u8]) -> Result<Root<'a>, Error> {
        let short = |at| Error::format("metadata root is truncated", at);
        if bytes::u32_at(data, 0) != Some(0x424A_5342) {
            return Err(Error::format("no metadata signature (BSJB)", 0));
        }
        let version_len = bytes::u32_at(data, 12).ok_or(short(12))? as usize;
        if version_len > 256 {
            return Err(Error::format("metadata version is too long", 12));
        }
        let version = data.get(16..16 + version_len).ok_or(short(16))?;
        let version = version.split(|b| *b == 0).next().unwrap_or_default();
        let version = core::str::from_utf8(version)
            .map_err(|_| Error::format("metadata version is not UTF-8", 16))?;
        let mut at = 16 + version_len.next_multiple_of(4);
        let count = bytes::u16_at(data, at + 2).ok_or(short(at))?;
        at += 4;
        let mut root = Root {
            version,
            ..Root::default()
        };
        let mut have_tables = false;
        for _ in 0..count {
            let offset = bytes::u32_at(data, at).ok_or(short(at))? as usize;
            let size = bytes::u32_at(data, at + 4).ok_or(short(at))? as usize;
            let rest = data.get(at + 8..).ok_or(short(at))?;
            let name_len = rest
                .iter()
                .take(32)
                .position(|b| *b == 0)
                .ok_or(short(at))?;
            let name = &rest[..name_len];
            let stream = bytes::slice(data, offset, size);
            let stream = stream.ok_or(Error::format("a stream ends beyond the metadata", at))?;
            let first = |slot: &mut &'a [u8]| {
                if slot.is_empty() {
                    *slot = stream;
                }
            };
            match name {
                b"#Strings" => first(&mut root.heaps.strings),
                b"#US" => first(&mut root.heaps.user_strings),
                b"#Blob" => first(&mut root.heaps.blobs),
                b"#GUID" => first(&mut root.heaps.guids),
                b"#~" | b"#-" => {
                    first(&mut root.tables);
                    have_tables = true;
                }
                b"#Pdb" => root.pdb = root.pdb.or(Some(stream)),
                _ => {}
            }
            at += 8 + (name_len + 1).next_multiple_of(4);
        }
        if !have_tables {
            return Err(Error::format("the metadata has no table stream", at));
        }
        Ok(root)
    }
}

impl<'a> Heaps<'a> {
    #[inline]
    pub(crate) fn string_bytes(&self, index: u32) -> Result<&'a [u8], Error> {
        if index == 0 {
            return Ok(&[]);
        }
        let bad = |reason| Error::Heap {
            heap: "#Strings",
            index,
            reason,
        };
        let Some(rest) = self.strings.get(index as usize..) else {
            let grown = self.growing.and_then(|g| g.string(index));
            return grown.ok_or(bad("beyond the heap"));
        };
        // The cap keeps a heap without terminators from being searched whole
        // for every name.
        let rest = &rest[..rest.len().min(MAX_NAME)];
        let text = core::ffi::CStr::from_bytes_until_nul(rest);
        Ok(text
            .map_err(|_| bad("unterminated or too long"))?
            .to_bytes())
    }

    #[inline]
    pub(crate) fn string(&self, index: u32) -> Result<&'a str, Error> {
        Ok(text::of(self.string_bytes(index)?))
    }

    #[inline]
    pub(crate) fn blob(&self, index: u32) -> Result<&'a [u8], Error> {
        match self.growing.filter(|_| index != 0) {
            None => sized(self.blobs, "#Blob", index),
            Some(g) => grown(g.blob(index), "#Blob", index),
        }
    }

    pub(crate) fn guid(&self, index: u32) -> Result<[u8; 16], Error> {
        if index == 0 {
            return Ok([0; 16]);
        }
        if let Some(g) = self.growing {
            return grown(g.guid(index), "#GUID", index);
        }
        let at = (index as usize - 1).checked_mul(16);
        at.and_then(|at| bytes::array(self.guids, at))
            .ok_or(Error::Heap {
                heap: "#GUID",
                index,
                reason: "beyond the heap",
            })
    }

    pub(crate) fn user_string(&self, index: u32) -> Result<UserString<'a>, Error> {
        let bytes = match self.growing.filter(|_| index != 0) {
            None => sized(self.user_strings, "#US", index)?,
            Some(g) => grown(g.user_string(index), "#US", index)?,
        };
        // The final odd byte only says whether any unit is beyond ASCII.
        Ok(UserString {
            bytes: &bytes[..bytes.len() & !1],
        })
    }
}

/// An item of an image that grows.
fn grown<T>(item: Option<T>, heap: &'static str, index: u32) -> Result<T, Error> {
    item.ok_or(Error::Heap {
        heap,
        index,
        reason: "beyond the heap",
    })
}

/// An item that starts with its compressed length.
#[inline]
fn sized<'a>(heap: &'a [u8], name: &'static str, index: u32) -> Result<&'a [u8], Error> {
    if index == 0 {
        return Ok(&[]);
    }
    let bad = |reason| Error::Heap {
        heap: name,
        index,
        reason,
    };
    let rest = heap.get(index as usize..).ok_or(bad("beyond the heap"))?;
    let (len, head) = bytes::compressed_u32(rest).ok_or(bad("bad length"))?;
    bytes::slice(rest, head, len as usize).ok_or(bad("longer than the heap"))
}

/// A string of `#US`, or of a string constant: UTF-16LE, not checked.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct UserString<'a> {
    bytes: &'a [u8],
}

impl<'a> UserString<'a> {
    /// Wraps raw UTF-16LE bytes; an odd last byte is dropped.
    pub fn new(bytes: &'a [u8]) -> UserString<'a> {
        UserString {
            bytes: &bytes[..bytes.len() & !1],
        }
    }

    /// The raw UTF-16LE bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The length in UTF-16 units.
    pub fn len(&self) -> usize {
        self.bytes.len() / 2
    }

    /// Whether there are no units.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The UTF-16 units.
    pub fn units(&self) -> impl ExactSizeIterator<Item = u16> + Clone + use<'a> {
        self.bytes
            .chunks_exact(2)
            .map(|c| u16::from_le_bytes([c[0], c[1]]))
    }
}

impl core::fmt::Display for UserString<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        use core::fmt::Write;
        char::decode_utf16(self.units())
            .try_for_each(|c| f.write_char(c.unwrap_or(char::REPLACEMENT_CHARACTER)))
    }
}

impl core::fmt::Debug for UserString<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heap_items_are_checked() {
        let heaps = Heaps {
            strings: b"\0abc\0\xFF\0tail",
            user_strings: &[0, 5, b'h', 0, b'i', 0, 0, 0, 3, 1],
            blobs: &[0, 2, 7, 8, 0x80],
            guids: &[1; 16],
            growing: None,
        };
        assert_eq!(heaps.string(0), Ok(""));
        assert_eq!(heaps.string(1), Ok("abc"));
        assert_eq!(heaps.string(3), Ok("c"));
        assert_eq!(heaps.string(5), Ok("\u{10FFFF}"));
        assert_eq!(heaps.string_bytes(5), Ok(&[0xFF][..]));
        assert!(heaps.string(7).is_err());
        assert!(heaps.string(u32::MAX).is_err());
        let hi = heaps.user_string(1).unwrap();
        assert_eq!((hi.len(), hi.to_string()), (2, "hi".to_owned()));
        assert!(heaps.user_string(7).unwrap().is_empty());
        assert!(heaps.user_string(8).is_err());
        assert_eq!(heaps.blob(1), Ok(&[7, 8][..]));
        assert!(heaps.blob(4).is_err());
        assert_eq!(heaps.guid(0), Ok([0; 16]));
        assert_eq!(heaps.guid(1), Ok([1; 16]));
        assert!(heaps.guid(2).is_err());
    }
}
