//! Domains, and what belongs to them: assemblies, classes, objects.
//!
//! # Invariants
//! * Whoever uses what belongs to a domain holds the read lock of its state, and an unload the write lock. So nothing of a domain is touched once it is gone.
//! * A thread is attached, and in the domain, while it works there; afterwards it is in the root domain.
use crate::api::Raw;
use crate::api::api;
use crate::calls;
use crate::error::{Error, Result, c_text};
use crate::thrown::error_of;
use crate::value::Value;
use std::sync::{Arc, RwLock, TryLockError};

/// A domain that is alive, or not any more.
type Shared = Arc<Inner>;

/// An address that is valid on every thread: of a domain, an image, a class.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Address(pub Raw);
// SAFETY: the library's functions may be called with these on any thread that is attached.
unsafe impl Send for Address {}
// SAFETY: as above; nothing is changed through them here.
unsafe impl Sync for Address {}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) raw: Address,
    is_alive: RwLock<bool>,
}
/// An application domain.
#[derive(Debug, Clone)]
pub struct Domain(pub(crate) Shared);
/// An assembly in a domain.
#[derive(Debug, Clone)]
pub struct Assembly {
    domain: Domain,
    image: Address,
}
/// A class in a domain.
#[derive(Debug, Clone)]
pub struct Class {
    pub(crate) domain: Domain,
    pub(crate) raw: Address,
    name: String,
}
/// An object of a domain, which lives at least as long as this.
#[derive(Debug, Clone)]
pub struct Object(Arc<Handle>);
#[derive(Debug)]
struct Handle {
    domain: Domain,
    handle: u32,
}

impl Domain {
    pub(crate) fn of(raw: Raw) -> Option<Domain> {
        let inner = || Inner {
            raw: Address(raw),
            is_alive: RwLock::new(true),
        };
        (!raw.is_null()).then(|| Domain(Arc::new(inner())))
    }
    /// Does something in the domain, which stays alive meanwhile.
    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> Result<T> {
        struct Back(Raw);
        impl Drop for Back {
            fn drop(&mut self) {
                // SAFETY: the thread is attached; it was in this domain before, or in the root domain.
                unsafe { (api().mono_domain_set)(self.0, 1) };
            }
        }
        let is_alive = self.0.is_alive.read().map_err(|_| Error::Unloaded)?;
        if !*is_alive {
            return Err(Error::Unloaded);
        }
        // SAFETY: the domain lives: its lock is held.
        let before = unsafe { (api().mono_jit_thread_attach)(self.0.raw.0) };
        // SAFETY: a plain question.
        let root = unsafe { (api().mono_get_root_domain)() };
        let _back = Back(if before.is_null() { root } else { before });
        Ok(work())
    }
    /// Opens the assembly in a file.
    ///
    /// # Errors
    /// There is none, or the domain has been unloaded.
    pub fn open(&self, path: &str) -> Result<Assembly> {
        let text = c_text(path)?;
        let image = self.within(|| {
            // SAFETY: the thread is attached, the domain lives, and the path ends with a zero.
            unsafe {
                let assembly = (api().mono_domain_assembly_open)(self.0.raw.0, text.as_ptr());
                match assembly.is_null() {
                    true => assembly,
                    false => (api().mono_assembly_get_image)(assembly),
                }
            }
        })?;
        if image.is_null() {
            return Err(Error::NotFound(format!("the assembly {path}")));
        }
        Ok(Assembly {
            domain: self.clone(),
            image: Address(image),
        })
    }
    /// Unloads the domain: its threads are aborted, its finalizers run, and what belongs to it is not used any more.
    ///
    /// # Errors
    /// A call runs in the domain; it has been unloaded; it is the root domain; a handler of its own refuses.
    pub fn unload(&self) -> Result<()> {
        let mut is_alive = match self.0.is_alive.try_write() {
            Ok(guard) => guard,
            Err(TryLockError::WouldBlock) => return Err(Error::InUse),
            Err(TryLockError::Poisoned(_)) => return Err(Error::Unloaded),
        };
        if !*is_alive {
            return Err(Error::Unloaded);
        }
        let mut thrown = std::ptr::null_mut();
        // SAFETY: the thread is attached to the root domain by the first call; nobody else uses the domain.
        unsafe {
            (api().mono_jit_thread_attach)((api().mono_get_root_domain)());
            (api().mono_domain_try_unload)(self.0.raw.0, &mut thrown);
        }
        if thrown.is_null() {
            *is_alive = false;
            return Ok(());
        }
        Err(error_of(thrown))
    }
}

