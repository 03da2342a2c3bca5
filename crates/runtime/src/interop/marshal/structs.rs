//! Structs and formatted classes between managed values and native memory, field by field.
//!
//! # Invariants
//! Managed addresses passed here are values: a struct on the stack, or the first byte behind an object's header. A
//! store of a reference marks its card.
//!
//! What is the same on both sides is copied whole: a struct may be larger than its fields (`fixed` buffers, a declared size).
//! What [`free`] may free is written by [`to_native`] in any case: an array that is shorter than its place, or null, leaves
//! null pointers.
use super::{builders, strings, values};
use crate::cx::{Cx, Result, Value};
use crate::interop::com::crossing as com;
use crate::object::{ObjRef, store_ref};
use vervet_jit::stubs::native::layout::{COM, FieldKind, Native, NativeLayout};
use vervet_jit::stubs::native::scalar::Scalar;
use vervet_types::Known;

/// Converts one scalar in memory.
///
/// # Safety
/// Both addresses are of such a value.
unsafe fn scalar_to_native(scalar: Scalar, managed: *const u8, native: *mut u8) {
    // SAFETY: both addresses are of such a value; native ones may be unaligned and are accessed as such.
    unsafe {
        match scalar {
            Scalar::Same(kind) => {
                std::ptr::copy_nonoverlapping(managed, native, kind.size() as usize)
            }
            // As in mono, the byte that is there, which another field or unsafe code may have made.
            Scalar::Bool(1) => *native = *managed,
            Scalar::Bool(_) => (native as *mut u32).write_unaligned(u32::from(*managed)),
            Scalar::VariantBool => (native as *mut i16).write_unaligned(-i16::from(*managed)),
            Scalar::AnsiChar => *native = (managed as *const u16).read_unaligned() as u8,
        }
    }
}
/// As [`scalar_to_native`], the other way.
///
/// # Safety
/// Both addresses are of such a value.
unsafe fn scalar_to_managed(scalar: Scalar, native: *const u8, managed: *mut u8) {
    // SAFETY: both addresses are of such a value, which holds no reference; native ones may be unaligned and are accessed as such.
    unsafe {
        match scalar {
            Scalar::Same(kind) => {
                std::ptr::copy_nonoverlapping(native, managed, kind.size() as usize)
            }
            Scalar::Bool(1) => *managed = u8::from(*native != 0),
            Scalar::Bool(_) => *managed = u8::from((native as *const u32).read_unaligned() != 0),
            Scalar::VariantBool => {
                *managed = u8::from((native as *const i16).read_unaligned() != 0)
            }
            Scalar::AnsiChar => (managed as *mut u16).write_unaligned(u16::from(*native)),
        }
    }
}

/// The word of a DateTime without its two bits that say of which kind it is.
const TICKS: i64 = 0x3fff_ffff_ffff_ffff;

/// A DateTime's word as an OLE date: days since the end of 1899. The class library computes it.
fn ole_date<'cx>(cx: &'cx Cx<'cx>, date: i64) -> Result<f64> {
    match date_time(cx, "TicksToOADate", Value::Int(date & TICKS))? {
        Value::F64(days) => Ok(days),
        _ => Ok(0.0),
    }
}
/// The ticks of an OLE date; an ArgumentException if no DateTime is as far away.
fn ole_ticks<'cx>(cx: &'cx Cx<'cx>, date: f64) -> Result<i64> {
    match date_time(cx, "DoubleDateToTicks", Value::F64(date))? {
        Value::Int(ticks) => Ok(ticks),
        _ => Ok(0),
    }
}
/// Calls a static method of DateTime.
fn date_time<'cx>(cx: &'cx Cx<'cx>, name: &str, arg: Value<'cx>) -> Result<Value<'cx>> {
    let method = cx.known_method(Known::DateTime, name, 1)?;
    cx.invoke(method, None, &[arg])
}

fn unsupported(cx: &Cx<'_>, reason: &str) -> crate::cx::Throw {
    cx.throw(Known::MarshalDirectiveException, reason)
}

