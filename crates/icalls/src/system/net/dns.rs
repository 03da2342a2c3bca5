//! Native half of System.Net.Dns.
//!
//! Keeps nothing; the C library resolves, in Native state or, for a green thread, on a helper thread.
use crate::support::arrays::string_array;
use std::ffi::{CStr, CString};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use vervet_runtime::code::icall::RefSlot;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::threads::park::offload::offload;
use vervet_runtime::{ObjRef, icalls};

/// Bits of the hint: which families are wanted.
const IPV4: i32 = 1;
/// The hint of managed code that asks for IPv6 addresses.
const IPV6: i32 = 2;

/// What a name stands for.
struct Entry {
    name: String,
    addresses: Vec<IpAddr>,
}

/// # Safety
/// `address` is null or a complete address.
unsafe fn ip(address: *const libc::sockaddr) -> Option<IpAddr> {
    // SAFETY: the family says what it is.
    unsafe {
        match address.as_ref()?.sa_family as i32 {
            libc::AF_INET => {
                let a = &*(address as *const libc::sockaddr_in);
                Some(Ipv4Addr::from(u32::from_be(a.sin_addr.s_addr)).into())
            }
            libc::AF_INET6 => {
                let a = &*(address as *const libc::sockaddr_in6);
                Some(Ipv6Addr::from(a.sin6_addr.s6_addr).into())
            }
            _ => None,
        }
    }
}

/// Asks the C library's resolver. It may take seconds, so the caller is in state Native.
fn look_up(name: &CStr, hint: i32) -> Option<Entry> {
    // SAFETY: a record of zeros asks for nothing special; the list is given back when it was read.
    unsafe {
        let mut hints: libc::addrinfo = std::mem::zeroed();
        hints.ai_family = match hint & (IPV4 | IPV6) {
            IPV4 => libc::AF_INET,
            IPV6 => libc::AF_INET6,
            _ => libc::AF_UNSPEC,
        };
        hints.ai_socktype = libc::SOCK_STREAM;
        hints.ai_flags = libc::AI_CANONNAME;
        let mut list = std::ptr::null_mut();
        if libc::getaddrinfo(name.as_ptr(), std::ptr::null(), &hints, &mut list) != 0 {
            return None;
        }
        let mut entry = Entry {
            name: String::new(),
            addresses: Vec::new(),
        };
        let mut at = list;
        while let Some(item) = at.as_ref() {
            if !item.ai_canonname.is_null() && entry.name.is_empty() {
                entry.name = CStr::from_ptr(item.ai_canonname)
                    .to_string_lossy()
                    .into_owned();
            }
            entry.addresses.extend(ip(item.ai_addr));
            at = item.ai_next;
        }
        libc::freeaddrinfo(list);
        if entry.name.is_empty() {
            entry.name = entry.addresses.first()?.to_string();
        }
        Some(entry)
    }
}

/// The name of this machine.
fn host_name() -> Option<CString> {
    let mut name = [0u8; 256];
    // SAFETY: at most that many bytes are written.
    if unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) } == -1 {
        return None;
    }
    CStr::from_bytes_until_nul(&name).ok().map(CStr::to_owned)
}

/// The addresses of this machine's interfaces that are up, without loops. Only of the fourth kind: Mono tells no others.
fn own_addresses() -> Vec<IpAddr> {
    let mut found = Vec::new();
    // SAFETY: the list is given back when it was read.
    unsafe {
        let mut list = std::ptr::null_mut();
        if libc::getifaddrs(&mut list) == -1 {
            return found;
        }
        let mut at = list;
        while let Some(item) = at.as_ref() {
            let flags = item.ifa_flags as i32;
            if flags & libc::IFF_UP != 0 && flags & libc::IFF_LOOPBACK == 0 {
                found.extend(ip(item.ifa_addr).filter(IpAddr::is_ipv4));
            }
            at = item.ifa_next;
        }
        libc::freeifaddrs(list);
    }
    found
}

