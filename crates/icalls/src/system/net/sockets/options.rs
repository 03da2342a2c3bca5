//! Native half of System.Net.Sockets.Socket: options.
//!
//! Keeps nothing. Levels and names are Winsock's numbers; [`HOST`] is the one table of what they are here.
use crate::support::args::Out;
use crate::support::fields::field_offset;
use crate::system::net::socket_address::system_class;
use crate::system::net::sockets::socket::set_int;
use crate::system::net::sockets::{state, winsock};
use vervet_runtime::code::icall::RefSlot;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::threads::park::blocking_io;
use vervet_runtime::{ObjRef, icalls};
use vervet_types::Known;
use winsock::{check, report};

type Io<T> = std::result::Result<T, i32>;

const SOCKET: i32 = 0xffff;
const IP: i32 = 0;
const IPV6: i32 = 41;
const TCP: i32 = 6;

const DONT_LINGER: i32 = -129;
const LINGER: i32 = 0x80;
const EXCLUSIVE_ADDRESS_USE: i32 = -5;
const ADD_MEMBERSHIP: i32 = 12;
const DROP_MEMBERSHIP: i32 = 13;
const MULTICAST_INTERFACE: i32 = 9;
const DONT_FRAGMENT: i32 = 14;
const PEER_CREDENTIALS: i32 = 0x10001;

/// Level and name as managed code and as the kernel has them. DontLinger is Linger, turned round.
const HOST: &[(i32, i32, i32, i32)] = &[
    (SOCKET, DONT_LINGER, libc::SOL_SOCKET, libc::SO_LINGER),
    (SOCKET, 1, libc::SOL_SOCKET, libc::SO_DEBUG),
    (SOCKET, 2, libc::SOL_SOCKET, libc::SO_ACCEPTCONN),
    (SOCKET, 4, libc::SOL_SOCKET, libc::SO_REUSEADDR),
    (SOCKET, 8, libc::SOL_SOCKET, libc::SO_KEEPALIVE),
    (SOCKET, 0x10, libc::SOL_SOCKET, libc::SO_DONTROUTE),
    (SOCKET, 0x20, libc::SOL_SOCKET, libc::SO_BROADCAST),
    (SOCKET, LINGER, libc::SOL_SOCKET, libc::SO_LINGER),
    (SOCKET, 0x100, libc::SOL_SOCKET, libc::SO_OOBINLINE),
    (SOCKET, 0x1001, libc::SOL_SOCKET, libc::SO_SNDBUF),
    (SOCKET, 0x1002, libc::SOL_SOCKET, libc::SO_RCVBUF),
    (SOCKET, 0x1003, libc::SOL_SOCKET, libc::SO_SNDLOWAT),
    (SOCKET, 0x1004, libc::SOL_SOCKET, libc::SO_RCVLOWAT),
    (SOCKET, 0x1005, libc::SOL_SOCKET, libc::SO_SNDTIMEO),
    (SOCKET, 0x1006, libc::SOL_SOCKET, libc::SO_RCVTIMEO),
    (SOCKET, 0x1007, libc::SOL_SOCKET, libc::SO_ERROR),
    (SOCKET, 0x1008, libc::SOL_SOCKET, libc::SO_TYPE),
    (
        SOCKET,
        PEER_CREDENTIALS,
        libc::SOL_SOCKET,
        libc::SO_PEERCRED,
    ),
    // Winsock's other sockets cannot share an address unless they say so.
    (
        SOCKET,
        EXCLUSIVE_ADDRESS_USE,
        libc::SOL_SOCKET,
        libc::SO_REUSEADDR,
    ),
    (IP, 1, libc::IPPROTO_IP, libc::IP_OPTIONS),
    (IP, 2, libc::IPPROTO_IP, libc::IP_HDRINCL),
    (IP, 3, libc::IPPROTO_IP, libc::IP_TOS),
    (IP, 4, libc::IPPROTO_IP, libc::IP_TTL),
    (
        IP,
        MULTICAST_INTERFACE,
        libc::IPPROTO_IP,
        libc::IP_MULTICAST_IF,
    ),
    (IP, 10, libc::IPPROTO_IP, libc::IP_MULTICAST_TTL),
    (IP, 11, libc::IPPROTO_IP, libc::IP_MULTICAST_LOOP),
    (
        IP,
        ADD_MEMBERSHIP,
        libc::IPPROTO_IP,
        libc::IP_ADD_MEMBERSHIP,
    ),
    (
        IP,
        DROP_MEMBERSHIP,
        libc::IPPROTO_IP,
        libc::IP_DROP_MEMBERSHIP,
    ),
    (IP, DONT_FRAGMENT, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER),
    (IP, 19, libc::IPPROTO_IP, libc::IP_PKTINFO),
    (IPV6, 4, libc::IPPROTO_IPV6, libc::IPV6_UNICAST_HOPS),
    (IPV6, 21, libc::IPPROTO_IPV6, libc::IPV6_UNICAST_HOPS),
    (
        IPV6,
        MULTICAST_INTERFACE,
        libc::IPPROTO_IPV6,
        libc::IPV6_MULTICAST_IF,
    ),
    (IPV6, 10, libc::IPPROTO_IPV6, libc::IPV6_MULTICAST_HOPS),
    (IPV6, 11, libc::IPPROTO_IPV6, libc::IPV6_MULTICAST_LOOP),
    (
        IPV6,
        ADD_MEMBERSHIP,
        libc::IPPROTO_IPV6,
        libc::IPV6_ADD_MEMBERSHIP,
    ),
    (
        IPV6,
        DROP_MEMBERSHIP,
        libc::IPPROTO_IPV6,
        libc::IPV6_DROP_MEMBERSHIP,
    ),
    (IPV6, 19, libc::IPPROTO_IPV6, libc::IPV6_PKTINFO),
    (IPV6, 27, libc::IPPROTO_IPV6, libc::IPV6_V6ONLY),
    (TCP, 1, libc::IPPROTO_TCP, libc::TCP_NODELAY),
];

