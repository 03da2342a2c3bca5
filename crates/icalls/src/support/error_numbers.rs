//! Errno to the error numbers the class library knows (System.IO.MonoIOError).

/// No error.
pub const SUCCESS: i32 = 0;
/// ERROR_FILE_NOT_FOUND.
pub const FILE_NOT_FOUND: i32 = 2;
/// ERROR_PATH_NOT_FOUND.
pub const PATH_NOT_FOUND: i32 = 3;
/// ERROR_ACCESS_DENIED.
pub const ACCESS_DENIED: i32 = 5;
/// ERROR_INVALID_HANDLE.
pub const INVALID_HANDLE: i32 = 6;
/// ERROR_NO_MORE_FILES.
pub const NO_MORE_FILES: i32 = 18;
/// ERROR_SHARING_VIOLATION.
pub const SHARING_VIOLATION: i32 = 32;
/// ERROR_LOCK_VIOLATION.
pub const LOCK_VIOLATION: i32 = 33;
/// ERROR_NOT_SUPPORTED.
pub const NOT_SUPPORTED: i32 = 50;
/// ERROR_FILE_EXISTS.
pub const FILE_EXISTS: i32 = 80;
/// ERROR_INVALID_PARAMETER.
pub const INVALID_PARAMETER: i32 = 87;
/// ERROR_INVALID_NAME.
pub const INVALID_NAME: i32 = 123;
/// ERROR_ALREADY_EXISTS.
pub const ALREADY_EXISTS: i32 = 183;
/// ERROR_ENCRYPTION_FAILED.
pub const ENCRYPTION_FAILED: i32 = 6000;

/// The number for an errno of the file layer.
pub fn from_errno(errno: i32) -> i32 {
    match errno {
        0 => SUCCESS,
        libc::EACCES | libc::EPERM | libc::EROFS => ACCESS_DENIED,
        libc::EAGAIN => SHARING_VIOLATION,
        libc::EBUSY => LOCK_VIOLATION,
        libc::EEXIST => FILE_EXISTS,
        libc::EINVAL | libc::ESPIPE => 25,
        libc::EISDIR => 82,
        libc::EMFILE | libc::ENFILE => 4,
        libc::ENOENT | libc::ENOTDIR => FILE_NOT_FOUND,
        libc::ENOSPC => 39,
        libc::ENOTEMPTY => 145,
        libc::ENOEXEC => 11,
        libc::ENAMETOOLONG => 206,
        libc::EBADF | libc::EIO => INVALID_HANDLE,
        libc::EINPROGRESS | libc::EINTR => 997,
        libc::EPIPE => 29,
        libc::ELOOP => 1921,
        libc::ENODEV | libc::ENXIO | libc::ENOTCONN => 55,
        _ => NOT_SUPPORTED,
    }
}
/// The number for the calling thread's errno.
pub fn last() -> i32 {
    from_errno(crate::support::errno::errno())
}
/// The number for an errno about a path: a file that is not found in a directory that does not exist is a path
/// that is not found.
pub fn for_path(errno: i32, path: &std::ffi::CStr) -> i32 {
    let error = from_errno(errno);
    if error != FILE_NOT_FOUND {
        return error;
    }
    let bytes = path.to_bytes();
    let parent = match bytes.iter().rposition(|b| *b == b'/') {
        Some(0) => return error,
        Some(i) => &bytes[..i],
        None => return error,
    };
    use std::os::unix::ffi::OsStrExt;
    let parent = std::path::Path::new(std::ffi::OsStr::from_bytes(parent));
    if parent.exists() {
        error
    } else {
        PATH_NOT_FOUND
    }
}
