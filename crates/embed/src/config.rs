//! Where a host says things lie: directories, configuration, dllmaps.
//!
//! # Invariants
//! What is said before the start is put where the start looks for it: in the environment, as the variables of the same meaning. A host has one thread
//! that starts the runtime, and says these things on it.
use crate::support::{Bool, ImageP, new_text, read, read_opt, text};
use std::ffi::{c_char, c_void};
use std::path::PathBuf;
use vervet_binder::Binder;
use vervet_icalls::system::environment;
use vervet_os::LeafLock;
use vervet_runtime::loader::HostMapping;
use vervet_runtime::runtime::rt_opt;

#[derive(Default)]
struct Said {
    libdir: Option<String>,
    etc: Option<String>,
    maps: Vec<HostMapping>,
    configurations: Vec<String>,
    /// Configurations of assemblies, by the names of their files.
    carried: Vec<(String, String)>,
    server: bool,
}
static SAID: LeafLock<Option<Said>> = LeafLock::new(None);

fn said<T>(change: impl FnOnce(&mut Said) -> T) -> T {
    change(SAID.lock().get_or_insert_default())
}

/// Takes over what was said before the start.
pub fn adopt(binder: &mut Binder) {
    if let Some(libdir) = said(|s| s.libdir.clone()) {
        binder.libdir = PathBuf::from(libdir);
    }
}
/// The mappings of before the start.
fn map(mapping: HostMapping) {
    match rt_opt() {
        Some(rt) => rt.root.loader.add_host_mapping(mapping),
        None => said(|s| s.maps.push(mapping)),
    }
}
/// Gives the loader what was said before the start.
pub fn give_maps() {
    let (maps, texts) = said(|s| {
        (
            std::mem::take(&mut s.maps),
            std::mem::take(&mut s.configurations),
        )
    });
    maps.into_iter().for_each(map);
    texts.iter().for_each(|t| parse(t));
    let carried = said(|s| s.carried.clone());
    carried
        .iter()
        .for_each(|(name, xml)| give_carried(name, xml));
}
/// Keeps the configuration of an assembly.
fn carry(name: String, xml: String) {
    give_carried(&name, &xml);
    said(|s| s.carried.push((name, xml)));
}
/// Gives the loader the dllmap of an assembly's configuration, if it has been started.
fn give_carried(name: &str, xml: &str) {
    let Some(rt) = rt_opt() else { return };
    let loader = &rt.root.loader;
    let config = loader.shared.locations.parse(xml);
    loader.carry_dllmap(name, config.dllmap);
}

/// The directory with `mono/4.5`.
fn root() -> String {
    said(|s| s.libdir.clone()).unwrap_or_else(|| "/usr/lib".into())
}

/// The dllmaps of a configuration, whose text is XML.
fn parse(text: &str) {
    let Some(rt) = rt_opt() else {
        return said(|s| s.configurations.push(text.to_string()));
    };
    let loader = &rt.root.loader;
    let config = loader.shared.locations.parse(text);
    loader.add_host_dllmap(config.dllmap);
}

api! {
    fn mono_set_dirs(lib: *const c_char, etc: *const c_char) {
        let (lib, etc) = (read_opt(lib), read_opt(etc));
        if let Some(etc) = &etc {
            std::env::set_var("MONO_CFG_DIR", etc);
        }
        said(|s| { s.libdir = lib; s.etc = etc; });
    }
    fn mono_set_rootdir() {}
    fn mono_assembly_setrootdir(directory: *const c_char) {
        let directory = read_opt(directory);
        said(|s| s.libdir = directory);
    }
    fn mono_assembly_getrootdir() -> *const c_char { text(&root()) }
    fn mono_native_getrootdir() -> *mut c_char { new_text(&root()) }
    fn mono_set_config_dir(directory: *const c_char) {
        let directory = read(directory);
        std::env::set_var("MONO_CFG_DIR", &directory);
        said(|s| s.etc = Some(directory));
    }
    fn mono_get_config_dir() -> *const c_char {
        let said = said(|s| s.etc.clone());
        text(&said.or_else(|| std::env::var("MONO_CFG_DIR").ok()).unwrap_or_else(|| "/etc".into()))
    }
    /// More directories of assemblies, separated by colons.
    fn mono_set_assemblies_path(path: *const c_char) {
        let path = read(path);
        match rt_opt() {
            None => std::env::set_var("MONO_PATH", path),
            Some(rt) => rt.root.loader.configure(|b| b.mono_path = std::env::split_paths(&path).collect()),
        }
    }
    /// The global configuration is read at the start; a file of the host's takes its place.
    fn mono_config_parse(file: *const c_char) {
        if let Some(file) = read_opt(file) {
            match rt_opt() {
                None => std::env::set_var("MONO_CONFIG", file),
                Some(_) => parse(&std::fs::read_to_string(file).unwrap_or_default()),
            }
        }
    }
    fn mono_config_parse_memory(xml: *const c_char) { parse(&read(xml)); }
    fn mono_config_for_assembly(_image: ImageP) {}
    fn mono_config_cleanup() {}
    fn mono_config_get_os() -> *const c_char { text("linux") }
    fn mono_config_get_cpu() -> *const c_char { text("x86-64") }
    fn mono_config_get_wordsize() -> *const c_char { text("64") }
    fn mono_register_machine_config(xml: *const c_char) { environment::carry_machine_config(read(xml)); }
    fn mono_get_machine_config() -> *const c_char { environment::carried_machine_config().map_or(std::ptr::null(), text) }
    /// The configuration of the assembly whose file has that name, instead of a file beside it.
    fn mono_register_config_for_assembly(name: *const c_char, xml: *const c_char) { carry(read(name), read(xml)); }
    fn mono_config_string_for_assembly_file(name: *const c_char) -> *const c_char {
        let name = read(name);
        let carried = said(|s| s.carried.iter().find(|c| c.0 == name).map(|c| c.1.clone()));
        carried.map_or(std::ptr::null(), |xml| text(&xml))
    }
    fn mono_config_set_server_mode(on: Bool) { said(|s| s.server = on != 0); }
    fn mono_config_is_server_mode() -> Bool { Bool::from(said(|s| s.server)) }
    /// Maps a native library, or one function of it, to another.
    fn mono_dllmap_insert(image: ImageP, dll: *const c_char, function: *const c_char, to: *const c_char, to_function: *const c_char) {
        map(HostMapping {
            module: image.map(|m| m.id),
            library: read(dll),
            function: read_opt(function),
            to_library: read_opt(to),
            to_function: read_opt(to_function),
        });
    }
    fn mono_set_find_plugin_callback(_callback: *const c_void) {}
}
