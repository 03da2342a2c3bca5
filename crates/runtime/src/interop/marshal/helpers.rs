//! The helpers that P/Invoke and reverse stubs call, by method and parameter index.
//!
//! # Which helper runs when
//! | call | before it | after it |
//! |---|---|---|
//! | managed code calls native code | [`to_native`] for each parameter | [`back`] for each parameter, [`result`] |
//! | native code calls a delegate | `arg_to_managed` for each parameter | `arg_back` for each parameter, `result_to_native` |
//!
//! # Whose memory it is
//! | parameter | direction | before the call | after the call |
//! |---|---|---|---|
//! | by value | in | allocated here | freed here |
//! | by value, `[Out]` | in, out | allocated here | copied back, freed here |
//! | by reference | `ref` | a cell with the native word, both allocated here | the word that is in the cell now becomes an object; the cell is freed, and a string |
//! | by reference | `out` | an empty cell | the same |
//! | result | out | | becomes an object; a string is the caller's, so it is freed |
//! | reverse, by value | in | the native word becomes an object; native memory stays the caller's | an array or object of the same form is copied back |
//! | reverse, by reference | `ref`, `out` | what the word refers to becomes an object | written back as newly allocated native memory |
//! | reverse, result | out | | allocated here, the caller frees it |
//!
//! # Invariants
//! * Words of managed values are references or addresses in the stub's frame, which keeps what they refer to in place.
//! * Native memory that a conversion has allocated is freed when the value is copied back.
use super::lengths::{self, CallBlock};
use super::{cells, structs, values};
use crate::cx::{Cx, Result};
use crate::interop::com::crossing as com;
use crate::object::{ObjRef, store_ref};
use vervet_jit::stubs::native::layout::Native;
use vervet_jit::stubs::native::marshal_plan::{Conversion, ParamPlan, RESULT, plan};
use vervet_types::{Known, Method, MethodRef};

/// The plan of a parameter of a method. Plans are made once for a method, and the stub was generated from the same one.
fn param<'cx>(cx: &'cx Cx<'cx>, method: MethodRef, index: i64) -> Result<&'static ParamPlan> {
    let plan = cx.load(plan(method))?;
    Ok(if index == RESULT {
        &plan.ret
    } else {
        &plan.params[index as usize]
    })
}
/// The method behind a handle word.
pub fn method(word: usize) -> MethodRef {
    // SAFETY: stubs pass method handles.
    unsafe { &*(word as *const Method) }
}

/// MarshalToNative.
pub fn to_native<'cx>(cx: &'cx Cx<'cx>, m: MethodRef, index: i64, managed: usize) -> Result<usize> {
    match param(cx, m, index)? {
        ParamPlan::Unsupported(reason) => Err(cx.throw(Known::MarshalDirectiveException, reason)),
        ParamPlan::Convert {
            conversion,
            by_ref,
            direction,
            // SAFETY: stubs pass the object, or the address of the slot that holds it.
        } => unsafe {
            if !by_ref {
                return values::to_native(
                    cx,
                    conversion,
                    ObjRef::from_addr(managed),
                    direction.input,
                );
            }
            if managed == 0 {
                return Ok(0);
            }
            cells::lend(cx, conversion, managed as *const usize, *direction)
        },
        _ => Ok(managed),
    }
}

