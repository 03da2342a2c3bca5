//! Open files: reading, writing, positions, lengths, locks, pipes.
//!
//! # Invariants
//! * A descriptor that [`open`] returns has its share mode in the table until `Close` takes it out.
//! * The range of an array is checked before its address is taken, and the address is used only while the array is an argument of the icall.
use super::{check, report};
use crate::support::args::{Chars, Out};
use crate::support::errno::{errno, retry};
use crate::support::error_numbers;
use crate::system::io::share;
use std::cell::Cell;
use std::ffi::CStr;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::Poll;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::threads::abort;
use vervet_runtime::threads::park::blocking_io::{
    self, Interest, Target, block_on, block_on_noting, is_non_blocking, is_ready,
};
use vervet_runtime::threads::wait_handles::filetime;
use vervet_runtime::threads::{self, wait_handles};
use vervet_runtime::{ObjRef, icalls};
use vervet_types::Known;

const DELETE_ON_CLOSE: i32 = 0x0400_0000;
/// The option of temporary files: only their owner may read them.
const TEMPORARY: i32 = 1;
/// No error that managed code gets: the call is to be made again.
const BROKEN_OFF: i32 = -1;
/// FileOptions.Encrypted: nothing here encrypts.
const ENCRYPTED: i32 = 0x4000;
/// FileOptions.WriteThrough.
const WRITE_THROUGH: i32 = 0x8000_0000u32 as i32;

