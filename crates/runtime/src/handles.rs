//! GC handles, ephemeron arrays and finalizer registration: the interfaces of the collector to come.
//!
//! # Invariants
//! A handle is `(index << 3) | (kind + 1)`, never 0. Nothing is collected yet, so weak handles stay alive.
//! A freed or foreign value is recognised (its slot is empty) and never read wildly.
use crate::object::ObjRef;
use crate::roots::Root;
use vervet_os::LeafLock;

/// The kinds, by their managed numbers (System.Runtime.InteropServices.GCHandleType).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum HandleKind {
    Weak = 0,
    WeakTrackResurrection = 1,
    Normal = 2,
    Pinned = 3,
}

impl HandleKind {
    /// From its managed number.
    pub fn from_i32(n: i32) -> Option<HandleKind> {
        use HandleKind::*;
        [Weak, WeakTrackResurrection, Normal, Pinned]
            .get(usize::try_from(n).ok()?)
            .copied()
    }
}

struct Table {
    slots: Vec<(Root, bool)>,
    free: std::collections::VecDeque<u32>,
}
static TABLE: LeafLock<Table> = LeafLock::new(Table {
    slots: Vec::new(),
    free: std::collections::VecDeque::new(),
});

/// Allocates a handle; never 0.
pub fn alloc(object: ObjRef<'_>, kind: HandleKind) -> u32 {
    let root = {
        let mut t = TABLE.lock();
        if t.free.len() > 64 {
            let i = t.free.pop_front().expect("not empty");
            t.slots[i as usize].1 = true;
            (i, t.slots[i as usize].0)
        } else {
            let root = Root::new();
            t.slots.push((root, true));
            (t.slots.len() as u32 - 1, root)
        }
    };
    root.1.set(object);
    (root.0 << 3) | (kind as u32 + 1)
}

fn slot(handle: u32) -> Option<Root> {
    if !(1..=4).contains(&(handle & 7)) {
        return None;
    }
    let t = TABLE.lock();
    t.slots
        .get((handle >> 3) as usize)
        .filter(|s| s.1)
        .map(|s| s.0)
}
/// The kind of a handle.
pub fn kind(handle: u32) -> Option<HandleKind> {
    HandleKind::from_i32((handle & 7) as i32 - 1)
}
/// What a handle refers to; None if it is not a handle in use.
pub fn target<'cx>(handle: u32) -> Option<ObjRef<'cx>> {
    slot(handle).map(Root::get)
}
/// Sets what a handle refers to; false if it is not a handle in use.
pub fn set_target(handle: u32, object: ObjRef<'_>) -> bool {
    slot(handle).map(|r| r.set(object)).is_some()
}
/// Frees a handle; false if it is not in use.
pub fn free(handle: u32) -> bool {
    match slot(handle) {
        Some(root) => {
            root.set(ObjRef::NULL);
            let mut t = TABLE.lock();
            t.slots[(handle >> 3) as usize].1 = false;
            t.free.push_back(handle >> 3);
            true
        }
        None => false,
    }
}

/// Notes an object whose class has a finalizer. Nothing is collected yet, so nothing is finalized.
pub fn register_finalizer(object: ObjRef<'_>) {
    let _ = object;
}
