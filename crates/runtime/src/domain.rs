//! The application domain: VTables, interned strings, Type objects and reflection caches.
//!
//! # Invariants
//! There is one domain for now, and everything that belongs to a domain is reached from it: no global table of
//! VTables, literals, Type objects or entries exists elsewhere. Caches are strong.
use crate::cx::{Cx, Result};
use crate::memory::roots::{self, Root};
use crate::object::ObjRef;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicPtr, Ordering};
use vervet_abi::VTable;
use vervet_os::{Chunks, LeafLock};
use vervet_types::{ClassRef, Known, LoadError, ModuleRef};

/// See the module.
pub struct Domain {
    /// Its id; the root domain is 0, as managed code sees it.
    pub id: u32,
    vtables: Chunks<AtomicPtr<VTable>>,
    strings: LeafLock<FxHashMap<Box<[u16]>, Root>>,
    literals: LeafLock<FxHashMap<(u32, u32), Root>>,
    types: LeafLock<FxHashMap<u32, Root>>,
    cache: LeafLock<FxHashMap<(u32, usize, usize), Root>>,
    /// The AppDomain object.
    pub app_domain: LeafLock<Option<Root>>,
    /// The AppDomainSetup object.
    pub setup: LeafLock<Option<Root>>,
    /// The default remoting Context object.
    pub context: LeafLock<Option<Root>>,
    /// Values of AppDomain.SetData.
    pub data: LeafLock<FxHashMap<String, Root>>,
    /// File name of the main assembly, as given.
    pub friendly_name: LeafLock<String>,
}

impl Domain {
    /// An empty domain.
    pub fn new(id: u32) -> Domain {
        Domain {
            id,
            vtables: Chunks::new(),
            strings: LeafLock::default(),
            literals: LeafLock::default(),
            types: LeafLock::default(),
            cache: LeafLock::default(),
            app_domain: LeafLock::default(),
            setup: LeafLock::default(),
            context: LeafLock::default(),
            data: LeafLock::default(),
            friendly_name: LeafLock::default(),
        }
    }

    /// The class's VTable, if it has been made.
    pub fn vtable_if_made(&self, class: ClassRef) -> Option<&'static VTable> {
        let p = self.vtables.get(class.id)?.load(Ordering::Acquire);
        // SAFETY: only complete VTables are stored, and they live for ever.
        unsafe { p.as_ref() }
    }

    /// The class's VTable, made if need be.
    pub fn vtable(&self, class: ClassRef) -> std::result::Result<&'static VTable, LoadError> {
        if let Some(vt) = self.vtable_if_made(class) {
            return Ok(vt);
        }
        let made = crate::classes::vtables::make(class, self.id)?;
        let cell = self.vtables.at(class.id);
        match cell.compare_exchange(
            std::ptr::null_mut(),
            made as *const VTable as *mut VTable,
            Ordering::AcqRel,
            Ordering::Acquire,
        ) {
            Ok(_) => Ok(made),
            Err(first) => {
                // SAFETY: as above; the VTable that came second was seen by nobody.
                unsafe {
                    crate::classes::vtables::discard(made);
                    Ok(&*first)
                }
            }
        }
    }

    /// The interned string with that text.
    pub fn intern<'cx>(&self, cx: &'cx Cx<'cx>, units: &[u16]) -> Result<ObjRef<'cx>> {
        Ok(self.intern_root(cx, units)?.get())
    }
    /// The interned string, if there is one.
    pub fn is_interned<'cx>(&self, units: &[u16]) -> Option<ObjRef<'cx>> {
        self.strings.lock().get(units).map(|r| r.get())
    }
    /// Interns an existing string object: it becomes the interned one if its text has none yet.
    pub fn intern_object<'cx>(&self, string: ObjRef<'cx>) -> ObjRef<'cx> {
        match self.is_interned(string.units()) {
            Some(first) => first,
            None => roots::keep(&self.strings, string.units().into(), string).get(),
        }
    }
    fn intern_root<'cx>(&self, cx: &'cx Cx<'cx>, units: &[u16]) -> Result<Root> {
        if let Some(r) = self.strings.lock().get(units) {
            return Ok(*r);
        }
        let made = cx.alloc_utf16(units)?;
        Ok(roots::keep(&self.strings, units.into(), made))
    }
    /// The root slot of a string literal, filled.
    pub fn literal<'cx>(&self, cx: &'cx Cx<'cx>, module: ModuleRef, token: u32) -> Result<Root> {
        if let Some(r) = self.literals.lock().get(&(module.id, token)) {
            return Ok(*r);
        }
        let units: Vec<u16> = match module.image.user_string(token) {
            Ok(s) => s.units().collect(),
            Err(e) => return Err(cx.throw(Known::BadImageFormatException, &e.to_string())),
        };
        let root = self.intern_root(cx, &units)?;
        self.literals.lock().insert((module.id, token), root);
        Ok(root)
    }

    /// The root slot of a class's Type object, filled.
    pub fn type_root<'cx>(&self, cx: &'cx Cx<'cx>, class: ClassRef) -> Result<Root> {
        if let Some(r) = self.types.lock().get(&class.id) {
            return Ok(*r);
        }
        let object = cx.alloc(cx.known(Known::RuntimeType))?;
        object.write(
            std::mem::offset_of!(vervet_abi::layouts::TypeObject, handle),
            class as *const _ as usize,
        );
        let root = roots::keep(&self.types, class.id, object);
        if let Some(vt) = self.vtable_if_made(class) {
            vt.type_root.store(root.address(), Ordering::Release);
        }
        Ok(root)
    }
    /// The one RuntimeType object of a class.
    pub fn type_object<'cx>(&self, cx: &'cx Cx<'cx>, class: ClassRef) -> Result<ObjRef<'cx>> {
        Ok(self.type_root(cx, class)?.get())
    }

    /// A cached reflection object.
    pub fn cached<'cx>(&self, key: (u32, usize, usize)) -> Option<ObjRef<'cx>> {
        self.cache.lock().get(&key).map(|r| r.get())
    }
    /// Caches an object unless another was first; returns the one that stands.
    pub fn cache<'cx>(&self, key: (u32, usize, usize), object: ObjRef<'cx>) -> ObjRef<'cx> {
        roots::keep(&self.cache, key, object).get()
    }
}
