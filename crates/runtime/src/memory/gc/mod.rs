//! The process's heap, and what the class library asks of it: collections, figures, finalizers, ephemerons.
//!
//! # Invariants
//! * There is one heap; it is made at start-up, before anything managed, and never goes.
//! * What is asked here is asked in Runtime state: the calling thread can be stopped inside a collection it waits for.
pub mod model;
pub mod options;
mod pressure;
mod world;

use crate::cx::{Cx, Result};
use crate::memory::address_plan::AddressPlan;
use crate::memory::roots::Root;
use crate::object::ObjRef;
use model::Objects;
use options::GcOptions;
use std::sync::atomic::{AtomicPtr, Ordering};
use vervet_heap::{Config, Heap};
use vervet_os::Published;
use vervet_types::Known;
use world::Process;

/// The heap as this runtime has it.
pub type TheHeap = Heap<Objects, Process>;

static HEAP: AtomicPtr<TheHeap> = AtomicPtr::new(std::ptr::null_mut());

/// Reserves the card table and the heap, and starts the collector's threads. Called once at start-up.
pub fn initialise(options: &GcOptions, plan: &AddressPlan) -> std::io::Result<()> {
    if let Some(seed) = options.perturb {
        eprintln!("vervet: delays at random, --gc-debug=perturb={seed}");
        vervet_os::perturb::enable(seed);
    }
    let card_mask = plan.tables.card_mask;
    let config = Config {
        reserve: plan.heap,
        cards: crate::memory::heap::reserve_cards(card_mask)?,
        card_mask,
        fail: |what| crate::process::bootstrap::internal_error(what, std::ptr::null_mut()),
        ..options.config()
    };
    let heap = Heap::start(config, Process::default())?;
    HEAP.store(heap as *const TheHeap as *mut TheHeap, Ordering::Release);
    Ok(())
}

/// A heap for tests that need one, but no runtime.
#[cfg(test)]
pub(crate) fn for_tests() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        initialise(&GcOptions::default(), &crate::memory::address_plan::USUAL).expect("a heap")
    });
}

/// The heap. Panics before start-up has made it.
#[inline]
pub fn heap() -> &'static TheHeap {
    // SAFETY: only `initialise` stores here, and the heap lives for ever.
    unsafe { HEAP.load(Ordering::Relaxed).as_ref() }.expect("the heap has been made")
}

/// A thread's allocation buffer (TLAB): three adjacent words of its context. They are cells: what the collector and generated code do to them
/// while this reference lives is no surprise to it.
///
/// # Safety
/// The context is the calling thread's, or that of a stopped one, and is there as long as the reference.
pub(crate) unsafe fn tlab<'a>(context: *mut vervet_abi::ThreadContext) -> &'a vervet_heap::Tlab {
    use vervet_abi::ThreadContext;
    const {
        assert!(
            std::mem::offset_of!(ThreadContext, alloc_next) + 8
                == std::mem::offset_of!(ThreadContext, alloc_end)
                && std::mem::offset_of!(ThreadContext, alloc_next) + 16
                    == std::mem::offset_of!(ThreadContext, alloc_taken)
        )
    };
    // SAFETY: the words lie side by side, as `Tlab` has them; the pointer may be used for all of the context, and nobody refers to
    // these words but by pointers and by this type.
    unsafe { &*((&raw mut (*context).alloc_next) as *const vervet_heap::Tlab) }
}

/// A thread ends: what is left of its tlab can be used by others. From then on it allocates nothing.
pub(crate) fn close_tlab(context: *mut vervet_abi::ThreadContext) {
    // SAFETY: only `initialise` stores here; the ending thread's own context, in Runtime state.
    unsafe {
        // Before there is a heap there are no TLABs.
        if let Some(heap) = HEAP.load(Ordering::Acquire).as_ref() {
            heap.close(tlab(context));
        }
    }
}

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
    if !crate::memory::finalizer::is_ending() {
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

/// Queues every registered object, the last registered first, critical ones last; returns whether there are any. The
/// process ends.
pub fn queue_all_finalizers(_cx: &Cx<'_>) -> bool {
    heap().queue_all_finalizers();
    heap().finalizers.waiting() > 0
}

/// Waits until every object that is to be finalized now has been.
pub fn wait_for_pending_finalizers(cx: &Cx<'_>) {
    crate::memory::finalizer::wait_for_pending(cx);
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
fn tombstone() -> usize {
    TOMBSTONE.get().map_or(0, |root| root.get().addr())
}

/// The elements of the array are ephemerons: a value lives as long as its key; a dead key becomes the tombstone and its
/// value null. The model knows such arrays by their class.
pub fn register_ephemerons(_cx: &Cx<'_>, _array: ObjRef<'_>) {}

/// Lines for `--stats`.
pub fn report() -> String {
    use std::fmt::Write;
    let (h, mut text) = (heap(), String::new());
    let s = &h.stats;
    let of = |n: &std::sync::atomic::AtomicU64| n.load(Ordering::Relaxed);
    let _ = writeln!(
        text,
        "heap                  {} KiB live or young, {} KiB of blocks, {} MiB allocated",
        h.bytes() >> 10,
        h.committed() >> 10,
        of(&s.allocated) >> 20
    );
    for (name, p) in [("minor", &s.minor), ("major", &s.major)] {
        let _ = writeln!(
            text,
            "{name} pauses          {}: {:.3} ms together, half below {} us, 99 of 100 below {} us, longest {:.3} ms",
            p.count(),
            p.total() as f64 / 1e6,
            p.quantile(0.5),
            p.quantile(0.99),
            p.longest() as f64 / 1e6
        );
    }
    let _ = writeln!(
        text,
        "collections           {} KiB survived young, {} KiB promoted, {} KiB moved out of sparse blocks, {} objects pinned",
        of(&s.survived) >> 10,
        of(&s.promoted) >> 10,
        of(&s.evacuated) >> 10,
        of(&s.pinned)
    );
    text
}
