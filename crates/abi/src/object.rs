//! Where things lie in a heap object.
//!
//! ```text
//! +0  u32  vtable    address of the VTable (VTables live below 2 GiB, so the u32 is the pointer)
//! +4  u32  sync      lock / hash / monitor index
//! +8  ...  fields
//!     string     i32 length at +8, UTF-16 units at +12, a zero unit after the last
//!     szarray    u32 length at +8, u32 zero, elements at +16
//!     rank r     u32 total length at +8, bounds {u32 length, i32 lower} * r at +16,
//!                elements at +16 + 8r (already a multiple of 8)
//! ```
//! The class library sees two of these: `RuntimeHelpers.OffsetToStringData` and the overlay
//! `System.Array/RawData` (Bounds and Count at +8, Data at +16).

/// Bytes of the object header; the first field follows.
pub const HEADER_SIZE: u32 = 8;
/// Offset of the u32 VTable address.
pub const VTABLE_OFFSET: i32 = 0;
/// Offset of the sync word.
pub const SYNC_OFFSET: i32 = 4;
/// Offset of a string's length in UTF-16 units.
pub const STRING_LENGTH_OFFSET: i32 = 8;
/// Offset of a string's first unit.
pub const STRING_CHARS_OFFSET: i32 = 12;
/// Offset of an array's total length.
pub const ARRAY_LENGTH_OFFSET: i32 = 8;
/// Offset of the first element of a vector (szarray).
pub const ARRAY_DATA_OFFSET: i32 = 16;
/// Offset of the bounds of an array with rank > 1 or a lower bound.
pub const ARRAY_BOUNDS_OFFSET: i32 = 16;
/// Bytes of one dimension's bounds.
pub const BOUND_SIZE: u32 = 8;
/// All objects are aligned to, and take a multiple of, this many bytes.
pub const OBJECT_ALIGN: u32 = 8;
/// Objects larger than this take the runtime path: large objects, and a few that are a little smaller.
pub const LARGE_OBJECT_SIZE: u32 = 8 * 1024;
/// log2 of the bytes a card covers.
pub const CARD_SHIFT: u32 = 9;
/// The card of an address is `(address >> CARD_SHIFT) & mask`. This is the mask of a process whose address space is not limited;
/// [`crate::TableSizes`] has the process's own.
pub const CARD_MASK: usize = (1 << 29) - 1;
/// Offset of element 0 of an array of rank `rank` that carries bounds.
pub const fn md_array_data_offset(rank: u32) -> i32 {
    ARRAY_BOUNDS_OFFSET + (rank * BOUND_SIZE) as i32
}

/// The kinds a sync word can be of, in its two low bits.
///
/// thin: bits 2..10 recursion (count - 1), bits 10..32 owner id (0 = free). hash: bits 2..32. fat: index in bits 2..32.
pub mod sync_word {
    /// Free (0) or a thin lock.
    pub const KIND_THIN: u32 = 0;
    /// An identity hash.
    pub const KIND_HASH: u32 = 1;
    /// A monitor's index.
    pub const KIND_FAT: u32 = 2;
    /// Mask of the kind bits.
    pub const KIND_MASK: u32 = 3;
    /// Shift of the recursion count.
    pub const RECURSION_SHIFT: u32 = 2;
    /// Mask of the recursion count, unshifted.
    pub const RECURSION_MASK: u32 = 0xff << RECURSION_SHIFT;
    /// Shift of the owner id.
    pub const OWNER_SHIFT: u32 = 10;
    /// Shift of a hash or a monitor index.
    pub const PAYLOAD_SHIFT: u32 = 2;
}
