//! The share modes of open files, emulated within this process.
//!
//! # Invariants
//! A file (device and inode) is in the table while a descriptor that this module opened refers to it. The share mode of the first open
//! decides what later opens may do. As in mono, a later open that shares is not asked whether it shares what the first one does.
use std::collections::HashMap;
use std::ffi::CString;
use vervet_os::LeafLock;

/// FileShare.None.
const NONE: i32 = 0;
/// FileAccess.Read, and FileShare.Read.
pub const READ: i32 = 1;
/// FileAccess.Write, and FileShare.Write.
pub const WRITE: i32 = 2;

/// A file that is open, by device and inode.
struct Shared {
    share: i32,
    opens: u32,
}
/// What a descriptor refers to.
struct Open {
    file: (u64, u64),
    delete_on_close: Option<CString>,
}
#[derive(Default)]
struct Table {
    files: HashMap<(u64, u64), Shared>,
    open: HashMap<i32, Open>,
}
/// All files that this module opened. A leaf lock: nothing waits or allocates managed memory under it.
static TABLE: LeafLock<Option<Table>> = LeafLock::new(None);

/// Notes that `fd` was opened with that access and share mode; false if that violates the modes of the others.
pub fn enter(
    fd: i32,
    file: (u64, u64),
    access: i32,
    share: i32,
    delete_on_close: Option<CString>,
) -> bool {
    let mut table = TABLE.lock();
    let t = table.get_or_insert_default();
    match t.files.get_mut(&file) {
        Some(s) => {
            let refused = s.share == NONE
                || share == NONE
                || s.share == READ && access != READ
                || s.share == WRITE && access != WRITE;
            if refused {
                return false;
            }
            s.opens += 1;
        }
        None => {
            t.files.insert(file, Shared { share, opens: 1 });
        }
    }
    t.open.insert(
        fd,
        Open {
            file,
            delete_on_close,
        },
    );
    true
}
/// Forgets a descriptor before it is closed; the path to delete with it, if any.
pub fn leave(fd: i32) -> Option<CString> {
    let mut table = TABLE.lock();
    let t = table.as_mut()?;
    let gone = t.open.remove(&fd)?;
    if let Some(s) = t.files.get_mut(&gone.file) {
        s.opens -= 1;
        if s.opens == 0 {
            t.files.remove(&gone.file);
        }
    }
    gone.delete_on_close
}
