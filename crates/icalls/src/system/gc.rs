//! Native half of System.GC.
//!
//! Keeps nothing: it asks the runtime's collector ([`vervet_runtime::memory::gc`]). Notifications of full collections, regions
//! without collections and latency modes are decided in managed code (mono has none of them).
use vervet_runtime::memory::gc;
use vervet_runtime::{ObjRef, icalls};

icalls! {
    "System.GC::GetCollectionCount" fn get_collection_count(cx, generation: i32) -> i32 { Ok(gc::collection_count(generation)) }
    "System.GC::GetMaxGeneration" fn get_max_generation(cx) -> i32 { Ok(gc::max_generation()) }
    "System.GC::InternalCollect" fn internal_collect(cx, generation: i32) {
        gc::collect(cx, generation, true);
        Ok(())
    }
    "System.GC::RecordPressure" fn record_pressure(cx, bytes: i64) {
        gc::add_memory_pressure(cx, bytes);
        Ok(())
    }
    "System.GC::register_ephemeron_array" fn register_ephemeron_array(cx, array: ObjRef<'cx>) {
        gc::register_ephemerons(cx, cx.non_null(array)?);
        Ok(())
    }
    "System.GC::get_ephemeron_tombstone" fn get_ephemeron_tombstone(cx) -> ObjRef<'cx> { gc::ephemeron_tombstone(cx) }
    "System.GC::GetAllocatedBytesForCurrentThread" fn get_allocated_bytes_for_current_thread(cx) -> i64 { Ok(gc::allocated_bytes_of_this_thread(cx)) }
    "System.GC::GetGeneration" fn get_generation(cx, obj: ObjRef<'cx>) -> i32 { Ok(gc::generation_of(obj)) }
    "System.GC::WaitForPendingFinalizers" fn wait_for_pending_finalizers(cx) {
        gc::wait_for_pending_finalizers(cx);
        Ok(())
    }
    "System.GC::_SuppressFinalize" fn suppress_finalize(cx, o: ObjRef<'cx>) {
        gc::suppress_finalize(cx.non_null(o)?);
        Ok(())
    }
    "System.GC::_ReRegisterForFinalize" fn re_register_for_finalize(cx, o: ObjRef<'cx>) {
        gc::reregister_for_finalize(cx, cx.non_null(o)?);
        Ok(())
    }
    "System.GC::GetTotalMemory" fn get_total_memory(cx, force: bool) -> i64 { Ok(gc::total_memory(cx, force)) }
}
