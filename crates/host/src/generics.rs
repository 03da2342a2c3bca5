//! Instances of generic methods, which reflection makes.
//!
//! # Invariants
//! All functions are called by a thread that is attached and in the domain; objects lie in their frames.
use crate::api::Raw;
use crate::api::api;
use crate::error::{Error, Result};
use crate::thrown::error_of;
use std::ffi::CStr;
use std::ptr::null_mut;

/// A class of the core library.
fn of_core(namespace: &CStr, name: &CStr) -> Raw {
    // SAFETY: the names end with a zero.
    unsafe {
        (api().mono_class_from_name)((api().mono_get_corlib)(), namespace.as_ptr(), name.as_ptr())
    }
}
/// Calls a method of an object of reflection that takes so many objects.
///
/// # Safety
/// The object has the method, and its parameters are of the arguments' types.
unsafe fn ask(object: Raw, name: &CStr, arguments: &mut [Raw]) -> Result<Raw> {
    let mut thrown = null_mut();
    // SAFETY: the caller's promise.
    unsafe {
        let mut at = (api().mono_object_get_class)(object);
        let mut method: Raw = null_mut();
        while method.is_null() && !at.is_null() {
            method =
                (api().mono_class_get_method_from_name)(at, name.as_ptr(), arguments.len() as i32);
            at = (api().mono_class_get_parent)(at);
        }
        if method.is_null() {
            return Err(Error::NotFound(name.to_string_lossy().into_owned()));
        }
        let method = (api().mono_object_get_virtual_method)(object, method);
        let result =
            (api().mono_runtime_invoke)(method, object, arguments.as_mut_ptr(), &mut thrown);
        match thrown.is_null() {
            true => Ok(result),
            false => Err(error_of(thrown)),
        }
    }
}

/// The method with these type arguments; the method itself, if there are none.
pub(crate) fn instance(domain: Raw, class: Raw, method: Raw, types: &[Raw]) -> Result<Raw> {
    if types.is_empty() {
        return Ok(method);
    }
    // SAFETY: the method and the classes are alive. MethodInfo has these members: a box of a bool, a MethodInfo, and a box of a handle, which is the method.
    unsafe {
        let info = (api().mono_method_get_object)(domain, method, class);
        let generic = ask(info, c"get_IsGenericMethodDefinition", &mut [])?;
        if !(api().mono_object_unbox)(generic).cast::<bool>().read() {
            return Err(Error::Mismatch("the method is not generic".into()));
        }
        let array = (api().mono_array_new)(domain, of_core(c"System", c"Type"), types.len());
        for (i, ty) in types.iter().enumerate() {
            let object = (api().mono_type_get_object)(domain, (api().mono_class_get_type)(*ty));
            let slot = (api().mono_array_addr_with_size)(array, size_of::<Raw>() as i32, i);
            (api().mono_gc_wbarrier_set_arrayref)(array, slot, object);
        }
        let made = ask(info, c"MakeGenericMethod", &mut [array])?;
        let handle = ask(made, c"get_MethodHandle", &mut [])?;
        Ok((api().mono_object_unbox)(handle).cast::<Raw>().read())
    }
}
