//! Edges: which assembly each AssemblyRef row of a module was bound to.
//!
//! What a method's code depends on beyond its own module lies in modules that are reached over edges. Who keeps compiled code for another process
//! records the edges with it, and compares them there.
//!
//! ```text
//! thread                                    everybody
//! watch(compile) { Module::referenced_assembly }  ->  bound: the edges this thread was the one to ask for, in order
//!                                                     has_failed: an edge could not be bound
//!                                                     [`generation`]: how many edges have been bound
//! ```
//!
//! # Invariants
//! * An edge never changes once it is bound.
//! * [`generation`] grows after an edge was stored. So whoever reads it first and the edges then has seen at least so many.
use crate::*;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use vervet_metadata::Table;

/// What happened on a thread during [`watch`].
#[derive(Default, Debug)]
pub struct Watched {
    /// The edges that were not bound before this thread asked for them: module, row of the AssemblyRef table.
    pub bound: Vec<(ModuleRef, u32)>,
    /// An edge could not be bound. What was computed then may be otherwise in a process in which it can.
    pub has_failed: bool,
}

thread_local! {
    static WATCHED: RefCell<Option<Watched>> = const { RefCell::new(None) };
}
static GENERATION: AtomicU64 = AtomicU64::new(0);
/// See [`lose_track`].
static HAS_LOST_TRACK: AtomicBool = AtomicBool::new(false);

/// Does something, and says which edges it bound on this thread. Not nested: the inner one's edges would be missing in the outer.
pub fn watch<T>(work: impl FnOnce() -> T) -> (T, Watched) {
    let begun = WATCHED.try_with(|w| *w.borrow_mut() = Some(Watched::default()));
    let result = work();
    let watched = begun.and_then(|()| WATCHED.try_with(|w| w.borrow_mut().take()));
    // A thread that is ending cannot be watched: nobody knows what failed.
    let unknown = Watched {
        bound: Vec::new(),
        has_failed: true,
    };
    let mut watched = watched.ok().flatten().unwrap_or(unknown);
    watched.has_failed |= HAS_LOST_TRACK.load(Ordering::Relaxed);
    (result, watched)
}

/// How many edges have been bound in this process.
pub fn generation() -> u64 {
    GENERATION.load(Ordering::Acquire)
}

/// An edge was bound, and is stored.
pub(crate) fn bound(module: ModuleRef, rid: u32) {
    GENERATION.fetch_add(1, Ordering::Release);
    with(|w| w.bound.push((module, rid)));
}
/// A type may come from now on from a file that no AssemblyRef row leads to: another file of an assembly. From now on everything that is watched has
/// failed, on every thread, because the type stays known.
pub(crate) fn lose_track() {
    HAS_LOST_TRACK.store(true, Ordering::Relaxed);
    with(|w| w.has_failed = true);
}
/// An edge could not be bound.
pub(crate) fn failed() {
    with(|w| w.has_failed = true);
}
fn with(change: impl FnOnce(&mut Watched)) {
    // A thread that is ending is not watched.
    let _ = WATCHED.try_with(|w| {
        if let Some(w) = w.borrow_mut().as_mut() {
            change(w);
        }
    });
}

impl Module {
    /// The assembly that an AssemblyRef row was bound to, if it was.
    pub fn bound_assembly(&self, rid: u32) -> Option<&'static Assembly> {
        self.assembly_refs.get(rid)?.get()
    }
    /// The bound edges of this module: row of the AssemblyRef table, assembly.
    pub fn edges(&self) -> impl Iterator<Item = (u32, &'static Assembly)> + '_ {
        let rows = 1..=self.image.row_count(Table::AssemblyRef);
        rows.filter_map(|rid| Some((rid, self.bound_assembly(rid)?)))
    }
    /// Is the whole of its assembly: there are no other files with code.
    pub fn is_whole_assembly(&self) -> bool {
        let is_manifest = self
            .assembly()
            .is_some_and(|a| std::ptr::eq(a.manifest, self));
        is_manifest && self.image.row_count(Table::File) == 0
    }
    /// Is one of the assemblies whose types are grafts ([`crate::grafts`]).
    pub fn is_graft(&self) -> bool {
        self.is_graft
    }
}
