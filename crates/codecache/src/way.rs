//! The way to a directory, one component at a time.
//!
//! ```text
//! component      is followed if
//! directory      it passes the checks of `trust`
//! symbolic link  it is above the directories that may be made, and either only root and the owner can write the directory that it is in, or the
//!                link is root's or the owner's (in a sticky directory everybody has links)
//! ```
//!
//! # Invariants
//! * No component is opened by more than one name, and links are read here: the kernel follows none.
//! * What is returned passed the checks itself, and so did every directory from the root to it.
use crate::trust::{FileSystem, Owner, open_at, refused, status};
use std::collections::VecDeque;
use std::ffi::{CString, OsStr, OsString};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path};

/// Links that are followed before the way counts as endless.
const MOST_LINKS: usize = 40;
/// The longest text of a link.
const LONGEST_LINK: usize = 4096;

/// A component that is still to go.
struct Step {
    name: OsString,
    /// It is made if it is not there; a link is refused.
    is_own: bool,
}

/// Opens a directory by an absolute path without `.` and `..`. The last `make` components are made if they are not there; these, and the last one
/// in any case, must be no links.
pub(crate) fn open(path: &Path, make: usize, owner: Owner) -> Result<OwnedFd> {
    let straight = |c: Component<'_>| matches!(c, Component::RootDir | Component::Normal(_));
    let names: Vec<&OsStr> = path
        .components()
        .filter(|c| matches!(c, Component::Normal(_)))
        .map(Component::as_os_str)
        .collect();
    if !path.is_absolute() || !path.components().all(straight) || names.is_empty() {
        return Err(refused("not an absolute path"));
    }
    let own = names.len() - make.clamp(1, names.len());
    let mut steps: VecDeque<Step> = (0..)
        .zip(names)
        .map(|(n, name)| Step {
            name: name.to_owned(),
            is_own: n >= own,
        })
        .collect();
    let root = open_at(libc::AT_FDCWD, c"/", libc::O_PATH | libc::O_DIRECTORY, 0)?;
    check(&root, owner)?;
    let mut way = vec![root];
    let mut links = 0;
    while let Some(step) = steps.pop_front() {
        let Some(here) = way.last() else {
            return Err(refused("a way without a root"));
        };
        if step.name == "." {
            continue;
        }
        if step.name == ".." {
            // Above the root is the root.
            way.truncate((way.len() - 1).max(1));
            continue;
        }
        let next = open_step(here, &step, (make > 0).then_some(owner))?;
        let s = status(&next)?;
        match s.st_mode & libc::S_IFMT {
            libc::S_IFDIR => {
                check(&next, owner)?;
                way.push(next);
            }
            libc::S_IFLNK if !step.is_own => {
                links += 1;
                let of_us = owner.may_link(&s);
                let nobody_else = status(here)?.st_mode & 0o022 == 0;
                if links > MOST_LINKS || !(of_us || nobody_else) {
                    return Err(refused("another user's link on the way"));
                }
                let text = link_text(&next)?;
                let target = Path::new(&text);
                if target.is_absolute() {
                    way.truncate(1);
                }
                for c in target.components().rev() {
                    if !matches!(c, Component::RootDir) {
                        steps.push_front(Step {
                            name: c.as_os_str().to_owned(),
                            is_own: false,
                        });
                    }
                }
            }
            _ => return Err(refused("no directory")),
        }
    }
    way.pop().ok_or_else(|| refused("an empty way"))
}

/// Opens one component, whatever it is; makes a directory that is to be there.
fn open_step(here: &OwnedFd, step: &Step, make: Option<Owner>) -> Result<OwnedFd> {
    let name = CString::new(step.name.as_bytes()).map_err(|_| refused("a zero byte"))?;
    match (open_at(here.as_raw_fd(), &name, libc::O_PATH, 0), make) {
        (Err(e), Some(owner)) if e.kind() == ErrorKind::NotFound && step.is_own => {
            crate::trust::make_folder(here, &name, owner);
            open_at(here.as_raw_fd(), &name, libc::O_PATH, 0)
        }
        (other, _) => other,
    }
}

/// The rules for a directory on the way.
fn check(folder: &OwnedFd, owner: Owner) -> Result<()> {
    if !owner.is_safe_way(&status(folder)?) {
        return Err(refused("another user can write a directory on the way"));
    }
    match FileSystem::of(folder)? {
        FileSystem::Foreign => Err(refused(
            "a directory on the way is on a file system whose owners and rights others decide",
        )),
        _ => Ok(()),
    }
}

fn link_text(link: &OwnedFd) -> Result<OsString> {
    let mut text = vec![0u8; LONGEST_LINK];
    // SAFETY: an open descriptor of a link, whose text an empty name stands for, and a buffer of that length.
    let len = unsafe {
        libc::readlinkat(
            link.as_raw_fd(),
            c"".as_ptr(),
            text.as_mut_ptr().cast(),
            text.len(),
        )
    };
    match usize::try_from(len) {
        Ok(len) if len < LONGEST_LINK => {
            text.truncate(len);
            Ok(OsString::from_vec(text))
        }
        Ok(_) => Err(refused("a link that is too long")),
        Err(_) => Err(Error::last_os_error()),
    }
}
