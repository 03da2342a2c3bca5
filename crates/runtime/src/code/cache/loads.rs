//! The assemblies that compiling a method loads: kept beside its code, and loaded before the code is looked for.
//!
//! ```text
//! run 1   compile(Main) binds Main's module -> System.Core, and loads it      kept: code of Main, with System.Core in its set
//!                                                                                   loads of Main, with the set of before
//! run 2   look(Main): the set of the code does not hold, System.Core is not bound
//!         the loads hold: the edge is bound, System.Core is loaded
//!         look(Main): the code is used
//! ```
//!
//! # Invariants
//! * A program sees the same loads in the same order as if the method were compiled: they are kept with everything that the compile depended on before it
//!   loaded, which must hold here too. Each load is compared with what was loaded then before the next one is made.
//! * Only a look-up whose method would be compiled now loads anything.
use super::counts;
use super::lookup::{self, Open, Rejected};
use super::modules;
use super::names::Finder;
use crate::domain::Domain;
use vervet_codecache::file::Entry;
use vervet_codecache::wire::{Damaged, In};
use vervet_types::{MethodRef, ModuleRef};

/// Begins the identity of such an entry. A method's begins with the tag of a type, which is never this; a stub's with another byte.
pub(super) fn identity_tag() -> Vec<u8> {
    vec![0xFD]
}

/// Finds such an entry.
pub(super) fn hash_of(method: MethodRef) -> u64 {
    !method.stable_hash()
}

/// Loads what compiling the method in its home loads, if that is known here. Says whether there was anything.
pub(super) fn load(domain: &Domain, home: ModuleRef, open: &Open, method: MethodRef) -> bool {
    let entries = lookup::read(open, hash_of(method));
    entries.iter().any(
        |kept| match use_one(domain, home, open, &kept.entry(), method) {
            Ok(()) => true,
            Err(Rejected::Damaged) => {
                counts::count(&counts::REJECTED_DAMAGED);
                false
            }
            Err(_) => false,
        },
    )
}

fn use_one(
    domain: &Domain,
    home: ModuleRef,
    open: &Open,
    entry: &Entry<'_>,
    method: MethodRef,
) -> Result<(), Rejected> {
    let set = lookup::holds(home, open, entry.set)?;
    let finder = |read| Finder {
        modules: &set.modules,
        read,
    };
    let tag = identity_tag();
    let own = entry.identity().strip_prefix(&*tag).ok_or(Damaged)?;
    let mut identity = finder(In::new(own));
    if identity.method()? != method || !identity.read.is_at_end() {
        return Err(Rejected::Other);
    }
    let mut content = finder(In::new(entry.content()));
    lookup::assumptions(domain, &set, &mut content)?;
    modules::bind_behind(&set, content.read.rest(), open.telling)?;
    Ok(())
}
