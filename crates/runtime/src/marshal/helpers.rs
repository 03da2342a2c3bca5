//! The helpers that P/Invoke and reverse stubs call, by method and parameter index.
use super::{allocate, release, structs, values};
use crate::cx::{Cx, Result, Value};
use crate::object::{ObjRef, store_ref};
use vervet_jit::stubs::marshal_plan::{Conversion, ParamPlan, RESULT, plan};
use vervet_types::{Known, LoadError, Method, MethodRef};

/// The plan of a parameter of a method.
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
            conversion: Conversion::OleDate,
            ..
        } => Err(cx.throw(
            Known::MarshalDirectiveException,
            "DateTime is not marshalled yet",
        )),
        ParamPlan::Convert {
            conversion,
            by_ref,
            direction,
            // SAFETY: stubs pass the object, or the address of the slot that holds it.
        } => unsafe {
            if !by_ref {
                return values::to_native(cx, conversion, ObjRef::from_addr(managed));
            }
            if managed == 0 {
                return Ok(0);
            }
            let cell = allocate(8) as *mut usize;
            let object = ObjRef::from_addr(*(managed as *const usize));
            if direction.input && !(object.is_null() && matches!(conversion, Conversion::Handle(_)))
            {
                *cell = values::to_native(cx, conversion, object)?;
            }
            Ok(cell as usize)
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
            } => {
                if native == 0 {
                    return Ok(());
                }
                let cell = native as *mut usize;
                if direction.output {
                    let object = values::to_managed(cx, conversion, *cell, false, None)?;
                    store_ref(managed as *mut usize, object);
                }
                if let Conversion::String(encoding) = conversion {
                    super::strings::free(*cell as *mut u8, *encoding);
                }
                release(cell.cast());
                Ok(())
            }
            ParamPlan::StructCopy(layout) | ParamPlan::ByRefStruct(layout, _) => {
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
) -> Result<&'static vervet_jit::stubs::native_layout::NativeLayout> {
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
    _block: usize,
) -> Result<ObjRef<'cx>> {
    match param(cx, m, index)? {
        ParamPlan::Convert {
            conversion,
            by_ref,
            direction,
        } => {
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
            values::to_managed(cx, conversion, word, false, None)
        }
        ParamPlan::BlittableArray { reverse, .. } => {
            values::to_managed(cx, reverse, native, false, None)
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
                ..
            } if native != 0 => {
                *(native as *mut usize) = values::to_native(cx, conversion, object)?;
                Ok(())
            }
            ParamPlan::BlittableArray { reverse, .. } if !object.is_null() && native != 0 => {
                if let Conversion::Array { element, .. } = &**reverse {
                    let size = object.vtable().size as usize;
                    for i in 0..object.array_len() {
                        crate::heap::poll_sometimes(cx, i);
                        structs::one_to_native(
                            cx,
                            element,
                            object.array_data().add(i * size),
                            (native as *mut u8).add(i * element.size() as usize),
                        )?;
                    }
                }
                Ok(())
            }
            ParamPlan::BlittableObject(layout) if !object.is_null() && native != 0 => {
                structs::to_native(cx, layout, object.value_ptr(), native as *mut u8)
            }
            _ => Ok(()),
        }
    }
}
/// MarshalResultToNative.
pub fn result_to_native<'cx>(cx: &'cx Cx<'cx>, m: MethodRef, managed: usize) -> Result<usize> {
    match param(cx, m, RESULT)? {
        ParamPlan::Convert { conversion, .. } => {
            // SAFETY: the word is the object managed code returned.
            values::to_native(cx, conversion, unsafe { ObjRef::from_addr(managed) })
        }
        _ => Err(cx.throw(
            Known::MarshalDirectiveException,
            "the result cannot be marshalled",
        )),
    }
}

/// ThrowHResult: a native function that is declared to return its HRESULT as an exception failed. The exception is the
/// class library's (`Marshal.GetExceptionForHR`).
pub fn failed<'cx>(cx: &'cx Cx<'cx>, hresult: i32) -> Result<()> {
    let class = cx.known(Known::Marshal);
    let name = "GetExceptionForHR";
    let method = cx.load(
        class
            .find_method(name, Some(1))
            .and_then(|m| m.ok_or_else(|| LoadError::missing_method(class, name))),
    )?;
    match cx.invoke(method, None, &[Value::Int(i64::from(hresult))])? {
        Value::Ref(exception) if !exception.is_null() => Err(cx.throw_object(exception)),
        _ => Err(cx.throw_default(Known::COMException)),
    }
}
