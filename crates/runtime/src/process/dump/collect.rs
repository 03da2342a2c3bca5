//! What the threads do at one moment: noted while the world is stopped.
//!
//! # Invariants
//! * The vectors have their memory before the world is stopped; while it is, nothing is pushed beyond their capacity. What finds no room is
//!   left out, and counted.
//! * What is noted stays valid when the threads go on: numbers, names that were copied, addresses of VTables, of methods and of code. Addresses of
//!   objects and of lifetimes are compared and printed, and not followed.
use crate::classes::initialize;
use crate::exceptions::stack_words::{self, Word};
use crate::memory::address_plan;
use crate::object::ObjRef;
use crate::safepoint::{self, Stopped, ThreadView, green_contexts, registry};
use crate::threads::park::{self, Reason};
use crate::threads::{green, monitor, name, wait_handles};
use std::hash::Hasher;
use std::mem::offset_of;
use std::ptr::null_mut;
use std::sync::atomic::Ordering;
use vervet_abi::layouts::InternalThreadObject as Internal;
use vervet_abi::{State, ThreadContext};

/// What a thread does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Activity {
    /// It runs managed code, or code of the runtime.
    Runs,
    /// It is in native code.
    Native,
    /// A green thread that is ready, and waits for a carrier.
    Ready,
    /// A green thread that has not begun.
    New,
    /// It waits.
    Waits(park::reason::Wait),
}

impl Activity {
    /// Threads of a group have the same.
    fn kind(self) -> u8 {
        match self {
            Activity::Runs => 0,
            Activity::Native => 1,
            Activity::Ready => 2,
            Activity::New => 3,
            Activity::Waits(wait) => 4 + wait.reason.kind(),
        }
    }
}

/// A thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thread {
    /// The id by which it owns monitors.
    pub(super) owner_id: u32,
    /// Thread.ManagedThreadId, or 0.
    pub(super) managed_id: i32,
    /// The kernel's id of the OS thread that it runs on; 0: none.
    pub(super) tid: i32,
    pub(super) is_green: bool,
    pub(super) activity: Activity,
    /// The VTable of the object whose monitor it waits for, or of the class whose constructor; 0: none.
    pub(super) vtable: usize,
    /// The kind of the wait handle that it waits for.
    pub(super) handle: Option<&'static str>,
    /// The owner id of the thread that has what it waits for; 0: none, or it is not known.
    pub(super) held_by: u32,
    /// The address of its `ThreadLifetime`, or 0.
    pub(super) lifetime: usize,
    /// Its name, in [`Snapshot::units`].
    name: (u32, u32),
    /// The next thread of its group; `NONE`: it is the last.
    next: u32,
}

/// Threads that have the same stack and do the same kind of thing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    hash: u64,
    /// Its stack, in [`Snapshot::words`].
    words: (u32, u32),
    first: u32,
    last: u32,
    pub(super) count: u32,
}

const NONE: u32 = u32::MAX;

/// All threads that run managed code, or have been started to.
pub(super) struct Snapshot {
    pub(super) threads: Vec<Thread>,
    pub(super) groups: Vec<Group>,
    /// The groups by hash: index + 1, or 0.
    buckets: Vec<u32>,
    words: Vec<Word>,
    units: Vec<u16>,
    /// Threads for which there was no room.
    pub(super) left_out: usize,
    /// OS threads without managed frames: the runtime's own, and workers of the pool without work.
    pub(super) idle: usize,
    /// Nanoseconds of the clock.
    pub(super) taken_at: u64,
}

/// The most frames of one thread that are noted.
pub(super) const FRAMES: usize = 512;
/// Threads that may be started between the making of the memory and the stop.
const MORE: usize = 256;

fn room<T>(count: usize) -> Option<Vec<T>> {
    let mut made = Vec::new();
    made.try_reserve_exact(count).ok().map(|()| made)
}

impl Snapshot {
    /// Stops the world and looks. None: there is no memory. The calling thread is not attached.
    pub(super) fn take() -> Option<Snapshot> {
        let threads = registry::count() + green_contexts::count() + MORE;
        let words = match address_plan::is_limited() {
            true => 1 << 17,
            false => 1 << 22,
        };
        let bucket_count = (2 * threads).next_power_of_two();
        let mut buckets = room(bucket_count)?;
        buckets.resize(bucket_count, 0);
        let mut snapshot = Snapshot {
            threads: room(threads)?,
            groups: room(threads)?,
            buckets,
            words: room(words)?,
            units: room(32 * threads.min(1 << 15))?,
            left_out: 0,
            idle: 0,
            taken_at: vervet_os::clock::now(),
        };
        // SAFETY: the calling thread is not attached.
        unsafe { safepoint::stop(null_mut(), |world| snapshot.look(world)) };
        Some(snapshot)
    }

    fn look(&mut self, world: &Stopped) {
        // SAFETY: the world is stopped as long as `look` runs.
        world.for_each_thread(|view| unsafe { self.add(&view) });
        // The visitor above is under the list's lock, and takes no other.
        for thread in &mut self.threads {
            let Activity::Waits(wait) = thread.activity else {
                continue;
            };
            match wait.reason {
                Reason::Handles { first, count, .. } => {
                    if let Some((kind, owner)) = wait_handles::describe(first) {
                        thread.handle = Some(kind);
                        thread.held_by = if count == 1 { owner } else { 0 };
                    }
                }
                Reason::Constructor(vtable) => thread.held_by = initialize::runs(vtable),
                _ => {}
            }
        }
    }

