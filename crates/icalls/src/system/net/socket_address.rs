//! System.Net.SocketAddress to and from the kernel's addresses.
//!
//! # Invariants
//! `m_Buffer` holds the family as Windows numbers it (two bytes, little endian), then
//! * IPv4: the port (big endian) and the address;
//! * IPv6: the port, four bytes of flow information, the address, the scope (little endian);
//! * Unix: the path.
//!
//! Nothing is read beyond `m_Size` or the array.
use crate::support::fields::field_offset;
use crate::system::net::sockets::winsock;
use std::sync::atomic::{AtomicUsize, Ordering};
use vervet_os::Published;
use vervet_runtime::ObjRef;
use vervet_runtime::cx::{Cx, Result};
use vervet_types::{ClassRef, Known};

/// AddressFamily.InterNetworkV6.
const WINDOWS_INET6: i32 = 23;
const IPV4_SIZE: usize = 8;
const IPV6_SIZE: usize = 28;

/// The kernel's number of an AddressFamily; None for one we have not.
pub fn family_to_host(family: i32) -> Option<i32> {
    Some(match family {
        0 => libc::AF_UNSPEC,
        1 => libc::AF_UNIX,
        2 => libc::AF_INET,
        6 => libc::AF_IPX,
        11 => libc::AF_SNA,
        12 => libc::AF_DECnet,
        16 => libc::AF_APPLETALK,
        WINDOWS_INET6 => libc::AF_INET6,
        26 => libc::AF_IRDA,
        _ => return None,
    })
}

/// An address of the kernel's.
pub struct Address {
    storage: libc::sockaddr_storage,
    /// How much of it counts.
    pub len: libc::socklen_t,
}
impl Address {
    /// Room for one.
    pub fn empty() -> Address {
        Address {
            // SAFETY: zeros are a valid address of no family.
            storage: unsafe { std::mem::zeroed() },
            len: size_of::<libc::sockaddr_storage>() as libc::socklen_t,
        }
    }
    /// From bytes as the kernel has them; they fit.
    fn from_bytes(bytes: &[u8]) -> Address {
        let mut a = Address::empty();
        a.bytes_mut()[..bytes.len()].copy_from_slice(bytes);
        a.len = bytes.len() as libc::socklen_t;
        a
    }
    /// Its address.
    pub fn ptr(&mut self) -> *mut libc::sockaddr {
        (&raw mut self.storage).cast()
    }
    fn bytes_mut(&mut self) -> &mut [u8] {
        let size = size_of::<libc::sockaddr_storage>();
        // SAFETY: the bytes of `storage`, of which `size` are at most all, are initialized and have no invalid values.
        unsafe { std::slice::from_raw_parts_mut((&raw mut self.storage).cast(), size) }
    }
    /// All of it, beyond `len` too.
    fn bytes(&self) -> &[u8] {
        let size = size_of::<libc::sockaddr_storage>();
        // SAFETY: the bytes of `storage`, of which `size` are at most all, are initialized and have no invalid values.
        unsafe { std::slice::from_raw_parts((&raw const self.storage).cast(), size) }
    }
    fn family(&self) -> i32 {
        i32::from(self.storage.ss_family)
    }
}

/// What is wrong with a managed address.
pub enum Bad {
    /// Its family: WSAEAFNOSUPPORT.
    Family,
    /// It is too short: SystemException.
    Short,
    /// A path that is too long: ArgumentOutOfRangeException.
    Long,
}

/// The kernel's address for the bytes of a managed one.
pub fn to_host(bytes: &[u8]) -> std::result::Result<Address, Bad> {
    let &[low, high, ref rest @ ..] = bytes else {
        return Err(Bad::Short);
    };
    let family = family_to_host(i32::from(u16::from_le_bytes([low, high])));
    match family {
        Some(libc::AF_INET) => {
            let rest = rest.get(..IPV4_SIZE - 2).ok_or(Bad::Short)?;
            let mut host = [0u8; size_of::<libc::sockaddr_in>()];
            host[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
            host[2..8].copy_from_slice(rest);
            Ok(Address::from_bytes(&host))
        }
        Some(libc::AF_INET6) => {
            let rest = rest.get(..IPV6_SIZE - 2).ok_or(Bad::Short)?;
            let mut host = [0u8; size_of::<libc::sockaddr_in6>()];
            host[..2].copy_from_slice(&(libc::AF_INET6 as u16).to_ne_bytes());
            host[2..4].copy_from_slice(&rest[..2]);
            // The flow information stays 0. Address and scope lie as they do in the managed form.
            host[8..28].copy_from_slice(&rest[6..]);
            Ok(Address::from_bytes(&host))
        }
        Some(libc::AF_UNIX) => {
            let room = size_of::<libc::sockaddr_un>() - 2;
            if rest.len() >= room {
                return Err(Bad::Long);
            }
            let mut host = (libc::AF_UNIX as u16).to_ne_bytes().to_vec();
            host.extend_from_slice(rest);
            Ok(Address::from_bytes(&host))
        }
        _ => Err(Bad::Family),
    }
}

/// The bytes of the managed form; None for a family that has none.
pub fn from_host(address: &Address) -> Option<Vec<u8>> {
    let host = address.bytes();
    match address.family() {
        libc::AF_INET => {
            let mut managed = vec![2, 0];
            managed.extend_from_slice(&host[2..8]);
            Some(managed)
        }
        libc::AF_INET6 => {
            let mut managed = vec![WINDOWS_INET6 as u8, 0];
            managed.extend_from_slice(&host[2..4]);
            managed.extend_from_slice(&[0; 4]);
            managed.extend_from_slice(&host[8..28]);
            let mapped_any = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0];
            if managed[8..24] == mapped_any {
                // Any address is the same in both families.
                managed[8..24].fill(0);
            }
            Some(managed)
        }
        libc::AF_UNIX => {
            // Mono's size: that of the kernel, which counts the family, and the family again.
            let path = (address.len as usize).min(size_of::<libc::sockaddr_un>());
            let mut managed = vec![1, 0];
            managed.extend_from_slice(&host[2..path.max(2)]);
            managed.extend_from_slice(&[0; 2]);
            Some(managed)
        }
        _ => None,
    }
}

