//! Marshalling that stubs leave to Rust: strings, builders, arrays, handles, delegates, formatted classes, structs.
//!
//! What happens to a parameter is a [`MarshalPlan`](vervet_jit::stubs::native::marshal_plan::MarshalPlan), computed once per
//! method by the compiler; the helpers here look the same plan up.
//!
//! # Invariants
//! Native memory given to native code or taken from it is `malloc`'s. A by-ref conversion's native word is the
//! address of a cell of ours, freed when it is copied back.
pub mod as_any;
pub mod builders;
pub mod cells;
pub mod custom;
pub mod handler_calls;
pub mod helpers;
pub mod lengths;
pub mod native_functions;
pub mod reverse;
pub mod strings;
pub mod structs;
pub mod thunks;
pub mod values;

/// Native memory; never null.
pub fn allocate(bytes: usize) -> *mut u8 {
    // SAFETY: a plain allocation.
    let p = unsafe { libc::calloc(1, bytes.max(1)) };
    if p.is_null() {
        vervet_os::allocator::no_memory("native code", bytes);
    }
    p.cast()
}
/// Frees what [`allocate`] or native code's malloc gave; null is nothing.
///
/// # Safety
/// `p` is null or a malloc'ed block nobody uses any more.
pub unsafe fn release(p: *mut u8) {
    // SAFETY: the caller passes null or a block of malloc's that nobody uses any more.
    unsafe { libc::free(p.cast()) }
}
