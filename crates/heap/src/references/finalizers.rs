//! Objects whose finalizers are to run.
//!
//! ```text
//!   no registration --register--> young list, bit set --becomes old--> old list, bit set --unreachable--> queue, bit clear --> runs
//!                                    |        ^                          |
//!                                    suppress: bit clear (the entry stays, and means nothing)
//! ```
//!
//! # Invariants
//! * A registration is an entry of a list and the object's `finalizable` bit. Suppressing clears the bit and nothing else; an entry whose bit is
//!   clear means nothing. So an object is queued at most once per registration.
//! * An entry is in the `young` list until its object is old; a minor collection looks at that list only.
//! * Queued objects are kept alive. Of the objects of one collection ordinary ones are handed out before critical ones.
use crate::memory::{List, UNBOUNDED};
use crate::model::Model;
use crate::object::Slot;
use crate::space::Space;
use std::io;
use vervet_os::LeafLock;

/// Lists shorter than this are left alone.
const TIDY: usize = 4096;

#[derive(Debug)]
pub(crate) struct Queue {
    list: List<usize>,
    head: usize,
}
impl std::fmt::Debug for List<usize> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} entries", self.len())
    }
}
impl Queue {
    fn new() -> io::Result<Queue> {
        Ok(Queue {
            list: List::new(UNBOUNDED)?,
            head: 0,
        })
    }
    fn pop(&mut self) -> Option<usize> {
        let o = *self.list.as_slice().get(self.head)?;
        self.list.as_mut_slice()[self.head] = 0;
        self.head += 1;
        if self.head == self.list.len() {
            self.list.clear();
            self.head = 0;
        }
        Some(o)
    }
    fn roots(&self, visit: &mut dyn FnMut(Slot)) {
        for entry in self.list.addresses(self.head) {
            // SAFETY: the entries of the queue from `head` on are references to objects that are kept.
            visit(unsafe { Slot::new(entry) });
        }
    }
}

#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) young: List<usize>,
    pub(crate) old: List<usize>,
    pub(crate) ready: Queue,
    pub(crate) critical: Queue,
    /// When the lists are this long together, entries that mean nothing are dropped.
    tidy_at: usize,
}
impl Tables {
    /// Drops entries whose bits are clear, and all but the first of an object.
    fn tidy(&mut self, space: &Space) {
        for list in [&mut self.young, &mut self.old] {
            list.retain_map(|o| space.set_finalizable(o, false).then_some(o));
        }
        for list in [&self.young, &self.old] {
            for &o in list.as_slice() {
                space.set_finalizable(o, true);
            }
        }
        self.tidy_at = 2 * (self.young.len() + self.old.len()).max(TIDY);
    }
}
/// Where an object is that was registered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Entry {
    /// In the list that minor collections look at.
    Young,
    /// In the other.
    Old,
    /// It waits to be finalized.
    Queued,
}

/// See the module.
#[derive(Debug)]
pub struct Finalizers(pub(crate) LeafLock<Tables>);

