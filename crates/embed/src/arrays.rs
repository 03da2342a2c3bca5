//! Arrays.
use crate::support::{ClassP, Object, object, or_null};
use std::ffi::{c_char, c_int};
use vervet_abi::VTable;
use vervet_runtime::memory::allocate;

object_api! {
    fn mono_array_new_specific(cx; vt: Option<&'static VTable>, length: usize) -> Object {
        vt.map_or(std::ptr::null_mut(), |vt| or_null(cx, allocate::alloc_array(cx, vt, length as i64)))
    }
    fn mono_array_clone(cx; array: Object) -> Object { or_null(cx, allocate::clone_object(cx, object(array))) }
}

pinned_api! {
    fn mono_array_length(array: Object) -> usize { object(array).array_len() }
    /// The address of an element, in an array that stays in place while the host's frames refer to it.
    fn mono_array_addr_with_size(array: Object, size: c_int, index: usize) -> *mut c_char {
        object(array).array_data().add(size as usize * index).cast()
    }
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
