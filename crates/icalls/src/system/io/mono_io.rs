//! Native half of System.IO.MonoIO.
//!
//! Keeps the table of share modes ([`crate::system::io::share`]); a handle is a file descriptor. Calls that may block run in
//! Native state; the byte array they work on has no references and is kept in place by the argument that holds it.
use crate::support::args::{Chars, Out};
use crate::support::errno::{errno, retry};
use crate::support::error_numbers;
use crate::system::io::share;
use std::ffi::CStr;
use std::task::Poll;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::threads::park::blocking_io::{Interest, block_on};
use vervet_runtime::threads::wait_handles;
use vervet_runtime::threads::wait_handles::filetime;
use vervet_runtime::{ObjRef, icalls};
use vervet_types::Known;

const READ_ONLY: i32 = 1;
const HIDDEN: i32 = 2;
const DIRECTORY: i32 = 0x10;
const NORMAL: i32 = 0x80;
const REPARSE_POINT: i32 = 0x400;
const EXECUTABLE: i32 = 0x8000_0000u32 as i32;
const DELETE_ON_CLOSE: i32 = 0x0400_0000;
const WRITE_THROUGH: i32 = 0x8000_0000u32 as i32;

/// Result of a call that gives -1 and errno on failure, in the way of MonoIO: success or the error number.
fn check(result: impl Into<i64>, error: Out<'_, i32>) -> bool {
    report(
        if result.into() == -1 {
            Err(error_numbers::last())
        } else {
            Ok(())
        },
        error,
    )
}
fn report(result: std::result::Result<(), i32>, error: Out<'_, i32>) -> bool {
    error.set(result.err().unwrap_or(error_numbers::SUCCESS));
    result.is_ok()
}
/// Runs a call about a path in Native state.
fn on_path<'cx>(
    cx: &'cx Cx<'cx>,
    path: &CStr,
    error: Out<'cx, i32>,
    call: impl FnOnce(*const libc::c_char) -> i32,
) -> Result<bool> {
    let r = cx.native(|| {
        if call(path.as_ptr()) == -1 {
            Err(error_numbers::for_path(errno(), path))
        } else {
            Ok(())
        }
    });
    Ok(report(r, error))
}
/// stat or lstat.
pub fn stat(path: &CStr, follow: bool) -> std::result::Result<libc::stat, i32> {
    // SAFETY: the path is NUL-terminated, the record is filled.
    unsafe {
        let mut s = std::mem::zeroed();
        let r = if follow {
            libc::stat(path.as_ptr(), &mut s)
        } else {
            libc::lstat(path.as_ptr(), &mut s)
        };
        if r == 0 { Ok(s) } else { Err(errno()) }
    }
}
/// stat, or lstat for a link that leads nowhere; with the FileAttributes.
pub fn attributes(path: &CStr) -> std::result::Result<(libc::stat, i32), i32> {
    let own = stat(path, false)?;
    let s = stat(path, true).unwrap_or(own);
    let name = path
        .to_bytes()
        .rsplit(|b| *b == b'/')
        .find(|p| !p.is_empty())
        .unwrap_or(b"");
    let mut a = 0;
    if s.st_mode & libc::S_IFMT == libc::S_IFDIR {
        a |= DIRECTORY;
    }
    if s.st_mode & libc::S_IWUSR == 0 {
        a |= READ_ONLY;
    }
    if name.first() == Some(&b'.') {
        a |= HIDDEN;
    }
    if a == 0 {
        a = NORMAL;
    }
    if own.st_mode & libc::S_IFMT == libc::S_IFLNK {
        a |= REPARSE_POINT;
    }
    Ok((s, a))
}
fn filetime(seconds: i64, nanos: i64) -> i64 {
    seconds * 10_000_000 + nanos / 100 + filetime::UNIX_EPOCH
}

