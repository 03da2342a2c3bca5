//! The debug directory of an image: which symbol file belongs to it, and the symbols that lie in the image itself.
//!
//! Invariant: the directory is read when it is asked for, and nothing in it is trusted; what is malformed is not there.

use crate::bytes;
use crate::image::Image;

/// Bytes of an entry.
const ENTRY: usize = 28;
/// The types of entries.
const CODE_VIEW: u32 = 2;
const EMBEDDED: u32 = 17;

/// A portable PDB within an image, compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbeddedPdb<'a> {
    /// Bytes when it is not compressed.
    pub size: u32,
    /// A stream in the format of RFC 1951 (deflate).
    pub compressed: &'a [u8],
}

impl<'a> Image<'a> {
    /// The data of the entry of a type.
    fn debug_entry(&self, kind: u32) -> Option<&'a [u8]> {
        let directory = self.debug_directory()?;
        let entry = directory
            .chunks_exact(ENTRY)
            .find(|e| bytes::u32_at(e, 12) == Some(kind))?;
        let size = bytes::u32_at(entry, 16)? as usize;
        let rva = bytes::u32_at(entry, 20)?;
        self.rva_data(rva).ok()?.get(..size)
    }
    /// The identifier that the symbol file of the image has ([`super::portable_pdb::PortablePdb::guid`]).
    pub fn code_view_guid(&self) -> Option<[u8; 16]> {
        let data = self.debug_entry(CODE_VIEW)?;
        bytes::array(data.strip_prefix(b"RSDS")?, 0)
    }
    /// The symbols within the image.
    pub fn embedded_pdb(&self) -> Option<EmbeddedPdb<'a>> {
        let data = self.debug_entry(EMBEDDED)?.strip_prefix(b"MPDB")?;
        Some(EmbeddedPdb {
            size: bytes::u32_at(data, 0)?,
            compressed: data.get(4..)?,
        })
    }
}
