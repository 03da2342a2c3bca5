//! GC handles as generated code reads them. The crate `vervet-handles` owns the layout and says how a target is found; the
//! runtime checks when it is compiled that these are its numbers.

/// A handle's low bits are its kind's row of bucket pointers, the others its index.
pub const KIND_BITS: u32 = 3;
/// A row of bucket pointers takes `1 << ROW_SHIFT` bytes.
pub const ROW_SHIFT: u32 = 9;
/// What is added to an index before its highest bit is looked for, which is the number of its bucket.
pub const FIRST_BUCKET: u32 = 256;
/// A slot's word is an object's address (or null) with this bit and others.
pub const VALID: u64 = 2;
/// The low bits of an object's word that are no part of the address.
pub const TAGS: u64 = 7;
