//! A directory that only its owner can write, and the files in it.
//!
//! A file of compiled code is machine code: who can write it can do what this process can. Rights are checked on open descriptors, never on
//! paths, and every component of the path is opened by itself.
//!
//! | | must be | else |
//! |---|---|---|
//! | process | not set-user-id, set-group-id or otherwise privileged; its user has a number in this namespace | no directory is opened |
//! | directories on the way | of this user or root; nobody else may write, unless root owns it and it is sticky | refused |
//! | the directory itself | of this user; nobody else may write | refused |
//! | a file | regular, of this user, one link; nobody else may write | refused |
//!
//! Root is a user like the others here: with root's rights and another user's home directory, nothing is read or written.
//!
//! # Invariants
//! * Nothing is followed: a symbolic link on the way is an error. (The caller has made the path canonical.)
//! * A [`Folder`] exists only for a directory that passed the checks. What is in it is reached through its descriptor.
use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::io::{Error, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

/// The user id of what has no id in this namespace.
const UNMAPPED: u32 = 65534;

/// Why a directory or file is not used.
fn refused(what: &str) -> Error {
    Error::new(std::io::ErrorKind::PermissionDenied, what)
}

/// Whether this process runs with its user's rights, no more: only then do its environment and its user's files count.
pub fn is_unprivileged() -> bool {
    // SAFETY: calls without arguments that matter; they cannot fail.
    unsafe {
        libc::getauxval(libc::AT_SECURE) == 0
            && libc::getuid() == libc::geteuid()
            && libc::getgid() == libc::getegid()
            && libc::geteuid() != UNMAPPED
    }
}

fn user() -> u32 {
    // SAFETY: it cannot fail.
    unsafe { libc::geteuid() }
}

/// What `fstat` says.
fn status(fd: &impl AsRawFd) -> Result<libc::stat> {
    // SAFETY: the record is plain numbers, which fstat fills.
    let mut s: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: an open descriptor and a record of the right type.
    match unsafe { libc::fstat(fd.as_raw_fd(), &raw mut s) } {
        0 => Ok(s),
        _ => Err(Error::last_os_error()),
    }
}

/// Whether nobody but root and this user can change what a directory on the way contains.
fn is_safe_way(s: &libc::stat) -> bool {
    let others_write = s.st_mode & 0o022 != 0;
    let sticky_of_root = s.st_uid == 0 && s.st_mode & libc::S_ISVTX != 0;
    (s.st_uid == 0 || s.st_uid == user()) && (!others_write || sticky_of_root)
}

/// Whether it belongs to this user and nobody else can write it.
fn is_own(s: &libc::stat) -> bool {
    s.st_uid == user() && s.st_mode & 0o022 == 0
}

fn c_string(name: &OsStr) -> Result<CString> {
    CString::new(name.as_bytes()).map_err(|_| refused("a name with a zero byte"))
}

fn open_at(at: i32, name: &CStr, flags: i32, mode: u32) -> Result<OwnedFd> {
    let flags = flags | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: a string that ends with a zero byte.
    let fd = unsafe { libc::openat(at, name.as_ptr(), flags, mode) };
    if fd < 0 {
        return Err(Error::last_os_error());
    }
    // SAFETY: the descriptor was opened above, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A directory that passed the checks.
#[derive(Debug)]
pub struct Folder {
    fd: OwnedFd,
}

/// A file in a [`Folder`], for lists.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its name.
    pub name: std::ffi::OsString,
    /// Its length in bytes.
    pub len: u64,
    /// Seconds since it was last written or touched.
    pub age: u64,
    /// Whether it is a directory.
    pub is_folder: bool,
}

impl Folder {
    /// Opens a directory by an absolute canonical path. With `make`, its last `make` components are made if they are not there, for this user
    /// alone.
    ///
    /// # Errors
    /// It cannot be opened, or is not trusted.
    pub fn open(path: &Path, make: usize) -> Result<Folder> {
        let names: Vec<&OsStr> = path
            .components()
            .filter_map(|c| match c {
                Component::Normal(name) => Some(name),
                _ => None,
            })
            .collect();
        let straight = |c: Component<'_>| matches!(c, Component::RootDir | Component::Normal(_));
        if !path.is_absolute() || !path.components().all(straight) || names.is_empty() {
            return Err(refused("not a canonical path"));
        }
        let flags = libc::O_RDONLY | libc::O_DIRECTORY;
        let mut fd = open_at(libc::AT_FDCWD, c"/", flags, 0)?;
        for (n, name) in names.iter().enumerate() {
            if !is_safe_way(&status(&fd)?) {
                return Err(refused("another user can write a directory on the way"));
            }
            let name = c_string(name)?;
            fd = match open_at(fd.as_raw_fd(), &name, flags, 0) {
                Err(e) if e.kind() == std::io::ErrorKind::NotFound && n + make >= names.len() => {
                    // SAFETY: a string that ends with a zero byte. If another process was first, opening it decides.
                    unsafe { libc::mkdirat(fd.as_raw_fd(), name.as_ptr(), 0o700) };
                    open_at(fd.as_raw_fd(), &name, flags, 0)?
                }
                other => other?,
            };
        }
        match is_own(&status(&fd)?) {
            true => Ok(Folder { fd }),
            false => Err(refused(
                "the directory is another user's, or others can write it",
            )),
        }
    }
    /// Opens a directory in this one, and makes it if it is not there.
    ///
    /// # Errors
    /// It cannot be opened or made, or is not trusted.
    pub fn folder(&self, name: &OsStr, make: bool) -> Result<Folder> {
        let name = c_string(name)?;
        let flags = libc::O_RDONLY | libc::O_DIRECTORY;
        if make {
            // SAFETY: a string that ends with a zero byte. If it is there already, opening it decides.
            unsafe { libc::mkdirat(self.fd.as_raw_fd(), name.as_ptr(), 0o700) };
        }
        let fd = open_at(self.fd.as_raw_fd(), &name, flags, 0)?;
        match is_own(&status(&fd)?) {
            true => Ok(Folder { fd }),
            false => Err(refused(
                "the directory is another user's, or others can write it",
            )),
        }
    }
    /// Opens a file for reading. Its length is what it had when it was checked.
    ///
    /// # Errors
    /// It cannot be opened, or is not trusted.
    pub fn file(&self, name: &OsStr) -> Result<(File, u64)> {
        // Not to be held up by a pipe of that name.
        let flags = libc::O_RDONLY | libc::O_NONBLOCK;
        let fd = open_at(self.fd.as_raw_fd(), &c_string(name)?, flags, 0)?;
        let s = status(&fd)?;
        if s.st_mode & libc::S_IFMT != libc::S_IFREG || s.st_nlink != 1 || !is_own(&s) {
            return Err(refused("not a file of this user alone"));
        }
        let now = now();
        if now > s.st_mtime + 24 * 3600 {
            // The day of the last use is what decides which files go.
            // SAFETY: an open descriptor; a null pointer means now.
            unsafe { libc::futimens(fd.as_raw_fd(), std::ptr::null()) };
        }
        Ok((File::from(fd), s.st_size as u64))
    }
    /// Puts a file there as a whole, in place of the one of that name.
    ///
    /// # Errors
    /// It cannot be written: no room, no right, a limit. Nothing has changed then.
    pub fn replace(&self, name: &OsStr, content: &[u8]) -> Result<()> {
        use std::io::Write;
        within_limit(content.len() as u64)?;
        let mut temporary = std::ffi::OsString::from(TEMPORARY);
        let unique = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |d| d.as_nanos());
        temporary.push(format!("{}.{unique:x}", std::process::id()));
        let temporary = c_string(&temporary)?;
        let at = self.fd.as_raw_fd();
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL;
        let mut file = File::from(open_at(at, &temporary, flags, 0o600)?);
        let written = file.write_all(content).and_then(|()| {
            let name = c_string(name)?;
            // SAFETY: strings that end with a zero byte, and an open descriptor.
            match unsafe { libc::renameat(at, temporary.as_ptr(), at, name.as_ptr()) } {
                0 => Ok(()),
                _ => Err(Error::last_os_error()),
            }
        });
        if written.is_err() {
            // SAFETY: as above.
            unsafe { libc::unlinkat(at, temporary.as_ptr(), 0) };
        }
        written
    }
    /// Holds the lock of this directory, if no other process does, until the file is dropped.
    ///
    /// # Errors
    /// Another process holds it, or there can be no lock here.
    pub fn lock(&self) -> Result<File> {
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_NONBLOCK;
        let fd = open_at(self.fd.as_raw_fd(), LOCK, flags, 0o600)?;
        // SAFETY: an open descriptor.
        match unsafe { libc::flock(fd.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } {
            0 => Ok(File::from(fd)),
            _ => Err(Error::last_os_error()),
        }
    }
    /// Removes a file.
    ///
    /// # Errors
    /// It is not there, or cannot be removed.
    pub fn remove(&self, name: &OsStr) -> Result<()> {
        self.unlink(name, 0)
    }
    /// Removes an empty directory.
    ///
    /// # Errors
    /// It is not there, or not empty.
    pub fn remove_folder(&self, name: &OsStr) -> Result<()> {
        self.unlink(name, libc::AT_REMOVEDIR)
    }
    fn unlink(&self, name: &OsStr, flags: i32) -> Result<()> {
        let name = c_string(name)?;
        // SAFETY: a string that ends with a zero byte, and an open descriptor.
        match unsafe { libc::unlinkat(self.fd.as_raw_fd(), name.as_ptr(), flags) } {
            0 => Ok(()),
            _ => Err(Error::last_os_error()),
        }
    }
    /// The entries. The kernel's name of an open descriptor leads to the very directory that was checked.
    fn entries(&self) -> Result<std::fs::ReadDir> {
        std::fs::read_dir(format!("/proc/self/fd/{}", self.fd.as_raw_fd()))
    }
    /// Whether there is nothing, but for files that [`Folder::replace`] has begun.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn is_empty(&self) -> Result<bool> {
        for entry in self.entries()? {
            let name = entry?.file_name();
            if !name.as_bytes().starts_with(TEMPORARY.as_bytes()) {
                return Ok(false);
            }
        }
        Ok(true)
    }
    /// What is in the directory: regular files and directories.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn list(&self) -> Result<Vec<Listed>> {
        use std::os::unix::fs::MetadataExt;
        let now = now();
        let mut all = Vec::new();
        for entry in self.entries()? {
            let entry = entry?;
            // Of the entry itself, not of what a link leads to.
            let Ok(meta) = entry.metadata() else { continue };
            if meta.is_file() || meta.is_dir() {
                all.push(Listed {
                    name: entry.file_name(),
                    len: meta.len(),
                    age: now.saturating_sub(meta.mtime()).max(0) as u64,
                    is_folder: meta.is_dir(),
                });
            }
        }
        Ok(all)
    }
}

