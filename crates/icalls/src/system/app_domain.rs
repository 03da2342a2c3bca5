//! Native half of System.AppDomain.
//!
//! Keeps nothing: the runtime's `Domain` has the objects. An instance call is about the domain whose number `this` holds, which may be another than the
//! thread's: the class library calls raw AppDomain objects of other domains while it crosses. A static call is about the thread's domain.
use crate::support::callers;
use crate::support::invoke;
use crate::support::objects::{assembly_object, assembly_of_object, heap_offset, key, load};
use vervet_abi::layouts::{AppDomainObject, InternalThreadObject};
use vervet_binder::AssemblyName;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::domain::{self, Domain};
use vervet_runtime::icalls;
use vervet_runtime::loader::{Given, another_assembly_object};
use vervet_runtime::memory::roots::{self, Root};
use vervet_runtime::object::ObjRef;
use vervet_types::{Assembly, Known, LoadError};

/// The AppDomain object of the current domain.
pub fn current<'cx>(cx: &'cx Cx<'cx>) -> Result<ObjRef<'cx>> {
    held(cx, *cx.domain().app_domain.lock())
}
/// The domain of an AppDomain object.
fn domain_of<'cx>(cx: &'cx Cx<'cx>, this: ObjRef<'cx>) -> Result<&'static Domain> {
    let this = cx.non_null(this)?;
    let word: usize = this.read(std::mem::offset_of!(AppDomainObject, mono_app_domain));
    // SAFETY: the runtime stores the address of the domain when it makes the object, domains live for ever, and nothing else writes the field. An object
    // that was made otherwise has 0.
    unsafe { (word as *const Domain).as_ref() }.ok_or_else(|| {
        cx.throw(
            Known::InvalidOperationException,
            "the object is no domain's",
        )
    })
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
/// The AppDomainSetup object of a domain.
fn setup<'cx>(cx: &'cx Cx<'cx>, domain: &Domain) -> Result<ObjRef<'cx>> {
    held(cx, *domain.setup.lock())
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

/// The domain of an id.
///
/// # Errors
/// AppDomainUnloadedException: there is none that threads may be in.
fn domain_by_id<'cx>(cx: &'cx Cx<'cx>, id: i32) -> Result<&'static Domain> {
    domain::by_number(id).ok_or_else(|| cx.throw_unloaded())
}
/// Makes the domain current; the AppDomain object of the one before.
///
/// # Errors
/// AppDomainUnloadedException: no thread may enter it any more.
fn set_domain<'cx>(cx: &'cx Cx<'cx>, to: &'static Domain) -> Result<ObjRef<'cx>> {
    if !domain::crossing::may_enter(cx, to) {
        return Err(cx.throw_unloaded());
    }
    let before = domain::crossing::enter(cx, to);
    held(cx, *before.app_domain.lock())
}

/// Raises `AppDomain.AssemblyResolve`; the assembly a handler gave.
pub fn raise_assembly_resolve<'cx>(
    cx: &'cx Cx<'cx>,
    name: &str,
) -> Result<Option<&'static Assembly>> {
    cx.loader().resolve_event(cx, name, None)
}

