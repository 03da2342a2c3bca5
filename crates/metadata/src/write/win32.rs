//! The Win32 resources of a file that is written: a directory of three levels (type, number, language) and the data behind it.
//!
//! Invariant: entries of a directory ascend, as readers that search them require; of two resources of one name the first is written.
use std::collections::BTreeMap;

use crate::error::Error;

/// A Win32 resource.
#[derive(Debug, Clone)]
pub struct Win32Resource {
    /// Type, as `16` for version information.
    pub kind: u32,
    /// Number.
    pub id: u32,
    /// Language.
    pub language: u32,
    /// Its bytes.
    pub data: Vec<u8>,
}

/// The bytes of the section, which lies at `rva`.
pub(super) fn section(list: &[Win32Resource], rva: u32) -> Result<Vec<u8>, Error> {
    const DIRECTORY: usize = 16;
    const ENTRY: usize = 8;
    const SUBDIRECTORY: u32 = 0x8000_0000;
    let mut tree: BTreeMap<u32, BTreeMap<u32, BTreeMap<u32, &[u8]>>> = BTreeMap::new();
    for r in list {
        let languages = tree.entry(r.kind).or_default().entry(r.id).or_default();
        languages.entry(r.language).or_insert(&r.data);
    }
    let ids: Vec<_> = tree.values().flat_map(BTreeMap::values).collect();
    let leaves: Vec<&[u8]> = ids.iter().flat_map(|l| l.values().copied()).collect();
    // All directories of one level, then all of the next; then what the leaves say of their data; then the data.
    let first = DIRECTORY + ENTRY * tree.len();
    let second = first + DIRECTORY * tree.len() + ENTRY * ids.len();
    let third = second + DIRECTORY * ids.len() + ENTRY * leaves.len();
    let mut data_at = third + 16 * leaves.len();
    let mut out = Vec::new();
    let directory = |out: &mut Vec<u8>, entries: usize| {
        out.extend([0; 14]);
        out.extend((entries as u16).to_le_bytes());
    };
    directory(&mut out, tree.len());
    let mut at = first;
    for (kind, ids) in &tree {
        out.extend(kind.to_le_bytes());
        out.extend((at as u32 | SUBDIRECTORY).to_le_bytes());
        at += DIRECTORY + ENTRY * ids.len();
    }
    at = second;
    for ids in tree.values() {
        directory(&mut out, ids.len());
        for (id, languages) in ids {
            out.extend(id.to_le_bytes());
            out.extend((at as u32 | SUBDIRECTORY).to_le_bytes());
            at += DIRECTORY + ENTRY * languages.len();
        }
    }
    at = third;
    for languages in &ids {
        directory(&mut out, languages.len());
        for language in languages.keys() {
            out.extend(language.to_le_bytes());
            out.extend((at as u32).to_le_bytes());
            at += 16;
        }
    }
    for data in &leaves {
        let too_long = Error::format("the Win32 resources are too long", data_at);
        let address = u32::try_from(data_at).ok().and_then(|a| a.checked_add(rva));
        out.extend(address.ok_or(too_long)?.to_le_bytes());
        out.extend((data.len() as u32).to_le_bytes());
        out.extend([0; 8]);
        data_at += data.len().next_multiple_of(8);
    }
    for data in &leaves {
        out.extend(*data);
        out.resize(out.len() + data.len().next_multiple_of(8) - data.len(), 0);
    }
    Ok(out)
}
