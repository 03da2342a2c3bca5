//! The version resource of a PE file, whether or not it is an assembly (PE format: `.rsrc`, RT_VERSION; VS_VERSIONINFO).
//!
//! Invariant: whatever the bytes are, reading ends, reads inside them only, and gives None or what is there. A block's length is
//! checked against that of the block around it, and blocks are nested no deeper than the format's four levels.

use crate::bytes::{u16_at, u32_at};
use crate::pe::{Pe, RESOURCES};

/// What a version resource says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VersionInfo {
    /// Major, minor, build and private part of the file's version.
    pub file: [u16; 4],
    /// The same of the product's.
    pub product: [u16; 4],
    /// The VS_FF_ flags that are valid.
    pub flags: u32,
    /// Windows language id of the texts, the first that the resource names: English if it has no place for one.
    pub language: u16,
    /// The texts of that language in Unicode, by name. As in mono, a table of another code page is not
    /// read, nor are those of a resource that has no place for a language.
    pub strings: Vec<(String, String)>,
}

impl VersionInfo {
    /// The text of that name.
    pub fn string(&self, name: &str) -> Option<&str> {
        let found = self.strings.iter().find(|(n, _)| n == name);
        found.map(|(_, text)| text.as_str())
    }
}

/// VS_FF_DEBUG.
pub const DEBUG: u32 = 1;
/// VS_FF_PRERELEASE.
pub const PRERELEASE: u32 = 2;
/// VS_FF_PATCHED.
pub const PATCHED: u32 = 4;
/// VS_FF_PRIVATEBUILD.
pub const PRIVATE_BUILD: u32 = 8;
/// VS_FF_SPECIALBUILD.
pub const SPECIAL_BUILD: u32 = 0x20;

const RT_VERSION: u32 = 16;
/// Language of a resource that has no place for one (VarFileInfo).
const ENGLISH: u16 = 0x0409;
/// That of a resource that could say it and does not.
const NEUTRAL: u16 = 0;
/// The part of a table's name that says in which code page its texts are.
const UNICODE_PAGE: &str = "04b0";
const SIGNATURE: u32 = 0xFEEF_04BD;
const SUBDIRECTORY: u32 = 1 << 31;

/// The version resource of a file, given its bytes. None: it is no PE file, or has none.
pub fn version_info(file: &[u8]) -> Option<VersionInfo> {
    parse(win32_resource(file, RT_VERSION, None)?)
}

/// The Win32 resource of that type and number (none: the first), in the first language.
pub fn win32_resource(file: &[u8], kind: u32, number: Option<u32>) -> Option<&[u8]> {
    let pe = Pe::parse(file).ok()?;
    let tree = pe.directory(pe.data_directory(RESOURCES).ok()??).ok()?;
    let mut place = entry(tree, 0, Some(kind))?;
    for wanted in [number, None] {
        place = entry(tree, (place & !SUBDIRECTORY) as usize, wanted)?;
    }
    let (data, length) = (
        u32_at(tree, place as usize)?,
        u32_at(tree, place as usize + 4)?,
    );
    pe.directory((data, length)).ok()
}

/// Where the entry of a resource directory leads that has that number, or its first entry.
fn entry(tree: &[u8], directory: usize, number: Option<u32>) -> Option<u32> {
    let names = u16_at(tree, directory.checked_add(12)?)?;
    let numbers = u16_at(tree, directory + 14)?;
    let entries = usize::from(names) + usize::from(numbers);
    (0..entries)
        .map(|i| directory + 16 + 8 * i)
        .find(|at| number.is_none_or(|n| u32_at(tree, *at) == Some(n)))
        .and_then(|at| u32_at(tree, at + 4))
}

/// A block: its name, its value and the blocks in it.
struct Block<'a> {
    key: String,
    value: &'a [u8],
    children: &'a [u8],
}

/// The block at the beginning of `data`, and what comes after it.
fn block(data: &[u8]) -> Option<(Block<'_>, &[u8])> {
    let length = usize::from(u16_at(data, 0)?);
    let own = data.get(..length)?;
    let (value_length, is_text) = (usize::from(u16_at(own, 2)?), u16_at(own, 4)? == 1);
    let mut at = 6;
    let mut key = Vec::new();
    loop {
        let unit = u16_at(own, at)?;
        at += 2;
        if unit == 0 {
            break;
        }
        key.push(unit);
    }
    at = at.next_multiple_of(4);
    // The length of a text is in characters; some tools write it in bytes.
    let bytes = if is_text {
        2 * value_length
    } else {
        value_length
    };
    let end = (at + bytes).min(own.len());
    let value = own.get(at..end).unwrap_or_default();
    let children = own.get(end.next_multiple_of(4)..).unwrap_or_default();
    let rest = data.get(length.next_multiple_of(4)..).unwrap_or_default();
    let key = String::from_utf16_lossy(&key);
    Some((
        Block {
            key,
            value,
            children,
        },
        rest,
    ))
}
fn blocks(mut data: &[u8]) -> impl Iterator<Item = Block<'_>> {
    std::iter::from_fn(move || {
        let (found, rest) = block(data)?;
        data = rest;
        Some(found)
    })
}
fn text(value: &[u8]) -> String {
    let units = value
        .as_chunks::<2>()
        .0
        .iter()
        .map(|b| u16::from_le_bytes(*b));
    let units: Vec<u16> = units.take_while(|u| *u != 0).collect();
    String::from_utf16_lossy(&units)
}

fn parse(data: &[u8]) -> Option<VersionInfo> {
    let (root, _) = block(data)?;
    if root.key != "VS_VERSION_INFO" || u32_at(root.value, 0)? != SIGNATURE {
        return None;
    }
    let version = |at: usize| {
        let (high, low) = (u32_at(root.value, at)?, u32_at(root.value, at + 4)?);
        Some([
            (high >> 16) as u16,
            high as u16,
            (low >> 16) as u16,
            low as u16,
        ])
    };
    let mut info = VersionInfo {
        file: version(8)?,
        product: version(16)?,
        flags: u32_at(root.value, 24)? & u32_at(root.value, 28)?,
        language: ENGLISH,
        strings: Vec::new(),
    };
    let Some(var) = blocks(root.children).find(|b| b.key == "VarFileInfo") else {
        return Some(info);
    };
    let translation = blocks(var.children).find(|b| b.key == "Translation");
    info.language = translation
        .and_then(|t| u16_at(t.value, 0))
        .unwrap_or(NEUTRAL);
    let wanted = format!("{:04x}{UNICODE_PAGE}", info.language);
    for b in blocks(root.children).filter(|b| b.key == "StringFileInfo") {
        let is_wanted = |key: &str| wanted.eq_ignore_ascii_case(key);
        if let Some(table) = blocks(b.children).find(|t| is_wanted(&t.key)) {
            info.strings = blocks(table.children)
                .map(|s| (s.key, text(s.value)))
                .collect();
        }
    }
    Some(info)
}
