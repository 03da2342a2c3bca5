//! What the class library asks of the collector: collections, figures, finalizer registrations, ephemerons.
//!
//! # Invariants
//! * An object is registered for finalization at most once at a time; it is handed out by [`next_finalizable`] once per
//!   registration, ordinary objects before critical ones.
//! * After [`queue_all_finalizers`] nothing is registered any more: the process ends, and each finalizer runs once.
//!
//! The heap of this stage neither moves nor frees objects. So a collection has nothing to do, an object is known by its
//! address, and the only finalizers that are due are those at the end of the process.
use crate::cx::{Cx, Result};
use crate::object::ObjRef;
use crate::roots::Root;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use vervet_os::{LeafLock, Published};
use vervet_types::Known;

/// Collects generation 0 up to `generation` (-1: all).
pub fn collect(_cx: &Cx<'_>, _generation: i32, _blocking: bool) {}

/// The oldest generation.
pub fn max_generation() -> i32 {
    1
}

/// Collections so far of a generation, or of an older one that included it.
pub fn collection_count(_generation: i32) -> i32 {
    0
}

/// Bytes that live objects take, or may take; with `force`, after a full collection.
pub fn total_memory(cx: &Cx<'_>, force: bool) -> i64 {
    if force {
        collect(cx, -1, true);
    }
    crate::heap::bytes_used() as i64
}

/// Bytes that the calling thread has allocated so far.
pub fn allocated_bytes_of_this_thread(cx: &Cx<'_>) -> i64 {
    // SAFETY: the context belongs to this thread.
    let left = unsafe { (*cx.context()).alloc_end - (*cx.context()).alloc_next };
    crate::heap::bytes_used() as i64 - left as i64
}

/// The generation of an object; null counts as old.
pub fn generation_of(object: ObjRef<'_>) -> i32 {
    if object.is_null() {
        max_generation()
    } else {
        0
    }
}

/// The program has (or, if negative, has no longer) so much memory that the collector does not see.
pub fn add_memory_pressure(_cx: &Cx<'_>, _bytes: i64) {}

// ---- finalizers -----------------------------------------------------------------------------------------------------

struct Registrations {
    /// Address to the number of the registration.
    waiting: Option<FxHashMap<usize, u64>>,
    next: u64,
    ready: VecDeque<usize>,
}
static REGISTRATIONS: LeafLock<Registrations> = LeafLock::new(Registrations {
    waiting: None,
    next: 0,
    ready: VecDeque::new(),
});
/// The class of [`Known::CriticalFinalizerObject`] is asked for often.
fn is_critical(object: ObjRef<'_>) -> bool {
    let critical = crate::rt().universe.known(Known::CriticalFinalizerObject);
    object.class().is_subclass_of(critical).unwrap_or(false)
}

/// The object's finalizer is to run when nothing else refers to it.
pub fn register_finalizer(object: ObjRef<'_>) {
    if crate::finalizer::is_ending() {
        return;
    }
    let r = &mut *REGISTRATIONS.lock();
    let number = r.next;
    r.next += 1;
    r.waiting
        .get_or_insert_default()
        .entry(object.addr())
        .or_insert(number);
}

/// The object's finalizer is not to run.
pub fn suppress_finalize(object: ObjRef<'_>) {
    if let Some(waiting) = &mut REGISTRATIONS.lock().waiting {
        waiting.remove(&object.addr());
    }
}

/// The object's finalizer is to run (again); nothing if its class has none.
pub fn reregister_for_finalize(_cx: &Cx<'_>, object: ObjRef<'_>) {
    if object.vtable().flags & vervet_abi::vtable::flags::FINALIZER != 0 {
        register_finalizer(object);
    }
}

/// Takes the next object whose finalizer is to run now.
pub fn next_finalizable<'cx>(_cx: &'cx Cx<'cx>) -> Option<ObjRef<'cx>> {
    let object = REGISTRATIONS.lock().ready.pop_front()?;
    // SAFETY: it was the address of an object, and objects stay where they are.
    Some(unsafe { ObjRef::from_addr(object) })
}

/// Queues every registered object, the last registered first, critical ones last; returns whether there are any. The
/// process ends.
pub fn queue_all_finalizers(_cx: &Cx<'_>) -> bool {
    let waiting = REGISTRATIONS.lock().waiting.take().unwrap_or_default();
    let mut all: Vec<(bool, u64, usize)> = waiting
        .into_iter()
        .map(|(object, number)| {
            // SAFETY: as in `next_finalizable`.
            let critical = is_critical(unsafe { ObjRef::from_addr(object) });
            (critical, u64::MAX - number, object)
        })
        .collect();
    all.sort_unstable();
    let r = &mut *REGISTRATIONS.lock();
    r.ready.extend(all.into_iter().map(|(_, _, object)| object));
    !r.ready.is_empty()
}

/// Waits until every object that is to be finalized now has been.
pub fn wait_for_pending_finalizers(cx: &Cx<'_>) {
    crate::finalizer::wait_for_pending(cx);
}

// ---- ephemerons -----------------------------------------------------------------------------------------------------

static TOMBSTONE: Published<Root> = Published::new();

/// The object that stands for a dead key.
pub fn ephemeron_tombstone<'cx>(cx: &'cx Cx<'cx>) -> Result<ObjRef<'cx>> {
    if let Some(root) = TOMBSTONE.get() {
        return Ok(root.get());
    }
    let object = cx.alloc(cx.known(Known::Object))?;
    Ok(TOMBSTONE.put(Root::of(object)).get())
}

/// From now on the elements of the array are ephemerons: a value lives as long as its key; a dead key becomes the
/// tombstone and its value null. Nothing dies yet.
pub fn register_ephemerons(_cx: &Cx<'_>, _array: ObjRef<'_>) {}
