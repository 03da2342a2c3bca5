//! What VTables remember of casts and generic virtual calls, so that generated code need not ask again.
//!
//! # Invariants
//! * What is remembered never changes: whether a class derives from another, and which code a method of it has. So a word may be overwritten by another
//!   true one at any time.
//! * VTables of transparent proxies remember nothing: the real proxy decides anew each time.
use crate::remoting;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use vervet_abi::vtable::{self, GenericTarget, VTable};
use vervet_os::LeafLock;
use vervet_types::{ClassRef, MethodRef};

static NONE: GenericTarget = GenericTarget { method: 0, code: 0 };
/// All that were made, by VTable and method.
static TARGETS: LeafLock<Option<FxHashMap<(usize, usize), &'static GenericTarget>>> =
    LeafLock::new(None);

/// The words of a VTable that remembers no method.
pub(super) fn no_generics() -> [AtomicUsize; vtable::GENERICS] {
    std::array::from_fn(|_| AtomicUsize::new(&NONE as *const GenericTarget as usize))
}

/// A cast of an object of that VTable to the class has that answer.
pub fn cast(vt: &VTable, class: ClassRef, answer: bool) {
    if remoting::is_proxy_vtable(vt) {
        return;
    }
    let at = vtable::cast_index(class.stable_hash());
    let word = class as *const vervet_types::Class as usize + usize::from(!answer);
    // What is looked at first is the answer that was asked for last.
    let before = vt.casts[at].swap(word, Ordering::Relaxed);
    if before & !1 != word & !1 {
        vt.casts[at + 1].store(before, Ordering::Relaxed);
    }
}

/// A call of the generic virtual method on an object of that VTable reaches the code: a permanent stub, which goes to the code of the method
/// whatever becomes of that.
pub fn generic(vt: &'static VTable, method: MethodRef, code: usize) {
    if remoting::is_proxy_vtable(vt) || method.method_args().is_empty() {
        return;
    }
    let key = (
        vt as *const VTable as usize,
        method as *const vervet_types::Method as usize,
    );
    let target = *TARGETS
        .lock()
        .get_or_insert_default()
        .entry(key)
        .or_insert_with(|| {
            Box::leak(Box::new(GenericTarget {
                method: key.1,
                code,
            }))
        });
    let at = vtable::generic_index(method.stable_hash());
    // Release: who reads the address reads the target.
    vt.generics[at].store(target as *const GenericTarget as usize, Ordering::Release);
}
