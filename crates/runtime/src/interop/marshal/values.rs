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
//! | Custom | what the [marshaler](super::custom) allocates | nothing | what the marshaler frees | what the marshaler frees |
//! | AsAny | [a string, or a block of the object's layout](super::as_any) | all fields, if `output` | fields, block | |
//! | Com | nothing; native code adds the references that it keeps | nothing | nothing | a reference |
//! | NullOnly | nothing: the word is 0 | | | |
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
use super::{allocate, as_any, builders, custom, release, strings, structs};
use crate::cx::{Cx, Result, Value};
use crate::interop::com::crossing as com;
use crate::memory::copy::poll_sometimes;
use crate::object::ObjRef;
use std::mem::offset_of;
use vervet_abi::layouts::SafeHandleObject;
use vervet_jit::stubs::native::marshal_plan::Conversion;
use vervet_types::{ClassRef, Known};

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
    let (name, n) = if add {
        ("DangerousAddRef", 1)
    } else {
        ("DangerousRelease", 0)
    };
    let m = cx.known_method(Known::SafeHandle, name, n)?;
    let mut taken = 0u64;
    let arg = [Value::Ptr(&mut taken as *mut u64 as *mut u8)];
    cx.invoke(m, Some(Value::Ref(object)), if add { &arg } else { &[] })?;
    Ok(())
}

/// From an object to its native word, before the call. `input`: the callee reads it.
pub fn to_native<'cx>(
    cx: &'cx Cx<'cx>,
    c: &Conversion,
    object: ObjRef<'cx>,
    input: bool,
) -> Result<usize> {
    match c {
        Conversion::String(encoding) => Ok(strings::to_native(cx, object, *encoding)? as usize),
        Conversion::StringBuilder(encoding) => builders::to_native(cx, object, *encoding),
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
            if is_safe_handle(cx, class)? {
                if object.is_null() {
                    return Err(cx.throw_default(Known::ArgumentNullException));
                }
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
        Conversion::Com(_) if !input => Ok(0),
        Conversion::Com(declared) => com::to_native(cx, object, declared.interface),
        // An array without elements has no element that could be refused.
        Conversion::NullOnly(reason) => match object.non_null() {
            Some(array) if array.vtable().rank > 0 && array.array_len() == 0 => Ok(0),
            Some(_) if input => Err(cx.throw(Known::MarshalDirectiveException, reason)),
            _ => Ok(0),
        },
        Conversion::Custom(_) if !input => Ok(0),
        Conversion::Custom(declared) => custom::to_native(cx, declared, object),
        Conversion::AsAny(char_set) => as_any::to_native(cx, *char_set, object, input),
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
                unsafe { builders::set_text(cx, object, p, *encoding)? };
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
        Conversion::Delegate(_) | Conversion::Com(_) | Conversion::NullOnly(_) => {}
        Conversion::Custom(declared) => {
            if output {
                // There is no place for the object: the caller passed its own by value.
                custom::to_managed(cx, declared, native)?;
            }
            custom::clean_up_native(cx, declared, native)?;
        }
        Conversion::AsAny(char_set) => as_any::back(cx, *char_set, object, native, output)?,
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
        Conversion::StringBuilder(encoding) => {
            // SAFETY: native code gave null or a string of that encoding.
            let made = unsafe { builders::to_managed(cx, p, *encoding)? };
            if take {
                // SAFETY: a returned string is the caller's to free.
                unsafe { strings::free(p, *encoding) };
            }
            Ok(made)
        }
        Conversion::String(encoding) => {
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
            // Without a length native code's array cannot be read.
            let Some(n) = length.or(size_const.map(|n| n as usize)) else {
                return Ok(ObjRef::NULL);
            };
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
        Conversion::Custom(declared) => {
            let object = custom::to_managed(cx, declared, native)?;
            if take {
                custom::clean_up_native(cx, declared, native)?;
            }
            Ok(object)
        }
        Conversion::Com(declared) => {
            let object = com::to_managed(cx, native, declared.class)?;
            if take && native != 0 {
                com::release(cx, native);
            }
            Ok(object)
        }
        Conversion::NullOnly(_) if native == 0 => Ok(ObjRef::NULL),
        Conversion::NullOnly(reason) => Err(cx.throw(Known::MarshalDirectiveException, reason)),
        // Parameters only, by value.
        Conversion::AsAny(_) => Ok(ObjRef::NULL),
    }
}
