//! Fields: what they are, and their values.
//!
//! # Invariants
//! A value moves between the field and the host's variable as it lies in memory: a reference is the address of the object. A store of a
//! reference into the heap marks its card.
use crate::classes::DECLARED_HEADER;
use crate::support::{ClassP, FieldP, Object, new_text, object, or_null, text};
use smallvec::SmallVec;
use std::ffi::{c_char, c_void};
use vervet_abi::VTable;
use vervet_abi::object::HEADER_SIZE;
use vervet_icalls::support::constants;
use vervet_icalls::support::values;
use vervet_runtime::ObjRef;
use vervet_runtime::classes::vtables;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::memory::copy::{copy_value, move_bytes, poll_sometimes};
use vervet_runtime::memory::statics;
use vervet_runtime::object::store_ref;
use vervet_runtime::remoting;
use vervet_types::{ClassRef, FieldRef};

/// Does a value of the type hold references, and how long is it?
fn shape(class: ClassRef) -> (usize, bool, bool) {
    if class.is_ptr() || class.is_fn_ptr() || class.is_byref() {
        return (8, false, false);
    }
    match (class.is_value_type(), class.instance_layout()) {
        (Ok(true), Ok(layout)) => (layout.size as usize, !layout.ref_map.is_empty(), false),
        _ => (8, true, true),
    }
}

/// Copies a value of that type to a place that may lie in the heap.
///
/// # Safety
/// Both are the addresses of values of the type.
pub unsafe fn store(to: *mut u8, from: *const u8, class: ClassRef) {
    let (size, refs, whole) = shape(class);
    // SAFETY: the caller's promise. A reference has its card marked.
    unsafe {
        if whole {
            store_ref(
                to.cast(),
                ObjRef::from_addr(from.cast::<usize>().read_unaligned()),
            );
        } else if refs && (from as usize).is_multiple_of(8) {
            copy_value(to, from, size, true);
        } else if refs {
            // References are copied, and their cards marked, by whole words; a host's value may lie at any address. Nothing polls between the two copies,
            // so no collection sees the first one.
            let mut aligned: SmallVec<[u64; 32]> = SmallVec::from_elem(0, size.div_ceil(8));
            from.copy_to_nonoverlapping(aligned.as_mut_ptr().cast(), size);
            copy_value(to, aligned.as_ptr().cast(), size, true);
        } else {
            from.copy_to_nonoverlapping(to, size);
        }
    }
}

/// Copies so many values of that type, and lets stops happen on the way. The ranges do not overlap, unless they are aligned.
///
/// # Safety
/// Both are the addresses of so many values of the type, and stay so while the world is stopped.
pub unsafe fn store_many(cx: &Cx<'_>, to: *mut u8, from: *const u8, class: ClassRef, count: usize) {
    let size = crate::classes::slot_size(class).0 as usize;
    let (_, refs, _) = shape(class);
    // SAFETY: the caller's promise.
    unsafe {
        if !refs || (to as usize | from as usize).is_multiple_of(8) && size.is_multiple_of(8) {
            return move_bytes(cx, to, from, count * size, refs);
        }
        for i in 0..count {
            store(to.add(i * size), from.add(i * size), class);
            // The host's frames have the array: it stays in place.
            poll_sometimes(cx, i);
        }
    }
}

/// # Safety
/// Both are the addresses of values of the type; `to` is the host's.
unsafe fn load(to: *mut u8, from: *const u8, class: ClassRef) {
    // SAFETY: the caller's promise.
    unsafe { from.copy_to_nonoverlapping(to, shape(class).0) };
}

/// Where a field of an object lies.
///
/// # Safety
/// The object has the field.
unsafe fn place(object: ObjRef<'_>, field: FieldRef) -> Option<*mut u8> {
    let offset = (HEADER_SIZE + field.offset().ok()?) as usize;
    // SAFETY: the caller's promise: the offset lies in the object.
    Some(unsafe { (object.addr() as *mut u8).add(offset) })
}

/// Where a static field lies, its class being ready for use.
fn static_place<'cx>(cx: &'cx Cx<'cx>, field: FieldRef, initialise: bool) -> Result<usize> {
    let vt = cx.rt().vtable_or_throw(cx, field.class)?;
    if initialise {
        cx.run_class_init(field.class)?;
    }
    Ok(cx.load(statics::field_address(cx, vt, field))? as usize)
}

