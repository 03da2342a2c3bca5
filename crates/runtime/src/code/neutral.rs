//! Compiled code that several domains link: of methods that all domains share, without assumptions about initialised classes.
//!
//! The root domain has the cache of compiled code and the background compiler, whose code may assume what holds there. Another domain compiles what the cache does not give
//! it; a program that makes one domain after the other would compile the same methods for each.
//!
//! # Invariants
//! * What is kept names no class, method or module of one domain only, and assumes no class to be initialised. So it is right in each domain.
//! * The root domain's code is not kept: a program with one domain has nothing here.
use rustc_hash::FxHashMap;
use std::sync::Arc;
use vervet_jit::Blob;
use vervet_os::LeafLock;
use vervet_types::class::ClassKind;
use vervet_types::{ClassRef, MethodRef};

/// By the method's id.
static KEPT: LeafLock<Option<FxHashMap<u32, Arc<Blob>>>> = LeafLock::new(None);

/// The code of the method, if another domain has compiled it.
pub(super) fn find(method: MethodRef) -> Option<Blob> {
    let kept = (KEPT.lock().as_ref()?.get(&method.id)).cloned();
    kept.map(|blob| Blob::clone(&blob))
}

/// Keeps what a domain other than the root domain has compiled, without assumptions.
pub(super) fn keep(method: MethodRef, blob: &Blob) {
    if !is_shared(method) {
        return;
    }
    let blob = Arc::new(blob.clone());
    let mut kept = KEPT.lock();
    kept.get_or_insert_default().insert(method.id, blob);
}

/// Is the method the same in all domains?
pub(super) fn is_shared(method: MethodRef) -> bool {
    !method.is_nameless()
        && method.module().owner == 0
        && is_shared_class(method.class)
        && method.method_args().iter().all(|a| is_shared_class(a))
}
fn is_shared_class(class: ClassRef) -> bool {
    match &class.kind {
        ClassKind::Inst { def, args } => {
            def.module.owner == 0 && args.iter().all(|a| is_shared_class(a))
        }
        ClassKind::SzArray(e)
        | ClassKind::Ptr(e)
        | ClassKind::ByRef(e)
        | ClassKind::Array { elem: e, .. } => is_shared_class(e),
        _ => class.module.owner == 0,
    }
}
