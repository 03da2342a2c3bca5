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

#[cfg(test)]
mod tests {
    use super::checksum;

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
