//! The file around metadata: PE32 headers, the CLI header, and sections (II.25).
//!
//! ```text
//! .text     import addresses, CLI header, bodies and data, resources, room for the signature, metadata, imports, the jump to the loader
//! .rsrc     Win32 resources, if there are any
//! .reloc    where the jump's address is
//! ```
//! Invariant: an address that [`Text::add`] gave out stays what it is: everything that follows is added behind.
use super::heaps::NewHeaps;
use super::{Options, win32};
use crate::error::Error;
use crate::token::Token;

const SECTION_ALIGN: u32 = 0x2000;
const FILE_ALIGN: u32 = 0x200;
const IMAGE_BASE: u32 = 0x40_0000;
const TEXT_RVA: u32 = SECTION_ALIGN;
/// The CLI header lies behind the import address table.
const CLI_RVA: u32 = TEXT_RVA + 8;
const CLI_SIZE: u32 = 72;
/// No file is larger.
const MOST: usize = 0x7000_0000;

/// The section of code, data and metadata while it is filled.
pub(super) struct Text {
    bytes: Vec<u8>,
}

impl Text {
    pub fn new() -> Text {
        Text {
            bytes: vec![0; (CLI_RVA - TEXT_RVA + CLI_SIZE) as usize],
        }
    }
    /// The address of the next byte at a multiple of `align`.
    fn here(&mut self, align: usize) -> Result<u32, Error> {
        self.bytes
            .resize(self.bytes.len().next_multiple_of(align), 0);
        if self.bytes.len() > MOST {
            return Err(Error::format("the file would be too large", MOST));
        }
        Ok(TEXT_RVA + self.bytes.len() as u32)
    }
    /// Adds bytes; their address.
    pub fn add(&mut self, bytes: &[u8], align: usize) -> Result<u32, Error> {
        let at = self.here(align)?;
        self.bytes.extend(bytes);
        Ok(at)
    }
    fn set(&mut self, rva: u32, words: &[u32]) {
        let mut at = (rva - TEXT_RVA) as usize;
        for word in words {
            self.bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
            at += 4;
        }
    }
}

/// The metadata root with its streams (II.24.2.1).
fn metadata(tables: &[u8], heaps: NewHeaps, version: &str) -> Result<Vec<u8>, Error> {
    let streams: [(&[u8], &[u8]); 5] = [
        (b"#~\0\0", tables),
        (b"#Strings\0\0\0\0", &heaps.strings),
        (b"#US\0", &heaps.user_strings),
        (b"#GUID\0\0\0", &heaps.guids),
        (b"#Blob\0\0\0", &heaps.blobs),
    ];
    let mut name = version.as_bytes().to_vec();
    name.push(0);
    name.resize(name.len().next_multiple_of(4), 0);
    let mut out = Vec::new();
    out.extend(0x424A_5342u32.to_le_bytes());
    out.extend([1, 0, 1, 0, 0, 0, 0, 0]);
    out.extend((name.len() as u32).to_le_bytes());
    out.extend(name);
    out.extend([0, 0]);
    out.extend((streams.len() as u16).to_le_bytes());
    let mut at = out.len() + streams.iter().map(|s| 8 + s.0.len()).sum::<usize>();
    for (name, bytes) in streams {
        let size = bytes.len().next_multiple_of(4);
        if at + size > MOST {
            return Err(Error::format("the file would be too large", MOST));
        }
        out.extend((at as u32).to_le_bytes());
        out.extend((size as u32).to_le_bytes());
        out.extend(name);
        at += size;
    }
    for (_, bytes) in streams {
        out.extend(bytes);
        out.resize(out.len().next_multiple_of(4), 0);
    }
    Ok(out)
}

/// A section of the file.
struct Section {
    name: &'static [u8; 8],
    rva: u32,
    characteristics: u32,
    bytes: Vec<u8>,
}

impl Section {
    fn end(&self) -> u32 {
        self.rva + (self.bytes.len() as u32).next_multiple_of(SECTION_ALIGN)
    }
    fn file_size(&self) -> u32 {
        (self.bytes.len() as u32).next_multiple_of(FILE_ALIGN)
    }
}

/// Data directories, by number.
type Directories = [(u32, u32); 16];

