//! GC handles as generated code reads them. The crate `vervet-handles` owns the layout and says how a target is found; the
//! runtime checks when it is compiled that these are its numbers.

/// A handle's low bits are its kind's row of slots, the others its index: rotated right by so many bits it is the index of its
/// slot's word.
pub const KIND_BITS: u32 = 3;
/// A slot's word is an object's address (or null) with this bit and others.
pub const VALID: u64 = 2;
/// The low bits of an object's word that are no part of the address.
pub const TAGS: u64 = 7;
