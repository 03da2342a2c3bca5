//! Threads of a host: attached, detached, named, made.
//!
//! # Invariants
//! * An attached thread is in Foreign state outside of this library. One that ends attached is detached by its thread-specific key.
//! * `mono_thread_attach` gives the same object as long as the thread is attached, and a thread in the foreground; `mono_jit_thread_attach` one in
//!   the background, as in mono.
use crate::domains;
use crate::support::{Bool, Object, fail, new_text, object};
use std::ffi::{c_char, c_void};
use std::mem::offset_of;
use vervet_abi::layouts::{InternalThreadObject, ThreadObject};
use vervet_runtime::ObjRef;
use vervet_runtime::cx::Cx;
use vervet_runtime::domain::Domain;
use vervet_runtime::runtime::rt_opt;
use vervet_runtime::threads::{current_context, foreign, identity, name};

/// The calling thread's Thread object.
fn current() -> Object {
    let context = current_context();
    if context.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: the context is the calling thread's.
    unsafe { (*context).thread_object as Object }
}

fn attach(what: &str, background: bool) -> bool {
    if rt_opt().is_none() {
        fail(&format!("{what}: the runtime has not been started"));
    }
    match foreign::attach(background) {
        Ok(before) => before,
        Err(_) => fail(&format!("{what}: there is no memory for a thread")),
    }
}

/// The InternalThread of a Thread.
fn internal<'cx>(thread: ObjRef<'cx>) -> ObjRef<'cx> {
    thread.read_ref(offset_of!(ThreadObject, internal_thread))
}

/// Attaches the calling thread.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_thread_attach(domain: *const Domain) -> Object {
    let _ = domain;
    attach("mono_thread_attach", false);
    let _entered = foreign::enter();
    current()
}
/// Attaches the calling thread in the background; its domain before, or null.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_jit_thread_attach(domain: *const Domain) -> Option<&'static Domain> {
    let _ = domain;
    let before = attach("mono_jit_thread_attach", true);
    domains::current().filter(|_| before)
}
/// Attaches the calling thread for some calls; the cookie says whether it was attached.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_threads_attach_coop(
    domain: *const Domain,
    stack: *mut *mut c_void,
) -> *mut c_void {
    let _ = (domain, stack);
    attach("mono_threads_attach_coop", true);
    std::ptr::null_mut()
}
/// Ends what `mono_threads_attach_coop` began; the thread stays attached, as in mono.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_threads_detach_coop(cookie: *mut c_void, stack: *mut *mut c_void) {
    let _ = (cookie, stack);
}
/// Detaches the calling thread, on which no managed code is.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_thread_detach(thread: Object) {
    // As in mono: the argument names the calling thread.
    let _ = thread;
    foreign::detach();
}
/// Detaches the calling thread if it is on its way out.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_thread_detach_if_exiting() -> Bool {
    0
}

api! {
    fn mono_thread_current() -> Object { current() }
    fn mono_thread_init(_start: *const c_void, _attach: *const c_void) {}
    fn mono_thread_cleanup() {}
    fn mono_thread_new_init(_tid: isize, _stack: *const c_void, _function: *const c_void) {}
    fn mono_thread_set_main(_thread: Object) {}
    fn mono_threads_attach_tools_thread() {}
    fn mono_threads_set_default_stacksize(_size: u32) {}
    fn mono_threads_get_default_stacksize() -> u32 { 0 }
    fn mono_thread_set_manage_callback(_thread: Object, _callback: *const c_void) {}
    fn mono_threads_request_thread_dump() { libc::raise(libc::SIGQUIT); }
    fn mono_install_threadpool_thread_hooks(_start: *const c_void, _finish: *const c_void) {}
}

object_api! {
    fn mono_thread_get_main(cx;) -> Object { crate::profiler::main_thread() }
    fn mono_thread_get_managed_id(cx; thread: Object) -> i32 {
        internal(object(thread)).read::<i32>(offset_of!(InternalThreadObject, managed_id))
    }
    fn mono_thread_get_name_utf8(cx; thread: Object) -> *mut c_char {
        match name::get(internal(object(thread))) {
            Some(units) => new_text(&String::from_utf16_lossy(&units)),
            None => std::ptr::null_mut(),
        }
    }
    fn mono_thread_is_foreign(cx; thread: Object) -> Bool { Bool::from(thread != crate::profiler::main_thread()) }
    fn mono_thread_stop(cx; thread: Object) {}
    /// Ends the calling thread, which has no managed code on its stack.
    fn mono_thread_exit(cx;) {
        foreign::detach();
        libc::pthread_exit(std::ptr::null_mut());
    }
    /// Starts a thread that is attached and calls the function.
    fn mono_thread_create(cx; _domain: *const Domain, function: Option<unsafe extern "C" fn(*mut c_void) -> u32>, arg: *mut c_void) {
        let Some(function) = function else { return };
        let arg = arg as usize;
        let (told, started) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            attach("mono_thread_create", false);
            let _ = told.send(());
            // SAFETY: the host's function, called as its type says.
            unsafe { function(arg as *mut c_void) };
        });
        // It is attached when this returns. It may have to wait for a stop, so this thread must be stoppable.
        let _ = cx.native(|| started.recv());
    }
}

/// The identity of the calling thread for the parts that number threads.
pub fn tid(cx: &'static Cx<'static>) -> u64 {
    let internal = identity::current_internal(cx);
    internal.read::<u64>(offset_of!(InternalThreadObject, thread_id))
}
