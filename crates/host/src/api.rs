//! The functions of the library that this crate calls, with the prototypes of Mono's headers.
//!
//! # Invariants
//! The library is never closed, so its functions stay.
use std::ffi::{c_char, c_int, c_void};
use std::path::Path;
use std::sync::OnceLock;

/// An address in the library's world: a domain, a class, an object.
pub type Raw = *mut c_void;

macro_rules! functions {
    ($(fn $name:ident($($p:ty),*) $(-> $r:ty)?;)*) => {
        /// See the module.
        #[derive(Debug)]
        pub struct Api { $(pub $name: unsafe extern "C" fn($($p),*) $(-> $r)?,)* }
        impl Api {
            pub fn load(path: &Path) -> Result<Api, libloading::Error> {
                // SAFETY: the library is libvervet or one with its functions, and is never closed; its names have the types that its headers say.
                unsafe {
                    let library = libloading::os::unix::Library::open(Some(path), libc::RTLD_NOW | libc::RTLD_GLOBAL)?;
                    let api = Api { $($name: *library.get(concat!(stringify!($name), "\0").as_bytes())?,)* };
                    std::mem::forget(library);
                    Ok(api)
                }
            }
        }
    };
}
functions! {
    fn mono_config_parse(*const c_char);
    fn mono_jit_init(*const c_char) -> Raw;
    fn mono_jit_thread_attach(Raw) -> Raw;
    fn mono_get_root_domain() -> Raw;
    fn mono_domain_create_appdomain(*const c_char, *const c_char) -> Raw;
    fn mono_domain_set(Raw, c_int) -> c_int;
    fn mono_domain_try_unload(Raw, *mut Raw);
    fn mono_domain_assembly_open(Raw, *const c_char) -> Raw;
    fn mono_assembly_get_image(Raw) -> Raw;
    fn mono_class_from_name(Raw, *const c_char, *const c_char) -> Raw;
    fn mono_class_get_parent(Raw) -> Raw;
    fn mono_class_get_flags(Raw) -> u32;
    fn mono_class_is_valuetype(Raw) -> c_int;
    fn mono_class_get_name(Raw) -> *const c_char;
    fn mono_class_get_type(Raw) -> Raw;
    fn mono_class_from_mono_type(Raw) -> Raw;
    fn mono_class_get_method_from_name(Raw, *const c_char, c_int) -> Raw;
    fn mono_method_get_flags(Raw, *mut u32) -> u32;
    fn mono_method_signature(Raw) -> Raw;
    fn mono_signature_get_params(Raw, *mut Raw) -> Raw;
    fn mono_type_get_type(Raw) -> c_int;
    fn mono_type_is_byref(Raw) -> c_int;
    fn mono_object_new(Raw, Raw) -> Raw;
    fn mono_object_get_class(Raw) -> Raw;
    fn mono_object_get_virtual_method(Raw, Raw) -> Raw;
    fn mono_object_isinst(Raw, Raw) -> Raw;
    fn mono_object_unbox(Raw) -> Raw;
    fn mono_object_to_string(Raw, *mut Raw) -> Raw;
    fn mono_runtime_invoke(Raw, Raw, *mut Raw, *mut Raw) -> Raw;
    fn mono_value_box(Raw, Raw, Raw) -> Raw;
    fn mono_get_corlib() -> Raw;
    fn mono_method_get_object(Raw, Raw, Raw) -> Raw;
    fn mono_type_get_object(Raw, Raw) -> Raw;
    fn mono_array_new(Raw, Raw, usize) -> Raw;
    fn mono_array_addr_with_size(Raw, c_int, usize) -> Raw;
    fn mono_gc_wbarrier_set_arrayref(Raw, Raw, Raw);
    fn mono_string_new_utf16(Raw, *const u16, i32) -> Raw;
    fn mono_string_length(Raw) -> c_int;
    fn mono_string_chars(Raw) -> *mut u16;
    fn mono_gchandle_new(Raw, c_int) -> u32;
    fn mono_gchandle_get_target(u32) -> Raw;
    fn mono_gchandle_free(u32);
    fn mono_gc_collect(c_int);
}

/// The functions, once the library is loaded.
pub(crate) static API: OnceLock<Api> = OnceLock::new();

/// The functions of the library.
pub(crate) fn api() -> &'static Api {
    API.get()
        .expect("whoever has an object of this crate has started the runtime")
}