/// The kernel's level and name.
fn host(level: i32, name: i32) -> Option<(i32, i32)> {
    let row = HOST.iter().find(|row| (row.0, row.1) == (level, name))?;
    Some((row.2, row.3))
}
/// Is the option a time, which Windows counts in milliseconds and the kernel as a `timeval`?
fn is_timeout(host: (i32, i32)) -> bool {
    matches!(
        host,
        (libc::SOL_SOCKET, libc::SO_RCVTIMEO | libc::SO_SNDTIMEO)
    )
}

/// Sets an option to the bytes of a value.
fn set<T>(fd: i32, (level, name): (i32, i32), value: &T) -> Io<()> {
    let (at, size) = (std::ptr::from_ref(value).cast(), size_of::<T>());
    // SAFETY: that many bytes are read.
    check(unsafe { libc::setsockopt(fd, level, name, at, size as libc::socklen_t) }).map(drop)
}
/// Fills a plain record; how much of it was filled.
fn get<T>(fd: i32, (level, name): (i32, i32), value: &mut T) -> Io<usize> {
    let mut size = size_of::<T>() as libc::socklen_t;
    let at = std::ptr::from_mut(value).cast();
    // SAFETY: at most that many bytes are written; callers pass plain records.
    check(unsafe { libc::getsockopt(fd, level, name, at, &mut size) }).map(|_| size as usize)
}

