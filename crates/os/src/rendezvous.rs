//! Where who attaches and the program find each other: `vervet-USER/attach-PROCESS` in `$XDG_RUNTIME_DIR` of the program, or in `/tmp`.
//!
//! # Invariants
//! * Both ends read the variable in the environment with which the program was started, so they agree.
//! * A directory that is not the user's, is open to others or is reached by a link is not used.
use std::io::{Error, ErrorKind, Result};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// The user whose rights this process has.
pub fn user() -> u32 {
    // SAFETY: a system call without arguments, which cannot fail.
    unsafe { libc::geteuid() }
}

/// The name of the socket for a process. `Err` if its environment may not be read.
pub fn socket(pid: u32) -> Result<PathBuf> {
    let environment = std::fs::read(format!("/proc/{pid}/environ"))?;
    let variables = environment.split(|b| *b == 0);
    let named = variables
        .filter_map(|v| v.strip_prefix(b"XDG_RUNTIME_DIR="))
        .next();
    let base = named.map(|v| Path::new(std::ffi::OsStr::from_bytes(v)));
    let is_ours = |base: &&Path| {
        let found = std::fs::metadata(base);
        base.is_absolute() && found.is_ok_and(|m| m.is_dir() && m.uid() == user())
    };
    let base = base.filter(is_ours).unwrap_or(Path::new("/tmp"));
    Ok(base
        .join(format!("vervet-{}", user()))
        .join(format!("attach-{pid}")))
}

/// Makes the directory if it is not there.
pub fn make(directory: &Path) -> Result<()> {
    match std::fs::DirBuilder::new().mode(0o700).create(directory) {
        Err(e) if e.kind() != ErrorKind::AlreadyExists => Err(e),
        _ => check(directory),
    }
}

/// Is the directory one that only the user can change?
pub fn check(directory: &Path) -> Result<()> {
    let found = std::fs::symlink_metadata(directory)?;
    let refuse = |what: &str| {
        let text = format!("{} {what}", directory.display());
        Err(Error::new(ErrorKind::PermissionDenied, text))
    };
    if !found.is_dir() {
        return refuse("is no directory");
    }
    if found.uid() != user() {
        return refuse("belongs to another user");
    }
    if found.mode() & 0o077 != 0 {
        return refuse("is open to other users");
    }
    Ok(())
}

/// The process and the user at the other end.
pub fn peer(stream: &UnixStream) -> Result<(u32, u32)> {
    // SAFETY: a complete record of the size that the call is told.
    unsafe {
        let mut peer: libc::ucred = std::mem::zeroed();
        let mut size = size_of::<libc::ucred>() as libc::socklen_t;
        let failed = libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &mut size,
        );
        match failed {
            0 => Ok((peer.pid as u32, peer.uid)),
            _ => Err(Error::last_os_error()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_directory_that_others_can_change_is_refused() {
        let folder = std::env::temp_dir().join(format!("vervet-place-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        make(&folder).unwrap();
        make(&folder).unwrap();
        let rights = |mode| {
            std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).unwrap()
        };
        rights(0o755);
        assert!(
            make(&folder)
                .unwrap_err()
                .to_string()
                .contains("open to other users")
        );
        rights(0o700);
        let link = folder.join("link");
        std::os::unix::fs::symlink(&folder, &link).unwrap();
        assert!(
            check(&link)
                .unwrap_err()
                .to_string()
                .contains("is no directory")
        );
        if user() == 0 {
            std::os::unix::fs::chown(&folder, Some(12345), None).unwrap();
            assert!(
                check(&folder)
                    .unwrap_err()
                    .to_string()
                    .contains("another user")
            );
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn both_ends_know_each_other() {
        let (one, other) = UnixStream::pair().unwrap();
        assert_eq!(peer(&one).unwrap(), (std::process::id(), user()));
        assert_eq!(peer(&other).unwrap(), (std::process::id(), user()));
        let path = socket(std::process::id()).unwrap();
        assert!(path.ends_with(format!("vervet-{}/attach-{}", user(), std::process::id())));
        assert!(socket(u32::MAX).is_err());
    }
}
