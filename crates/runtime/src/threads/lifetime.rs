//! What outlives a thread: whether it has ended, who joins it, and whether it keeps the process alive.
//!
//! # Invariants
//! * A thread that is started has one when `Thread.Start` returns, and an attached thread as long as it runs. A green thread that runs tasks gets one
//!   when somebody wants to join it: few are joined, and there may be a million.
//! * A [`ThreadLifetime`] is reference-counted: one reference in `InternalThread.handle` (given back by its finalizer), one held
//!   by the thread itself while it runs, one by each thread that joins it.
//! * `FOREGROUND.count` is the number of lifetimes whose `counts` is set; both change under its lock only.
use crate::cx::Cx;
use crate::memory::gc;
use crate::object::ObjRef;
use crate::threads::{park, state};
use std::mem::offset_of;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use vervet_abi::layouts::InternalThreadObject as Internal;
use vervet_os::LeafLock;

/// See the module.
#[derive(Debug)]
pub struct ThreadLifetime {
    /// Started by the program: in the foreground it keeps the process alive.
    pub(super) started: bool,
    pub(super) ended: AtomicBool,
    pub(super) joining: LeafLock<Vec<u32>>,
    /// See [`FOREGROUND`].
    counts: AtomicBool,
}

struct Foreground {
    count: usize,
    waiters: Vec<u32>,
}
static FOREGROUND: LeafLock<Foreground> = LeafLock::new(Foreground {
    count: 0,
    waiters: Vec::new(),
});

impl ThreadLifetime {
    /// A life that begins; `started` by the program, or a thread that was there.
    pub fn new(started: bool) -> Arc<ThreadLifetime> {
        Arc::new(ThreadLifetime {
            started,
            ended: AtomicBool::new(false),
            joining: LeafLock::default(),
            counts: AtomicBool::new(false),
        })
    }
    /// Looks whether the thread keeps the process alive. `foreground` is asked under the lock, so the last word stands.
    pub fn keep_alive(&self, foreground: impl FnOnce() -> bool) {
        let mut all = FOREGROUND.lock();
        let counts = self.started && !self.ended.load(Ordering::SeqCst) && foreground();
        match (self.counts.swap(counts, Ordering::Relaxed), counts) {
            (false, true) => all.count += 1,
            (true, false) => {
                all.count -= 1;
                if all.count == 0 {
                    all.waiters.drain(..).for_each(park::unpark);
                }
            }
            _ => {}
        }
    }
    /// The start has failed, and the thread is Unstarted again: who joins it looks at that.
    pub(super) fn start_failed(&self, internal: ObjRef<'_>) {
        // Another thread may have started it since.
        self.keep_alive(|| state::get(internal) & (state::BACKGROUND | state::UNSTARTED) == 0);
        let joining = std::mem::take(&mut *self.joining.lock());
        joining.into_iter().for_each(park::unpark);
    }
    /// The thread has ended.
    pub fn end(&self) {
        let joining = {
            let mut joining = self.joining.lock();
            self.ended.store(true, Ordering::SeqCst);
            std::mem::take(&mut *joining)
        };
        joining.into_iter().for_each(park::unpark);
        self.keep_alive(|| false);
    }
}

/// The word of an InternalThread that holds its life.
fn word(internal: ObjRef<'_>) -> &AtomicPtr<ThreadLifetime> {
    let at = internal.addr() + offset_of!(Internal, handle);
    // SAFETY: the object is an InternalThread, which has the word; the reference pins the object.
    unsafe { AtomicPtr::from_ptr(at as *mut *mut ThreadLifetime) }
}

/// Gives an InternalThread its life.
pub fn give(internal: ObjRef<'_>, lifetime: Arc<ThreadLifetime>) {
    word(internal).store(Arc::into_raw(lifetime).cast_mut(), Ordering::SeqCst);
}
/// The life of a thread that is about to be started by the program, made if it has none.
pub(super) fn given(internal: ObjRef<'_>) -> Arc<ThreadLifetime> {
    loop {
        if let Some(life) = of(internal) {
            return life;
        }
        let life = ThreadLifetime::new(true);
        let own = Arc::into_raw(life.clone()).cast_mut();
        match word(internal).compare_exchange(null_mut(), own, Ordering::SeqCst, Ordering::SeqCst) {
            Ok(_) => return life,
            // SAFETY: the reference that was to be the word's.
            Err(_) => drop(unsafe { Arc::from_raw(own) }),
        }
    }
}
/// The life of a thread; None before anybody has tried to start it. A green thread that runs tasks has none before somebody [wants to join it](to_join).
pub fn of(internal: ObjRef<'_>) -> Option<Arc<ThreadLifetime>> {
    let at = word(internal).load(Ordering::SeqCst);
    if at.is_null() {
        return None;
    }
    // SAFETY: the word holds a reference of its own, given back only when the object is finalized.
    unsafe {
        Arc::increment_strong_count(at);
        Some(Arc::from_raw(at))
    }
}
/// The life of a thread that is to be joined; None before it is started.
pub(super) fn to_join(internal: ObjRef<'_>) -> Option<Arc<ThreadLifetime>> {
    let runs_tasks = internal.read::<u8>(offset_of!(Internal, threadpool_thread)) != 0;
    if state::get(internal) & state::UNSTARTED != 0 {
        return None;
    }
    if let Some(life) = of(internal) {
        return Some(life);
    }
    if !runs_tasks {
        return None;
    }
    let life = ThreadLifetime::new(false);
    let own = Arc::into_raw(life.clone()).cast_mut();
    match word(internal).compare_exchange(null_mut(), own, Ordering::SeqCst, Ordering::SeqCst) {
        Ok(_) => {
            // The finalizer gives the reference of the word back.
            gc::register_finalizer(internal);
            // Who ends the thread sets the state first and looks for a life then.
            if state::get(internal) & state::STOPPED != 0 {
                life.end();
            }
            Some(life)
        }
        Err(_) => {
            // SAFETY: the reference that was to be the word's.
            drop(unsafe { Arc::from_raw(own) });
            of(internal)
        }
    }
}
/// The InternalThread is finalized: its reference goes.
pub fn take(internal: ObjRef<'_>) {
    let at = word(internal).swap(null_mut(), Ordering::SeqCst);
    if !at.is_null() {
        // SAFETY: the word held a reference of its own to the lifetime. It is cleared above, so the reference is dropped once.
        drop(unsafe { Arc::from_raw(at) });
    }
}

/// Waits until no thread that was started keeps the process alive.
pub fn wait_for_foreground(cx: &Cx<'_>) {
    let me = park::id(cx);
    loop {
        {
            let mut all = FOREGROUND.lock();
            if all.count == 0 {
                return;
            }
            if !all.waiters.contains(&me) {
                all.waiters.push(me);
            }
        }
        park::reason::set(cx, park::Reason::Foreground, None);
        park::park(cx, || {}, None);
    }
}
