//! Calls into managed code. All functions are called by a thread that is attached and in the domain.
//!
//! # Invariants
//! Each argument is what the parameter's type says: numbers of that size, strings, objects of that class and of this domain. Methods with other parameters are
//! not called.
use crate::api::Raw;
use crate::domain::{Class, Domain, Object};
use crate::{Error, Result, Value, api, c_text};
use std::ffi::{CStr, c_void};
use std::ptr::{from_ref, null_mut};

const ABSTRACT: u32 = 0x80;
const STATIC: u32 = 0x10;

/// Element types (ECMA-335 II.23.1.16).
mod element {
    pub const BOOL: i32 = 0x02;
    pub const I4: i32 = 0x08;
    pub const I8: i32 = 0x0a;
    pub const R4: i32 = 0x0c;
    pub const R8: i32 = 0x0d;
    pub const STRING: i32 = 0x0e;
    pub const PTR: i32 = 0x0f;
    pub const VALUE_TYPE: i32 = 0x11;
    pub const CLASS: i32 = 0x12;
    pub const FN_PTR: i32 = 0x1b;
    pub const OBJECT: i32 = 0x1c;
}

fn name_of(class: Raw) -> String {
    // SAFETY: the class's name ends with a zero and lives as long as the class.
    unsafe { CStr::from_ptr((api().mono_class_get_name)(class)) }
        .to_string_lossy()
        .into_owned()
}
fn text_of(string: Raw) -> String {
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
fn value_of(domain: &Domain, object: Raw) -> Value {
    if object.is_null() {
        return Value::Null;
    }
    // SAFETY: the object lies on the caller's stack; a box holds a value of the type that its class has. Enumerations stay objects.
    unsafe {
        let class = (api().mono_object_get_class)(object);
        let unboxed = || (api().mono_object_unbox)(object);
        match (api().mono_type_get_type)((api().mono_class_get_type)(class)) {
            element::BOOL => Value::Bool(*unboxed().cast::<u8>() != 0),
            element::I4 => Value::I32(*unboxed().cast()),
            element::I8 => Value::I64(*unboxed().cast()),
            element::R4 => Value::F32(*unboxed().cast()),
            element::R8 => Value::F64(*unboxed().cast()),
            element::STRING => Value::Text(text_of(object)),
            _ => Value::Object(Object::keep(domain, object)),
        }
    }
}

/// An argument for a parameter of that type: a reference, or the address of the number in `value`.
fn argument(domain: &Domain, ty: Raw, value: &Value) -> Result<Raw> {
    // SAFETY: questions about a type that a signature has given.
    let (kind, class, is_value) = unsafe {
        let class = (api().mono_class_from_mono_type)(ty);
        let kind = (api().mono_type_get_type)(ty);
        let is_pointer =
            (api().mono_type_is_byref)(ty) != 0 || kind == element::PTR || kind == element::FN_PTR;
        if is_pointer {
            return Err(Error::Mismatch("a parameter is passed by reference".into()));
        }
        (kind, class, (api().mono_class_is_valuetype)(class) != 0)
    };
    let wrong = || Error::Mismatch(format!("{value:?} is no {}", name_of(class)));
    let of = |number: *const c_void, wants: i32| match kind == wants {
        true => Ok(number.cast_mut()),
        false => Err(wrong()),
    };
    match value {
        Value::Bool(v) => of(from_ref(v).cast(), element::BOOL),
        Value::I32(v) => of(from_ref(v).cast(), element::I4),
        Value::I64(v) => of(from_ref(v).cast(), element::I8),
        Value::F32(v) => of(from_ref(v).cast(), element::R4),
        Value::F64(v) => of(from_ref(v).cast(), element::R8),
        Value::Null if is_value => Err(wrong()),
        Value::Null => Ok(null_mut()),
        Value::Text(text) => {
            let units: Vec<u16> = text.encode_utf16().collect();
            let length = i32::try_from(units.len()).map_err(|_| wrong())?;
            // SAFETY: so many units lie there; the domain lives.
            let made =
                unsafe { (api().mono_string_new_utf16)(domain.0.raw.0, units.as_ptr(), length) };
            fitting(made, class).filter(|_| !is_value).ok_or_else(wrong)
        }
        Value::Object(object) if object.is_of(domain) && !is_value => {
            fitting(object.raw(), class).ok_or_else(wrong)
        }
        Value::Object(_) => Err(wrong()),
    }
}
/// The object, if it is of the class.
fn fitting(object: Raw, class: Raw) -> Option<Raw> {
    // SAFETY: the object is null or lies on the caller's stack.
    let fits = !object.is_null() && unsafe { !(api().mono_object_isinst)(object, class).is_null() };
    fits.then_some(object)
}

/// How many arguments a call has: they lie in the frame, where the collector finds the references among them.
const MOST: usize = 16;

/// Calls a method by its name and number of parameters; with a target, one of the object.
pub(crate) fn call(
    domain: &Domain,
    class: Raw,
    target: Option<Raw>,
    name: &str,
    arguments: &[Value],
) -> Result<Value> {
    let text = c_text(name)?;
    let missing = || {
        Error::NotFound(format!(
            "{}.{name} with {} parameters",
            name_of(class),
            arguments.len()
        ))
    };
    if arguments.len() > MOST {
        return Err(missing());
    }
    let mut at = class;
    let mut method: Raw = null_mut();
    // SAFETY: the class is alive, and the name ends with a zero. Methods of ancestors are looked for, too.
    unsafe {
        while method.is_null() && !at.is_null() {
            method =
                (api().mono_class_get_method_from_name)(at, text.as_ptr(), arguments.len() as i32);
            // A constructor makes objects of its own class only.
            at = match name {
                ".ctor" => null_mut(),
                _ => (api().mono_class_get_parent)(at),
            };
        }
        if method.is_null() {
            return Err(missing());
        }
        let is_static = (api().mono_method_get_flags)(method, null_mut()) & STATIC != 0;
        if is_static != target.is_none() {
            let wants = if is_static { "a class" } else { "an object" };
            return Err(Error::Mismatch(format!("{name} is called on {wants}")));
        }
    }
    let mut this = null_mut();
    if let Some(object) = target {
        // SAFETY: the object lies on the caller's stack. A method of a value type is called with the address of the value.
        unsafe {
            method = (api().mono_object_get_virtual_method)(object, method);
            let is_value = (api().mono_class_is_valuetype)(class) != 0;
            this = if is_value {
                (api().mono_object_unbox)(object)
            } else {
                object
            };
        }
    }
    let mut passed = [null_mut(); MOST];
    let mut iter = null_mut();
    for (slot, value) in passed.iter_mut().zip(arguments) {
        // SAFETY: the method has so many parameters.
        let ty = unsafe {
            (api().mono_signature_get_params)((api().mono_method_signature)(method), &mut iter)
        };
        *slot = argument(domain, ty, value)?;
    }
    let mut thrown = null_mut();
    // SAFETY: the arguments are what the method takes; references lie in this frame.
    let result =
        unsafe { (api().mono_runtime_invoke)(method, this, passed.as_mut_ptr(), &mut thrown) };
    match thrown.is_null() {
        true => Ok(value_of(domain, result)),
        false => Err(error_of(thrown)),
    }
}

/// Makes an object by the constructor without parameters.
pub(crate) fn make(class: &Class) -> Result<Object> {
    let raw = class.raw.0;
    // SAFETY: the class and its domain are alive; the object lies in this frame.
    let object = unsafe {
        let kind = (api().mono_type_get_type)((api().mono_class_get_type)(raw));
        let is_ordinary = [element::CLASS, element::OBJECT, element::VALUE_TYPE].contains(&kind);
        if !is_ordinary || (api().mono_class_get_flags)(raw) & ABSTRACT != 0 {
            let text = format!("{} is abstract, or no ordinary class", class.name());
            return Err(Error::Mismatch(text));
        }
        (api().mono_object_new)(class.domain.0.raw.0, raw)
    };
    if object.is_null() {
        return Err(Error::NotFound(format!("an object of {}", class.name())));
    }
    call(&class.domain, raw, Some(object), ".ctor", &[])?;
    Ok(Object::keep(&class.domain, object))
}