fn open(
    path: &CStr,
    mode: i32,
    access: i32,
    sharing: i32,
    options: i32,
) -> std::result::Result<i32, i32> {
    let mut flags = libc::O_CLOEXEC
        | match access {
            share::READ => libc::O_RDONLY,
            share::WRITE => libc::O_WRONLY,
            _ => libc::O_RDWR,
        };
    // Truncating waits until the share modes allow the open.
    let mut truncate = false;
    match mode {
        1 => flags |= libc::O_CREAT | libc::O_EXCL,
        2 => {
            flags |= libc::O_CREAT;
            truncate = true;
        }
        3 => {}
        4 | 6 => flags |= libc::O_CREAT,
        5 => truncate = true,
        _ => return Err(error_numbers::INVALID_PARAMETER),
    }
    if options & WRITE_THROUGH != 0 {
        flags |= libc::O_SYNC;
    }
    let call = |flags: i32| {
        // SAFETY: the path is NUL-terminated.
        retry(|| unsafe { libc::open(path.as_ptr(), flags, 0o666) } as isize) as i32
    };
    let mut fd = call(flags);
    if fd == -1 && errno() == libc::EISDIR {
        // What is done to a directory needs no writing to it.
        fd = call(flags & !(libc::O_ACCMODE | libc::O_CREAT));
    }
    if fd == -1 {
        return Err(error_numbers::for_path(errno(), path));
    }
    // SAFETY: all zeros is a valid `stat`, which the kernel fills; this function owns the descriptors.
    unsafe {
        let mut s: libc::stat = std::mem::zeroed();
        if libc::fstat(fd, &mut s) == -1 {
            let e = error_numbers::last();
            libc::close(fd);
            return Err(e);
        }
        let delete = (options & DELETE_ON_CLOSE != 0).then(|| path.to_owned());
        if !share::enter(fd, (s.st_dev, s.st_ino), access, sharing, delete) {
            libc::close(fd);
            return Err(error_numbers::SHARING_VIOLATION);
        }
        if truncate
            && s.st_mode & libc::S_IFMT == libc::S_IFREG
            && s.st_size > 0
            && libc::ftruncate(fd, 0) == -1
        {
            let e = error_numbers::last();
            share::leave(fd);
            libc::close(fd);
            return Err(e);
        }
    }
    Ok(fd)
}

/// A range of a byte array that managed code has checked.
fn buffer<'cx>(cx: &'cx Cx<'cx>, array: ObjRef<'cx>, offset: i32, count: i32) -> Result<*mut u8> {
    let array = cx.non_null(array)?;
    let fits = offset >= 0 && count >= 0 && offset as usize + count as usize <= array.array_len();
    if !fits {
        let text = "array too small. numBytes/offset wrong.";
        return Err(cx.throw2(Known::ArgumentException, text, "array"));
    }
    // SAFETY: the offset lies in the array.
    Ok(unsafe { array.array_data().add(offset as usize) })
}
fn lock(fd: i32, kind: i32, position: i64, length: i64) -> std::result::Result<(), i32> {
    // SAFETY: the record is complete; fcntl only reads it.
    let r = unsafe {
        let mut l: libc::flock = std::mem::zeroed();
        l.l_type = kind as i16;
        l.l_whence = libc::SEEK_SET as i16;
        l.l_start = position;
        l.l_len = length;
        retry(|| libc::fcntl(fd, libc::F_SETLK, &l) as isize)
    };
    match (r, errno()) {
        (-1, libc::EACCES | libc::EAGAIN) => Err(error_numbers::LOCK_VIOLATION),
        (-1, e) => Err(error_numbers::from_errno(e)),
        _ => Ok(()),
    }
}

/// read(2) or write(2) of `count` bytes of a managed array; an abort ends it.
fn transfer(
    cx: &Cx<'_>,
    call: i64,
    handle: isize,
    at: *mut u8,
    count: i32,
) -> Result<std::result::Result<i32, i32>> {
    let interest = if call == libc::SYS_read {
        Interest::Read
    } else {
        Interest::Write
    };
    block_on(cx, handle as i32, interest, None, |calls| {
        // SAFETY: the range was checked; its address on this stack keeps the array where it is.
        let result = unsafe {
            calls.call(
                call,
                [handle as usize, at as usize, count as usize, 0, 0, 0],
            )
        };
        Poll::Ready(result.map(|n| n as i32))
    })
}

