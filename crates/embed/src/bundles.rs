//! Assemblies that a host carries in its own memory, by the names of their files.
//!
//! # Invariants
//! What a host has registered stays where it is for the life of the process. In each domain a bundled assembly is opened once.
use crate::domains;
use crate::support::{AssemblyP, read};
use std::ffi::{c_char, c_uint};
use vervet_os::LeafLock;
use vervet_runtime::exceptions::symbols;
use vervet_types::Assembly;

/// A `MonoBundledAssembly`.
#[repr(C)]
pub struct Bundled {
    name: *const c_char,
    data: *const u8,
    size: c_uint,
}
struct Entry {
    name: String,
    data: &'static [u8],
}
static ALL: LeafLock<Vec<Entry>> = LeafLock::new(Vec::new());
static SYMBOLS: LeafLock<Vec<Entry>> = LeafLock::new(Vec::new());
/// What has been opened, by the domain's number and the place of the bytes.
static OPENED: LeafLock<Vec<(u32, usize, &'static Assembly)>> = LeafLock::new(Vec::new());

pub fn are_there() -> bool {
    !ALL.lock().is_empty()
}
/// The assembly whose file has that name, in the calling thread's domain.
pub fn open(file: &str) -> AssemblyP {
    let data = ALL.lock().iter().find(|e| e.name == file).map(|e| e.data)?;
    let domain = domains::current()?;
    let key = (domain.number(), data.as_ptr() as usize);
    let known = OPENED
        .lock()
        .iter()
        .find(|o| (o.0, o.1) == key)
        .map(|o| o.2);
    if known.is_some() {
        return known;
    }
    let opened = domain.loader.open_bytes(data.to_vec()).ok()?;
    let debug = SYMBOLS
        .lock()
        .iter()
        .find(|e| e.name == file)
        .map(|e| e.data);
    if let Some(debug) = debug {
        symbols::remember(opened.manifest, debug);
    }
    OPENED.lock().push((key.0, key.1, opened));
    Some(opened)
}
/// The assembly of that simple name.
pub fn named(name: &str) -> AssemblyP {
    open(&format!("{name}.dll")).or_else(|| open(&format!("{name}.exe")))
}

api! {
    /// The list ends with null.
    fn mono_register_bundled_assemblies(list: *const *const Bundled) {
        let mut at = list;
        while !at.is_null() && !(*at).is_null() {
            let bundled = &**at;
            let data = std::slice::from_raw_parts(bundled.data, bundled.size as usize);
            ALL.lock().push(Entry { name: read(bundled.name), data });
            at = at.add(1);
        }
    }
    /// The symbols of a bundled assembly, by the name of its file.
    fn mono_register_symfile_for_assembly(name: *const c_char, data: *const u8, size: c_uint) {
        let data = std::slice::from_raw_parts(data, size as usize);
        SYMBOLS.lock().push(Entry { name: read(name), data });
    }
}
