//! Hashes of the keys of `Dictionary<string, V>`, which generated code computes in place of the class
//! library's (`calls/keys.rs` in `vervet-jit`).
//!
//! # Invariants
//! * Equal strings have one hash in every process: code of all tiers, and code that a cache keeps,
//!   asks this function, or computes what [`string_hash`] says.
//! * It is a leaf: it takes no lock and no memory, and looks at 2 * [`END`] characters at most. Of a
//!   longer string these are the beginning and the end.
use crate::object::ObjRef;
use std::hash::{BuildHasher, Hasher};
use vervet_abi::string_hash;

/// Characters at each end of a long string.
const END: usize = 8 << 10;
/// Any number will do.
const SEED: u64 = 0x5eed_0f6e;

/// The helper `HashKey`.
pub(super) fn hash(key: ObjRef<'_>) -> i32 {
    key.non_null().map_or(0, |key| hash_of(key.units()))
}

#[inline]
fn hash_of(units: &[u16]) -> i32 {
    if units.len() <= string_hash::MOST {
        return string_hash::of_short(units);
    }
    let mut hasher = foldhash::fast::FixedState::with_seed(SEED).build_hasher();
    if units.len() <= 2 * END {
        hasher.write(bytes_of(units));
    } else {
        hasher.write(bytes_of(&units[..END]));
        hasher.write(bytes_of(&units[units.len() - END..]));
        hasher.write_usize(units.len());
    }
    hasher.finish() as i32
}

/// The bytes of characters, as they lie in memory.
fn bytes_of(units: &[u16]) -> &[u8] {
    // SAFETY: the same memory, whose bytes are all initialised.
    unsafe { std::slice::from_raw_parts(units.as_ptr().cast(), 2 * units.len()) }
}

#[cfg(test)]
mod tests {
    use super::{END, hash_of};
    use std::collections::HashSet;

    #[test]
    fn characters_and_length_decide() {
        let mut seen = HashSet::new();
        for n in 0..60_000u32 {
            let text: Vec<u16> = format!("key{n}").encode_utf16().collect();
            seen.insert(hash_of(&text));
        }
        for count in 1..100 {
            seen.insert(hash_of(&vec![0; count]));
        }
        // Of 2^32 hashes a few are the same by chance.
        assert!(seen.len() > 60_090, "{}", seen.len());
    }

    /// The buckets of a table are chosen by the remainder of a division by a prime.
    #[test]
    fn small_tables_are_filled_evenly() {
        let mut counts = [0; 17];
        for n in 0..17_000u32 {
            let text: Vec<u16> = n.to_string().encode_utf16().collect();
            counts[(hash_of(&text) & i32::MAX) as usize % 17] += 1;
        }
        assert!(counts.iter().all(|c| (800..1200).contains(c)), "{counts:?}");
    }

    #[test]
    fn of_long_texts_the_ends_and_the_length_decide() {
        let long = vec![7; 3 * END];
        let mut other = long.clone();
        other[0] = 8;
        let mut end = long.clone();
        end[3 * END - 1] = 8;
        let all = [&long[..], &other, &end, &long[1..]];
        let hashes: HashSet<i32> = all.into_iter().map(hash_of).collect();
        assert_eq!(hashes.len(), 4);
    }
}
