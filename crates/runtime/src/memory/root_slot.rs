//! A root slot: one word outside the heap in which Rust code keeps a reference.
//!
//! Invariant: the word lies in root memory ([`roots`](crate::memory::roots)), which the collector visits, and holds 0 or the address of
//! a live object.
use crate::object::{ObjRef, load_word, store_ref};

/// A root slot. Copyable: it is the slot, not the reference.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Root(pub(super) usize);

impl Root {
    /// What it holds.
    pub fn get<'cx>(self) -> ObjRef<'cx> {
        // SAFETY: a slot holds 0 or the address of a live object.
        unsafe { ObjRef::from_addr(load_word(self.0 as *const usize)) }
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
