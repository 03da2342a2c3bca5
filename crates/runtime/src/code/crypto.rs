//! Steps of hashes and ciphers, which generated code calls in place of the class library's IL.
//!
//! The rows that say which methods these stand for are the JIT's (`calls/crypto.rs` in `vervet-jit`). The hashes are those of the crates `sha1` and `sha2`, which use
//! the processor's instructions where it has them; MD5 is here. AES is the processor's (`arch`); where it has no instructions for it the IL runs.
//!
//! # Invariants
//! * Each is a leaf: one block, no lock, no memory, no collection.
//! * What gets vectors looks at their lengths, and does nothing if one is too short. Then the method itself throws what it throws.
use crate::arch::aes;
use crate::object::ObjRef;
use vervet_abi::CipherStep;

/// `SHA256Managed.SHATransform`, without its scratch.
pub(super) extern "C" fn sha256_block(state: *mut [u32; 8], block: *const [u8; 64]) {
    // SAFETY: the class library passes its state of eight words and a whole block, both fixed; nothing moves during a leaf.
    let (state, block) = unsafe { (&mut *state, block.read().into()) };
    sha2::compress256(state, &[block]);
}

/// `SHA512Managed.SHATransform`, which SHA-384 shares, without its scratch.
pub(super) extern "C" fn sha512_block(state: *mut [u64; 8], block: *const [u8; 128]) {
    // SAFETY: as above.
    let (state, block) = unsafe { (&mut *state, block.read().into()) };
    sha2::compress512(state, &[block]);
}

/// `SHA1Managed.SHATransform`, without its scratch.
pub(super) extern "C" fn sha1_block(state: *mut [u32; 5], block: *const [u8; 64]) {
    // SAFETY: as above, with five words.
    let (state, block) = unsafe { (&mut *state, block.read().into()) };
    sha1::compress(state, &[block]);
}

/// `ProcessBlock` of `SHA1Internal`, or of `MD5CryptoServiceProvider`, without its count: 64 bytes of a vector go into the state. False: nothing was done.
pub(super) fn hash_block(state: ObjRef<'_>, (bytes, at): (ObjRef<'_>, i32), is_sha1: bool) -> bool {
    let (Some(state), Some(bytes)) = (state.non_null(), bytes.non_null()) else {
        return false;
    };
    let words = if is_sha1 { 5 } else { 4 };
    let Ok(at) = usize::try_from(at) else {
        return false;
    };
    if state.array_len() < words || bytes.array_len() < at + 64 {
        return false;
    }
    // SAFETY: the block lies within the vector; nothing moves during a leaf.
    let block = unsafe { bytes.array_data().add(at).cast::<[u8; 64]>().read() };
    let state = state.array_data();
    match is_sha1 {
        // SAFETY: the vector has that many words, and nobody else refers to them in Rust.
        true => sha1::compress(unsafe { &mut *state.cast() }, &[block.into()]),
        // SAFETY: as above.
        false => md5(unsafe { &mut *state.cast() }, &block),
    }
    true
}

