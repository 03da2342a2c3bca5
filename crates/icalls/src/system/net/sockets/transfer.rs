//! Native half of System.Net.Sockets.Socket: receiving and sending.
//!
//! Keeps nothing. Managed code has pinned what the buffers' addresses refer to.
use crate::support::args::Out;
use crate::support::errno::{errno, retry};
use crate::system::net::socket_address::{self, Address};
use crate::system::net::sockets::socket::{blocking_call, blocking_transfer};
use crate::system::net::sockets::{state, winsock};
use std::cell::Cell;
use std::os::fd::{AsRawFd, OwnedFd};
use vervet_runtime::code::icall::RefSlot;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::threads;
use vervet_runtime::threads::park::blocking_io::{Calls, Interest, is_non_blocking};
use vervet_runtime::{ObjRef, icalls};
use winsock::report;

type Io<T> = std::result::Result<T, i32>;

const OUT_OF_BAND: i32 = 1;
const PEEK: i32 = 2;
const DONT_ROUTE: i32 = 4;
const MAX_VECTOR: i32 = 0x10;
const PARTIAL: i32 = 0x8000;

/// SocketFlags as the kernel has them.
fn flags_to_host(flags: i32) -> Option<i32> {
    if flags & !(OUT_OF_BAND | PEEK | DONT_ROUTE | MAX_VECTOR | PARTIAL) != 0 {
        return None;
    }
    let pairs = [
        (OUT_OF_BAND, libc::MSG_OOB),
        (PEEK, libc::MSG_PEEK),
        (DONT_ROUTE, libc::MSG_DONTROUTE),
        (PARTIAL, libc::MSG_MORE),
    ];
    let set = pairs.iter().filter(|(managed, _)| flags & managed != 0);
    Some(set.fold(libc::MSG_NOSIGNAL, |all, (_, host)| all | host))
}

/// Socket/WSABUF.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Buffer {
    len: i32,
    at: *mut u8,
}
/// The kernel's records of the buffers.
fn vector(buffers: *const Buffer, count: i32) -> Vec<libc::iovec> {
    // SAFETY: managed code passes that many records.
    let buffers = unsafe { std::slice::from_raw_parts(buffers, count.max(0) as usize) };
    let record = |b: &Buffer| libc::iovec {
        iov_base: b.at.cast(),
        iov_len: b.len.max(0) as usize,
    };
    buffers.iter().map(record).collect()
}

/// One message to receive or to send.
struct Message<'a> {
    fd: i32,
    flags: i32,
    vector: &'a mut [libc::iovec],
    blocking: bool,
}

