//! The slow path of casts, with a cache of answers.
//!
//! # Invariants
//! An answer never changes, so a racing overwrite of a cache line by another true answer is harmless.
use std::sync::atomic::{AtomicU64, Ordering};
use vervet_types::{Class, LoadError, Universe};

const SIZE: usize = 4096;
static CACHE: [AtomicU64; SIZE] = [const { AtomicU64::new(0) }; SIZE];

/// Is an instance of exactly `from` an instance of `to`?
pub fn is_assignable(
    u: &'static Universe,
    from: &'static Class,
    to: &'static Class,
) -> Result<bool, LoadError> {
    // A line holds (from id, to id, answer + 1) packed; ids are below 2^31.
    let key = (from.id as u64) << 33 | (to.id as u64) << 2;
    let cell = &CACHE
        [((from.id as usize).wrapping_mul(31) ^ (to.id as usize).wrapping_mul(0x9E37)) % SIZE];
    let line = cell.load(Ordering::Relaxed);
    if line & !3 == key && line & 3 != 0 {
        return Ok(line & 3 == 2);
    }
    let answer = u.is_assignable(from, to)?;
    cell.store(key | if answer { 2 } else { 1 }, Ordering::Relaxed);
    Ok(answer)
}