/// Converts one value (a field or an element) to native memory.
///
/// # Safety
/// Both addresses are of such a value.
pub unsafe fn one_to_native<'cx>(
    cx: &'cx Cx<'cx>,
    kind: &Native,
    managed: *const u8,
    native: *mut u8,
) -> Result<()> {
    // SAFETY: the caller says that a value of that kind lies at both addresses; its reference fields are words that hold references.
    unsafe {
        let object = || ObjRef::from_addr((managed as *const usize).read());
        match kind {
            Native::Scalar(s) => scalar_to_native(*s, managed, native),
            Native::Struct(layout) if layout.blittable => {
                std::ptr::copy_nonoverlapping(managed, native, layout.size as usize)
            }
            Native::Struct(layout) => return to_native(cx, layout, managed, native),
            Native::String(encoding) => {
                (native as *mut usize)
                    .write_unaligned(strings::to_native(cx, object(), *encoding)? as usize)
            }
            Native::Delegate(_) => (native as *mut usize)
                .write_unaligned(super::reverse::function_pointer(cx, object())?),
            Native::Handle if object().is_null() => {
                return Err(cx.throw_default(Known::ArgumentNullException));
            }
            Native::Handle => (native as *mut usize).write_unaligned(values::handle_of(object())),
            Native::Embedded(layout) => match object().non_null() {
                // With what lies between its fields.
                Some(o) if layout.blittable && !layout.fields.is_empty() => {
                    std::ptr::copy_nonoverlapping(o.value_ptr(), native, layout.size as usize)
                }
                // Its byte stays as it is.
                Some(_) if layout.is_empty() => {}
                Some(o) => return to_native(cx, layout, o.value_ptr(), native),
                None if layout.owns_memory => native.write_bytes(0, layout.size as usize),
                None => {}
            },
            Native::OleDate => {
                let date = ole_date(cx, (managed as *const i64).read())?;
                (native as *mut f64).write_unaligned(date);
            }
            Native::StringBuilder(encoding) => (native as *mut usize)
                .write_unaligned(builders::to_native(cx, object(), *encoding)?),
            Native::Com(declared) => (native as *mut usize).write_unaligned(com::to_native(
                cx,
                object(),
                declared.interface,
            )?),
            Native::Variant if object().is_null() => native.write_bytes(0, kind.size() as usize),
            Native::ArrayPointer(_) if object().is_null() => {
                (native as *mut usize).write_unaligned(0)
            }
            Native::Variant => return Err(unsupported(cx, COM)),
            Native::Opaque { reason, .. }
            | Native::Unsupported(reason)
            | Native::Endless(reason)
            | Native::ArrayPointer(reason) => {
                return Err(unsupported(cx, reason));
            }
        }
    }
    Ok(())
}
/// Converts one value from native memory.
///
/// # Safety
/// Both addresses are of such a value.
pub unsafe fn one_to_managed<'cx>(
    cx: &'cx Cx<'cx>,
    kind: &Native,
    native: *const u8,
    managed: *mut u8,
) -> Result<()> {
    // SAFETY: the caller says that a value of that kind lies at `native`, and that `managed` has room for one.
    unsafe {
        let word = || (native as *const usize).read_unaligned();
        match kind {
            Native::Scalar(s) => scalar_to_managed(*s, native, managed),
            Native::Struct(layout) if layout.blittable => {
                std::ptr::copy_nonoverlapping(native, managed, layout.size as usize)
            }
            Native::Struct(layout) => return to_managed(cx, layout, native, managed),
            Native::String(encoding) => store_ref(
                managed as *mut usize,
                strings::to_managed(cx, word() as *const u8, *encoding)?,
            ),
            Native::Delegate(class) => store_ref(
                managed as *mut usize,
                super::reverse::delegate_for(cx, word(), class)?,
            ),
            Native::Handle => {}
            // An object of such a class has no fields of this one's that could be read.
            Native::Embedded(layout)
                if layout.fields.is_empty()
                    && (layout.class.is_abstract() || layout.class.is_interface()) =>
            {
                store_ref(managed as *mut usize, ObjRef::NULL);
            }
            Native::Embedded(layout) => {
                if let Some(reason) = &layout.unsupported {
                    return Err(unsupported(cx, reason));
                }
                let made = cx.alloc(layout.class)?;
                to_managed(cx, layout, native, made.value_ptr())?;
                store_ref(managed as *mut usize, made);
            }
            Native::OleDate => {
                let ticks = ole_ticks(cx, (native as *const f64).read_unaligned())?;
                (managed as *mut i64).write(ticks);
            }
            // The builder that is there takes the text.
            Native::StringBuilder(encoding) => {
                let builder = ObjRef::from_addr((managed as *const usize).read());
                let buffer = word() as *const u8;
                match builder.non_null() {
                    Some(builder) if !buffer.is_null() => {
                        builders::set_text(cx, builder, buffer, *encoding)?;
                    }
                    _ => store_ref(
                        managed as *mut usize,
                        builders::to_managed(cx, buffer, *encoding)?,
                    ),
                }
            }
            Native::Com(declared) => store_ref(
                managed as *mut usize,
                com::to_managed(cx, word(), declared.class)?,
            ),
            Native::Variant if word() == 0 => store_ref(managed as *mut usize, ObjRef::NULL),
            Native::Variant => return Err(unsupported(cx, COM)),
            Native::Opaque { reason, .. }
            | Native::Unsupported(reason)
            | Native::Endless(reason)
            | Native::ArrayPointer(reason) => {
                return Err(unsupported(cx, reason));
            }
        }
    }
    Ok(())
}
/// Writes the characters of an array as UTF-8, up to the first zero and to the end of the room. What lies behind them stays.
///
/// # Safety
/// `native` has so much room.
unsafe fn text_to_native(
    cx: &Cx<'_>,
    array: ObjRef<'_>,
    native: *mut u8,
    room: usize,
) -> Result<()> {
    // SAFETY: the class of the field is char[], and nothing here moves the array.
    let units =
        unsafe { std::slice::from_raw_parts(array.array_data().cast::<u16>(), array.array_len()) };
    let text = String::from_utf16(units).map_err(|_| {
        let message = "Partial byte sequence encountered in the input.";
        cx.throw2(Known::ArgumentException, message, "string")
    })?;
    let text = text.split('\0').next().unwrap_or_default().as_bytes();
    let have = text.len().min(room);
    // SAFETY: the room is native memory.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), native, have) };
    Ok(())
}
/// A char[] of as many characters as there are bytes, with the text that they begin with; zeros where they are no UTF-8.
///
/// # Safety
/// So many bytes are at `native`.
unsafe fn text_to_managed<'cx>(
    cx: &'cx Cx<'cx>,
    native: *const u8,
    bytes: usize,
) -> Result<ObjRef<'cx>> {
    // SAFETY: the caller's promise.
    let all = unsafe { std::slice::from_raw_parts(native, bytes) };
    let end = all.iter().position(|b| *b == 0).unwrap_or(bytes);
    let text = std::str::from_utf8(&all[..end]).unwrap_or_default();
    let array = cx.alloc_array(cx.known(Known::Char), bytes)?;
    for (i, unit) in text.encode_utf16().enumerate() {
        // SAFETY: a text has at most as many UTF-16 units as bytes of UTF-8.
        unsafe { array.array_data().cast::<u16>().add(i).write(unit) };
    }
    Ok(array)
}
/// Frees what conversion to native allocated for one value.
///
/// # Safety
/// `native` is such a value, filled by [`one_to_native`].
pub unsafe fn free_one(kind: &Native, native: *mut u8) {
    // SAFETY: the caller says that `one_to_native` has filled the value, so its words are null or blocks that it has allocated.
    unsafe {
        match kind {
            Native::String(encoding) => {
                strings::free(
                    (native as *mut usize).read_unaligned() as *mut u8,
                    *encoding,
                );
                (native as *mut usize).write_unaligned(0);
            }
            Native::Struct(layout) | Native::Embedded(layout) => free(layout, native),
            Native::StringBuilder(_) => {
                super::release((native as *mut usize).read_unaligned() as *mut u8);
                (native as *mut usize).write_unaligned(0);
            }
            _ => {}
        }
    }
}

