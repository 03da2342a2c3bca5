//! Errno to the error numbers of Winsock, which System.Net.Sockets.SocketError names.
//!
//! Keeps nothing but the calling thread's last error, in its context.
use crate::support::args::Out;
use vervet_runtime::cx::Cx;

/// A blocking operation was ended by another thread.
pub const INTERRUPTED: i32 = 10004;
/// A bad address of memory, or a bad array.
pub const FAULT: i32 = 10014;
/// A bad argument.
pub const INVALID_ARGUMENT: i32 = 10022;
/// It would block.
pub const WOULD_BLOCK: i32 = 10035;
/// A non-blocking operation is under way.
pub const IN_PROGRESS: i32 = 10036;
/// No such option.
pub const NO_PROTOCOL_OPTION: i32 = 10042;
/// No such protocol.
pub const PROTOCOL_NOT_SUPPORTED: i32 = 10043;
/// No such type of socket.
pub const TYPE_NOT_SUPPORTED: i32 = 10044;
/// Not for this socket.
pub const OPERATION_NOT_SUPPORTED: i32 = 10045;
/// No such family of addresses.
pub const FAMILY_NOT_SUPPORTED: i32 = 10047;
const SYSTEM_CALL_FAILURE: i32 = 10107;

/// The number for an errno.
pub fn from_errno(errno: i32) -> i32 {
    match errno {
        0 => 0,
        libc::EINTR => INTERRUPTED,
        libc::EACCES | libc::EPERM | libc::EROFS => 10013,
        libc::EFAULT => FAULT,
        libc::EINVAL | libc::EDOM => INVALID_ARGUMENT,
        libc::EMFILE | libc::ENFILE => 10024,
        libc::EAGAIN => WOULD_BLOCK,
        libc::EINPROGRESS => IN_PROGRESS,
        libc::EALREADY => 10037,
        libc::EBADF | libc::ENOTSOCK | libc::ENOTTY => 10038,
        libc::EDESTADDRREQ => 10039,
        libc::EMSGSIZE => 10040,
        libc::EPROTOTYPE => 10041,
        libc::ENOPROTOOPT => NO_PROTOCOL_OPTION,
        libc::EPROTONOSUPPORT => PROTOCOL_NOT_SUPPORTED,
        libc::ESOCKTNOSUPPORT => TYPE_NOT_SUPPORTED,
        libc::EOPNOTSUPP => OPERATION_NOT_SUPPORTED,
        libc::EPFNOSUPPORT => 10046,
        libc::EAFNOSUPPORT => FAMILY_NOT_SUPPORTED,
        libc::EADDRINUSE => 10048,
        libc::EADDRNOTAVAIL => 10049,
        libc::ENETDOWN | libc::ECONNABORTED | libc::ENOSR => 10050,
        libc::ENETUNREACH => 10051,
        libc::ENETRESET => 10052,
        libc::ECONNRESET => 10054,
        libc::ENOBUFS | libc::ENOMEM => 10055,
        libc::EISCONN => 10056,
        libc::ENOTCONN => 10057,
        libc::EPIPE | libc::ESHUTDOWN => 10058,
        libc::ETIMEDOUT => 10060,
        // ENOENT: no socket has that path.
        libc::ECONNREFUSED | libc::ENOENT => 10061,
        libc::ELOOP => 10062,
        libc::ENAMETOOLONG => 10063,
        libc::EHOSTDOWN => 10064,
        libc::EHOSTUNREACH => 10065,
        _ => SYSTEM_CALL_FAILURE,
    }
}

/// Stores how it went: None, with the number in `error`, for an errno.
pub fn report<T>(cx: &Cx<'_>, result: Result<T, i32>, error: Out<'_, i32>) -> Option<T> {
    match result {
        Ok(value) => {
            error.set(0);
            Some(value)
        }
        Err(errno) => {
            let number = from_errno(errno);
            // SAFETY: the context belongs to this thread.
            unsafe { (*cx.context()).last_error = number };
            error.set(number);
            None
        }
    }
}

/// The result of a call of the C library that gives -1 and errno on failure.
pub fn check(result: impl Into<i64>) -> Result<usize, i32> {
    match result.into() {
        -1 => Err(crate::support::errno::errno()),
        n => Ok(n as usize),
    }
}
