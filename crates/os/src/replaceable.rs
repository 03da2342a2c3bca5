//! A cell whose value may be replaced while others read it.
//!
//! # Invariants
//! A value is complete before its address is stored (release), and it is never changed, moved or dropped. So a reader keeps what it has read
//! for the life of the process, and sees the old value or the new one, whole. What was replaced is leaked: the cell is for values that are
//! replaced a bounded number of times.
use std::sync::atomic::{AtomicPtr, Ordering};

/// See the module.
pub struct Replaceable<T: 'static>(AtomicPtr<T>);

impl<T> Replaceable<T> {
    /// An empty cell.
    pub const fn new() -> Self {
        Replaceable(AtomicPtr::new(std::ptr::null_mut()))
    }
    /// The value that was stored last, if there is one.
    #[inline]
    pub fn get(&self) -> Option<&'static T> {
        let p = self.0.load(Ordering::Acquire);
        // SAFETY: a pointer that is not null was leaked by `replace`, so the value lives for ever and nobody writes to it.
        unsafe { p.as_ref() }
    }
    /// Stores a leaked copy of `value` in place of what is there. Returns the new one.
    pub fn replace(&self, value: T) -> &'static T {
        let value = Box::leak(Box::new(value));
        self.0.store(value, Ordering::Release);
        value
    }
}

impl<T> Default for Replaceable<T> {
    fn default() -> Self {
        Self::new()
    }
}

// SAFETY: the cell takes values from any thread and hands out shared references, so the value must be both.
unsafe impl<T: Send + Sync> Sync for Replaceable<T> {}
// SAFETY: the cell owns nothing that is tied to a thread.
unsafe impl<T: Send + Sync> Send for Replaceable<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_see_each_value_whole_while_it_is_replaced() {
        let cell: Replaceable<[usize; 4]> = Replaceable::new();
        assert!(cell.get().is_none());
        let rounds = if cfg!(miri) { 20 } else { 2000 };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for n in 0..rounds {
                    cell.replace([n; 4]);
                }
            });
            scope.spawn(|| {
                let mut last = 0;
                for _ in 0..rounds {
                    if let Some(value) = cell.get() {
                        assert!(value.iter().all(|w| *w == value[0]) && value[0] >= last);
                        last = value[0];
                    }
                }
            });
        });
        assert_eq!(cell.get(), Some(&[rounds - 1; 4]));
    }
}
