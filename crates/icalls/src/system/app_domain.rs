//! Native half of System.AppDomain.
//!
//! Keeps nothing: the runtime's `Domain` has the objects. There is one domain; creating and unloading others needs
//! remoting, which is not there.
use crate::support::callers;
use crate::support::invoke;
use crate::support::objects::{assembly_object, assembly_of_object, heap_offset, key, load};
use vervet_abi::layouts::InternalThreadObject;
use vervet_binder::AssemblyName;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::icalls;
use vervet_runtime::memory::roots::{self, Root};
use vervet_runtime::object::ObjRef;
use vervet_types::{Assembly, Known, LoadError};

/// The AppDomain object of the current domain.
pub fn current<'cx>(cx: &'cx Cx<'cx>) -> Result<ObjRef<'cx>> {
    held(cx, *cx.domain().app_domain.lock())
}
/// The object that a root holds; start-up fills the roots before managed code runs.
fn held<'cx>(cx: &'cx Cx<'cx>, root: Option<Root>) -> Result<ObjRef<'cx>> {
    match root {
        Some(r) => Ok(r.get()),
        None => Err(cx.throw(
            Known::InvalidOperationException,
            "the domain is not complete",
        )),
    }
}
/// The AppDomainSetup object of the domain.
fn setup<'cx>(cx: &'cx Cx<'cx>) -> Result<ObjRef<'cx>> {
    held(cx, *cx.domain().setup.lock())
}
/// The default remoting context of the domain.
fn default_context<'cx>(cx: &'cx Cx<'cx>) -> Result<ObjRef<'cx>> {
    held(cx, *cx.domain().context.lock())
}

/// The setup's field that a name of GetData and SetData stands for.
fn setup_field(name: &str) -> Option<&'static str> {
    Some(match name {
        "APPBASE" => "application_base",
        "APP_CONFIG_FILE" => "configuration_file",
        "DYNAMIC_BASE" => "dynamic_base",
        "APP_NAME" => "application_name",
        "CACHE_BASE" => "cache_path",
        "PRIVATE_BINPATH" => "private_bin_path",
        "BINPATH_PROBE_ONLY" => "private_bin_path_probe",
        "SHADOW_COPY_DIRS" => "shadow_copy_directories",
        "FORCE_CACHE_INSTALL" => "shadow_copy_files",
        _ => return None,
    })
}

/// The word that holds the current remoting Context of this thread, if the thread has its object.
fn thread_context<'cx>(cx: &'cx Cx<'cx>) -> Option<ObjRef<'cx>> {
    // SAFETY: the context belongs to this thread; the word is a root with its InternalThread, or 0.
    let thread: ObjRef<'cx> = unsafe { ObjRef::from_addr((*cx.context()).internal_thread) };
    thread.non_null()
}
/// Where an InternalThread keeps its remoting context.
const CONTEXT_AT: usize = std::mem::offset_of!(InternalThreadObject, current_appcontext);

/// The domain of an id; there is one, and other ids are an AppDomainUnloadedException.
fn domain_by_id<'cx>(cx: &'cx Cx<'cx>, id: i32) -> Result<ObjRef<'cx>> {
    if id == cx.domain().id as i32 {
        current(cx)
    } else {
        Err(cx.throw_default(Known::AppDomainUnloadedException))
    }
}

/// Raises `AppDomain.AssemblyResolve`; the assembly a handler gave.
pub fn raise_assembly_resolve<'cx>(
    cx: &'cx Cx<'cx>,
    name: &str,
) -> Result<Option<&'static Assembly>> {
    cx.rt().loader.resolve_event(cx, name, None)
}

