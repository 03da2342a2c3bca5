//! Making objects.
//!
//! # Invariants
//! An object's header and length are stored before this thread lets the world stop, so the collector sees no object whose size it
//! cannot tell.
use crate::classes::nullable::nullable_offsets;
use crate::cx::{Cx, Result};
use crate::memory::copy::{copy_value, move_bytes};
use crate::memory::gc;
use crate::object::ObjRef;
use std::mem::offset_of;
use vervet_abi::VTable;
use vervet_abi::layouts::DelegateObject;
use vervet_abi::object::*;
use vervet_abi::vtable::flags;
use vervet_types::{ClassRef, Known};

/// Memory for an object of `size` bytes with that VTable, zeroed: from the thread's TLAB, or by the slow path, which may collect.
/// OutOfMemoryException if the heap is full. `size_it` stores what a collection needs to tell its size by: the profiler's hook may let the world stop.
fn place<'cx>(
    cx: &'cx Cx<'cx>,
    vt: &'static VTable,
    size: usize,
    size_it: impl FnOnce(ObjRef<'cx>),
) -> Result<ObjRef<'cx>> {
    vervet_os::lock::assert_no_leaf_lock("allocating an object");
    // SAFETY: a token holds the context of the calling thread, and the TLAB is not used elsewhere while it lives.
    let tlab = unsafe { gc::tlab(cx.context()) };
    match gc::heap().allocate(tlab, size, vt as *const VTable as u64) {
        Some(at) => {
            // SAFETY: fresh zeroed memory with that header.
            let object = unsafe { ObjRef::from_addr(at) };
            size_it(object);
            crate::profiler::hooks::allocated(vt, object.addr(), size, || gc::heap().taken());
            Ok(object)
        }
        // Mono has one text for objects and arrays, and another for strings.
        None if vt.flags & flags::STRING != 0 => Err(cx.rt().throw_out_of_memory(cx)),
        None => Err(cx.rt().throw_heap_full(cx)),
    }
}

/// A zeroed instance of a fixed-size class.
pub fn alloc_object<'cx>(cx: &'cx Cx<'cx>, vt: &'static VTable) -> Result<ObjRef<'cx>> {
    let object = alloc_without_finalizer(cx, vt)?;
    if vt.flags & flags::FINALIZER != 0 {
        gc::register_finalizer(object);
    }
    Ok(object)
}

/// As [`alloc_object`]; the object is not finalized, even if its class has a finalizer.
pub(crate) fn alloc_without_finalizer<'cx>(
    cx: &'cx Cx<'cx>,
    vt: &'static VTable,
) -> Result<ObjRef<'cx>> {
    debug_assert!(vt.rank == 0 && vt.flags & flags::STRING == 0);
    place(cx, vt, vt.size as usize, |_| ())
}

/// A zeroed vector. A length that is no int32, or negative, is OverflowException, as in mono; one for which there is no room
/// OutOfMemoryException.
pub fn alloc_array<'cx>(cx: &'cx Cx<'cx>, vt: &'static VTable, len: i64) -> Result<ObjRef<'cx>> {
    if !(0..=i32::MAX as i64).contains(&len) {
        return Err(cx.throw_default(Known::OverflowException));
    }
    let size = ARRAY_DATA_OFFSET as usize + len as usize * vt.size as usize;
    place(cx, vt, size, |array| {
        array.write(ARRAY_LENGTH_OFFSET as usize, len as u32);
    })
}

/// A zeroed array with bounds.
pub fn alloc_md_array<'cx>(
    cx: &'cx Cx<'cx>,
    vt: &'static VTable,
    bounds: &[(i64, i32)],
) -> Result<ObjRef<'cx>> {
    let mut total: i64 = 1;
    for &(len, _) in bounds {
        if len < 0 {
            return Err(cx.throw(Known::OverflowException, ""));
        }
        total = match total.checked_mul(len) {
            Some(t) if t <= i32::MAX as i64 => t,
            _ => return Err(cx.rt().throw_out_of_memory(cx)),
        };
    }
    let data = md_array_data_offset(bounds.len() as u32) as usize;
    let array = place(cx, vt, data + total as usize * vt.size as usize, |array| {
        array.write(ARRAY_LENGTH_OFFSET as usize, total as u32);
    })?;
    for (i, &(len, lower)) in bounds.iter().enumerate() {
        let at = ARRAY_BOUNDS_OFFSET as usize + i * BOUND_SIZE as usize;
        array.write(at, len as u32);
        array.write(at + 4, lower);
    }
    Ok(array)
}

/// A string of `len` zero units and a terminator.
pub fn alloc_string<'cx>(cx: &'cx Cx<'cx>, len: usize) -> Result<ObjRef<'cx>> {
    if len > (i32::MAX as usize - 64) / 2 {
        return Err(cx.rt().throw_out_of_memory(cx));
    }
    let vt = cx.rt().vtable_or_throw(cx, cx.known(Known::String))?;
    place(cx, vt, STRING_CHARS_OFFSET as usize + 2 * (len + 1), |s| {
        s.write(STRING_LENGTH_OFFSET as usize, len as i32);
    })
}