/// Converts a struct to native memory.
///
/// # Safety
/// `managed` is a value of the layout's class, `native` has room for its native form.
pub unsafe fn to_native<'cx>(
    cx: &'cx Cx<'cx>,
    layout: &NativeLayout,
    managed: *const u8,
    native: *mut u8,
) -> Result<()> {
    if let Some(reason) = &layout.unsupported {
        return Err(unsupported(cx, reason));
    }
    if is_copied_whole(cx, layout)? {
        // SAFETY: both values have that size, and no references.
        unsafe { std::ptr::copy_nonoverlapping(managed, native, layout.size as usize) };
        return Ok(());
    }
    if let Some(bytes) = copied_of_object(cx, layout)? {
        // SAFETY: the caller's promise about the room; the object has so many bytes, and no references.
        unsafe {
            std::ptr::copy_nonoverlapping(managed, native, bytes);
            std::ptr::write_bytes(native.add(bytes), 0, layout.size as usize - bytes);
        }
        return Ok(());
    }
    for f in &layout.fields {
        // SAFETY: the fields lie inside both values.
        unsafe {
            let (m, n) = (
                managed.add(f.managed_offset as usize),
                native.add(f.offset as usize),
            );
            match &f.kind {
                FieldKind::One(kind) => one_to_native(cx, kind, m, n)?,
                FieldKind::FixedBuffer { count, element, .. } => {
                    let size = element.managed_kind().size();
                    for i in 0..*count {
                        let (from, to) = (i * size, i * element.size());
                        scalar_to_native(*element, m.add(from as usize), n.add(to as usize));
                    }
                }
                FieldKind::FixedText { bytes } => {
                    let array = ObjRef::from_addr((m as *const usize).read());
                    if !array.is_null() {
                        text_to_native(cx, array, n, *bytes as usize)?;
                    }
                }
                FieldKind::FixedString { units, encoding } => {
                    let text = ObjRef::from_addr((m as *const usize).read());
                    let room = *units as usize * encoding.unit() as usize;
                    std::ptr::write_bytes(n, 0, room);
                    if !text.is_null() {
                        let copy = strings::to_native(cx, text, *encoding)?;
                        let have = if encoding.unit() == 1 {
                            libc::strlen(copy.cast())
                        } else {
                            text.string_len() * 2
                        };
                        std::ptr::copy_nonoverlapping(
                            copy,
                            n,
                            have.min(room - encoding.unit() as usize),
                        );
                        strings::free(copy, *encoding);
                    }
                }
                FieldKind::FixedArray { count, element, .. } => {
                    let array = ObjRef::from_addr((m as *const usize).read());
                    let have = if array.is_null() {
                        0
                    } else {
                        array.array_len().min(*count as usize)
                    };
                    for i in 0..have {
                        let size = array.vtable().size as usize;
                        one_to_native(
                            cx,
                            element,
                            array.array_data().add(i * size),
                            n.add(i * element.size() as usize),
                        )?;
                    }
                    if element.owns_memory() {
                        let size = element.size() as usize;
                        std::ptr::write_bytes(
                            n.add(have * size),
                            0,
                            (*count as usize - have) * size,
                        );
                    }
                }
            }
        }
    }
    Ok(())
}

