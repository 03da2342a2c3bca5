//! Arrays.
use crate::support::{ClassP, Object, object, or_null};
use std::ffi::{c_char, c_int};
use std::mem::offset_of;
use vervet_abi::VTable;
use vervet_abi::object::ARRAY_DATA_OFFSET;
use vervet_abi::vtable::flags;
use vervet_runtime::memory::allocate;

object_api! {
    fn mono_array_new_specific(cx; vt: Option<&'static VTable>, length: usize) -> Object {
        vt.map_or(std::ptr::null_mut(), |vt| or_null(cx, allocate::alloc_array(cx, vt, length as i64)))
    }
    fn mono_array_clone(cx; array: Object) -> Object { or_null(cx, allocate::clone_object(cx, object(array))) }
}

pinned_api! {
    fn mono_array_length(array: Object) -> usize { object(array).array_len() }
}
/// The address of an element of an array that is no vector.
///
/// # Safety
/// As for `mono_array_addr_with_size`.
unsafe extern "C" fn behind_bounds(array: Object, size: c_int, index: usize) -> *mut c_char {
    // SAFETY: the caller's promise.
    unsafe { object(array).array_data().add(size as usize * index).cast() }
}

/// The address of an element, in an array that stays in place while the host's frames refer to it.
///
/// # Safety
/// The array is one, and has the element; null is a fault of the caller.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_array_addr_with_size(
    _array: Object,
    _size: c_int,
    _index: usize,
) -> *mut c_char {
    // Two loads: a frame would cost more.
    std::arch::naked_asm!(
        "mov eax, [rdi]",
        "test byte ptr [rax + {flags}], {vector}",
        "jz {other}",
        "movsxd rax, esi",
        "imul rax, rdx",
        "lea rax, [rdi + rax + {data}]",
        "ret",
        flags = const offset_of!(VTable, flags),
        vector = const flags::SZ_ARRAY,
        data = const ARRAY_DATA_OFFSET,
        other = sym behind_bounds,
    )
}

domain_api! {
    fn mono_array_new(cx; element: ClassP, length: usize) -> Object {
        let Some(element) = element else { return std::ptr::null_mut() };
        or_null(cx, cx.alloc_array(element, length))
    }
    /// An array of any rank; without lower bounds they are 0.
    fn mono_array_new_full(cx; class: ClassP, lengths: *const usize, lower: *const isize) -> Object {
        let Some(class) = class else { return std::ptr::null_mut() };
        let made = cx.rt().vtable_or_throw(cx, class).and_then(|vt| {
            if class.is_sz_array() {
                return allocate::alloc_array(cx, vt, *lengths as i64);
            }
            let rank = class.rank().unwrap_or(1) as usize;
            let bounds: Vec<(i64, i32)> = (0..rank)
                .map(|i| (*lengths.add(i) as i64, if lower.is_null() { 0 } else { *lower.add(i) as i32 }))
                .collect();
            allocate::alloc_md_array(cx, vt, &bounds)
        });
        or_null(cx, made)
    }
}
