//! The profiler API: callbacks of a host for what happens in the runtime.
//!
//! # Invariants
//! * A callback that can be set is kept; jit_done, thread_started, domain_loaded, image_loaded, assembly_loaded,
//!   runtime_initialized, runtime_shutdown_begin and runtime_shutdown_end are called, in Foreign state, with what the header says. The others never are:
//!   what they tell of is not told by this runtime.
//! * Callbacks are set before what they tell of happens: one more costs a list that is read without a lock held during calls.
use crate::support::{Bool, Object, fail};
use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;
use vervet_os::{LeafLock, Published};
use vervet_runtime::ObjRef;
use vervet_runtime::cx::Cx;
use vervet_runtime::memory::roots::Root;
use vervet_runtime::process::host_events::{self, HostEvents};
use vervet_types::Assembly;

/// A `MonoProfilerHandle`.
pub struct Handle {
    profiler: usize,
}

type Row = (&'static str, usize, usize);
/// Event, callback, profiler.
static CALLBACKS: LeafLock<Option<Arc<Vec<Row>>>> = LeafLock::new(None);
static MAIN: Published<Root> = Published::new();

fn put(event: &'static str, handle: *const Handle, callback: *const c_void) {
    // SAFETY: the host passes a handle that it was given.
    let profiler = unsafe { (*handle).profiler };
    let mut all = CALLBACKS.lock();
    let mut new = all.as_deref().cloned().unwrap_or_default();
    new.retain(|row| (row.0, row.2) != (event, profiler));
    if !callback.is_null() {
        new.push((event, callback as usize, profiler));
    }
    *all = Some(Arc::new(new));
}

/// Calls every callback of the event. Called in Runtime state.
fn fire(event: &str, call: impl Fn(usize, *mut c_void)) {
    let Some(all) = CALLBACKS.lock().clone() else {
        return;
    };
    for (_, callback, profiler) in all.iter().filter(|row| row.0 == event) {
        crate::support::outside(|| call(*callback, *profiler as *mut c_void));
    }
}
/// Fires an event with one word.
fn fire_word(event: &str, word: usize) {
    fire(event, |callback, profiler| {
        // SAFETY: the callback takes the profiler and a word, as the header says.
        unsafe {
            let callback: unsafe extern "C" fn(*mut c_void, usize) = std::mem::transmute(callback);
            callback(profiler, word);
        }
    });
}
fn fire_nothing(event: &str) {
    fire_word(event, 0);
}

/// The runtime has started on this thread.
pub fn started(cx: &'static Cx<'static>) {
    // SAFETY: the context is the calling thread's; the word is its Thread.
    let thread: ObjRef<'_> = unsafe { ObjRef::from_addr((*cx.context()).thread_object) };
    MAIN.put(Root::of(thread));
    host_events::set(HostEvents {
        jit_done: |_, method, code| {
            fire("jit_done", |callback, profiler| {
                // SAFETY: the callback takes the profiler, the method and its code, as the header says.
                unsafe {
                    let callback: unsafe extern "C" fn(*mut c_void, *const c_void, *const c_void) =
                        std::mem::transmute(callback);
                    callback(
                        profiler,
                        std::ptr::from_ref(method).cast(),
                        std::ptr::from_ref(code).cast(),
                    );
                }
            });
        },
        thread_started: |_, tid| fire_word("thread_started", tid as usize),
        domain_made: |domain| fire_word("domain_loaded", std::ptr::from_ref(domain) as usize),
    });
    fire_word("domain_loaded", std::ptr::from_ref(cx.domain()) as usize);
    fire_word("thread_started", crate::threads::tid(cx) as usize);
    fire_nothing("runtime_initialized");
}
/// The runtime ends.
pub fn ending(_cx: &Cx<'_>) {
    fire_nothing("runtime_shutdown_begin");
    fire_nothing("runtime_shutdown_end");
}
/// An assembly was loaded.
pub fn assembly_loaded(assembly: &'static Assembly) {
    fire_word(
        "image_loaded",
        std::ptr::from_ref(assembly.manifest) as usize,
    );
    fire_word("assembly_loaded", std::ptr::from_ref(assembly) as usize);
}
/// The Thread of the thread that started the runtime.
pub fn main_thread() -> Object {
    MAIN.get().map_or(std::ptr::null_mut(), |root| {
        crate::support::address(root.get())
    })
}

macro_rules! events { ($($name:ident $event:literal)*) => { api! { $(
    fn $name(handle: *const Handle, callback: *const c_void) { put($event, handle, callback); }
)* } } }
api! {
    fn mono_profiler_create(profiler: *mut c_void) -> *const Handle { Box::into_raw(Box::new(Handle { profiler: profiler as usize })) }
    /// Loads `libmono-profiler-NAME.so` and calls its `mono_profiler_init_NAME`.
    fn mono_profiler_load(description: *const c_char) {
        let description = crate::support::read(description);
        let name = description.split([':', '=']).next().unwrap_or("").to_string();
        let library = std::ffi::CString::new(format!("libmono-profiler-{name}.so")).unwrap_or_default();
        let symbol = std::ffi::CString::new(format!("mono_profiler_init_{name}")).unwrap_or_default();
        let opened = libc::dlopen(library.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL);
        let init = if opened.is_null() { libc::dlsym(libc::RTLD_DEFAULT, symbol.as_ptr()) } else { libc::dlsym(opened, symbol.as_ptr()) };
        if init.is_null() {
            eprintln!("The '{name}' profiler wasn't found in the main executable nor could it be loaded from 'mono-profiler-{name}'.");
            return;
        }
        let init: unsafe extern "C" fn(*const c_char) = std::mem::transmute(init);
        init(crate::support::text(&description));
    }
    fn mono_profiler_enable_coverage() -> Bool { 0 }
    fn mono_profiler_get_coverage_data(_handle: *const Handle, _method: *const c_void, _callback: *const c_void) -> Bool { 0 }
    fn mono_profiler_enable_sampling(_handle: *const Handle) -> Bool { 0 }
    fn mono_profiler_set_sample_mode(_handle: *const Handle, _mode: c_int, _frequency: u32) -> Bool { 0 }
    fn mono_profiler_get_sample_mode(_handle: *const Handle, mode: *mut c_int, frequency: *mut u32) -> Bool {
        crate::support::set(mode, 0);
        crate::support::set(frequency, 100);
        0
    }
    fn mono_profiler_enable_allocations() -> Bool { 0 }
    fn mono_profiler_enable_clauses() -> Bool { 0 }
    fn mono_profiler_enable_call_context_introspection() -> Bool { 0 }
    fn mono_profiler_call_context_get_this(_context: *const c_void) -> *const c_void { fail("mono_profiler_call_context_get_this: introspection was not enabled") }
    fn mono_profiler_call_context_get_argument(_context: *const c_void, _position: u32) -> *const c_void { fail("mono_profiler_call_context_get_argument: introspection was not enabled") }
    fn mono_profiler_call_context_get_local(_context: *const c_void, _position: u32) -> *const c_void { fail("mono_profiler_call_context_get_local: introspection was not enabled") }
    fn mono_profiler_call_context_get_result(_context: *const c_void) -> *const c_void { fail("mono_profiler_call_context_get_result: introspection was not enabled") }
    fn mono_profiler_call_context_free_buffer(buffer: *mut c_void) { libc::free(buffer); }
}
events! {
    mono_profiler_set_cleanup_callback "cleanup"
    mono_profiler_set_coverage_filter_callback "coverage_filter"
    mono_profiler_set_call_instrumentation_filter_callback "call_instrumentation_filter"
    mono_profiler_set_runtime_initialized_callback "runtime_initialized"
    mono_profiler_set_runtime_shutdown_begin_callback "runtime_shutdown_begin"
    mono_profiler_set_runtime_shutdown_end_callback "runtime_shutdown_end"
    mono_profiler_set_context_loaded_callback "context_loaded"
    mono_profiler_set_context_unloaded_callback "context_unloaded"
    mono_profiler_set_domain_loading_callback "domain_loading"
    mono_profiler_set_domain_loaded_callback "domain_loaded"
    mono_profiler_set_domain_unloading_callback "domain_unloading"
    mono_profiler_set_domain_unloaded_callback "domain_unloaded"
    mono_profiler_set_domain_name_callback "domain_name"
    mono_profiler_set_jit_begin_callback "jit_begin"
    mono_profiler_set_jit_failed_callback "jit_failed"
    mono_profiler_set_jit_done_callback "jit_done"
    mono_profiler_set_jit_chunk_created_callback "jit_chunk_created"
    mono_profiler_set_jit_chunk_destroyed_callback "jit_chunk_destroyed"
    mono_profiler_set_jit_code_buffer_callback "jit_code_buffer"
    mono_profiler_set_class_loading_callback "class_loading"
    mono_profiler_set_class_failed_callback "class_failed"
    mono_profiler_set_class_loaded_callback "class_loaded"
    mono_profiler_set_vtable_loading_callback "vtable_loading"
    mono_profiler_set_vtable_failed_callback "vtable_failed"
    mono_profiler_set_vtable_loaded_callback "vtable_loaded"
    mono_profiler_set_image_loading_callback "image_loading"
    mono_profiler_set_image_failed_callback "image_failed"
    mono_profiler_set_image_loaded_callback "image_loaded"
    mono_profiler_set_image_unloading_callback "image_unloading"
    mono_profiler_set_image_unloaded_callback "image_unloaded"
    mono_profiler_set_assembly_loading_callback "assembly_loading"
    mono_profiler_set_assembly_loaded_callback "assembly_loaded"
    mono_profiler_set_assembly_unloading_callback "assembly_unloading"
    mono_profiler_set_assembly_unloaded_callback "assembly_unloaded"
    mono_profiler_set_method_enter_callback "method_enter"
    mono_profiler_set_method_leave_callback "method_leave"
    mono_profiler_set_method_tail_call_callback "method_tail_call"
    mono_profiler_set_method_exception_leave_callback "method_exception_leave"
    mono_profiler_set_method_free_callback "method_free"
    mono_profiler_set_method_begin_invoke_callback "method_begin_invoke"
    mono_profiler_set_method_end_invoke_callback "method_end_invoke"
    mono_profiler_set_exception_throw_callback "exception_throw"
    mono_profiler_set_exception_clause_callback "exception_clause"
    mono_profiler_set_gc_event_callback "gc_event"
    mono_profiler_set_gc_allocation_callback "gc_allocation"
    mono_profiler_set_gc_moves_callback "gc_moves"
    mono_profiler_set_gc_resize_callback "gc_resize"
    mono_profiler_set_gc_handle_created_callback "gc_handle_created"
    mono_profiler_set_gc_handle_deleted_callback "gc_handle_deleted"
    mono_profiler_set_gc_finalizing_callback "gc_finalizing"
    mono_profiler_set_gc_finalized_callback "gc_finalized"
    mono_profiler_set_gc_finalizing_object_callback "gc_finalizing_object"
    mono_profiler_set_gc_finalized_object_callback "gc_finalized_object"
    mono_profiler_set_gc_root_register_callback "gc_root_register"
    mono_profiler_set_gc_root_unregister_callback "gc_root_unregister"
    mono_profiler_set_gc_roots_callback "gc_roots"
    mono_profiler_set_monitor_contention_callback "monitor_contention"
    mono_profiler_set_monitor_failed_callback "monitor_failed"
    mono_profiler_set_monitor_acquired_callback "monitor_acquired"
    mono_profiler_set_thread_started_callback "thread_started"
    mono_profiler_set_thread_stopping_callback "thread_stopping"
    mono_profiler_set_thread_stopped_callback "thread_stopped"
    mono_profiler_set_thread_exited_callback "thread_exited"
    mono_profiler_set_thread_name_callback "thread_name"
    mono_profiler_set_sample_hit_callback "sample_hit"
}
