//! The block function of AES by the processor's instructions.
//!
//! # Invariants
//! * Round keys are words, and those of deciphering belong to the equivalent inverse cipher (FIPS 197, 5.3.5): between the first and the last they are
//!   transformed already. That is how `aesdec` wants them.
//! * Nothing here runs unless [`available`] says yes. The JIT asks before it emits a call.
use std::arch::x86_64::{
    __m128i, _mm_aesdec_si128, _mm_aesdeclast_si128, _mm_aesenc_si128, _mm_aesenclast_si128,
    _mm_loadu_si128, _mm_set_epi8, _mm_shuffle_epi8, _mm_storeu_si128, _mm_xor_si128,
};

/// Round keys as a class of the class library keeps them.
#[derive(Clone, Copy)]
pub struct Keys<const BIG_ENDIAN: bool> {
    at: *const u32,
    rounds: usize,
    decipher: bool,
    /// The first round takes the last key.
    reversed: bool,
}

/// Has the processor the instructions?
pub fn available() -> bool {
    std::is_x86_feature_detected!("aes") && std::is_x86_feature_detected!("ssse3")
}

impl<const BIG_ENDIAN: bool> Keys<BIG_ENDIAN> {
    /// # Safety
    /// `at` is the address of `4 * (rounds + 1)` words, which live as long as the value.
    pub unsafe fn new(at: *const u32, rounds: usize, decipher: bool, reversed: bool) -> Self {
        Keys {
            at,
            rounds,
            decipher,
            reversed,
        }
    }

    /// The key of a round, as bytes in the order of the standard.
    #[inline]
    #[target_feature(enable = "aes,ssse3")]
    fn of_round(self, round: usize) -> __m128i {
        let index = match self.reversed {
            true => self.rounds - round,
            false => round,
        };
        // SAFETY: `new` was promised that there are that many keys.
        let key = unsafe { _mm_loadu_si128(self.at.add(4 * index).cast()) };
        match BIG_ENDIAN {
            true => {
                let swap = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
                _mm_shuffle_epi8(key, swap)
            }
            false => key,
        }
    }

    /// Enciphers or deciphers a block. The result comes after what the last round began with.
    #[inline]
    #[target_feature(enable = "aes,ssse3")]
    fn apply(self, block: __m128i) -> (__m128i, __m128i) {
        let mut state = _mm_xor_si128(block, self.of_round(0));
        for round in 1..self.rounds {
            let key = self.of_round(round);
            state = match self.decipher {
                true => _mm_aesdec_si128(state, key),
                false => _mm_aesenc_si128(state, key),
            };
        }
        let key = self.of_round(self.rounds);
        let result = match self.decipher {
            true => _mm_aesdeclast_si128(state, key),
            false => _mm_aesenclast_si128(state, key),
        };
        (state, result)
    }
}

/// Enciphers or deciphers the block at `from`, and writes the result to `to`. Gives what the last round began with.
///
/// # Safety
/// Both are the address of 16 bytes, and [`available`] has said yes.
#[target_feature(enable = "aes,ssse3")]
pub unsafe fn block<const BIG_ENDIAN: bool>(
    keys: Keys<BIG_ENDIAN>,
    from: *const u8,
    to: *mut u8,
) -> [u8; 16] {
    // SAFETY: as the caller promises.
    let block = unsafe { _mm_loadu_si128(from.cast()) };
    let (last, result) = keys.apply(block);
    let mut before_last = [0; 16];
    // SAFETY: as the caller promises, and the array has 16 bytes.
    unsafe {
        _mm_storeu_si128(to.cast(), result);
        _mm_storeu_si128(before_last.as_mut_ptr().cast(), last);
    }
    before_last
}