/// Sets an option of four bytes: times are in milliseconds; the kernel doubles sizes of buffers, so they are halved.
fn set_number(fd: i32, host: (i32, i32), value: i32) -> Io<()> {
    match host {
        _ if is_timeout(host) => set(
            fd,
            host,
            &libc::timeval {
                tv_sec: i64::from(value / 1000),
                tv_usec: i64::from(value % 1000) * 1000,
            },
        ),
        (libc::SOL_SOCKET, libc::SO_SNDBUF | libc::SO_RCVBUF) => set(fd, host, &(value / 2)),
        (libc::SOL_SOCKET, libc::SO_REUSEADDR) => {
            set(fd, host, &value)?;
            let mut kind = 0i32;
            get(fd, (libc::SOL_SOCKET, libc::SO_TYPE), &mut kind)?;
            if matches!(kind, libc::SOCK_DGRAM | libc::SOCK_STREAM) {
                // Two sockets with one address: Winsock asks for nothing more.
                let _ = set_int(fd, libc::SOL_SOCKET, libc::SO_REUSEPORT, value);
            }
            Ok(())
        }
        _ => set(fd, host, &value),
    }
}
/// The value of an option that is a number.
fn get_number(fd: i32, host: (i32, i32)) -> Io<i32> {
    if is_timeout(host) {
        let mut time = libc::timeval {
            tv_sec: 0,
            tv_usec: 0,
        };
        get(fd, host, &mut time)?;
        return Ok((time.tv_sec * 1000 + time.tv_usec / 1000) as i32);
    }
    let mut value = 0i32;
    get(fd, host, &mut value)?;
    if host == (libc::SOL_SOCKET, libc::SO_ERROR) {
        // The kernel forgets it when it is asked; Winsock does not.
        if value != 0 {
            state::save_error(fd, winsock::from_errno(value));
        }
        return Ok(state::saved_error(fd));
    }
    Ok(value)
}
/// Says how long closing waits for data to be sent, in seconds.
fn set_linger(fd: i32, on: bool, seconds: i32) -> Io<()> {
    let linger = libc::linger {
        l_onoff: i32::from(on),
        l_linger: seconds,
    };
    set(fd, (libc::SOL_SOCKET, libc::SO_LINGER), &linger)
}

/// An IPAddress of the fourth kind; any for null.
fn ipv4<'cx>(cx: &'cx Cx<'cx>, address: ObjRef<'cx>) -> Result<libc::in_addr> {
    let Some(a) = address.non_null() else {
        return Ok(libc::in_addr { s_addr: 0 });
    };
    let at = field_offset(cx, a.class(), "_addressOrScopeId")?;
    Ok(libc::in_addr {
        s_addr: a.read::<u32>(at),
    })
}
/// An IPAddress of the sixth kind; any for null.
fn ipv6<'cx>(cx: &'cx Cx<'cx>, address: ObjRef<'cx>) -> Result<libc::in6_addr> {
    let mut bytes = [0u8; 16];
    if let Some(a) = address.non_null() {
        let numbers = a.read_ref(field_offset(cx, a.class(), "_numbers")?);
        let numbers = numbers.non_null().map_or(&[][..], |n| n.elements::<u16>());
        for (to, from) in bytes.chunks_exact_mut(2).zip(numbers) {
            to.copy_from_slice(&from.to_be_bytes());
        }
    }
    Ok(libc::in6_addr { s6_addr: bytes })
}
/// Joins or leaves a multicast group.
fn set_membership<'cx>(
    cx: &'cx Cx<'cx>,
    fd: i32,
    host: (i32, i32),
    option: ObjRef<'cx>,
) -> Result<Io<()>> {
    let field = |name: &str| field_offset(cx, option.class(), name);
    if host.0 == libc::IPPROTO_IPV6 {
        let group = ipv6(cx, option.read_ref(field("m_Group")?))?;
        let request = libc::ipv6_mreq {
            ipv6mr_multiaddr: group,
            ipv6mr_interface: option.read::<i64>(field("m_Interface")?) as u32,
        };
        return Ok(set(fd, host, &request));
    }
    let request = libc::ip_mreqn {
        imr_multiaddr: ipv4(cx, option.read_ref(field("group")?))?,
        imr_address: ipv4(cx, option.read_ref(field("localAddress")?))?,
        imr_ifindex: option.read(field("ifIndex")?),
    };
    Ok(set(fd, host, &request))
}
/// The interface for multicast: an index, or an address whose first byte is not 0, in network order.
fn set_multicast_interface(fd: i32, host: (i32, i32), value: i32) -> Io<()> {
    let index = i32::from_be(value);
    if host.0 == libc::IPPROTO_IP && index as u32 & 0xff00_0000 == 0 {
        let any = libc::in_addr { s_addr: 0 };
        return set(
            fd,
            host,
            &libc::ip_mreqn {
                imr_multiaddr: any,
                imr_address: any,
                imr_ifindex: index,
            },
        );
    }
    set(fd, host, &value)
}

