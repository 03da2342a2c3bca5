//! The files of one build and configuration, in a directory of their own.
//!
//! ```text
//! <cache>/CACHEDIR.TAG                 says that the directory is this crate's
//! <cache>/lock                         held while files are replaced or removed
//! <cache>/<hash of the key>/<name>-<hash of the subject>.code
//! ```
//! The directory may be any that the user names, so what else is in it stays.
//!
//! # Invariants
//! * Something is written or removed only in a directory with the tag. Only an empty directory gets the tag.
//! * Of such a directory only folders and files with names that this crate gives are removed, or counted.
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
    /// None: it is not there yet.
    own: Option<Folder>,
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

/// The file that says that a directory is this crate's, and what is in it. Programs that make backups know the first line.
const TAG: &str = "CACHEDIR.TAG";
const SIGNATURE: &str = "Signature: 8a477f597d28d172789f06886806bc55
# Compiled code that Vervet keeps; `vervet cache clear` removes it.
";

fn has_tag(all: &Folder) -> bool {
    use std::io::Read;
    let mut text = String::new();
    let read = all
        .file(OsStr::new(TAG))
        .and_then(|(file, _)| file.take(1000).read_to_string(&mut text));
    read.is_ok() && text == SIGNATURE
}

/// Makes a directory this crate's, if it is empty.
fn claim(all: &Folder) -> Result<()> {
    if has_tag(all) {
        return Ok(());
    }
    match all.is_empty()? {
        true => all.replace(OsStr::new(TAG), SIGNATURE.as_bytes()),
        false => Err(foreign()),
    }
}

fn foreign() -> Error {
    Error::other("the directory is not empty, and no cache of compiled code")
}

/// Whether a folder has a name that this crate gives.
fn is_build(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.len() == 16 && name.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}
/// Whether a file has a name that this crate gives.
fn is_content(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    let stem = name.strip_suffix(".code");
    let hash = stem.and_then(|s| s.rsplit_once('-'));
    name.starts_with(TEMPORARY) || hash.is_some_and(|(_, h)| is_build(OsStr::new(h)))
}

