//! What the collector asks of the process: threads, handles, roots outside the heap.
//!
//! | asked for | answered from | when |
//! |---|---|---|
//! | mutators | the list of attached threads: TLAB, stacks, saved registers | the world is stopped |
//! | copied stacks | continuations | the world is stopped |
//! | roots | the reference words of their contexts | the world is stopped |
//! | parked stacks, parked roots | green threads that are parked: all, or those that the [last collections](super::parked) have not passed by | the world is stopped |
//! | parked beside | green threads that are parked | the world runs |
//! | strong, pinned, weak handles | the tables of GC handles | the world is stopped |
//! | side tables | monitors of objects | the world is stopped, behind the last weak handles |
//! | storing, check | what stopped threads hold; the side tables | the verifier |
//! | tombstone | a root slot made at start-up | the world is stopped |
//! | blocking, `finalizers_wait` | the calling thread's state; the finalizer thread | the world runs |
//!
//! # Invariants
//! * The collector asks within [`World::stopped`], on the thread that has stopped the world, but for [`World::blocking`],
//!   [`World::finalizers_wait`] and [`World::parked_beside`], which it calls while the world runs.
//! * Nothing here takes memory from the C library, or a lock that a stopped thread may hold: only leaf locks, which no thread holds when
//!   it is stopped.
use super::{parked, report};
use crate::code::table;
use crate::memory::root_slot::Root;
use crate::profiler::heapshot;
use crate::safepoint::Stopped;
use crate::threads::current_context;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use vervet_abi::context::ROOT_WORDS;
use vervet_heap::{Inspection, Mutator, ParkedSet, Range, Snapshot, World};
use vervet_os::Published;

/// See the module.
pub struct Process {
    /// What the safepoint module gave the thread that stops the world; null while the world runs.
    stopped: AtomicPtr<Stopped>,
    /// Makes the finalizer thread exist. A function of a higher module, given at start-up.
    start_finalizer: fn() -> bool,
}

/// The root slot of the object that stands for a dead key of an ephemeron.
static TOMBSTONE: Published<Root> = Published::new();

pub(super) fn tombstone() -> Option<&'static Root> {
    TOMBSTONE.get()
}
/// Makes the slot's object the tombstone unless there is one; the slot that stands.
pub(super) fn set_tombstone(root: Root) -> &'static Root {
    TOMBSTONE.put(root)
}

impl Process {
    pub(super) fn new(start_finalizer: fn() -> bool) -> Process {
        Process {
            stopped: AtomicPtr::new(std::ptr::null_mut()),
            start_finalizer,
        }
    }
    fn now(&self) -> &Stopped {
        // SAFETY: set while the world is stopped, which is when this is called.
        unsafe {
            self.stopped
                .load(Ordering::Acquire)
                .as_ref()
                .expect("the world is stopped")
        }
    }
}

// SAFETY: `stopped` stops every attached thread; contexts, static areas, handles and side tables hold references or 0, and the ranges of a thread
// are its mapped stacks and its saved registers.
unsafe impl World for Process {
    fn stopped(&self, work: &mut dyn FnMut()) {
        let work = |s: &Stopped| {
            self.stopped
                .store(s as *const Stopped as *mut Stopped, Ordering::Release);
            work();
            self.stopped.store(std::ptr::null_mut(), Ordering::Release);
        };
        // SAFETY: the calling thread's context, or null for one of the collector's threads. Who collects is in Runtime state.
        unsafe { crate::safepoint::stop(current_context(), work) };
    }
    fn mutators(&self, visit: &mut dyn FnMut(Mutator<'_>)) {
        self.now().for_each_running(|t| {
            // SAFETY: the thread is stopped, or is this one, so nobody uses its TLAB meanwhile; contexts are never freed.
            let tlab = unsafe { super::the_heap::tlab(t.context) };
            visit(Mutator {
                tlab,
                ranges: t.ranges,
            });
        });
    }
    fn copied_stacks(&self, visit: &mut dyn FnMut(&[Range])) {
        crate::threads::continuations::visit_copies(visit);
    }
    fn roots(&self, visit: &mut dyn FnMut(usize)) {
        self.now().for_each_running(|t| {
            for offset in ROOT_WORDS {
                visit(t.context as usize + offset);
            }
        });
    }
    fn parked_stacks(&self, set: ParkedSet, visit: &mut dyn FnMut(&[Range], &AtomicU32)) {
        parked::stacks(self.now(), set, visit);
    }
    fn parked_roots(&self, set: ParkedSet, visit: &mut dyn FnMut(&[usize], &AtomicU32) -> bool) {
        parked::roots(self.now(), set, visit);
    }
    fn parked_beside(
        &self,
        from: usize,
        visit: &mut dyn FnMut(&[Range], &[usize]) -> bool,
    ) -> Option<usize> {
        parked::beside(from, visit)
    }
    fn parked_count(&self) -> usize {
        crate::safepoint::green_contexts::count()
    }
    fn marking(&self, cycle: u32) {
        crate::safepoint::changed::set_marking(cycle);
    }
    fn strong_handles(&self, young_only: bool, visit: &mut dyn FnMut(usize) -> (usize, bool)) {
        crate::memory::handles::TABLES.visit_strong(young_only, visit);
    }
    fn pinned_handles(&self, young_only: bool, visit: &mut dyn FnMut(usize)) {
        crate::memory::handles::TABLES.visit_pinned(young_only, visit);
    }
    fn weak_handles(
        &self,
        long: bool,
        young_only: bool,
        visit: &mut dyn FnMut(usize) -> Option<(usize, bool)>,
    ) {
        use crate::memory::handles::HandleKind::{Weak, WeakTrackResurrection};
        let kind = if long { WeakTrackResurrection } else { Weak };
        crate::memory::handles::TABLES.update_weak(kind, young_only, visit);
    }
    fn side_tables(&self, young_only: bool, visit: &mut dyn FnMut(usize) -> Option<(usize, bool)>) {
        crate::threads::monitor::side_table::visit(young_only, visit);
    }
    fn storing(&self, visit: &mut dyn FnMut(&[Range])) {
        self.now().for_each_running(|t| {
            let code = t.at.and_then(|at| Some((table::find(at.pc)?, at.pc)));
            if code.is_some_and(|(code, pc)| code.is_whole_step(pc)) {
                visit(t.ranges);
            }
        });
    }
    fn check(&self, heap: &dyn Inspection) {
        crate::threads::monitor::side_table::check(heap);
        parked::check(self.now(), heap);
    }
    fn tombstone(&self) -> usize {
        tombstone().map_or(0, |root| root.get().addr())
    }
    fn phase(&self, phase: vervet_heap::Phase, major: bool) {
        crate::profiler::hooks::gc_phase(phase, major);
    }
    fn wants_cycle(&self) -> bool {
        heapshot::asks()
    }
    fn collected(&self, heap: &dyn Snapshot, ends_cycle: bool) {
        report::collected(self.now(), heap, ends_cycle);
        crate::memory::finalizer_requests::collected();
    }
    #[inline(always)]
    fn moved(&self, from: usize, to: usize) {
        crate::profiler::hooks::moved(from, to);
    }
    fn finalizers_wait(&self) {
        (self.start_finalizer)();
        crate::memory::finalizer_requests::notify();
    }
    fn blocking(&self, work: &mut dyn FnMut()) {
        crate::threads::blocking(work)
    }
    fn blocking_briefly(&self, work: &mut dyn FnMut()) {
        crate::threads::native(work)
    }
}
