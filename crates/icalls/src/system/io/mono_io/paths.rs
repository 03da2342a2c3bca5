//! Files and directories by name: attributes, copies, moves, the current directory.
//!
//! # Invariants
//! Paths are NUL-terminated copies, so that no object is looked at while a call runs in Native state.
use super::report;
use crate::support::args::{Chars, Out};
use crate::support::errno::errno;
use crate::support::error_numbers;
use std::ffi::{CStr, CString};
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::threads::wait_handles::filetime;
use vervet_runtime::{ObjRef, icalls};

const READ_ONLY: i32 = 1;
const HIDDEN: i32 = 2;
const DIRECTORY: i32 = 0x10;
const NORMAL: i32 = 0x80;
const REPARSE_POINT: i32 = 0x400;
const EXECUTABLE: i32 = 0x8000_0000u32 as i32;

/// Runs a call about a path in Native state.
fn on_path<'cx>(
    cx: &'cx Cx<'cx>,
    path: Chars<'cx>,
    error: Out<'cx, i32>,
    call: impl FnOnce(*const libc::c_char) -> i32,
) -> Result<bool> {
    let r = path.path().and_then(|path| {
        cx.native(|| match call(path.as_ptr()) {
            -1 => Err(error_numbers::for_path(errno(), &path)),
            _ => Ok(()),
        })
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
/// [`attributes`] of a path that managed code passed, or the Win32 error.
fn attributes_of<'cx>(
    cx: &'cx Cx<'cx>,
    path: Chars<'cx>,
) -> std::result::Result<(libc::stat, i32), i32> {
    let path = path.path()?;
    cx.native(|| attributes(&path))
        .map_err(|e| error_numbers::for_path(e, &path))
}
/// Two paths that managed code passed, or the Win32 error.
fn both(from: Chars<'_>, to: Chars<'_>) -> std::result::Result<(CString, CString), i32> {
    Ok((from.path()?, to.path()?))
}
/// A time of stat(2) as a FILETIME.
fn filetime(seconds: i64, nanos: i64) -> i64 {
    seconds * 10_000_000 + nanos / 100 + filetime::UNIX_EPOCH
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

/// Copies contents and permissions.
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
/// rename(2), or copying and removing between file systems.
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
        on_path(cx, path, error, |p| unsafe { libc::chdir(p) })
    }
    /// Makes a file read-only or writable, and with the attribute for it executable where it is readable; Linux has none
    /// of the other attributes.
    "System.IO.MonoIO::SetFileAttributes" fn set_file_attributes(cx, path: Chars<'cx>, attributes: i32, error: Out<'cx, i32>) -> bool {
        let r = path.path().and_then(|path| cx.native(|| {
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
        }));
        Ok(report(r, error))
    }
    /// Makes a directory.
    "System.IO.MonoIO::CreateDirectory" fn create_directory(cx, path: Chars<'cx>, error: Out<'cx, i32>) -> bool {
        // SAFETY: the path is NUL-terminated.
        let r = path.path().and_then(|path| cx.native(|| match unsafe { libc::mkdir(path.as_ptr(), 0o777) } {
            0 => Ok(()),
            _ if errno() == libc::EEXIST => Err(error_numbers::ALREADY_EXISTS),
            _ => Err(error_numbers::for_path(errno(), &path)),
        }));
        Ok(report(r, error))
    }
    /// Removes an empty directory.
    "System.IO.MonoIO::RemoveDirectory" fn remove_directory(cx, path: Chars<'cx>, error: Out<'cx, i32>) -> bool {
        // SAFETY: the path is NUL-terminated.
        on_path(cx, path, error, |p| unsafe { libc::rmdir(p) })
    }
    /// Removes a file.
    "System.IO.MonoIO::DeleteFile" fn delete_file(cx, path: Chars<'cx>, error: Out<'cx, i32>) -> bool {
        // SAFETY: the path is NUL-terminated.
        on_path(cx, path, error, |p| unsafe { libc::unlink(p) })
    }
    /// Moves a file, to another file system by copying. An existing target is an error.
    "System.IO.MonoIO::MoveFile" fn move_file(cx, path: Chars<'cx>, dest: Chars<'cx>, error: Out<'cx, i32>) -> bool {
        let r = both(path, dest).and_then(|(from, to)| cx.native(|| {
            if stat(&to, false).is_ok() && stat(&from, false).is_ok() { Err(error_numbers::ALREADY_EXISTS) } else { rename(&from, &to) }
        }));
        Ok(report(r, error))
    }
    /// Copies a file with its permissions.
    "System.IO.MonoIO::CopyFile" fn copy_file_icall(cx, path: Chars<'cx>, dest: Chars<'cx>, overwrite: bool, error: Out<'cx, i32>) -> bool {
        let r = both(path, dest).and_then(|(from, to)| cx.native(|| copy_file(&from, &to, overwrite)));
        Ok(report(r, error))
    }
    /// Replaces `dest` by `source`, and keeps the old contents as `backup` unless that is null.
    "System.IO.MonoIO::ReplaceFile" fn replace_file(cx, source: Chars<'cx>, dest: Chars<'cx>, backup: Chars<'cx>, ignore: bool, error: Out<'cx, i32>) -> bool {
        let backup = (!backup.is_null()).then(|| backup.path()).transpose();
        let names = both(source, dest).and_then(|(source, dest)| Ok((source, dest, backup?)));
        let r = names.and_then(|(source, dest, backup)| cx.native(|| {
            if let Some(b) = &backup {
                rename(&dest, b)?;
            }
            rename(&source, &dest).inspect_err(|_| {
                if let Some(b) = &backup {
                    let _ = rename(b, &dest);
                }
            })
        }));
        Ok(report(r, error))
    }
    /// -1 and an error if there is no such path.
    "System.IO.MonoIO::GetFileAttributes" fn get_file_attributes(cx, path: Chars<'cx>, error: Out<'cx, i32>) -> i32 {
        match attributes_of(cx, path) {
            Ok((_, a)) => {
                error.set(error_numbers::SUCCESS);
                Ok(a)
            }
            Err(e) => {
                error.set(e);
                Ok(-1)
            }
        }
    }
    /// Attributes, length in bytes and times as FILETIMEs of a file. A link that leads nowhere has its own.
    "System.IO.MonoIO::GetFileStat" fn get_file_stat(cx, path: Chars<'cx>, out: Out<'cx, MonoIoStat>, error: Out<'cx, i32>) -> bool {
        match attributes_of(cx, path) {
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
            Err(e) => Ok(report(Err(e), error)),
        }
    }
}
