//! The checksum of headers and entries.
//!
//! # Invariants
//! * Two inputs of one length that differ in one aligned word of eight bytes have different sums: each step is a bijection of the state.
//! * It finds damage (torn writes, bad memory). Against forgery there are the rights of files (module `trust`).

/// An odd number with a balanced pattern of bits: the golden ratio times 2^64.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// The sum of some bytes.
pub fn checksum(bytes: &[u8]) -> u64 {
    let mut state = (bytes.len() as u64).wrapping_mul(FACTOR) ^ 0x5851_F42D_4C95_7F2D;
    let mut step = |word: u64| state = (state ^ word).wrapping_mul(FACTOR).rotate_left(29);
    let mut words = bytes.chunks_exact(8);
    for w in &mut words {
        step(u64::from_le_bytes(w.try_into().expect("eight bytes")));
    }
    let rest = words.remainder();
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        step(u64::from_le_bytes(last));
    }
    state ^ (state >> 32)
}

/// Tells contents apart that somebody may have made to look alike: code that was compiled from one of them would be run for the other. BLAKE3.
pub fn digest(bytes: &[u8]) -> [u8; 32] {
    *blake3::hash(bytes).as_bytes()
}

/// Tells contents apart: 128 bits over bytes of any length. Four words at a time go into four states, so that the multiplications do not wait for
/// each other: some GB/s.
pub fn content_hash(bytes: &[u8]) -> [u8; 16] {
    let mut states = [
        bytes.len() as u64,
        0x5851_F42D_4C95_7F2D,
        0x1405_7B7E_F767_814F,
        0x2545_F491_4F6C_DD1D,
    ];
    let mut take = |block: &[u8]| {
        for (state, w) in states.iter_mut().zip(block.chunks_exact(8)) {
            let word = u64::from_le_bytes(w.try_into().expect("eight bytes"));
            // Both halves of the product: so each bit of a word reaches all of the state at once.
            let product = u128::from(*state ^ word) * u128::from(FACTOR);
            *state = (product as u64 ^ (product >> 64) as u64).wrapping_add(0x1405_7B7E_F767_814F);
        }
    };
    let mut blocks = bytes.chunks_exact(32);
    for block in &mut blocks {
        take(block);
    }
    // The length is in the first state, so zeros behind the end are no content.
    let mut last = [0; 32];
    last[..blocks.remainder().len()].copy_from_slice(blocks.remainder());
    take(&last);
    let mut low = Vec::with_capacity(32);
    states
        .iter()
        .for_each(|s| low.extend_from_slice(&s.to_le_bytes()));
    let mut high = low.clone();
    high.reverse();
    let mut out = [0; 16];
    out[..8].copy_from_slice(&checksum(&low).to_le_bytes());
    out[8..].copy_from_slice(&checksum(&high).to_le_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::{checksum, content_hash};

    #[test]
    fn every_bit_of_a_content_counts() {
        let bytes: Vec<u8> = (0..150).collect();
        let mut seen = std::collections::HashSet::new();
        assert!(seen.insert(content_hash(&bytes)));
        for bit in 0..1200 {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(seen.insert(content_hash(&other)), "bit {bit}");
        }
        assert!((0..150).all(|len| seen.insert(content_hash(&bytes[..len]))));
    }

    #[test]
    fn every_single_bit_and_the_length_count() {
        let bytes: Vec<u8> = (0..100).collect();
        let sum = checksum(&bytes);
        for bit in 0..800 {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(checksum(&other), sum, "bit {bit}");
        }
        for len in 0..100 {
            assert_ne!(checksum(&bytes[..len]), sum);
        }
        assert_ne!(checksum(&[]), checksum(&[0]));
    }
}