/// Mono.Posix.PeerCredData of the process at the other end. Only code of that assembly asks for it.
fn peer<'cx>(cx: &'cx Cx<'cx>, credentials: libc::ucred) -> Result<Io<ObjRef<'cx>>> {
    let all = cx.universe().assemblies();
    let Some(posix) = all.iter().find(|a| a.name == "Mono.Posix") else {
        return Ok(Err(libc::ENOPROTOOPT));
    };
    let Some(class) = cx.load(posix.manifest.find_type("Mono.Posix", "PeerCredData"))? else {
        return Ok(Err(libc::ENOPROTOOPT));
    };
    let object = cx.alloc(class)?;
    crate::support::fields::set_i32(cx, object, "pid", credentials.pid)?;
    crate::support::fields::set_i32(cx, object, "uid", credentials.uid as i32)?;
    crate::support::fields::set_i32(cx, object, "gid", credentials.gid as i32)?;
    Ok(Ok(object))
}

/// An option as an object.
fn get_object<'cx>(
    cx: &'cx Cx<'cx>,
    fd: i32,
    host: (i32, i32),
    name: i32,
) -> Result<Io<ObjRef<'cx>>> {
    let number = match (host, name) {
        ((libc::SOL_SOCKET, libc::SO_LINGER), _) => {
            let mut linger = libc::linger {
                l_onoff: 0,
                l_linger: 0,
            };
            if let Err(e) = get(fd, host, &mut linger) {
                return Ok(Err(e));
            }
            if name == DONT_LINGER {
                i32::from(linger.l_onoff == 0)
            } else {
                let class = system_class(cx, "System.Net.Sockets", "LingerOption")?;
                let object = cx.alloc(class)?;
                object.write(
                    field_offset(cx, class, "enabled")?,
                    (linger.l_onoff != 0) as u8,
                );
                crate::support::fields::set_i32(cx, object, "lingerTime", linger.l_linger)?;
                return Ok(Ok(object));
            }
        }
        (_, PEER_CREDENTIALS) => {
            let mut credentials = libc::ucred {
                pid: 0,
                uid: 0,
                gid: 0,
            };
            return match get(fd, host, &mut credentials) {
                Ok(_) => peer(cx, credentials),
                Err(e) => Ok(Err(e)),
            };
        }
        _ => match get_number(fd, host) {
            Ok(n) if name == EXCLUSIVE_ADDRESS_USE => i32::from(n == 0),
            Ok(n) => n,
            Err(e) => return Ok(Err(e)),
        },
    };
    // SAFETY: the value is an int.
    Ok(Ok(unsafe {
        cx.box_value(cx.known(Known::Int32), (&raw const number).cast())
    }?))
}

