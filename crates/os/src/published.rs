//! A cell that is set once and then read for ever.
//!
//! # Invariants
//! The value is complete before the pointer is stored (release) and is never moved or dropped, so a
//! reader that sees it may keep the reference for the life of the process. Two threads may compute the
//! value at the same time; the first to publish wins and both get the winner's.
use std::sync::atomic::{AtomicPtr, Ordering};

/// A lazily published `&'static T`. Unlike `OnceLock` it never makes a second thread wait.
pub struct Published<T: 'static>(AtomicPtr<T>);

impl<T> Published<T> {
    /// An empty cell.
    pub const fn new() -> Self {
        Published(AtomicPtr::new(std::ptr::null_mut()))
    }
    /// The value, if one has been published.
    #[inline]
    pub fn get(&self) -> Option<&'static T> {
        let p = self.0.load(Ordering::Acquire);
        // SAFETY: a non-null pointer came from `set`, whose argument is a `&'static T`.
        unsafe { p.as_ref() }
    }
    /// Publishes `value` unless another was first; returns the one that stands.
    pub fn set(&self, value: &'static T) -> &'static T {
        match self.0.compare_exchange(
            std::ptr::null_mut(),
            value as *const T as *mut T,
            Ordering::AcqRel,
            Ordering::Acquire,
        ) {
            Ok(_) => value,
            // SAFETY: as in `get`.
            Err(p) => unsafe { &*p },
        }
    }
    /// Publishes a leaked copy of `value` unless another was first.
    pub fn put(&self, value: T) -> &'static T {
        match self.get() {
            Some(v) => v,
            None => self.set(Box::leak(Box::new(value))),
        }
    }
    /// The value, computed by `make` if there is none yet. `make` may run on several threads at once.
    pub fn get_or_try<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<&'static T, E> {
        match self.get() {
            Some(v) => Ok(v),
            None => Ok(self.put(make()?)),
        }
    }
}

impl<T> Default for Published<T> {
    fn default() -> Self {
        Self::new()
    }
}

// SAFETY: the cell hands out shared references only.
unsafe impl<T: Sync> Sync for Published<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Send for Published<T> {}