/// The offset from the object; in a value type, from the value less the header that hosts take off; of a static field, in its block.
fn offset_of_field(field: FieldRef) -> u32 {
    let header = match field.class.is_value_type() {
        _ if field.is_static() => 0,
        Ok(true) => DECLARED_HEADER,
        _ => HEADER_SIZE,
    };
    field.offset().map_or(0, |o| o + header)
}

query_api! {
    fn mono_field_get_name(field: FieldP) -> *const c_char { field.map_or(std::ptr::null(), |f| text(f.name)) }
    fn mono_field_get_type(field: FieldP) -> ClassP { field?.ty().ok() }
    fn mono_field_get_parent(field: FieldP) -> ClassP { field.map(|f| f.class) }
    fn mono_field_get_flags(field: FieldP) -> u32 { field.map_or(0, |f| f.flags) }
    fn mono_field_get_offset(field: FieldP) -> u32 { field.map_or(0, offset_of_field) }
    fn mono_field_get_data(field: FieldP) -> *const c_char {
        field.and_then(|f| f.rva_data().ok()).map_or(std::ptr::null(), |d| d.as_ptr().cast())
    }
    fn mono_class_get_field_token(field: FieldP) -> u32 { field.map_or(0, |f| f.token().0) }
    fn mono_field_full_name(field: FieldP) -> *mut c_char {
        field.map_or(std::ptr::null_mut(), |f| new_text(&format!("{}:{}", crate::describe::class_text(f.class, true), f.name)))
    }
}

object_api! {
    fn mono_field_get_value(cx; target: Object, field: FieldP, value: *mut u8) {
        let Some(field) = field else { return };
        if let (Some(from), Ok(ty)) = (place(object(target), field), field.ty()) {
            load(value, from, ty);
        }
    }
    /// A reference is passed as the object, any other value by its address.
    fn mono_field_set_value(cx; target: Object, field: FieldP, value: *mut u8) {
        let Some(field) = field else { return };
        if let (Some(to), Ok(ty)) = (place(object(target), field), field.ty()) {
            set_at(to, ty, value);
        }
    }
    fn mono_field_static_get_value(cx; _vt: Option<&'static VTable>, field: FieldP, value: *mut u8) {
        let Some(field) = field else { return };
        let Ok(ty) = field.ty() else { return };
        if field.is_literal() {
            // A constant has no place: what it is lies in a box.
            if let Ok(Some(constant)) = constants::of_field(cx, field) {
                if crate::kinds::is_reference(ty) {
                    value.cast::<usize>().write_unaligned(constant.addr());
                } else {
                    load(value, constant.value_ptr(), constant.class());
                }
            }
            return;
        }
        match static_place(cx, field, true) {
            Ok(from) => load(value, from as *const u8, ty),
            Err(throw) => { let _ = cx.take_pending(throw); }
        }
    }
    fn mono_field_static_set_value(cx; _vt: Option<&'static VTable>, field: FieldP, value: *mut u8) {
        let Some(field) = field else { return };
        let Ok(ty) = field.ty() else { return };
        match static_place(cx, field, false) {
            Ok(to) => set_at(to as *mut u8, ty, value),
            Err(throw) => { let _ = cx.take_pending(throw); }
        }
    }
    fn mono_runtime_class_init(cx; vt: Option<&'static VTable>) {
        if let Some(vt) = vt
            && let Err(throw) = cx.run_class_init(vtables::class_of(vt))
        {
            let exception = cx.take_pending(throw);
            crate::exceptions::raise(cx, exception);
        }
    }
}

/// The remote object's field as an object. `remoting` carries the access to where the object is.
fn remote<'cx>(
    cx: &'cx Cx<'cx>,
    proxy: ObjRef<'cx>,
    field: FieldRef,
    value: Option<ObjRef<'cx>>,
) -> Result<ObjRef<'cx>> {
    let proxy = cx.non_null(proxy)?;
    if !remoting::is_proxy(proxy) {
        // An object that is here.
        let Some(value) = value else {
            return value_object(cx, field, proxy);
        };
        let ty = cx.load(field.ty())?;
        let boxed = crate::kinds::is_reference(ty) || ty.nullable_arg().is_some();
        let from = if boxed {
            crate::support::address(value).cast()
        } else {
            value.value_ptr()
        };
        // SAFETY: the host passes an object that has the field, and a value of its type.
        unsafe {
            if let Some(to) = place(proxy, field) {
                set_at(to, ty, from);
            }
        }
        return Ok(ObjRef::NULL);
    }
    match value {
        Some(value) => remoting::fields::set(cx, proxy, field, value).map(|()| ObjRef::NULL),
        None => remoting::fields::get(cx, proxy, field),
    }
}
/// What a function without a place for an exception does with one: raises it where managed code goes on.
fn settled(cx: &'static Cx<'static>, done: Result<ObjRef<'static>>) -> Object {
    match done {
        Ok(object) => crate::support::address(object),
        Err(throw) => {
            let exception = cx.take_pending(throw);
            crate::exceptions::set_pending(cx, exception);
            std::ptr::null_mut()
        }
    }
}

