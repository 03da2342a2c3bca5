//! Native half of System.Net.Sockets.Socket: receiving and sending.
//!
//! Keeps nothing. Managed code has pinned what the buffers' addresses refer to.
use crate::support::args::Out;
use crate::support::errno::errno;
use crate::system::net::socket_address::{self, Address};
use crate::system::net::sockets::socket::{blocking_call, blocking_transfer};
use crate::system::net::sockets::{state, winsock};
use std::os::fd::{AsRawFd, OwnedFd};
use vervet_runtime::code::icall::RefSlot;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::threads::park::blocking_io::{Interest, is_non_blocking};
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

/// recvmsg. Nothing received from a socket that the program shut down is told as interrupted, as Winsock does.
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
    let result = blocking_transfer(cx, fd, Interest::Read, blocking, |calls, more| {
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
    Ok(match result {
        Ok(0) if wanted && state::is_shut(fd) => Err(libc::EINTR),
        r => r,
    })
}
/// recv: as [`receive`], with one buffer and no address.
fn receive_plain<'cx>(
    cx: &'cx Cx<'cx>,
    fd: i32,
    (buffer, count): (*mut u8, usize),
    flags: i32,
    blocking: bool,
) -> Result<Io<usize>> {
    let result = blocking_transfer(cx, fd, Interest::Read, blocking, |calls, more| {
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
    Ok(match result {
        Ok(0) if count > 0 && state::is_shut(fd) => Err(libc::EINTR),
        r => r,
    })
}
/// Sending that would block on a socket that blocks has timed out.
fn timed_out(fd: i32, result: Io<usize>) -> Io<usize> {
    match result {
        Err(libc::EAGAIN) if !is_non_blocking(fd) => Err(libc::ETIMEDOUT),
        r => r,
    }
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
    let result = blocking_transfer(cx, fd, Interest::Write, blocking, |calls, more| {
        let send = |from: usize, more: i32| {
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
        };
        match send(0, more) {
            // There was room for a part. A socket that blocks takes all.
            Ok(sent) if more != 0 && sent < count && !is_non_blocking(fd) => {
                Ok(sent + send(sent, 0).unwrap_or(0))
            }
            answer => answer,
        }
    })?;
    Ok(timed_out(fd, result))
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
        let mut done = 0;
        while done < array.array_len() {
            // SAFETY: the range lies in the array, which the argument keeps in its place.
            let rest = (
                unsafe { array.array_data().add(done) }.cast_const(),
                array.array_len() - done,
            );
            match send_plain(cx, fd, rest, libc::MSG_NOSIGNAL, None, blocking)? {
                Ok(n) => done += n,
                Err(e) => return Ok(Err(e)),
            }
        }
        Ok(Ok(()))
    };
    if let Err(e) = part(before)? {
        return Ok(Err(e));
    }
    if let Some(file) = file {
        let from = file.as_raw_fd() as usize;
        loop {
            let sent = blocking_call(cx, fd, Interest::Write, blocking, |calls| {
                // SAFETY: from the file's own position.
                unsafe { calls.call(libc::SYS_sendfile, [fd as usize, from, 0, 1 << 30, 0, 0]) }
            })?;
            match timed_out(fd, sent) {
                Ok(0) => break,
                Ok(_) => {}
                Err(e) => return Ok(Err(e)),
            }
        }
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
        let mut vector = vector(buffers, count);
        // SAFETY: a record of zeros is an empty one.
        let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
        header.msg_iov = vector.as_mut_ptr();
        header.msg_iovlen = vector.len();
        let at = &raw const header as usize;
        let result = blocking_call(cx, fd as i32, Interest::Write, blocking, |calls| {
            // SAFETY: the record and what it refers to live for the length of the call.
            unsafe { calls.call(libc::SYS_sendmsg, [fd as usize, at, flags as usize, 0, 0, 0]) }
        })?;
        Ok(report(cx, timed_out(fd as i32, result), error).map_or(0, |n| n as i32))
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
