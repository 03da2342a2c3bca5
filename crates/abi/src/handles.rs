//! GC handles as generated code reads them. The crate `vervet-handles` owns the layout and says how a target is found; the
//! runtime checks when it is compiled that these are its numbers.

/// A handle's low bits are its kind's row of slots, the others its index: rotated right by so many bits it is the index of its
/// slot's word.
pub const KIND_BITS: u32 = 3;
/// A slot's word is an object's address (or null) with this bit and others.
pub const VALID: u64 = 2;
/// The low bits of an object's word that are no part of the address.
pub const TAGS: u64 = 7;
/// The word is no free slot's.
pub const OCCUPIED: u64 = 1;
/// An object's word has these bits set.
pub const OBJECT: u64 = VALID | OCCUPIED;
/// An index usually has so many bits; in a process whose address space is limited it has fewer.
pub const INDEX_BITS: u32 = 32 - KIND_BITS;
/// A byte of 'may hold young' is for `1 << GROUP_SHIFT` slots.
pub const GROUP_SHIFT: u32 = 6;
/// Where the side words (4 bytes each) begin, from the first word on; those of the first kind come first.
pub const fn sides(index_bits: u32) -> i64 {
    64 << index_bits
}
/// Where the bytes of groups begin, from the first word on; those of the first kind come first.
pub const fn young(index_bits: u32) -> i64 {
    sides(index_bits) + (16 << index_bits)
}

/// A thread's slots in waiting, one of these for each kind, at `ThreadContext::handle_lanes`. Positions are indices of the ring in their
/// low bits, and count up for ever.
pub mod lane {
    /// Position of the next slot to be taken: the lane's is at `LANE_SIZE * kind`.
    pub const FIRST: i32 = 0;
    /// Position of the first that may not be taken yet.
    pub const READY: i32 = 4;
    /// Position behind the last.
    pub const END: i32 = 8;
    /// The ring of indices.
    pub const RING: i32 = 12;
    /// How many fit in the ring. It is never full.
    pub const ROOM: u32 = 512;
    /// Bytes of a lane.
    pub const SIZE: u32 = 2072;
}
