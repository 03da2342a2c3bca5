//! The files of one build and configuration, in a directory of their own.
//!
//! ```text
//! <cache>/lock                         held while files are replaced or removed
//! <cache>/<hash of the key>/<name>-<hash of the subject>.code
//! ```
//!
//! # Invariants
//! * Files are mapped, and never unmapped or changed in place: what was read stays valid for the life of the process.
//! * Of two processes that write at the same time one does; the other leaves it.
//! * After a file was added, the directory holds at most [`MOST`] bytes: the files that were not used for the longest time go first, with
//!   those of builds that were not used for a month.
use crate::checksum::checksum;
use crate::file::{Entry, LONGEST, View, assemble};
use crate::trust::{Folder, TEMPORARY};
use std::ffi::{OsStr, OsString};
use std::io::{Error, Result};
use std::os::fd::AsRawFd;
use std::path::Path;

/// The most bytes that files take together.
pub const MOST: u64 = 512 << 20;
/// Seconds after which the files of another build go.
const MONTH: u64 = 30 * 24 * 3600;
/// Seconds after which a file that was being written has no writer any more.
const HOUR: u64 = 3600;
/// Of entries for one method that depend on different sets, so many are kept.
const VARIANTS: usize = 3;

/// See the module.
#[derive(Debug)]
pub struct Shelf {
    all: Folder,
    own: Folder,
    own_name: OsString,
    key: Vec<u8>,
}

/// An entry that is new.
#[derive(Clone, Debug)]
pub struct New {
    /// See [`Entry`].
    pub hash: u64,
    /// What it depends on.
    pub set: Vec<u8>,
    /// See [`Entry`].
    pub cost: u32,
    /// See [`Entry`].
    pub identity: u32,
    /// See [`Entry`].
    pub payload: Vec<u8>,
}

/// The name of the file about a subject. `name` is for people.
fn file_name(name: &str, subject: &[u8]) -> OsString {
    let plain: String = name
        .chars()
        .map(|c| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' => c,
            _ => '_',
        })
        .take(80)
        .collect();
    format!("{plain}-{:016x}.code", checksum(subject)).into()
}

