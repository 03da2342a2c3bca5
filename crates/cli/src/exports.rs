//! What native libraries of the class library (libmono-native, `__Internal`) find in the process.
//!
//! # Invariants
//! The names are those of build.rs, which makes the linker export them; [`KEEP`] makes it keep them.
use std::ffi::{CStr, c_char, c_int, c_void};

/// Keeps the functions in the executable.
#[used]
static KEEP: [unsafe extern "C" fn(); 8] = [
    keep(mono_add_internal_call_with_flags as *const ()),
    keep(mono_marshal_set_last_error as *const ()),
    keep(mono_threads_enter_gc_safe_region_internal as *const ()),
    keep(mono_threads_exit_gc_safe_region_internal as *const ()),
    keep(mono_win32_compat_CopyMemory as *const ()),
    keep(mono_win32_compat_FillMemory as *const ()),
    keep(mono_win32_compat_MoveMemory as *const ()),
    keep(mono_win32_compat_ZeroMemory as *const ()),
];
pub(crate) const fn keep(f: *const ()) -> unsafe extern "C" fn() {
    // SAFETY: only the address is kept; nobody calls through this type.
    unsafe { std::mem::transmute(f) }
}

/// Registers an internal call of a native library.
///
/// # Safety
/// `name` is a C string, `function` has the signature the managed declaration says.
#[unsafe(no_mangle)]
unsafe extern "C" fn mono_add_internal_call_with_flags(
    name: *const c_char,
    function: *const c_void,
    _cooperative: c_int,
) {
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) }
        .to_string_lossy()
        .into_owned();
    vervet_runtime::code::icall::register(name, function as usize);
}
/// Saves errno as the thread's last error.
#[unsafe(no_mangle)]
extern "C" fn mono_marshal_set_last_error() {
    vervet_runtime::threads::native_state::save_last_error();
}
/// Native code is about to block.
///
/// # Safety
/// Called by native code that holds no reference to an object.
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
    vervet_runtime::threads::native_state::leave_safe_region(cookie as usize);
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
