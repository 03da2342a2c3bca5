//! Hashes of strings, which generated code computes in place of the class library's IL.
//!
//! # How it works
//! The class library hashes the bytes of a string with Marvin, by a seed that is random in each process. No program can know a hash before it has asked for it, so the function is
//! free; what remains is what Marvin is for: without the seed nobody can make texts whose hashes are the same. Foldhash promises that too, at a quarter of the time.
//!
//! The hash of [a text without case](ignoring_case) is the hash of its capitals, as in the class library.
//!
//! # Invariants
//! * Equal bytes have one hash in a process, whoever asks: the JIT replaces calls of `Marvin.ComputeHash32` and answers in front of its body, in code of each tier. Only the number
//!   of bytes decides whether the class library's own function is used: from [`HASHED_BYTES`] on.
//! * Each is a leaf: it takes no lock and no memory, and looks at [`HASHED_BYTES`] at most.
use crate::object::ObjRef;
use std::hash::{BuildHasher, Hasher};
use vervet_abi::HASHED_BYTES;

/// Characters of a text whose capitals are hashed here.
const MOST: usize = 128;
const _: () = assert!(2 * MOST <= HASHED_BYTES);

/// The helper `HashBytes`.
pub(super) extern "C" fn hash_bytes(at: *const u8, count: u32, seed: u64) -> i32 {
    let bytes = match count {
        0 => &[],
        // SAFETY: generated code passes a range that is mapped; nothing moves during a leaf.
        _ => unsafe { std::slice::from_raw_parts(at, count as usize) },
    };
    hash(bytes, seed) as i32
}

/// The helper `HashIgnoringCase`: what `CompareInfo.GetIgnoreCaseHash` returns, as an unsigned number; -1 if the class library is to answer.
pub(super) fn ignoring_case(text: ObjRef<'_>, seed: u64) -> i64 {
    let known = || {
        let mut capitals = [0; MOST];
        let count = capitals_of(text.non_null()?.units(), &mut capitals)?;
        Some(hash(bytes_of(&capitals[..count]), seed))
    };
    known().map_or(-1, i64::from)
}

#[inline]
fn hash(bytes: &[u8], seed: u64) -> u32 {
    let mut hasher = foldhash::quality::FixedState::with_seed(seed).build_hasher();
    hasher.write(bytes);
    hasher.finish() as u32
}

/// Writes the capitals of a text to a buffer, and says how many there are. None: it is empty, does not fit, or has a character that is not ASCII.
#[inline]
fn capitals_of(text: &[u16], to: &mut [u16; MOST]) -> Option<usize> {
    let to = to.get_mut(..text.len()).filter(|to| !to.is_empty())?;
    let mut all = 0;
    // No way out before the end: the compiler makes vector instructions of the loop.
    for (to, c) in to.iter_mut().zip(text) {
        let is_small = c.wrapping_sub(u16::from(b'a')) < 26;
        *to = c ^ (u16::from(is_small) << 5);
        all |= c;
    }
    (all < 0x80).then_some(text.len())
}

/// The bytes of characters, as they lie in memory.
fn bytes_of(units: &[u16]) -> &[u8] {
    // SAFETY: the same memory, whose bytes are all initialised.
    unsafe { std::slice::from_raw_parts(units.as_ptr().cast(), 2 * units.len()) }
}

#[cfg(test)]
mod tests {
    use super::{MOST, bytes_of, capitals_of, hash, hash_bytes};
    use std::collections::HashSet;

    fn units(text: &str) -> Vec<u16> {
        text.encode_utf16().collect()
    }

    #[test]
    fn capitals_are_those_of_ascii() {
        let mut to = [0; MOST];
        let every: Vec<u16> = (0..0x80).collect();
        assert_eq!(capitals_of(&every, &mut to), Some(0x80));
        let want: Vec<u16> = (0..0x80u8)
            .map(|c| u16::from(c.to_ascii_uppercase()))
            .collect();
        assert_eq!(to[..], want[..]);
        for text in ["", "\u{e4}", "abcdefgh\u{e4}", &"a".repeat(MOST + 1)] {
            assert_eq!(capitals_of(&units(text), &mut to), None, "{text}");
        }
    }

    #[test]
    fn bytes_seed_and_length_decide() {
        assert_eq!(hash_bytes(std::ptr::null(), 0, 7), hash(&[], 7) as i32);
        let text = units(
            "a text that is longer than a few words of the processor, so that each way is taken",
        );
        let mut seen = HashSet::new();
        for count in 0..text.len() {
            for seed in [0, 1, 1 << 40] {
                assert!(
                    seen.insert(hash(bytes_of(&text[..count]), seed)),
                    "{count} {seed}"
                );
            }
        }
    }
}