icalls! {
    /// Opens a file: the descriptor, or -1 and the error.
    "System.IO.MonoIO::Open" fn open_icall(cx, name: Chars<'cx>, mode: i32, access: i32, sharing: i32, options: i32, error: Out<'cx, i32>) -> isize {
        let path = name.path();
        match cx.native(|| open(&path, mode, access, sharing, options)) {
            Ok(fd) => {
                error.set(error_numbers::SUCCESS);
                Ok(fd as isize)
            }
            Err(e) => {
                error.set(e);
                Ok(-1)
            }
        }
    }
    /// Closes a descriptor, gives its share mode up, and deletes the file if it was opened with DeleteOnClose.
    "System.IO.MonoIO::Close" fn close(cx, handle: isize, error: Out<'cx, i32>) -> bool {
        let fd = handle as i32;
        let delete = share::leave(fd);
        let r = cx.native(|| {
            // SAFETY: managed code gives the descriptor up; EINTR leaves it closed on Linux.
            let r = unsafe { libc::close(fd) };
            let r = if r == -1 && errno() != libc::EINTR { Err(error_numbers::last()) } else { Ok(()) };
            if let Some(path) = delete {
                // SAFETY: the path is NUL-terminated.
                unsafe { libc::unlink(path.as_ptr()) };
            }
            r
        });
        Ok(report(r, error))
    }
    /// 0 at the end, -1 and an error otherwise.
    "System.IO.MonoIO::Read" fn read(cx, handle: isize, dest: ObjRef<'cx>, offset: i32, count: i32, error: Out<'cx, i32>) -> i32 {
        let to = buffer(cx, dest, offset, count)?;
        Ok(match transfer(cx, libc::SYS_read, handle, to, count)? {
            Ok(n) => {
                error.set(error_numbers::SUCCESS);
                n
            }
            Err(libc::EPIPE) => {
                error.set(error_numbers::SUCCESS);
                0
            }
            Err(e) => {
                error.set(error_numbers::from_errno(e));
                -1
            }
        })
    }
    /// Writes a range of a byte array: the number of bytes written, or -1 and the error.
    "System.IO.MonoIO::Write" fn write(cx, handle: isize, src: ObjRef<'cx>, offset: i32, count: i32, error: Out<'cx, i32>) -> i32 {
        let from = buffer(cx, src, offset, count)?;
        let result = transfer(cx, libc::SYS_write, handle, from, count)?;
        error.set(result.err().map_or(error_numbers::SUCCESS, error_numbers::from_errno));
        Ok(result.unwrap_or(-1))
    }
    /// Moves the file position: the new position in bytes, or -1 and the error.
    "System.IO.MonoIO::Seek" fn seek(cx, handle: isize, offset: i64, origin: i32, error: Out<'cx, i32>) -> i64 {
        let whence = match origin {
            1 => libc::SEEK_CUR,
            2 => libc::SEEK_END,
            _ => libc::SEEK_SET,
        };
        // SAFETY: `lseek` takes numbers; one that is no descriptor is an error.
        let at = unsafe { libc::lseek(handle as i32, offset, whence) };
        check(at, error);
        Ok(at)
    }
    /// Has the kernel write the file to the device.
    "System.IO.MonoIO::Flush" fn flush(cx, handle: isize, error: Out<'cx, i32>) -> bool {
        // SAFETY: `fsync` takes a number; one that is no descriptor is an error.
        let r = cx.native(|| if retry(|| unsafe { libc::fsync(handle as i32) } as isize) == -1 { Err(error_numbers::last()) } else { Ok(()) });
        Ok(report(r, error))
    }
    /// The length of the file in bytes.
    "System.IO.MonoIO::GetLength" fn get_length(cx, handle: isize, error: Out<'cx, i32>) -> i64 {
        // SAFETY: the record is filled.
        let (r, size) = unsafe {
            let mut s: libc::stat = std::mem::zeroed();
            (libc::fstat(handle as i32, &mut s), s.st_size)
        };
        Ok(if check(r, error) { size } else { -1 })
    }
    /// Cuts the file off or extends it with zeros.
    "System.IO.MonoIO::SetLength" fn set_length(cx, handle: isize, length: i64, error: Out<'cx, i32>) -> bool {
        // SAFETY: `ftruncate` takes numbers; one that is no descriptor is an error.
        let r = cx.native(|| if retry(|| unsafe { libc::ftruncate(handle as i32, length) } as isize) == -1 { Err(error_numbers::last()) } else { Ok(()) });
        Ok(report(r, error))
    }
    /// Negative times stay as they are; the time of creation cannot be set.
    "System.IO.MonoIO::SetFileTime" fn set_file_time(cx, handle: isize, creation: i64, access: i64, write: i64, error: Out<'cx, i32>) -> bool {
        let time = |t: i64| {
            let unix = t.saturating_sub(filetime::UNIX_EPOCH);
            match t < 0 {
                true => libc::timespec { tv_sec: 0, tv_nsec: libc::UTIME_OMIT },
                false => libc::timespec { tv_sec: unix.div_euclid(10_000_000), tv_nsec: unix.rem_euclid(10_000_000) * 100 },
            }
        };
        let times = [time(access), time(write)];
        // SAFETY: two complete records.
        Ok(check(unsafe { libc::futimens(handle as i32, times.as_ptr()) }, error))
    }
    /// Locks a range of bytes for writing against other processes. It does not wait.
    "System.IO.MonoIO::Lock" fn lock_icall(cx, handle: isize, position: i64, length: i64, error: Out<'cx, i32>) {
        report(lock(handle as i32, libc::F_WRLCK, position, length), error);
        Ok(())
    }
    /// Unlocks a range of bytes.
    "System.IO.MonoIO::Unlock" fn unlock(cx, handle: isize, position: i64, length: i64, error: Out<'cx, i32>) {
        report(lock(handle as i32, libc::F_UNLCK, position, length), error);
        Ok(())
    }
    /// MonoFileType: disk 1, char 2, pipe 3, unknown 0.
    "System.IO.MonoIO::GetFileType" fn get_file_type(cx, handle: isize, error: Out<'cx, i32>) -> i32 {
        // SAFETY: the record is filled.
        let (r, mode) = unsafe {
            let mut s: libc::stat = std::mem::zeroed();
            (libc::fstat(handle as i32, &mut s), s.st_mode)
        };
        if !check(r, error) {
            return Ok(0);
        }
        Ok(match mode & libc::S_IFMT {
            libc::S_IFREG | libc::S_IFDIR | libc::S_IFBLK => 1,
            libc::S_IFCHR => 2,
            libc::S_IFIFO | libc::S_IFSOCK => 3,
            _ => 0,
        })
    }
    /// The process's current directory.
    "System.IO.MonoIO::GetCurrentDirectory" fn get_current_directory(cx, error: Out<'cx, i32>) -> ObjRef<'cx> {
        match std::env::current_dir() {
            Ok(dir) => {
                error.set(error_numbers::SUCCESS);
                cx.alloc_str(&dir.to_string_lossy())
            }
            Err(e) => {
                error.set(error_numbers::from_errno(e.raw_os_error().unwrap_or(0)));
                Ok(ObjRef::NULL)
            }
        }
    }
    /// Changes the process's current directory.
    "System.IO.MonoIO::SetCurrentDirectory" fn set_current_directory(cx, path: Chars<'cx>, error: Out<'cx, i32>) -> bool {
        // SAFETY: the path is NUL-terminated.
        on_path(cx, &path.path(), error, |p| unsafe { libc::chdir(p) })
    }
    /// Makes a file read-only or writable, and with the attribute for it executable where it is readable; Linux has none
    /// of the other attributes.
    "System.IO.MonoIO::SetFileAttributes" fn set_file_attributes(cx, path: Chars<'cx>, attributes: i32, error: Out<'cx, i32>) -> bool {
        let path = path.path();
        let r = cx.native(|| {
            let s = stat(&path, true).map_err(|e| error_numbers::for_path(e, &path))?;
            let mut mode = s.st_mode & 0o7777;
            if attributes & READ_ONLY != 0 {
                mode &= !0o222;
            } else {
                mode |= libc::S_IWUSR;
            }
            if attributes & EXECUTABLE != 0 {
                mode |= (mode & 0o444) >> 2;
            }
            // SAFETY: the path is NUL-terminated.
            if unsafe { libc::chmod(path.as_ptr(), mode) } == -1 { Err(error_numbers::last()) } else { Ok(()) }
        });
        Ok(report(r, error))
    }
    /// Makes a pipe, both ends of which are closed in programs that this process starts.
    "System.IO.MonoIO::CreatePipe" fn create_pipe(cx, read_end: Out<'cx, isize>, write_end: Out<'cx, isize>, error: Out<'cx, i32>) -> bool {
        let mut fds = [-1i32; 2];
        // SAFETY: two descriptors are stored.
        let ok = check(unsafe { libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) }, error);
        if ok {
            read_end.set(fds[0] as isize);
            write_end.set(fds[1] as isize);
        }
        Ok(ok)
    }
    /// Of a file descriptor or a wait handle of this process.
    "System.IO.MonoIO::DuplicateHandle" fn duplicate_handle(
        cx, source_process: isize, source: isize, target_process: isize, target: Out<'cx, isize>, access: i32, inherit: i32,
        options: i32, error: Out<'cx, i32>,
    ) -> bool {
        if source == -1 {
            // The pseudo handle of this process.
            target.set(wait_handles::process::create(std::process::id() as i32, false) as isize);
            return Ok(report(Ok(()), error));
        }
        if wait_handles::duplicate(source as usize) {
            target.set(source);
            return Ok(report(Ok(()), error));
        }
        let command = if inherit != 0 { libc::F_DUPFD } else { libc::F_DUPFD_CLOEXEC };
        // SAFETY: these commands of `fcntl` take numbers only; a number that is no descriptor is an error.
        let fd = unsafe { libc::fcntl(source as i32, command, 0) };
        let ok = check(fd, error);
        if ok {
            target.set(fd as isize);
        }
        Ok(ok)
    }
    /// Cancelling is not supported on descriptors; the library accepts that.
    "System.IO.MonoIO::Cancel_internal" fn cancel_internal(cx, handle: isize, error: Out<'cx, i32>) -> bool { Ok(report(Err(error_numbers::NOT_SUPPORTED), error)) }
    /// A debugging aid that prints nothing.
    "System.IO.MonoIO::DumpHandles" fn dump_handles(cx) { Ok(()) }
    /// The descriptor of standard input.
    "System.IO.MonoIO::get_ConsoleInput" fn get_console_input(cx) -> isize { Ok(0) }
    /// The descriptor of standard output.
    "System.IO.MonoIO::get_ConsoleOutput" fn get_console_output(cx) -> isize { Ok(1) }
    /// The descriptor of standard error.
    "System.IO.MonoIO::get_ConsoleError" fn get_console_error(cx) -> isize { Ok(2) }
    /// The slash: there are no volumes.
    "System.IO.MonoIO::get_VolumeSeparatorChar" fn get_volume_separator_char(cx) -> u16 { Ok(u16::from(b'/')) }
    /// The slash.
    "System.IO.MonoIO::get_DirectorySeparatorChar" fn get_directory_separator_char(cx) -> u16 { Ok(u16::from(b'/')) }
    /// The slash: there is no second separator.
    "System.IO.MonoIO::get_AltDirectorySeparatorChar" fn get_alt_directory_separator_char(cx) -> u16 { Ok(u16::from(b'/')) }
    /// The colon that separates the entries of a search path.
    "System.IO.MonoIO::get_PathSeparator" fn get_path_separator(cx) -> u16 { Ok(u16::from(b':')) }
}

/// System.IO.MonoIOStat.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MonoIoStat {
    attributes: i32,
    length: i64,
    creation: i64,
    access: i64,
    write: i64,
}