impl Finalizers {
    /// No registrations.
    pub fn new() -> io::Result<Finalizers> {
        Ok(Finalizers(LeafLock::new(Tables {
            young: List::new(UNBOUNDED)?,
            old: List::new(UNBOUNDED)?,
            ready: Queue::new()?,
            critical: Queue::new()?,
            tidy_at: 2 * TIDY,
        })))
    }
    /// The object's finalizer is to run when it is unreachable.
    pub fn register(&self, space: &Space, object: usize) {
        let mut t = self.0.lock();
        if !space.set_finalizable(object, true) {
            t.young.push(object);
            if t.young.len() + t.old.len() >= t.tidy_at {
                t.tidy(space);
            }
        }
    }
    /// The object's finalizer is not to run.
    pub fn suppress(&self, space: &Space, object: usize) {
        // (The lock: while it is held, bits may be clear that mean something.)
        let _t = self.0.lock();
        space.set_finalizable(object, false);
    }
    /// The next object whose finalizer is to run now.
    pub fn next(&self) -> Option<usize> {
        let mut t = self.0.lock();
        t.ready.pop().or_else(|| t.critical.pop())
    }
    /// Entries of the lists, those that mean nothing included.
    pub fn registrations(&self) -> usize {
        let t = self.0.lock();
        t.young.len() + t.old.len()
    }
    /// Calls `f` with each entry of the lists, those that mean nothing included, and with what is queued.
    pub(crate) fn each(&self, mut f: impl FnMut(Entry, usize)) {
        let t = &*self.0.lock();
        for (entry, list) in [
            (Entry::Young, t.young.as_slice()),
            (Entry::Old, t.old.as_slice()),
            (Entry::Queued, &t.ready.list.as_slice()[t.ready.head..]),
            (
                Entry::Queued,
                &t.critical.list.as_slice()[t.critical.head..],
            ),
        ] {
            list.iter().for_each(|o| f(entry, *o));
        }
    }
    /// Calls `visit` with each object that waits for its finalizer, and with whether that one is critical.
    pub(crate) fn each_queued(&self, visit: &mut dyn FnMut(bool, usize)) {
        let t = &*self.0.lock();
        for (is_critical, queue) in [(false, &t.ready), (true, &t.critical)] {
            let waiting = &queue.list.as_slice()[queue.head..];
            waiting.iter().for_each(|o| visit(is_critical, *o));
        }
    }
    /// For the verifier's tests: an entry that nobody made.
    #[cfg(all(test, not(miri)))]
    pub(crate) fn put(&self, entry: Entry, object: usize) {
        let t = &mut *self.0.lock();
        match entry {
            Entry::Young => t.young.push(object),
            Entry::Old => t.old.push(object),
            Entry::Queued => t.ready.list.push(object),
        }
    }
    /// How many wait.
    pub fn waiting(&self) -> usize {
        let t = self.0.lock();
        t.ready.list.len() - t.ready.head + t.critical.list.len() - t.critical.head
    }
    /// Queues every object that still has a registration (the process ends): those that `is_early` says yes to before the others, and of each the last
    /// registered first. The world is stopped.
    pub fn queue_all<M: Model>(&self, space: &Space, is_early: impl Fn(usize) -> bool) {
        let t = &mut *self.0.lock();
        for early in [true, false] {
            for list in [&t.young, &t.old] {
                for &o in list.as_slice().iter().rev() {
                    // An entry without its bit may be of memory that is something else now.
                    let is_due = space.is_finalizable(o) && is_early(o) == early;
                    if is_due && space.set_finalizable(o, false) {
                        queue::<M>(&mut t.ready, &mut t.critical, o);
                    }
                }
            }
        }
        t.young.clear();
        t.old.clear();
    }
    /// Queues the objects that still have a registration and that `wanted` says yes to. The world is stopped.
    pub fn queue_where<M: Model>(&self, space: &Space, wanted: impl Fn(usize) -> bool) {
        let t = &mut *self.0.lock();
        let (ready, critical) = (&mut t.ready, &mut t.critical);
        for list in [&mut t.young, &mut t.old] {
            list.retain_map(|o| {
                // An entry without its bit may be of memory that is something else now.
                if !space.is_finalizable(o) {
                    return None;
                }
                if !wanted(o) {
                    return Some(o);
                }
                if space.set_finalizable(o, false) {
                    queue::<M>(ready, critical, o);
                }
                None
            });
        }
    }
    /// Calls `visit` with each queued reference. The world is stopped.
    pub(crate) fn roots(&self, visit: &mut dyn FnMut(Slot)) {
        let t = self.0.lock();
        t.ready.roots(visit);
        t.critical.roots(visit);
    }
    /// Everything young is old now, where it is.
    pub(crate) fn young_are_old(&self, space: &Space) {
        let t = &mut *self.0.lock();
        while let Some(o) = t.young.pop() {
            if space.is_finalizable(o) {
                t.old.push(o);
            }
        }
    }
    /// Looks at registrations of old objects: those that are not `alive` are queued, and have to be kept. Are there any?
    pub(crate) fn old<M: Model>(
        &self,
        space: &Space,
        mut alive: impl FnMut(usize) -> bool,
    ) -> bool {
        let t = &mut *self.0.lock();
        let (ready, critical) = (&mut t.ready, &mut t.critical);
        let mut any = false;
        t.old.retain_map(|o| {
            if !space.is_finalizable(o) {
                return None;
            }
            if alive(o) {
                return Some(o);
            }
            space.set_finalizable(o, false);
            queue::<M>(ready, critical, o);
            any = true;
            None
        });
        any
    }
    /// Objects have moved: `moved` says where to. Registrations follow.
    pub(crate) fn follow(&self, space: &Space, mut moved: impl FnMut(usize) -> usize) {
        let t = &mut *self.0.lock();
        t.old.retain_map(|o| {
            let to = moved(o);
            if to != o && space.set_finalizable(o, false) {
                space.set_finalizable(to, true);
            }
            Some(to)
        });
        for q in [&mut t.ready, &mut t.critical] {
            for o in &mut q.list.as_mut_slice()[q.head..] {
                *o = moved(*o);
            }
        }
    }
}

pub(crate) fn queue<M: Model>(ready: &mut Queue, critical: &mut Queue, object: usize) {
    // SAFETY: the object is kept, so its header is there.
    if unsafe { M::is_critical(*(object as *const u64)) } {
        critical.list.push(object);
    } else {
        ready.list.push(object);
    }
}