/// Is the native form of the value its managed bytes? (The native form of a class may be larger than its objects are. As mono has it, that of a struct with a
/// char is not, whatever the character set.)
fn is_copied_whole(cx: &Cx<'_>, layout: &NativeLayout) -> Result<bool> {
    let class = layout.class;
    Ok(layout.blittable && cx.load(class.is_value_type())? && cx.load(class.layout())?.blittable)
}

/// How many bytes of an object are copied as they are, with those between and behind its fields, if its native form is that. What the native form has more is none of the
/// object's.
fn copied_of_object(cx: &Cx<'_>, layout: &NativeLayout) -> Result<Option<usize>> {
    let own = cx.load(layout.class.layout())?;
    let is_copied = layout.blittable && !layout.is_empty() && own.blittable;
    Ok(is_copied.then(|| layout.size.min(own.size) as usize))
}

/// Converts a struct from native memory.
///
/// # Safety
/// As [`to_native`].
pub unsafe fn to_managed<'cx>(
    cx: &'cx Cx<'cx>,
    layout: &NativeLayout,
    native: *const u8,
    managed: *mut u8,
) -> Result<()> {
    if let Some(reason) = &layout.unsupported {
        return Err(unsupported(cx, reason));
    }
    if is_copied_whole(cx, layout)? {
        // SAFETY: both values have that size, and no references.
        unsafe { std::ptr::copy_nonoverlapping(native, managed, layout.size as usize) };
        return Ok(());
    }
    if let Some(bytes) = copied_of_object(cx, layout)? {
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(native, managed, bytes) };
        return Ok(());
    }
    for f in &layout.fields {
        // SAFETY: the fields lie inside both values.
        unsafe {
            let (m, n) = (
                managed.add(f.managed_offset as usize),
                native.add(f.offset as usize),
            );
            match &f.kind {
                FieldKind::One(kind) => one_to_managed(cx, kind, n, m)?,
                FieldKind::FixedBuffer { count, element, .. } => {
                    let size = element.managed_kind().size();
                    for i in 0..*count {
                        let (from, to) = (i * element.size(), i * size);
                        scalar_to_managed(*element, n.add(from as usize), m.add(to as usize));
                    }
                }
                FieldKind::FixedText { bytes } => {
                    store_ref(m as *mut usize, text_to_managed(cx, n, *bytes as usize)?);
                }
                FieldKind::FixedString { units, encoding } => {
                    let room = *units as usize;
                    let text: Vec<u16> = if encoding.unit() == 1 {
                        // The last byte is the terminator's, whatever it holds.
                        let all = std::slice::from_raw_parts(n, room - 1);
                        let end = all.iter().position(|b| *b == 0).unwrap_or(room - 1);
                        String::from_utf8_lossy(&all[..end])
                            .encode_utf16()
                            .collect()
                    } else {
                        (0..room)
                            .map(|i| (n as *const u16).add(i).read_unaligned())
                            .take_while(|u| *u != 0)
                            .collect()
                    };
                    store_ref(m as *mut usize, cx.alloc_utf16(&text)?);
                }
                FieldKind::FixedArray { count, element, .. } => {
                    let ty = cx.load(f.field.ty())?;
                    let Some(class) = ty.element().filter(|_| ty.is_sz_array()) else {
                        return Err(unsupported(
                            cx,
                            "An array of more than one dimension cannot be made from native memory.",
                        ));
                    };
                    let array = cx.alloc_array(class, *count as usize)?;
                    let size = array.vtable().size as usize;
                    for i in 0..*count as usize {
                        one_to_managed(
                            cx,
                            element,
                            n.add(i * element.size() as usize),
                            array.array_data().add(i * size),
                        )?;
                    }
                    store_ref(m as *mut usize, array);
                }
            }
        }
    }
    Ok(())
}

