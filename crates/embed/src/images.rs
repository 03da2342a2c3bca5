//! Images: files of metadata, from disk or from memory.
//!
//! # Invariants
//! * An image lives for ever, and so does what it was made of: of bytes that a host lends there is a copy.
//! * An image of an assembly is its manifest module. One that was opened from memory becomes known to the host's load functions when it is made an
//!   assembly, not before.
use crate::domains;
use crate::support::{AssemblyP, Bool, ImageP, read, read_opt, set, text};
use std::ffi::{c_char, c_int, c_void};
use std::path::Path;
use vervet_os::LeafLock;
use vervet_runtime::cx::Cx;
use vervet_runtime::runtime::rt_opt;
use vervet_types::{Assembly, Module};

/// `MonoImageOpenStatus`.
pub type Status = c_int;
pub const IMAGE_OK: Status = 0;
pub const ERROR_ERRNO: Status = 1;
pub const IMAGE_INVALID: Status = 3;

/// Names that hosts gave images from memory.
static NAMES: LeafLock<Vec<(u32, String)>> = LeafLock::new(Vec::new());

/// Why a file did not open.
pub fn status_of(path: &str) -> Status {
    if Path::new(path).exists() {
        IMAGE_INVALID
    } else {
        ERROR_ERRNO
    }
}

fn open(path: &str, status: *mut Status) -> ImageP {
    let opened = domains::loader().and_then(|l| l.open(Path::new(path)).ok());
    // SAFETY: the host passes null or a variable.
    unsafe {
        set(
            status,
            if opened.is_some() {
                IMAGE_OK
            } else {
                status_of(path)
            },
        )
    };
    opened.map(|a| a.manifest)
}

fn open_data(data: *const u8, len: u32, status: *mut Status, name: Option<String>) -> ImageP {
    let opened = (!data.is_null()).then(|| {
        // SAFETY: the host says that so many bytes lie there.
        let bytes = unsafe { std::slice::from_raw_parts(data, len as usize) };
        domains::loader()?.open_bytes(bytes.to_vec()).ok()
    });
    let image = opened.flatten().map(|a| a.manifest);
    // SAFETY: the host passes null or a variable.
    unsafe {
        set(
            status,
            if image.is_some() {
                IMAGE_OK
            } else {
                IMAGE_INVALID
            },
        )
    };
    if let (Some(image), Some(name)) = (image, name) {
        NAMES.lock().push((image.id, name));
    }
    image
}

/// Tells the host of what was loaded. False: it knew already.
pub fn announce(cx: &'static Cx<'static>, _assembly: &'static Assembly) -> bool {
    match cx.tell_loaded() {
        Ok(()) => {}
        Err(throw) => {
            let _ = cx.take_pending(throw);
        }
    }
    true
}

/// A module by the name of its file or its assembly.
fn loaded(name: &str) -> ImageP {
    let all = domains::loader()?.assemblies();
    all.into_iter()
        .find(|a| a.name == name || a.manifest.path.as_deref() == Some(name))
        .map(|a| a.manifest)
}

