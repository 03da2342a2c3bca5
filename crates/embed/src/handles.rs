//! GC handles, and what a host may ask of the collector.
use crate::support::{Bool, Object, address, object};
use std::ffi::{c_char, c_int, c_void};
use vervet_runtime::Cx;
use vervet_runtime::memory::gc;
use vervet_runtime::memory::handles::{self, HandleKind};

fn new(cx: &'static Cx<'static>, target: Object, kind: HandleKind) -> u32 {
    // SAFETY: the host passes an object.
    match handles::alloc_or_throw(cx, unsafe { object(target) }, kind) {
        Ok(handle) => handle,
        Err(throw) => {
            let _ = cx.take_pending(throw);
            0
        }
    }
}

object_api! {
    fn mono_gchandle_new(cx; target: Object, pinned: Bool) -> u32 {
        new(cx, target, if pinned != 0 { HandleKind::Pinned } else { HandleKind::Normal })
    }
    fn mono_gchandle_new_weakref(cx; target: Object, track: Bool) -> u32 {
        new(cx, target, if track != 0 { HandleKind::WeakTrackResurrection } else { HandleKind::Weak })
    }
    fn mono_gchandle_get_target(cx; handle: u32) -> Object { handles::target(handle).map_or(std::ptr::null_mut(), address) }
    fn mono_gchandle_free(cx; handle: u32) {
        if handle != 0 {
            handles::free_by_token(cx, handle);
        }
    }
    fn mono_gc_collect(cx; generation: c_int) { gc::collect(cx, generation, true); }
    fn mono_gc_get_generation(cx; target: Object) -> c_int { gc::generation_of(object(target)) }
    fn mono_gc_get_used_size(cx;) -> i64 { gc::total_memory(cx, false) }
    fn mono_gc_get_heap_size(cx;) -> i64 { gc::total_memory(cx, false) }
    fn mono_gc_invoke_finalizers(cx;) -> c_int {
        vervet_runtime::memory::finalizer::wait_for_pending(cx);
        0
    }
}

api! {
    fn mono_gc_max_generation() -> c_int { gc::max_generation() }
    fn mono_gc_collection_count(generation: c_int) -> c_int { gc::collection_count(generation) }
    fn mono_gc_pending_finalizers() -> u8 { 0 }
    fn mono_gc_finalize_notify() { vervet_runtime::memory::finalizer::request(); }
    fn mono_gc_is_gc_thread() -> Bool { Bool::from(!vervet_runtime::threads::current_context().is_null()) }
    fn mono_gc_get_gc_name() -> *const c_char { crate::support::text("sgen") }
    fn mono_gc_wait_for_bridge_processing() {}
    fn mono_gc_register_bridge_callbacks(_callbacks: *const c_void) {}
}