impl Assembly {
    /// A class by its namespace and name; nested ones as `Outer/Inner`.
    ///
    /// # Errors
    /// There is none, or the domain has been unloaded.
    pub fn class(&self, namespace: &str, name: &str) -> Result<Class> {
        let (space, text) = (c_text(namespace)?, c_text(name)?);
        let raw = self.domain.within(|| {
            // SAFETY: the thread is attached, the image's domain lives, and the names end with zeros.
            unsafe { (api().mono_class_from_name)(self.image.0, space.as_ptr(), text.as_ptr()) }
        })?;
        if raw.is_null() {
            return Err(Error::NotFound(format!("the class {namespace}.{name}")));
        }
        Ok(Class {
            domain: self.domain.clone(),
            raw: Address(raw),
            name: name.to_owned(),
        })
    }
}

/// The classes of a domain, as type arguments.
fn raw_types(domain: &Domain, types: &[&Class]) -> Result<Vec<Raw>> {
    types
        .iter()
        .map(|class| match Arc::ptr_eq(&class.domain.0, &domain.0) {
            true => Ok(class.raw.0),
            false => Err(Error::Mismatch(format!(
                "{} is of another domain",
                class.name
            ))),
        })
        .collect()
}

impl Class {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Makes an object by the constructor without parameters.
    ///
    /// # Errors
    /// There is no such constructor, it throws, the class is abstract, or the domain has been unloaded.
    pub fn new_object(&self) -> Result<Object> {
        self.domain.within(|| calls::make(self))?
    }
    /// Calls a static method.
    ///
    /// # Errors
    /// There is none that takes so many, the arguments do not fit, it throws, or the domain has been unloaded.
    pub fn call(&self, method: &str, arguments: &[Value]) -> Result<Value> {
        self.call_generic(method, &[], &mut arguments.to_vec())
    }
    /// As [`call`](Class::call). Arguments for parameters by reference (`ref`, `out`) become what the method has stored; null stands for the zero of a value type.
    ///
    /// # Errors
    /// As for [`call`](Class::call).
    pub fn call_by_ref(&self, method: &str, arguments: &mut [Value]) -> Result<Value> {
        self.call_generic(method, &[], arguments)
    }
    /// As [`call_by_ref`](Class::call_by_ref), a generic method with type arguments.
    ///
    /// # Errors
    /// As for [`call`](Class::call), or the types do not fit the method.
    pub fn call_generic(
        &self,
        method: &str,
        types: &[&Class],
        arguments: &mut [Value],
    ) -> Result<Value> {
        let types = raw_types(&self.domain, types)?;
        let work = || calls::call(&self.domain, self.raw.0, None, method, &types, arguments);
        self.domain.within(work)?
    }
}

impl Object {
    /// Keeps an object. The caller is in the domain.
    pub(crate) fn keep(domain: &Domain, raw: Raw) -> Object {
        // SAFETY: the thread is attached; the object lies on the caller's stack.
        let handle = unsafe { (api().mono_gchandle_new)(raw, 0) };
        let domain = domain.clone();
        Object(Arc::new(Handle { domain, handle }))
    }
    /// Its address, to be used at once by a thread that is in the domain.
    pub(crate) fn raw(&self) -> Raw {
        // SAFETY: the thread is attached, and the handle lives.
        unsafe { (api().mono_gchandle_get_target)(self.0.handle) }
    }
    pub(crate) fn is_of(&self, domain: &Domain) -> bool {
        Arc::ptr_eq(&self.0.domain.0, &domain.0)
    }
    /// Calls a method: the override of the object's class, if it is virtual.
    ///
    /// # Errors
    /// There is none that takes so many, the arguments do not fit, it throws, or the domain has been unloaded.
    pub fn call(&self, method: &str, arguments: &[Value]) -> Result<Value> {
        self.call_generic(method, &[], &mut arguments.to_vec())
    }
    /// As [`call`](Object::call). Arguments for parameters by reference (`ref`, `out`) become what the method has stored; null stands for the zero of a value type.
    ///
    /// # Errors
    /// As for [`call`](Object::call).
    pub fn call_by_ref(&self, method: &str, arguments: &mut [Value]) -> Result<Value> {
        self.call_generic(method, &[], arguments)
    }
    /// As [`call_by_ref`](Object::call_by_ref), a generic method with type arguments.
    ///
    /// # Errors
    /// As for [`call`](Object::call), or the types do not fit the method.
    pub fn call_generic(
        &self,
        method: &str,
        types: &[&Class],
        arguments: &mut [Value],
    ) -> Result<Value> {
        let domain = &self.0.domain;
        let types = raw_types(domain, types)?;
        domain.within(|| {
            let raw = self.raw();
            // SAFETY: the thread is attached, and the object lies on this stack.
            let class = unsafe { (api().mono_object_get_class)(raw) };
            calls::call(domain, class, Some(raw), method, &types, arguments)
        })?
    }
}
impl Drop for Handle {
    fn drop(&mut self) {
        // In a domain that is gone the handle is, too, and may be another object's by now.
        // SAFETY: the thread is attached, and the handle is this one's own.
        let _gone = self
            .domain
            .within(|| unsafe { (api().mono_gchandle_free)(self.handle) });
    }
}
