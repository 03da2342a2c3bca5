//! Hashes of contents ([`crate::checksum::digest`]) that were computed once, by what the file system says of the file.
//!
//! ```text
//! <cache>/contents     magic, then rows in the order in which they were added: (stamp, hash) each; checksum over all
//! ```
//! A stamp is what tells a state of a file from every other, in bytes that the runtime chose; its first [`FILE`] bytes name the file. Who adds a row
//! answers for it: from then on no other content has that stamp.
//!
//! # Invariants
//! * Reading is total, and what is read is a copy: a file that is not as it was written has no rows.
//! * Of one file there is one row, the youngest. There are at most [`MOST`]; the oldest go.
use crate::checksum::checksum;
use crate::shelf::{claim, copy, damaged, foreign, has_tag};
use crate::trust::{Folder, Owner};
use std::ffi::OsStr;
use std::io::Result;
use std::path::Path;

/// Bytes of a stamp.
pub const STAMP: usize = 56;
/// Bytes of a stamp that name the file.
const FILE: usize = 16;
/// Bytes of a hash.
const HASH: usize = 32;
const ROW: usize = STAMP + HASH;
/// The most rows.
const MOST: usize = 8192;
const MAGIC: &[u8; 16] = b"VervetContents\x02\0";
/// The file.
pub(crate) const NAME: &str = "contents";

/// What tells a state of a file from every other.
pub type Stamp = [u8; STAMP];
/// A hash of a content.
pub type Hash = [u8; HASH];

/// See the module.
#[derive(Clone, Default, Debug)]
pub struct Memo {
    rows: Vec<(Stamp, Hash)>,
}

impl Memo {
    /// What a cache directory knows. None: nothing was ever compiled ahead there, or it cannot be trusted.
    pub fn of(path: &Path, owner: Owner) -> Option<Memo> {
        let read = || -> Result<Memo> {
            let all = Folder::open(path, 0, owner)?;
            match has_tag(&all) {
                true => Memo::in_folder(&all),
                false => Err(foreign()),
            }
        };
        read().ok()
    }
    fn in_folder(all: &Folder) -> Result<Memo> {
        let (file, len) = all.file(OsStr::new(NAME))?;
        let bytes = copy(file, usize::try_from(len).unwrap_or(usize::MAX))?;
        Memo::decode(&bytes).ok_or_else(damaged)
    }
    /// Reads the content of the file. None: it is not as it was written.
    pub fn decode(bytes: &[u8]) -> Option<Memo> {
        let (content, sum) = bytes.split_last_chunk::<8>()?;
        let rows = content.strip_prefix(MAGIC.as_slice())?;
        if checksum(content) != u64::from_le_bytes(*sum)
            || rows.len() % ROW != 0
            || rows.len() / ROW > MOST
        {
            return None;
        }
        let row = |r: &[u8]| Some((*r.first_chunk()?, *r.last_chunk()?));
        let rows = rows.chunks_exact(ROW).map(row).collect::<Option<_>>()?;
        Some(Memo { rows })
    }
    fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for (stamp, hash) in &self.rows {
            bytes.extend_from_slice(stamp);
            bytes.extend_from_slice(hash);
        }
        let sum = checksum(&bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes
    }
    /// The hash of the content of a file in that state.
    pub fn find(&self, stamp: &Stamp) -> Option<Hash> {
        self.rows.iter().find(|r| r.0 == *stamp).map(|r| r.1)
    }
    fn add(&mut self, stamp: Stamp, hash: Hash) {
        self.rows.retain(|r| r.0[..FILE] != stamp[..FILE]);
        self.rows.push((stamp, hash));
        let over = self.rows.len().saturating_sub(MOST);
        self.rows.drain(..over);
    }
}

/// Adds rows to what a cache directory knows.
///
/// # Errors
/// Another process is writing, or the directory is not trusted or cannot be written. Nothing has changed then.
pub fn remember(path: &Path, make: usize, owner: Owner, new: &[(Stamp, Hash)]) -> Result<()> {
    let all = Folder::open(path, make, owner)?;
    if !has_tag(&all) && !all.is_empty()? {
        return Err(foreign());
    }
    let _lock = all.lock()?;
    claim(&all)?;
    let known = Memo::in_folder(&all);
    if let Ok(memo) = &known
        && new.iter().all(|n| memo.find(&n.0) == Some(n.1))
    {
        return Ok(());
    }
    // Without rows, too: the file says that code was compiled ahead.
    let mut memo = known.unwrap_or_default();
    new.iter().for_each(|n| memo.add(n.0, n.1));
    all.replace(OsStr::new(NAME), &memo.encode())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trust::tests::patiently;

    fn stamp(file: u8, time: u8) -> Stamp {
        let mut stamp = [0; STAMP];
        (stamp[0], stamp[STAMP - 1]) = (file, time);
        stamp
    }

    #[test]
    fn a_file_has_one_row_the_youngest() {
        let dir = tempfile::tempdir().unwrap();
        let path = std::fs::canonicalize(dir.path()).unwrap().join("cache");
        let add = |s, h| patiently(|| remember(&path, 1, Owner::User, &[(s, [h; HASH])])).unwrap();
        assert!(Memo::of(&path, Owner::User).is_none());
        patiently(|| remember(&path, 1, Owner::User, &[])).unwrap();
        assert!(Memo::of(&path, Owner::User).is_some());
        add(stamp(1, 1), 1);
        add(stamp(2, 1), 2);
        add(stamp(1, 2), 3);
        let memo = Memo::of(&path, Owner::User).unwrap();
        assert_eq!(memo.find(&stamp(1, 1)), None);
        assert_eq!(memo.find(&stamp(1, 2)), Some([3; HASH]));
        assert_eq!(memo.find(&stamp(2, 1)), Some([2; HASH]));
    }

    #[test]
    fn any_damage_is_no_memo() {
        let mut memo = Memo::default();
        (0..5).for_each(|n| memo.add(stamp(n, n), [n; HASH]));
        let bytes = memo.encode();
        assert_eq!(Memo::decode(&bytes).map(|m| m.rows.len()), Some(5));
        for bit in 0..8 * bytes.len() {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(Memo::decode(&other).is_none(), "bit {bit}");
        }
        assert!((0..bytes.len()).all(|len| Memo::decode(&bytes[..len]).is_none()));
    }

    #[test]
    fn the_oldest_rows_go() {
        let mut memo = Memo::default();
        for n in 0..MOST + 3 {
            let mut stamp = [0; STAMP];
            stamp[..8].copy_from_slice(&n.to_le_bytes());
            memo.add(stamp, [0; HASH]);
        }
        assert_eq!(memo.rows.len(), MOST);
        assert!(Memo::decode(&memo.encode()).is_some());
        assert_eq!(memo.rows[0].0[..8], 3usize.to_le_bytes());
    }
}