fn copy_file(from: &CStr, to: &CStr, overwrite: bool) -> std::result::Result<(), i32> {
    use std::io::ErrorKind;
    use std::os::unix::ffi::OsStrExt;
    let number = |e: std::io::Error| match e.kind() {
        ErrorKind::AlreadyExists => error_numbers::FILE_EXISTS,
        _ => error_numbers::from_errno(e.raw_os_error().unwrap_or(0)),
    };
    let as_path = |p: &CStr| std::path::PathBuf::from(std::ffi::OsStr::from_bytes(p.to_bytes()));
    if !overwrite && stat(to, false).is_ok() {
        return Err(error_numbers::FILE_EXISTS);
    }
    if stat(from, true).is_err() {
        return Err(error_numbers::for_path(errno(), from));
    }
    std::fs::copy(as_path(from), as_path(to))
        .map(drop)
        .map_err(number)
}
fn rename(from: &CStr, to: &CStr) -> std::result::Result<(), i32> {
    // SAFETY: both paths are NUL-terminated.
    unsafe {
        if libc::rename(from.as_ptr(), to.as_ptr()) == 0 {
            return Ok(());
        }
        match errno() {
            libc::EXDEV => {
                copy_file(from, to, true)?;
                if libc::unlink(from.as_ptr()) == -1 {
                    Err(error_numbers::last())
                } else {
                    Ok(())
                }
            }
            e => Err(error_numbers::for_path(e, from)),
        }
    }
}

