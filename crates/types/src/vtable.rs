//! Virtual methods: which method a slot or an interface method means on a class (II.10.3, II.12.2).
//!
//! # Invariants
//! The parent's slots come first and keep their numbers. A slot holds the method that a call through it runs: an
//! abstract method where there is no implementation, a generic virtual method as its definition. Interfaces take no
//! slots of a class; their methods are found by [`Class::find_interface_impl`].
use crate::*;
use rustc_hash::FxHashMap;
use vervet_os::LeafLock;

/// Implementations found so far, by id of the interface method.
pub(crate) type ImplCache = LeafLock<FxHashMap<u32, Option<MethodRef>>>;

/// A MethodImpl row (II.22.27), resolved.
pub(crate) struct MethodImpl {
    pub(crate) declaration: MethodRef,
    pub(crate) body: MethodRef,
}

/// The virtual methods of a class.
pub struct VTableLayout {
    /// The implementation of each slot, the parent's first.
    pub slots: Vec<MethodRef>,
    /// Slot of each own method, by index; `u32::MAX` if it has none.
    pub(crate) own: Vec<u32>,
}

impl Class {
    /// Its virtual methods. For an interface: its instance methods in order.
    pub fn vtable(&'static self) -> R<&'static VTableLayout> {
        todo!()
    }
    /// The implementation of an interface's method on this class.
    pub fn find_interface_impl(&'static self, method: MethodRef) -> R<Option<MethodRef>> {
        let _ = method;
        todo!()
    }
    /// What a virtual call of `method` runs on an instance of exactly this class.
    pub fn find_virtual_impl(&'static self, method: MethodRef) -> R<MethodRef> {
        let _ = method;
        todo!()
    }
}
