//! The calling thread's errno, and calls that EINTR breaks off.

/// The calling thread's errno.
pub fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}
/// Repeats a call that EINTR broke off.
pub fn retry(mut call: impl FnMut() -> isize) -> isize {
    loop {
        let r = call();
        if r != -1 || errno() != libc::EINTR {
            return r;
        }
    }
}