/// How receiving has ended. Nothing received from a socket that the program shut down is told as interrupted, as Winsock does. A call that is ended
/// because its socket is being closed, which puts that into non-blocking mode first, would block: so the kernel ends it for mono.
fn received(fd: i32, wanted: bool, result: Io<usize>) -> Io<usize> {
    match result {
        Ok(0) if wanted && state::is_shut(fd) => Err(libc::EINTR),
        Err(libc::EINTR) if is_non_blocking(fd) => Err(libc::EAGAIN),
        r => r,
    }
}
/// recvmsg.
fn receive<'cx>(
    cx: &'cx Cx<'cx>,
    message: Message<'_>,
    mut from: Option<&mut Address>,
) -> Result<Io<usize>> {
    let Message {
        fd,
        flags,
        vector,
        blocking,
    } = message;
    // SAFETY: a record of zeros is an empty one.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = vector.as_mut_ptr();
    header.msg_iovlen = vector.len();
    if let Some(from) = from.as_deref_mut() {
        header.msg_name = from.ptr().cast();
        header.msg_namelen = from.len;
    }
    let at = &raw mut header as usize;
    let done = Cell::new(0);
    let result = blocking_transfer(cx, fd, Interest::Read, blocking, &done, |calls, more| {
        // SAFETY: the record and what it refers to live for the length of the call.
        unsafe {
            calls.call(
                libc::SYS_recvmsg,
                [fd as usize, at, (flags | more) as usize, 0, 0, 0],
            )
        }
    })?;
    if let Some(from) = from {
        from.len = header.msg_namelen;
    }
    let wanted = vector.iter().any(|v| v.iov_len > 0);
    Ok(received(fd, wanted, result))
}
/// recv: as [`receive`], with one buffer and no address.
fn receive_plain<'cx>(
    cx: &'cx Cx<'cx>,
    fd: i32,
    (buffer, count): (*mut u8, usize),
    flags: i32,
    blocking: bool,
) -> Result<Io<usize>> {
    let done = Cell::new(0);
    let result = blocking_transfer(cx, fd, Interest::Read, blocking, &done, |calls, more| {
        // SAFETY: managed code passes a pinned buffer of that size.
        unsafe {
            calls.call(
                libc::SYS_recvfrom,
                [
                    fd as usize,
                    buffer as usize,
                    count,
                    (flags | more) as usize,
                    0,
                    0,
                ],
            )
        }
    })?;
    Ok(received(fd, count > 0, result))
}
/// Sending that would block on a socket that blocks has timed out.
fn timed_out(fd: i32, result: Io<usize>) -> Io<usize> {
    match result {
        Err(libc::EAGAIN) if !is_non_blocking(fd) => Err(libc::ETIMEDOUT),
        r => r,
    }
}
/// Has the connection an error that nobody has been told? It stays.
fn has_failed(fd: i32) -> bool {
    let mut of = libc::pollfd {
        fd,
        events: 0,
        revents: 0,
    };
    // SAFETY: one descriptor, in this frame.
    let found = unsafe { libc::poll(&mut of, 1, 0) };
    found > 0 && of.revents & libc::POLLERR != 0
}
/// Sends a message of `count` bytes, where `send` sends what is behind a number of bytes, with more flags. A socket that blocks takes all: a green
/// thread waits for room for the rest.
fn send_all<'cx>(
    cx: &'cx Cx<'cx>,
    fd: i32,
    count: usize,
    blocking: bool,
    mut send: impl FnMut(&Calls<'_>, usize, i32) -> Io<usize>,
) -> Result<Io<usize>> {
    let done = Cell::new(0);
    let result = blocking_transfer(cx, fd, Interest::Write, blocking, &done, |calls, more| {
        loop {
            let sent = calls.done() as usize;
            // What has happened to the connection is told by the next call, as when the kernel sends all of it: an attempt would take the error away.
            if sent > 0 && more != 0 && has_failed(fd) {
                return Ok(sent);
            }
            let all = sent + send(calls, sent, more)?;
            if more == 0 || all >= count || all == sent || is_non_blocking(fd) {
                return Ok(all);
            }
            calls.set_done(all as u64);
        }
    })?;
    Ok(match (timed_out(fd, result), done.get() as usize) {
        // What was sent stands, whatever ended the rest.
        (Err(_), sent @ 1..) => Ok(sent),
        (result, _) => result,
    })
}
/// Sends one buffer.
fn send_plain<'cx>(
    cx: &'cx Cx<'cx>,
    fd: i32,
    (buffer, count): (*const u8, usize),
    flags: i32,
    to: Option<&mut Address>,
    blocking: bool,
) -> Result<Io<usize>> {
    let (to, len) = to.map_or((0, 0), |t| (t.ptr() as usize, t.len as usize));
    send_all(cx, fd, count, blocking, |calls, from, more| {
        let rest = [
            fd as usize,
            buffer as usize + from,
            count - from,
            (flags | more) as usize,
            to,
            len,
        ];
        // SAFETY: managed code passes a pinned buffer of that size; the address is complete.
        unsafe { calls.call(libc::SYS_sendto, rest) }
    })
}
/// What is behind so many bytes of the buffers.
fn behind(vector: &[libc::iovec], mut bytes: usize) -> Vec<libc::iovec> {
    let mut rest = Vec::with_capacity(vector.len());
    for buffer in vector {
        let skipped = bytes.min(buffer.iov_len);
        bytes -= skipped;
        if skipped < buffer.iov_len {
            rest.push(libc::iovec {
                // SAFETY: the offset lies in the buffer.
                iov_base: unsafe { buffer.iov_base.cast::<u8>().add(skipped) }.cast(),
                iov_len: buffer.iov_len - skipped,
            });
        }
    }
    rest
}
/// Sends several buffers, one after the other.
fn send_vector<'cx>(
    cx: &'cx Cx<'cx>,
    fd: i32,
    vector: &[libc::iovec],
    flags: i32,
    blocking: bool,
) -> Result<Io<usize>> {
    let count = vector.iter().map(|buffer| buffer.iov_len).sum();
    send_all(cx, fd, count, blocking, |calls, from, more| {
        let mut rest = behind(vector, from);
        // SAFETY: a record of zeros is an empty one.
        let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
        header.msg_iov = rest.as_mut_ptr();
        header.msg_iovlen = rest.len();
        let at = &raw const header as usize;
        // SAFETY: the record and what it refers to live for the length of the call.
        unsafe {
            calls.call(
                libc::SYS_sendmsg,
                [fd as usize, at, (flags | more) as usize, 0, 0, 0],
            )
        }
    })
}