icalls! {
    /// The AppDomainSetup object.
    "System.AppDomain::getSetup" fn get_setup(cx, this: ObjRef<'cx>) -> ObjRef<'cx> { setup(cx, domain_of(cx, this)?) }
    /// The friendly name.
    "System.AppDomain::getFriendlyName" fn get_friendly_name(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        let name = domain_of(cx, this)?.friendly_name.lock().clone();
        cx.alloc_str(&name)
    }
    /// The current domain.
    "System.AppDomain::getCurDomain" fn get_cur_domain(cx) -> ObjRef<'cx> { current(cx) }
    /// The root domain.
    "System.AppDomain::getRootDomain" fn get_root_domain(cx) -> ObjRef<'cx> { held(cx, *cx.rt().root.app_domain.lock()) }
    /// Makes a domain, which gets a copy of the setup; its AppDomain object, which is the new domain's.
    "System.AppDomain::createDomain" fn create_domain(cx, name: ObjRef<'cx>, info: ObjRef<'cx>) -> ObjRef<'cx> {
        let name = cx.non_null(name)?.text();
        let made = domain::create::create(cx, &name, info)?;
        held(cx, *made.app_domain.lock())
    }
    /// Runs an assembly's entry point on this thread.
    "System.AppDomain::ExecuteAssembly" fn execute_assembly(cx, this: ObjRef<'cx>, assembly: ObjRef<'cx>, args: ObjRef<'cx>) -> i32 {
        let assembly = assembly_of_object(cx, assembly)?;
        let Some(entry) = load(cx, || assembly.manifest.entry_point())? else {
            return Err(cx.throw(Known::MissingMethodException, &format!("Entry point not found in assembly '{}'.", crate::support::type_display::assembly_full_name(assembly))));
        };
        let args = if args.is_null() { cx.alloc_array(cx.known(Known::String), 0)? } else { args };
        // The first that is executed is the domain's own program.
        cx.loader().set_entry(assembly);
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
        let loader = &domain_of(cx, this)?.loader;
        let all = if reflection_only { loader.reflection_only.assemblies() } else { loader.assemblies() };
        cx.alloc_ref_array(cx.known(Known::Assembly), all.len(), |i| assembly_object(cx, all[i]))
    }
    /// What SetData stored, or a field of the setup.
    "System.AppDomain::GetData" fn get_data(cx, this: ObjRef<'cx>, name: ObjRef<'cx>) -> ObjRef<'cx> {
        let Some(name) = name.non_null() else { return Err(cx.throw_arg_null("name")) };
        let (name, domain) = (name.text(), domain_of(cx, this)?);
        if let Some(field) = setup_field(&name) {
            let setup = setup(cx, domain)?;
            return Ok(setup.read_ref(heap_offset(cx, setup.class(), field)?));
        }
        let found = domain.data.lock().get(&name).copied();
        Ok(found.map_or(ObjRef::NULL, Root::get))
    }
    /// Stores an object under a name.
    "System.AppDomain::SetData" fn set_data(cx, this: ObjRef<'cx>, name: ObjRef<'cx>, data: ObjRef<'cx>) {
        let Some(name) = name.non_null() else { return Err(cx.throw_arg_null("name")) };
        let (name, domain) = (name.text(), domain_of(cx, this)?);
        if let Some(field) = setup_field(&name) {
            let setup = setup(cx, domain)?;
            setup.write_ref(heap_offset(cx, setup.class(), field)?, data);
            return Ok(());
        }
        let known = domain.data.lock().get(&name).copied();
        known.unwrap_or_else(|| roots::keep(&domain.data, name, data)).set(data);
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
            let found = cx.load(cx.loader().bind_reflection_only(&parsed))?;
            cx.tell_loaded()?;
            return found.map_or(Ok(ObjRef::NULL), |a| assembly_object(cx, a));
        }
        let caller = callers::marked(cx).map(|m| m.class.module);
        let loader = &domain_of(cx, this)?.loader;
        let bound = match loader.ask_host(cx, &parsed) {
            Some(a) => Ok(Some(a)),
            None => loader.bind_for(&parsed, caller),
        };
        let found = match bound {
            Ok(Some(a)) => Some(a),
            // Nothing that can be used: the program is asked, with the name as it was written.
            Ok(None) | Err(LoadError::FileNotFound { .. }) => ask()?,
            Err(e) => return Err(cx.throw_load(e)),
        };
        cx.tell_loaded()?;
        match found {
            Some(a) => assembly_object(cx, a),
            None => Ok(ObjRef::NULL),
        }
    }
    /// Loads an image from memory.
    "System.AppDomain::LoadAssemblyRaw" fn load_assembly_raw(cx, this: ObjRef<'cx>, image: ObjRef<'cx>, symbols: ObjRef<'cx>, evidence: ObjRef<'cx>, reflection_only: bool) -> ObjRef<'cx> {
        let Some(image) = image.non_null() else { return Err(cx.throw_arg_null("rawAssembly")) };
        let loader = &domain_of(cx, this)?.loader;
        if reflection_only {
            let opened = loader.open_bytes_reflection_only(image.elements::<u8>().to_vec());
            let assembly = cx.load(opened)?;
            cx.tell_loaded()?;
            return assembly_object(cx, assembly);
        }
        let given = cx.load(loader.open_given_bytes(image.elements::<u8>().to_vec()))?;
        let is_redirected = matches!(given, Given::Redirected(_));
        let Some(assembly) = loader.take_given(cx, given)? else {
            let text = "The image was assembly binding redirected to another assembly that failed to load";
            return Err(cx.throw(Known::BadImageFormatException, text));
        };
        if is_redirected {
            return another_assembly_object(cx, assembly);
        }
        if let Some(symbols) = symbols.non_null() {
            vervet_runtime::exceptions::symbols::remember(assembly.manifest, symbols.elements::<u8>());
        }
        assembly_object(cx, assembly)
    }
    /// Makes a domain current; the one before.
    "System.AppDomain::InternalSetDomainByID" fn internal_set_domain_by_id(cx, id: i32) -> ObjRef<'cx> { set_domain(cx, domain_by_id(cx, id)?) }
    /// Makes a domain current; the one before.
    "System.AppDomain::InternalSetDomain" fn internal_set_domain(cx, domain: ObjRef<'cx>) -> ObjRef<'cx> { set_domain(cx, domain_of(cx, domain)?) }
    /// Notes that the thread is about to have frames in a domain.
    "System.AppDomain::InternalPushDomainRef" fn internal_push_domain_ref(cx, domain: ObjRef<'cx>) {
        domain::crossing::push(cx, domain_of(cx, domain)?);
        Ok(())
    }
    /// The same by id.
    "System.AppDomain::InternalPushDomainRefByID" fn internal_push_domain_ref_by_id(cx, id: i32) {
        domain::crossing::push(cx, domain_by_id(cx, id)?);
        Ok(())
    }
    /// The end of that.
    "System.AppDomain::InternalPopDomainRef" fn internal_pop_domain_ref(cx) {
        domain::crossing::pop(cx);
        Ok(())
    }
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
        let own = cx.non_null(guid)?.text();
        let first = cx.within(cx.rt().root, |cx| cx.cached(key::PROCESS_GUID, 0, 0, || cx.alloc_str(&own)))?;
        cx.alloc_utf16(first.units())
    }
    /// Do the finalizers of a domain's objects run because it is being unloaded?
    "System.AppDomain::InternalIsFinalizingForUnload" fn internal_is_finalizing_for_unload(cx, id: i32) -> bool {
        Ok(domain::by_number(id).is_some_and(Domain::is_finalizing))
    }
    /// Unloads a domain.
    "System.AppDomain::InternalUnload" fn internal_unload(cx, id: i32) {
        match domain::by_number(id) {
            Some(domain) => domain::unload::unload(cx, domain),
            _ => Err(cx.throw_unloaded()),
        }
    }
    /// An exception of another domain that nobody catches.
    "System.AppDomain::DoUnhandledException" fn do_unhandled_exception(cx, this: ObjRef<'cx>, exception: ObjRef<'cx>) {
        vervet_runtime::exceptions::unhandled::unhandled(cx, exception);
        Ok(())
    }
}
