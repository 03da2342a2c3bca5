//! What an exception of the program says, in words of ours.
//!
//! # Invariants
//! All functions are called by a thread that is attached; objects lie in their callers' frames.
use crate::api::Raw;
use crate::api::api;
use crate::error::Error;
use std::ffi::CStr;
use std::ptr::null_mut;

/// The name of a class.
pub(crate) fn name_of(class: Raw) -> String {
    // SAFETY: the class's name ends with a zero and lives as long as the class.
    unsafe { CStr::from_ptr((api().mono_class_get_name)(class)) }
        .to_string_lossy()
        .into_owned()
}
/// The text of a string object.
pub(crate) fn text_of(string: Raw) -> String {
    // SAFETY: the string lies on the caller's stack, so it stays in place, and has so many units.
    let units = unsafe {
        let length = (api().mono_string_length)(string) as usize;
        std::slice::from_raw_parts((api().mono_string_chars)(string), length)
    };
    String::from_utf16_lossy(units)
}
/// What an exception says.
pub(crate) fn error_of(exception: Raw) -> Error {
    let mut second = null_mut();
    // SAFETY: the exception lies on the caller's stack.
    let (class, text) = unsafe {
        let class = (api().mono_object_get_class)(exception);
        (
            name_of(class),
            (api().mono_object_to_string)(exception, &mut second),
        )
    };
    let message = match text.is_null() || !second.is_null() {
        true => String::new(),
        false => text_of(text).lines().next().unwrap_or_default().to_owned(),
    };
    let message = match message.split_once(": ") {
        Some((_, own)) => own.to_owned(),
        None => message,
    };
    Error::Thrown { class, message }
}