/// Sets an option from an object, which managed code has checked to be one for that option.
fn set_object<'cx>(
    cx: &'cx Cx<'cx>,
    fd: i32,
    host: (i32, i32),
    name: i32,
    value: ObjRef<'cx>,
) -> Result<Io<()>> {
    match name {
        LINGER => {
            let field = |name: &str| field_offset(cx, value.class(), name);
            let on = value.read::<u8>(field("enabled")?) != 0;
            Ok(set_linger(fd, on, value.read(field("lingerTime")?)))
        }
        ADD_MEMBERSHIP | DROP_MEMBERSHIP => set_membership(cx, fd, host, value),
        _ => Ok(Err(libc::EINVAL)),
    }
}
/// Sets an option to the bytes that managed code passed.
fn set_bytes(fd: i32, host: (i32, i32), name: i32, bytes: &[u8]) -> Io<()> {
    match bytes {
        [on] if name == DONT_LINGER => set_linger(fd, *on == 0, 0),
        _ if name == DONT_LINGER => Err(libc::EINVAL),
        [a, b, c, d] => set_number(fd, host, i32::from_le_bytes([*a, *b, *c, *d])),
        _ if is_timeout(host) => Err(libc::EINVAL),
        // SAFETY: the kernel reads no more than the array has.
        _ => check(unsafe {
            libc::setsockopt(
                fd,
                host.0,
                host.1,
                bytes.as_ptr().cast(),
                bytes.len() as libc::socklen_t,
            )
        })
        .map(drop),
    }
}
/// Sets an option to a number, as Winsock means it.
fn set_int_value(fd: i32, host: (i32, i32), name: i32, value: i32) -> Io<()> {
    match name {
        DONT_LINGER => set_linger(fd, value == 0, 0),
        EXCLUSIVE_ADDRESS_USE => set_number(fd, host, i32::from(value == 0)),
        MULTICAST_INTERFACE => set_multicast_interface(fd, host, value),
        DONT_FRAGMENT if value == 1 => set_number(fd, host, libc::IP_PMTUDISC_DO),
        _ => set_number(fd, host, value),
    }
}

icalls! {
    /// The value of an option as a boxed int, a LingerOption or a peer's credentials.
    "System.Net.Sockets.Socket::GetSocketOption_obj_internal" fn get_socket_option(cx, fd: isize, level: i32, name: i32, value: RefSlot<'cx>, error: Out<'cx, i32>) {
        let Some(host) = host(level, name) else {
            error.set(winsock::NO_PROTOCOL_OPTION);
            return Ok(());
        };
        let result = get_object(cx, fd as i32, host, name)?;
        if let Some(object) = report(cx, result, error) {
            value.set(object);
        }
        Ok(())
    }
    /// Fills the array.
    "System.Net.Sockets.Socket::GetSocketOption_arr_internal" fn get_socket_option_bytes(cx, fd: isize, level: i32, name: i32, value: RefSlot<'cx>, error: Out<'cx, i32>) {
        let Some(host) = host(level, name) else {
            error.set(winsock::NO_PROTOCOL_OPTION);
            return Ok(());
        };
        let bytes = cx.non_null(value.get())?.elements::<u8>();
        let number = host.0 == libc::SOL_SOCKET && bytes.len() == 4 && host.1 != libc::SO_LINGER;
        let result = if number {
            get_number(fd as i32, host).map(|n| bytes.copy_from_slice(&n.to_le_bytes()))
        } else {
            let mut size = bytes.len() as libc::socklen_t;
            // SAFETY: the kernel fills no more than the array has.
            check(unsafe { libc::getsockopt(fd as i32, host.0, host.1, bytes.as_mut_ptr().cast(), &mut size) }).map(drop)
        };
        report(cx, result, error);
        Ok(())
    }
    /// One of the values counts: the object, else the bytes, else the number.
    "System.Net.Sockets.Socket::SetSocketOption_internal" fn set_socket_option(
        cx, fd: isize, level: i32, name: i32, object: ObjRef<'cx>, bytes: ObjRef<'cx>, number: i32, error: Out<'cx, i32>,
    ) {
        let Some(host) = host(level, name) else {
            error.set(winsock::NO_PROTOCOL_OPTION);
            return Ok(());
        };
        let fd = fd as i32;
        let result = match (object.non_null(), bytes.non_null()) {
            (Some(object), _) => set_object(cx, fd, host, name, object)?,
            (None, Some(bytes)) => set_bytes(fd, host, name, bytes.elements::<u8>()),
            (None, None) => set_int_value(fd, host, name, number),
        };
        // It may have been a time limit.
        blocking_io::forget(fd);
        report(cx, result, error);
        Ok(())
    }
    /// -1 for what Socket.Blocking is for.
    "System.Net.Sockets.Socket::IOControl_internal" fn io_control(cx, fd: isize, code: i32, input: ObjRef<'cx>, output: ObjRef<'cx>, error: Out<'cx, i32>) -> i32 {
        const NON_BLOCKING: u32 = 0x8004_667e;
        error.set(0);
        if code as u32 == NON_BLOCKING || code as libc::Ioctl == libc::FIONBIO {
            return Ok(-1);
        }
        let input = input.non_null().map_or(&[][..], |i| i.elements::<u8>());
        let result = control(fd as i32, code as u32, input);
        Ok(match report(cx, result, error) {
            None => -1,
            Some(answer) => {
                let room = output.non_null().map_or(&mut [][..], |o| o.elements::<u8>());
                let n = answer.len().min(room.len());
                room[..n].copy_from_slice(&answer[..n]);
                n as i32
            }
        })
    }
}

