//! What the collector has to be told: how objects look ([`Model`]), and where references come from and how threads stop ([`World`]).
//!
//! # Invariants
//! * The first word of an object is its header. Its lowest bit is 0 while the object lives: the collector sets it to say that the object
//!   has moved. A header of 0 is no object: unused memory begins there.
//! * Objects are aligned to 8 bytes, and their size is a multiple of 8.
//! * What a [`Model`] reads to answer does not change while a collection runs.

/// What an object contains, as far as a collector is concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Contents {
    /// It holds no references.
    Plain,
    /// It holds references.
    References,
    /// It is a table of ephemerons, (key, value) pairs: the table keeps a value only while the key lives.
    Ephemerons,
}

use crate::descriptor::Descriptor;
use std::cell::Cell;
use std::sync::atomic::AtomicU32;

/// How objects look.
///
/// # Safety
/// The answers decide what is kept and what is moved: they must be true of every object the heap is given.
pub unsafe trait Model: Send + Sync + 'static {
    /// Offset of the number of elements, a `u32`, in objects whose descriptor is variable.
    const LENGTH: usize;
    /// The descriptor of objects with that header ([`Descriptor`]).
    fn descriptor(header: u64) -> Descriptor;
    /// Bytes of the object, header included, a multiple of 8. `header` is its first word as it was before it moved.
    ///
    /// # Safety
    /// `object` is the address of an object with that header.
    unsafe fn size(object: usize, header: u64) -> usize;
    /// What it contains.
    ///
    /// # Safety
    /// As for [`Model::size`].
    unsafe fn contents(header: u64) -> Contents;
    /// Calls `visit` with the address of each reference field that lies in `[from, to)`, in order.
    ///
    /// # Safety
    /// As for [`Model::size`].
    unsafe fn visit(object: usize, header: u64, from: usize, to: usize, visit: impl FnMut(usize));
    /// The ephemerons of an object whose contents are [`Contents::Ephemerons`]: the address of the first key, and how many. An ephemeron is two
    /// words, key and value.
    ///
    /// # Safety
    /// As for [`Model::size`].
    unsafe fn ephemerons(object: usize) -> (usize, usize);
    /// Is its finalizer to run after those of ordinary objects?
    ///
    /// # Safety
    /// As for [`Model::size`].
    unsafe fn is_critical(header: u64) -> bool;
    /// The name of the object's class, for people.
    fn name(header: u64) -> String;
    /// Could this be a header? (For the verifier.)
    fn is_plausible(header: u64) -> bool;
}

/// A thread-local allocation buffer: three adjacent words, of which generated code uses the first two directly.
///
/// Its thread changes it, and, while that is stopped, the thread that collects. Both may hold a reference to it all the time, so it consists of
/// cells.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Tlab {
    /// Next free byte.
    pub next: Cell<usize>,
    /// The byte behind its last.
    pub end: Cell<usize>,
    /// Bytes that the thread was ever given for TLABs and large objects, less what it gave back.
    pub taken: Cell<usize>,
}
impl Tlab {
    /// Bytes that are left.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.end.get() - self.next.get()
    }
    /// The thread has no TLAB any more; what was left of it does not count as taken.
    pub fn retire(&self) {
        self.taken.set(self.allocated());
        self.next.set(0);
        self.end.set(0);
    }
    /// Bytes that the thread has allocated.
    pub fn allocated(&self) -> usize {
        self.taken.get() - self.remaining()
    }
}

/// Addresses `[from, to)`.
pub type Range = (usize, usize);

/// A thread that runs the program, while the world is stopped.
pub struct Mutator<'a> {
    /// Its TLAB.
    pub tlab: &'a Tlab,
    /// Memory `[from, to)` whose words may be references: stacks, saved registers.
    pub ranges: &'a [Range],
}

/// Which parked threads are visited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParkedSet {
    /// Those that may refer to young objects: each has run since it was last visited, or the answer was then that it may.
    Young,
    /// Those that have run since marking began, or since [`World::parked_beside`] visited them. One leaves the set if the answer is false.
    Unmarked,
    /// Those that [`World::parked_beside`] has visited and that have not run since, while marking runs. For the verifier.
    Marked,
    /// All.
    All,
}

