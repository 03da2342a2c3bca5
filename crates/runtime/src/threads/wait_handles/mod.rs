//! Wait handles: the events, semaphores, mutexes and processes that the class library waits for.
//!
//! | object | signalled while | a wait that succeeds |
//! |---|---|---|
//! | event, manual reset | set | changes nothing |
//! | event, automatic reset | set | resets it |
//! | semaphore | the count is above 0 | takes one off the count |
//! | mutex | nobody owns it, or the waiting thread does | makes the thread the owner, or counts once more |
//! | process | it has ended | changes nothing |
//!
//! # How it works
//! One leaf lock guards all objects. A thread that finds, under the lock, that it must wait leaves its id with each object that it
//! waits for before it gives the lock back, and parks. A thread that makes an object signalled unparks all of its waiters,
//! and each of them tries again under the lock. So waiting for all objects takes all or none of them, and no wake-up is lost.
//!
//! # Invariants
//! * An object has a thread's id only while that thread is in [`wait`].
//! * A handle is `BASE + 16 * index`: never 0 or -1, never a file descriptor. An index is used again only after the last
//!   reference to its object went.
//! * The names of objects are those of this process; other processes do not see them.
pub mod filetime;
pub mod proc_files;
pub mod process;

use crate::cx::{Cx, Result};
use crate::threads::attach;
use crate::threads::green::kept::Kept;
use crate::threads::green::reentry;
use crate::threads::park;
use crate::threads::wait as managed_wait;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use vervet_os::LeafLock;

const BASE: usize = 0x1000_0000;
/// The wait timed out.
pub const TIMEOUT: i32 = 0x102;
/// The wait failed: no such handle.
pub const FAILED: i32 = 0x7fff_ffff;
/// SignalAndWait: the semaphore is full.
pub const TOO_MANY_POSTS: i32 = 0x12a;
/// SignalAndWait: the mutex is not ours.
pub const NOT_OWNER: i32 = 0x12b;
/// Added to the index of a mutex whose owner ended without releasing it.
pub const ABANDONED: i32 = 0x80;
/// How often a waiting thread asks after a process where the kernel has no pidfds.
const PROCESS_POLL: Duration = Duration::from_millis(10);

/// What a handle stands for.
#[derive(Clone, Debug)]
pub enum Object {
    /// An event.
    Event {
        /// It stays signalled until it is reset.
        manual: bool,
        /// Signalled.
        set: bool,
    },
    /// A semaphore.
    Semaphore {
        /// What is left.
        count: i32,
        /// Its maximum.
        max: i32,
    },
    /// A mutex.
    Mutex {
        /// Owner id of the thread that owns it, or 0.
        owner: u32,
        /// How often it does.
        count: u32,
        /// Its owner ended without releasing it.
        abandoned: bool,
    },
    /// A process.
    Process {
        /// Its id.
        pid: i32,
        /// When it was started, as a FILETIME.
        started: i64,
        /// What is known of its end.
        ended: Option<process::Ended>,
    },
}
impl Object {
    fn kind(&self) -> std::mem::Discriminant<Object> {
        std::mem::discriminant(self)
    }
}

struct Entry {
    object: Object,
    references: u32,
    name: Option<Vec<u16>>,
    /// Ids of the threads that wait for it, alone or with others.
    waiters: Vec<u32>,
}
impl Entry {
    /// The ids of the threads to be unparked after a change: all waiters if the object is signalled, otherwise none.
    fn to_wake(&self) -> Vec<u32> {
        let signalled = match &self.object {
            Object::Event { set, .. } => *set,
            Object::Semaphore { count, .. } => *count > 0,
            Object::Mutex { owner, .. } => *owner == 0,
            Object::Process { .. } => true,
        };
        if signalled {
            self.waiters.clone()
        } else {
            Vec::new()
        }
    }
}
#[derive(Default)]
struct Table {
    entries: Vec<Option<Entry>>,
    free: Vec<usize>,
    names: Option<HashMap<Vec<u16>, usize>>,
    processes: process::Processes,
}
static TABLE: LeafLock<Table> = LeafLock::new(Table {
    entries: Vec::new(),
    free: Vec::new(),
    names: None,
    processes: process::Processes::new(),
});

