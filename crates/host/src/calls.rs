//! Calls into managed code. All functions are called by a thread that is attached and in the domain.
//!
//! # Invariants
//! * Each argument is what the parameter's type says: numbers of that size, strings, boxes of exactly that value type, objects of that class and of this
//!   domain. Methods with pointers are not called.
//! * A value type is passed from a box of the call's own, and a parameter by reference is a variable of the call: managed code changes nothing else.
use crate::api::Raw;
use crate::api::api;
use crate::domain::{Class, Domain, Object};
use crate::error::{Error, Result, c_text};
use crate::thrown::{error_of, name_of, text_of};
use crate::value::Value;
use std::ffi::c_void;
use std::ptr::{from_ref, null_mut};

const ABSTRACT: u32 = 0x80;
const STATIC: u32 = 0x10;

/// Element types (ECMA-335 II.23.1.16).
mod element {
    pub const BOOL: i32 = 0x02;
    pub const CHAR: i32 = 0x03;
    pub const I1: i32 = 0x04;
    pub const U1: i32 = 0x05;
    pub const I2: i32 = 0x06;
    pub const U2: i32 = 0x07;
    pub const I4: i32 = 0x08;
    pub const U4: i32 = 0x09;
    pub const I8: i32 = 0x0a;
    pub const U8: i32 = 0x0b;
    pub const R4: i32 = 0x0c;
    pub const R8: i32 = 0x0d;
    pub const STRING: i32 = 0x0e;
    pub const PTR: i32 = 0x0f;
    pub const VALUE_TYPE: i32 = 0x11;
    pub const CLASS: i32 = 0x12;
    pub const I: i32 = 0x18;
    pub const U: i32 = 0x19;
    pub const FN_PTR: i32 = 0x1b;
    pub const OBJECT: i32 = 0x1c;

