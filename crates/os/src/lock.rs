//! The two kinds of runtime lock; std and parking_lot locks are not used elsewhere.
//!
//! # Invariants
//! * [`LeafLock`]: nothing inside allocates a managed object, polls, changes thread state, runs managed
//!   code or takes another lock. Only these may a collector take.
//! * [`SafeLock`]: may be held across polls and state changes; a collector never takes one. A thread that
//!   has to wait for one does so in Native state: the runtime installs that by [`set_wait_hook`].
//! * No lock is held while managed code may run.
#![allow(clippy::disallowed_types, reason = "the two lock types are made of it")]
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A short lock around a few lines of our own code. See the module's invariants.
#[derive(Default, Debug)]
pub struct LeafLock<T>(Mutex<T>);

impl<T> LeafLock<T> {
    /// A free lock around `value`.
    pub const fn new(value: T) -> Self {
        LeafLock(Mutex::new(value))
    }
    /// Takes the lock; released when the guard goes.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type WaitHook = fn(&mut dyn FnMut());
static WAIT_HOOK: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Installs the function that runs a blocking wait in Native state.
pub fn set_wait_hook(hook: WaitHook) {
    WAIT_HOOK.store(hook as *mut (), Ordering::Release);
}

/// A lock that may be held for long. See the module's invariants.
#[derive(Default, Debug)]
pub struct SafeLock<T>(Mutex<T>);

impl<T> SafeLock<T> {
    /// A free lock around `value`.
    pub const fn new(value: T) -> Self {
        SafeLock(Mutex::new(value))
    }
    /// Takes the lock, waiting for it in Native state if it is held.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        if let Ok(guard) = self.0.try_lock() {
            return guard;
        }
        let hook = WAIT_HOOK.load(Ordering::Acquire);
        let mut guard = None;
        let mut wait = || guard = Some(self.0.lock().unwrap_or_else(PoisonError::into_inner));
        if hook.is_null() {
            wait();
        } else {
            // SAFETY: only `set_wait_hook` stores here, and it stores a `WaitHook`.
            let hook: WaitHook = unsafe { std::mem::transmute(hook) };
            hook(&mut wait);
        }
        guard.expect("the wait hook ran its closure")
    }
}