/// IOControl: the bytes of the answer.
fn control(fd: i32, code: u32, input: &[u8]) -> Io<Vec<u8>> {
    const EXTENSION_FUNCTION: u32 = 0xc800_0006;
    const KEEP_ALIVE: u32 = 0x9800_0004;
    const DATA_TO_READ: u32 = 0x4004_667f;
    const AT_MARK: u32 = 0x4004_7307;
    /// SIOCATMARK.
    const HOST_AT_MARK: libc::Ioctl = 0x8905;
    /// As much as a request's record may have.
    const RECORD: usize = 1 << 14;
    match code {
        // There are none.
        EXTENSION_FUNCTION => Err(libc::EINVAL),
        KEEP_ALIVE => {
            let word = |i: usize| {
                let bytes = input.get(4 * i..4 * i + 4)?;
                Some(u32::from_le_bytes(bytes.try_into().ok()?))
            };
            let (Some(on), Some(time), Some(interval)) = (word(0), word(1), word(2)) else {
                return Err(libc::EINVAL);
            };
            set_int(fd, libc::SOL_SOCKET, libc::SO_KEEPALIVE, i32::from(on != 0))?;
            if on != 0 {
                // Milliseconds to seconds, at least one.
                let seconds = |ms: u32| (ms.saturating_add(500) / 1000).clamp(1, 32767) as i32;
                set_int(fd, libc::IPPROTO_TCP, libc::TCP_KEEPIDLE, seconds(time))?;
                set_int(
                    fd,
                    libc::IPPROTO_TCP,
                    libc::TCP_KEEPINTVL,
                    seconds(interval),
                )?;
            }
            Ok(Vec::new())
        }
        _ => {
            let code = match code {
                DATA_TO_READ => libc::FIONREAD,
                AT_MARK => HOST_AT_MARK,
                // Another of the kernel's own, with a copy of the record.
                c => libc::Ioctl::from(c),
            };
            let mut record = input.to_vec();
            record.resize(input.len().max(RECORD), 0);
            // SAFETY: no request has a larger record.
            check(unsafe { libc::ioctl(fd, code, record.as_mut_ptr()) })?;
            record.truncate(input.len().max(if code == libc::FIONREAD { 4 } else { 0 }));
            Ok(record)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_option_stands_in_the_table_twice() {
        for (i, a) in HOST.iter().enumerate() {
            assert!(HOST[..i].iter().all(|b| (a.0, a.1) != (b.0, b.1)), "{a:?}");
        }
        assert_eq!(
            host(SOCKET, 4),
            Some((libc::SOL_SOCKET, libc::SO_REUSEADDR))
        );
        assert_eq!(host(TCP, 2), None);
        assert_eq!(host(17, 1), None);
    }
}
