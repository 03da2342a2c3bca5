//! The PE container and the CLI header (II.25).
//!
//! Invariant: section headers are kept as the file states them and are
//! clamped to the file only where an address is turned into bytes.

use crate::bytes;
use crate::error::Error;

/// What the PE headers say about the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeInfo {
    /// COFF machine number (0x14c: i386 or any, 0x8664: AMD64, 0xAA64: ARM64).
    pub machine: u16,
    /// Whether the optional header is PE32+ rather than PE32.
    pub pe32_plus: bool,
    /// COFF characteristics (0x2000: a library).
    pub characteristics: u16,
    /// COFF time stamp.
    pub timestamp: u32,
    /// Windows subsystem (2: GUI, 3: console).
    pub subsystem: u16,
    /// DLL characteristics.
    pub dll_characteristics: u16,
}

#[derive(Debug, Clone, Copy)]
struct Section {
    rva: u32,
    virtual_size: u32,
    raw_offset: u32,
    raw_size: u32,
}

/// The fields of the CLI header (II.25.3.3) that matter to a runtime.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CliHeader {
    pub metadata: (u32, u32),
    pub flags: u32,
    pub entry_point: u32,
    pub resources: (u32, u32),
}

/// The parsed container, managed or not.
#[derive(Debug, Clone)]
pub(crate) struct Pe<'a> {
    data: &'a [u8],
    sections: Box<[Section]>,
    /// Where the data directories begin.
    directories: usize,
    pub info: PeInfo,
}

/// The data directory of resources.
pub(crate) const RESOURCES: u32 = 2;
/// The data directory of debug information.
pub(crate) const DEBUG: u32 = 6;
/// The data directory of the CLI header.
const CLI: u32 = 14;

fn u16_at(data: &[u8], at: usize) -> Result<u16, Error> {
    bytes::u16_at(data, at).ok_or(Error::format("PE header is truncated", at))
}

fn u32_at(data: &[u8], at: usize) -> Result<u32, Error> {
    bytes::u32_at(data, at).ok_or(Error::format("PE header is truncated", at))
}

impl<'a> Pe<'a> {
    /// The container of an image that no file holds: no sections, and the headers of a library for any processor.
    pub(crate) fn none() -> Pe<'a> {
        Pe {
            data: &[],
            sections: Box::new([]),
            directories: 0,
            info: PeInfo {
                machine: 0x14C,
                pe32_plus: false,
                characteristics: 0x2000,
                timestamp: 0,
                subsystem: 3,
                dll_characteristics: 0,
            },
        }
    }
    pub(crate) fn parse(data: &'a [u8]) -> Result<Pe<'a>, Error> {
        if data.get(..2) != Some(b"MZ") {
            return Err(Error::format("not a PE file (no MZ signature)", 0));
        }
        let pe = u32_at(data, 0x3C)? as usize;
        if bytes::slice(data, pe, 4) != Some(b"PE\0\0") {
            return Err(Error::format("not a PE file (no PE signature)", pe));
        }
        // The signature was read at `pe`, so small additions cannot overflow.
        let coff = pe + 4;
        let machine = u16_at(data, coff)?;
        let section_count = usize::from(u16_at(data, coff + 2)?);
        let timestamp = u32_at(data, coff + 4)?;
        let optional_size = usize::from(u16_at(data, coff + 16)?);
        let characteristics = u16_at(data, coff + 18)?;
        let optional = coff + 20;
        let pe32_plus = match u16_at(data, optional)? {
            0x10B => false,
            0x20B => true,
            _ => return Err(Error::format("unknown optional header magic", optional)),
        };
        let info = PeInfo {
            machine,
            pe32_plus,
            characteristics,
            timestamp,
            subsystem: u16_at(data, optional + 68)?,
            dll_characteristics: u16_at(data, optional + 70)?,
        };
        let directories = optional + if pe32_plus { 112 } else { 96 };
        let table = optional + optional_size;
        let headers = bytes::slice(data, table, section_count * 40)
            .ok_or(Error::format("section headers are truncated", table))?;
        let sections = headers
            .chunks_exact(40)
            .map(|h| {
                Ok(Section {
                    virtual_size: u32_at(h, 8)?,
                    rva: u32_at(h, 12)?,
                    raw_size: u32_at(h, 16)?,
                    raw_offset: u32_at(h, 20)?,
                })
            })
            .collect::<Result<Box<[Section]>, Error>>()?;
        Ok(Pe {
            data,
            sections,
            directories,
            info,
        })
    }

    /// A data directory's address and size, if the file has so many.
    pub(crate) fn data_directory(&self, number: u32) -> Result<Option<(u32, u32)>, Error> {
        if u32_at(self.data, self.directories - 4)? <= number {
            return Ok(None);
        }
        let at = self.directories + 8 * number as usize;
        Ok(Some((u32_at(self.data, at)?, u32_at(self.data, at + 4)?)))
    }

    /// The CLI header, which every managed image has.
    pub(crate) fn cli_header(&self) -> Result<CliHeader, Error> {
        let Some((rva, size)) = self.data_directory(CLI)? else {
            return Err(Error::format(
                "not a managed image (no CLI directory)",
                self.directories - 4,
            ));
        };
        if rva == 0 || size < 72 {
            return Err(Error::format(
                "not a managed image (no CLI header)",
                self.directories + 8 * CLI as usize,
            ));
        }
        let header = self.rva_data(rva)?;
        Ok(CliHeader {
            metadata: (u32_at(header, 8)?, u32_at(header, 12)?),
            flags: u32_at(header, 16)?,
            entry_point: u32_at(header, 20)?,
            resources: (u32_at(header, 24)?, u32_at(header, 28)?),
        })
    }

    /// The bytes the file holds from `rva` to the end of its section.
    pub(crate) fn rva_data(&self, rva: u32) -> Result<&'a [u8], Error> {
        for s in &self.sections {
            let size = s.virtual_size.max(s.raw_size);
            let Some(delta) = rva.checked_sub(s.rva).filter(|d| *d < size) else {
                continue;
            };
            let zero_fill = Error::Rva {
                rva,
                reason: "lies beyond the file's part of its section",
            };
            let raw_end = (s.raw_offset as usize).saturating_add(s.raw_size as usize);
            let end = raw_end.min(self.data.len());
            let start = (s.raw_offset as usize)
                .checked_add(delta as usize)
                .ok_or(zero_fill)?;
            return match self.data.get(start..end) {
                Some(bytes) if !bytes.is_empty() => Ok(bytes),
                _ => Err(zero_fill),
            };
        }
        Err(Error::Rva {
            rva,
            reason: "lies in no section",
        })
    }

    /// Exactly the bytes of a directory entry.
    pub(crate) fn directory(&self, (rva, size): (u32, u32)) -> Result<&'a [u8], Error> {
        self.rva_data(rva)?.get(..size as usize).ok_or(Error::Rva {
            rva,
            reason: "the directory ends beyond its section",
        })
    }
}
