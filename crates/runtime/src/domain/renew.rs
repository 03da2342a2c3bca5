//! Another life of a domain that has been unloaded: a new domain takes over its VTables, entries and code.
//!
//! # How it works
//! VTables, stubs and code of a domain cannot be freed piece by piece: what refers to them is everywhere. But nothing runs in a domain that is gone, and of what it has for the modules
//! that all domains share every new domain needs the same. So a new domain is one that is gone, if there is one: it has another number, a new loader, empty statics, and classes
//! whose constructors have not run. What code names by address, the slots of literals and Type objects, is filled with new objects.
//!
//! A program that makes and unloads one domain after the other links its code once, and does not grow. Modules of the program are loaded anew for each life, unless their files
//! are the same ([`Loader::renew`](crate::loader::Loader::renew)).
//!
//! | what a domain has | in its next life |
//! |---|---|
//! | VTables, proxies' VTables, entries, stubs, code | stay |
//! | statics, states of classes, failures of class constructors, [`ACTIVATION`] bits | are as at first |
//! | slots of literals and Type objects | stay, with new objects |
//! | interned strings that are no literals of methods in metadata, reflection objects, values of `SetData` | are forgotten |
//! | thread statics | hold zeros since the unload; the blocks stay with their threads |
//! | the loader | begins anew, and remembers what the program's files gave |
//!
//! [`ACTIVATION`]: vervet_abi::vtable::remoting::ACTIVATION
//!
//! # Invariants
//! * A domain is offered once it is Gone, and taken once.
//! * Its code assumes no class to be initialised: the cache's entries that do are not used in a domain other than the root domain.
//! * Objects of an earlier life that something still refers to have VTables of this one. They are as valid as before: their classes are the same.
use super::{Domain, NUMBERS, State};
use crate::classes::{initialize, vtables};
use crate::cx::{Cx, Result};
use crate::memory::roots::{self, Root};
use rustc_hash::FxHashSet;
use std::mem::offset_of;
use std::sync::atomic::Ordering;
use vervet_abi::layouts::TypeObject;
use vervet_os::LeafLock;
use vervet_types::Known;

/// The domains that are gone.
static FREE: LeafLock<Vec<&'static Domain>> = LeafLock::new(Vec::new());

/// The domain may be renewed.
pub(super) fn offer(domain: &'static Domain) {
    FREE.lock().push(domain);
}

/// A domain that is gone, as good as new.
///
/// # Errors
/// OutOfMemoryException; the domain is offered again.
pub(super) fn take<'cx>(cx: &'cx Cx<'cx>) -> Result<Option<&'static Domain>> {
    let Some(domain) = FREE.lock().pop() else {
        return Ok(None);
    };
    domain.loader.renew(&cx.rt().root.loader);
    domain
        .number
        .store(NUMBERS.fetch_add(1, Ordering::Relaxed), Ordering::Release);
    domain.requests.store(0, Ordering::SeqCst);
    domain.forget_objects();
    domain.reset_classes(cx);
    domain.state.store(State::New as u8, Ordering::Release);
    match cx.within(domain, |cx| domain.fill_slots(cx)) {
        Ok(()) => Ok(Some(domain)),
        Err(throw) => {
            domain.state.store(State::Gone as u8, Ordering::Release);
            offer(domain);
            Err(throw)
        }
    }
}

impl Domain {
    /// Frees the roots that no code names.
    fn forget_objects(&self) {
        let named: FxHashSet<usize> = (self.literals.lock().values())
            .map(|root| root.address())
            .collect();
        self.strings.lock().retain(|_, root| {
            let is_literal = named.contains(&root.address());
            if !is_literal {
                root.free();
            }
            is_literal
        });
        // (Their slots were those of strings.)
        self.dynamic_literals.lock().clear();
        self.cache.lock().drain().for_each(|(_, root)| root.free());
        self.data.lock().drain().for_each(|(_, root)| root.free());
        for object in [&self.app_domain, &self.setup, &self.context] {
            if let Some(root) = object.lock().take() {
                root.free();
            }
        }
    }
    /// Statics hold zeros, and class constructors have not run.
    fn reset_classes(&self, cx: &Cx<'_>) {
        for class in 0..cx.universe().class_count() {
            let made = self.vtables.get(class).map(|p| p.load(Ordering::Acquire));
            // SAFETY: only complete VTables are stored, and they live for ever.
            if let Some(vtable) = made.and_then(|p| unsafe { p.as_ref() }) {
                vtables::reset(vtable);
                initialize::forget(vtable);
            }
        }
    }
    /// The slots of literals and Type objects get new objects of the domain, which is the current one.
    fn fill_slots<'cx>(&self, cx: &'cx Cx<'cx>) -> Result<()> {
        let strings: Vec<(Box<[u16]>, Root)> = (self.strings.lock().iter())
            .map(|(text, root)| (text.clone(), *root))
            .collect();
        for (text, root) in strings {
            root.set(cx.alloc_utf16(&text)?);
        }
        for id in 0..cx.universe().class_count() {
            let Some(root) = self.types.get(id).and_then(roots::kept_in) else {
                continue;
            };
            let Some(class) = cx.universe().class_by_id(id) else {
                continue;
            };
            let object = cx.alloc(cx.known(Known::RuntimeType))?;
            object.write(offset_of!(TypeObject, handle), class as *const _ as usize);
            root.set(object);
        }
        Ok(())
    }
}
