//! Edges: which assembly each AssemblyRef row of a module was bound to.
//!
//! What a method's code depends on beyond its own module lies in modules that are reached over edges. Who keeps compiled code for another process
//! records the edges with it, and compares them there.
//!
//! ```text
//! thread                                              everybody
//! watch(compile) { Module::referenced_assembly }  ->  has_failed: an edge could not be bound; [`failed_edge`]: which was the first
//!                                                     loaded: the edges for which an assembly was loaded, in that order
//!                                                     [`generation`]: how many edges have been bound
//! ```
//!
//! # Invariants
//! * An edge never changes once it is bound.
//! * [`generation`] grows after an edge was stored. So whoever reads it first and the edges then has seen at least so many.
use crate::*;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use vervet_metadata::Table;

thread_local! {
    /// Whether an edge could not be bound since [`watch`] began; None outside.
    static WATCHED: Cell<Option<bool>> = const { Cell::new(None) };
    /// The edges for which this thread loaded an assembly since [`watch`] began. They are on the heap: the library for hosts has little room for thread-local variables.
    static LOADED: Cell<Option<Box<Loaded>>> = const { Cell::new(None) };
    /// See [`failed_edge`].
    static FAILED: Cell<Option<(u32, u32)>> = const { Cell::new(None) };
}
/// See [`LOADED`].
#[derive(Default)]
struct Loaded(Vec<Edge>);

/// Does something with the edges of this thread. None: the thread ends, and has none any more.
fn with_loaded<R>(f: impl FnOnce(&mut Vec<Edge>) -> R) -> Option<R> {
    let with = |cell: &Cell<Option<Box<Loaded>>>| {
        let mut loaded = cell.take().unwrap_or_default();
        let result = f(&mut loaded.0);
        cell.set(Some(loaded));
        result
    };
    LOADED.try_with(with).ok()
}

static GENERATION: AtomicU64 = AtomicU64::new(0);
/// See [`lose_track`].
static HAS_LOST_TRACK: AtomicBool = AtomicBool::new(false);

/// An edge: id of the module, row of its AssemblyRef table.
pub type Edge = (u32, u32);

/// What [`watch`] saw.
#[derive(Debug)]
pub struct Watched {
    /// An edge could not be bound: what was computed may be otherwise in a process in which it can.
    pub has_failed: bool,
    /// The edges for which an assembly was loaded, in that order. There may be more of them if other threads were loading.
    pub loaded: Vec<Edge>,
}

/// Does something, and watches which edges are bound meanwhile on this thread. Not nested.
pub fn watch<T>(work: impl FnOnce() -> T) -> (T, Watched) {
    let begun = WATCHED.try_with(|w| w.set(Some(false)));
    let _ = FAILED.try_with(|f| f.set(None));
    with_loaded(Vec::clear);
    let result = work();
    let ended = begun.and_then(|()| WATCHED.try_with(|w| w.replace(None)));
    // A thread that is ending cannot be watched: nobody knows what failed.
    let has_failed = ended.ok().flatten().unwrap_or(true);
    let watched = Watched {
        has_failed: has_failed || HAS_LOST_TRACK.load(Ordering::Relaxed),
        loaded: with_loaded(std::mem::take).unwrap_or_default(),
    };
    (result, watched)
}

/// Does something for which [`watch`] does not count.
pub fn unwatched<T>(work: impl FnOnce() -> T) -> T {
    let before = (
        WATCHED.try_with(Cell::get).ok(),
        FAILED.try_with(Cell::get).ok(),
    );
    let loaded = with_loaded(|l| l.len()).unwrap_or(0);
    let result = work();
    // Another thread may have loaded meanwhile.
    with_loaded(|l| l.truncate(loaded));
    if let (Some(watched), Some(failed)) = before {
        let _ = WATCHED.try_with(|w| w.set(watched));
        let _ = FAILED.try_with(|f| f.set(failed));
    }
    result
}

/// The first edge that could not be bound in the last [`watch`] of this thread: id of the module, row of its AssemblyRef table.
pub fn failed_edge() -> Option<Edge> {
    FAILED.try_with(Cell::get).ok().flatten()
}

/// How many edges have been bound in this process.
pub fn generation() -> u64 {
    GENERATION.load(Ordering::Acquire)
}

/// An edge was bound, and is stored.
pub(crate) fn bound() {
    GENERATION.fetch_add(1, Ordering::Release);
}
/// A type may come from now on from a file that no AssemblyRef row leads to: another file of an assembly. From now on everything that is watched has
/// failed, on every thread, because the type stays known.
pub(crate) fn lose_track() {
    HAS_LOST_TRACK.store(true, Ordering::Relaxed);
}
/// An assembly was loaded for an edge.
pub(crate) fn loaded(module: u32, rid: u32) {
    if WATCHED.try_with(Cell::get).is_ok_and(|w| w.is_some()) {
        with_loaded(|l| l.push((module, rid)));
    }
}
/// An edge could not be bound.
pub(crate) fn failed(module: u32, rid: u32) {
    // A thread that is ending is not watched.
    let _ = WATCHED.try_with(|w| w.set(w.get().map(|_| true)));
    let _ = FAILED.try_with(|f| f.set(f.get().or(Some((module, rid)))));
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
