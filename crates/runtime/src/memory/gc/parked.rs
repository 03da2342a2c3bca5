//! Parked green threads, as the collector asks for them.
//!
//! # Invariants
//! * A green thread that is parked refers to objects from its stacks and from the [`ROOT_WORDS`] of its context. Nobody stores references there
//!   while it is parked, but for the collector, and for who gives a free thread something to start with and says so
//!   ([`Changed::add`](crate::safepoint::changed::Changed::add)). The verifier checks this: when the collector passes a thread by from now on, it keeps
//!   a checksum of the words of the stacks that lie in the heap.
use crate::safepoint::{Stopped, ThreadView, changed, green_contexts, view_parked};
use std::sync::atomic::{AtomicU32, Ordering};
use vervet_abi::ThreadContext;
use vervet_abi::context::ROOT_WORDS;
use vervet_heap::{Inspection, ParkedSet, Range};

/// Visits the contexts of a set. Each stays in it if the answer is true.
fn each(
    world: &Stopped,
    set: ParkedSet,
    mut visit: impl FnMut(*mut ThreadContext, &AtomicU32) -> bool,
) {
    let mut visit = |context| {
        // SAFETY: contexts are never freed. The thread is parked, so nobody but the collector uses the word.
        visit(context, unsafe {
            AtomicU32::from_ptr(&raw mut (*context).gc_notes)
        })
    };
    match set {
        ParkedSet::Young => world.for_each_changed(visit),
        ParkedSet::Unmarked => world.for_each_unmarked(visit),
        ParkedSet::Marked => world.for_each_parked(|context| {
            // SAFETY: the context is that of a green thread.
            let words = unsafe { green_contexts::scannable(context) };
            if changed::marking() != 0 && words.is_scanned(changed::marking()) {
                visit(context);
            }
        }),
        ParkedSet::All => world.for_each_parked(|context| {
            visit(context);
        }),
    }
}

/// [`World::parked_stacks`](vervet_heap::World::parked_stacks).
pub(super) fn stacks(world: &Stopped, set: ParkedSet, visit: &mut dyn FnMut(&[Range], &AtomicU32)) {
    each(world, set, |context, notes| {
        // SAFETY: `each` visits contexts of parked threads.
        unsafe { view_parked(context, |t| visit(t.ranges, notes)) };
        true
    });
}

/// [`World::parked_roots`](vervet_heap::World::parked_roots).
pub(super) fn roots(
    world: &Stopped,
    set: ParkedSet,
    visit: &mut dyn FnMut(&[usize], &AtomicU32) -> bool,
) {
    let seals = super::heap().verifies();
    each(world, set, |context, notes| {
        let stays = visit(&root_words(context), notes);
        if seals && set == ParkedSet::Young && !stays {
            // SAFETY: `each` visits contexts of parked threads. Contexts are never freed, and nobody else uses the word.
            unsafe { (*context).gc_checksum = checksum(context) };
        }
        stays
    });
}

/// The addresses of the references in a context.
fn root_words(context: *mut ThreadContext) -> [usize; ROOT_WORDS.len()] {
    ROOT_WORDS.map(|offset| context as usize + offset)
}

/// [`World::parked_beside`](vervet_heap::World::parked_beside).
pub(super) fn beside(
    from: usize,
    visit: &mut dyn FnMut(&[Range], &[usize]) -> bool,
) -> Option<usize> {
    green_contexts::scan_from(from, changed::marking(), |context| {
        let mut goes_on = true;
        // SAFETY: the thread is parked, and stays so while this function has it.
        unsafe { view_parked(context, |t| goes_on = visit(t.ranges, &root_words(context))) };
        goes_on
    })
}

/// A checksum of the words of a parked thread's stacks that lie in the heap, in their order, wherever its frames are. (Others may change: what waits for something is in queues, whose links
/// lie on stacks.)
///
/// # Safety
/// The context is one that [`each`] visits.
unsafe fn checksum(context: *mut ThreadContext) -> u32 {
    let heap = super::heap();
    let mut sum = 0u64;
    let add = |t: ThreadView<'_>| {
        for at in t.ranges.iter().flat_map(|r| (r.0..r.1).step_by(8)) {
            // SAFETY: the ranges of a parked thread are readable words.
            let word = unsafe { vervet_os::memory::stack_word(at) };
            if heap.contains(word) {
                sum = (sum ^ word as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            }
        }
    };
    // SAFETY: the caller's promise.
    unsafe { view_parked(context, add) };
    (sum >> 32) as u32
}

/// For the verifier: no thread that collections pass by refers to anything else than when that began.
pub(super) fn check(world: &Stopped, heap: &dyn Inspection) {
    each(world, ParkedSet::All, |context, notes| {
        if !super::heap().is_passed_by(notes.load(Ordering::Relaxed)) {
            return true;
        }
        // SAFETY: `each` visits contexts of parked threads. Contexts are never freed, and nobody else uses the words.
        let (sealed, owner, now) = unsafe {
            let (sealed, owner) = ((*context).gc_checksum, (*context).owner_id);
            (sealed, owner, checksum(context))
        };
        if now != sealed {
            heap.wrong(
                0,
                &format!(
                    "is the green thread {owner}: it has run and is in no list of changed ones"
                ),
            );
        }
        true
    });
}
