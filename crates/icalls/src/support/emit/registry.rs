//! The numbers by which managed code names builders in IL before they have rows: pseudo tokens.
//!
//! # How it works
//! `ModuleBuilder` counts pseudo tokens down from the greatest row number of a table, and registers for each the member that it stands for.
//! When a method is encoded its IL gets the real token of that member.
//!
//! # Invariants
//! A registered object is kept for the life of the process, as mono keeps it.
use rustc_hash::FxHashMap;
use vervet_metadata::Token;
use vervet_os::LeafLock;
use vervet_runtime::memory::roots::{self, Root};
use vervet_runtime::object::ObjRef;
use vervet_types::ModuleRef;

/// By module and token.
static OBJECTS: LeafLock<FxHashMap<(u32, u32), Root>> =
    LeafLock::new(FxHashMap::with_hasher(rustc_hash::FxBuildHasher));

/// Remembers what a token stands for; the first object stays.
pub fn register(module: ModuleRef, token: Token, object: ObjRef<'_>) {
    roots::keep(&OBJECTS, (module.id, token.0), object);
}
/// What a token stands for; null if it was not registered.
pub fn registered<'cx>(module: ModuleRef, token: Token) -> ObjRef<'cx> {
    let root = OBJECTS.lock().get(&(module.id, token.0)).copied();
    root.map_or(ObjRef::NULL, |r| r.get())
}
