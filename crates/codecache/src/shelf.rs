//! The files of one build and configuration, in a directory of their own.
//!
//! ```text
//! <cache>/CACHEDIR.TAG                 says that the directory is this crate's
//! <cache>/lock                         held while files are replaced or removed
//! <cache>/contents                     see `memo`
//! <cache>/<hash of the key>/<name>-<hash of the subject>-<n>.code
//! ```
//! What is known of one subject is in segments 0, 1, ... of which the last is the youngest. New entries go to a segment of their own, together with the
//! segments at the end that are not much larger. So a write costs a small multiple of what is new, and there are few segments:
//!
//! ```text
//! 900 KiB  100 KiB  20 KiB   + 5 KiB   ->  900  100  20  5
//! 900 KiB  100 KiB  20 KiB   + 15 KiB  ->  900  100  35
//! ```
//! The directory may be any that the user names, so what else is in it stays.
//!
//! # Invariants
//! * Something is written or removed only in a directory with the tag. Only an empty directory gets the tag.
//! * Of such a directory only folders and files with names that this crate gives are removed, or counted.
//! * Directories are opened by path, with all checks, at each use ([`crate::trust`]).
//! * Of two processes that write at the same time one does; the other leaves it.
//! * What is read is at most [`MOST`] bytes after a write, all directories together. In a directory of the user's the files that were not used for the
//!   longest time go first, with those of builds that were not used for a month.
//! * In a directory for everybody nobody knows what is used: only root's reading is noted. There a file goes only if it is of another build and a month old;
//!   what has no room is refused.
//! * What was compiled ahead makes no room for something new.
use crate::checksum::checksum;
use crate::file::{Entry, Found, LONGEST, Source, View, assemble};
use crate::trust::{Folder, Kept, Owner};
use crate::wire::{Damaged, Read};
use std::ffi::{OsStr, OsString};
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

/// The most bytes that files take together.
pub const MOST: u64 = 512 << 20;
/// Seconds after which the files of another build go.
const MONTH: u64 = 30 * 24 * 3600;
/// Of entries for one method that depend on different sets, so many are kept.
const VARIANTS: usize = 3;
/// Segments of one subject, at most.
const SEGMENTS: usize = 12;
/// A segment at the end is written anew with what is new if it is so many times as large, or smaller.
const MUCH_LARGER: u64 = 2;

/// See the module.
#[derive(Debug)]
pub struct Shelf {
    path: PathBuf,
    make: usize,
    owner: Owner,
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

/// A segment whose entries are read when they are asked for.
pub type Segment = View<Stored>;

/// The bytes of a segment.
#[derive(Debug)]
pub enum Stored {
    /// In an open file.
    Open(Kept),
    /// In memory: the process may not have so many open files.
    Copied(Vec<u8>),
}

impl Source for Stored {
    fn read(&self, at: usize, into: &mut [u8]) -> Read<()> {
        match self {
            Stored::Open(file) => file.read(at as u64, into).map_err(|_| Damaged),
            Stored::Copied(bytes) => bytes.as_slice().read(at, into),
        }
    }
}

/// A name as it stands in names of files. Several names may become one.
pub fn plain_name(name: &str) -> String {
    name.chars()
        .map(|c| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' => c,
            _ => '_',
        })
        .take(80)
        .collect()
}
/// How the names of the files about a subject begin. `name` is for people.
fn file_name(name: &str, subject: &[u8]) -> String {
    format!("{}-{:016x}", plain_name(name), checksum(subject))
}
fn segment_name(stem: &str, n: usize) -> OsString {
    format!("{stem}-{n}.code").into()
}

/// The file that says that a directory is this crate's, and what is in it. Programs that make backups know the first line.
const TAG: &str = "CACHEDIR.TAG";
const SIGNATURE: &str = "Signature: 8a477f597d28d172789f06886806bc55
# Compiled code that Vervet keeps; `vervet cache clear` removes it.
";

