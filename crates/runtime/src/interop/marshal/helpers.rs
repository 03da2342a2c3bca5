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
use crate::memory::handles::{self, HandleKind};
use crate::object::{ObjRef, store_ref};
use vervet_abi::native_call::ReverseCall;
use vervet_jit::stubs::native::layout::Native;
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
        // Called for the result only if the call cannot be made.
        _ if index == RESULT => {
            let text = format!(
                "Cannot marshal a result of type {}.",
                cx.load(m.sig())?.ret.full_name()
            );
            Err(cx.throw(Known::MarshalDirectiveException, &text))
        }
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
            let object = ObjRef::from_addr(*(managed as *const usize));
            let mut given = Given::default();
            if direction.input && !(object.is_null() && matches!(conversion, Conversion::Handle(_)))
            {
                given.word = values::to_native(cx, conversion, object, true)?;
                given.extra = match conversion {
                    Conversion::Array { .. } if !object.is_null() => object.array_len(),
                    Conversion::Handle(_) => {
                        handles::alloc_or_throw(cx, object, HandleKind::Normal)? as usize
                    }
                    _ => 0,
                };
            }
            let cell = allocate(size_of::<Cell>()) as *mut Cell;
            cell.write(Cell {
                word: given.word,
                given,
            });
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
                let cell = *(native as *const Cell);
                // The callee was lent the handle, and may have left it.
                let is_lent = matches!(conversion, Conversion::Handle(_)) && cell.given.extra != 0;
                if direction.output && !(is_lent && cell.word == cell.given.word) {
                    let slot = managed as *mut usize;
                    let length = match conversion {
                        Conversion::Array { .. } => {
                            made_length(cx, m, conversion, block, ObjRef::from_addr(*slot))?
                        }
                        _ => None,
                    };
                    let object = values::to_managed(cx, conversion, cell.word, false, length)?;
                    store_ref(slot, object);
                }
                release(native as *mut u8);
                free_given(cx, conversion, cell)
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

/// How many elements a by-reference array has after a call: what is declared, or as many as it had before.
///
/// # Safety
/// The block is that of the call of `m` that is being completed.
unsafe fn made_length<'cx>(
    cx: &'cx Cx<'cx>,
    m: MethodRef,
    conversion: &Conversion,
    block: usize,
    before: ObjRef<'cx>,
) -> Result<Option<usize>> {
    let Conversion::Array {
        size_param,
        size_const,
        ..
    } = conversion
    else {
        return Ok(None);
    };
    if size_param.is_some() || size_const.is_some() {
        return passed_length(cx, m, conversion, CallBlock::ToNative(block));
    }
    Ok(before.non_null().map(|array| array.array_len()))
}

/// What native code is given the address of, for a by-reference parameter.
#[derive(Clone, Copy)]
#[repr(C)]
struct Cell {
    /// The native word, which the callee may replace.
    word: usize,
    given: Given,
}

/// What the cell held before the call.
#[derive(Clone, Copy, Default)]
struct Given {
    word: usize,
    /// Of an array, how many elements it had; of a SafeHandle, a GC handle for the object whose handle is lent.
    extra: usize,
}

/// Frees what a by-reference parameter's cell holds after the call: strings and builders' texts always, as they are the caller's; other memory if
/// the callee left what it was given. A lent SafeHandle is given back.
///
/// # Safety
/// `to_native` made the cell for a call that is over.
unsafe fn free_given<'cx>(cx: &'cx Cx<'cx>, conversion: &Conversion, cell: Cell) -> Result<()> {
    let is_left = cell.word == cell.given.word && cell.word != 0;
    let memory = cell.word as *mut u8;
    // SAFETY: the memory is what `to_native` or the callee allocated, as the caller says.
    unsafe {
        match conversion {
            Conversion::String(encoding) | Conversion::StringBuilder(encoding) => {
                super::strings::free(memory, *encoding);
            }
            Conversion::Custom(declared) => {
                super::custom::clean_up_native(cx, declared, cell.word)?;
            }
            Conversion::Class(layout) if is_left => {
                structs::free(layout, memory);
                release(memory);
            }
            Conversion::Array { element, .. } if is_left => {
                for i in 0..cell.given.extra {
                    structs::free_one(element, memory.add(i * element.size() as usize));
                }
                release(memory);
            }
            Conversion::Handle(_) if cell.given.extra != 0 => {
                let lent = cell.given.extra as u32;
                let object = handles::target(lent).unwrap_or(ObjRef::NULL);
                handles::free(lent);
                values::back(cx, conversion, object, cell.given.word, false)?;
            }
            _ => {}
        }
    }
    Ok(())
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

/// The block that holds the arguments of a call, by its address.
#[derive(Clone, Copy)]
enum CallBlock {
    /// `NativeCall`: managed code calls native code.
    ToNative(usize),
    /// `ReverseCall`: native code calls managed code.
    Reverse(usize),
}

impl CallBlock {
    /// The address of the argument's word; None if it is no integer.
    ///
    /// # Safety
    /// It is the block of a call that has an argument there.
    unsafe fn word(self, place: NativeLocation) -> Option<*const u64> {
        // SAFETY: as the caller says.
        unsafe {
            match (self, place) {
                (_, NativeLocation::Sse(_)) => None,
                (CallBlock::ToNative(block), place) => {
                    Some((block + place.call_offset() as usize) as *const u64)
                }
                (CallBlock::Reverse(block), NativeLocation::Int(i)) => {
                    let block = block as *const ReverseCall;
                    Some((&raw const (*block).int_regs[i as usize]).cast())
                }
                (CallBlock::Reverse(block), NativeLocation::Stack(i)) => {
                    let stack = (*(block as *const ReverseCall)).stack as *const u64;
                    Some(stack.add(i as usize))
                }
            }
        }
    }
}

/// The value of an integer parameter, by value or by reference. None: it is no integer.
///
/// # Safety
/// The block is that of a call of `m`.
unsafe fn integer_argument<'cx>(
    cx: &'cx Cx<'cx>,
    m: MethodRef,
    index: usize,
    block: CallBlock,
) -> Result<Option<i64>> {
    let (_, places, _) = cx.load(plan(m))?.places();
    // SAFETY: the block is that of a call of the method whose places these are.
    let word = |place: &NativeLocation| unsafe { block.word(*place) };
    let Some(at) = places.get(index).and_then(|p| p.first()).and_then(word) else {
        return Ok(None);
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

/// How many elements an array has that native code passes or makes: SizeConst and the parameter that SizeParamIndex names,
/// together; at least one of them is given.
fn passed_length<'cx>(
    cx: &'cx Cx<'cx>,
    m: MethodRef,
    conversion: &Conversion,
    block: CallBlock,
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
                true => passed_length(cx, m, conversion, CallBlock::Reverse(block))?,
                false => None,
            };
            values::to_managed(cx, conversion, word, false, length)
        }
        ParamPlan::BlittableArray { reverse, .. } => {
            let length = passed_length(cx, m, reverse, CallBlock::Reverse(block))?;
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
                    *(native as *mut usize) = values::to_native(cx, conversion, object, true)?;
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
            let native = values::to_native(cx, conversion, object, true)?;
            cleaned_up(cx, conversion, object)?;
            Ok(native)
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
