//! One value: what a conversion of a plan does with an object, and with the native word that comes back.
//!
//! # What is allocated, and who frees it
//! | conversion | `to_native` allocates | `back` copies back | `back` frees | `to_managed` with `take` frees |
//! |---|---|---|---|---|
//! | String | the text, as its encoding wants it (a BSTR has its length in front) | never: strings do not change | the text | the text |
//! | StringBuilder | a buffer of its capacity and a terminator | the text up to the terminator, if `output` | the buffer | the text |
//! | Array | one block for all elements and one more, and what the elements need | each element, if `output` | elements, block | nothing |
//! | Class | a block of the native layout, and what its fields need | all fields, if `output` | fields, block | nothing |
//! | Handle | nothing; the SafeHandle's count goes up | nothing | the count goes down | |
//! | Delegate | nothing here: the thunk belongs to the delegate and lives as long | nothing | nothing | nothing |
//!
//! Memory comes from `malloc` (`allocate`, `release`), because native code may free or replace it (`CoTaskMemFree` is `free`).
//!
//! # Invariants
//! * A SafeHandle is held (`DangerousAddRef`) from before the call until after it, so no other thread closes the handle meanwhile.
//! * A native word that [`to_native`] has made is freed by [`back`], once. In between it belongs to the callee, which may write to it but not free
//!   it, except through a by-reference parameter, whose word it may replace.
//! * `object` is the same reference in both calls. The stub's frame keeps it, and pins it, during the native call.
//! * Blocks are zeroed when they are allocated: [`back`] may meet an element that native code never wrote.
//! * Loops over elements poll every so often, so that a long array does not hold up a stop of the world. Addresses inside the array are computed
//!   anew for each element: the array is pinned by the reference on this stack, but only as long as that is used.
use super::{allocate, release, strings, structs};
use crate::cx::{Cx, Result, Value};
use crate::memory::copy::poll_sometimes;
use crate::object::ObjRef;
use std::mem::offset_of;
use vervet_abi::layouts::SafeHandleObject;
use vervet_jit::stubs::native::marshal_plan::Conversion;
use vervet_types::{ClassRef, Known, LoadError};

/// The handle in a SafeHandle or CriticalHandle object; 0 for null.
pub fn handle_of(object: ObjRef<'_>) -> usize {
    if object.is_null() {
        0
    } else {
        object.read(offset_of!(SafeHandleObject, handle))
    }
}

/// A new SafeHandle of that class with that handle: its own constructor runs, then the handle is stored.
pub fn new_handle<'cx>(cx: &'cx Cx<'cx>, class: ClassRef, handle: usize) -> Result<ObjRef<'cx>> {
    if class.is_abstract() {
        let text = format!("Cannot create an abstract class: {}", class.full_name());
        return Err(cx.throw(Known::MemberAccessException, &text));
    }
    let object = cx.alloc(class)?;
    let ctor = cx.load(class.find_method(".ctor", Some(0)))?;
    match ctor {
        Some(c) => cx.invoke(c, Some(Value::Ref(object)), &[])?,
        None => {
            return Err(cx.throw(
                Known::MissingMethodException,
                &format!("{}..ctor", class.full_name()),
            ));
        }
    };
    object.write(offset_of!(SafeHandleObject, handle), handle);
    Ok(object)
}

fn is_safe_handle(cx: &Cx<'_>, class: ClassRef) -> Result<bool> {
    cx.load(
        cx.universe()
            .is_assignable(class, cx.known(Known::SafeHandle)),
    )
}

/// Calls `SafeHandle.DangerousAddRef(ref bool)` or `DangerousRelease()`. These are managed code: they may throw (the handle is closed already),
/// and the world may stop in them.
fn hold<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>, add: bool) -> Result<()> {
    let class = cx.known(Known::SafeHandle);
    let (name, n) = if add {
        ("DangerousAddRef", 1)
    } else {
        ("DangerousRelease", 0)
    };
    let m = cx.load(
        class
            .find_method(name, Some(n))
            .and_then(|m| m.ok_or_else(|| LoadError::missing_method(class, name))),
    )?;
    let mut taken = 0u64;
    let arg = [Value::Ptr(&mut taken as *mut u64 as *mut u8)];
    cx.invoke(m, Some(Value::Ref(object)), if add { &arg } else { &[] })?;
    Ok(())
}