impl Shelf {
    /// Opens the files for a key in the directory at a canonical path, of which the last `make` components are made if need be.
    ///
    /// # Errors
    /// The directory is not there and cannot be made, or is not trusted.
    pub fn open(path: &Path, make: usize, key: &[u8]) -> Result<Shelf> {
        let all = Folder::open(path, make)?;
        let own_name = OsString::from(format!("{:016x}", checksum(key)));
        let own = all.folder(&own_name, make > 0)?;
        Ok(Shelf {
            all,
            own,
            own_name,
            key: key.to_vec(),
        })
    }
    /// Maps the file about a subject.
    ///
    /// # Errors
    /// There is none, or it is not trusted, damaged, or about another subject.
    pub fn read(&self, name: &str, subject: &[u8]) -> Result<View<'static>> {
        let (file, len) = self.own.file(&file_name(name, subject))?;
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        if len == 0 || len > LONGEST {
            return Err(Error::from(std::io::ErrorKind::InvalidData));
        }
        // SAFETY: a fresh private mapping of an open file, which is never unmapped. Nobody else can write the file (`Folder::file`),
        // and this user's processes replace it as a whole.
        let data = unsafe {
            let p = libc::mmap(
                std::ptr::null_mut(),
                len,
                libc::PROT_READ,
                libc::MAP_PRIVATE,
                file.as_raw_fd(),
                0,
            );
            if p == libc::MAP_FAILED {
                return Err(Error::last_os_error());
            }
            std::slice::from_raw_parts(p.cast::<u8>(), len)
        };
        View::open(data, &self.key, subject)
            .map_err(|_| Error::from(std::io::ErrorKind::InvalidData))
    }
    /// Adds entries to the file about a subject; returns its length. A new entry takes the place of one of the same identity and set.
    ///
    /// # Errors
    /// Another process is writing, or the file cannot be written. Nothing has changed then.
    pub fn add(&self, name: &str, subject: &[u8], new: &[New]) -> Result<usize> {
        let _lock = self.all.lock()?;
        let file_name = file_name(name, subject);
        let old = self.bytes(&file_name);
        let view = old
            .as_ref()
            .and_then(|data| View::open(data, &self.key, subject).ok());
        let is_first = view.is_none();
        let content = merge(&self.key, subject, view.as_ref(), new);
        self.own.replace(&file_name, &content)?;
        if is_first {
            self.tidy();
        }
        Ok(content.len())
    }
    /// The content of a trusted file. It is not mapped, because it is wanted for a moment.
    fn bytes(&self, name: &OsStr) -> Option<Vec<u8>> {
        use std::io::Read;
        let (file, len) = self.own.file(name).ok()?;
        let mut data = Vec::new();
        if len <= LONGEST as u64 {
            file.take(len).read_to_end(&mut data).ok()?;
        }
        Some(data)
    }
    /// Removes what has not been used for long.
    fn tidy(&self) {
        let mut files = Vec::new();
        for build in self.all.list().unwrap_or_default() {
            if !build.is_folder {
                continue;
            }
            let Ok(folder) = self.all.folder(&build.name, false) else {
                continue;
            };
            let list = folder.list().unwrap_or_default();
            let youngest = list.iter().map(|f| f.age).min().unwrap_or(build.age);
            let is_old = build.name != self.own_name && youngest > MONTH;
            for f in list {
                let abandoned =
                    f.name.as_encoded_bytes().starts_with(TEMPORARY.as_bytes()) && f.age > HOUR;
                if is_old || abandoned {
                    let _ = folder.remove(&f.name);
                } else {
                    files.push((f.age, f.len, build.name.clone(), f.name));
                }
            }
            if is_old {
                let _ = self.all.remove_folder(&build.name);
            }
        }
        files.sort_by_key(|f| f.0);
        let mut sum = 0;
        for (_, len, build, name) in files {
            sum += len;
            if sum > MOST
                && let Ok(folder) = self.all.folder(&build, false)
            {
                let _ = folder.remove(&name);
            }
        }
    }
}

/// The content of the file that has the old entries and the new ones. The order is that in which the entries were first wanted.
fn merge(key: &[u8], subject: &[u8], old: Option<&View<'_>>, new: &[New]) -> Vec<u8> {
    let mut sets: Vec<Vec<u8>> = Vec::new();
    let mut number_of = |set: &[u8]| {
        let at = sets.iter().position(|s| s == set).unwrap_or_else(|| {
            sets.push(set.to_vec());
            sets.len() - 1
        });
        at as u32
    };
    let mut entries: Vec<Option<Entry<'_>>> = Vec::new();
    let mut by_hash: std::collections::HashMap<u64, Vec<usize>> = std::collections::HashMap::new();
    let old = old.into_iter().flat_map(|v| {
        v.entries()
            .map(|e| (v.sets().get(e.set as usize).copied().unwrap_or_default(), e))
    });
    let new = new.iter().map(|n| {
        let entry = Entry {
            hash: n.hash,
            set: 0,
            cost: n.cost,
            identity: n.identity,
            payload: &n.payload,
        };
        (n.set.as_slice(), entry)
    });
    for (set, mut entry) in old.chain(new) {
        entry.set = number_of(set);
        let same = by_hash.entry(entry.hash).or_default();
        same.retain(|at| {
            let replaced = entries[*at]
                .as_ref()
                .is_some_and(|e| e.set == entry.set && e.identity() == entry.identity());
            if replaced {
                entries[*at] = None;
            }
            !replaced
        });
        // The oldest variant goes.
        if same.len() >= VARIANTS {
            entries[same.remove(0)] = None;
        }
        same.push(entries.len());
        entries.push(Some(entry));
    }
    let entries: Vec<Entry<'_>> = entries.into_iter().flatten().collect();
    assemble(key, subject, &sets, &entries)
}

