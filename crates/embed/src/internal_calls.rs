//! Functions of a host that managed code calls, and what native libraries of the class library want of the runtime.
//!
//! # Invariants
//! A host's function runs in Foreign state: the references that it is given stay in place while it runs.
use crate::support::{Bool, read};
use std::ffi::{c_char, c_void};
use vervet_runtime::code::icall;
use vervet_runtime::threads::native_state;

/// `Namespace.Class::Method`, or the same with `(int,string)`.
fn add(name: &str, function: *const c_void) {
    // Blanks and a single colon are as good, as in descriptions.
    let name: String = name.chars().filter(|c| !c.is_whitespace()).collect();
    icall::register_foreign(name, function as usize);
}

api! {
    fn mono_add_internal_call(name: *const c_char, function: *const c_void) { add(&read(name), function); }
    fn mono_add_internal_call_with_flags(name: *const c_char, function: *const c_void, _cooperative: Bool) { add(&read(name), function); }
    fn mono_add_internal_call_internal(name: *const c_char, function: *const c_void) { add(&read(name), function); }
    fn mono_dangerous_add_raw_internal_call(name: *const c_char, function: *const c_void) { add(&read(name), function); }
}

/// Saves errno as the thread's last error.
#[unsafe(no_mangle)]
extern "C" fn mono_marshal_set_last_error() {
    native_state::save_last_error();
}
/// Native code that holds no reference is about to block.
///
/// # Safety
/// Called by native code.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn mono_threads_enter_gc_safe_region_internal(
    _stack: *mut c_void,
) -> *mut c_void {
    std::arch::naked_asm!("jmp {f}", f = sym vervet_runtime::arch::enter_safe_region)
}
/// Native code has blocked.
#[unsafe(no_mangle)]
extern "C" fn mono_threads_exit_gc_safe_region_internal(cookie: *mut c_void, _stack: *mut c_void) {
    native_state::leave_safe_region(cookie as usize);
}
/// As `mono_threads_enter_gc_safe_region_internal`, for hosts.
///
/// # Safety
/// Called by native code.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn mono_threads_enter_gc_safe_region(_stack: *mut c_void) -> *mut c_void {
    std::arch::naked_asm!("jmp {f}", f = sym vervet_runtime::arch::enter_safe_region)
}
/// Native code has blocked.
#[unsafe(no_mangle)]
extern "C" fn mono_threads_exit_gc_safe_region(cookie: *mut c_void, _stack: *mut c_void) {
    native_state::leave_safe_region(cookie as usize);
}
/// kernel32's CopyMemory.
///
/// # Safety
/// As memcpy.
#[unsafe(no_mangle)]
unsafe extern "C" fn mono_win32_compat_CopyMemory(to: *mut c_void, from: *const c_void, n: usize) {
    // SAFETY: the caller's promise.
    unsafe { libc::memcpy(to, from, n) };
}
/// kernel32's MoveMemory.
///
/// # Safety
/// As memmove.
#[unsafe(no_mangle)]
unsafe extern "C" fn mono_win32_compat_MoveMemory(to: *mut c_void, from: *const c_void, n: usize) {
    // SAFETY: the caller's promise.
    unsafe { libc::memmove(to, from, n) };
}
/// kernel32's FillMemory.
///
/// # Safety
/// As memset.
#[unsafe(no_mangle)]
unsafe extern "C" fn mono_win32_compat_FillMemory(to: *mut c_void, n: usize, value: u8) {
    // SAFETY: the caller's promise.
    unsafe { libc::memset(to, i32::from(value), n) };
}
/// kernel32's ZeroMemory.
///
/// # Safety
/// As memset.
#[unsafe(no_mangle)]
unsafe extern "C" fn mono_win32_compat_ZeroMemory(to: *mut c_void, n: usize) {
    // SAFETY: the caller's promise.
    unsafe { libc::memset(to, 0, n) };
}
