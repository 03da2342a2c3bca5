//! Offsets for generated code that makes and frees handles. Everything is in bytes, except [`LANE_ROOM`], which counts slots.
//!
//! # Invariants
//! A test of the JIT compares the instructions that use these offsets with `inlined.txt`; the models run the same steps.
use crate::memory::{INDEX_BITS, ROOM, sides_at, young_at};
use crate::queue::Lane;
use std::mem::offset_of;

/// The side words, from the words on.
pub const SIDES: usize = sides_at(INDEX_BITS);
/// The groups' bytes, from the words on.
pub const YOUNG: usize = young_at(INDEX_BITS);
/// The side words, if indices have fewer bits than usual.
pub const fn sides(bits: u32) -> usize {
    sides_at(bits)
}
/// The groups' bytes, likewise.
pub const fn young(bits: u32) -> usize {
    young_at(bits)
}
/// Bytes of address space that all slots take together.
pub const fn address_space(bits: u32) -> usize {
    crate::memory::bytes(bits)
}
/// One kind's part of a [`Hint`](crate::Hint).
pub const LANE_SIZE: usize = size_of::<Lane>();
/// The first slot's position, in a lane.
pub const LANE_FIRST: usize = offset_of!(Lane, first);
/// The position of the first slot that is not to be taken yet.
pub const LANE_READY: usize = offset_of!(Lane, ready);
/// The position behind the last.
pub const LANE_END: usize = offset_of!(Lane, end);
/// The indices.
pub const LANE_RING: usize = offset_of!(Lane, ring);
/// How many slots a ring has room for; it is never full between calls.
pub const LANE_ROOM: u32 = ROOM;