/// Where a field of a class lies, looked up once.
pub(crate) struct Field(&'static str, AtomicUsize);
impl Field {
    pub(crate) const fn new(name: &'static str) -> Field {
        Field(name, AtomicUsize::new(0))
    }
    pub(crate) fn of(&self, cx: &Cx<'_>, class: ClassRef) -> Result<usize> {
        match self.1.load(Ordering::Relaxed) {
            0 => {
                let at = field_offset(cx, class, self.0)?;
                self.1.store(at, Ordering::Relaxed);
                Ok(at)
            }
            at => Ok(at),
        }
    }
}
static BUFFER: Field = Field::new("m_Buffer");
static SIZE: Field = Field::new("m_Size");

/// The kernel's form of a SocketAddress; the inner error is a Winsock number.
pub fn read<'cx>(
    cx: &'cx Cx<'cx>,
    address: ObjRef<'cx>,
) -> Result<std::result::Result<Address, i32>> {
    let address = cx.non_null(address)?;
    let class = address.class();
    let buffer = cx.non_null(address.read_ref(BUFFER.of(cx, class)?))?;
    let size = address.read::<i32>(SIZE.of(cx, class)?).max(0) as usize;
    let bytes = buffer.elements::<u8>();
    match to_host(&bytes[..size.min(bytes.len())]) {
        Ok(host) => Ok(Ok(host)),
        Err(Bad::Family) => Ok(Err(winsock::FAMILY_NOT_SUPPORTED)),
        Err(Bad::Short) => Err(cx.throw_default(Known::SystemException)),
        Err(Bad::Long) => Err(cx.throw_default(Known::ArgumentOutOfRangeException)),
    }
}

static CLASS: Published<vervet_types::Class> = Published::new();

/// A new SocketAddress; the inner error is a Winsock number.
pub fn make<'cx>(
    cx: &'cx Cx<'cx>,
    address: &Address,
) -> Result<std::result::Result<ObjRef<'cx>, i32>> {
    let Some(bytes) = from_host(address) else {
        return Ok(Err(winsock::FAMILY_NOT_SUPPORTED));
    };
    let class = match CLASS.get() {
        Some(class) => class,
        None => CLASS.set(system_class(cx, "System.Net", "SocketAddress")?),
    };
    let buffer = crate::support::arrays::byte_array(cx, &bytes)?;
    let object = cx.alloc(class)?;
    object.write_ref(BUFFER.of(cx, class)?, buffer);
    object.write(SIZE.of(cx, class)?, bytes.len() as i32);
    Ok(Ok(object))
}

/// A class of System.dll, which is loaded: its code calls us.
pub fn system_class(cx: &Cx<'_>, namespace: &str, name: &str) -> Result<ClassRef> {
    let all = cx.universe().assemblies();
    for assembly in all.iter().filter(|a| a.name == "System") {
        if let Some(class) = cx.load(assembly.manifest.find_type(namespace, name))? {
            return Ok(class);
        }
    }
    Err(cx.throw(
        Known::TypeLoadException,
        &format!("Could not load type '{namespace}.{name}'."),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back(managed: &[u8]) -> Option<Vec<u8>> {
        from_host(&to_host(managed).ok()?)
    }

    #[test]
    fn addresses_survive_the_way_there_and_back() {
        let v4 = [2, 0, 0x1f, 0x90, 127, 0, 0, 1];
        assert_eq!(there_and_back(&v4).as_deref(), Some(&v4[..]));
        // Managed code passes 16 bytes.
        let long = [&v4[..], &[0; 8]].concat();
        assert_eq!(there_and_back(&long).as_deref(), Some(&v4[..]));
        let mut v6 = vec![23, 0, 0x1f, 0x90, 0, 0, 0, 0];
        v6.extend(1..=16);
        v6.extend([5, 0, 0, 0]);
        assert_eq!(there_and_back(&v6), Some(v6.clone()));
        let path = [&[1, 0][..], b"/tmp/x\0"].concat();
        assert_eq!(there_and_back(&path), Some([&path[..], &[0, 0]].concat()));
    }

    #[test]
    fn bad_addresses_are_told_apart() {
        assert!(matches!(to_host(&[]), Err(Bad::Short)));
        assert!(matches!(to_host(&[2, 0, 1, 1, 127, 0]), Err(Bad::Short)));
        assert!(matches!(to_host(&[23, 0, 1, 1, 127, 0]), Err(Bad::Short)));
        assert!(matches!(to_host(&[99, 0, 1, 1]), Err(Bad::Family)));
        let long = [&[1u8, 0][..], &[b'x'; 108]].concat();
        assert!(matches!(to_host(&long), Err(Bad::Long)));
    }
}
