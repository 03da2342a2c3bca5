//! The two kinds of runtime lock; std and parking_lot locks are not used elsewhere.
//!
//! # Invariants
//! * [`LeafLock`]: nothing inside allocates a managed object, polls, changes thread state, runs managed
//!   code or takes a lock of lower rank. Only these may a collector take. Builds with debug assertions count the leaf
//!   locks a thread holds; what must not happen under one says so by [`assert_no_leaf_lock`].
//! * [`SafeLock`]: may be held across polls and state changes; a collector never takes one. A thread that
//!   has to wait for one does so in Native state: the runtime installs that by [`set_wait_hook`].
//! * No lock is held while managed code may run.
//! * The thread-local word is read and written by functions that are not inlined. A function that it were inlined into could keep the word's address
//!   across a park, and write that of the OS thread which the green thread has left.
#![expect(clippy::disallowed_types, reason = "the two lock types are made of it")]
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A short lock around a few lines of our own code. See the module's invariants.
#[derive(Default, Debug)]
pub struct LeafLock<T>(Mutex<T>);

impl<T> LeafLock<T> {
    /// A free lock around `value`.
    pub const fn new(value: T) -> Self {
        LeafLock(Mutex::new(value))
    }
    /// Takes the lock; released when the guard goes.
    pub fn lock(&self) -> LeafGuard<'_, T> {
        let held = Held::new();
        LeafGuard {
            guard: self.0.lock().unwrap_or_else(PoisonError::into_inner),
            held,
        }
    }
}

/// What [`LeafLock::lock`] gives.
#[derive(Debug)]
pub struct LeafGuard<'a, T> {
    guard: MutexGuard<'a, T>,
    held: Held,
}

impl<'a, T> LeafGuard<'a, T> {
    /// Lets go of the lock until `changed` is notified, and takes it again.
    pub fn wait(self, changed: &Condvar) -> LeafGuard<'a, T> {
        let LeafGuard { guard, held } = self;
        LeafGuard {
            guard: changed.wait(guard).unwrap_or_else(PoisonError::into_inner),
            held,
        }
    }
    /// As [`LeafGuard::wait`], for so long at most. Was that the time?
    pub fn wait_for(self, changed: &Condvar, time: Duration) -> (LeafGuard<'a, T>, bool) {
        let LeafGuard { guard, held } = self;
        let (guard, result) = changed
            .wait_timeout(guard, time)
            .unwrap_or_else(PoisonError::into_inner);
        (LeafGuard { guard, held }, result.timed_out())
    }
}
impl<T> Deref for LeafGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.guard
    }
}
impl<T> DerefMut for LeafGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

/// Counts a leaf lock of the calling thread while it lives.
#[derive(Debug)]
struct Held;

#[cfg(debug_assertions)]
thread_local! {
    static HELD: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

impl Held {
    #[inline]
    fn new() -> Held {
        #[cfg(debug_assertions)]
        set_held(held() + 1);
        Held
    }
}
#[cfg(debug_assertions)]
impl Drop for Held {
    fn drop(&mut self) {
        set_held(held() - 1);
    }
}

/// How many leaf locks the calling thread holds.
#[cfg(debug_assertions)]
#[inline(never)]
fn held() -> u32 {
    HELD.get()
}
#[cfg(debug_assertions)]
#[inline(never)]
fn set_held(count: u32) {
    HELD.set(count);
}

/// Panics, in builds with debug assertions, if the calling thread holds a [`LeafLock`]; `what` is not done under one.
#[inline]
pub fn assert_no_leaf_lock(what: &str) {
    #[cfg(debug_assertions)]
    assert!(held() == 0, "{what} under a leaf lock");
    let _ = what;
}

/// Does the calling thread hold a [`LeafLock`]? Only builds with debug assertions know; others say no.
#[inline]
pub fn holds_leaf_lock() -> bool {
    #[cfg(debug_assertions)]
    return held() != 0;
    #[cfg(not(debug_assertions))]
    false
}

/// Calls one of its arguments, in Native state: the first takes the lock, the second only waits until the lock was free.
pub type WaitHook = fn(&mut dyn FnMut(), &mut dyn FnMut());
static WAIT_HOOK: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Installs the function that waits for a lock in Native state.
pub fn set_wait_hook(hook: WaitHook) {
    WAIT_HOOK.store(hook as *mut (), Ordering::Release);
}

/// What [`SafeLock::lock`] gives.
pub type SafeGuard<'a, T> = MutexGuard<'a, T>;

/// A lock that may be held for long. See the module's invariants.
#[derive(Default, Debug)]
pub struct SafeLock<T>(Mutex<T>);

impl<T> SafeLock<T> {
    /// A free lock around `value`.
    pub const fn new(value: T) -> Self {
        SafeLock(Mutex::new(value))
    }
    /// Takes the lock if it is free.
    pub fn try_lock(&self) -> Option<SafeGuard<'_, T>> {
        self.0.try_lock().ok()
    }
    /// Takes the lock, waiting for it in Native state if it is held.
    pub fn lock(&self) -> SafeGuard<'_, T> {
        assert_no_leaf_lock("taking a SafeLock");
        if let Ok(guard) = self.0.try_lock() {
            return guard;
        }
        let hook = WAIT_HOOK.load(Ordering::Acquire);
        loop {
            let mut guard = None;
            let mut wait = || guard = Some(self.0.lock().unwrap_or_else(PoisonError::into_inner));
            if hook.is_null() {
                wait();
            } else {
                // SAFETY: only `set_wait_hook` stores here, and it stores a `WaitHook`.
                let hook: WaitHook = unsafe { std::mem::transmute(hook) };
                let mut look = || drop(self.0.lock().unwrap_or_else(PoisonError::into_inner));
                hook(&mut wait, &mut look);
            }
            if let Some(guard) = guard {
                return guard;
            }
            // The hook only waited until the lock was free.
            if let Ok(guard) = self.0.try_lock() {
                return guard;
            }
        }
    }
}