/// Sends what is left of a file. The system's own call cannot be told not to wait, so a green thread reads, and sends what it has read. What ends it
/// when a part has been sent is no error, as for the system's own call.
fn send_contents<'cx>(cx: &'cx Cx<'cx>, fd: i32, file: &OwnedFd, blocking: bool) -> Result<Io<()>> {
    const PART: usize = 64 << 10;
    let from = file.as_raw_fd();
    let mut has_sent = false;
    if !threads::is_green(cx) {
        loop {
            let sent = blocking_call(cx, fd, Interest::Write, blocking, |calls| {
                let arguments = [fd as usize, from as usize, 0, 1 << 30, 0, 0];
                // SAFETY: from the file's own position.
                unsafe { calls.call(libc::SYS_sendfile, arguments) }
            })?;
            match timed_out(fd, sent) {
                Ok(0) => return Ok(Ok(())),
                Ok(_) => has_sent = true,
                Err(_) if has_sent => return Ok(Ok(())),
                Err(e) => return Ok(Err(e)),
            }
        }
    }
    let mut buffer = vec![0u8; PART];
    loop {
        let room = buffer.as_mut_ptr();
        // SAFETY: at most so many bytes are written to the buffer.
        let read = cx.native(|| retry(|| unsafe { libc::read(from, room.cast(), PART) }));
        let Ok(count) = usize::try_from(read) else {
            return Ok(Err(errno()));
        };
        if count == 0 {
            return Ok(Ok(()));
        }
        match send_bytes(cx, fd, &buffer[..count], blocking)? {
            Ok(()) => has_sent = true,
            Err(_) if has_sent => return Ok(Ok(())),
            Err(e) => return Ok(Err(e)),
        }
    }
}
/// Sends all of the bytes.
fn send_bytes<'cx>(cx: &'cx Cx<'cx>, fd: i32, mut bytes: &[u8], blocking: bool) -> Result<Io<()>> {
    while !bytes.is_empty() {
        let rest = (bytes.as_ptr(), bytes.len());
        match send_plain(cx, fd, rest, libc::MSG_NOSIGNAL, None, blocking)? {
            Ok(n) => bytes = &bytes[n..],
            Err(e) => return Ok(Err(e)),
        }
    }
    Ok(Ok(()))
}

/// All of a file behind `before` and in front of `after`.
fn send_file<'cx>(
    cx: &'cx Cx<'cx>,
    fd: i32,
    file: Option<&OwnedFd>,
    (before, after): (ObjRef<'cx>, ObjRef<'cx>),
    blocking: bool,
) -> Result<Io<()>> {
    let part = |array: ObjRef<'cx>| -> Result<Io<()>> {
        let Some(array) = array.non_null() else {
            return Ok(Ok(()));
        };
        // SAFETY: the range lies in the array, which the argument keeps in its place.
        let bytes = unsafe { std::slice::from_raw_parts(array.array_data(), array.array_len()) };
        send_bytes(cx, fd, bytes, blocking)
    };
    if let Err(e) = part(before)? {
        return Ok(Err(e));
    }
    if let Some(file) = file
        && let Err(e) = send_contents(cx, fd, file, blocking)?
    {
        return Ok(Err(e));
    }
    part(after)
}

/// [`flags_to_host`]; what it does not know is said.
fn known_flags(flags: i32, error: Out<'_, i32>) -> Option<i32> {
    let host = flags_to_host(flags);
    if host.is_none() {
        error.set(winsock::OPERATION_NOT_SUPPORTED);
    }
    host
}

/// TransmitFileOptions.Disconnect.
const DISCONNECT: i32 = 1;

