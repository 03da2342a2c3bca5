//! Application domains: made, entered and unloaded by a host.
//!
//! # Invariants
//! * A thread that is attached is in the root domain until `mono_domain_set`, or an attaching function that names another domain. What it makes without naming a
//!   domain is made in the one that it is in.
//! * An unload sends the host's threads that are in the domain, and run no managed code, to the root domain: they hold up nothing.
use crate::support::{Bool, DomainP, Object, address, object, outside, read_opt, set, text};
use std::ffi::{c_char, c_void};
use std::mem::offset_of;
use vervet_abi::VTable;
use vervet_abi::layouts::{AppDomainObject, AppDomainSetupObject};
use vervet_runtime::ObjRef;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::domain::{self, Domain, State, crossing, unload};
use vervet_runtime::loader::Loader;
use vervet_runtime::memory::roots::Root;
use vervet_runtime::runtime::rt_opt;
use vervet_runtime::threads::current_context;
use vervet_types::Known;

/// The root domain.
pub fn root() -> DomainP {
    rt_opt().map(|rt| rt.root)
}
/// The calling thread's domain; None: it is not attached.
pub fn current() -> DomainP {
    let context = current_context();
    // SAFETY: the context is the calling thread's.
    (!context.is_null()).then(|| domain::by_id(unsafe { (*context).domain }))
}
/// What loads for the calling thread, attached or not.
pub fn loader() -> Option<&'static Loader> {
    current().or_else(root).map(|d| &d.loader)
}

/// Does something in another domain than the current one.
pub fn visit<T>(cx: &'static Cx<'static>, domain: &'static Domain, work: impl FnOnce() -> T) -> T {
    let mut result = None;
    let _never_fails = cx.within(domain, |_| {
        result = Some(work());
        Ok(())
    });
    result.expect("`within` does the work")
}
/// The calling thread goes to a domain for good. False: nobody may go there.
pub fn go(cx: &Cx<'_>, domain: &'static Domain) -> bool {
    crossing::settle(cx, domain)
}

/// Makes a domain; the configuration file and the base directory of the root domain go with it.
fn create(cx: &'static Cx<'static>, name: &str, file: Option<String>) -> Result<&'static Domain> {
    const BASE: usize = offset_of!(AppDomainSetupObject, application_base);
    let setup = cx.alloc(cx.known(Known::AppDomainSetup))?;
    if let Some(file) = file {
        setup.write_ref(
            offset_of!(AppDomainSetupObject, configuration_file),
            cx.alloc_str(&file)?,
        );
    }
    let of_root = cx.rt().root.setup.lock().map_or(ObjRef::NULL, Root::get);
    if let Some(base) = of_root.non_null().and_then(|s| s.read_ref(BASE).non_null()) {
        setup.write_ref(BASE, cx.alloc_utf16(base.units())?);
    }
    domain::create::create(cx, name, setup)
}
fn created(cx: &'static Cx<'static>, name: &str, file: Option<String>) -> DomainP {
    match create(cx, name, file) {
        Ok(made) => Some(made),
        Err(throw) => {
            let _ = cx.take_pending(throw);
            None
        }
    }
}

/// Unloads a domain; the exception that stopped this, or null. A thread that is in the domain itself goes to the root domain first.
fn end(cx: &'static Cx<'static>, domain: DomainP) -> Object {
    let Some(domain) = domain else {
        return std::ptr::null_mut();
    };
    if cx.domain().id == domain.id {
        go(cx, cx.rt().root);
    }
    match unload::unload(cx, domain) {
        Ok(()) => std::ptr::null_mut(),
        Err(throw) => address(cx.take_pending(throw)),
    }
}

