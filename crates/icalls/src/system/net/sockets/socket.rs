//! Native half of System.Net.Sockets.Socket: making, naming, connecting and closing sockets.
//!
//! Keeps what [`crate::system::net::sockets::state`] keeps. What may block goes through the park layer's door; whether it does is the
//! descriptor's mode, as managed code set it.
//!
//! # Invariants
//! Every socket is closed in programs that this process starts. No operation raises SIGPIPE.
use crate::support::args::Out;
use crate::support::errno::retry;
use crate::support::error_numbers;
use crate::system::net::socket_address::{self, Address};
use crate::system::net::sockets::{state, winsock};
use std::cell::Cell;
use std::task::Poll;
use vervet_runtime::cx::Cx;
use vervet_runtime::threads;
use vervet_runtime::threads::park;
use vervet_runtime::threads::park::blocking_io::{
    self, Calls, Interest, Limits, Target, is_non_blocking, time_limit,
};
use vervet_runtime::threads::park::offload::offload;
use vervet_runtime::threads::park::wait_set;
use vervet_runtime::{ObjRef, icalls};
use winsock::{check, report};

/// A system call on a socket that may block, with the errno. One that would block although `blocking` says it shall is
/// waited for: another thread, which is closing the socket, has changed its mode and will end this operation.
pub(super) fn blocking_call<'cx>(
    cx: &'cx Cx<'cx>,
    fd: i32,
    interest: Interest,
    blocking: bool,
    mut call: impl FnMut(&Calls<'_>) -> Result<usize, i32>,
) -> vervet_runtime::cx::Result<Result<usize, i32>> {
    let target = Target::new(fd, interest);
    blocking_io::block_on(cx, target, |calls| match call(calls) {
        Err(libc::EAGAIN)
            if blocking && is_non_blocking(fd) && time_limit(fd, interest).is_none() =>
        {
            Poll::Pending
        }
        answer => Poll::Ready(answer),
    })
}
/// As [`blocking_call`], for a call that takes MSG_DONTWAIT among the flags that are passed to it, and that may be made again for the rest of a message.
/// How many bytes are done is in `done` in the end.
pub(super) fn blocking_transfer<'cx>(
    cx: &'cx Cx<'cx>,
    fd: i32,
    interest: Interest,
    blocking: bool,
    done: &Cell<u64>,
    mut call: impl FnMut(&Calls<'_>, i32) -> Result<usize, i32>,
) -> vervet_runtime::cx::Result<Result<usize, i32>> {
    let target = Target::new(fd, interest).tried().relying();
    blocking_io::block_on_noting(cx, target, done, |calls| {
        let may_wait = calls.may_wait();
        match call(calls, if may_wait { 0 } else { libc::MSG_DONTWAIT }) {
            Err(libc::EAGAIN)
                if !may_wait && (blocking || !is_non_blocking(fd))
                    || blocking && is_non_blocking(fd) && time_limit(fd, interest).is_none() =>
            {
                Poll::Pending
            }
            answer => Poll::Ready(answer),
        }
    })
}
/// accept. Whether a green thread's call may wait in the kernel is the mode of the listener, and several threads that find a connection all accept. So the
/// runtime puts a listener on which a green thread accepts into non-blocking mode for good. Whoever wants to wait waits for the descriptor: `blocking` says
/// what the program wants.
fn accept_connection<'cx>(
    cx: &'cx Cx<'cx>,
    fd: i32,
    blocking: bool,
) -> vervet_runtime::cx::Result<Result<usize, i32>> {
    let limits = if blocking { Limits::Time } else { Limits::Own };
    let target = Target::new(fd, Interest::Read).tried().with_limits(limits);
    blocking_io::block_on(cx, target, |calls| {
        let accept = || {
            let flags = libc::SOCK_CLOEXEC as usize;
            // SAFETY: no address is asked for.
            unsafe { calls.call(libc::SYS_accept4, [fd as usize, 0, 0, flags, 0, 0]) }
        };
        let may_wait = calls.may_wait();
        if blocking && !may_wait && !state::mode_is_ours(fd) {
            if !blocking_io::is_ready(fd, Interest::Read) {
                return Poll::Pending;
            }
            take_mode(fd);
        }
        match accept() {
            Err(libc::EAGAIN) if blocking && !may_wait => Poll::Pending,
            Err(libc::EAGAIN) if blocking && is_non_blocking(fd) => {
                if time_limit(fd, Interest::Read).is_none() {
                    return Poll::Pending;
                }
                // The kernel waits as long as the limit says, in blocking mode only.
                if state::mode_is_ours(fd) {
                    give_mode_back(fd);
                    return Poll::Ready(accept());
                }
                Poll::Ready(Err(libc::EAGAIN))
            }
            // It does not listen.
            Err(e @ (libc::EINVAL | libc::EOPNOTSUPP)) => {
                if state::mode_is_ours(fd) {
                    give_mode_back(fd);
                }
                Poll::Ready(Err(e))
            }
            answer => Poll::Ready(answer),
        }
    })
}
/// Puts a socket that blocks into non-blocking mode, which the program does not see.
fn take_mode(fd: i32) {
    if !is_non_blocking(fd) && set_non_blocking(fd, true).is_ok() {
        state::set_mode_is_ours(fd, true);
    }
}
/// Undoes it.
fn give_mode_back(fd: i32) {
    state::set_mode_is_ours(fd, false);
    // An error says that it is closed.
    let _ = set_non_blocking(fd, false);
}
/// Chooses the mode of a descriptor.
fn set_non_blocking(fd: i32, non_blocking: bool) -> Result<(), i32> {
    // SAFETY: these commands of `fcntl` take numbers only; a number that is no descriptor is an error.
    unsafe {
        let flags = check(libc::fcntl(fd, libc::F_GETFL))? as i32;
        let new = match non_blocking {
            true => flags | libc::O_NONBLOCK,
            false => flags & !libc::O_NONBLOCK,
        };
        if new != flags {
            let set = check(libc::fcntl(fd, libc::F_SETFL, new));
            blocking_io::forget(fd);
            set?;
        }
    }
    Ok(())
}