pub(crate) fn has_tag(all: &Folder) -> bool {
    use std::io::Read;
    let mut text = String::new();
    let read = all
        .file(OsStr::new(TAG))
        .and_then(|(file, _)| file.take(1000).read_to_string(&mut text));
    read.is_ok() && text == SIGNATURE
}

/// Makes a directory this crate's, if it is empty.
pub(crate) fn claim(all: &Folder) -> Result<()> {
    if has_tag(all) {
        return Ok(());
    }
    match all.is_empty()? {
        true => all.replace(OsStr::new(TAG), SIGNATURE.as_bytes()),
        false => Err(foreign()),
    }
}

pub(crate) fn foreign() -> Error {
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
    let parts = || {
        let (rest, n) = name.strip_suffix(".code")?.rsplit_once('-')?;
        let (_, hash) = rest.rsplit_once('-')?;
        Some((hash, n.parse::<usize>().ok()?))
    };
    parts().is_some_and(|(hash, n)| is_build(OsStr::new(hash)) && n < SEGMENTS)
}

impl Shelf {
    /// The files for a key in the directory at an absolute path, of which the last `make` components are made when something is written.
    ///
    /// # Errors
    /// The directory is there and not trusted.
    pub fn open(path: &Path, make: usize, owner: Owner, key: &[u8]) -> Result<Shelf> {
        let own_name = OsString::from(format!("{:016x}", checksum(key)));
        match Folder::open(path, 0, owner).and_then(|all| all.folder(&own_name, false)) {
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        Ok(Shelf {
            path: path.to_path_buf(),
            make,
            owner,
            own_name,
            key: key.to_vec(),
        })
    }
    /// What is kept about a subject, the youngest segment first.
    ///
    /// # Errors
    /// There is nothing, or the directory is not trusted.
    pub fn read(&self, name: &str, subject: &[u8]) -> Result<Vec<Segment>> {
        let own = Folder::open(&self.path, 0, self.owner)?.folder(&self.own_name, false)?;
        let stem = file_name(name, subject);
        let mut segments = Vec::new();
        for n in 0..SEGMENTS {
            match self.segment(&own, &segment_name(&stem, n), subject) {
                Ok(segment) => segments.push(segment),
                Err(e) if e.kind() == ErrorKind::NotFound => break,
                // A damaged one does not hide the others.
                Err(_) => {}
            }
        }
        segments.reverse();
        match segments.is_empty() {
            true => Err(Error::from(ErrorKind::NotFound)),
            false => Ok(segments),
        }
    }
    /// The names, as [`plain_name`] gives them, about which there is something.
    ///
    /// # Errors
    /// The directory is not there, or not trusted.
    pub fn names(&self) -> Result<Vec<String>> {
        let own = Folder::open(&self.path, 0, self.owner)?.folder(&self.own_name, false)?;
        let mut names: Vec<String> = Vec::new();
        for file in own.list()? {
            // None of the parts behind the name has a hyphen.
            let name = file.name.to_str().filter(|_| is_content(&file.name));
            names.extend(name.and_then(|n| Some(n.split_once('-')?.0.to_owned())));
        }
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }
    fn segment(&self, own: &Folder, name: &OsStr, subject: &[u8]) -> Result<Segment> {
        let (file, len) = own.file(name)?;
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let stored = match Kept::new(&file) {
            Ok(kept) => Stored::Open(kept),
            Err(_) => Stored::Copied(copy(file, len)?),
        };
        View::open(stored, len, &self.key, subject).map_err(|Damaged| damaged())
    }
    /// Adds entries to what is kept about a subject; returns how many bytes were written. A new entry takes the place of one of the same identity and set.
    ///
    /// # Errors
    /// Another process is writing, or the file cannot be written. Nothing has changed then.
    pub fn add(&self, name: &str, subject: &[u8], new: &[New]) -> Result<usize> {
        self.add_as(name, subject, new, self.owner == Owner::User)
    }
    /// As [`Shelf::add`], but what is there stays: what would make a subject's files too long is refused.
    ///
    /// # Errors
    /// As there, or there is no room.
    pub fn add_ahead(&self, name: &str, subject: &[u8], new: &[New]) -> Result<usize> {
        self.add_as(name, subject, new, false)
    }
    fn add_as(&self, name: &str, subject: &[u8], new: &[New], begins_anew: bool) -> Result<usize> {
        let all = Folder::open(&self.path, self.make, self.owner)?;
        // Before the lock is made: a directory of somebody else's gets no file at all.
        if !has_tag(&all) && !all.is_empty()? {
            return Err(foreign());
        }
        let _lock = all.lock()?;
        claim(&all)?;
        let own = all.folder(&self.own_name, true)?;
        let stem = file_name(name, subject);
        let mut lens = segment_lens(&own, &stem);
        let of_new = new.iter().map(|n| n.payload.len() + n.set.len() + 100);
        let of_new = of_new.sum::<usize>() as u64;
        let is_too_long = lens.iter().sum::<u64>() + of_new > LONGEST as u64;
        if is_too_long && !begins_anew {
            return Err(Error::other(format!(
                "there is no room for more code of {name} ({} MiB)",
                LONGEST >> 20
            )));
        }
        if self.owner == Owner::Root {
            self.remove_old_builds(&all);
            self.check_room(&all, of_new)?;
        }
        if is_too_long {
            // Of a program that makes so much, what is old is worth little.
            for n in 0..lens.len() {
                let _ = own.remove(&segment_name(&stem, n));
            }
            lens.clear();
        }
        let first = first_to_merge(&lens, of_new);
        // Failing here is an error; failing later, on the way, ends the process.
        let old: u64 = lens[first..].iter().sum();
        reserve(3 * (old + of_new) as usize)?;
        let mut views = Vec::new();
        for n in first..lens.len() {
            let bytes = own
                .file(&segment_name(&stem, n))
                .and_then(|(file, len)| copy(file, len as usize));
            let Ok(bytes) = bytes else { continue };
            views.push(bytes);
        }
        let views: Vec<View<&[u8]>> = views
            .iter()
            .filter_map(|b| View::open(b.as_slice(), b.len(), &self.key, subject).ok())
            .collect();
        let content = merge(&self.key, subject, &views, new).map_err(|Damaged| damaged())?;
        own.replace(&segment_name(&stem, first), &content)?;
        for n in first + 1..lens.len() {
            let _ = own.remove(&segment_name(&stem, n));
        }
        if self.owner == Owner::User {
            self.tidy(&all);
        }
        Ok(content.len())
    }
    /// Refuses what a directory for everybody has no room for.
    fn check_room(&self, all: &Folder, of_new: u64) -> Result<()> {
        let files = builds(all)?.into_iter().filter_map(|b| b.1.list().ok());
        let ours = files
            .flatten()
            .filter(|f| !f.is_folder && is_content(&f.name));
        match ours.map(|f| f.len).sum::<u64>() + of_new > MOST {
            true => Err(Error::other(format!(
                "the directory is full ({} MiB); `vervet cache clear --system` empties it",
                MOST >> 20
            ))),
            false => Ok(()),
        }
    }
    /// Removes what has not been used for long. The caller holds the lock.
    fn tidy(&self, all: &Folder) {
        let mut files = self.remove_old_builds(all);
        files.sort_by_key(|f| f.0);
        let mut sum = 0;
        for (_, len, build, name) in files {
            sum += len;
            if sum > MOST
                && let Ok(folder) = all.folder(&build, false)
            {
                let _ = folder.remove(&name);
            }
        }
    }
    /// Removes the files of other builds after a month; the others are returned as (age, length, build, name). The caller holds the lock.
    fn remove_old_builds(&self, all: &Folder) -> Vec<(u64, u64, OsString, OsString)> {
        let mut files = Vec::new();
        for build in all.list().unwrap_or_default() {
            if !build.is_folder || !is_build(&build.name) {
                continue;
            }
            let Ok(folder) = all.folder(&build.name, false) else {
                continue;
            };
            let mut list = folder.list().unwrap_or_default();
            list.retain(|f| !f.is_folder && is_content(&f.name));
            let youngest = list.iter().map(|f| f.age).min().unwrap_or(build.age);
            let is_old = build.name != self.own_name && youngest > MONTH;
            for f in list {
                if is_old {
                    let _ = folder.remove(&f.name);
                } else {
                    files.push((f.age, f.len, build.name.clone(), f.name));
                }
            }
            if is_old {
                let _ = folder.remove_new();
                let _ = all.remove_folder(&build.name);
            }
        }
        files
    }
}

pub(crate) fn damaged() -> Error {
    Error::from(ErrorKind::InvalidData)
}

/// Whether there is so much memory.
fn reserve(bytes: usize) -> Result<()> {
    let mut room: Vec<u8> = Vec::new();
    room.try_reserve_exact(bytes + (1 << 20))
        .map_err(|_| Error::from(ErrorKind::OutOfMemory))
}

/// The content of a file of that length.
pub(crate) fn copy(mut file: std::fs::File, len: usize) -> Result<Vec<u8>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    if len > LONGEST || bytes.try_reserve_exact(len).is_err() {
        return Err(damaged());
    }
    bytes.resize(len, 0);
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// The lengths of the segments about a subject.
fn segment_lens(own: &Folder, stem: &str) -> Vec<u64> {
    let mut lens = Vec::new();
    for n in 0..SEGMENTS {
        match own.file(&segment_name(stem, n)) {
            Ok((_, len)) => lens.push(len),
            Err(e) if e.kind() == ErrorKind::NotFound => break,
            // It is written anew.
            Err(_) => lens.push(0),
        }
    }
    lens
}

/// The segment from which on everything goes into one, with new entries of so many bytes.
fn first_to_merge(lens: &[u64], of_new: u64) -> usize {
    let mut sum = of_new;
    let mut first = lens.len();
    while first > 0 && (lens[first - 1] <= MUCH_LARGER * sum || first == SEGMENTS) {
        first -= 1;
        sum += lens[first];
    }
    first
}

/// The content of the segment that has the old entries and the new ones. The order is that in which the entries were first wanted.
fn merge(key: &[u8], subject: &[u8], old: &[View<&[u8]>], new: &[New]) -> Read<Vec<u8>> {
    let old: Vec<(&[u8], Found)> = old
        .iter()
        .flat_map(|v| {
            v.entries()
                .map(move |e| (v.set(e.set).unwrap_or_default(), e))
        })
        .collect();
    let old = old.iter().map(|(set, found)| (*set, found.entry()));
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
pub fn list(path: &Path, owner: Owner) -> Result<Vec<Listed>> {
    let mut files = Vec::new();
    for (build, folder) in builds(&Folder::open(path, 0, owner)?)? {
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
pub fn clear(path: &Path, owner: Owner) -> Result<(usize, u64)> {
    let all = Folder::open(path, 0, owner)?;
    let (mut count, mut bytes) = (0, 0);
    let builds = builds(&all)?;
    if !has_tag(&all) {
        return Ok((0, 0));
    }
    let _lock = all.lock()?;
    let _ = all.remove(OsStr::new(crate::memo::NAME));
    for (name, folder) in builds {
        let content = folder.list()?.into_iter();
        for f in content.filter(|f| !f.is_folder && is_content(&f.name)) {
            folder.remove(&f.name)?;
            (count, bytes) = (count + 1, bytes + f.len);
        }
        let _ = folder.remove_new();
        // What somebody else has put there stays, with the directory.
        let _ = all.remove_folder(&name);
    }
    Ok((count, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trust::tests::patiently;

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
        Shelf::open(&path, 1, Owner::User, key).unwrap()
    }

    /// Adds, while other tests do so too.
    fn add(shelf: &Shelf, name: &str, new: &[New]) -> Result<usize> {
        patiently(|| shelf.add(name, b"s", new))
    }
    /// The contents that are kept under a hash, the youngest first.
    fn found(shelf: &Shelf, hash: u64) -> Vec<Vec<u8>> {
        let segments = shelf.read("n", b"s").unwrap();
        let found = segments.iter().flat_map(|s| s.find(hash));
        found.map(|f| f.entry().content().to_vec()).collect()
    }

    /// The directory may be one that somebody uses for something else.
    #[test]
    fn what_is_not_ours_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = std::fs::canonicalize(dir.path()).unwrap();
        std::fs::create_dir(path.join("private")).unwrap();
        std::fs::write(path.join("private/key"), "x").unwrap();
        let shelf = Shelf::open(&path, 1, Owner::User, b"key").unwrap();
        assert!(add(&shelf, "n", &[new(1, b"", b"x")]).is_err());
        assert!(list(&path, Owner::User).is_err() && clear(&path, Owner::User).is_err());
        let names: Vec<_> = std::fs::read_dir(&path).unwrap().collect();
        assert_eq!(names.len(), 1);

        // In a directory of ours, too.
        let path = path.join("cache");
        let shelf = Shelf::open(&path, 1, Owner::User, b"key").unwrap();
        add(&shelf, "n", &[new(1, b"", b"x")]).unwrap();
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(2 * MONTH);
        let others = [
            "private/key",
            "0123456789abcdef/key",
            "0123456789abcdef/a-b.code",
            "0123456789abcdef/a-0123456789abcdef-x.code",
        ];
        let ours = "0123456789abcdef/a-0123456789abcdef-3.code";
        for name in others.iter().chain([&ours]) {
            std::fs::create_dir_all(path.join(name).parent().unwrap()).unwrap();
            std::fs::write(path.join(name), "x").unwrap();
            let file = std::fs::File::options().write(true).open(path.join(name));
            file.unwrap().set_modified(old).unwrap();
        }
        add(&shelf, "m", &[new(1, b"", b"x")]).unwrap();
        assert!(others.iter().all(|name| path.join(name).is_file()));
        assert!(!path.join(ours).is_file());
        assert_eq!(patiently(|| clear(&path, Owner::User)).unwrap().0, 2);
        assert!(others.iter().all(|name| path.join(name).is_file()));
    }

    #[test]
    fn entries_are_added_and_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let shelf = shelf(&dir, b"key");
        assert!(shelf.read("n", b"s").is_err());
        let first = [new(1, b"a", b"xold"), new(2, b"b", b"y")];
        add(&shelf, "n", &first).unwrap();
        let second = [new(1, b"a", b"xnew"), new(1, b"b", b"xother")];
        add(&shelf, "n", &second).unwrap();
        assert_eq!(found(&shelf, 1), [&b"new"[..], b"other"]);
        assert_eq!(found(&shelf, 2).len(), 1);
        assert!(shelf.read("n", b"t").is_err());
    }

    #[test]
    fn a_write_costs_a_small_multiple_of_what_is_new() {
        let dir = tempfile::tempdir().unwrap();
        let shelf = shelf(&dir, b"key");
        let large = vec![7; 1 << 20];
        add(&shelf, "n", &[new(1, b"", &large)]).unwrap();
        let mut written = 0;
        for n in 2..200u64 {
            written += add(&shelf, "n", &[new(n, b"", b"x")]).unwrap();
        }
        assert!(written < 200 * 2000, "{written}");
        assert!(shelf.read("n", b"s").unwrap().len() <= SEGMENTS);
        assert!((1..200).all(|n| found(&shelf, n).len() == 1));
        // What is as large as all that is there takes it along.
        add(&shelf, "n", &[new(1, b"", &large)]).unwrap();
        assert_eq!(shelf.read("n", b"s").unwrap().len(), 1);
        assert_eq!(list(&shelf.path, Owner::User).unwrap().len(), 1);
    }

    #[test]
    fn few_variants_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let shelf = shelf(&dir, b"key");
        for n in 0..10u8 {
            add(&shelf, "n", &[new(1, &[n], &[7, n])]).unwrap();
        }
        // So many in a segment.
        let found = found(&shelf, 1);
        assert!(found.contains(&vec![9]) && found.len() < 10, "{found:?}");
    }

    #[test]
    fn a_damaged_file_is_written_anew() {
        let dir = tempfile::tempdir().unwrap();
        let shelf = shelf(&dir, b"key");
        add(&shelf, "n", &[new(1, b"", b"x")]).unwrap();
        let all = Folder::open(&shelf.path, 0, Owner::User).unwrap();
        let own = all.folder(&shelf.own_name, false).unwrap();
        let name = segment_name(&file_name("n", b"s"), 0);
        own.replace(&name, b"rubbish").unwrap();
        assert!(shelf.read("n", b"s").is_err());
        add(&shelf, "n", &[new(2, b"", b"x")]).unwrap();
        assert_eq!(found(&shelf, 2).len(), 1);
    }

    #[test]
    fn a_file_that_grows_too_long_begins_anew() {
        let dir = tempfile::tempdir().unwrap();
        let shelf = shelf(&dir, b"key");
        let large = vec![7; 40 << 20];
        add(&shelf, "n", &[new(1, b"", &large)]).unwrap();
        add(&shelf, "n", &[new(2, b"", &large)]).unwrap();
        assert_eq!((found(&shelf, 1).len(), found(&shelf, 2).len()), (0, 1));
    }

    #[test]
    fn what_was_compiled_ahead_makes_no_room() {
        let dir = tempfile::tempdir().unwrap();
        let shelf = shelf(&dir, b"key");
        let large = vec![7; 40 << 20];
        let ahead = |n| patiently(|| shelf.add_ahead("n", b"s", &[new(n, b"", &large)]));
        ahead(1).unwrap();
        let error = ahead(2).unwrap_err().to_string();
        assert!(error.contains("no room for more code of n"), "{error}");
        assert_eq!((found(&shelf, 1).len(), found(&shelf, 2).len()), (1, 0));
    }

    /// Readers other than root cannot note that they use a file.
    #[test]
    fn what_is_for_everybody_does_not_go_for_its_age() {
        use std::fs::File;
        use std::time::{Duration, SystemTime};
        let dir = tempfile::tempdir().unwrap();
        let path = std::fs::canonicalize(dir.path()).unwrap().join("cache");
        // Only root makes files of root's.
        if crate::trust::user() != 0 || Folder::open(&path, 1, Owner::Root).is_err() {
            return;
        }
        let shelf = |key: &[u8]| Shelf::open(&path, 1, Owner::Root, key).unwrap();
        let own = shelf(b"key");
        for name in ["a", "b"] {
            add(&own, name, &[new(1, b"", b"x")]).unwrap();
        }
        // Two files of a length that leaves room for nothing else; their content does not matter.
        let files = list(&path, Owner::Root).unwrap();
        for f in &files {
            let name = path.join(&f.build).join(&f.name);
            let file = File::options().write(true).open(name).unwrap();
            file.set_len(MOST / 2 + 1).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(2 * MONTH))
                .unwrap();
        }
        let error = add(&own, "c", &[new(1, b"", b"x")])
            .unwrap_err()
            .to_string();
        assert!(error.contains("cache clear --system"), "{error}");
        assert_eq!(list(&path, Owner::Root).unwrap().len(), 2);
        // Another build's go, and make room.
        add(&shelf(b"other"), "c", &[new(1, b"", b"x")]).unwrap();
        assert_eq!(list(&path, Owner::Root).unwrap().len(), 1);
    }

    #[test]
    fn the_directory_is_shown_and_cleared() {
        let dir = tempfile::tempdir().unwrap();
        add(&shelf(&dir, b"key"), "a/../b", &[new(1, b"", b"x")]).unwrap();
        add(&shelf(&dir, b"other"), "n", &[]).unwrap();
        let path = std::fs::canonicalize(dir.path()).unwrap().join("cache");
        let names = list(&path, Owner::User).unwrap();
        assert_eq!(names.len(), 2);
        let odd = |f: &Listed| f.name.to_string_lossy().starts_with("a_.._b-");
        assert!(names.iter().any(odd));
        assert_eq!(patiently(|| clear(&path, Owner::User)).unwrap().0, 2);
        assert!(list(&path, Owner::User).unwrap().is_empty());
    }
}
