//! Assemblies of a host: from files and names, and the functions of the host's that the loader asks.
//!
//! # Invariants
//! * A host's function is called in Foreign state, in the order in which functions were installed, without a lock.
//! * The load functions hear of every assembly once, and again each time that the host opens one that is loaded, as in mono.
use crate::bundles;
use crate::domains;
use crate::images::{self, IMAGE_OK, Status};
use crate::support::{AssemblyP, Bool, ImageP, new_text, outside, read, read_opt, set, text};
use std::ffi::{c_char, c_int, c_void};
use std::path::Path;
use std::sync::Arc;
use vervet_binder::{AssemblyName, PublicKeyToken};
use vervet_os::LeafLock;
use vervet_runtime::cx::Cx;
use vervet_runtime::loader::{HostHooks, Stage, name_of_reference};
use vervet_runtime::rt;
use vervet_types::Assembly;

type LoadFunction = unsafe extern "C" fn(&'static Assembly, *mut c_void);
type SearchFunction = unsafe extern "C" fn(*mut Name, *mut c_void) -> AssemblyP;
type PreloadFunction = unsafe extern "C" fn(*mut Name, *mut *mut c_char, *mut c_void) -> AssemblyP;

#[derive(Clone, Default)]
struct Installed {
    load: Vec<(LoadFunction, usize)>,
    search: Vec<(SearchFunction, usize)>,
    preload: Vec<(PreloadFunction, usize)>,
    postload: Vec<(SearchFunction, usize)>,
}
/// Read as a whole: no lock is held during a call.
static INSTALLED: LeafLock<Option<Arc<Installed>>> = LeafLock::new(None);

fn install(change: impl FnOnce(&mut Installed)) {
    let mut all = INSTALLED.lock();
    let mut new = all.as_deref().cloned().unwrap_or_default();
    change(&mut new);
    *all = Some(Arc::new(new));
}
fn installed() -> Option<Arc<Installed>> {
    INSTALLED.lock().clone()
}

/// A `MonoAssemblyName`, which is opaque to hosts. One that `mono_assembly_name_new` made lies in malloc's memory.
#[repr(C)]
pub struct Name {
    name: *const c_char,
    culture: *const c_char,
    version: [u16; 4],
    token: [u8; 17],
    parsed: &'static AssemblyName,
}

fn name_of(parsed: AssemblyName) -> Name {
    let mut token = [0u8; 17];
    if let Some(PublicKeyToken(bytes)) = parsed.public_key_token {
        for (i, b) in bytes.iter().enumerate() {
            let digits = b"0123456789abcdef";
            token[2 * i] = digits[usize::from(b >> 4)];
            token[2 * i + 1] = digits[usize::from(b & 15)];
        }
    }
    Name {
        name: text(&parsed.name),
        culture: text(
            parsed
                .culture
                .as_deref()
                .filter(|c| *c != "neutral")
                .unwrap_or(""),
        ),
        version: parsed.version.unwrap_or_default(),
        token,
        parsed: Box::leak(Box::new(parsed)),
    }
}
/// The name of a loaded assembly.
fn name_of_assembly(assembly: &'static Assembly) -> AssemblyName {
    AssemblyName {
        version: Some(assembly.version),
        culture: Some(assembly.culture.to_string()),
        public_key_token: assembly.public_key_token().map(PublicKeyToken),
        token_is_null: assembly.public_key.is_empty(),
        ..AssemblyName::simple(assembly.name)
    }
}

/// What the loader calls.
pub fn hooks() -> HostHooks {
    HostHooks {
        loaded: |_, assembly| tell(assembly),
        find,
        has_preload: || {
            bundles::are_there()
                || installed().is_some_and(|i| !i.preload.is_empty() || !i.search.is_empty())
        },
    }
}

fn tell(assembly: &'static Assembly) {
    crate::profiler::assembly_loaded(assembly);
    for (function, user) in installed().map(|i| i.load.clone()).unwrap_or_default() {
        // SAFETY: the host's function, called as its type says.
        outside(|| unsafe { function(assembly, user as *mut c_void) });
    }
}

fn find(cx: &Cx<'_>, name: &AssemblyName, stage: Stage) -> AssemblyP {
    let bundled = || bundles::named(&name.name).filter(|_| stage == Stage::Preload);
    ask(cx, name, stage).or_else(bundled)
}
fn ask(_cx: &Cx<'_>, name: &AssemblyName, stage: Stage) -> AssemblyP {
    let installed = installed()?;
    let has_any = match stage {
        Stage::Preload => !installed.preload.is_empty(),
        Stage::Search => !installed.search.is_empty(),
        Stage::Postload => !installed.postload.is_empty(),
    };
    if !has_any {
        return None;
    }
    let mut name = name_of(name.clone());
    let at: *mut Name = &raw mut name;
    let search = match stage {
        Stage::Postload => &installed.postload,
        _ => &installed.search,
    };
    match stage {
        Stage::Preload => installed.preload.iter().find_map(|&(function, user)| {
            // SAFETY: the host's function, called as its type says.
            outside(|| unsafe { function(at, std::ptr::null_mut(), user as *mut c_void) })
        }),
        Stage::Search | Stage::Postload => search.iter().find_map(|&(function, user)| {
            // SAFETY: the host's function, called as its type says.
            outside(|| unsafe { function(at, user as *mut c_void) })
        }),
    }
}

/// The core library was loaded by the start: the host's functions are called for it now.
pub fn tell_of_core(cx: &'static Cx<'static>) {
    let _ = find(cx, &AssemblyName::simple("mscorlib.dll"), Stage::Preload);
    if let Some(assembly) = cx.rt().universe.corlib().assembly() {
        tell(assembly);
    }
}

/// Opens a file as an assembly, and tells the host also if it is open already.
fn open(cx: &'static Cx<'static>, path: &str, status: *mut Status) -> AssemblyP {
    // SAFETY: the host passes null or a variable.
    let say = |s| unsafe { set(status, s) };
    let path = path.strip_prefix("file://").unwrap_or(path);
    let file = Path::new(path).file_name().map(|f| f.to_string_lossy());
    if let Some(assembly) = file.and_then(|f| bundles::open(&f)) {
        if !images::announce(cx, assembly) {
            tell(assembly);
        }
        say(IMAGE_OK);
        return Some(assembly);
    }
    let before = vervet_runtime::loader::loads();
    match cx.loader().load_file(cx, Path::new(path)) {
        Ok(assembly) => {
            if vervet_runtime::loader::loads() == before {
                tell(assembly);
            }
            say(IMAGE_OK);
            Some(assembly)
        }
        Err(throw) => {
            let _ = cx.take_pending(throw);
            say(images::status_of(path));
            None
        }
    }
}

fn load(cx: &'static Cx<'static>, name: &AssemblyName, status: *mut Status) -> AssemblyP {
    let found = cx.loader().load_by_name(cx, name, None);
    let assembly = match found {
        Ok(a) => Some(a),
        Err(throw) => {
            let _ = cx.take_pending(throw);
            None
        }
    };
    // SAFETY: the host passes null or a variable.
    unsafe {
        set(
            status,
            if assembly.is_some() {
                IMAGE_OK
            } else {
                images::ERROR_ERRNO
            },
        )
    };
    assembly
}

/// An assembly that is loaded under a name.
fn loaded(name: &AssemblyName) -> AssemblyP {
    domains::loader()?
        .assemblies()
        .into_iter()
        .find(|a| a.name == name.name)
}

object_api! {
    fn mono_assembly_open(cx; path: *const c_char, status: *mut Status) -> AssemblyP { open(cx, &read(path), status) }
    fn mono_assembly_open_full(cx; path: *const c_char, status: *mut Status, refonly: Bool) -> AssemblyP {
        let _ = refonly;
        open(cx, &read(path), status)
    }
    fn mono_assembly_load(cx; name: *const Name, _base: *const c_char, status: *mut Status) -> AssemblyP {
        load(cx, (*name).parsed, status)
    }
    fn mono_assembly_load_full(cx; name: *const Name, _base: *const c_char, status: *mut Status, _refonly: Bool) -> AssemblyP {
        load(cx, (*name).parsed, status)
    }
    fn mono_assembly_load_with_partial_name(cx; name: *const c_char, status: *mut Status) -> AssemblyP {
        let Ok(name) = AssemblyName::parse(&read(name)) else { return None };
        load(cx, &name, status).or_else(|| {
            let files = cx.loader().binder().partial_name_candidates(&name);
            let file = files.into_iter().find(|c| c.path.is_file())?;
            open(cx, &file.path.to_string_lossy(), status)
        })
    }
    /// Makes the assembly of an image that was opened before.
    fn mono_assembly_load_from(cx; image: ImageP, file: *const c_char, status: *mut Status) -> AssemblyP {
        load_from(cx, image, status)
    }
    fn mono_assembly_load_from_full(cx; image: ImageP, file: *const c_char, status: *mut Status, refonly: Bool) -> AssemblyP {
        load_from(cx, image, status)
    }
    fn mono_assembly_load_reference(cx; image: ImageP, index: c_int) {
        if let Some(image) = image
            && let Ok(r) = image.assembly_ref(index as u32 + 1)
        {
            load(cx, &name_of_reference(&r), std::ptr::null_mut());
        }
    }
    fn mono_assembly_load_references(cx; image: ImageP, status: *mut Status) {
        if let Some(image) = image {
            for rid in 1..=image.image.row_count(vervet_metadata::Table::AssemblyRef) {
                if let Ok(r) = image.assembly_ref(rid) {
                    load(cx, &name_of_reference(&r), std::ptr::null_mut());
                }
            }
        }
        set(status, IMAGE_OK);
    }
    fn mono_assembly_invoke_load_hook(cx; assembly: AssemblyP) {
        if let Some(assembly) = assembly {
            tell(assembly);
        }
    }
    fn mono_assembly_invoke_search_hook(cx; name: *const Name) -> AssemblyP {
        find(cx, (*name).parsed, Stage::Search)
    }
    fn mono_assembly_foreach(cx; call: Option<unsafe extern "C" fn(&'static Assembly, *mut c_void)>, user: *mut c_void) {
        if let Some(call) = call {
            for assembly in cx.loader().assemblies() {
                outside(|| call(assembly, user));
            }
        }
    }
}

domain_api! {
    /// Opens an assembly by its path; null if that fails.
    fn mono_domain_assembly_open(cx; path: *const c_char) -> AssemblyP {
        open(cx, &read(path), std::ptr::null_mut())
    }
}

fn load_from(cx: &'static Cx<'static>, image: ImageP, status: *mut Status) -> AssemblyP {
    let assembly = image.and_then(|i| i.assembly());
    if let Some(assembly) = assembly
        && !images::announce(cx, assembly)
    {
        tell(assembly);
    }
    // SAFETY: the host passes null or a variable.
    unsafe {
        set(
            status,
            if assembly.is_some() {
                IMAGE_OK
            } else {
                images::IMAGE_INVALID
            },
        )
    };
    assembly
}

api! {
    fn mono_assembly_loaded(name: *const Name) -> AssemblyP { loaded((*name).parsed) }
    fn mono_assembly_loaded_full(name: *const Name, _refonly: Bool) -> AssemblyP { loaded((*name).parsed) }
    fn mono_assembly_get_image(assembly: AssemblyP) -> ImageP { assembly.map(|a| a.manifest) }
    fn mono_assembly_get_name(assembly: AssemblyP) -> *mut Name {
        assembly.map_or(std::ptr::null_mut(), |a| Box::into_raw(Box::new(name_of(name_of_assembly(a)))))
    }
    fn mono_assembly_close(_assembly: AssemblyP) {}
    fn mono_assemblies_init() {}
    fn mono_assemblies_cleanup() {}
    fn mono_assembly_get_main() -> AssemblyP { rt().root.loader.entry() }
    fn mono_assembly_set_main(assembly: AssemblyP) {
        if let Some(a) = assembly {
            rt().root.loader.set_entry(a);
        }
    }
    fn mono_assembly_get_assemblyref(image: ImageP, index: c_int, name: *mut Name) {
        if let Some(image) = image && let Ok(r) = image.assembly_ref(index as u32 + 1) {
            name.write(name_of(name_of_reference(&r)));
        }
    }
    fn mono_assembly_fill_assembly_name(image: ImageP, name: *mut Name) -> Bool {
        match image.and_then(|i| i.assembly()) {
            Some(a) => { name.write(name_of(name_of_assembly(a))); 1 }
            None => 0,
        }
    }
    fn mono_assembly_load_module(assembly: AssemblyP, index: u32) -> ImageP {
        let manifest = assembly?.manifest;
        let row = manifest.image.file(index).ok()?;
        let name = manifest.image.string(row.name).ok()?;
        domains::loader()?.open_module(manifest, name).ok()
    }
    fn mono_assembly_names_equal(l: *const Name, r: *const Name) -> Bool {
        let (l, r) = ((*l).parsed, (*r).parsed);
        let same = l.name == r.name && l.culture_or_neutral() == r.culture_or_neutral()
            && (l.version.is_none() || r.version.is_none() || l.version == r.version)
            && (l.public_key_token.is_none() || r.public_key_token.is_none() || l.public_key_token == r.public_key_token);
        Bool::from(same)
    }
    fn mono_stringify_assembly_name(name: *const Name) -> *mut c_char { new_text(&(*name).parsed.to_string()) }
    fn mono_assembly_name_new(name: *const c_char) -> *mut Name {
        let Some(parsed) = read_opt(name).and_then(|n| AssemblyName::parse(&n).ok()) else { return std::ptr::null_mut() };
        let p = libc::malloc(size_of::<Name>()).cast::<Name>();
        if !p.is_null() {
            p.write(name_of(parsed));
        }
        p
    }
    /// What the name refers to lives on; its own memory is freed with `mono_free`.
    fn mono_assembly_name_free(_name: *mut Name) {}
    fn mono_assembly_name_get_name(name: *const Name) -> *const c_char { (*name).name }
    fn mono_assembly_name_get_culture(name: *const Name) -> *const c_char { (*name).culture }
    fn mono_assembly_name_get_version(name: *const Name, minor: *mut u16, build: *mut u16, revision: *mut u16) -> u16 {
        let [a, b, c, d] = (*name).version;
        set(minor, b);
        set(build, c);
        set(revision, d);
        a
    }
    fn mono_assembly_name_get_pubkeytoken(name: *const Name) -> *const u8 {
        if (*name).token[0] == 0 { std::ptr::null() } else { (&raw const (*name).token).cast() }
    }
    fn mono_install_assembly_load_hook(function: LoadFunction, user: *mut c_void) {
        install(|i| i.load.push((function, user as usize)));
    }
    fn mono_install_assembly_preload_hook(function: PreloadFunction, user: *mut c_void) {
        install(|i| i.preload.push((function, user as usize)));
    }
    fn mono_install_assembly_search_hook(function: SearchFunction, user: *mut c_void) {
        install(|i| i.search.push((function, user as usize)));
    }
    fn mono_install_assembly_postload_search_hook(function: SearchFunction, user: *mut c_void) {
        install(|i| i.postload.push((function, user as usize)));
    }
    /// There are no reflection-only loads by name, so these are never called.
    fn mono_install_assembly_refonly_preload_hook(_function: PreloadFunction, _user: *mut c_void) {}
    fn mono_install_assembly_refonly_search_hook(_function: SearchFunction, _user: *mut c_void) {}
    fn mono_install_assembly_postload_refonly_search_hook(_function: SearchFunction, _user: *mut c_void) {}
}