/// connect. A green thread begins the connection in non-blocking mode, and waits until it is made.
fn connect_to<'cx>(
    cx: &'cx Cx<'cx>,
    fd: i32,
    to: &mut Address,
) -> vervet_runtime::cx::Result<Result<usize, i32>> {
    /// What is noted of a connection that has begun.
    const BEGUN: u64 = 1;
    let target = Target::new(fd, Interest::Write).tried();
    let (at, len) = (to.ptr() as usize, to.len as usize);
    let done = Cell::new(0);
    let result = blocking_io::block_on_noting(cx, target, &done, |calls| {
        // SAFETY: a complete address. A connect that is made again goes on with the connection it began.
        let connect = || unsafe { calls.call(libc::SYS_connect, [fd as usize, at, len, 0, 0, 0]) };
        if calls.may_wait() || calls.done() != BEGUN && is_non_blocking(fd) {
            return Poll::Ready(connect());
        }
        if calls.done() != BEGUN {
            let begun = set_non_blocking(fd, true).and_then(|()| connect());
            // An error says that it was closed meanwhile.
            let _ = set_non_blocking(fd, false);
            match begun {
                Err(libc::EINPROGRESS) => calls.set_done(BEGUN),
                // The listener's queue is full (a Unix socket). There is nothing to wait for but the call itself.
                Err(libc::EAGAIN) => return Poll::Ready(connect()),
                answer => return Poll::Ready(answer),
            }
        }
        match blocking_io::is_ready(fd, Interest::Write) {
            false => Poll::Pending,
            true => Poll::Ready(connected(fd)),
        }
    })?;
    Ok(match result {
        // The socket's time limit is over, and the connection is still under way.
        Err(libc::EAGAIN) if done.get() == BEGUN => Err(libc::EINPROGRESS),
        result => result,
    })
}
/// How a connection that was under way has ended.
fn connected(fd: i32) -> Result<usize, i32> {
    match get_int(fd, libc::SO_ERROR)? {
        0 => Ok(0),
        error => Err(error),
    }
}
/// The kernel's number of a SocketType.
fn type_to_host(kind: i32) -> Option<i32> {
    Some(match kind {
        1 => libc::SOCK_STREAM,
        2 => libc::SOCK_DGRAM,
        3 => libc::SOCK_RAW,
        4 => libc::SOCK_RDM,
        5 => libc::SOCK_SEQPACKET,
        _ => return None,
    })
}
/// Makes a socket and clears what is remembered of its descriptor.
fn create(family: i32, kind: i32, protocol: i32) -> Result<i32, i32> {
    let family = socket_address::family_to_host(family).ok_or(libc::EAFNOSUPPORT)?;
    // IP, ICMP, IGMP, GGP, TCP, PUP, UDP, IDP, IPv6.
    if !matches!(protocol, 0..=3 | 6 | 12 | 17 | 22 | 41 | 58) {
        return Err(libc::EPROTONOSUPPORT);
    }
    let kind = type_to_host(kind).ok_or(libc::ESOCKTNOSUPPORT)?;
    // SAFETY: `socket` takes numbers, and nobody else knows the new descriptor.
    unsafe {
        let mut fd = libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol);
        if fd == -1 && (family, kind, protocol) == (libc::AF_INET, libc::SOCK_RAW, 0) {
            fd = libc::socket(family, kind | libc::SOCK_CLOEXEC, libc::IPPROTO_IPIP);
        }
        let fd = check(fd)? as i32;
        // Winsock lets an address be bound again while old connections linger.
        set_int(fd, libc::SOL_SOCKET, libc::SO_REUSEADDR, 1).inspect_err(|_| {
            libc::close(fd);
        })?;
        state::begin(fd);
        Ok(fd)
    }
}
/// An option of the socket level, of four bytes.
fn get_int(fd: i32, name: i32) -> Result<i32, i32> {
    let (mut value, mut size) = (0i32, size_of::<i32>() as libc::socklen_t);
    let at = (&raw mut value).cast();
    // SAFETY: four bytes are filled.
    check(unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, name, at, &mut size) }).map(|_| value)
}
/// Closes a descriptor. Who waits for it with Poll or Select finds it ready. What was sent may linger, for as long as the program has said: then a
/// helper waits for a green thread.
fn close_descriptor(cx: &Cx<'_>, fd: i32) {
    let mut linger = libc::linger {
        l_onoff: 0,
        l_linger: 0,
    };
    let mut size = size_of::<libc::linger>() as libc::socklen_t;
    let at = (&raw mut linger).cast();
    // SAFETY: the record is filled; what is no socket is an error.
    let r = unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_LINGER, at, &mut size) };
    blocking_io::forget(fd);
    // What is shut down is the connection, which another descriptor goes on with.
    if !state::is_duplicated(fd) {
        // SAFETY: `shutdown` takes numbers; an error says that there is nobody to be woken.
        unsafe { libc::shutdown(fd, libc::SHUT_RD) };
    }
    // EINTR leaves it closed on Linux.
    // SAFETY: managed code gives the descriptor up.
    let close = move || unsafe { libc::close(fd) };
    let _: i32 = match r == 0 && linger.l_onoff != 0 && linger.l_linger > 0 {
        true => offload(cx, close),
        false => cx.native(close),
    };
    // A thread that waits there may have looked between the two.
    blocking_io::forget(fd);
    wait_set::closed(fd);
}
/// Sets an option of four bytes.
pub(super) fn set_int(fd: i32, level: i32, name: i32, value: i32) -> Result<(), i32> {
    let size = size_of::<i32>() as libc::socklen_t;
    // SAFETY: four bytes are read.
    check(unsafe { libc::setsockopt(fd, level, name, (&raw const value).cast(), size) }).map(drop)
}

