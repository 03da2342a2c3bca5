//! Native half of System.GC.
//!
//! Keeps the ephemeron tombstone (one object, in a root). There is no collection yet: a request to collect has
//! nothing to do, and no finalizer is ever pending.
use vervet_os::Published;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::roots::Root;
use vervet_runtime::{ObjRef, heap, icalls};
use vervet_types::Known;

static TOMBSTONE: Published<Root> = Published::new();

/// The object that stands for a dead key.
pub fn tombstone<'cx>(cx: &'cx Cx<'cx>) -> Result<ObjRef<'cx>> {
    if let Some(root) = TOMBSTONE.get() {
        return Ok(root.get());
    }
    let object = cx.alloc(cx.known(Known::Object))?;
    Ok(TOMBSTONE.put(Root::of(object)).get())
}

icalls! { "System.GC" =>
    "GetCollectionCount" fn get_collection_count(cx, generation: i32) -> i32 { Ok(0) }
    "GetMaxGeneration" fn get_max_generation(cx) -> i32 { Ok(1) }
    "InternalCollect" fn internal_collect(cx, generation: i32) { Ok(()) }
    /// A hint that nothing uses.
    "RecordPressure" fn record_pressure(cx, bytes: i64) { Ok(()) }
    /// Nothing dies yet, so every entry stays.
    "register_ephemeron_array" fn register_ephemeron_array(cx, array: ObjRef<'cx>) { cx.non_null(array).map(drop) }
    "get_ephemeron_tombstone" fn get_ephemeron_tombstone(cx) -> ObjRef<'cx> { tombstone(cx) }
    "GetAllocatedBytesForCurrentThread" fn get_allocated_bytes_for_current_thread(cx) -> i64 { Ok(heap::bytes_used() as i64) }
    "GetGeneration" fn get_generation(cx, obj: ObjRef<'cx>) -> i32 { cx.non_null(obj).map(|_| 0) }
    "WaitForPendingFinalizers" fn wait_for_pending_finalizers(cx) { Ok(()) }
    /// Nothing is finalized yet.
    "_SuppressFinalize" fn suppress_finalize(cx, o: ObjRef<'cx>) { Ok(()) }
    "_ReRegisterForFinalize" fn re_register_for_finalize(cx, o: ObjRef<'cx>) {
        vervet_runtime::handles::register_finalizer(o);
        Ok(())
    }
    "GetTotalMemory" fn get_total_memory(cx, force: bool) -> i64 { Ok(heap::bytes_used() as i64) }
}
