//! A directory that only its owner can write, and the files in it.
//!
//! A file of compiled code is machine code: who can write it can do what this process can. Rights are checked on open descriptors, never on
//! paths, and every component of the path is opened by itself (module `way`).
//!
//! | | must be | else |
//! |---|---|---|
//! | process | not set-user-id, set-group-id or with capabilities of its own; its user has a number in this namespace | no directory is opened |
//! | directories on the way | of the owner or root; nobody else may write, unless root owns it and it is sticky; on a file system of this kernel | refused |
//! | the directory itself | of the owner; nobody else may write | refused |
//! | a file | regular, of the owner, one link; nobody else may write | refused |
//!
//! The owner is this process's user, or, of a directory for everybody, root ([`Owner`]). Root is a user like the others here: with root's rights
//! and another user's home directory, nothing is read or written. The first row is about directories of the user: one of root's is trusted by
//! processes with other rights, too.
//!
//! # Invariants
//! * A [`Folder`] exists only for a directory that passed the checks. What is in it is reached through its descriptor.
//! * No [`Folder`] lives while the program runs: a program may close descriptors that are not its own, and then the number means
//!   something else. The descriptor of a file has a high number, and is compared at each use ([`Kept`]).
//! * What is made has the rights that are wanted here, whatever the program's umask is.
//! * Only who holds the lock writes or removes.
use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::io::{Error, Result};
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// The user id of what has no id in this namespace.
const UNMAPPED: u32 = 65534;

/// Why a directory or file is not used.
pub(crate) fn refused(what: &str) -> Error {
    Error::new(std::io::ErrorKind::PermissionDenied, what)
}

/// Whether this process runs with its user's rights, no more: only then do its environment and its user's files count.
pub fn is_unprivileged() -> bool {
    // SAFETY: calls without arguments that matter; they cannot fail.
    let is_plain = unsafe {
        libc::getauxval(libc::AT_SECURE) == 0
            && libc::getuid() == libc::geteuid()
            && libc::getgid() == libc::getegid()
            && libc::geteuid() != UNMAPPED
    };
    is_plain && (user() == 0 || !has_capabilities())
}

/// Whether the process may do what its user may not. What is inherited as an ambient capability sets no `AT_SECURE`.
fn has_capabilities() -> bool {
    /// `_LINUX_CAPABILITY_VERSION_3`: two records of (effective, permitted, inheritable).
    const VERSION: u32 = 0x2008_0522;
    let header = [VERSION, 0];
    let mut sets = [u32::MAX; 6];
    // SAFETY: a header of this version for this process, and the two records that it asks for.
    let result = unsafe { libc::syscall(libc::SYS_capget, header.as_ptr(), sets.as_mut_ptr()) };
    result != 0 || sets[1] != 0 || sets[4] != 0
}

/// What the owners, rights and times that a file system reports are worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileSystem {
    /// The kernel keeps them, on a disk: a store to a mapped page is seen in the times at the latest when the page was written back.
    Disk,
    /// The kernel keeps owners and rights. Its times say nothing of content: memory that is never written back, or an image that was made elsewhere.
    Other,
    /// A server, another user's process or the mount's options decide.
    Foreign,
}

impl FileSystem {
    /// The file system of an open file or directory.
    ///
    /// # Errors
    /// The kernel does not say.
    pub fn of(fd: &impl AsRawFd) -> Result<FileSystem> {
        // SAFETY: the record is plain numbers, which fstatfs fills.
        let mut s: libc::statfs = unsafe { std::mem::zeroed() };
        // SAFETY: an open descriptor and a record of the right type.
        if unsafe { libc::fstatfs(fd.as_raw_fd(), &raw mut s) } != 0 {
            return Err(Error::last_os_error());
        }
        Ok(match s.f_type as u32 {
            // ext2 to ext4, xfs, btrfs, f2fs, bcachefs, zfs; overlayfs, whose parts are of these.
            0xEF53 | 0x5846_5342 | 0x9123_683E | 0xF2F5_2010 | 0xCA45_1A4E | 0x2FC1_2FC1
            | 0x794C_7630 => FileSystem::Disk,
            // tmpfs, ramfs; squashfs, erofs.
            0x0102_1994 | 0x8584_58F6 | 0x7371_7368 | 0xE0F5_E1E2 => FileSystem::Other,
            _ => FileSystem::Foreign,
        })
    }
}

