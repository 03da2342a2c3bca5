//! Slots outside the heap in which Rust code and generated code keep references.
//!
//! # Invariants
//! A root slot is one aligned word of memory that is never freed and that the collector will visit; it is
//! written through [`Root::set`] (which marks its card) only.
use crate::object::{ObjRef, store_ref};
use vervet_os::{LeafLock, memory};

/// A root slot. Copyable: it is the slot, not the reference.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Root(usize);

struct Slots {
    next: usize,
    end: usize,
}
static SLOTS: LeafLock<Slots> = LeafLock::new(Slots { next: 0, end: 0 });
const CHUNK: usize = 1 << 20;

/// `bytes` zeroed bytes of root memory, 8-aligned: reference statics and literal slots.
pub fn reserve(bytes: usize) -> *mut u8 {
    let bytes = (bytes + 7) & !7;
    let mut s = SLOTS.lock();
    if s.end - s.next < bytes {
        let size = CHUNK.max(bytes);
        let p = memory::reserve(size).unwrap_or_else(|e| panic!("no memory for roots: {e}"));
        (s.next, s.end) = (p as usize, p as usize + size);
    }
    let at = s.next;
    s.next += bytes;
    at as *mut u8
}

impl Root {
    /// A fresh slot holding null.
    pub fn new() -> Root {
        Root(reserve(8) as usize)
    }
    /// A fresh slot holding `object`.
    pub fn of(object: ObjRef<'_>) -> Root {
        let r = Root::new();
        r.set(object);
        r
    }
    /// What it holds.
    pub fn get<'cx>(self) -> ObjRef<'cx> {
        // SAFETY: a slot holds 0 or the address of a live object.
        unsafe { ObjRef::from_addr(*(self.0 as *const usize)) }
    }
    /// Stores a reference.
    pub fn set(self, object: ObjRef<'_>) {
        // SAFETY: the slot is ours and aligned.
        unsafe { store_ref(self.0 as *mut usize, object) }
    }
    /// Its address, for relocations.
    pub fn address(self) -> usize {
        self.0
    }
}
impl Default for Root {
    fn default() -> Self {
        Root::new()
    }
}