object_api! {
    /// The field of what a transparent proxy stands for, as an object.
    fn mono_load_remote_field_new(cx; proxy: Object, _class: ClassP, field: FieldP) -> Object {
        field.map_or(std::ptr::null_mut(), |f| settled(cx, remote(cx, object(proxy), f, None)))
    }
    /// Where the value is: in the variable, for a reference, else in the box that it refers to then.
    fn mono_load_remote_field(cx; proxy: Object, _class: ClassP, field: FieldP, result: *mut Object) -> *mut c_void {
        let Some(field) = field else { return std::ptr::null_mut() };
        let value = settled(cx, remote(cx, object(proxy), field, None));
        *result = value;
        match field.ty() {
            Ok(ty) if !value.is_null() && !crate::kinds::is_reference(ty) => object(value).value_ptr().cast(),
            _ => result.cast(),
        }
    }
    fn mono_store_remote_field_new(cx; proxy: Object, _class: ClassP, field: FieldP, value: Object) {
        if let Some(field) = field { settled(cx, remote(cx, object(proxy), field, Some(object(value)))); }
    }
    /// The value by its address, a reference as well.
    fn mono_store_remote_field(cx; proxy: Object, _class: ClassP, field: FieldP, value: *const u8) {
        let Some(field) = field else { return };
        let boxed = cx.load(field.ty()).and_then(|ty| values::object_at(cx, ty, value));
        settled(cx, boxed.and_then(|boxed| remote(cx, object(proxy), field, Some(boxed))));
    }
}

domain_api! {
    /// The value as an object: boxed, or the reference itself.
    fn mono_field_get_value_object(cx; field: FieldP, target: Object) -> Object {
        let Some(field) = field else { return std::ptr::null_mut() };
        or_null(cx, value_object(cx, field, object(target)))
    }
}

fn value_object<'cx>(
    cx: &'cx Cx<'cx>,
    field: FieldRef,
    target: ObjRef<'cx>,
) -> Result<ObjRef<'cx>> {
    let ty = cx.load(field.ty())?;
    if field.is_literal() {
        return Ok(constants::of_field(cx, field)?.unwrap_or(ObjRef::NULL));
    }
    let at = if field.is_static() {
        static_place(cx, field, true)? as *mut u8
    } else {
        // SAFETY: the host passes an object that has the field.
        unsafe { place(cx.non_null(target)?, field) }.unwrap_or(std::ptr::null_mut())
    };
    // SAFETY: a value of that type lies there.
    unsafe { values::object_at(cx, ty, at) }
}

/// Stores what a host passes for a field: the object, or the address of the value.
///
/// # Safety
/// `to` is the place of a field of that type.
pub unsafe fn set_at(to: *mut u8, ty: ClassRef, value: *mut u8) {
    // SAFETY: the caller's promise, and what the host passes.
    unsafe {
        if crate::kinds::is_reference(ty) {
            store_ref(to.cast(), ObjRef::from_addr(value as usize));
        } else if ty.is_ptr() || ty.is_fn_ptr() {
            to.cast::<usize>().write_unaligned(value as usize);
        } else if let Some(inner) = ty.nullable_arg() {
            store_nullable(to, ty, inner, object(value.cast()));
        } else {
            store(to, value, ty);
        }
    }
}

/// A Nullable is set by a box of its value, or null.
///
/// # Safety
/// `to` is the place of a Nullable.
unsafe fn store_nullable(to: *mut u8, ty: ClassRef, inner: ClassRef, value: ObjRef<'_>) {
    let fields = ty.fields().unwrap_or(&[]);
    let offset = |name: &str| {
        fields
            .iter()
            .find(|f| f.name == name)
            .and_then(|f| f.offset().ok())
            .map_or(0, |o| o as usize)
    };
    // SAFETY: the offsets lie in the Nullable; the box holds a value of its argument.
    unsafe {
        to.add(offset("hasValue").max(offset("has_value")))
            .write(u8::from(!value.is_null()));
        if !value.is_null() {
            store(to.add(offset("value")), value.value_ptr(), inner);
        }
    }
}
