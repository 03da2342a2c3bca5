//! Making a domain: its loader, the objects that it begins with, and where it looks for assemblies.
//!
//! # Invariants
//! * A domain is complete before its id is told to anybody: its AppDomain, setup and default context exist, `String.Empty` is set, and the core library
//!   is in its list.
//! * What a domain begins with is made in that domain; of the maker's objects it keeps none.
use super::{Domain, copy, renew};
use crate::cx::{Cx, Result};
use crate::memory::roots::Root;
use crate::memory::statics;
use crate::object::ObjRef;
use crate::process::host_events;
use crate::profiler::hooks;
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use vervet_abi::layouts::{AppDomainObject, AppDomainSetupObject, ContextObject};
use vervet_binder::app_config::AppConfig;
use vervet_types::Known;

/// Makes a domain with that name. `setup` is an AppDomainSetup of the current domain, which the new one gets a copy of.
///
/// # Errors
/// Whatever allocation in the new domain throws.
pub fn create<'cx>(cx: &'cx Cx<'cx>, name: &str, setup: ObjRef<'cx>) -> Result<&'static Domain> {
    let root = &cx.rt().root.loader;
    let domain = match renew::take(cx)? {
        Some(domain) => domain,
        None => Domain::make(|id| root.for_domain(id)),
    };
    *domain.friendly_name.lock() = name.to_owned();
    hooks::domain_made(domain.id);
    cx.within(domain, |cx| {
        let own = cx.alloc(cx.known(Known::AppDomainSetup))?;
        fill(cx, own)?;
        if let Some(given) = setup.non_null() {
            copy_fields(cx, given, own)?;
        }
        configure(domain, own);
        Ok(())
    })?;
    domain.set_active();
    hooks::domain_named(domain.id, name);
    if let Some(host) = host_events::get() {
        (host.domain_made)(domain);
    }
    Ok(domain)
}

/// Makes the objects that the current domain, which is new, begins with; `setup` is its AppDomainSetup.
pub(crate) fn fill<'cx>(cx: &'cx Cx<'cx>, setup: ObjRef<'cx>) -> Result<()> {
    let domain = cx.domain();
    *domain.setup.lock() = Some(Root::of(setup));
    let string = cx.known(Known::String);
    let vt = cx.load(domain.vtable(string))?;
    if let Some(empty) = cx.load(string.find_field("Empty"))? {
        let address = cx.load(statics::field_address(cx, vt, empty))?;
        let object = cx.intern(&[])?;
        // SAFETY: the slot of a static reference field.
        unsafe { crate::object::store_ref(address as *mut usize, object) };
    }
    let object = cx.alloc(cx.known(Known::AppDomain))?;
    object.write(
        offset_of!(AppDomainObject, mono_app_domain),
        domain as *const Domain as usize,
    );
    *domain.app_domain.lock() = Some(Root::of(object));
    let context = cx.alloc(cx.known(Known::Context))?;
    context.write(offset_of!(ContextObject, domain_id), domain.number() as i32);
    *domain.context.lock() = Some(Root::of(context));
    Ok(())
}

/// Copies the fields of a setup that can be copied; the others stay null.
fn copy_fields<'cx>(cx: &'cx Cx<'cx>, from: ObjRef<'cx>, to: ObjRef<'cx>) -> Result<()> {
    for field in cx.load(from.class().fields())? {
        if field.is_static() {
            continue;
        }
        let at = cx.load(field.offset())? as usize + vervet_abi::object::HEADER_SIZE as usize;
        let ty = cx.load(field.ty())?;
        if cx.load(ty.is_value_type())? {
            match cx.load(field.memory_size())? {
                1 => to.write(at, from.read::<u8>(at)),
                4 => to.write(at, from.read::<u32>(at)),
                _ => {}
            }
        } else if let Some(value) = copy::copy(cx, from.read_ref(at))? {
            to.write_ref(at, value);
        }
    }
    Ok(())
}

/// Tells the domain's loader where the setup says that assemblies are.
fn configure(domain: &Domain, setup: ObjRef<'_>) {
    let text = |at| {
        let text = setup.read_ref(at).non_null().map(ObjRef::text);
        text.filter(|t| !t.is_empty())
    };
    let base = text(offset_of!(AppDomainSetupObject, application_base)).map(PathBuf::from);
    let config = text(offset_of!(AppDomainSetupObject, configuration_file));
    let read = config.and_then(|file| {
        let file = match &base {
            Some(base) => base.join(file),
            None => PathBuf::from(file),
        };
        AppConfig::read(Path::new(&file)).ok()
    });
    domain.loader.configure(|binder| {
        binder.private_bin_path = crate::loader::private_bin_path(setup);
        binder.private_bin_path_probe =
            text(offset_of!(AppDomainSetupObject, private_bin_path_probe)).is_some();
        binder.app_base = base;
        if let Some(config) = &read {
            binder.configure(config);
        }
    });
}