/// Text of a StringBuilder, through its `ToString`.
fn builder_text<'cx>(cx: &'cx Cx<'cx>, builder: ObjRef<'cx>) -> Result<Vec<u16>> {
    let to_string = cx
        .load(cx.known(Known::Object).find_method("ToString", Some(0)))?
        .expect("Object.ToString");
    match crate::code::invoke::invoke_virtual(cx, to_string, builder, &[])? {
        Value::Ref(s) if !s.is_null() => Ok(s.units().to_vec()),
        _ => Ok(Vec::new()),
    }
}
/// Calls the method of StringBuilder with that name whose parameters fit `args`; overloads differ by whether a parameter is a string.
fn builder_call<'cx>(
    cx: &'cx Cx<'cx>,
    builder: ObjRef<'cx>,
    name: &str,
    args: &[Value<'cx>],
) -> Result<Value<'cx>> {
    let class = cx.known(Known::StringBuilder);
    let all = cx.load(class.methods())?;
    let string = cx.known(Known::String);
    let fits = |m: &&vervet_types::MethodRef| {
        m.name == name
            && m.sig().is_ok_and(|s| {
                s.params.len() == args.len()
                    && s.params
                        .iter()
                        .zip(args)
                        .all(|(p, a)| !matches!(a, Value::Ref(_)) || std::ptr::eq(*p, string))
            })
    };
    let m = all
        .iter()
        .find(fits)
        .ok_or_else(|| cx.throw_load(LoadError::missing_method(class, name)))?;
    cx.invoke(m, Some(Value::Ref(builder)), args)
}
/// Characters that a StringBuilder can take without growing: what native code may write.
fn capacity<'cx>(cx: &'cx Cx<'cx>, builder: ObjRef<'cx>) -> Result<usize> {
    match builder_call(cx, builder, "get_Capacity", &[])? {
        Value::Int(n) => Ok(n.max(0) as usize),
        _ => Ok(0),
    }
}

/// From an object to its native word, before the call.
pub fn to_native<'cx>(cx: &'cx Cx<'cx>, c: &Conversion, object: ObjRef<'cx>) -> Result<usize> {
    match c {
        Conversion::String(encoding) => Ok(strings::to_native(object, *encoding) as usize),
        Conversion::StringBuilder(encoding) => {
            if object.is_null() {
                return Ok(0);
            }
            let text = builder_text(cx, object)?;
            let room = capacity(cx, object)?.max(text.len()) + 1;
            // A UTF-16 unit becomes at most three bytes of UTF-8.
            let unit = if encoding.unit() == 1 { 4 } else { 2 };
            let p = allocate(room * unit + 8);
            let copy = strings::units_to_native(&text, *encoding);
            // SAFETY: the buffer has room for the text in either encoding.
            unsafe {
                let n = if encoding.unit() == 1 {
                    libc::strlen(copy.cast())
                } else {
                    text.len() * 2
                };
                std::ptr::copy_nonoverlapping(copy, p, n);
                strings::free(copy, *encoding);
            }
            Ok(p as usize)
        }
        Conversion::Array { element, .. } => {
            if object.is_null() {
                return Ok(0);
            }
            let (n, size) = (object.array_len(), object.vtable().size as usize);
            // One element more: arrays of strings are terminated for callees that want it.
            let p = allocate((n + 1) * element.size() as usize);
            for i in 0..n {
                poll_sometimes(cx, i);
                // SAFETY: both arrays have `n` elements.
                unsafe {
                    structs::one_to_native(
                        cx,
                        element,
                        object.array_data().add(i * size),
                        p.add(i * element.size() as usize),
                    )?
                };
            }
            Ok(p as usize)
        }
        Conversion::Handle(class) => {
            if object.is_null() {
                return Err(cx.throw_arg_null("handle"));
            }
            if is_safe_handle(cx, class)? {
                hold(cx, object, true)?;
            }
            Ok(handle_of(object))
        }
        Conversion::Delegate(_) => super::reverse::function_pointer(cx, object),
        Conversion::Class(layout) => {
            if object.is_null() {
                return Ok(0);
            }
            let p = allocate(layout.size as usize);
            // SAFETY: the object is of the layout's class (or derived); the block has its native size.
            unsafe { structs::to_native(cx, layout, object.value_ptr(), p)? };
            Ok(p as usize)
        }
        Conversion::OleDate | Conversion::Custom(..) => Err(cx.throw(
            Known::MarshalDirectiveException,
            "this conversion is not supported",
        )),
    }
}

