//! Texts and lists of texts, as offsets into the pools.
use crate::tables::{LISTS, POOL};

/// A text of the pool.
#[derive(Clone, Copy)]
pub struct Text(pub(crate) u32);
impl Text {
    /// The text itself.
    pub fn get(self) -> &'static str {
        let rest = &POOL[self.0 as usize..];
        let end = rest
            .iter()
            .position(|b| *b == 0)
            .expect("the pool ends with NUL");
        std::str::from_utf8(&rest[..end]).expect("the build script writes whole texts")
    }
}

/// A list of texts.
#[derive(Clone, Copy)]
pub struct Texts(pub(crate) u32);
impl Texts {
    /// Its texts, in order.
    pub fn get(self) -> impl ExactSizeIterator<Item = &'static str> {
        let start = self.0 as usize;
        let length = LISTS[start] as usize;
        LISTS[start + 1..][..length]
            .iter()
            .map(|at| Text(*at).get())
    }
}

/// The pool that the offsets in [`crate::Culture::numbers`] refer to: UTF-8, each text ends with NUL.
pub fn pool() -> &'static [u8] {
    &POOL
}