/// Opens a file as FileMode, FileAccess, FileShare and FileOptions say; the descriptor, which has its share mode in the
/// table. A signal breaks it off while it waits, as for the other end of a pipe: then the error is [`BROKEN_OFF`].
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
    if options & ENCRYPTED != 0 {
        return Err(error_numbers::ENCRYPTION_FAILED);
    }
    if options & WRITE_THROUGH != 0 {
        flags |= libc::O_SYNC;
    }
    let rights = if options & TEMPORARY == 0 {
        0o666
    } else {
        0o600
    };
    let call = |flags: i32| {
        // SAFETY: the path is NUL-terminated.
        unsafe { libc::open(path.as_ptr(), flags, rights) }
    };
    let mut fd = call(flags);
    if fd == -1 && errno() == libc::EISDIR {
        // What is done to a directory needs no writing to it.
        fd = call(flags & !(libc::O_ACCMODE | libc::O_CREAT));
    }
    if fd == -1 {
        return Err(match errno() {
            libc::EINTR => BROKEN_OFF,
            e => error_numbers::for_path(e, path),
        });
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
/// Sets or clears a record lock of fcntl(2) on a range of bytes, without waiting.
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
    let target = Target::new(handle as i32, interest);
    if threads::is_green(cx) && is_pipe(handle as i32) {
        return transfer_in_parts(cx, target, call, at, count as usize);
    }
    block_on(cx, target, |calls| {
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

/// Is the descriptor a pipe?
fn is_pipe(fd: i32) -> bool {
    // SAFETY: the record is filled; a number that is no descriptor is an error.
    unsafe {
        let mut s: libc::stat = std::mem::zeroed();
        libc::fstat(fd, &mut s) == 0 && s.st_mode & libc::S_IFMT == libc::S_IFIFO
    }
}

/// As [`transfer`], on a pipe, by a green thread, which does not wait in the kernel where another thread has taken what there was to read, or where there
/// is room for a part. What a pipe that blocks is given it takes as a whole.
fn transfer_in_parts(
    cx: &Cx<'_>,
    target: Target,
    call: i64,
    at: *mut u8,
    count: usize,
) -> Result<std::result::Result<i32, i32>> {
    /// Linux has it for pipes since 6.4.
    const RWF_NOWAIT: usize = 8;
    let fd = target.descriptor;
    let reads = call == libc::SYS_read;
    let done = Cell::new(0);
    let result = block_on_noting(cx, target.tried(), &done, |calls| {
        loop {
            let before = calls.done() as usize;
            let rest = libc::iovec {
                // SAFETY: so much of the range is done.
                iov_base: unsafe { at.add(before) }.cast(),
                iov_len: count - before,
            };
            // SAFETY: the range was checked; its address on this stack keeps the array where it is.
            let plain = |len: usize| unsafe {
                calls.call(call, [fd as usize, rest.iov_base as usize, len, 0, 0, 0])
            };
            if calls.may_wait() {
                return Poll::Ready(plain(rest.iov_len).map(|n| before + n));
            }
            let number = match reads {
                true => libc::SYS_preadv2,
                false => libc::SYS_pwritev2,
            };
            let vector = &raw const rest as usize;
            // The position -1 is that of the descriptor.
            let arguments = [fd as usize, vector, 1, usize::MAX, usize::MAX, RWF_NOWAIT];
            // SAFETY: the record lives for the length of the call; the range was checked.
            let all = match unsafe { calls.call(number, arguments) } {
                Ok(n) => before + n,
                Err(libc::EAGAIN) if is_non_blocking(fd) => {
                    return Poll::Ready(Err(libc::EAGAIN));
                }
                Err(libc::EAGAIN) => return Poll::Pending,
                Err(libc::EOPNOTSUPP | libc::ENOSYS) if !is_ready(fd, target.interest) => {
                    return Poll::Pending;
                }
                // So much fits if anything does.
                Err(libc::EOPNOTSUPP | libc::ENOSYS) => {
                    match plain(
                        rest.iov_len
                            .min(if reads { usize::MAX } else { libc::PIPE_BUF }),
                    ) {
                        Ok(n) => before + n,
                        Err(e) => return Poll::Ready(Err(e)),
                    }
                }
                Err(e) => return Poll::Ready(Err(e)),
            };
            if reads || all >= count || all == before || is_non_blocking(fd) {
                return Poll::Ready(Ok(all));
            }
            calls.set_done(all as u64);
        }
    })?;
    Ok(match (result, done.get()) {
        // What was written stands, whatever ended the rest.
        (Err(_), written @ 1..) => Ok(written as i32),
        (result, _) => result.map(|n| n as i32),
    })
}

/// Descriptors 0 to 2 that managed code has not closed: a bit each.
static STANDARD: AtomicU8 = AtomicU8::new(0b111);

/// Is it a standard stream that the process was started with?
fn is_standard(fd: i32) -> bool {
    matches!(fd, 0..=2) && STANDARD.load(Ordering::Relaxed) & 1 << fd != 0
}

/// Managed code closes the descriptor: the next file that has its number is no standard stream.
fn forget_standard(fd: i32) {
    if matches!(fd, 0..=2) {
        STANDARD.fetch_and(!(1 << fd), Ordering::Relaxed);
    }
}

icalls! {
    /// Opens a file: the descriptor, or -1 and the error.
    "System.IO.MonoIO::Open" fn open_icall(cx, name: Chars<'cx>, mode: i32, access: i32, sharing: i32, options: i32, error: Out<'cx, i32>) -> isize {
        let opened = match name.path() {
            Ok(path) => loop {
                match cx.native(|| open(&path, mode, access, sharing, options)) {
                    Err(BROKEN_OFF) => abort::poll(cx)?,
                    opened => break opened,
                }
            },
            Err(e) => Err(e),
        };
        match opened {
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
        forget_standard(fd);
        let delete = share::leave(fd);
        blocking_io::forget(fd);
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
    "System.IO.MonoIO::Read" [reentrant] fn read(cx, handle: isize, dest: ObjRef<'cx>, offset: i32, count: i32, error: Out<'cx, i32>) -> i32 {
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
    "System.IO.MonoIO::Write" [reentrant] fn write(cx, handle: isize, src: ObjRef<'cx>, offset: i32, count: i32, error: Out<'cx, i32>) -> i32 {
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
    /// MonoFileType: disk 1, char 2, pipe 3, unknown 0. The standard streams are of the kind of a terminal's, whatever they lead to, as in mono: nobody
    /// seeks in them.
    "System.IO.MonoIO::GetFileType" fn get_file_type(cx, handle: isize, error: Out<'cx, i32>) -> i32 {
        // SAFETY: the record is filled.
        let (r, mode) = unsafe {
            let mut s: libc::stat = std::mem::zeroed();
            (libc::fstat(handle as i32, &mut s), s.st_mode)
        };
        if !check(r, error) {
            return Ok(0);
        }
        if is_standard(handle as i32) {
            return Ok(2);
        }
        Ok(match mode & libc::S_IFMT {
            libc::S_IFREG | libc::S_IFDIR | libc::S_IFBLK => 1,
            libc::S_IFCHR => 2,
            libc::S_IFIFO | libc::S_IFSOCK => 3,
            _ => 0,
        })
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
}
