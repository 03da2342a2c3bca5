//! Native half of System.GC.
//!
//! Keeps nothing: it asks the runtime's collector ([`vervet_runtime::memory::gc`]). Notifications of full collections, regions
//! without collections and latency modes are decided in managed code (mono has none of them).
use vervet_runtime::memory::gc;
use vervet_runtime::{ObjRef, icalls};

icalls! {
    /// How many collections of at least this generation there have been.
    "System.GC::GetCollectionCount" fn get_collection_count(cx, generation: i32) -> i32 { Ok(gc::collection_count(generation)) }
    /// The number of the oldest generation.
    "System.GC::GetMaxGeneration" fn get_max_generation(cx) -> i32 { Ok(gc::max_generation()) }
    /// Collects up to a generation and returns when that collection is over.
    "System.GC::InternalCollect" fn internal_collect(cx, generation: i32) {
        gc::collect(cx, generation, true);
        Ok(())
    }
    /// Adds to the native memory, in bytes, that makes collections more frequent; a negative number subtracts.
    "System.GC::RecordPressure" fn record_pressure(cx, bytes: i64) {
        gc::add_memory_pressure(cx, bytes);
        Ok(())
    }
    /// Tells the collector that the elements of this array are ephemerons (ConditionalWeakTable).
    "System.GC::register_ephemeron_array" fn register_ephemeron_array(cx, array: ObjRef<'cx>) {
        gc::register_ephemerons(cx, cx.non_null(array)?);
        Ok(())
    }
    /// The object that takes the place of the key of a dead ephemeron.
    "System.GC::get_ephemeron_tombstone" fn get_ephemeron_tombstone(cx) -> ObjRef<'cx> { gc::ephemeron_tombstone(cx) }
    /// Bytes that the calling thread has allocated since it was attached.
    "System.GC::GetAllocatedBytesForCurrentThread" fn get_allocated_bytes_for_current_thread(cx) -> i64 { Ok(gc::allocated_bytes_of_this_thread(cx)) }
    /// The generation of an object.
    "System.GC::GetGeneration" fn get_generation(cx, obj: ObjRef<'cx>) -> i32 { Ok(gc::generation_of(obj)) }
    /// Waits until the finalizer thread has run what was queued before the call.
    "System.GC::WaitForPendingFinalizers" fn wait_for_pending_finalizers(cx) {
        vervet_runtime::memory::finalizer::wait_for_pending(cx);
        Ok(())
    }
    /// Removes the object's finalizer registration.
    "System.GC::_SuppressFinalize" fn suppress_finalize(cx, o: ObjRef<'cx>) {
        gc::suppress_finalize(cx.non_null(o)?);
        Ok(())
    }
    /// Registers the object's finalizer again.
    "System.GC::_ReRegisterForFinalize" fn re_register_for_finalize(cx, o: ObjRef<'cx>) {
        gc::reregister_for_finalize(cx, cx.non_null(o)?);
        Ok(())
    }
    /// Bytes in use by objects; with `force`, after a full collection.
    "System.GC::GetTotalMemory" fn get_total_memory(cx, force: bool) -> i64 { Ok(gc::total_memory(cx, force)) }
}
