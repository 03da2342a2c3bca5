//! Where the next piece of root memory comes from.

/// The unused rest of the last blocks that were taken for root memory.
#[derive(Default, Debug)]
pub struct StaticArea {
    /// Address of the first unused byte.
    pub(super) next: usize,
    /// Address behind the last.
    pub(super) end: usize,
}
