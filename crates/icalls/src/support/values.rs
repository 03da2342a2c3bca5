//! Between boxed objects and values: arguments of calls, contents of fields, pointers.
//!
//! # Invariants
//! A value handed to a call or stored in a field has exactly the declared type; what does not fit is an
//! ArgumentException, never a reinterpretation.
use crate::support::objects::{self, heap_offset, is_known, load, same};
use vervet_runtime::cx::{Cx, Result, Value};
use vervet_runtime::memory::copy;
use vervet_runtime::object::{ObjRef, store_ref};
use vervet_types::{ClassRef, Known, Prim};

/// Reads a value of a type as the machine passes it. Structs stay where they are.
///
/// # Safety
/// `at` points to a value of `class`.
pub unsafe fn value_at<'cx>(cx: &'cx Cx<'cx>, class: ClassRef, at: *mut u8) -> Result<Value<'cx>> {
    // SAFETY: the caller's promise covers every read below.
    unsafe {
        if class.is_ptr() || class.is_fn_ptr() || class.is_byref() {
            return Ok(Value::Ptr((at as *const usize).read_unaligned() as *mut u8));
        }
        if !load(cx, || class.is_value_type())? {
            return Ok(Value::Ref(ObjRef::from_addr(
                (at as *const usize).read_unaligned(),
            )));
        }
        Ok(match load(cx, || class.stack_prim())? {
            Some(Prim::Bool | Prim::U1) => Value::Int(*at as i64),
            Some(Prim::I1) => Value::Int(*at as i8 as i64),
            Some(Prim::Char | Prim::U2) => Value::Int((at as *const u16).read_unaligned() as i64),
            Some(Prim::I2) => Value::Int((at as *const i16).read_unaligned() as i64),
            Some(Prim::I4) => Value::Int((at as *const i32).read_unaligned() as i64),
            Some(Prim::U4) => Value::Int((at as *const u32).read_unaligned() as i64),
            Some(Prim::I8 | Prim::U8 | Prim::IntPtr | Prim::UIntPtr) => {
                Value::Int((at as *const i64).read_unaligned())
            }
            Some(Prim::R4) => Value::F32((at as *const f32).read_unaligned()),
            Some(Prim::R8) => Value::F64((at as *const f64).read_unaligned()),
            Some(Prim::Void) => Value::Void,
            None => Value::Ptr(at),
        })
    }
}

/// Bytes of a value of a type.
pub fn size_of(cx: &Cx<'_>, class: ClassRef) -> Result<usize> {
    if load(cx, || class.is_value_type())? {
        Ok(load(cx, || class.layout())?.size as usize)
    } else {
        Ok(8)
    }
}

/// The value of a type at an address, as an object: boxed, or the reference itself, or a boxed Pointer.
///
/// # Safety
/// `at` points to a value of `class`.
pub unsafe fn object_at<'cx>(
    cx: &'cx Cx<'cx>,
    class: ClassRef,
    at: *const u8,
) -> Result<ObjRef<'cx>> {
    // SAFETY: the caller promises that `at` points to a value of `class`; each branch reads as many bytes as that has.
    unsafe {
        if class.is_ptr() || class.is_fn_ptr() {
            return pointer_object(cx, class, (at as *const usize).read_unaligned());
        }
        if load(cx, || class.is_value_type())? {
            return cx.box_value(class, at);
        }
        Ok(ObjRef::from_addr((at as *const usize).read_unaligned()))
    }
}

/// `System.Reflection.Pointer.Box(p, type)`.
pub fn pointer_object<'cx>(
    cx: &'cx Cx<'cx>,
    class: ClassRef,
    pointer: usize,
) -> Result<ObjRef<'cx>> {
    let ty = cx.type_object(class)?;
    Ok(objects::Fill::new(cx, Known::Pointer)?
        .set("_ptrType", ty)?
        .put("_ptr", pointer)?
        .object)
}

/// The address in a boxed IntPtr, UIntPtr or Pointer; null gives 0.
pub fn pointer_of<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<usize> {
    let Some(object) = object.non_null() else {
        return Ok(0);
    };
    if is_known(object.class(), Known::Pointer) {
        let at = heap_offset(cx, object.class(), "_ptr")?;
        return Ok(object.read(at));
    }
    match load(cx, || object.class().stack_prim())? {
        Some(Prim::IntPtr | Prim::UIntPtr | Prim::I8 | Prim::U8) => {
            // SAFETY: a box of a native integer holds eight bytes.
            Ok(unsafe { (object.value_ptr() as *const usize).read_unaligned() })
        }
        _ => Err(mismatch(cx, object, cx.known(Known::IntPtr))),
    }
}