pub(crate) fn user() -> u32 {
    // SAFETY: it cannot fail.
    unsafe { libc::geteuid() }
}

/// What `fstat` says.
pub(crate) fn status(fd: &impl AsRawFd) -> Result<libc::stat> {
    // SAFETY: the record is plain numbers, which fstat fills.
    let mut s: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: an open descriptor and a record of the right type.
    match unsafe { libc::fstat(fd.as_raw_fd(), &raw mut s) } {
        0 => Ok(s),
        _ => Err(Error::last_os_error()),
    }
}

/// Who must own a directory and all that is in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// The user of this process. Nobody else reads it.
    User,
    /// Root. Everybody may read it, and believes it.
    Root,
}

impl Owner {
    fn id(self) -> u32 {
        match self {
            Owner::User => user(),
            Owner::Root => 0,
        }
    }
    /// Rights of directories that are made.
    fn folder_mode(self) -> libc::mode_t {
        match self {
            Owner::User => 0o700,
            Owner::Root => 0o755,
        }
    }
    /// Rights of files that are made.
    fn file_mode(self) -> libc::mode_t {
        match self {
            Owner::User => 0o600,
            Owner::Root => 0o644,
        }
    }
    /// Whether nobody but root and the owner can change what a directory on the way contains.
    pub(crate) fn is_safe_way(self, s: &libc::stat) -> bool {
        let others_write = s.st_mode & 0o022 != 0;
        let sticky_of_root = s.st_uid == 0 && s.st_mode & libc::S_ISVTX != 0;
        self.may_link(s) && (!others_write || sticky_of_root)
    }
    /// Whether it is root's or the owner's.
    pub(crate) fn may_link(self, s: &libc::stat) -> bool {
        s.st_uid == 0 || s.st_uid == self.id()
    }
    /// Whether it belongs to the owner and nobody else can write it.
    fn owns(self, s: &libc::stat) -> bool {
        s.st_uid == self.id() && s.st_mode & 0o022 == 0
    }
}

fn c_string(name: &OsStr) -> Result<CString> {
    CString::new(name.as_bytes()).map_err(|_| refused("a name with a zero byte"))
}

