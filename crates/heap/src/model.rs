//! What the collector has to be told: how objects look ([`Model`]), and where references come from and how threads stop ([`World`]).
//!
//! # Invariants
//! * The first word of an object is its header. Its lowest bit is 0 while the object lives: the collector sets it to say that the object
//!   has moved. A header of 0 is no object: unused memory begins there.
//! * Objects are aligned to 8 bytes, and their size is a multiple of 8.
//! * What a [`Model`] reads to answer does not change while a collection runs.

/// What is to be done with an object's contents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Contents {
    /// It holds no references.
    Plain,
    /// It holds references.
    References,
    /// It is a table of (key, value) pairs: a value is kept by its table only while its key lives.
    Ephemerons,
}

use crate::descriptor::Descriptor;
use std::cell::Cell;

/// How objects look.
///
/// # Safety
/// The answers decide what is kept and what is moved: they must be true of every object the heap is given.
pub unsafe trait Model: Send + Sync + 'static {
    /// Offset of the number of elements, a `u32`, in objects whose descriptor is variable.
    const LENGTH: usize;
    /// The descriptor of objects with that header.
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
    /// The pairs of an object whose contents are [`Contents::Ephemerons`]: address of the first key, number of pairs.
    /// A pair is two words, key and value.
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

/// A thread's allocation tlab: adjacent words, of which generated code uses the first two directly. Its thread changes it, and
/// while that is stopped, who collects; both may hold a reference to it all the time, so it consists of cells.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Tlab {
    /// Next free byte.
    pub next: Cell<usize>,
    /// End of the tlab.
    pub end: Cell<usize>,
    /// Bytes of TLABs and large objects that the thread was ever given, but for what it gave back.
    pub taken: Cell<usize>,
}
impl Tlab {
    /// Bytes that are left.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.end.get() - self.next.get()
    }
    /// The thread has no tlab any more; what was left of it does not count as taken.
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

/// A thread that has a tlab and stacks, while the world is stopped.
pub struct Mutator<'a> {
    /// Its tlab.
    pub tlab: &'a Tlab,
    /// Memory `[from, to)` whose words may be references: stacks, saved registers.
    pub ranges: &'a [Range],
}

/// The heap as a world sees it that checks what it keeps of objects: nothing moves meanwhile.
pub trait Inspection {
    /// Is the object that begins there young? None: no object begins there that is alive as far as the last cycle knows.
    fn is_young(&self, object: usize) -> Option<bool>;
    /// Calls `visit` with every object, those included that nothing reaches since the last cycle, or the last minor collection.
    fn each_object(&self, visit: &mut dyn FnMut(usize));
    /// The object is not as it must be: ends the process with `what`. 0: it is none's.
    fn wrong(&self, object: usize, what: &str) -> !;
}

/// Where references come from, and how the threads that use them are stopped.
pub trait World: Send + Sync + 'static {
    /// Stops every thread that may touch objects, but the caller; does `work`; lets them go on. The caller is such a thread or
    /// one of the collector's.
    fn stopped(&self, work: &mut dyn FnMut());
    /// Calls `visit` for every such thread, the caller included. The world is stopped.
    fn mutators(&self, visit: &mut dyn FnMut(Mutator<'_>));
    /// Calls `visit` with the address of every reference outside the heap that is not in root memory.
    fn roots(&self, visit: &mut dyn FnMut(usize));
    /// Strong handles: `visit` gets what one refers to, and returns where that is now and whether it is young.
    /// With `young_only`, those that were set since the last visit, or whose object was young then.
    fn strong_handles(&self, young_only: bool, visit: &mut dyn FnMut(usize) -> (usize, bool));
    /// What pinned handles refer to. With `young_only`, those of handles whose objects may be young.
    fn pinned_handles(&self, young_only: bool, visit: &mut dyn FnMut(usize));
    /// Weak handles, those that follow an object through its finalizer (`long`) or not: `visit` returns None if the
    /// object is gone, and otherwise where it is now and whether it is young.
    fn weak_handles(
        &self,
        long: bool,
        young_only: bool,
        visit: &mut dyn FnMut(usize) -> Option<(usize, bool)>,
    );
    /// Objects the world has noted something of outside them, which is to go with the object: asked once it is known what
    /// goes for good, in the manner of [`World::weak_handles`].
    fn side_tables(&self, young_only: bool, visit: &mut dyn FnMut(usize) -> Option<(usize, bool)>);
    /// For the verifier: calls `visit` with the `ranges` of each thread that was stopped between storing a reference and marking the card.
    /// The reference is in them.
    fn storing(&self, visit: &mut dyn FnMut(&[Range]));
    /// For the verifier: checks what the world keeps of objects outside them.
    fn check(&self, heap: &dyn Inspection);
    /// What stands in a dead pair's key.
    fn tombstone(&self) -> usize;
    /// Objects wait to be finalized. Called with the world running.
    fn finalizers_wait(&self);
    /// Runs `work`, in which the calling thread may block, in a state in which it need not be waited for.
    fn blocking(&self, work: &mut dyn FnMut());
}