/// MarshalBack.
pub fn back<'cx>(
    cx: &'cx Cx<'cx>,
    m: MethodRef,
    index: i64,
    managed: usize,
    native: usize,
    block: usize,
) -> Result<()> {
    // SAFETY: the words are those of the call that is being completed.
    unsafe {
        match param(cx, m, index)? {
            ParamPlan::Convert {
                conversion,
                by_ref: false,
                direction,
            } => values::back(
                cx,
                conversion,
                ObjRef::from_addr(managed),
                native,
                direction.output,
            ),
            ParamPlan::Convert {
                conversion,
                by_ref: true,
                direction,
            } if native != 0 => {
                let slot = managed as *mut usize;
                if direction.output && !cells::is_left(conversion, native) {
                    let before = ObjRef::from_addr(*slot);
                    let length = match conversion {
                        // Without a declared length it has as many elements as before.
                        Conversion::Array {
                            size_param: None,
                            size_const: None,
                            ..
                        } => before.non_null().map(|array| array.array_len()),
                        _ => lengths::passed(cx, m, conversion, CallBlock::ToNative(block))?,
                    };
                    let word = cells::word(native);
                    // A reference to a COM interface is given to the caller.
                    let take = matches!(conversion, Conversion::Com(_));
                    let object = values::to_managed(cx, conversion, word, take, length)?;
                    store_ref(slot, object);
                }
                cells::take_back(cx, conversion, native)
            }
            ParamPlan::StructCopy(layout)
            | ParamPlan::StructPointer(layout)
            | ParamPlan::ByRefStruct(layout, _) => {
                structs::free(layout, native as *mut u8);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// MarshalResult.
pub fn result<'cx>(cx: &'cx Cx<'cx>, m: MethodRef, native: usize) -> Result<ObjRef<'cx>> {
    match param(cx, m, RESULT)? {
        // As in mono, a native function can return a pointer to elements, and no array is made of them, whose length nobody knows.
        ParamPlan::Convert {
            conversion: Conversion::Array { .. },
            ..
        } => Ok(ObjRef::NULL),
        ParamPlan::Convert { conversion, .. } => {
            values::to_managed(cx, conversion, native, true, None)
        }
        _ => Err(cx.throw(
            Known::MarshalDirectiveException,
            "the result cannot be marshalled",
        )),
    }
}

/// The native layout of a parameter that is a struct or a formatted class.
fn layout_of<'cx>(
    cx: &'cx Cx<'cx>,
    m: MethodRef,
    index: i64,
) -> Result<&'static vervet_jit::stubs::native::layout::NativeLayout> {
    match param(cx, m, index)? {
        ParamPlan::Struct(l)
        | ParamPlan::StructPointer(l)
        | ParamPlan::StructCopy(l)
        | ParamPlan::ByRefStruct(l, _)
        | ParamPlan::BlittableObject(l)
        | ParamPlan::Convert {
            conversion: Conversion::Class(l),
            ..
        } => Ok(l),
        _ => Err(cx.throw(
            Known::MarshalDirectiveException,
            "the struct cannot be marshalled",
        )),
    }
}

/// MarshalStructToNative.
pub fn struct_to_native<'cx>(
    cx: &'cx Cx<'cx>,
    m: MethodRef,
    index: i64,
    managed: usize,
    native: usize,
) -> Result<()> {
    let layout = layout_of(cx, m, index)?;
    // SAFETY: stubs pass addresses of such values.
    unsafe { structs::to_native(cx, layout, managed as *const u8, native as *mut u8) }
}
/// MarshalStructToManaged.
pub fn struct_to_managed<'cx>(
    cx: &'cx Cx<'cx>,
    m: MethodRef,
    index: i64,
    native: usize,
    managed: usize,
) -> Result<()> {
    let layout = layout_of(cx, m, index)?;
    // SAFETY: stubs pass addresses of such values.
    unsafe { structs::to_managed(cx, layout, native as *const u8, managed as *mut u8) }
}