impl Table {
    fn entry(&mut self, handle: usize) -> Option<&mut Entry> {
        let at = handle.checked_sub(BASE).filter(|d| d % 16 == 0)? / 16;
        self.entries.get_mut(at)?.as_mut()
    }
    fn object(&mut self, handle: usize) -> Option<&mut Object> {
        self.entry(handle).map(|e| &mut e.object)
    }
    fn add(&mut self, object: Object, name: Option<Vec<u16>>) -> usize {
        let at = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            self.entries.len() - 1
        });
        if let Some(n) = &name {
            self.names.get_or_insert_default().insert(n.clone(), at);
        }
        self.entries[at] = Some(Entry {
            object,
            references: 1,
            name,
            waiters: Vec::new(),
        });
        BASE + 16 * at
    }
}

/// What [`create`] did.
pub enum Created {
    /// A new object.
    New(usize),
    /// The object that already had the name; it has one more reference now.
    Existing(usize),
    /// An object of another kind has that name.
    WrongKind,
}
/// Why [`open`] failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpenError {
    /// No object has that name.
    NotFound,
    /// An object of another kind has that name.
    WrongKind,
}
/// Makes an object, or finds the one of that name. An empty name makes an object without a name.
pub fn create(object: Object, name: &[u16]) -> Created {
    if matches!(object, Object::Mutex { .. }) {
        abandon_at_end();
    }
    let mut t = TABLE.lock();
    if name.is_empty() {
        return Created::New(t.add(object, None));
    }
    let found = t.names.as_ref().and_then(|n| n.get(name)).copied();
    if let Some(at) = found {
        let e = t.entries[at].as_mut().expect("names refer to live entries");
        if e.object.kind() != object.kind() {
            return Created::WrongKind;
        }
        e.references += 1;
        return Created::Existing(BASE + 16 * at);
    }
    Created::New(t.add(object, Some(name.to_vec())))
}
/// The handle of a named object of the kind of `like`: an error if there is none.
pub fn open(like: &Object, name: &[u16]) -> std::result::Result<usize, OpenError> {
    let mut t = TABLE.lock();
    let Some(at) = t.names.as_ref().and_then(|n| n.get(name)).copied() else {
        return Err(OpenError::NotFound);
    };
    let e = t.entries[at].as_mut().expect("names refer to live entries");
    if e.object.kind() != like.kind() {
        return Err(OpenError::WrongKind);
    }
    e.references += 1;
    Ok(BASE + 16 * at)
}
/// Gives a reference back. The last one removes the object, and its waiters find that it is gone. False if the value is no
/// handle.
pub fn close(handle: usize) -> bool {
    let mut t = TABLE.lock();
    let Some(e) = t.entry(handle) else {
        return false;
    };
    e.references -= 1;
    if e.references == 0 {
        let at = (handle - BASE) / 16;
        let gone = t.entries[at].take().expect("just found");
        if let (Some(name), Some(names)) = (gone.name, t.names.as_mut()) {
            names.remove(&name);
        }
        t.free.push(at);
        drop(t);
        // The waiters find that the handle is gone, and their waits fail.
        gone.waiters.into_iter().for_each(park::unpark);
    }
    true
}
/// Another reference to the object; false for something that is no handle.
pub fn duplicate(handle: usize) -> bool {
    TABLE
        .lock()
        .entry(handle)
        .map(|e| e.references += 1)
        .is_some()
}
/// Changes an object; None for something that is no handle. Wakes its waiters if it is signalled then.
pub fn change<T>(handle: usize, with: impl FnOnce(&mut Object) -> T) -> Option<T> {
    let (result, waiters) = {
        let mut t = TABLE.lock();
        let e = t.entry(handle)?;
        (with(&mut e.object), e.to_wake())
    };
    waiters.into_iter().for_each(park::unpark);
    Some(result)
}
/// A copy of an object's state.
pub fn inspect(handle: usize) -> Option<Object> {
    TABLE.lock().object(handle).map(|o| o.clone())
}