icalls! {
    /// The AppDomainSetup object.
    "System.AppDomain::getSetup" fn get_setup(cx, this: ObjRef<'cx>) -> ObjRef<'cx> { setup(cx) }
    /// The friendly name.
    "System.AppDomain::getFriendlyName" fn get_friendly_name(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        let name = cx.domain().friendly_name.lock().clone();
        cx.alloc_str(&name)
    }
    /// The current domain.
    "System.AppDomain::getCurDomain" fn get_cur_domain(cx) -> ObjRef<'cx> { current(cx) }
    /// The root domain.
    "System.AppDomain::getRootDomain" fn get_root_domain(cx) -> ObjRef<'cx> { current(cx) }
    /// Runs an assembly's entry point on this thread.
    "System.AppDomain::ExecuteAssembly" fn execute_assembly(cx, this: ObjRef<'cx>, assembly: ObjRef<'cx>, args: ObjRef<'cx>) -> i32 {
        let assembly = assembly_of_object(cx, assembly)?;
        let Some(entry) = load(cx, || assembly.manifest.entry_point())? else {
            return Err(cx.throw(Known::MissingMethodException, &format!("Entry point not found in assembly '{}'.", crate::support::type_display::assembly_full_name(assembly))));
        };
        let args = if args.is_null() { cx.alloc_array(cx.known(Known::String), 0)? } else { args };
        let takes = cx.load(entry.sig())?.params.len();
        let list = cx.alloc_array(cx.known(Known::Object), takes)?;
        if takes > 0 {
            list.set_element_ref(0, args);
        }
        let result = invoke::call(cx, entry, ObjRef::NULL, list)?;
        match result.non_null() {
            Some(code) => {
                let code = crate::support::values::int_of(cx, code)? as i32;
                // Also for the process, unless its own Main answers a number.
                cx.rt().exit_code.store(code, std::sync::atomic::Ordering::SeqCst);
                Ok(code)
            }
            None => Ok(0),
        }
    }
    /// The assemblies that are loaded.
    "System.AppDomain::GetAssemblies" fn get_assemblies(cx, this: ObjRef<'cx>, reflection_only: bool) -> ObjRef<'cx> {
        let loader = cx.rt().loader;
        let all = if reflection_only { loader.reflection_only.assemblies() } else { loader.assemblies() };
        cx.alloc_ref_array(cx.known(Known::Assembly), all.len(), |i| assembly_object(cx, all[i]))
    }
    /// What SetData stored, or a field of the setup.
    "System.AppDomain::GetData" fn get_data(cx, this: ObjRef<'cx>, name: ObjRef<'cx>) -> ObjRef<'cx> {
        let Some(name) = name.non_null() else { return Err(cx.throw_arg_null("name")) };
        let name = name.text();
        if let Some(field) = setup_field(&name) {
            let setup = setup(cx)?;
            return Ok(setup.read_ref(heap_offset(cx, setup.class(), field)?));
        }
        let found = cx.domain().data.lock().get(&name).copied();
        Ok(found.map_or(ObjRef::NULL, Root::get))
    }
    /// Stores an object under a name.
    "System.AppDomain::SetData" fn set_data(cx, this: ObjRef<'cx>, name: ObjRef<'cx>, data: ObjRef<'cx>) {
        let Some(name) = name.non_null() else { return Err(cx.throw_arg_null("name")) };
        let name = name.text();
        if let Some(field) = setup_field(&name) {
            let setup = setup(cx)?;
            setup.write_ref(heap_offset(cx, setup.class(), field)?, data);
            return Ok(());
        }
        let known = cx.domain().data.lock().get(&name).copied();
        known.unwrap_or_else(|| roots::keep(&cx.domain().data, name, data)).set(data);
        Ok(())
    }
    /// Binds a display name; null if nothing is found.
    "System.AppDomain::LoadAssembly" fn load_assembly(cx, this: ObjRef<'cx>, name: ObjRef<'cx>, evidence: ObjRef<'cx>, reflection_only: bool, mark: *mut i32) -> ObjRef<'cx> {
        let text = cx.non_null(name)?.text();
        // The program is not asked for what is only looked at.
        let ask = || if reflection_only { Ok(None) } else { raise_assembly_resolve(cx, &text) };
        let parsed = match AssemblyName::parse(&text) {
            Ok(n) => n,
            Err(_) => {
                return match ask()? {
                    Some(a) => assembly_object(cx, a),
                    None => Ok(ObjRef::NULL),
                };
            }
        };
        if reflection_only {
            let found = cx.load(cx.rt().loader.bind_reflection_only(&parsed))?;
            cx.rt().loader.tell_loaded(cx)?;
            return found.map_or(Ok(ObjRef::NULL), |a| assembly_object(cx, a));
        }
        let requesting = callers::marked(cx).map(|m| m.class.module);
        let found = match cx.rt().loader.bind(&parsed, requesting) {
            Ok(Some(a)) => Some(a),
            // Nothing that can be used: the program is asked, with the name as it was written.
            Ok(None) | Err(LoadError::FileNotFound { .. }) => ask()?,
            Err(e) => return Err(cx.throw_load(e)),
        };
        match found {
            Some(a) => assembly_object(cx, a),
            None => Ok(ObjRef::NULL),
        }
    }
    /// Loads an image from memory.
    "System.AppDomain::LoadAssemblyRaw" fn load_assembly_raw(cx, this: ObjRef<'cx>, image: ObjRef<'cx>, symbols: ObjRef<'cx>, evidence: ObjRef<'cx>, reflection_only: bool) -> ObjRef<'cx> {
        let Some(image) = image.non_null() else { return Err(cx.throw_arg_null("rawAssembly")) };
        if reflection_only {
            let opened = cx.rt().loader.open_bytes_reflection_only(image.elements::<u8>().to_vec());
            let assembly = cx.load(opened)?;
            cx.rt().loader.tell_loaded(cx)?;
            return assembly_object(cx, assembly);
        }
        let assembly = cx.rt().loader.load_bytes(cx, image.elements::<u8>())?;
        if let Some(symbols) = symbols.non_null() {
            vervet_runtime::exceptions::symbols::remember(assembly.manifest, symbols.elements::<u8>());
        }
        assembly_object(cx, assembly)
    }
    /// Makes a domain current; there is only the one.
    "System.AppDomain::InternalSetDomainByID" fn internal_set_domain_by_id(cx, id: i32) -> ObjRef<'cx> { domain_by_id(cx, id) }
    /// Makes a domain current; there is only the one.
    "System.AppDomain::InternalSetDomain" fn internal_set_domain(cx, domain: ObjRef<'cx>) -> ObjRef<'cx> { current(cx) }
    /// Notes frames in a domain; the root domain is never unloaded, so there is nothing to note.
    "System.AppDomain::InternalPushDomainRef" fn internal_push_domain_ref(cx, domain: ObjRef<'cx>) { Ok(()) }
    /// The same by id.
    "System.AppDomain::InternalPushDomainRefByID" fn internal_push_domain_ref_by_id(cx, id: i32) { domain_by_id(cx, id).map(|_| ()) }
    /// The end of that.
    "System.AppDomain::InternalPopDomainRef" fn internal_pop_domain_ref(cx) { Ok(()) }
    /// Sets the thread's remoting Context; the one before.
    "System.AppDomain::InternalSetContext" fn internal_set_context(cx, context: ObjRef<'cx>) -> ObjRef<'cx> {
        let before = match thread_context(cx) {
            Some(t) => {
                let before = t.read_ref(CONTEXT_AT);
                t.write_ref(CONTEXT_AT, context);
                before
            }
            None => ObjRef::NULL,
        };
        if before.is_null() { default_context(cx) } else { Ok(before) }
    }
    /// The thread's remoting Context.
    "System.AppDomain::InternalGetContext" fn internal_get_context(cx) -> ObjRef<'cx> {
        let own = thread_context(cx).map_or(ObjRef::NULL, |t| t.read_ref(CONTEXT_AT));
        if own.is_null() { default_context(cx) } else { Ok(own) }
    }
    /// The domain's default remoting Context.
    "System.AppDomain::InternalGetDefaultContext" fn internal_get_default_context(cx) -> ObjRef<'cx> { default_context(cx) }
    /// The process's GUID: that of the first caller.
    "System.AppDomain::InternalGetProcessGuid" fn internal_get_process_guid(cx, guid: ObjRef<'cx>) -> ObjRef<'cx> {
        cx.cached(key::PROCESS_GUID, 0, 0, || Ok(guid))
    }
    /// Nothing is finalized for an unload yet.
    "System.AppDomain::InternalIsFinalizingForUnload" fn internal_is_finalizing_for_unload(cx, id: i32) -> bool { Ok(false) }
    /// The root domain cannot be unloaded.
    "System.AppDomain::InternalUnload" fn internal_unload(cx, id: i32) {
        if id == cx.domain().id as i32 {
            return Err(cx.throw(Known::CannotUnloadAppDomainException, "The default appdomain can not be unloaded."));
        }
        Err(cx.throw_default(Known::AppDomainUnloadedException))
    }
}
