//! The one heap of the process, and the words by which the collector and a thread share the thread's TLAB.
//!
//! # Invariants
//! * The heap is made at start-up, before anything managed, and never goes.
//! * What the collector needs of the rest of the runtime, it asks through [`Objects`] and [`Process`].
use super::object_model::Objects;
use super::options::GcOptions;
use super::world::Process;
use crate::memory::address_plan::AddressPlan;
use std::sync::atomic::{AtomicPtr, Ordering};
use vervet_heap::{Config, Heap};

/// The heap as this runtime has it.
pub type TheHeap = Heap<Objects, Process>;

/// The heap; null before start-up has made it. It is stored once.
static HEAP: AtomicPtr<TheHeap> = AtomicPtr::new(std::ptr::null_mut());

/// Reserves the card table and the heap, and starts the collector's threads. `start_finalizer` makes the finalizer thread exist; the
/// collector calls it with the world running. Called once at start-up.
pub fn initialise(
    options: &GcOptions,
    plan: &AddressPlan,
    start_finalizer: fn() -> bool,
) -> std::io::Result<()> {
    if let Some(seed) = options.perturb {
        eprintln!("vervet: delays at random, --gc-debug=perturb={seed}");
        vervet_os::perturb::enable(seed);
    }
    let card_mask = plan.tables.card_mask;
    let config = Config {
        reserve: plan.heap,
        cards: crate::memory::cards::reserve_cards(card_mask)?,
        card_mask,
        fail: crate::process::fatal::heap_error,
        ..options.config()
    };
    let heap = Heap::start(config, Process::new(start_finalizer))?;
    // Where address space is limited, the program may leave none for the stacks of the collector's threads.
    if crate::memory::address_plan::is_limited() {
        heap.start_threads();
    }
    HEAP.store(heap as *const TheHeap as *mut TheHeap, Ordering::Release);
    Ok(())
}

/// A heap for tests that need one, but no runtime.
#[cfg(test)]
pub(crate) fn for_tests() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        initialise(
            &GcOptions::default(),
            &crate::memory::address_plan::USUAL,
            || false,
        )
        .expect("a heap")
    });
}

/// The heap. Panics before start-up has made it.
#[inline]
pub fn heap() -> &'static TheHeap {
    // SAFETY: only `initialise` stores here, once, and what it stores lives for ever. Threads that run now were started after that.
    unsafe { HEAP.load(Ordering::Relaxed).as_ref() }.expect("the heap has been made")
}

/// A thread's allocation tlab: three adjacent words of its context. They are cells: what the collector and generated code do to them
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
///
/// # Safety
/// The context is the ending thread's: the calling one, in Runtime state, or one that has ended.
pub(crate) unsafe fn close_tlab(context: *mut vervet_abi::ThreadContext) {
    // SAFETY: only `initialise` stores here; the ending thread's own context, in Runtime state.
    unsafe {
        // Before there is a heap there are no TLABs.
        if let Some(heap) = HEAP.load(Ordering::Acquire).as_ref() {
            heap.close(tlab(context));
        }
    }
}

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