api! {
    fn mono_get_root_domain() -> DomainP { root() }
    fn mono_domain_get() -> DomainP { current() }
    fn mono_domain_get_id(domain: DomainP) -> i32 { domain.map_or(0, |d| d.number() as i32) }
    fn mono_domain_get_by_id(id: i32) -> DomainP { rt_opt().and_then(|_| domain::by_number(id)) }
    fn mono_domain_get_friendly_name(domain: DomainP) -> *const c_char {
        match domain {
            Some(d) => {
                let name = d.friendly_name.lock().clone();
                text(&name)
            }
            None => std::ptr::null(),
        }
    }
    fn mono_domain_is_unloading(domain: DomainP) -> Bool { Bool::from(domain.is_some_and(|d| d.state() == State::Unloading)) }
    fn mono_domain_owns_vtable_slot(_domain: *const Domain, _slot: *const c_void) -> Bool { 0 }
    fn mono_init_com_types() {}
    fn mono_context_init(_domain: *const Domain) {}
    fn mono_context_set(_context: Object) {}
    fn mono_context_get_id(_context: Object) -> i32 { 0 }
    fn mono_vtable_domain(vt: Option<&'static VTable>) -> DomainP { vt.map(|vt| domain::by_id(vt.domain)) }
    fn mono_security_enable_core_clr() {}
    fn mono_security_set_core_clr_platform_callback(_callback: *const c_void) {}
}

object_api! {
    /// The thread goes to the domain; 0 if that has been unloaded.
    fn mono_domain_set(cx; domain: DomainP, _force: Bool) -> Bool { Bool::from(domain.is_some_and(|d| go(cx, d))) }
    fn mono_domain_set_internal(cx; domain: DomainP) {
        if let Some(domain) = domain {
            go(cx, domain);
        }
    }
    fn mono_domain_create(cx;) -> DomainP { created(cx, "", None) }
    fn mono_domain_create_appdomain(cx; name: *const c_char, file: *const c_char) -> DomainP {
        created(cx, &read_opt(name).unwrap_or_default(), read_opt(file))
    }
    /// What stops the unload is dropped, as in mono.
    fn mono_domain_unload(cx; domain: DomainP) { let _ = end(cx, domain); }
    fn mono_domain_try_unload(cx; domain: DomainP, exc: *mut Object) {
        let exception = end(cx, domain);
        set(exc, exception);
    }
    fn mono_domain_free(cx; domain: DomainP, _force: Bool) { let _ = end(cx, domain); }
    fn mono_domain_from_appdomain(cx; appdomain: Object) -> DomainP {
        let appdomain = object(appdomain).non_null().filter(|o| o.class().id == cx.known(Known::AppDomain).id)?;
        let word: usize = appdomain.read(offset_of!(AppDomainObject, mono_app_domain));
        (word as *const Domain).as_ref()
    }
    fn mono_domain_has_type_resolve(cx; domain: DomainP) -> Bool {
        let object = domain.and_then(|d| *d.app_domain.lock()).and_then(|root| root.get().non_null());
        Bool::from(object.is_some_and(|o| !o.read_ref(offset_of!(AppDomainObject, type_resolve)).is_null()))
    }
    fn mono_object_get_domain(cx; target: Object) -> DomainP { object(target).non_null().map(|o| domain::by_id(o.vtable().domain)) }
    fn mono_domain_foreach(cx; call: Option<unsafe extern "C" fn(&'static Domain, *mut c_void)>, user: *mut c_void) {
        if let Some(call) = call {
            for domain in domain::all().filter(|d| d.state() < State::Unloaded) {
                outside(|| call(domain, user));
            }
        }
    }
    fn mono_context_get(cx;) -> Object {
        let context: Option<Root> = *cx.domain().context.lock();
        context.map_or(std::ptr::null_mut(), |c| address(c.get()))
    }
    fn mono_context_get_domain_id(cx; context: Object) -> i32 {
        object(context).non_null().map_or(0, |o| domain::by_id(o.vtable().domain).number() as i32)
    }
    /// Runs the finalizers of what is dead.
    fn mono_domain_finalize(cx; _domain: *const Domain, _ms: u32) -> Bool {
        vervet_runtime::memory::gc::collect(cx, 1, true);
        vervet_runtime::memory::finalizer::wait_for_pending(cx);
        1
    }
}