/// Every file of a cache directory: the build's directory, the name, the length, seconds since its last use.
///
/// # Errors
/// The directory is not there, or is not trusted.
pub fn list(path: &Path) -> Result<Vec<(OsString, OsString, u64, u64)>> {
    let all = Folder::open(path, 0)?;
    let mut files = Vec::new();
    for build in all.list()?.into_iter().filter(|b| b.is_folder) {
        let folder = all.folder(&build.name, false)?;
        for f in folder.list()?.into_iter().filter(|f| !f.is_folder) {
            files.push((build.name.clone(), f.name, f.len, f.age));
        }
    }
    Ok(files)
}

/// Removes every file of a cache directory; returns how many, and their bytes.
///
/// # Errors
/// The directory is not trusted, or a file cannot be removed.
pub fn clear(path: &Path) -> Result<(usize, u64)> {
    let all = Folder::open(path, 0)?;
    let (mut count, mut bytes) = (0, 0);
    for build in all.list()?.into_iter().filter(|b| b.is_folder) {
        let folder = all.folder(&build.name, false)?;
        for f in folder.list()?.into_iter().filter(|f| !f.is_folder) {
            folder.remove(&f.name)?;
            (count, bytes) = (count + 1, bytes + f.len);
        }
        all.remove_folder(&build.name)?;
    }
    Ok((count, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(hash: u64, set: &[u8], payload: &[u8]) -> New {
        New {
            hash,
            set: set.to_vec(),
            cost: 1,
            identity: 1,
            payload: payload.to_vec(),
        }
    }
    fn shelf(dir: &tempfile::TempDir, key: &[u8]) -> Shelf {
        let path = std::fs::canonicalize(dir.path()).unwrap().join("cache");
        Shelf::open(&path, 1, key).unwrap()
    }

    #[test]
    fn entries_are_added_and_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let shelf = shelf(&dir, b"key");
        assert!(shelf.read("n", b"s").is_err());
        shelf
            .add("n", b"s", &[new(1, b"a", b"xold"), new(2, b"b", b"y")])
            .unwrap();
        shelf
            .add("n", b"s", &[new(1, b"a", b"xnew"), new(1, b"b", b"xother")])
            .unwrap();
        let view = shelf.read("n", b"s").unwrap();
        let found: Vec<_> = view.find(1).map(|e| e.content()).collect();
        assert_eq!(found, [&b"new"[..], b"other"]);
        assert_eq!(view.find(2).count(), 1);
        assert!(shelf.read("n", b"t").is_err());
    }

    #[test]
    fn few_variants_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let shelf = shelf(&dir, b"key");
        for n in 0..10u8 {
            shelf.add("n", b"s", &[new(1, &[n], &[7, n])]).unwrap();
        }
        let view = shelf.read("n", b"s").unwrap();
        let found: Vec<_> = view.find(1).map(|e| e.content()[0]).collect();
        assert_eq!(found, [7, 8, 9]);
    }

    #[test]
    fn a_damaged_file_is_written_anew() {
        let dir = tempfile::tempdir().unwrap();
        let shelf = shelf(&dir, b"key");
        shelf.add("n", b"s", &[new(1, b"", b"x")]).unwrap();
        shelf
            .own
            .replace(&file_name("n", b"s"), b"rubbish")
            .unwrap();
        assert!(shelf.read("n", b"s").is_err());
        shelf.add("n", b"s", &[new(2, b"", b"x")]).unwrap();
        assert_eq!(shelf.read("n", b"s").unwrap().len(), 1);
    }

    #[test]
    fn the_directory_is_shown_and_cleared() {
        let dir = tempfile::tempdir().unwrap();
        shelf(&dir, b"key")
            .add("a/../b", b"s", &[new(1, b"", b"x")])
            .unwrap();
        shelf(&dir, b"other").add("n", b"s", &[]).unwrap();
        let path = std::fs::canonicalize(dir.path()).unwrap().join("cache");
        let names = list(&path).unwrap();
        assert_eq!(names.len(), 2);
        assert!(
            names
                .iter()
                .any(|f| f.1.to_string_lossy().starts_with("a_.._b-"))
        );
        assert_eq!(clear(&path).unwrap().0, 2);
        assert!(list(&path).unwrap().is_empty());
    }
}
