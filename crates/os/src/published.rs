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
            // SAFETY: `set` alone stores here, and it stores a `&'static T`.
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
// SAFETY: the cell owns nothing that is tied to a thread; it hands out shared references only.
unsafe impl<T: Sync> Send for Published<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_threads_get_the_value_of_the_first_and_see_it_whole() {
        let rounds = if cfg!(miri) { 4 } else { 2000 };
        for _ in 0..rounds {
            let cell: Published<[usize; 4]> = Published::new();
            let got: Vec<&'static [usize; 4]> = std::thread::scope(|scope| {
                let threads = [1, 2, 3].map(|n| {
                    let cell = &cell;
                    scope.spawn(move || {
                        // Who comes late may find it published.
                        if let Some(there) = cell.get() {
                            assert!(there[0] > 0 && there.iter().all(|w| *w == there[0]));
                        }
                        cell.put([n; 4])
                    })
                });
                threads.map(|t| t.join().expect("a thread")).into()
            });
            let stands = cell.get().expect("a value");
            assert!(stands.iter().all(|w| *w == stands[0]));
            assert!(got.iter().all(|v| std::ptr::eq(*v, stands)));
        }
    }

    #[test]
    fn what_cannot_be_made_is_not_published() {
        let cell: Published<usize> = Published::new();
        assert_eq!(cell.get_or_try(|| Err("no")), Err("no"));
        assert!(cell.get().is_none());
        assert_eq!(cell.get_or_try(|| Ok::<_, ()>(7)), Ok(&7));
        assert_eq!(cell.get_or_try(|| Err("no")), Ok(&7));
    }
}