/// A box with a copy of the value; Nullable by its rule.
///
/// # Safety
/// `value` points to a value of `class`.
pub unsafe fn box_value<'cx>(
    cx: &'cx Cx<'cx>,
    class: ClassRef,
    value: *const u8,
) -> Result<ObjRef<'cx>> {
    let mut value = value;
    let mut class = class;
    if let Some(inner) = class.nullable_arg() {
        let (has, at) = nullable_offsets(cx, class)?;
        // SAFETY: the caller's value is a Nullable of that layout.
        unsafe {
            if *value.add(has as usize) == 0 {
                return Ok(ObjRef::NULL);
            }
            value = value.add(at as usize);
        }
        class = inner;
    }
    let vt = cx.rt().vtable_or_throw(cx, class)?;
    let object = alloc_object(cx, vt)?;
    let size = vt.size as usize - HEADER_SIZE as usize;
    // SAFETY: the box has room for `size` bytes; the source holds a value of that size.
    unsafe {
        copy_value(
            object.value_ptr(),
            value,
            size,
            vt.flags & flags::HAS_REFS != 0,
        )
    };
    Ok(object)
}

/// A shallow copy (Object.MemberwiseClone).
pub fn clone_object<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<ObjRef<'cx>> {
    let vt = object.vtable();
    let size = object_size(object);
    let copy = place(cx, vt, size, |copy| {
        if vt.rank != 0 || vt.flags & flags::STRING != 0 {
            const { assert!(STRING_LENGTH_OFFSET == ARRAY_LENGTH_OFFSET) };
            let at = ARRAY_LENGTH_OFFSET as usize;
            copy.write(at, object.read::<u32>(at));
        }
    })?;
    let fields = (size - HEADER_SIZE as usize).next_multiple_of(8);
    let refs = vt.flags & (flags::HAS_REFS | flags::ELEMENT_REFS) != 0;
    // SAFETY: both objects have `size` bytes, rounded to whole words; the header is not copied.
    unsafe { move_bytes(cx, copy.value_ptr(), object.value_ptr(), fields, refs) };
    if cx.load(object.class().is_delegate())? {
        // The thunk by which native code calls the delegate is that of one object.
        copy.write(offset_of!(DelegateObject, delegate_trampoline), 0usize);
    }
    if vt.flags & flags::FINALIZER != 0 {
        gc::register_finalizer(copy);
    }
    Ok(copy)
}

/// Bytes an object takes, header included, not rounded.
pub fn object_size(object: ObjRef<'_>) -> usize {
    let vt = object.vtable();
    if vt.flags & flags::STRING != 0 {
        STRING_CHARS_OFFSET as usize + 2 * (object.string_len() + 1)
    } else if vt.flags & flags::SZ_ARRAY != 0 {
        ARRAY_DATA_OFFSET as usize + object.array_len() * vt.size as usize
    } else if vt.rank != 0 {
        md_array_data_offset(vt.rank as u32) as usize + object.array_len() * vt.size as usize
    } else {
        vt.size as usize
    }
}

impl<'cx> Cx<'cx> {
    /// A zeroed instance of a class. No constructor runs; the class constructor is not triggered. Arrays and strings
    /// have no such instance: ArgumentException.
    pub fn alloc(&'cx self, class: ClassRef) -> Result<ObjRef<'cx>> {
        let vt = self.rt().vtable_or_throw(self, class)?;
        if vt.rank != 0 || vt.flags & vervet_abi::vtable::flags::STRING != 0 {
            return Err(self.throw_default(Known::ArgumentException));
        }
        alloc_object(self, vt)
    }
    /// A vector of `len` zeroed elements.
    pub fn alloc_array(&'cx self, element: ClassRef, len: usize) -> Result<ObjRef<'cx>> {
        let vt = self
            .rt()
            .vtable_or_throw(self, self.universe().sz_array(element))?;
        alloc_array(self, vt, len as i64)
    }
    /// An array of references from an iterator whose items are made one after the other.
    pub fn alloc_ref_array(
        &'cx self,
        element: ClassRef,
        len: usize,
        mut make: impl FnMut(usize) -> Result<ObjRef<'cx>>,
    ) -> Result<ObjRef<'cx>> {
        let array = self.alloc_array(element, len)?;
        for i in 0..len {
            let item = make(i)?;
            array.set_element_ref(i, item);
        }
        Ok(array)
    }
    /// A string of `len` zero units, to be filled before anybody sees it.
    pub fn alloc_string_uninit(&'cx self, len: usize) -> Result<ObjRef<'cx>> {
        alloc_string(self, len)
    }
    /// A string from UTF-16.
    pub fn alloc_utf16(&'cx self, units: &[u16]) -> Result<ObjRef<'cx>> {
        let s = self.alloc_string_uninit(units.len())?;
        // SAFETY: the string was just made with room for exactly these units.
        unsafe {
            let (to, from) = (s.string_ptr() as *mut u8, units.as_ptr() as *const u8);
            move_bytes(self, to, from, 2 * units.len(), false);
        }
        Ok(s)
    }
    /// A string from UTF-8.
    pub fn alloc_str(&'cx self, text: &str) -> Result<ObjRef<'cx>> {
        let units: Vec<u16> = text.encode_utf16().collect();
        self.alloc_utf16(&units)
    }
    /// A string, or null for None.
    pub fn alloc_opt_str(&'cx self, text: Option<&str>) -> Result<ObjRef<'cx>> {
        match text {
            Some(t) => self.alloc_str(t),
            None => Ok(ObjRef::NULL),
        }
    }
    /// A box of `class` (a value type; Nullable gives null or a box of its argument) with a copy of the value.
    ///
    /// # Safety
    /// `value` points to a value of that type.
    pub unsafe fn box_value(&'cx self, class: ClassRef, value: *const u8) -> Result<ObjRef<'cx>> {
        // SAFETY: the caller passes the address of a value of that class.
        unsafe { box_value(self, class, value) }
    }
}