/// A step of MD5 (RFC 1321).
///
/// Each of the four rounds has a function of three words, an order in which it takes the words of the block, and four
/// amounts of rotation, which take turns.
fn md5(state: &mut [u32; 4], block: &[u8; 64]) {
    let words = block.as_chunks::<4>().0;
    let word = |n: usize| u32::from_le_bytes(words[n]);
    let [mut a, mut b, mut c, mut d] = *state;
    /// Sixteen operations of one function; the words are taken at `first + step * n`.
    macro_rules! round {
        ($f:expr, $round:literal, $first:literal, $step:literal, $shifts:expr) => {
            for n in (0..16).step_by(4) {
                let at = |n: usize| word(($first + $step * n) % 16);
                let k = |n: usize| MD5_TERMS[16 * $round + n];
                a = operation($f(b, c, d), a, b, at(n), k(n), $shifts[0]);
                d = operation($f(a, b, c), d, a, at(n + 1), k(n + 1), $shifts[1]);
                c = operation($f(d, a, b), c, d, at(n + 2), k(n + 2), $shifts[2]);
                b = operation($f(c, d, a), b, c, at(n + 3), k(n + 3), $shifts[3]);
            }
        };
    }
    fn operation(f: u32, a: u32, b: u32, word: u32, term: u32, shift: u32) -> u32 {
        a.wrapping_add(word.wrapping_add(term))
            .wrapping_add(f)
            .rotate_left(shift)
            .wrapping_add(b)
    }
    round!(|x: u32, y, z| z ^ (x & (y ^ z)), 0, 0, 1, [7, 12, 17, 22]);
    // The two halves have no bit in common, so the sum is their union; the addition starts before `x` is known.
    round!(
        |x: u32, y: u32, z: u32| (x & z).wrapping_add(y & !z),
        1,
        1,
        5,
        [5, 9, 14, 20]
    );
    round!(
        |x: u32, y: u32, z: u32| x ^ (y ^ z),
        2,
        5,
        3,
        [4, 11, 16, 23]
    );
    round!(
        |x: u32, y: u32, z: u32| y ^ (x | !z),
        3,
        0,
        7,
        [6, 10, 15, 21]
    );
    for (word, more) in state.iter_mut().zip([a, b, c, d]) {
        *word = word.wrapping_add(more);
    }
}

/// The terms of MD5: the integer part of `2^32 * |sin(n + 1)|`.
#[rustfmt::skip]
const MD5_TERMS: [u32; 64] = [
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
];

/// A step of a cipher: whether it deciphers, and its rounds, which are some of AES.
fn cipher_step(step: i32) -> Option<(bool, usize)> {
    let rounds = step & !CipherStep::DECIPHER;
    CipherStep::ROUNDS
        .contains(&rounds)
        .then_some((step & CipherStep::DECIPHER != 0, rounds as usize))
}

/// `Encrypt128` or `Decrypt128` of `AesTransform`. False: nothing was done.
pub(super) fn aes_block(keys: ObjRef<'_>, from: ObjRef<'_>, to: ObjRef<'_>, step: i32) -> bool {
    let (Some(keys), Some(from), Some(to)) = (keys.non_null(), from.non_null(), to.non_null())
    else {
        return false;
    };
    let Some((decipher, rounds)) = cipher_step(step) else {
        return false;
    };
    if keys.array_len() < 4 * (rounds + 1) || from.array_len() < 16 || to.array_len() < 16 {
        return false;
    }
    assert!(aes::available(), "the JIT asks before it calls");
    // SAFETY: the vectors have that many elements; nothing moves during a leaf. The processor has the instructions.
    unsafe {
        let keys = aes::Keys::<true>::new(keys.array_data().cast(), rounds, decipher, false);
        aes::block(keys, from.array_data(), to.array_data());
    }
    true
}

/// `Enc` or `Dec` of `RijndaelManagedTransform` for blocks of 128 bits, without their tables.
pub(super) extern "C" fn rijndael_block(keys: *const u32, work: *mut u8, to: *mut u8, step: i32) {
    let (decipher, rounds) = cipher_step(step).expect("generated code has looked at the rounds");
    assert!(aes::available(), "the JIT asks before it calls");
    // SAFETY: the class library passes its round keys and two buffers of a block, all fixed; nothing moves during a leaf. The processor has the instructions.
    unsafe {
        let keys = aes::Keys::<false>::new(keys, rounds, decipher, decipher);
        let before_last = aes::block(keys, work, to);
        work.cast::<[u8; 16]>().write(before_last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn md5_is_that_of_the_standard() {
        let mut state = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476];
        let mut block = [0; 64];
        block[..4].copy_from_slice(b"abc\x80");
        block[56] = 24;
        md5(&mut state, &block);
        let digest: Vec<u8> = state.iter().flat_map(|w| w.to_le_bytes()).collect();
        let hex: String = digest.iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(hex, "900150983cd24fb0d6963f7d28e17f72");
    }

    #[test]
    fn rounds_that_no_key_has_are_none() {
        assert_eq!(cipher_step(10), Some((false, 10)));
        assert_eq!(cipher_step(14 | CipherStep::DECIPHER), Some((true, 14)));
        assert_eq!(cipher_step(11), None);
        assert_eq!(cipher_step(0), None);
    }
}