pub(crate) fn open_at(at: i32, name: &CStr, flags: i32, mode: u32) -> Result<OwnedFd> {
    let flags = flags | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: a string that ends with a zero byte.
    let fd = unsafe { libc::openat(at, name.as_ptr(), flags, mode) };
    if fd < 0 {
        return Err(Error::last_os_error());
    }
    // SAFETY: the descriptor was opened above, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Makes a directory that only its owner writes. If it cannot be made or is there already, opening it decides.
pub(crate) fn make_folder(here: &impl AsRawFd, name: &CStr, owner: Owner) {
    let mode = owner.folder_mode();
    // SAFETY: a string that ends with a zero byte. Nobody else can put something else under the name: they cannot write `here`, or it is sticky.
    unsafe {
        if libc::mkdirat(here.as_raw_fd(), name.as_ptr(), mode) == 0 {
            libc::fchmodat(here.as_raw_fd(), name.as_ptr(), mode, 0);
        }
    }
}

/// A directory that passed the checks.
#[derive(Debug)]
pub struct Folder {
    fd: OwnedFd,
    owner: Owner,
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
    /// Opens a directory by an absolute path. Its last `make` components are made if they are not there.
    ///
    /// # Errors
    /// It cannot be opened, or is not trusted.
    pub fn open(path: &Path, make: usize, owner: Owner) -> Result<Folder> {
        Folder::checked(crate::way::open(path, make, owner)?, owner)
    }
    fn checked(fd: OwnedFd, owner: Owner) -> Result<Folder> {
        match owner.owns(&status(&fd)?) && FileSystem::of(&fd)? != FileSystem::Foreign {
            true => Ok(Folder { fd, owner }),
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
        if make {
            make_folder(&self.fd, &name, self.owner);
        }
        let flags = libc::O_PATH | libc::O_DIRECTORY;
        Folder::checked(open_at(self.fd.as_raw_fd(), &name, flags, 0)?, self.owner)
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
        if s.st_mode & libc::S_IFMT != libc::S_IFREG || s.st_nlink != 1 || !self.owner.owns(&s) {
            return Err(refused("not a file of the directory's owner alone"));
        }
        if (now() - s.st_mtime).abs() > DAY {
            // The day of the last use is what decides which files go.
            // SAFETY: an open descriptor; a null pointer means now.
            unsafe { libc::futimens(fd.as_raw_fd(), std::ptr::null()) };
        }
        Ok((File::from(fd), s.st_size as u64))
    }
    /// Puts a file there as a whole, in place of the one of that name. The caller holds the lock of the directory or of the one above: so the file that is
    /// being written has one name, and what a killed process left is written over.
    ///
    /// # Errors
    /// It cannot be written: no room, no right, a limit. Nothing has changed then.
    pub fn replace(&self, name: &OsStr, content: &[u8]) -> Result<()> {
        use std::io::Write;
        within_limit(content.len() as u64)?;
        let name = c_string(name)?;
        let at = self.fd.as_raw_fd();
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_NONBLOCK;
        let mut file = File::from(self.private(NEW, flags, self.owner.file_mode())?);
        let written = file
            .set_len(0)
            .and_then(|()| file.write_all(content))
            .and_then(|()| {
                // SAFETY: strings that end with a zero byte, and an open descriptor.
                match unsafe { libc::renameat(at, NEW.as_ptr(), at, name.as_ptr()) } {
                    0 => Ok(()),
                    _ => Err(Error::last_os_error()),
                }
            });
        if written.is_err() {
            // SAFETY: a string that ends with a zero byte, and an open descriptor.
            unsafe { libc::unlinkat(at, NEW.as_ptr(), 0) };
        }
        written
    }
    /// Opens a file that only this crate uses, with the rights that it is to have. One that is in the way is removed.
    fn private(&self, name: &CStr, flags: i32, mode: libc::mode_t) -> Result<OwnedFd> {
        let at = self.fd.as_raw_fd();
        let open = || -> Result<OwnedFd> {
            let fd = open_at(at, name, flags, 0o600)?;
            let s = status(&fd)?;
            if s.st_mode & libc::S_IFMT != libc::S_IFREG || s.st_nlink != 1 || !self.owner.owns(&s)
            {
                return Err(refused("not a file of the directory's owner alone"));
            }
            // SAFETY: an open descriptor.
            unsafe { libc::fchmod(fd.as_raw_fd(), mode) };
            Ok(fd)
        };
        open().or_else(|_| {
            // SAFETY: a string that ends with a zero byte, and an open descriptor.
            unsafe { libc::unlinkat(at, name.as_ptr(), 0) };
            open()
        })
    }
    /// Holds the lock of this directory, if nobody else does, until it is dropped.
    ///
    /// # Errors
    /// Another process or thread holds it, or there can be no lock here.
    pub fn lock(&self) -> Result<Lock> {
        if BUSY.swap(true, Ordering::Acquire) {
            return Err(Error::from(std::io::ErrorKind::WouldBlock));
        }
        let mut lock = Lock { _file: None };
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_NONBLOCK;
        let file = File::from(self.private(LOCK, flags, 0o600)?);
        // SAFETY: the record is plain numbers; zeros mean the whole file.
        let mut range: libc::flock = unsafe { std::mem::zeroed() };
        range.l_type = libc::F_WRLCK as i16;
        range.l_whence = libc::SEEK_SET as i16;
        // A lock of this kind belongs to the process: a child that a fork made has the descriptor, and not the lock.
        // SAFETY: an open descriptor and a complete record.
        match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLK, &raw const range) } {
            0 => {
                lock._file = Some(file);
                Ok(lock)
            }
            _ => Err(Error::from(std::io::ErrorKind::WouldBlock)),
        }
    }
    /// Removes a file.
    ///
    /// # Errors
    /// It is not there, or cannot be removed.
    pub fn remove(&self, name: &OsStr) -> Result<()> {
        self.unlink(name, 0)
    }
    /// Removes what [`Folder::replace`] has begun and not ended.
    ///
    /// # Errors
    /// It is not there, or cannot be removed.
    pub fn remove_new(&self) -> Result<()> {
        self.unlink(OsStr::from_bytes(NEW.to_bytes()), 0)
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
    /// Whether there is nothing, but for the lock and a file that [`Folder::replace`] has begun.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn is_empty(&self) -> Result<bool> {
        for entry in self.entries()? {
            let name = entry?.file_name();
            if name.as_bytes() != NEW.to_bytes() && name.as_bytes() != LOCK.to_bytes() {
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
                    // A time in the future says nothing: such a file goes first.
                    age: match now - meta.mtime() {
                        age if age < -DAY => u64::MAX,
                        age => age.max(0) as u64,
                    },
                    is_folder: meta.is_dir(),
                });
            }
        }
        Ok(all)
    }
}