/// The ArgumentException for an object that is not of the type.
pub fn mismatch<'cx>(
    cx: &'cx Cx<'cx>,
    object: ObjRef<'cx>,
    wanted: ClassRef,
) -> vervet_runtime::cx::Throw {
    let from = object.class().full_name();
    cx.throw(
        Known::ArgumentException,
        &format!(
            "Object of type '{from}' cannot be converted to type '{}'.",
            wanted.full_name()
        ),
    )
}

/// May a box of `boxed` stand for a value of `wanted`: the same type, an enum and its underlying type, or a character
/// and the unsigned number of its size (managed code hands these on as they are)?
fn fits(cx: &Cx<'_>, boxed: ClassRef, wanted: ClassRef) -> Result<bool> {
    if same(boxed, wanted) {
        return Ok(true);
    }
    Ok(
        match (
            load(cx, || boxed.stack_prim())?,
            load(cx, || wanted.stack_prim())?,
        ) {
            (Some(a), Some(b)) => {
                a == b || matches!((a, b), (Prim::U2, Prim::Char) | (Prim::Char, Prim::U2))
            }
            _ => false,
        },
    )
}

/// Copies an object's value over a value of a type in memory: null is the default, Nullable is filled.
///
/// # Safety
/// `to` has room for a value of `class`.
pub unsafe fn store_object<'cx>(
    cx: &'cx Cx<'cx>,
    class: ClassRef,
    to: *mut u8,
    object: ObjRef<'cx>,
) -> Result<()> {
    // SAFETY: the caller's promise; sizes and offsets come from the type's layout.
    unsafe {
        if class.is_ptr() || class.is_fn_ptr() {
            (to as *mut usize).write_unaligned(pointer_of(cx, object)?);
            return Ok(());
        }
        if !load(cx, || class.is_value_type())? {
            if let Some(o) = object.non_null()
                && !load(cx, || objects::is_instance(o.class(), class))?
            {
                return Err(mismatch(cx, o, class));
            }
            store_ref(to as *mut usize, object);
            return Ok(());
        }
        let layout = load(cx, || class.layout())?;
        let Some(o) = object.non_null() else {
            copy::clear_value(to, layout.size as usize, !layout.ref_map.is_empty());
            return Ok(());
        };
        if let Some(arg) = class.nullable_arg() {
            let (has, value) = vervet_runtime::classes::nullable::nullable_offsets(cx, class)?;
            store_object(cx, arg, to.add(value as usize), object)?;
            *to.add(has as usize) = 1;
            return Ok(());
        }
        if !fits(cx, o.class(), class)? {
            return Err(mismatch(cx, o, class));
        }
        copy::copy_value(
            to,
            o.value_ptr(),
            layout.size as usize,
            !layout.ref_map.is_empty(),
        );
        Ok(())
    }
}

/// Boxes what a call returned, by its declared type.
pub fn returned<'cx>(cx: &'cx Cx<'cx>, class: ClassRef, value: Value<'cx>) -> Result<ObjRef<'cx>> {
    if let (true, Some(elem)) = (class.is_byref(), class.element()) {
        return match value {
            Value::Ptr(p) if p.is_null() => Err(cx.throw_default(Known::NullReferenceException)),
            // SAFETY: a returned byref points to a value of its element type.
            Value::Ptr(p) => unsafe { object_at(cx, elem, p) },
            _ => Ok(ObjRef::NULL),
        };
    }
    match value {
        Value::Void => Ok(ObjRef::NULL),
        Value::Ref(o) => Ok(o),
        Value::Ptr(p) => pointer_object(cx, class, p as usize),
        Value::F32(f) => box_bytes(cx, class, &f.to_ne_bytes()),
        Value::F64(f) => box_bytes(cx, class, &f.to_ne_bytes()),
        Value::Int(i) => box_int(cx, class, i),
    }
}

/// A box of a primitive or enum from the low bytes of an integer.
pub fn box_int<'cx>(cx: &'cx Cx<'cx>, class: ClassRef, value: i64) -> Result<ObjRef<'cx>> {
    box_bytes(cx, class, &value.to_le_bytes())
}
/// A box of a value type whose first bytes are these.
fn box_bytes<'cx>(cx: &'cx Cx<'cx>, class: ClassRef, bytes: &[u8]) -> Result<ObjRef<'cx>> {
    let object = cx.alloc(class)?;
    let size = size_of(cx, class)?.min(bytes.len());
    // SAFETY: the box has room for a value of its class.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), object.value_ptr(), size) };
    Ok(object)
}

/// The integer in a box of an integral primitive or enum, sign- or zero-extended by its type.
pub fn int_of<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<i64> {
    // SAFETY: the box holds a value of its class.
    match unsafe { value_at(cx, object.class(), object.value_ptr())? } {
        Value::Int(i) => Ok(i),
        _ => Err(mismatch(cx, object, cx.known(Known::Int32))),
    }
}
