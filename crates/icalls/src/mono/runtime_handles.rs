//! Native half of Mono.RuntimeClassHandle and Mono.RuntimeGPtrArrayHandle.
//!
//! Keeps nothing.
use crate::support::handles::{GPtrArray, free};
use vervet_runtime::icalls;

icalls! {
    /// A class pointer and a type handle are the same address.
    "Mono.RuntimeClassHandle::GetTypeFromClass" fn get_type_from_class(cx, class: usize) -> usize { Ok(class) }

    /// Frees the array and its data, which are one block, not what the elements point to.
    "Mono.RuntimeGPtrArrayHandle::GPtrArrayFree" fn gptr_array_free(cx, array: *mut GPtrArray) {
        // SAFETY: managed code gives back, once, what `ptr_array` made, or null.
        unsafe { free(array as *mut u8) };
        Ok(())
    }
}