type Name = unsafe extern "C" fn(i32, *mut libc::sockaddr, *mut libc::socklen_t) -> i32;
/// The address that getsockname or getpeername gives, as a SocketAddress.
fn end_point<'cx>(
    cx: &'cx Cx<'cx>,
    fd: isize,
    family: i32,
    error: Out<'cx, i32>,
    name: Name,
) -> vervet_runtime::cx::Result<ObjRef<'cx>> {
    let known = matches!(
        socket_address::family_to_host(family),
        Some(libc::AF_INET | libc::AF_INET6 | libc::AF_UNIX)
    );
    if !known {
        error.set(winsock::FAMILY_NOT_SUPPORTED);
        return Ok(ObjRef::NULL);
    }
    let mut host = Address::empty();
    let mut len = host.len;
    // SAFETY: the address has room for as much as `len` says.
    let result = check(unsafe { name(fd as i32, host.ptr(), &mut len) });
    host.len = len;
    if report(cx, result, error).is_none() {
        return Ok(ObjRef::NULL);
    }
    match socket_address::make(cx, &host)? {
        Ok(object) => Ok(object),
        Err(e) => {
            error.set(e);
            Ok(ObjRef::NULL)
        }
    }
}

/// Another socket of the same kind takes the descriptor's place, so that it may be connected again.
fn disconnect(fd: i32) -> Result<(), i32> {
    let (domain, kind, protocol) = (
        get_int(fd, libc::SO_DOMAIN)?,
        get_int(fd, libc::SO_TYPE)?,
        get_int(fd, libc::SO_PROTOCOL)?,
    );
    // SAFETY: `socket` takes numbers, and nobody else knows the new descriptor.
    unsafe {
        let new = check(libc::socket(domain, kind | libc::SOCK_CLOEXEC, protocol))? as i32;
        let r = check(retry(|| libc::dup3(new, fd, libc::O_CLOEXEC) as isize) as i64);
        libc::close(new);
        r?;
    }
    state::begin(fd);
    Ok(())
}