impl Shelf {
    /// Opens the files for a key in the directory at a canonical path, of which the last `make` components are made if need be.
    ///
    /// # Errors
    /// The directory is not there and cannot be made, or is not trusted.
    pub fn open(path: &Path, make: usize, key: &[u8]) -> Result<Shelf> {
        let all = Folder::open(path, make)?;
        let own_name = OsString::from(format!("{:016x}", checksum(key)));
        let own = match all.folder(&own_name, false) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
            own => Some(own?),
        };
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
        let not_there = || Error::from(std::io::ErrorKind::NotFound);
        let own = self.own.as_ref().ok_or_else(not_there)?;
        let (file, len) = own.file(&file_name(name, subject))?;
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
        claim(&self.all)?;
        let _lock = self.all.lock()?;
        let made;
        let own = match &self.own {
            Some(own) => own,
            None => {
                made = self.all.folder(&self.own_name, true)?;
                &made
            }
        };
        let file_name = file_name(name, subject);
        let old = bytes(own, &file_name);
        let view = old
            .as_ref()
            .and_then(|data| View::open(data, &self.key, subject).ok());
        let is_first = view.is_none();
        let content = merge(&self.key, subject, view.as_ref(), new);
        own.replace(&file_name, &content)?;
        if is_first {
            self.tidy();
        }
        Ok(content.len())
    }
    /// Removes what has not been used for long.
    fn tidy(&self) {
        let mut files = Vec::new();
        for build in self.all.list().unwrap_or_default() {
            if !build.is_folder || !is_build(&build.name) {
                continue;
            }
            let Ok(folder) = self.all.folder(&build.name, false) else {
                continue;
            };
            let mut list = folder.list().unwrap_or_default();
            list.retain(|f| !f.is_folder && is_content(&f.name));
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

/// The content of a trusted file. It is not mapped, because it is wanted for a moment.
fn bytes(folder: &Folder, name: &OsStr) -> Option<Vec<u8>> {
    use std::io::Read;
    let (file, len) = folder.file(name).ok()?;
    let mut data = Vec::new();
    if len <= LONGEST as u64 {
        file.take(len).read_to_end(&mut data).ok()?;
    }
    Some(data)
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

/// A file of a cache directory, for people.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Listed {
    /// The build's directory.
    pub build: OsString,
    /// The name in it.
    pub name: OsString,
    /// Bytes.
    pub len: u64,
    /// Seconds since it was last used, exact to a day.
    pub age: u64,
}

/// The directories of builds in a cache directory.
fn builds(all: &Folder) -> Result<Vec<(OsString, Folder)>> {
    if !has_tag(all) {
        return match all.is_empty()? {
            true => Ok(Vec::new()),
            false => Err(foreign()),
        };
    }
    let names = all.list()?.into_iter().filter(|b| b.is_folder);
    names
        .filter(|b| is_build(&b.name))
        .map(|b| all.folder(&b.name, false).map(|f| (b.name, f)))
        .collect()
}

/// Every file of a cache directory.
///
/// # Errors
/// The directory is not there, is not trusted, or is not this crate's.
pub fn list(path: &Path) -> Result<Vec<Listed>> {
    let mut files = Vec::new();
    for (build, folder) in builds(&Folder::open(path, 0)?)? {
        let content = folder.list()?.into_iter();
        for f in content.filter(|f| !f.is_folder && is_content(&f.name)) {
            files.push(Listed {
                build: build.clone(),
                name: f.name,
                len: f.len,
                age: f.age,
            });
        }
    }
    Ok(files)
}

/// Removes every file of a cache directory; returns how many, and their bytes.
///
/// # Errors
/// The directory is not trusted, is not this crate's, or a file cannot be removed.
pub fn clear(path: &Path) -> Result<(usize, u64)> {
    let all = Folder::open(path, 0)?;
    let (mut count, mut bytes) = (0, 0);
    for (name, folder) in builds(&all)? {
        let content = folder.list()?.into_iter();
        for f in content.filter(|f| !f.is_folder && is_content(&f.name)) {
            folder.remove(&f.name)?;
            (count, bytes) = (count + 1, bytes + f.len);
        }
        // What somebody else has put there stays, with the directory.
        let _ = all.remove_folder(&name);
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

    use shelf as again;

    /// The directory may be one that somebody uses for something else.
    #[test]
    fn what_is_not_ours_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = std::fs::canonicalize(dir.path()).unwrap();
        std::fs::create_dir(path.join("private")).unwrap();
        std::fs::write(path.join("private/key"), "x").unwrap();
        let shelf = Shelf::open(&path, 1, b"key").unwrap();
        assert!(shelf.add("n", b"s", &[new(1, b"", b"x")]).is_err());
        assert!(list(&path).is_err() && clear(&path).is_err());
        let names: Vec<_> = std::fs::read_dir(&path).unwrap().collect();
        assert_eq!(names.len(), 1);

        // In a directory of ours, too.
        let path = path.join("cache");
        let shelf = Shelf::open(&path, 1, b"key").unwrap();
        shelf.add("n", b"s", &[new(1, b"", b"x")]).unwrap();
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(2 * MONTH);
        let others = [
            "private/key",
            "0123456789abcdef/key",
            "0123456789abcdef/a-b.code",
        ];
        let ours = [
            "0123456789abcdef/.new-1",
            "0123456789abcdef/a-0123456789abcdef.code",
        ];
        for name in others.iter().chain(&ours) {
            std::fs::create_dir_all(path.join(name).parent().unwrap()).unwrap();
            std::fs::write(path.join(name), "x").unwrap();
            let file = std::fs::File::options()
                .write(true)
                .open(path.join(name))
                .unwrap();
            file.set_modified(old).unwrap();
        }
        shelf.add("m", b"s", &[new(1, b"", b"x")]).unwrap();
        assert!(others.iter().all(|name| path.join(name).is_file()));
        assert!(!ours.iter().any(|name| path.join(name).is_file()));
        assert_eq!(clear(&path).unwrap().0, 2);
        assert!(others.iter().all(|name| path.join(name).is_file()));
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
        let shelf = again(&dir, b"key");
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
        let view = again(&dir, b"key").read("n", b"s").unwrap();
        let found: Vec<_> = view.find(1).map(|e| e.content()[0]).collect();
        assert_eq!(found, [7, 8, 9]);
    }

    #[test]
    fn a_damaged_file_is_written_anew() {
        let dir = tempfile::tempdir().unwrap();
        let shelf = shelf(&dir, b"key");
        shelf.add("n", b"s", &[new(1, b"", b"x")]).unwrap();
        let own = shelf.all.folder(&shelf.own_name, false).unwrap();
        own.replace(&file_name("n", b"s"), b"rubbish").unwrap();
        let shelf = Shelf {
            own: Some(own),
            ..shelf
        };
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
                .any(|f| f.name.to_string_lossy().starts_with("a_.._b-"))
        );
        assert_eq!(clear(&path).unwrap().0, 2);
        assert!(list(&path).unwrap().is_empty());
    }
}