/// After the call: copies back if `output`, and undoes what [`to_native`] did.
pub fn back<'cx>(
    cx: &'cx Cx<'cx>,
    c: &Conversion,
    object: ObjRef<'cx>,
    native: usize,
    output: bool,
) -> Result<()> {
    let p = native as *mut u8;
    match c {
        // SAFETY: `to_native` allocated the text for this call, which is over. The callee got it by value, so the word is unchanged.
        Conversion::String(encoding) => unsafe { strings::free(p, *encoding) },
        Conversion::StringBuilder(encoding) => {
            if output && !object.is_null() {
                // SAFETY: native code keeps the buffer terminated; its last unit is zero in any case.
                let text = unsafe { strings::units(p, *encoding) };
                builder_call(cx, object, "set_Length", &[Value::Int(0)])?;
                let s = cx.alloc_utf16(&text)?;
                builder_call(cx, object, "Append", &[Value::Ref(s)])?;
            }
            // SAFETY: `to_native` allocated the buffer for this call, which is over.
            unsafe { release(p) };
        }
        Conversion::Array { element, .. } => {
            if !object.is_null() && native != 0 {
                let size = object.vtable().size as usize;
                for i in 0..object.array_len() {
                    poll_sometimes(cx, i);
                    // SAFETY: both arrays have that many elements.
                    unsafe {
                        let n = p.add(i * element.size() as usize);
                        if output {
                            structs::one_to_managed(
                                cx,
                                element,
                                n,
                                object.array_data().add(i * size),
                            )?;
                        }
                        structs::free_one(element, n);
                    }
                }
                // SAFETY: `to_native` allocated the block for this call, which is over; its elements have been freed.
                unsafe { release(p) };
            }
        }
        Conversion::Handle(class) => {
            if !object.is_null() && is_safe_handle(cx, class)? {
                hold(cx, object, false)?;
            }
        }
        Conversion::Class(layout) => {
            if !object.is_null() && native != 0 {
                // SAFETY: `to_native` allocated a block of this layout for this call, and the object has the fields of the layout.
                unsafe {
                    if output {
                        structs::to_managed(cx, layout, p, object.value_ptr())?;
                    }
                    structs::free(layout, p);
                    release(p);
                }
            }
        }
        Conversion::Delegate(_) | Conversion::OleDate | Conversion::Custom(..) => {}
    }
    Ok(())
}

/// From a native word to an object; `take`: the word is ours to free (a result, an out value).
pub fn to_managed<'cx>(
    cx: &'cx Cx<'cx>,
    c: &Conversion,
    native: usize,
    take: bool,
    length: Option<usize>,
) -> Result<ObjRef<'cx>> {
    let p = native as *mut u8;
    match c {
        Conversion::String(encoding) | Conversion::StringBuilder(encoding) => {
            // SAFETY: native code gave null or a string of that encoding.
            let s = unsafe { strings::to_managed(cx, p, *encoding)? };
            if take {
                // SAFETY: a returned string is the caller's to free.
                unsafe { strings::free(p, *encoding) };
            }
            Ok(s)
        }
        Conversion::Handle(class) => new_handle(cx, class, native),
        Conversion::Delegate(class) => super::reverse::delegate_for(cx, native, class),
        Conversion::Class(layout) => {
            if native == 0 {
                return Ok(ObjRef::NULL);
            }
            let object = cx.alloc(layout.class)?;
            // SAFETY: native code gave the address of such a struct.
            unsafe { structs::to_managed(cx, layout, p, object.value_ptr())? };
            Ok(object)
        }
        Conversion::Array {
            class,
            element,
            size_const,
            ..
        } => {
            if native == 0 {
                return Ok(ObjRef::NULL);
            }
            let n = length.or(size_const.map(|n| n as usize)).unwrap_or(1);
            let array = cx.alloc_array(class, n)?;
            let size = array.vtable().size as usize;
            for i in 0..n {
                poll_sometimes(cx, i);
                // SAFETY: native code says that there are so many elements.
                unsafe {
                    structs::one_to_managed(
                        cx,
                        element,
                        p.add(i * element.size() as usize),
                        array.array_data().add(i * size),
                    )?
                };
            }
            Ok(array)
        }
        Conversion::OleDate | Conversion::Custom(..) => Err(cx.throw(
            Known::MarshalDirectiveException,
            "this conversion is not supported",
        )),
    }
}