/// What a host's name stands for; this machine's, or an empty one, for the addresses of its interfaces.
fn by_name(name: &CStr, hint: i32) -> Option<Entry> {
    let own = name.is_empty() || host_name().is_some_and(|own| *own == *name);
    if own {
        let addresses = if hint & (IPV4 | IPV6) == IPV6 {
            Vec::new()
        } else {
            own_addresses()
        };
        if !addresses.is_empty() {
            let name = name.to_string_lossy().into_owned();
            return Some(Entry { name, addresses });
        }
    }
    let own_name = if name.is_empty() { host_name() } else { None };
    look_up(own_name.as_deref().unwrap_or(name), hint)
}

/// What an address stands for; only if it has a name or stands for itself.
fn by_address(text: &str, hint: i32) -> Option<Entry> {
    let address: IpAddr = text.parse().ok()?;
    let mut name = [0u8; 1025];
    // SAFETY: a complete address, and a buffer of that size.
    let failed = unsafe {
        let (mut v4, mut v6): (libc::sockaddr_in, libc::sockaddr_in6) = std::mem::zeroed();
        let (at, size) = match address {
            IpAddr::V4(a) => {
                v4.sin_family = libc::AF_INET as u16;
                v4.sin_addr.s_addr = u32::from(a).to_be();
                ((&raw const v4).cast(), size_of_val(&v4))
            }
            IpAddr::V6(a) => {
                v6.sin6_family = libc::AF_INET6 as u16;
                v6.sin6_addr.s6_addr = a.octets();
                ((&raw const v6).cast(), size_of_val(&v6))
            }
        };
        let (to, room) = (name.as_mut_ptr().cast(), name.len() as libc::socklen_t);
        libc::getnameinfo(
            at,
            size as libc::socklen_t,
            to,
            room,
            std::ptr::null_mut(),
            0,
            0,
        ) != 0
    };
    if failed {
        return None;
    }
    look_up(CStr::from_bytes_until_nul(&name).ok()?, hint)
}

/// Stores an entry; false if there is none.
fn store<'cx>(
    cx: &'cx Cx<'cx>,
    entry: Option<Entry>,
    (name, aliases, addresses): (RefSlot<'cx>, RefSlot<'cx>, RefSlot<'cx>),
) -> Result<bool> {
    let Some(entry) = entry else { return Ok(false) };
    let texts: Vec<String> = entry.addresses.iter().map(IpAddr::to_string).collect();
    name.set(cx.alloc_str(&entry.name)?);
    aliases.set(string_array::<&str>(cx, &[])?);
    addresses.set(string_array(cx, &texts)?);
    Ok(true)
}

icalls! {
    /// The canonical name, aliases and addresses of a host. False if the resolver does not know it. The resolver may take
    /// seconds.
    "System.Net.Dns::GetHostByName_internal" fn get_host_by_name(
        cx, host: ObjRef<'cx>, name: RefSlot<'cx>, aliases: RefSlot<'cx>, addresses: RefSlot<'cx>, hint: i32,
    ) -> bool {
        // A name ends at its first zero, as the resolver sees it.
        let mut host = cx.non_null(host)?.text();
        host.truncate(host.find('\0').unwrap_or(host.len()));
        let host = CString::new(host).unwrap_or_default();
        let entry = offload(cx, move || by_name(&host, hint));
        store(cx, entry, (name, aliases, addresses))
    }
    /// The names of the host with an address. False if the resolver does not know it.
    "System.Net.Dns::GetHostByAddr_internal" fn get_host_by_address(
        cx, address: ObjRef<'cx>, name: RefSlot<'cx>, aliases: RefSlot<'cx>, addresses: RefSlot<'cx>, hint: i32,
    ) -> bool {
        let address = cx.non_null(address)?.text();
        let entry = offload(cx, move || by_address(&address, hint));
        store(cx, entry, (name, aliases, addresses))
    }
    /// The name of this machine.
    "System.Net.Dns::GetHostName_internal" fn get_host_name(cx, name: RefSlot<'cx>) -> bool {
        match host_name() {
            Some(own) => {
                name.set(cx.alloc_str(&own.to_string_lossy())?);
                Ok(true)
            }
            None => Ok(false),
        }
    }
}