    /// Is a value of the type one number?
    pub fn is_number(kind: i32) -> bool {
        matches!(kind, BOOL..=R8 | I | U)
    }
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

/// The place of an argument in the frame of its call.
#[derive(Clone, Copy)]
struct Place {
    /// A number, or the address of an object.
    word: u64,
    /// The box whose value is passed.
    boxed: Raw,
    /// The class behind a parameter that is passed by reference; null: it is not.
    by_ref: Raw,
}
const EMPTY: Place = Place {
    word: 0,
    boxed: null_mut(),
    by_ref: null_mut(),
};

/// The word of a number for a type with that element type, and its width in managed code.
fn number(value: &Value, kind: i32) -> Option<u64> {
    let of_int = |v: i64| {
        let fits = match kind {
            element::I1 => i8::try_from(v).is_ok(),
            element::U1 => u8::try_from(v).is_ok(),
            element::I2 => i16::try_from(v).is_ok(),
            element::U2 | element::CHAR => u16::try_from(v).is_ok(),
            element::I4 => i32::try_from(v).is_ok(),
            element::U4 => u32::try_from(v).is_ok(),
            element::U8 => u64::try_from(v).is_ok(),
            element::I8 | element::I | element::U => true,
            _ => false,
        };
        fits.then_some(v as u64)
    };
    match value {
        Value::Bool(v) => (kind == element::BOOL).then_some(u64::from(*v)),
        // A small type takes an int, as in C#, if it holds the number.
        Value::I32(v) if !matches!(kind, element::I8 | element::U8) => of_int((*v).into()),
        Value::I64(v) if matches!(kind, element::I8 | element::U8) => of_int(*v),
        Value::F32(v) => (kind == element::R4).then_some(v.to_bits().into()),
        Value::F64(v) => (kind == element::R8).then_some(v.to_bits()),
        _ => None,
    }
}
/// A reference for a parameter of that class.
fn reference(domain: &Domain, class: Raw, value: &Value) -> Option<Raw> {
    match value {
        Value::Null => Some(null_mut()),
        Value::Text(text) => {
            let units: Vec<u16> = text.encode_utf16().collect();
            let length = i32::try_from(units.len()).ok()?;
            // SAFETY: so many units lie there; the domain lives.
            let made =
                unsafe { (api().mono_string_new_utf16)(domain.0.raw.0, units.as_ptr(), length) };
            fitting(made, class)
        }
        Value::Object(object) if object.is_of(domain) => fitting(object.raw(), class),
        _ => None,
    }
}
/// A box that is the call's own, with the value of another of exactly that class; null: with zeros.
fn copy(domain: &Domain, class: Raw, value: &Value) -> Option<Raw> {
    // SAFETY: the class and its domain are alive; objects lie in this frame.
    unsafe {
        match value {
            Value::Null => {
                let made = (api().mono_object_new)(domain.0.raw.0, class);
                (!made.is_null()).then_some(made)
            }
            Value::Object(object) if object.is_of(domain) => {
                let boxed = object.raw();
                let same = !boxed.is_null() && (api().mono_object_get_class)(boxed) == class;
                same.then(|| {
                    let at = (api().mono_object_unbox)(boxed);
                    (api().mono_value_box)(domain.0.raw.0, class, at)
                })
            }
            _ => None,
        }
    }
}

/// Puts an argument for a parameter of that type into its place, which stays where it is; what is passed to the call.
fn argument(domain: &Domain, ty: Raw, value: &Value, place: &mut Place) -> Result<Raw> {
    // SAFETY: questions about a type that a signature has given.
    let (kind, class, is_value, is_by_ref) = unsafe {
        let class = (api().mono_class_from_mono_type)(ty);
        let kind = (api().mono_type_get_type)((api().mono_class_get_type)(class));
        (
            kind,
            class,
            (api().mono_class_is_valuetype)(class) != 0,
            (api().mono_type_is_byref)(ty) != 0,
        )
    };
    if kind == element::PTR || kind == element::FN_PTR {
        return Err(Error::Mismatch("a parameter is a pointer".into()));
    }
    let wrong = || Error::Mismatch(format!("{value:?} is no {}", name_of(class)));
    if is_by_ref {
        place.by_ref = class;
    }
    let at_word = std::ptr::from_mut(&mut place.word).cast::<c_void>();
    if !is_value {
        place.word = reference(domain, class, value).ok_or_else(wrong)? as u64;
        return Ok(if is_by_ref {
            at_word
        } else {
            place.word as Raw
        });
    }
    // What is only written may be null.
    let is_zero = is_by_ref && matches!(value, Value::Null);
    if element::is_number(kind) && (is_zero || number(value, kind).is_some()) {
        place.word = number(value, kind).unwrap_or(0);
        return Ok(at_word);
    }
    if matches!(value, Value::Null) && !is_by_ref {
        return Err(wrong());
    }
    place.boxed = copy(domain, class, value).ok_or_else(wrong)?;
    // SAFETY: the box lies in the caller's frame, and stays in place.
    Ok(unsafe { (api().mono_object_unbox)(place.boxed) })
}
/// What the variable of an argument by reference holds after the call.
fn changed(domain: &Domain, place: &Place) -> Value {
    let word = place.word;
    // SAFETY: the class is alive; what the words refer to lies in the caller's frame.
    unsafe {
        if !place.boxed.is_null() {
            return Value::Object(Object::keep(domain, place.boxed));
        }
        if (api().mono_class_is_valuetype)(place.by_ref) == 0 {
            return value_of(domain, word as Raw);
        }
        let at = from_ref(&word).cast::<c_void>().cast_mut();
        let boxed = (api().mono_value_box)(domain.0.raw.0, place.by_ref, at);
        value_of(domain, boxed)
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

/// The nearest method of that name and number of parameters; with a target, one of the object.
fn find(class: Raw, on_object: bool, name: &str, count: usize) -> Result<Raw> {
    let text = c_text(name)?;
    let missing = || {
        let class = name_of(class);
        Error::NotFound(format!("{class}.{name} with {count} parameters"))
    };
    if count > MOST {
        return Err(missing());
    }
    let mut at = class;
    let mut method: Raw = null_mut();
    // SAFETY: the class is alive, and the name ends with a zero. Methods of ancestors are looked for, too.
    unsafe {
        while method.is_null() && !at.is_null() {
            method = (api().mono_class_get_method_from_name)(at, text.as_ptr(), count as i32);
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
        if is_static == on_object {
            let wants = if is_static { "a class" } else { "an object" };
            return Err(Error::Mismatch(format!("{name} is called on {wants}")));
        }
    }
    Ok(method)
}

/// Calls a method by its name and number of parameters; with a target, one of the object. A generic method gets type arguments. What parameters by
/// reference have become takes the place of their arguments.
pub(crate) fn call(
    domain: &Domain,
    class: Raw,
    target: Option<Raw>,
    name: &str,
    types: &[Raw],
    arguments: &mut [Value],
) -> Result<Value> {
    let mut method = find(class, target.is_some(), name, arguments.len())?;
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
    method = crate::generics::instance(domain.0.raw.0, class, method, types)?;
    let mut passed = [null_mut(); MOST];
    let mut places = [EMPTY; MOST];
    let mut iter = null_mut();
    for ((slot, place), value) in passed.iter_mut().zip(&mut places).zip(&*arguments) {
        // SAFETY: the method has so many parameters.
        let ty = unsafe {
            (api().mono_signature_get_params)((api().mono_method_signature)(method), &mut iter)
        };
        *slot = argument(domain, ty, value, place)?;
    }
    let mut thrown = null_mut();
    // SAFETY: the arguments are what the method takes; references and variables lie in this frame.
    let result =
        unsafe { (api().mono_runtime_invoke)(method, this, passed.as_mut_ptr(), &mut thrown) };
    if !thrown.is_null() {
        return Err(error_of(thrown));
    }
    for (value, place) in arguments.iter_mut().zip(&places) {
        if !place.by_ref.is_null() {
            *value = changed(domain, place);
        }
    }
    Ok(value_of(domain, result))
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
    call(&class.domain, raw, Some(object), ".ctor", &[], &mut [])?;
    Ok(Object::keep(&class.domain, object))
}