    /// # Safety
    /// The world is stopped.
    unsafe fn add(&mut self, view: &ThreadView<'_>) {
        // SAFETY: the caller's promise: contexts, objects and stacks stay as they are.
        unsafe {
            let context = view.context;
            let is_green = (*context).green != 0;
            if is_green && view.tid == 0 && green::is_free(context) {
                return;
            }
            if self.threads.len() == self.threads.capacity() {
                self.left_out += 1;
                return;
            }
            let activity = activity(context, view.tid != 0);
            let start = self.words.len();
            stack_words::collect(context, view.at, |word| {
                let room = self.words.len() < self.words.capacity();
                if room {
                    self.words.push(word);
                }
                room && self.words.len() - start < FRAMES
            });
            if self.words.len() == start && !is_green {
                self.idle += 1;
                return;
            }
            let mut thread = Thread {
                owner_id: (*context).owner_id,
                managed_id: 0,
                tid: view.tid,
                is_green,
                activity,
                vtable: 0,
                handle: None,
                held_by: 0,
                lifetime: 0,
                name: (0, 0),
                next: NONE,
            };
            let internal: ObjRef<'_> = ObjRef::from_addr((*context).internal_thread);
            // (A thread that has not begun has the objects of the one before it.)
            if !internal.is_null() && activity != Activity::New {
                thread.managed_id = internal.read(offset_of!(Internal, managed_id));
                thread.lifetime = internal.read(offset_of!(Internal, handle));
                name::of_stopped(internal, |units| {
                    let at = self.units.len();
                    let units = &units[..units.len().min(64)];
                    if self.units.capacity() - at >= units.len() {
                        self.units.extend_from_slice(units);
                        thread.name = (at as u32, units.len() as u32);
                    }
                });
            }
            if let Activity::Waits(wait) = activity {
                match wait.reason {
                    Reason::Monitor(object) | Reason::Pulse(object) => {
                        let object: ObjRef<'_> = ObjRef::from_addr(object);
                        thread.vtable = std::ptr::from_ref(object.vtable()) as usize;
                        thread.held_by = monitor::owner(object).0;
                    }
                    Reason::Constructor(vtable) => thread.vtable = vtable,
                    _ => {}
                }
            }
            self.put(thread, start);
        }
    }

    /// Adds a thread whose stack is the last words, from `start`, to the group that it belongs to.
    fn put(&mut self, thread: Thread, start: usize) {
        let mut hasher = rustc_hash::FxHasher::default();
        hasher.write_u8(thread.activity.kind());
        hasher.write_u8(u8::from(thread.is_green));
        self.words[start..]
            .iter()
            .for_each(|w| hasher.write_u64(w.0));
        let hash = hasher.finish();
        let index = self.threads.len() as u32;
        self.threads.push(thread);
        let mask = self.buckets.len() - 1;
        let mut at = (hash >> 20) as usize & mask;
        while self.buckets[at] != 0 {
            let number = self.buckets[at] as usize - 1;
            let group = self.groups[number];
            let first = &self.threads[group.first as usize];
            if group.hash == hash
                && first.is_green == thread.is_green
                && first.activity.kind() == thread.activity.kind()
                && self.words_of(&group) == &self.words[start..]
            {
                self.words.truncate(start);
                self.threads[group.last as usize].next = index;
                let group = &mut self.groups[number];
                (group.last, group.count) = (index, group.count + 1);
                return;
            }
            at = (at + 1) & mask;
        }
        // There are as many places for groups as for threads, and twice as many buckets.
        self.buckets[at] = self.groups.len() as u32 + 1;
        self.groups.push(Group {
            hash,
            words: (start as u32, (self.words.len() - start) as u32),
            first: index,
            last: index,
            count: 1,
        });
    }

    fn words_of(&self, group: &Group) -> &[Word] {
        let (at, count) = group.words;
        &self.words[at as usize..][..count as usize]
    }

    /// The stack of the group's threads.
    pub(super) fn stack(&self, group: &Group) -> &[Word] {
        self.words_of(group)
    }

    /// The threads of a group.
    pub(super) fn members(&self, group: &Group) -> impl Iterator<Item = &Thread> {
        let get = |at: u32| self.threads.get(at as usize);
        std::iter::successors(get(group.first), move |t| get(t.next))
    }

    /// The name of a thread, if it has one.
    pub(super) fn name(&self, thread: &Thread) -> Option<String> {
        let (at, count) = thread.name;
        let units = self.units.get(at as usize..)?.get(..count as usize)?;
        (count != 0).then(|| String::from_utf16_lossy(units))
    }
}

/// # Safety
/// The world is stopped. `has_thread`: an OS thread runs with the context.
unsafe fn activity(context: *mut ThreadContext, has_thread: bool) -> Activity {
    // SAFETY: the context of a thread; the world is stopped.
    unsafe {
        let wait = park::reason::of((*context).owner_id);
        if !has_thread {
            return match wait {
                Some(wait) => Activity::Waits(wait),
                None if green::is_new(context) => Activity::New,
                None => Activity::Ready,
            };
        }
        let state = registry::state(context).load(Ordering::Relaxed);
        match wait {
            Some(wait) if state == State::Native as u8 => Activity::Waits(wait),
            None if state == State::Native as u8 || state == State::Foreign as u8 => {
                Activity::Native
            }
            _ => Activity::Runs,
        }
    }
}