icalls! {
    /// Receives into one buffer: the number of bytes, 0 at the end of the stream or with an error.
    "System.Net.Sockets.Socket::Receive_internal(intptr,byte*,int,System.Net.Sockets.SocketFlags,int&,bool)" [reentrant] fn receive_one(
        cx, fd: isize, buffer: *mut u8, count: i32, flags: i32, error: Out<'cx, i32>, blocking: bool,
    ) -> i32 {
        let Some(flags) = known_flags(flags, error) else { return Ok(0) };
        let result = receive_plain(cx, fd as i32, (buffer, count.max(0) as usize), flags, blocking)?;
        Ok(report(cx, result, error).map_or(0, |n| n as i32))
    }
    /// Receives into several buffers, one after the other.
    "System.Net.Sockets.Socket::Receive_internal(intptr,System.Net.Sockets.Socket/WSABUF*,int,System.Net.Sockets.SocketFlags,int&,bool)" [reentrant] fn receive_many(
        cx, fd: isize, buffers: *const Buffer, count: i32, flags: i32, error: Out<'cx, i32>, blocking: bool,
    ) -> i32 {
        let Some(flags) = known_flags(flags, error) else { return Ok(0) };
        let vector = &mut vector(buffers, count);
        let result = receive(cx, Message { fd: fd as i32, flags, vector, blocking }, None)?;
        Ok(report(cx, result, error).map_or(0, |n| n as i32))
    }
    /// Receives a datagram, and replaces `from` by the sender's address.
    "System.Net.Sockets.Socket::ReceiveFrom_internal" fn receive_from(
        cx, fd: isize, buffer: *mut u8, count: i32, flags: i32, from: RefSlot<'cx>, error: Out<'cx, i32>, blocking: bool,
    ) -> i32 {
        // Its family must be one that we know, as Mono has it; what it says is not used.
        let mut room = match socket_address::read(cx, from.get())? {
            Ok(_) => Address::empty(),
            Err(e) => {
                error.set(e);
                return Ok(0);
            }
        };
        let Some(flags) = known_flags(flags, error) else { return Ok(0) };
        let vector = &mut [libc::iovec { iov_base: buffer.cast(), iov_len: count.max(0) as usize }];
        let result = receive(cx, Message { fd: fd as i32, flags, vector, blocking }, Some(&mut room))?;
        let Some(n) = report(cx, result, error) else { return Ok(0) };
        // A connected stream tells no address.
        if room.len == 0 {
            from.set(ObjRef::NULL);
        } else {
            match socket_address::make(cx, &room)? {
                Ok(object) => from.set(object),
                Err(e) => error.set(e),
            }
        }
        Ok(n as i32)
    }
    /// Sends one buffer: the number of bytes that were taken.
    "System.Net.Sockets.Socket::Send_internal(intptr,byte*,int,System.Net.Sockets.SocketFlags,int&,bool)" [reentrant] fn send_one(
        cx, fd: isize, buffer: *const u8, count: i32, flags: i32, error: Out<'cx, i32>, blocking: bool,
    ) -> i32 {
        let Some(flags) = known_flags(flags, error) else { return Ok(0) };
        let result = send_plain(cx, fd as i32, (buffer, count.max(0) as usize), flags, None, blocking)?;
        Ok(report(cx, result, error).map_or(0, |n| n as i32))
    }
    /// Sends several buffers, one after the other.
    "System.Net.Sockets.Socket::Send_internal(intptr,System.Net.Sockets.Socket/WSABUF*,int,System.Net.Sockets.SocketFlags,int&,bool)" [reentrant] fn send_many(
        cx, fd: isize, buffers: *const Buffer, count: i32, flags: i32, error: Out<'cx, i32>, blocking: bool,
    ) -> i32 {
        let Some(flags) = known_flags(flags, error) else { return Ok(0) };
        let result = send_vector(cx, fd as i32, &vector(buffers, count), flags, blocking)?;
        Ok(report(cx, result, error).map_or(0, |n| n as i32))
    }
    /// Sends a datagram to an address.
    "System.Net.Sockets.Socket::SendTo_internal" fn send_to(
        cx, fd: isize, buffer: *const u8, count: i32, flags: i32, to: ObjRef<'cx>, error: Out<'cx, i32>, blocking: bool,
    ) -> i32 {
        let mut to = match socket_address::read(cx, to)? {
            Ok(to) => to,
            Err(e) => {
                error.set(e);
                return Ok(0);
            }
        };
        let Some(flags) = known_flags(flags, error) else { return Ok(0) };
        let result = send_plain(cx, fd as i32, (buffer, count.max(0) as usize), flags, Some(&mut to), blocking)?;
        Ok(report(cx, result, error).map_or(0, |n| n as i32))
    }
    /// Sends a file, with a buffer before and a buffer behind it.
    "System.Net.Sockets.Socket::SendFile_internal" fn send_file_icall(
        cx, fd: isize, name: ObjRef<'cx>, before: ObjRef<'cx>, after: ObjRef<'cx>, flags: i32, error: Out<'cx, i32>, blocking: bool,
    ) -> bool {
        let file = match name.non_null() {
            None => None,
            Some(name) => {
                let path = crate::support::text::path(name.units());
                // SAFETY: the path is NUL-terminated; the new descriptor is ours.
                let file = cx.native(|| unsafe {
                    use std::os::fd::FromRawFd;
                    match libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) {
                        -1 => Err(errno()),
                        file => Ok(OwnedFd::from_raw_fd(file)),
                    }
                });
                match file {
                    Ok(file) => Some(file),
                    Err(e) => {
                        // The number of the file layer.
                        error.set(crate::support::error_numbers::from_errno(e));
                        return Ok(false);
                    }
                }
            }
        };
        let result = send_file(cx, fd as i32, file.as_ref(), (before, after), blocking)?;
        if result.is_ok() && flags & DISCONNECT != 0 {
            // SAFETY: `shutdown` takes numbers; one that is no socket is an error. Winsock numbers the directions as Linux does.
            unsafe { libc::shutdown(fd as i32, libc::SHUT_RDWR) };
        }
        Ok(report(cx, result, error).is_some())
    }
}