/// For reports: what kind of object a handle stands for, and the owner id of the thread that owns it, or 0. Takes no memory.
pub(crate) fn describe(handle: usize) -> Option<(&'static str, u32)> {
    let mut t = TABLE.lock();
    Some(match t.object(handle)? {
        Object::Event { .. } => ("event", 0),
        Object::Semaphore { .. } => ("semaphore", 0),
        Object::Mutex { owner, .. } => ("mutex", *owner),
        Object::Process { .. } => ("process", 0),
    })
}

/// Signals an event. False if it is none.
pub fn set_event(handle: usize, value: bool) -> bool {
    change(handle, |o| match o {
        Object::Event { set, .. } => {
            *set = value;
            true
        }
        _ => false,
    })
    .unwrap_or(false)
}
/// Gives back to a semaphore; its count before, or None if it would exceed the maximum.
pub fn release_semaphore(handle: usize, by: i32) -> Option<i32> {
    change(handle, |o| match o {
        Object::Semaphore { count, max } if by > 0 && *max - *count >= by => {
            *count += by;
            Some(*count - by)
        }
        _ => None,
    })
    .flatten()
}
/// Releases a mutex once. False if this thread does not own it. One that its owner has abandoned may be released by anybody, and stays as it is:
/// the next thread to take it learns that it was abandoned.
pub fn release_mutex(handle: usize, me: u32) -> bool {
    change(handle, |o| match o {
        Object::Mutex {
            abandoned: true, ..
        } => true,
        Object::Mutex { owner, count, .. } if *owner == me => {
            *count -= 1;
            if *count == 0 {
                *owner = 0;
            }
            true
        }
        _ => false,
    })
    .unwrap_or(false)
}
/// From the first mutex on, threads that end abandon theirs.
fn abandon_at_end() {
    static HOOKED: AtomicBool = AtomicBool::new(false);
    if !HOOKED.swap(true, Ordering::AcqRel) {
        // SAFETY: a hook is given the context of the thread that ends.
        attach::on_detach(|context| abandon(unsafe { (*context).owner_id }));
    }
}
/// Abandons the mutexes of a thread that ends.
pub fn abandon(thread: u32) {
    let mut waiters = Vec::new();
    for e in TABLE.lock().entries.iter_mut().flatten() {
        if let Object::Mutex {
            owner,
            count,
            abandoned,
        } = &mut e.object
            && *owner == thread
        {
            (*owner, *count, *abandoned) = (0, 0, true);
            waiters.extend(e.to_wake());
        }
    }
    waiters.into_iter().for_each(park::unpark);
}

fn ready(o: &mut Object, me: u32) -> bool {
    match o {
        Object::Event { set, .. } => *set,
        Object::Semaphore { count, .. } => *count > 0,
        Object::Mutex { owner, .. } => *owner == 0 || *owner == me,
        Object::Process { ended, .. } => ended.is_some(),
    }
}
/// Takes what a wait takes; true if it was abandoned.
fn acquire(o: &mut Object, me: u32) -> bool {
    match o {
        Object::Event { manual, set } => {
            *set &= *manual;
            false
        }
        Object::Semaphore { count, .. } => {
            *count -= 1;
            false
        }
        Object::Mutex {
            owner,
            count,
            abandoned,
        } => {
            *owner = me;
            *count += 1;
            std::mem::take(abandoned)
        }
        Object::Process { .. } => false,
    }
}

