//! Native half of System.IO.DriveInfo, and the mount table.
//!
//! Keeps nothing.
use crate::support::args::{Chars, Out};
use crate::support::error_numbers;
use crate::support::text::{path, text};
use std::ffi::CStr;
use vervet_runtime::{ObjRef, icalls};

/// A row of the mount table.
pub struct Mount {
    /// What is mounted: a device, a share, or a name that says nothing.
    pub source: String,
    /// Where it is mounted.
    pub point: String,
    /// The type of the file system.
    pub fs: String,
}

/// The mounted file systems.
pub fn mounts() -> Vec<Mount> {
    let table = std::fs::read("/proc/self/mounts").or_else(|_| std::fs::read("/etc/mtab"));
    mounts_in(&table.unwrap_or_default())
}
/// The rows of a mount table, of which the first of each place counts. A place may be any bytes.
pub fn mounts_in(table: &[u8]) -> Vec<Mount> {
    let mut found: Vec<Mount> = Vec::new();
    for line in String::from_utf8_lossy(table).lines() {
        let mut columns = line.split(' ');
        if let (Some(source), Some(point), Some(fs)) =
            (columns.next(), columns.next(), columns.next())
        {
            let point = unescape(point);
            if !found.iter().any(|m| m.point == point) {
                found.push(Mount {
                    source: unescape(source),
                    point,
                    fs: fs.to_string(),
                });
            }
        }
    }
    found
}
impl Mount {
    /// Is it a drive: a device or a share, or layers of such? The kernel's own file systems, and those in memory, are none, as in mono.
    pub fn is_drive(&self) -> bool {
        self.source.starts_with('/')
            || self.source.contains(":/")
            || matches!(self.fs.as_str(), "overlay" | "aufs" | "zfs")
    }
}
/// `\040` and its like, as the kernel writes blanks.
fn unescape(s: &str) -> String {
    let mut out = Vec::new();
    let b = s.as_bytes();
    let mut i = 0;
    while i < b.len() {
        let octal = b
            .get(i + 1..i + 4)
            .and_then(|d| std::str::from_utf8(d).ok())
            .and_then(|d| u8::from_str_radix(d, 8).ok());
        match (b[i], octal) {
            (b'\\', Some(v)) => {
                out.push(v);
                i += 4;
            }
            (v, _) => {
                out.push(v);
                i += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
/// statfs(2); None if it fails.
fn statfs(path: &CStr) -> Option<libc::statfs> {
    // SAFETY: the path is NUL-terminated, the record is filled.
    unsafe {
        let mut s = std::mem::zeroed();
        (libc::statfs(path.as_ptr(), &mut s) == 0).then_some(s)
    }
}
/// System.IO.DriveType by the file system's type.
fn drive_type(fs: &str) -> u32 {
    const REMOVABLE: u32 = 2;
    const FIXED: u32 = 3;
    const NETWORK: u32 = 4;
    const CD_ROM: u32 = 5;
    const RAM: u32 = 6;
    match fs {
        "tmpfs" | "ramfs" | "proc" | "sysfs" | "devpts" | "cgroup" | "cgroup2" | "debugfs"
        | "securityfs" | "usbfs" | "devfs" | "selinuxfs" | "fuseblk_ram" => RAM,
        "iso9660" | "udf" | "isofs" => CD_ROM,
        "nfs" | "nfs4" | "cifs" | "smb" | "smbfs" | "afs" | "ncpfs" | "coda" => NETWORK,
        "vfat_removable" => REMOVABLE,
        _ => FIXED,
    }
}

icalls! {
    /// Bytes that this user may use, bytes in all, and free bytes of the file system that holds the path.
    "System.IO.DriveInfo::GetDiskFreeSpaceInternal" fn get_disk_free_space_internal(
        cx, name: Chars<'cx>, length: i32, available: Out<'cx, u64>, total: Out<'cx, u64>, free: Out<'cx, u64>, error: Out<'cx, i32>,
    ) -> bool {
        let name = path(name.take(length));
        // SAFETY: the path is NUL-terminated, the record is filled.
        let s = cx.native(|| unsafe {
            let mut s: libc::statvfs = std::mem::zeroed();
            if libc::statvfs(name.as_ptr(), &mut s) == 0 { Ok(s) } else { Err(error_numbers::last()) }
        });
        match s {
            Ok(s) => {
                let read_only = s.f_flag & libc::ST_RDONLY != 0;
                available.set(if read_only { 0 } else { s.f_bavail * s.f_frsize });
                total.set(s.f_blocks * s.f_frsize);
                free.set(if read_only { 0 } else { s.f_bfree * s.f_frsize });
                error.set(error_numbers::SUCCESS);
                Ok(true)
            }
            Err(e) => {
                error.set(e);
                Ok(false)
            }
        }
    }
    /// DriveType; 1 (no root directory) for a path that is not mounted.
    "System.IO.DriveInfo::GetDriveTypeInternal" fn get_drive_type_internal(cx, name: Chars<'cx>, length: i32) -> u32 {
        let name = text(name.take(length));
        let trimmed = if name.len() > 1 { name.trim_end_matches('/') } else { &name };
        Ok(mounts().iter().find(|m| m.point == trimmed).map_or(1, |m| drive_type(&m.fs)))
    }
    /// The name of the file system that holds the path.
    "System.IO.DriveInfo::GetDriveFormatInternal" fn get_drive_format_internal(cx, name: Chars<'cx>, length: i32) -> ObjRef<'cx> {
        let name = path(name.take(length));
        let kind = cx.native(|| statfs(&name)).map(|s| s.f_type & 0xffff_ffff);
        let known = match kind {
            Some(0xEF53) => Some("ext"),
            Some(0x0102_1994) => Some("tmpfs"),
            Some(0x9fa0) => Some("proc"),
            Some(0x6265_6572) => Some("sysfs"),
            Some(0x1cd1) => Some("devpts"),
            Some(0x9123_683E) => Some("btrfs"),
            Some(0x5846_5342) => Some("xfs"),
            Some(0x6969) => Some("nfs"),
            Some(0x794c_7630) => Some("overlay"),
            Some(0x4d44) => Some("fat"),
            Some(0x9660) => Some("iso9660"),
            _ => None,
        };
        let mounted = || mounts().into_iter().find(|m| m.point.as_bytes() == name.as_bytes()).map(|m| m.fs);
        cx.alloc_opt_str(known.map(str::to_string).or_else(mounted).as_deref())
    }
}
