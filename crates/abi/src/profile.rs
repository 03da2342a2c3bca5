//! What generated code notes of a call whose callee depends on its receiver.

/// A cell. Code of several threads changes it without care for the others.
#[repr(C)]
#[derive(Default)]
pub struct Cell {
    /// What the last call depended on: the address of its receiver's VTable, or `method_ptr` of the delegate that was called. 0: there was none.
    pub callee: std::sync::atomic::AtomicU64,
    /// How many calls there were; 0 where they are not counted, outside of loops.
    pub calls: std::sync::atomic::AtomicU32,
    /// How many calls had another callee than the call before, the first included.
    pub changes: std::sync::atomic::AtomicU32,
}

/// Offset of [`Cell::callee`].
pub const CALLEE: i32 = std::mem::offset_of!(Cell, callee) as i32;
/// Offset of [`Cell::calls`].
pub const CALLS: i32 = std::mem::offset_of!(Cell, calls) as i32;
/// Offset of [`Cell::changes`].
pub const CHANGES: i32 = std::mem::offset_of!(Cell, changes) as i32;
/// After so many calls at a place, and each time again, the next call of the method asks for other code. A power of two.
pub const OFTEN: u32 = 4096;
