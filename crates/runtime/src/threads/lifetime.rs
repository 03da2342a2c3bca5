//! What outlives a thread: whether it has ended, who joins it, and whether it keeps the process alive.
//!
//! # Invariants
//! * A [`ThreadLifetime`] is reference-counted: one reference in `InternalThread.handle` (given back by its finalizer), one held
//!   by the thread itself while it runs, one by each thread that joins it.
//! * `FOREGROUND.count` is the number of lives whose `counts` is set; both change under its lock only.
use crate::cx::{Cx, Result};
use crate::object::ObjRef;
use crate::threads::park;
use std::mem::offset_of;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use vervet_abi::layouts::InternalThreadObject as Internal;
use vervet_os::LeafLock;

/// How long who joins a thread that the program did not start sleeps without looking whether it is there at all.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// See the module.
#[derive(Debug)]
pub struct ThreadLifetime {
    /// Started by the program: in the foreground it keeps the process alive.
    started: bool,
    ended: AtomicBool,
    joining: LeafLock<Vec<u32>>,
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
    /// Waits for the end, at most that many milliseconds (-1: for ever).
    pub fn join(&self, cx: &Cx<'_>, ms: i32) -> Result<bool> {
        let me = park::id(cx);
        let ended = || {
            let mut joining = self.joining.lock();
            let ended = self.ended.load(Ordering::SeqCst);
            if !ended && !joining.contains(&me) {
                joining.push(me);
            }
            ended.then_some(())
        };
        let end = park::deadline(ms);
        let _waiting = super::state::Waiting::begin(cx);
        let result = loop {
            // Nobody may say that a library's thread has ended: look from time to time.
            let until = match self.started {
                true => end,
                false => {
                    crate::threads::attach::bury_dead();
                    let soon = Instant::now() + LOOK_AGAIN;
                    Some(end.map_or(soon, |e| e.min(soon)))
                }
            };
            match super::state::wait_until(cx, until, ended) {
                Ok(None) if !park::is_over(end) => {}
                result => break result,
            }
        };
        self.joining.lock().retain(|j| *j != me);
        Ok(result?.is_some())
    }
}

/// Gives an InternalThread its life.
pub fn give(internal: ObjRef<'_>, lifetime: Arc<ThreadLifetime>) {
    internal.write(
        offset_of!(Internal, handle),
        Arc::into_raw(lifetime) as usize,
    );
}
/// The life of a thread; None before it is started.
pub fn of(internal: ObjRef<'_>) -> Option<Arc<ThreadLifetime>> {
    let at = internal.read::<usize>(offset_of!(Internal, handle)) as *const ThreadLifetime;
    if at.is_null() {
        return None;
    }
    // SAFETY: the word holds a reference of its own, given back only when the object is finalized.
    unsafe {
        Arc::increment_strong_count(at);
        Some(Arc::from_raw(at))
    }
}
/// The InternalThread is finalized: its reference goes.
pub fn take(internal: ObjRef<'_>) {
    let at = internal.read::<usize>(offset_of!(Internal, handle)) as *const ThreadLifetime;
    internal.write(offset_of!(Internal, handle), 0usize);
    if !at.is_null() {
        // SAFETY: as in `of`; the word is cleared, so this is done once.
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
        park::park(cx, || {}, None);
    }
}
