//! The share modes of open files, emulated within this process.
//!
//! # Invariants
//! A file (device and inode) is in the table while a descriptor that this module opened refers to it. The first open
//! decides the modes; each later open must fit them.
use std::collections::HashMap;
use std::ffi::CString;
use vervet_os::LeafLock;

/// FileAccess.Read.
pub const READ: i32 = 1;
/// FileAccess.Write.
pub const WRITE: i32 = 2;

struct Shared {
    share: i32,
    access: i32,
    opens: u32,
}
struct Open {
    file: (u64, u64),
    delete_on_close: Option<CString>,
}
#[derive(Default)]
struct Table {
    files: HashMap<(u64, u64), Shared>,
    open: HashMap<i32, Open>,
}
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
            let refused = s.share & (READ | WRITE) == 0
                || s.share == READ && access != READ
                || s.share == WRITE && access != WRITE
                || s.access & READ != 0 && share & READ == 0
                || s.access & WRITE != 0 && share & WRITE == 0;
            if refused {
                return false;
            }
            s.opens += 1;
        }
        None => {
            t.files.insert(
                file,
                Shared {
                    share,
                    access,
                    opens: 1,
                },
            );
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
