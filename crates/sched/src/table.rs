//! Tables by number, whose elements never move: what a module keeps for each thread or carrier.
//!
//! # Invariants
//! * Every element exists, as its default, which is all zero bytes ([`Zeroed`]). Memory is taken when an element is first asked for.
//! * Elements are never freed: a number may be stale, its element is there.
#[cfg(not(feature = "loom"))]
mod real {
    use vervet_os::Chunks;
    pub(crate) use vervet_os::chunks::Zeroed;

    /// See the module.
    pub(crate) struct Table<T: Zeroed + Sync + 'static>(Chunks<T>);

    impl<T: Zeroed + Sync + 'static> Table<T> {
        /// A table that has taken no memory.
        pub(crate) fn new() -> Table<T> {
            Table(Chunks::new())
        }
        /// The element.
        #[inline]
        pub(crate) fn at(&self, number: u32) -> &T {
            self.0.at(number)
        }
    }
}
#[cfg(not(feature = "loom"))]
pub(crate) use real::{Table, Zeroed};

#[cfg(feature = "loom")]
mod of_loom {
    #[expect(unsafe_code, reason = "as the trait that it stands for")]
    /// As without the feature; loom's atomics are made one by one.
    ///
    /// # Safety
    /// None is needed.
    pub(crate) unsafe trait Zeroed {}

    /// A few elements.
    pub(crate) struct Table<T>(Vec<T>);

    impl<T: Default> Table<T> {
        pub(crate) fn new() -> Table<T> {
            Table((0..crate::sync::TABLE).map(|_| T::default()).collect())
        }
        pub(crate) fn at(&self, number: u32) -> &T {
            &self.0[number as usize]
        }
    }
}
#[cfg(feature = "loom")]
pub(crate) use of_loom::{Table, Zeroed};

/// A word of a table that is a number or 0.
#[derive(Debug, Default)]
#[repr(transparent)]
pub(crate) struct Word(pub(crate) crate::sync::AtomicU32);

#[expect(unsafe_code, reason = "promises that zeros are a value")]
// SAFETY: an atomic of zero, which needs no drop.
unsafe impl Zeroed for Word {}
