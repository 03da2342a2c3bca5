//! What the class library asks of the collector: collections, figures, finalizers, ephemerons.
//!
//! # Map
//! * `the_heap`: the one heap, and how it is made; [`options`]: what users tell it
//! * [`object_model`]: what the collector asks of an object; `world`: what it asks of the process
//! * `parked`: what it asks about green threads that are parked
//! * `pressure`: memory that the program has outside the heap
//!
//! # Invariants
//! What is asked here is asked in Runtime state: the calling thread can be stopped inside a collection that it waits for.
pub mod object_model;
pub mod options;
mod parked;
mod pressure;
mod report;
mod the_heap;
mod world;

use crate::cx::{Cx, Result};
use crate::memory::roots::Root;
use crate::object::ObjRef;
#[cfg(test)]
pub(crate) use the_heap::for_tests;
pub use the_heap::{TheHeap, heap, initialise, report};
pub(crate) use the_heap::{close_tlab, tlab};
use vervet_abi::VTable;
use vervet_types::Known;

/// Zeroes `WORDS` words of stack below the caller's frame, so that words which dead frames left there are not taken for references
/// when later frames cover them without writing to them.
#[inline(never)]
pub(crate) fn clear_stack_below<const WORDS: usize>() {
    let mut dead = [0u64; WORDS];
    std::hint::black_box(&mut dead);
}

/// Collects generation 0 up to `generation` (-1: all).
pub fn collect(_cx: &Cx<'_>, generation: i32, _blocking: bool) {
    clear_stack_below::<256>();
    if generation == 0 {
        heap().collect_minor();
    } else {
        heap().collect_all();
    }
}

/// The oldest generation.
pub fn max_generation() -> i32 {
    1
}
/// The next major collection, which begins soon, makes a heapshot of the recording. Any thread may call it, attached or not. False: nothing is recorded.
pub fn request_heapshot() -> bool {
    let records = crate::profiler::heapshot::request();
    if records {
        heap().ask_for_major();
    }
    records
}

/// Collections so far of a generation, or of an older one that included it.
pub fn collection_count(generation: i32) -> i32 {
    match generation {
        0 => heap().minor_count() as i32,
        _ => heap().major_count() as i32,
    }
}

/// Bytes that live objects take, or may take; with `force`, after a full collection.
pub fn total_memory(cx: &Cx<'_>, force: bool) -> i64 {
    if force {
        collect(cx, -1, true);
    }
    heap().bytes() as i64
}

/// Bytes that the calling thread has allocated so far.
pub fn allocated_bytes_of_this_thread(cx: &Cx<'_>) -> i64 {
    // SAFETY: the context belongs to this thread.
    unsafe { tlab(cx.context()) }.allocated() as i64
}

/// The generation of an object; null counts as old.
pub fn generation_of(object: ObjRef<'_>) -> i32 {
    i32::from(object.is_null() || !heap().is_young(object.addr()))
}

/// The program has (or, if negative, has no longer) so much memory that the collector does not see.
pub fn add_memory_pressure(_cx: &Cx<'_>, bytes: i64) {
    if pressure::change(bytes, heap().old_bytes()) {
        heap().ask_for_major();
    }
}

// ---- finalizers -----------------------------------------------------------------------------------------------------

/// The object's finalizer is to run when nothing else refers to it.
pub fn register_finalizer(object: ObjRef<'_>) {
    if !crate::memory::finalizer_requests::is_ending() {
        heap().register_finalizer(object.addr());
    }
}

/// The object's finalizer is not to run.
pub fn suppress_finalize(object: ObjRef<'_>) {
    heap().suppress_finalizer(object.addr());
}

/// The object's finalizer is to run (again); nothing if its class has none.
pub fn reregister_for_finalize(_cx: &Cx<'_>, object: ObjRef<'_>) {
    if object.vtable().flags & vervet_abi::vtable::flags::FINALIZER != 0 {
        register_finalizer(object);
    }
}

/// Takes the next object whose finalizer is to run now.
pub fn next_finalizable<'cx>(_cx: &'cx Cx<'cx>) -> Option<ObjRef<'cx>> {
    // SAFETY: the collector has kept the object; nothing stops this thread before it is in this frame.
    heap()
        .finalizers
        .next()
        .map(|o| unsafe { ObjRef::from_addr(o) })
}

/// The VTable of an object that is registered for its finalizer.
///
/// # Safety
/// The world is stopped, and the object is registered.
unsafe fn vtable_of<'v>(object: usize) -> &'v VTable {
    // SAFETY: a registered object lives, and its header is the address of its VTable. VTables are never freed.
    unsafe { &*(*(object as *const u32) as usize as *const VTable) }
}

/// Queues every registered object; returns whether there are any. The process ends. Those of the program's own classes come first, because their
/// finalizers may still use the streams and handles of the class libraries (under mono these are usually finalized later, too). Of each the last registered
/// comes first; critical ones come last.
pub fn queue_all_finalizers(cx: &Cx<'_>) -> bool {
    let libraries = cx.rt().root.loader.class_libraries();
    heap().queue_all_finalizers(|object| {
        // SAFETY: the heap asks for registered objects, while the world is stopped.
        let module = crate::classes::vtables::class_of(unsafe { vtable_of(object) }).module;
        !libraries.contains(&module.id)
    });
    heap().finalizers.waiting() > 0
}

/// Queues every registered object of a domain, reachable or not: the domain is being unloaded. Those of the program's own classes come first, as at the
/// end of the process.
pub fn queue_finalizers_of(_cx: &Cx<'_>, domain: u32) {
    for neutral in [false, true] {
        heap().queue_finalizers_where(|object| {
            // SAFETY: the heap asks for registered objects, while the world is stopped.
            let vtable = unsafe { vtable_of(object) };
            let is_neutral = crate::classes::vtables::class_of(vtable).module.owner == 0;
            vtable.domain == domain && is_neutral == neutral
        });
    }
}

// ---- ephemerons -----------------------------------------------------------------------------------------------------

/// The object that stands for a dead key.
pub fn ephemeron_tombstone<'cx>(cx: &'cx Cx<'cx>) -> Result<ObjRef<'cx>> {
    if let Some(object) = world::tombstone() {
        return Ok(object.get());
    }
    let object = cx.alloc(cx.known(Known::Object))?;
    Ok(world::set_tombstone(Root::of(object)).get())
}

/// The elements of the array are ephemerons: a value lives as long as its key; a dead key becomes the tombstone and its
/// value null. The model knows such arrays by their class.
pub fn register_ephemerons(_cx: &Cx<'_>, _array: ObjRef<'_>) {}