icalls! {
    /// Makes a socket: its descriptor, or 0 and the error.
    "System.Net.Sockets.Socket::Socket_internal" fn socket(cx, this: ObjRef<'cx>, family: i32, kind: i32, protocol: i32, error: Out<'cx, i32>) -> isize {
        Ok(report(cx, create(family, kind, protocol), error).map_or(0, |fd| fd as isize))
    }
    /// Closes the descriptor, after the selector has let go of it.
    "System.Net.Sockets.Socket::Close_internal" fn close(cx, fd: isize, error: Out<'cx, i32>) {
        let fd = fd as i32;
        crate::system::io_selector::remove(cx, fd)?;
        error.set(0);
        close_descriptor(cx, fd);
        Ok(())
    }
    /// The number of bytes that can be read without waiting.
    "System.Net.Sockets.Socket::Available_internal" fn available(cx, fd: isize, error: Out<'cx, i32>) -> i32 {
        let mut count = 0i32;
        // SAFETY: four bytes are filled.
        let result = check(unsafe { libc::ioctl(fd as i32, libc::FIONREAD, &mut count) });
        Ok(report(cx, result, error).map_or(0, |_| count))
    }
    /// Makes the descriptor blocking or not.
    "System.Net.Sockets.Socket::Blocking_internal" fn blocking(cx, fd: isize, block: bool, error: Out<'cx, i32>) {
        state::set_mode_is_ours(fd as i32, false);
        report(cx, set_non_blocking(fd as i32, !block), error);
        Ok(())
    }
    /// The local address, null on error.
    "System.Net.Sockets.Socket::LocalEndPoint_internal" fn local_end_point(cx, fd: isize, family: i32, error: Out<'cx, i32>) -> ObjRef<'cx> {
        end_point(cx, fd, family, error, libc::getsockname)
    }
    /// The peer's address, null on error.
    "System.Net.Sockets.Socket::RemoteEndPoint_internal" fn remote_end_point(cx, fd: isize, family: i32, error: Out<'cx, i32>) -> ObjRef<'cx> {
        end_point(cx, fd, family, error, libc::getpeername)
    }
    /// Accepts a connection: its descriptor, or 0 and the error.
    "System.Net.Sockets.Socket::Accept_internal" [reentrant] fn accept(cx, fd: isize, error: Out<'cx, i32>, blocking: bool) -> isize {
        let result = accept_connection(cx, fd as i32, blocking)?;
        Ok(report(cx, result, error).map_or(0, |new| {
            state::begin(new as i32);
            new as isize
        }))
    }
    /// Gives the socket a local address.
    "System.Net.Sockets.Socket::Bind_internal" fn bind(cx, fd: isize, to: ObjRef<'cx>, error: Out<'cx, i32>) {
        match socket_address::read(cx, to)? {
            // SAFETY: a complete address.
            Ok(mut to) => drop(report(cx, check(unsafe { libc::bind(fd as i32, to.ptr(), to.len) }), error)),
            Err(e) => error.set(e),
        }
        Ok(())
    }
    /// Lets the socket accept connections, with a queue of this length.
    "System.Net.Sockets.Socket::Listen_internal" fn listen(cx, fd: isize, backlog: i32, error: Out<'cx, i32>) {
        // SAFETY: `listen` takes numbers; one that is no socket is an error.
        report(cx, check(unsafe { libc::listen(fd as i32, backlog) }), error);
        Ok(())
    }
    /// What is under way is told as WSAEWOULDBLOCK.
    "System.Net.Sockets.Socket::Connect_internal" [reentrant] fn connect(cx, fd: isize, to: ObjRef<'cx>, error: Out<'cx, i32>, blocking: bool) {
        let mut to = match socket_address::read(cx, to)? {
            Ok(to) => to,
            Err(e) => {
                error.set(e);
                return Ok(());
            }
        };
        let result = connect_to(cx, fd as i32, &mut to)?;
        if report(cx, result, error).is_none() {
            match error.get() {
                winsock::IN_PROGRESS => error.set(winsock::WOULD_BLOCK),
                winsock::WOULD_BLOCK => {}
                e => state::save_error(fd as i32, e),
            }
        }
        Ok(())
    }
    /// Ends the connection: the descriptor becomes a new socket of the same kind, whatever `reuse` says.
    "System.Net.Sockets.Socket::Disconnect_internal" fn disconnect_icall(cx, fd: isize, reuse: bool, error: Out<'cx, i32>) {
        // The old socket may linger.
        let result = cx.native(|| disconnect(fd as i32));
        report(cx, result, error);
        Ok(())
    }
    /// Ends receiving, sending or both.
    "System.Net.Sockets.Socket::Shutdown_internal" fn shutdown(cx, fd: isize, how: i32, error: Out<'cx, i32>) {
        if how != libc::SHUT_WR {
            state::set_shut(fd as i32);
        }
        // SAFETY: `shutdown` takes numbers; one that is no socket is an error. Winsock numbers the directions as Linux does.
        report(cx, check(unsafe { libc::shutdown(fd as i32, how) }), error);
        Ok(())
    }
    /// To this process only.
    "System.Net.Sockets.Socket::Duplicate_internal" fn duplicate(cx, fd: isize, process: i32, copy: Out<'cx, isize>, error: Out<'cx, i32>) -> bool {
        if process != std::process::id() as i32 {
            error.set(error_numbers::NOT_SUPPORTED);
            return Ok(false);
        }
        // SAFETY: these commands of `fcntl` take numbers only; a number that is no descriptor is an error.
        match check(unsafe { libc::fcntl(fd as i32, libc::F_DUPFD_CLOEXEC, 0) }) {
            Ok(new) => {
                state::begin(new as i32);
                state::set_duplicated([fd as i32, new as i32]);
                copy.set(new as isize);
                error.set(error_numbers::SUCCESS);
                Ok(true)
            }
            Err(e) => {
                error.set(error_numbers::from_errno(e));
                Ok(false)
            }
        }
    }
    /// The thread is in a socket's operation, or about to begin or to end one: the lock of the socket's list is held.
    "System.Net.Sockets.Socket::cancel_blocking_socket_operation" fn cancel(cx, thread: ObjRef<'cx>) {
        if let Some(id) = threads::owner_of(cx.non_null(thread)?) {
            park::cancel_io(id);
        }
        Ok(())
    }
    /// Linux has SO_REUSEPORT for all protocols.
    "System.Net.Sockets.Socket::SupportsPortReuse" fn supports_port_reuse(cx, protocol: i32) -> bool { Ok(true) }

    /// The Winsock error number of the calling thread's last failed operation.
    "System.Net.Sockets.SocketException::WSAGetLastError_internal" fn wsa_get_last_error(cx) -> i32 {
        // SAFETY: the context belongs to this thread.
        Ok(unsafe { (*cx.context()).last_error })
    }
}