/// Tries once: the result of the wait (docs/class-library.md#threads), or None if it must go on. With `all`, nothing is taken
/// unless everything can be.
fn attempt(t: &mut Table, handles: &[usize], all: bool, me: u32) -> Option<i32> {
    if handles.iter().any(|h| t.object(*h).is_none()) {
        return Some(FAILED);
    }
    let is_ready = |h: usize, t: &mut Table| t.object(h).is_some_and(|o| ready(o, me));
    if all {
        if !handles.iter().all(|h| is_ready(*h, t)) {
            return None;
        }
        let mut code = 0;
        for (i, h) in handles.iter().enumerate() {
            if t.object(*h).is_some_and(|o| acquire(o, me)) && code == 0 {
                code = ABANDONED + i as i32;
            }
        }
        return Some(code);
    }
    let first = handles.iter().position(|h| is_ready(*h, t))?;
    let abandoned = t.object(handles[first]).is_some_and(|o| acquire(o, me));
    Some(first as i32 + if abandoned { ABANDONED } else { 0 })
}

/// The id by which this thread owns mutexes and is unparked.
pub fn me(cx: &Cx<'_>) -> u32 {
    park::id(cx)
}

/// Tries once. If the wait must go on, leaves this thread's id with every object, under the same lock, so that no change
/// between the try and the parking is missed.
fn attempt_or_enlist(handles: &[usize], all: bool, me: u32) -> Option<i32> {
    let mut t = TABLE.lock();
    let code = attempt(&mut t, handles, all, me);
    if code.is_none() {
        for h in handles {
            if let Some(e) = t.entry(*h)
                && !e.waiters.contains(&me)
            {
                e.waiters.push(me);
            }
        }
    }
    code
}
fn delist(handles: &[usize], me: u32) {
    let mut t = TABLE.lock();
    for h in handles {
        if let Some(e) = t.entry(*h) {
            e.waiters.retain(|w| *w != me);
        }
    }
}

/// Waits for one or all of the handles, for at most `ms` milliseconds (-1: for ever).
///
/// The result is what `WaitHandle.Wait_internal` returns (docs/class-library.md#threads): the index of the handle that was signalled
/// (0 with `all`), [`ABANDONED`] more if its mutex was abandoned, [`TIMEOUT`], or [`FAILED`] for a value that is no handle.
/// An interrupt or abort of the thread is an error.
pub fn wait<'cx>(cx: &'cx Cx<'cx>, handles: &[usize], all: bool, ms: i32) -> Result<i32> {
    let me = me(cx);
    let resumed = reentry::resumed(cx);
    if resumed.is_none() {
        managed_wait::poll_interrupt(cx)?;
        if let Some(code) = attempt(&mut TABLE.lock(), handles, all, me) {
            return Ok(code);
        }
    }
    let end = resumed.map_or_else(|| park::deadline(ms), |kept| kept.end);
    let _waiting = managed_wait::Waiting::begin(cx, resumed.is_some());
    let result = wait_in_line(cx, handles, all, end);
    if !reentry::leaves(cx) {
        delist(handles, me);
    }
    result
}

fn wait_in_line(
    cx: &Cx<'_>,
    handles: &[usize],
    all: bool,
    deadline: Option<Instant>,
) -> Result<i32> {
    let is_process = |h: &&usize| matches!(inspect(**h), Some(Object::Process { .. }));
    let processes: Vec<usize> = handles.iter().filter(is_process).copied().collect();
    processes.iter().for_each(|h| process::will_wait(*h));
    let reason = park::Reason::Handles {
        first: handles.first().copied().unwrap_or(0),
        count: handles.len().min(64) as u8,
        all,
    };
    loop {
        managed_wait::poll_interrupt(cx)?;
        if let Some(code) = attempt_or_enlist(handles, all, me(cx)) {
            return Ok(code);
        }
        if park::is_over(deadline) {
            return Ok(TIMEOUT);
        }
        let next = if !processes.is_empty() && !process::is_watching() {
            processes.iter().for_each(|h| process::will_wait(*h));
            let look_again = Instant::now() + PROCESS_POLL;
            Some(deadline.map_or(look_again, |d| d.min(look_again)))
        } else {
            deadline
        };
        park::reason::set(cx, reason, deadline);
        let kept = Kept {
            end: deadline,
            note: 0,
        };
        managed_wait::park(cx, || {}, next, kept).map_err(|alert| alert.raise(cx))?;
    }
}
