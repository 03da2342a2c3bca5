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
use super::{allocate, release, structs, values};
use crate::cx::{Cx, Result, Value};
use crate::object::{ObjRef, store_ref};
use vervet_abi::native_call::ReverseCall;
use vervet_jit::stubs::native::marshal_plan::{Conversion, ParamPlan, RESULT, plan};
use vervet_jit::stubs::native::sysv::NativeLocation;
use vervet_types::{Known, LoadError, Method, MethodRef, Prim};

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

/// The value of an integer parameter of a call from native code, by value or by reference. None: it is no integer.
///
/// # Safety
/// The block is that of a call of `m`.
unsafe fn integer_argument<'cx>(
    cx: &'cx Cx<'cx>,
    m: MethodRef,
    index: usize,
    block: &ReverseCall,
) -> Result<Option<i64>> {
    let (_, places, _) = cx.load(plan(m))?.places();
    let at = match places.get(index).and_then(|p| p.first()) {
        Some(NativeLocation::Int(i)) => &raw const block.int_regs[*i as usize],
        Some(NativeLocation::Stack(i)) => {
            // SAFETY: the block knows where the arguments on the stack are.
            unsafe { (block.stack as *const u64).add(*i as usize) }
        }
        _ => return Ok(None),
    };
    let class = cx.load(m.sig())?.params[index];
    let (class, at) = match class.element() {
        Some(of) if class.is_byref() => {
            // SAFETY: the word is an argument.
            let word = unsafe { *at };
            (of, word as *const u64)
        }
        _ => (class, at),
    };
    if at.is_null() {
        return Ok(Some(0));
    }
    // SAFETY: a number of that type lies there; of a register's or a stack's word it is the low bytes.
    Ok(unsafe {
        match cx.load(class.stack_prim())? {
            Some(Prim::I1) => Some(i64::from(*(at as *const i8))),
            Some(Prim::U1) => Some(i64::from(*(at as *const u8))),
            Some(Prim::I2) => Some(i64::from((at as *const i16).read_unaligned())),
            Some(Prim::U2 | Prim::Char) => Some(i64::from((at as *const u16).read_unaligned())),
            Some(Prim::I4) => Some(i64::from((at as *const i32).read_unaligned())),
            Some(Prim::U4) => Some(i64::from((at as *const u32).read_unaligned())),
            Some(Prim::I8 | Prim::U8 | Prim::IntPtr | Prim::UIntPtr) => {
                Some((at as *const i64).read_unaligned())
            }
            _ => None,
        }
    })
}

/// How many elements an array has that native code passes: SizeConst and the parameter that SizeParamIndex names,
/// together; at least one of them is given.
fn passed_length<'cx>(
    cx: &'cx Cx<'cx>,
    m: MethodRef,
    conversion: &Conversion,
    block: usize,
) -> Result<Option<usize>> {
    let Conversion::Array {
        size_param,
        size_const,
        ..
    } = conversion
    else {
        return Ok(None);
    };
    let wrong = |text| cx.throw(Known::MarshalDirectiveException, text);
    let given = match size_param {
        None if size_const.unwrap_or(0) == 0 => {
            return Err(wrong(
                "Either SizeConst or SizeParamIndex should be specified when marshalling arrays to managed code.",
            ));
        }
        None => 0,
        Some(index) if *index as usize >= cx.load(m.sig())?.params.len() => {
            return Err(wrong("Array size control parameter index is out of range."));
        }
        // SAFETY: the stub passes the block of the call.
        Some(index) => unsafe {
            let block = &*(block as *const ReverseCall);
            integer_argument(cx, m, *index as usize, block)?
                .ok_or_else(|| wrong("The array size control parameter is no integer."))?
        },
    };
    // Vectors have fewer elements than that; a negative number is one of the same kind.
    match given.checked_add(i64::from(size_const.unwrap_or(0))) {
        Some(n @ 0..=0x7fff_ffff) => Ok(Some(n as usize)),
        _ => Err(cx.throw_default(Known::OverflowException)),
    }
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
            let length = passed_length(cx, m, conversion, block)?;
            values::to_managed(cx, conversion, word, false, length)
        }
        ParamPlan::BlittableArray { reverse, .. } => {
            let length = passed_length(cx, m, reverse, block)?;
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
                ..
            } if native != 0 => {
                *(native as *mut usize) = values::to_native(cx, conversion, object)?;
                Ok(())
            }
            ParamPlan::BlittableArray { reverse, .. } if !object.is_null() && native != 0 => {
                if let Conversion::Array { element, .. } = &**reverse {
                    let size = object.vtable().size as usize;
                    for i in 0..object.array_len() {
                        crate::memory::copy::poll_sometimes(cx, i);
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