/// The heap as the world sees it while it checks its side tables: nothing moves meanwhile.
pub trait Inspection {
    /// Is the object that begins there young? None: no object begins there that is alive as far as the last cycle knows.
    fn is_young(&self, object: usize) -> Option<bool>;
    /// Calls `visit` with every object, those included that nothing reaches since the last cycle, or the last minor collection.
    fn each_object(&self, visit: &mut dyn FnMut(usize));
    /// Ends the process with a sentence about the object, which `what` completes. `object` 0: it concerns no object.
    fn wrong(&self, object: usize, what: &str) -> !;
}

/// The heap at the end of a collection. The world is stopped, and every object that is named is alive as far as the last cycle knows.
pub trait Snapshot {
    /// Visits every object, each with its references behind it. The references of tables of ephemerons are not visited.
    fn objects(&self, visitor: &mut dyn SnapshotVisitor);
    /// Calls `visit` with the address of each reference in root memory, and the object it refers to.
    fn statics(&self, visit: &mut dyn FnMut(usize, usize));
    /// Calls `visit` with each object that waits for its finalizer, and with whether that one is critical.
    fn queued(&self, visit: &mut dyn FnMut(bool, usize));
    /// Calls `visit` with the values of ephemerons.
    fn ephemerons(&self, visit: &mut dyn FnMut(usize));
    /// Calls `visit` with the objects that words of a range may refer to, each once.
    ///
    /// # Safety
    /// The range is readable.
    unsafe fn referred(&self, range: Range, visit: &mut dyn FnMut(usize));
}

/// Who is shown the objects of a [`Snapshot`].
pub trait SnapshotVisitor {
    /// The next object: its address, its header, its bytes, and whether it is old.
    fn object(&mut self, object: usize, header: u64, bytes: usize, is_old: bool);
    /// A reference of the last object: its offset in the object, and what it refers to.
    fn reference(&mut self, offset: usize, target: usize);
}

/// How far a collection has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// The world is about to be stopped.
    BeforeStop,
    /// The world is stopped. Another thread may have collected meanwhile: then the collection neither begins nor ends.
    Stopped,
    /// The collection begins.
    Begins,
    /// It has ended; the heap has so many bytes of blocks.
    Ends(usize),
    /// The world is about to go on.
    BeforeStart,
    /// The world goes on.
    Started,
}