/// The file that is being written.
const NEW: &CStr = c".new";
/// The file whose lock is the directory's.
const LOCK: &CStr = c"lock";
/// Seconds.
const DAY: i64 = 24 * 3600;

/// A thread of this process holds a lock, or is about to: locks of files do not keep threads apart.
static BUSY: AtomicBool = AtomicBool::new(false);

/// Whether a thread of this process is writing.
pub fn is_busy() -> bool {
    BUSY.load(Ordering::Acquire)
}

/// The lock of a directory.
#[derive(Debug)]
pub struct Lock {
    /// Closing it gives the lock up. Nobody else in this process opens the file.
    _file: Option<File>,
}

impl Drop for Lock {
    fn drop(&mut self) {
        self._file = None;
        BUSY.store(false, Ordering::Release);
    }
}

/// An open file whose content is read piece by piece.
///
/// The program may close the descriptor, or give its number to another file: so number and file are compared at each use, and the number is one
/// that programs do not count on.
#[derive(Debug)]
pub struct Kept {
    fd: ManuallyDrop<OwnedFd>,
    device: u64,
    inode: u64,
}

/// The least number of a kept descriptor.
const HIGH: i32 = 200;

impl Kept {
    /// Keeps a file.
    ///
    /// # Errors
    /// There is no high number left.
    pub fn new(file: &File) -> Result<Kept> {
        // SAFETY: an open descriptor.
        let fd = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, HIGH) };
        if fd < 0 {
            return Err(Error::last_os_error());
        }
        // SAFETY: the descriptor was made above, and nobody else has it.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        let s = status(&fd)?;
        Ok(Kept {
            fd: ManuallyDrop::new(fd),
            device: s.st_dev,
            inode: s.st_ino,
        })
    }
    /// Fills a buffer with what is at an offset.
    ///
    /// # Errors
    /// The file is another one, is shorter, or cannot be read.
    pub fn read(&self, at: u64, into: &mut [u8]) -> Result<()> {
        use std::os::unix::fs::FileExt;
        let s = status(&*self.fd)?;
        if (s.st_dev, s.st_ino) != (self.device, self.inode) {
            return Err(refused("the program has closed the file"));
        }
        // SAFETY: an open descriptor, which the wrapper does not close.
        let file = ManuallyDrop::new(unsafe { File::from_raw_fd(self.fd.as_raw_fd()) });
        file.read_exact_at(into, at)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // A number that means another file by now is not ours to close.
        if status(&*self.fd).is_ok_and(|s| (s.st_dev, s.st_ino) == (self.device, self.inode)) {
            // SAFETY: dropped once, here; nothing uses it afterwards.
            unsafe { ManuallyDrop::drop(&mut self.fd) };
        }
    }
}

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
pub(crate) mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn temporary() -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = std::fs::canonicalize(dir.path()).unwrap();
        (dir, path)
    }
    /// Does something again while another test has the lock of this process.
    pub(crate) fn patiently<T>(mut work: impl FnMut() -> Result<T>) -> Result<T> {
        loop {
            match work() {
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => std::thread::yield_now(),
                other => return other,
            }
        }
    }
    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_is_put_is_read_and_replaced() {
        let (_dir, path) = temporary();
        let folder = Folder::open(&path.join("a/b"), 2, Owner::User).unwrap();
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
        let folder = Folder::open(&path.join("a"), 1, Owner::User).unwrap();
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
            assert!(Folder::open(&path.join("a"), 0, Owner::User).is_err());
        }
        set_mode(&path.join("a"), 0o700);
        set_mode(&path, 0o777);
        assert!(Folder::open(&path.join("a"), 0, Owner::User).is_err());
    }

    #[test]
    fn links_pipes_and_directories_are_no_files() {
        let (_dir, path) = temporary();
        let folder = Folder::open(&path.join("a"), 1, Owner::User).unwrap();
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
        assert!(Folder::open(&path.join("way"), 0, Owner::User).is_err());
        assert!(Folder::open(&path.join("way"), 1, Owner::User).is_err());
    }

    /// As in /tmp: everybody may put links there.
    #[test]
    fn links_on_the_way_are_followed_if_nobody_else_made_them() {
        let (_dir, path) = temporary();
        std::fs::create_dir_all(path.join("real/deep")).unwrap();
        symlink("real/../real/deep/.", path.join("link")).unwrap();
        symlink(path.join("round"), path.join("round")).unwrap();
        assert!(Folder::open(&path.join("link/b"), 1, Owner::User).is_ok());
        assert!(path.join("real/deep/b").is_dir());
        assert!(Folder::open(&path.join("round/b"), 1, Owner::User).is_err());
        if user() == 0 {
            set_mode(&path, 0o1777);
            assert!(Folder::open(&path.join("link/b"), 1, Owner::User).is_ok());
            std::os::unix::fs::lchown(path.join("link"), Some(12345), None).unwrap();
            assert!(Folder::open(&path.join("link/b"), 1, Owner::User).is_err());
        }
    }

    #[test]
    fn a_descriptor_that_became_another_file_is_not_read_and_not_closed() {
        let (_dir, path) = temporary();
        std::fs::write(path.join("one"), "one").unwrap();
        std::fs::write(path.join("two"), "two").unwrap();
        let kept = Kept::new(&File::open(path.join("one")).unwrap()).unwrap();
        let mut bytes = [0; 3];
        kept.read(0, &mut bytes).unwrap();
        assert_eq!(&bytes, b"one");
        assert!(kept.read(1, &mut bytes).is_err(), "behind the end");
        let two = File::open(path.join("two")).unwrap();
        let number = kept.fd.as_raw_fd();
        // SAFETY: open descriptors; the second number then means the file of the first.
        let moved = unsafe { libc::dup3(two.as_raw_fd(), number, libc::O_CLOEXEC) };
        assert_eq!(moved, number);
        assert!(kept.read(0, &mut bytes).is_err());
        drop(kept);
        // SAFETY: asks about a number.
        assert!(unsafe { libc::fcntl(number, libc::F_GETFD) } >= 0);
        // SAFETY: the number is this test's.
        unsafe { libc::close(number) };
    }

    #[test]
    fn what_cannot_be_opened_is_made_anew() {
        let (_dir, path) = temporary();
        let folder = Folder::open(&path.join("a"), 1, Owner::User).unwrap();
        // Left by a process that was killed, and by one with an odd umask; links of ours are links, too.
        std::fs::write(path.join("a/.new"), "something longer").unwrap();
        symlink("nowhere", path.join("a/lock")).unwrap();
        drop(patiently(|| folder.lock()).unwrap());
        folder.replace(OsStr::new("x"), b"1").unwrap();
        assert_eq!(std::fs::read(path.join("a/x")).unwrap(), b"1");
    }

    #[test]
    fn a_lock_is_held_once() {
        let (_dir, path) = temporary();
        let folder = Folder::open(&path.join("a"), 1, Owner::User).unwrap();
        let held = patiently(|| folder.lock()).unwrap();
        assert!(folder.lock().is_err() && is_busy());
        drop(held);
        assert!(patiently(|| folder.lock()).is_ok());
    }

    #[test]
    fn paths_that_are_not_canonical_are_refused() {
        let (_dir, path) = temporary();
        assert!(Folder::open(Path::new("a"), 1, Owner::User).is_err());
        assert!(Folder::open(Path::new("/"), 1, Owner::User).is_err());
        assert!(Folder::open(&path.join("../x"), 1, Owner::User).is_err());
    }
}