/// The bytes that the CLI header calls the strong name's signature.
fn strong_name(module: &'static Module) -> Option<&'static [u8]> {
    let file = module.image.data();
    let word = |bytes: &[u8], at: usize| {
        let found = bytes.get(at..at + 4)?;
        Some(u32::from_le_bytes(found.try_into().ok()?))
    };
    // The fifteenth data directory, behind the fields of PE32 or PE32+, leads to the CLI header.
    let optional = word(file, 0x3c)? as usize + 24;
    let fields = if word(file, optional)? & 0xffff == 0x20b {
        112
    } else {
        96
    };
    let header = module
        .image
        .rva_data(word(file, optional + fields + 14 * 8)?)
        .ok()?;
    let (rva, size) = (word(header, 32)?, word(header, 36)? as usize);
    let signature = module.image.rva_data(rva).ok()?.get(..size)?;
    (rva != 0 && size != 0).then_some(signature)
}

fn guid(module: &Module) -> String {
    let b = module.image.mvid().unwrap_or_default();
    let hex = |r: &[usize]| {
        r.iter()
            .map(|&i| format!("{:02X}", b[i]))
            .collect::<String>()
    };
    format!(
        "{}-{}-{}-{}-{}",
        hex(&[3, 2, 1, 0]),
        hex(&[5, 4]),
        hex(&[7, 6]),
        hex(&[8, 9]),
        hex(&[10, 11, 12, 13, 14, 15])
    )
}

api! {
    fn mono_images_init() {}
    fn mono_images_cleanup() {}
    fn mono_image_init(_image: ImageP) {}
    fn mono_image_open(path: *const c_char, status: *mut Status) -> ImageP { open(&read(path), status) }
    fn mono_image_open_full(path: *const c_char, status: *mut Status, _refonly: Bool) -> ImageP { open(&read(path), status) }
    fn mono_pe_file_open(path: *const c_char, status: *mut Status) -> ImageP { open(&read(path), status) }
    fn mono_image_open_from_data(data: *const u8, len: u32, _copy: Bool, status: *mut Status) -> ImageP {
        open_data(data, len, status, None)
    }
    fn mono_image_open_from_data_full(data: *const u8, len: u32, _copy: Bool, status: *mut Status, _refonly: Bool) -> ImageP {
        open_data(data, len, status, None)
    }
    fn mono_image_open_from_data_with_name(data: *const u8, len: u32, _copy: Bool, status: *mut Status, _refonly: Bool, name: *const c_char) -> ImageP {
        open_data(data, len, status, read_opt(name))
    }
    fn mono_image_close(_image: ImageP) {}
    fn mono_image_addref(_image: ImageP) {}
    fn mono_image_fixup_vtable(_image: ImageP) {}
    fn mono_image_loaded(name: *const c_char) -> ImageP { loaded(&read(name)) }
    fn mono_image_loaded_full(name: *const c_char, _refonly: Bool) -> ImageP { loaded(&read(name)) }
    fn mono_image_loaded_by_guid(wanted: *const c_char) -> ImageP { by_guid(&read(wanted)) }
    fn mono_image_loaded_by_guid_full(wanted: *const c_char, _refonly: Bool) -> ImageP { by_guid(&read(wanted)) }
    fn mono_image_strerror(status: Status) -> *const c_char {
        text(match status {
            IMAGE_OK => "success",
            ERROR_ERRNO => "No such file or directory",
            2 => "An assembly was referenced, but could not be found",
            IMAGE_INVALID => "File does not contain a valid CIL image",
            _ => "Internal error",
        })
    }
    fn mono_image_get_name(image: ImageP) -> *const c_char {
        image.map_or(std::ptr::null(), |m| text(m.assembly().map_or(m.name, |a| a.name)))
    }
    fn mono_image_get_filename(image: ImageP) -> *const c_char {
        let Some(image) = image else { return std::ptr::null() };
        let given = NAMES.lock().iter().find(|n| n.0 == image.id).map(|n| n.1.clone());
        match given.or_else(|| image.path.clone()) {
            Some(path) => text(&path),
            None => text("data-0"),
        }
    }
    fn mono_image_get_guid(image: ImageP) -> *const c_char { image.map_or(std::ptr::null(), |m| text(&guid(m))) }
    fn mono_image_get_assembly(image: ImageP) -> AssemblyP { image.and_then(|m| m.assembly()) }
    fn mono_image_get_entry_point(image: ImageP) -> u32 {
        image.and_then(|m| m.image.entry_point()).map_or(0, |t| t.0)
    }
    fn mono_image_is_dynamic(image: ImageP) -> Bool { Bool::from(image.is_some_and(|m| m.image.grows().is_some())) }
    fn mono_image_has_authenticode_entry(_image: ImageP) -> Bool { 0 }
    fn mono_image_ensure_section(_image: ImageP, _section: *const c_char) -> c_int { 1 }
    fn mono_image_ensure_section_idx(_image: ImageP, _section: c_int) -> c_int { 1 }
    fn mono_image_get_resource(image: ImageP, offset: u32, size: *mut u32) -> *const c_char {
        match image.and_then(|m| m.image.resource(offset).ok()) {
            Some(bytes) => { set(size, bytes.len() as u32); bytes.as_ptr().cast() }
            None => std::ptr::null(),
        }
    }
    fn mono_image_rva_map(image: ImageP, rva: u32) -> *const c_char {
        image.and_then(|m| m.image.rva_data(rva).ok()).map_or(std::ptr::null(), |b| b.as_ptr().cast())
    }
    fn mono_image_get_public_key(image: ImageP, size: *mut u32) -> *const c_char {
        let key = image.and_then(|m| m.assembly()).map_or(&[][..], |a| a.public_key);
        set(size, key.len() as u32);
        if key.is_empty() { std::ptr::null() } else { key.as_ptr().cast() }
    }
    /// The signature of the file, and its size; null: it has none.
    fn mono_image_get_strong_name(image: ImageP, size: *mut u32) -> *const u8 {
        let signature = image.and_then(strong_name);
        set(size, signature.map_or(0, |s| s.len() as u32));
        signature.map_or(std::ptr::null(), |s| s.as_ptr())
    }
    /// Where that lies in the file; 0: nowhere.
    fn mono_image_strong_name_position(image: ImageP, size: *mut u32) -> u32 {
        let Some((image, signature)) = image.and_then(|i| Some((i, strong_name(i)?))) else { return 0 };
        set(size, signature.len() as u32);
        signature.as_ptr().offset_from_unsigned(image.image.data().as_ptr()) as u32
    }
    fn mono_image_load_file_for_image(image: ImageP, index: c_int) -> ImageP { file_of(image?, index as u32) }
    fn mono_image_load_module(image: ImageP, index: c_int) -> ImageP {
        let image = image?;
        let row = image.image.module_ref(index as u32).ok()?;
        domains::loader()?.open_module(image, image.image.string(row.name).ok()?).ok()
    }
    fn mono_get_corlib() -> ImageP { rt_opt().map(|rt| rt.universe.corlib()) }
    fn mono_image_lookup_resource(_image: ImageP, _id: u32, _lang: u32, _name: *const c_void) -> *const c_void { std::ptr::null() }
    fn mono_image_add_to_name_cache(_image: ImageP, _namespace: *const c_char, _name: *const c_char, _index: u32) {}
}

pub fn file_of(image: &'static Module, index: u32) -> ImageP {
    let row = image.image.file(index).ok()?;
    domains::loader()?
        .open_module(image, image.image.string(row.name).ok()?)
        .ok()
}
fn by_guid(wanted: &str) -> ImageP {
    let all = domains::loader()?.assemblies();
    all.into_iter()
        .map(|a| a.manifest)
        .find(|m| guid(m).eq_ignore_ascii_case(wanted))
}
