//! Where the next piece of root memory comes from.
//!
//! # Invariants
//! The area is a part of blocks that are Statics already, and zero.

/// The unused rest of the last blocks that were taken for root memory.
#[derive(Default, Debug)]
pub struct StaticArea {
    /// Address of the first unused byte.
    pub(super) next: usize,
    /// Address behind the last.
    pub(super) end: usize,
}
