//! The calling thread's errno, and calls that EINTR breaks off.
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::threads::abort;

/// The calling thread's errno.
pub fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}
/// Makes a call that may block in native state, and again when EINTR broke it off: the result and errno. An abort ends it.
pub fn retry_or_abort(cx: &Cx<'_>, mut call: impl FnMut() -> isize) -> Result<(isize, i32)> {
    loop {
        let (result, error) = cx.native(|| (call(), errno()));
        if result != -1 || error != libc::EINTR {
            return Ok((result, error));
        }
        abort::poll(cx)?;
    }
}
/// Repeats a call that EINTR broke off. It is for calls that do not block for long.
pub fn retry(mut call: impl FnMut() -> isize) -> isize {
    loop {
        let r = call();
        if r != -1 || errno() != libc::EINTR {
            return r;
        }
    }
}
