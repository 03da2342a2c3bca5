//! A value that one thread at a time may use, because of what that thread is doing (it has stopped the world, it is inside the gate, it is that
//! worker), not because of a lock.
//!
//! # Invariants
//! * There is never more than one [`Borrowed`] of an [`Exclusive`]. Borrowing checks that: a second user is a bug, and ends the process with a
//!   message instead of creating a second `&mut`. Nobody ever waits for the value.
//! * A value is borrowed for a step, a job or a part of a pause, and not longer: what the collector's thread held outside the gate, no pause
//!   could use.
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering::*};

/// See the module.
pub struct Exclusive<T> {
    borrowed: AtomicBool,
    value: UnsafeCell<T>,
}
// SAFETY: `borrowed` lets one thread at a time reach the value, and hands it on with release and acquire.
unsafe impl<T: Send> Sync for Exclusive<T> {}

/// The one use of an [`Exclusive`], until it is dropped.
pub struct Borrowed<'a, T>(&'a Exclusive<T>);

impl<T> Exclusive<T> {
    /// One that nobody uses.
    pub fn new(value: T) -> Exclusive<T> {
        Exclusive {
            borrowed: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }
    /// The value, which nobody else uses.
    #[track_caller]
    pub fn borrow(&self) -> Borrowed<'_, T> {
        assert!(
            !self.borrowed.swap(true, Acquire),
            "a part of the collector is used twice at a time"
        );
        Borrowed(self)
    }
}
impl<T> Deref for Borrowed<'_, T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: this is the only `Borrowed`, and it is borrowed for as long.
        unsafe { &*self.0.value.get() }
    }
}
impl<T> DerefMut for Borrowed<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this is the only `Borrowed`, and it is borrowed mutably for as long.
        unsafe { &mut *self.0.value.get() }
    }
}
impl<T> Drop for Borrowed<'_, T> {
    fn drop(&mut self) {
        self.0.borrowed.store(false, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn a_value_is_borrowed_again_when_it_was_given_back() {
        let e = Exclusive::new(1);
        *e.borrow() += 1;
        assert_eq!(*e.borrow(), 2);
    }
    #[test]
    #[should_panic(expected = "used twice")]
    fn a_second_user_is_found() {
        let e = Exclusive::new(1);
        let _first = e.borrow();
        let _second = e.borrow();
    }
}