/// How the names of files begin that are being written.
pub const TEMPORARY: &str = ".new-";
/// The file whose lock is the directory's.
const LOCK: &CStr = c"lock";

fn now() -> i64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |d| d.as_secs() as i64)
}

/// Refuses a length that the process's limit on files does not allow: writing it would end the process with a signal.
fn within_limit(len: u64) -> Result<()> {
    // SAFETY: a complete record that getrlimit fills.
    let limit = unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit);
        limit.rlim_cur
    };
    match len < limit {
        true => Ok(()),
        false => Err(Error::from_raw_os_error(libc::EFBIG)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn temporary() -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = std::fs::canonicalize(dir.path()).unwrap();
        (dir, path)
    }
    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_is_put_is_read_and_replaced() {
        let (_dir, path) = temporary();
        let folder = Folder::open(&path.join("a/b"), 2).unwrap();
        let name = OsStr::new("x");
        for content in [&b"one"[..], b"another"] {
            folder.replace(name, content).unwrap();
            let (mut file, len) = folder.file(name).unwrap();
            let mut read = Vec::new();
            file.read_to_end(&mut read).unwrap();
            assert_eq!((read.as_slice(), len), (content, content.len() as u64));
        }
        let inner = std::fs::metadata(path.join("a")).unwrap();
        assert_eq!(inner.permissions().mode() & 0o777, 0o700);
        let names: Vec<_> = folder.list().unwrap().into_iter().map(|l| l.name).collect();
        assert_eq!(names, [name], "no temporary file is left");
    }

    #[test]
    fn what_others_can_write_is_refused() {
        let (_dir, path) = temporary();
        let folder = Folder::open(&path.join("a"), 1).unwrap();
        let name = OsStr::new("x");
        folder.replace(name, b"1").unwrap();
        for mode in [0o620, 0o602, 0o666] {
            set_mode(&path.join("a/x"), mode);
            assert!(folder.file(name).is_err());
        }
        set_mode(&path.join("a/x"), 0o644);
        assert!(folder.file(name).is_ok());
        for mode in [0o720, 0o777, 0o1777] {
            set_mode(&path.join("a"), mode);
            assert!(Folder::open(&path.join("a"), 0).is_err());
        }
        set_mode(&path.join("a"), 0o700);
        set_mode(&path, 0o777);
        assert!(Folder::open(&path.join("a"), 0).is_err());
    }

    #[test]
    fn links_pipes_and_directories_are_no_files() {
        let (_dir, path) = temporary();
        let folder = Folder::open(&path.join("a"), 1).unwrap();
        folder.replace(OsStr::new("x"), b"1").unwrap();
        symlink(path.join("a/x"), path.join("a/soft")).unwrap();
        assert!(folder.file(OsStr::new("soft")).is_err());
        std::fs::hard_link(path.join("a/x"), path.join("hard")).unwrap();
        assert!(folder.file(OsStr::new("x")).is_err());
        std::fs::create_dir(path.join("a/d")).unwrap();
        assert!(folder.file(OsStr::new("d")).is_err());
        let pipe = CString::new(path.join("a/p").as_os_str().as_bytes()).unwrap();
        // SAFETY: a string that ends with a zero byte.
        assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) }, 0);
        assert!(folder.file(OsStr::new("p")).is_err());
        symlink(path.join("a"), path.join("way")).unwrap();
        assert!(Folder::open(&path.join("way"), 0).is_err());
        assert!(Folder::open(&path.join("way/b"), 1).is_err());
    }

    #[test]
    fn a_lock_is_held_once() {
        let (_dir, path) = temporary();
        let folder = Folder::open(&path.join("a"), 1).unwrap();
        let held = folder.lock().unwrap();
        assert!(folder.lock().is_err());
        drop(held);
        assert!(folder.lock().is_ok());
    }

    #[test]
    fn paths_that_are_not_canonical_are_refused() {
        let (_dir, path) = temporary();
        assert!(Folder::open(Path::new("a"), 1).is_err());
        assert!(Folder::open(Path::new("/"), 1).is_err());
        assert!(Folder::open(&path.join("../x"), 1).is_err());
    }
}
