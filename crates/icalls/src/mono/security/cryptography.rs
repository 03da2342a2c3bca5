//! Native half of Mono.Security.Cryptography.KeyPairPersistence: who may read the key stores.
//!
//! Keeps nothing.
use crate::support::args::Chars;
use crate::system::io::mono_io::stat;
use vervet_runtime::icalls;

/// Sets the permissions of a path. False if that fails.
fn chmod(path: Chars<'_>, mode: u32) -> bool {
    path.path()
        // SAFETY: the path is NUL-terminated.
        .is_ok_and(|path| unsafe { libc::chmod(path.as_ptr(), mode) == 0 })
}
/// The permissions of a path; None if there is no such path.
fn mode(path: Chars<'_>) -> Option<u32> {
    Some(stat(&path.path().ok()?, true).ok()?.st_mode)
}

icalls! {
    /// Permissions can be restricted on every Unix file system.
    "Mono.Security.Cryptography.KeyPairPersistence::_CanSecure" fn can_secure(cx, root: Chars<'cx>) -> bool { Ok(true) }
    /// Makes the directory accessible to its owner only (mode 700).
    "Mono.Security.Cryptography.KeyPairPersistence::_ProtectUser" fn protect_user(cx, path: Chars<'cx>) -> bool { Ok(chmod(path, 0o700)) }
    /// Makes the directory writable by its owner only (mode 755).
    "Mono.Security.Cryptography.KeyPairPersistence::_ProtectMachine" fn protect_machine(cx, path: Chars<'cx>) -> bool { Ok(chmod(path, 0o755)) }
    /// Nobody but its owner, who is this user, may do anything.
    "Mono.Security.Cryptography.KeyPairPersistence::_IsUserProtected" fn is_user_protected(cx, path: Chars<'cx>) -> bool {
        Ok(mode(path).is_some_and(|mode| mode & 0o077 == 0))
    }
    /// Nobody but its owner may write.
    "Mono.Security.Cryptography.KeyPairPersistence::_IsMachineProtected" fn is_machine_protected(cx, path: Chars<'cx>) -> bool {
        Ok(mode(path).is_some_and(|mode| mode & 0o022 == 0))
    }
}