/// Where references come from, and how the threads that use them are stopped.
///
/// # Safety
/// The collector reads and writes what the answers name. So [`World::stopped`] stops every thread that may touch objects; [`World::roots`] names
/// every reference outside the heap, root memory and parked threads, and nothing but references, each of them aligned to 8 bytes, and so does
/// [`World::parked_roots`] for parked threads; the objects of handles and of side tables are objects of the heap, or 0; and the ranges of
/// [`World::mutators`], [`World::copied_stacks`], [`World::parked_stacks`] and [`World::storing`] are readable.
pub unsafe trait World: Send + Sync + 'static {
    /// Stops every thread that may touch objects except the caller, does `work`, and lets them go on. The caller is such a thread or one of the
    /// collector's.
    fn stopped(&self, work: &mut dyn FnMut());
    /// Calls `visit` for every such thread that is not parked, the caller included. The world is stopped.
    fn mutators(&self, visit: &mut dyn FnMut(Mutator<'_>));
    /// Calls `visit` with the ranges of copies of stacks: memory that is scanned as the stacks of running threads are. The world is stopped.
    fn copied_stacks(&self, _visit: &mut dyn FnMut(&[Range])) {}
    /// Calls `visit` with the address of every reference outside the heap that is neither in root memory nor a parked thread's.
    fn roots(&self, visit: &mut dyn FnMut(usize));
    /// Calls `visit` with the ranges of each parked thread of a set: memory whose words may be references and which stays as it is until the thread
    /// runs. The other argument is a word for the collector's notes on the thread; it is 0 if the thread has run since the collector wrote it. The
    /// world is stopped.
    fn parked_stacks(&self, set: ParkedSet, visit: &mut dyn FnMut(&[Range], &AtomicU32));
    /// Calls `visit` with the addresses of the references that each parked thread of a set has outside the heap and root memory; and with the notes
    /// as for [`World::parked_stacks`]. The answer says whether the thread may refer to young objects from now on; it counts for
    /// [`ParkedSet::Young`] and [`ParkedSet::Unmarked`]. The world is stopped.
    fn parked_roots(&self, set: ParkedSet, visit: &mut dyn FnMut(&[usize], &AtomicU32) -> bool);
    /// While the world runs and marking does: calls `visit` with the ranges and the references' addresses of parked threads, as long as it answers
    /// true, but for those that were visited in this cycle and have not run since. A thread does not begin to run while `visit` has it. Threads are
    /// numbered; `from` is the first. The result is where to go on; None: all threads that were parked were visited.
    fn parked_beside(
        &self,
        from: usize,
        visit: &mut dyn FnMut(&[Range], &[usize]) -> bool,
    ) -> Option<usize>;
    /// How many threads may be parked. A hint.
    fn parked_count(&self) -> usize;
    /// Marking begins, with a number that is neither 0 nor the last cycle's; or (0) has ended. The world is stopped.
    fn marking(&self, cycle: u32);
    /// Visits strong handles: `visit` gets the object of one, and returns where that is now and whether it is young. With `young_only`, those
    /// that were set since the last visit, or whose object was young then.
    fn strong_handles(&self, young_only: bool, visit: &mut dyn FnMut(usize) -> (usize, bool));
    /// Visits the objects of pinned handles. With `young_only`, those of handles whose objects may be young.
    fn pinned_handles(&self, young_only: bool, visit: &mut dyn FnMut(usize));
    /// Visits weak handles, those that track resurrection (`long`) or the others: `visit` returns None if the object is gone, and otherwise where
    /// it is now and whether it is young.
    fn weak_handles(
        &self,
        long: bool,
        young_only: bool,
        visit: &mut dyn FnMut(usize) -> Option<(usize, bool)>,
    );
    /// Visits the objects of side tables: what the world keeps of objects outside them, and drops with the object. Called once it is known
    /// which objects are gone for good; `visit` is that of [`World::weak_handles`].
    fn side_tables(&self, young_only: bool, visit: &mut dyn FnMut(usize) -> Option<(usize, bool)>);
    /// For the verifier: calls `visit` with the `ranges` of each thread that was stopped between storing a reference and marking the card.
    /// The reference is in them.
    fn storing(&self, visit: &mut dyn FnMut(&[Range]));
    /// For the verifier: checks the side tables.
    fn check(&self, heap: &dyn Inspection);
    /// The object that replaces a dead key of an ephemeron, or 0.
    fn tombstone(&self) -> usize;
    /// Told how far a collection has come, on the thread that collects. `major`: it is the one that ends a cycle.
    fn phase(&self, _phase: Phase, _major: bool) {}
    /// Shown the heap at the end of a collection; `ends_cycle`: the last cycle has just decided what is alive. On the thread that collects.
    fn collected(&self, _heap: &dyn Snapshot, _ends_cycle: bool) {}
    /// Asked behind a minor collection, while the world runs: is the thread that collected to wait for a whole cycle?
    fn wants_cycle(&self) -> bool {
        false
    }
    /// Told that an object has moved, by whichever thread copies it. The world is stopped.
    #[inline(always)]
    fn moved(&self, _from: usize, _to: usize) {}
    /// Told that objects wait to be finalized. Called while the world runs.
    fn finalizers_wait(&self);
    /// Runs `work`, in which the calling thread may block, in a state in which it counts as stopped.
    fn blocking(&self, work: &mut dyn FnMut());
    /// The same, for a wait that ends soon, and during which other threads could hardly do anything.
    fn blocking_briefly(&self, work: &mut dyn FnMut());
}
