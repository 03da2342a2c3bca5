//! The address range of VTables.
//!
//! # Invariants
//! The range is reserved once and lies below 2 GiB, so the 4-byte word in an object's header is the address of its VTable.
//! Memory is given out from its start and never comes back.
use crate::code::area::Area;
use vervet_os::memory;
use vervet_types::LoadError;

static AREA: Area = Area::empty();

/// Reserves the area of VTables: `size` bytes, or the half of it and so on where so much is not free below 2 GiB. Called once at
/// start-up.
pub fn initialise(size: usize) -> std::io::Result<()> {
    let mut size = size;
    let base = loop {
        match memory::reserve_below(64 << 20, 2 << 30, 16 << 20, size) {
            Ok(base) => break base as usize,
            Err(e) if size <= 8 << 20 => return Err(e),
            Err(_) => size /= 2,
        }
    };
    AREA.set(base, size);
    Ok(())
}

/// Does the address lie in the area, where VTables have been made so far?
pub fn contains(address: usize) -> bool {
    (64 << 20..AREA.next()).contains(&address)
}

pub(crate) fn take(size: usize) -> std::result::Result<usize, LoadError> {
    AREA.take(size, 16).ok_or(LoadError::OutOfMemory("VTables"))
}