icalls! {
    /// Makes a directory.
    "System.IO.MonoIO::CreateDirectory" fn create_directory(cx, path: Chars<'cx>, error: Out<'cx, i32>) -> bool {
        let path = path.path();
        // SAFETY: the path is NUL-terminated.
        let r = cx.native(|| match unsafe { libc::mkdir(path.as_ptr(), 0o777) } {
            0 => Ok(()),
            _ if errno() == libc::EEXIST => Err(error_numbers::ALREADY_EXISTS),
            _ => Err(error_numbers::for_path(errno(), &path)),
        });
        Ok(report(r, error))
    }
    /// Removes an empty directory.
    "System.IO.MonoIO::RemoveDirectory" fn remove_directory(cx, path: Chars<'cx>, error: Out<'cx, i32>) -> bool {
        // SAFETY: the path is NUL-terminated.
        on_path(cx, &path.path(), error, |p| unsafe { libc::rmdir(p) })
    }
    /// Removes a file.
    "System.IO.MonoIO::DeleteFile" fn delete_file(cx, path: Chars<'cx>, error: Out<'cx, i32>) -> bool {
        // SAFETY: the path is NUL-terminated.
        on_path(cx, &path.path(), error, |p| unsafe { libc::unlink(p) })
    }
    /// Moves a file, to another file system by copying. An existing target is an error.
    "System.IO.MonoIO::MoveFile" fn move_file(cx, path: Chars<'cx>, dest: Chars<'cx>, error: Out<'cx, i32>) -> bool {
        let (from, to) = (path.path(), dest.path());
        let r = cx.native(|| {
            if stat(&to, false).is_ok() && stat(&from, false).is_ok() { Err(error_numbers::ALREADY_EXISTS) } else { rename(&from, &to) }
        });
        Ok(report(r, error))
    }
    /// Copies a file with its permissions.
    "System.IO.MonoIO::CopyFile" fn copy_file_icall(cx, path: Chars<'cx>, dest: Chars<'cx>, overwrite: bool, error: Out<'cx, i32>) -> bool {
        let (from, to) = (path.path(), dest.path());
        let r = cx.native(|| copy_file(&from, &to, overwrite));
        Ok(report(r, error))
    }
    /// Replaces `dest` by `source`, and keeps the old contents as `backup` unless that is null.
    "System.IO.MonoIO::ReplaceFile" fn replace_file(cx, source: Chars<'cx>, dest: Chars<'cx>, backup: Chars<'cx>, ignore: bool, error: Out<'cx, i32>) -> bool {
        let (source, dest) = (source.path(), dest.path());
        let backup = (!backup.is_null()).then(|| backup.path());
        let r = cx.native(|| {
            if let Some(b) = &backup {
                rename(&dest, b)?;
            }
            rename(&source, &dest).inspect_err(|_| {
                if let Some(b) = &backup {
                    let _ = rename(b, &dest);
                }
            })
        });
        Ok(report(r, error))
    }
    /// -1 and an error if there is no such path.
    "System.IO.MonoIO::GetFileAttributes" fn get_file_attributes(cx, path: Chars<'cx>, error: Out<'cx, i32>) -> i32 {
        let path = path.path();
        match cx.native(|| attributes(&path)) {
            Ok((_, a)) => {
                error.set(error_numbers::SUCCESS);
                Ok(a)
            }
            Err(e) => {
                error.set(error_numbers::for_path(e, &path));
                Ok(-1)
            }
        }
    }
    /// Attributes, length in bytes and times as FILETIMEs of a file. A link that leads nowhere has its own.
    "System.IO.MonoIO::GetFileStat" fn get_file_stat(cx, path: Chars<'cx>, out: Out<'cx, MonoIoStat>, error: Out<'cx, i32>) -> bool {
        let path = path.path();
        match cx.native(|| attributes(&path)) {
            Ok((s, attributes)) => {
                let write = filetime(s.st_mtime, s.st_mtime_nsec);
                out.set(MonoIoStat {
                    attributes,
                    length: if attributes & DIRECTORY != 0 { 0 } else { s.st_size },
                    creation: write.min(filetime(s.st_ctime, s.st_ctime_nsec)),
                    access: filetime(s.st_atime, s.st_atime_nsec),
                    write,
                });
                Ok(report(Ok(()), error))
            }
            Err(e) => Ok(report(Err(error_numbers::for_path(e, &path)), error)),
        }
    }
}
