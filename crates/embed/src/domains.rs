//! Application domains: there is the root domain.
//!
//! # Invariants
//! A second domain cannot be made yet: `mono_domain_create_appdomain` gives null, and what unloads one has nothing to do.
use crate::support::{Bool, Object, address, read, set, text};
use std::ffi::{c_char, c_void};
use vervet_abi::VTable;
use vervet_runtime::domain::Domain;
use vervet_runtime::memory::roots::Root;
use vervet_runtime::runtime::rt_opt;
use vervet_runtime::threads::current_context;

/// The root domain.
pub fn root() -> Option<&'static Domain> {
    rt_opt().map(|rt| rt.root)
}
/// The calling thread's domain.
pub fn current() -> Option<&'static Domain> {
    root().filter(|_| !current_context().is_null())
}

api! {
    fn mono_get_root_domain() -> Option<&'static Domain> { root() }
    fn mono_domain_get() -> Option<&'static Domain> { current() }
    fn mono_domain_get_id(domain: Option<&'static Domain>) -> i32 { domain.map_or(0, |d| d.id as i32) }
    fn mono_domain_get_by_id(id: i32) -> Option<&'static Domain> { root().filter(|d| d.id as i32 == id) }
    fn mono_domain_get_friendly_name(domain: Option<&'static Domain>) -> *const c_char {
        match domain {
            Some(d) => {
                let name = d.friendly_name.lock().clone();
                text(&name)
            }
            None => std::ptr::null(),
        }
    }
    fn mono_domain_set(domain: Option<&'static Domain>, _force: Bool) -> Bool { Bool::from(domain.is_some()) }
    fn mono_domain_set_internal(_domain: Option<&'static Domain>) {}
    fn mono_domain_is_unloading(_domain: *const Domain) -> Bool { 0 }
    fn mono_domain_from_appdomain(_appdomain: Object) -> Option<&'static Domain> { root() }
    fn mono_domain_create() -> Option<&'static Domain> { None }
    fn mono_domain_create_appdomain(name: *const c_char, _config: *const c_char) -> Option<&'static Domain> {
        eprintln!("vervet: mono_domain_create_appdomain: {}: there is the root domain only", read(name));
        None
    }
    fn mono_domain_unload(_domain: *const Domain) {}
    fn mono_domain_try_unload(_domain: *const Domain, exc: *mut Object) { set(exc, std::ptr::null_mut()); }
    fn mono_domain_free(_domain: *const Domain, _force: Bool) {}
    fn mono_domain_has_type_resolve(_domain: *const Domain) -> Bool { 0 }
    fn mono_domain_owns_vtable_slot(_domain: *const Domain, _slot: *const c_void) -> Bool { 0 }
    fn mono_init_com_types() {}
    fn mono_context_init(_domain: *const Domain) {}
    fn mono_context_set(_context: Object) {}
    fn mono_context_get_id(_context: Object) -> i32 { 0 }
    fn mono_context_get_domain_id(_context: Object) -> i32 { 0 }
    fn mono_vtable_domain(_vt: Option<&'static VTable>) -> Option<&'static Domain> { root() }
    fn mono_object_get_domain(_object: Object) -> Option<&'static Domain> { root() }
    fn mono_security_enable_core_clr() {}
    fn mono_security_set_core_clr_platform_callback(_callback: *const c_void) {}
}

object_api! {
    fn mono_domain_foreach(cx; call: Option<unsafe extern "C" fn(*const Domain, *mut c_void)>, user: *mut c_void) {
        if let Some(call) = call {
            let domain: *const Domain = cx.domain();
            crate::support::outside(|| call(domain, user));
        }
    }
    fn mono_context_get(cx;) -> Object {
        let context: Option<Root> = *cx.domain().context.lock();
        context.map_or(std::ptr::null_mut(), |c| address(c.get()))
    }
    /// Runs the finalizers of what is dead.
    fn mono_domain_finalize(cx; _domain: *const Domain, _ms: u32) -> Bool {
        vervet_runtime::memory::gc::collect(cx, 1, true);
        vervet_runtime::memory::finalizer::wait_for_pending(cx);
        1
    }
}