/// The bytes of the file.
pub(super) fn file(
    mut text: Text,
    tables: &[u8],
    heaps: NewHeaps,
    entry: Token,
    version: &str,
    options: &Options<'_>,
) -> Result<Vec<u8>, Error> {
    let mut directories: Directories = [(0, 0); 16];
    let resources = match options.resources {
        [] => (0, 0),
        bytes => (text.add(bytes, 8)?, bytes.len() as u32),
    };
    let signature = match options.signature_size {
        0 => (0, 0),
        size if size as usize > MOST => return Err(Error::format("the signature is too long", 0)),
        size => (text.add(&vec![0; size as usize], 4)?, size),
    };
    let root = metadata(tables, heaps, version)?;
    let metadata = (text.add(&root, 4)?, root.len() as u32);
    // II.25.3.3
    let cli = [
        CLI_SIZE,
        2 | 5 << 16,
        metadata.0,
        metadata.1,
        options.flags,
        entry.0,
        resources.0,
        resources.1,
        signature.0,
        signature.1,
    ];
    text.set(CLI_RVA, &cli);
    directories[14] = (CLI_RVA, CLI_SIZE);
    let jump = imports(&mut text, options.library, &mut directories)?;
    let mut sections = vec![Section {
        name: b".text\0\0\0",
        rva: TEXT_RVA,
        characteristics: 0x6000_0020,
        bytes: text.bytes,
    }];
    if !options.win32.is_empty() {
        let rva = sections[0].end();
        let bytes = win32::section(options.win32, rva)?;
        directories[2] = (rva, bytes.len() as u32);
        sections.push(Section {
            name: b".rsrc\0\0\0",
            rva,
            characteristics: 0x4000_0040,
            bytes,
        });
    }
    let rva = sections[sections.len() - 1].end();
    let mut relocations = Vec::new();
    let place = jump + 2;
    relocations.extend((place & !0xFFF).to_le_bytes());
    relocations.extend(12u32.to_le_bytes());
    relocations.extend((0x3000 | (place & 0xFFF) as u16).to_le_bytes());
    relocations.extend([0; 2]);
    directories[5] = (rva, relocations.len() as u32);
    sections.push(Section {
        name: b".reloc\0\0",
        rva,
        characteristics: 0x4200_0040,
        bytes: relocations,
    });
    if sections.iter().any(|s| s.bytes.len() > MOST) {
        return Err(Error::format("the file would be too large", MOST));
    }
    Ok(assemble(&sections, &directories, jump, options))
}

/// The imports that Windows starts a managed file by (II.25.3.1), and the jump to them, whose address is the answer.
fn imports(text: &mut Text, library: bool, directories: &mut Directories) -> Result<u32, Error> {
    let function: &[u8] = match library {
        true => b"\0\0_CorDllMain\0",
        false => b"\0\0_CorExeMain\0",
    };
    let table = text.add(&[0; 40], 4)?;
    let lookup = text.add(&[0; 8], 4)?;
    let name = text.add(function, 2)?;
    let file = text.add(b"mscoree.dll\0", 2)?;
    text.set(table, &[lookup, 0, 0, file, TEXT_RVA]);
    text.set(lookup, &[name]);
    text.set(TEXT_RVA, &[name]);
    directories[1] = (table, file + 12 - table);
    directories[12] = (TEXT_RVA, 8);
    let mut jump = vec![0, 0, 0xFF, 0x25];
    jump.extend((IMAGE_BASE + TEXT_RVA).to_le_bytes());
    Ok(text.add(&jump, 4)? + 2)
}

/// Headers and sections.
fn assemble(
    sections: &[Section],
    directories: &Directories,
    entry: u32,
    options: &Options<'_>,
) -> Vec<u8> {
    const PE_AT: u32 = 0x80;
    let file_sizes: u32 = sections.iter().map(Section::file_size).sum();
    let mut out = Vec::with_capacity((FILE_ALIGN + file_sizes) as usize);
    out.extend(b"MZ");
    out.resize(0x3C, 0);
    out.extend(PE_AT.to_le_bytes());
    out.resize(PE_AT as usize, 0);
    let word = |out: &mut Vec<u8>, w: u32| out.extend(w.to_le_bytes());
    let half = |out: &mut Vec<u8>, h: u16| out.extend(h.to_le_bytes());
    out.extend(b"PE\0\0");
    half(&mut out, 0x14C);
    half(&mut out, sections.len() as u16);
    word(&mut out, options.timestamp);
    word(&mut out, 0);
    word(&mut out, 0);
    half(&mut out, 0xE0);
    // Executable, without line numbers and local symbols, for 32-bit machines.
    half(&mut out, 0x010E | if options.library { 0x2000 } else { 0 });
    half(&mut out, 0x10B);
    half(&mut out, 8);
    word(&mut out, sections[0].file_size());
    let others: u32 = sections[1..].iter().map(Section::file_size).sum();
    word(&mut out, others);
    word(&mut out, 0);
    word(&mut out, entry);
    word(&mut out, TEXT_RVA);
    word(&mut out, sections[1].rva);
    word(&mut out, IMAGE_BASE);
    word(&mut out, SECTION_ALIGN);
    word(&mut out, FILE_ALIGN);
    // System, image and subsystem versions.
    for version in [4, 0, 4] {
        word(&mut out, version);
    }
    word(&mut out, 0);
    word(&mut out, sections[sections.len() - 1].end());
    word(&mut out, FILE_ALIGN);
    word(&mut out, 0);
    half(&mut out, if options.windows { 2 } else { 3 });
    half(&mut out, 0x8540);
    for size in [0x10_0000, 0x1000, 0x10_0000, 0x1000, 0, 16] {
        word(&mut out, size);
    }
    for (rva, size) in directories {
        word(&mut out, *rva);
        word(&mut out, *size);
    }
    let mut at = FILE_ALIGN;
    for s in sections {
        out.extend(s.name);
        word(&mut out, s.bytes.len() as u32);
        word(&mut out, s.rva);
        word(&mut out, s.file_size());
        word(&mut out, at);
        out.extend([0; 12]);
        word(&mut out, s.characteristics);
        at += s.file_size();
    }
    for s in sections {
        out.resize(out.len().next_multiple_of(FILE_ALIGN as usize), 0);
        out.extend(&s.bytes);
    }
    out.resize(out.len().next_multiple_of(FILE_ALIGN as usize), 0);
    out
}
