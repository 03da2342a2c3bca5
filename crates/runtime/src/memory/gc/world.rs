//! How the collector sees the process: threads, handles, roots outside the heap.
//!
//! # Invariants
//! What is asked here is asked by the thread that has stopped the world, within [`World::stopped`]; nothing takes
//! memory or a lock that a stopped thread may hold.
use crate::code::table;
use crate::safepoint::Stopped;
use crate::threads::attach::current_context;
use std::sync::atomic::{AtomicPtr, Ordering};
use vervet_abi::context::ROOT_WORDS;
use vervet_heap::{Inspection, Mutator, Range, World};

/// See the module.
#[derive(Default)]
pub struct Process {
    stopped: AtomicPtr<Stopped>,
}

impl Process {
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

impl World for Process {
    fn stopped(&self, work: &mut dyn FnMut()) {
        crate::safepoint::stop(current_context(), |s| {
            self.stopped
                .store(s as *const Stopped as *mut Stopped, Ordering::Release);
            work();
            self.stopped.store(std::ptr::null_mut(), Ordering::Release);
        });
    }
    fn mutators(&self, visit: &mut dyn FnMut(Mutator<'_>)) {
        self.now().for_each_thread(|t| {
            // SAFETY: the thread is stopped.
            let tlab = unsafe { super::tlab(t.context) };
            visit(Mutator {
                tlab,
                ranges: t.ranges,
            });
        });
    }
    fn roots(&self, visit: &mut dyn FnMut(usize)) {
        self.now().for_each_thread(|t| {
            for offset in ROOT_WORDS {
                visit(t.context as usize + offset);
            }
        });
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
        self.now().for_each_thread(|t| {
            let code = t.pc.and_then(|pc| Some((table::find(pc)?, pc)));
            if code.is_some_and(|(code, pc)| code.is_whole_step(pc)) {
                visit(t.ranges);
            }
        });
    }
    fn check(&self, heap: &dyn Inspection) {
        crate::threads::monitor::side_table::check(heap);
    }
    fn tombstone(&self) -> usize {
        super::tombstone()
    }
    fn finalizers_wait(&self) {
        crate::memory::finalizer::start();
        crate::memory::finalizer::notify();
    }
    fn blocking(&self, work: &mut dyn FnMut()) {
        crate::threads::attach::native(current_context(), work)
    }
}