/// Frees the strings that a native structure points to (Marshal.DestroyStructure). As in mono these are those of the class's own fields, and of structs in them; what is
/// inherited, embedded as a class or in an array is left alone: a null object may have left anything there.
///
/// # Safety
/// `native` is a native value of that layout.
pub unsafe fn destroy(layout: &NativeLayout, native: *mut u8) {
    for f in &layout.fields {
        if !std::ptr::eq(f.field.class, layout.class) {
            continue;
        }
        // SAFETY: the fields lie inside the value.
        unsafe {
            let at = native.add(f.offset as usize);
            match &f.kind {
                FieldKind::One(kind @ Native::String(_)) => free_one(kind, at),
                FieldKind::One(Native::Struct(inner)) => destroy(inner, at),
                _ => {}
            }
        }
    }
}

/// Frees what conversion to native allocated for a struct.
///
/// # Safety
/// `native` is a native value of that layout.
pub unsafe fn free(layout: &NativeLayout, native: *mut u8) {
    for f in &layout.fields {
        // SAFETY: the fields lie inside the value.
        unsafe {
            let n = native.add(f.offset as usize);
            match &f.kind {
                FieldKind::One(kind) => free_one(kind, n),
                FieldKind::FixedArray { count, element, .. } => {
                    (0..*count as usize)
                        .for_each(|i| free_one(element, n.add(i * element.size() as usize)));
                }
                FieldKind::FixedString { .. }
                | FieldKind::FixedText { .. }
                | FieldKind::FixedBuffer { .. } => {}
            }
        }
    }
}
