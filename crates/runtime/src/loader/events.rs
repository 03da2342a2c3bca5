//! What handlers of the program are told and asked while it loads.
//!
//! # Invariants
//! * Handlers run in Runtime state, in the loader's domain, with no lock held.
//! * An exception of a handler of AssemblyLoad reaches nobody, not even an abort of the thread: who loads is not who handles. The abort stays requested.
//! * What a handler of a resolve event gives is an assembly only if the runtime has made the object; an object of a class of the program's is nothing.
use super::host::HOST;
use super::{BUILDER_KIND, Loader, Origin, assembly_object, made_of};
use crate::cx::{Cx, Result, Value};
use crate::object::ObjRef;
use vervet_types::error::Ask;
use vervet_types::{Assembly, ClassRef, Known, LoadError, Module, ModuleRef};

impl Loader {
    /// Tells the host of what this thread has loaded, and raises AppDomain.AssemblyLoad of the loader's domain, which is the current one.
    ///
    /// # Errors
    /// The stack overflows in a handler: the assemblies behind the one that it was called for are told of next time.
    pub(crate) fn tell<'cx>(&self, cx: &'cx Cx<'cx>) -> Result<()> {
        // Taken before the event is raised: a handler may load more, and then tells of that itself.
        let untold = self.state.lock().untold.take_own();
        for (i, assembly) in untold.iter().enumerate() {
            if let Some(host) = HOST.get()
                && self.origin(assembly.manifest) != Some(Origin::Binary)
            {
                (host.loaded)(cx, assembly);
            }
            if let Err(throw) = kept_from_loader(cx, raise_load(cx, assembly)) {
                let rest = untold[i + 1..].iter().copied();
                self.state.lock().untold.put_back(rest);
                return Err(throw);
            }
        }
        Ok(())
    }
    /// Raises AppDomain.AssemblyResolve. None: no handler has given an assembly.
    ///
    /// # Errors
    /// What a handler has thrown; FileNotFoundException if what it gave is only to be looked at.
    pub fn resolve_event<'cx>(
        &self,
        cx: &'cx Cx<'cx>,
        name: &str,
        requesting: Option<ModuleRef>,
    ) -> Result<Option<&'static Assembly>> {
        match self.raise_resolve(cx, name, requesting, false)? {
            Some(a) if a.is_reflection_only => Err(cx.throw(
                Known::FileNotFoundException,
                "AssemblyResolveEvent handlers cannot return Assemblies loaded for reflection only",
            )),
            given => Ok(given),
        }
    }
    /// The same for who can do without: a handler that throws has given nothing.
    pub fn resolve_quietly<'cx>(
        &self,
        cx: &'cx Cx<'cx>,
        name: &str,
        requesting: Option<ModuleRef>,
    ) -> Result<Option<&'static Assembly>> {
        kept_quiet(cx, self.resolve_event(cx, name, requesting))
    }
    /// Raises AppDomain.AssemblyResolve or ReflectionOnlyAssemblyResolve. None: no handler has given an assembly.
    pub(super) fn raise_resolve<'cx>(
        &self,
        cx: &'cx Cx<'cx>,
        name: &str,
        requesting: Option<ModuleRef>,
        is_reflection_only: bool,
    ) -> Result<Option<&'static Assembly>> {
        let Some(root) = *cx.domain().app_domain.lock() else {
            return Ok(None);
        };
        let domain: ObjRef<'_> = root.get();
        let class = cx.known(Known::AppDomain);
        let Some(method) = cx.load(class.find_method("DoAssemblyResolve", Some(3)))? else {
            return Ok(None);
        };
        let requesting = match requesting.and_then(|m| m.assembly()) {
            Some(a) => assembly_object(cx, a)?,
            None => ObjRef::NULL,
        };
        let name = cx.alloc_str(name)?;
        match cx.invoke(
            method,
            Some(Value::Ref(domain)),
            &[
                Value::Ref(name),
                Value::Ref(requesting),
                Value::Int(is_reflection_only.into()),
            ],
        )? {
            Value::Ref(o) if !o.is_null() => Ok(made_of(cx, o)),
            _ => Ok(None),
        }
    }
}

/// Raises AppDomain.AssemblyLoad of the current domain.
fn raise_load<'cx>(cx: &'cx Cx<'cx>, assembly: &'static Assembly) -> Result<()> {
    let Some(root) = *cx.domain().app_domain.lock() else {
        return Ok(());
    };
    let domain: ObjRef<'_> = root.get();
    let handlers = std::mem::offset_of!(vervet_abi::layouts::AppDomainObject, assembly_load);
    if domain.read_ref(handlers).is_null() {
        return Ok(());
    }
    let class = cx.known(Known::AppDomain);
    let Some(method) = cx.load(class.find_method("DoAssemblyLoad", Some(1)))? else {
        return Ok(());
    };
    let object = assembly_object(cx, assembly)?;
    cx.invoke(method, Some(Value::Ref(domain)), &[Value::Ref(object)])?;
    Ok(())
}
/// Has the program create a type that has been named: by a handler of AppDomain.TypeResolve, or by `CreateType`.
///
/// # Errors
/// TypeLoadException: none has, and it must be created.
pub(crate) fn complete<'cx>(cx: &'cx Cx<'cx>, class: ClassRef, ask: Ask) -> Result<()> {
    class.set_offered();
    let key = (
        BUILDER_KIND,
        class.module as *const Module as usize,
        class.rid() as usize,
    );
    let domain = cx.domain();
    let app_domain = *domain.app_domain.lock();
    if class.rid() == 1 && domain.cached(key).is_none() {
        return cx.load(class.module.complete_global());
    }
    if ask == Ask::Create
        && let Some(builder) = domain.cached(key)
    {
        let create = cx.load(builder.class().find_method("CreateType", Some(0)))?;
        if let Some(create) = create {
            cx.invoke(create, Some(Value::Ref(builder)), &[])?;
        }
    } else if let (Some(root), Some(builder)) = (app_domain, domain.cached(key))
        && let Some(method) = cx.load(
            cx.known(Known::AppDomain)
                .find_method("DoTypeBuilderResolve", Some(1)),
        )?
    {
        cx.invoke(method, Some(Value::Ref(root.get())), &[Value::Ref(builder)])?;
    }
    match class.complete() {
        Err(_) if ask != Ask::Offer => Err(cx.throw_load(LoadError::type_load(class, ""))),
        _ => Ok(()),
    }
}
/// What handlers of AssemblyLoad, who answer nothing, have thrown is dropped.
fn kept_from_loader<'cx>(cx: &'cx Cx<'cx>, told: Result<()>) -> Result<()> {
    told.or_else(|throw| {
        let thrown = cx.take_pending(throw);
        let overflow = cx.known(Known::StackOverflowException);
        match std::ptr::eq(thrown.class(), overflow) {
            true => Err(cx.throw_object(thrown)),
            false => Ok(()),
        }
    })
}
/// What handlers have answered. An exception of theirs is dropped, as in mono, and they have answered nothing. An abort goes on.
pub(super) fn kept_quiet<'cx, T: Default>(cx: &'cx Cx<'cx>, answer: Result<T>) -> Result<T> {
    answer.or_else(|throw| {
        let thrown = cx.take_pending(throw);
        let ends = [Known::ThreadAbortException, Known::StackOverflowException];
        match ends
            .iter()
            .any(|e| std::ptr::eq(thrown.class(), cx.known(*e)))
        {
            true => Err(cx.throw_object(thrown)),
            false => Ok(T::default()),
        }
    })
}