/// MarshalArgToManaged: a native argument of a call from native code.
pub fn arg_to_managed<'cx>(
    cx: &'cx Cx<'cx>,
    m: MethodRef,
    index: i64,
    native: usize,
    block: usize,
) -> Result<ObjRef<'cx>> {
    match param(cx, m, index)? {
        ParamPlan::Convert {
            conversion,
            by_ref,
            direction,
        } => {
            if *by_ref && native == 0 && matches!(conversion, Conversion::Class(_)) {
                return Err(cx.throw_default(Known::ArgumentNullException));
            }
            let word = if *by_ref {
                if native == 0 || !direction.input {
                    0
                } else {
                    // SAFETY: of a by-ref parameter the word is the address of its native form.
                    unsafe { *(native as *const usize) }
                }
            } else {
                native
            };
            let length = match direction.input {
                // SAFETY: the stub passes the block of the call.
                true => unsafe { lengths::passed(cx, m, conversion, CallBlock::Reverse(block))? },
                false => None,
            };
            values::to_managed(cx, conversion, word, false, length)
        }
        ParamPlan::BlittableArray { reverse, .. } => {
            // SAFETY: the stub passes the block of the call.
            let length = unsafe { lengths::passed(cx, m, reverse, CallBlock::Reverse(block))? };
            values::to_managed(cx, reverse, native, false, length)
        }
        ParamPlan::BlittableObject(layout) => {
            values::to_managed(cx, &Conversion::Class(layout), native, false, None)
        }
        _ => Err(cx.throw(
            Known::MarshalDirectiveException,
            "the parameter cannot be marshalled",
        )),
    }
}
/// MarshalArgBack: after managed code has returned to native code.
pub fn arg_back<'cx>(
    cx: &'cx Cx<'cx>,
    m: MethodRef,
    index: i64,
    managed: usize,
    native: usize,
) -> Result<()> {
    // SAFETY: the words are those of the call that is being completed.
    unsafe {
        let object = ObjRef::from_addr(managed);
        match param(cx, m, index)? {
            ParamPlan::Convert {
                conversion,
                by_ref: true,
                direction,
            } if native != 0 => {
                if direction.output {
                    *(native as *mut usize) = given_away(cx, conversion, object)?;
                }
                cleaned_up(cx, conversion, object)
            }
            ParamPlan::Convert {
                conversion,
                by_ref: false,
                direction,
            } if native != 0 => {
                match conversion {
                    Conversion::Array { element, .. } if direction.output => {
                        elements_to_native(cx, element, object, native as *mut u8)?;
                    }
                    Conversion::Class(layout) if direction.output && !object.is_null() => {
                        structs::to_native(cx, layout, object.value_ptr(), native as *mut u8)?;
                    }
                    _ => {}
                }
                cleaned_up(cx, conversion, object)
            }
            ParamPlan::BlittableArray { reverse, .. } if native != 0 => match &**reverse {
                Conversion::Array { element, .. } => {
                    elements_to_native(cx, element, object, native as *mut u8)
                }
                _ => Ok(()),
            },
            ParamPlan::BlittableObject(layout) if !object.is_null() && native != 0 => {
                structs::to_native(cx, layout, object.value_ptr(), native as *mut u8)
            }
            _ => Ok(()),
        }
    }
}
/// The native word of an object that becomes the caller's: of a COM interface it gets a reference.
fn given_away<'cx>(
    cx: &'cx Cx<'cx>,
    conversion: &Conversion,
    object: ObjRef<'cx>,
) -> Result<usize> {
    let native = values::to_native(cx, conversion, object, true)?;
    if matches!(conversion, Conversion::Com(_)) && native != 0 {
        com::add_reference(cx, native);
    }
    Ok(native)
}
/// Tells a custom marshaler that managed code needs the object no more.
fn cleaned_up<'cx>(cx: &'cx Cx<'cx>, conversion: &Conversion, object: ObjRef<'cx>) -> Result<()> {
    match conversion {
        Conversion::Custom(declared) => super::custom::clean_up_managed(cx, declared, object),
        _ => Ok(()),
    }
}

/// Writes the elements of an array that managed code was given back to where they came from.
///
/// # Safety
/// The array, if it is not null, was made of that many native elements at that address.
unsafe fn elements_to_native<'cx>(
    cx: &'cx Cx<'cx>,
    element: &Native,
    array: ObjRef<'cx>,
    native: *mut u8,
) -> Result<()> {
    if array.is_null() {
        return Ok(());
    }
    let size = array.vtable().size as usize;
    for i in 0..array.array_len() {
        crate::memory::copy::poll_sometimes(cx, i);
        // SAFETY: both have that many elements, as the caller says.
        unsafe {
            let to = native.add(i * element.size() as usize);
            structs::one_to_native(cx, element, array.array_data().add(i * size), to)?;
        }
    }
    Ok(())
}

/// MarshalResultToNative.
pub fn result_to_native<'cx>(cx: &'cx Cx<'cx>, m: MethodRef, managed: usize) -> Result<usize> {
    match param(cx, m, RESULT)? {
        ParamPlan::Convert { conversion, .. } => {
            // SAFETY: the word is the object managed code returned.
            let object = unsafe { ObjRef::from_addr(managed) };
            let native = given_away(cx, conversion, object)?;
            cleaned_up(cx, conversion, object)?;
            Ok(native)
        }
        _ => Err(cx.throw(
            Known::MarshalDirectiveException,
            "the result cannot be marshalled",
        )),
    }
}
