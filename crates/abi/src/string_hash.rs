//! The hash of a short key of a `Dictionary<string, V>`, which generated code computes in place. Code of
//! all tiers, of all processes and of the runtime computes the same: what is said here.
//!
//! ```text
//! fold(x, y) = low(x * y) ^ high(x * y)                                   64 bits each
//!
//! count 0 to 3     fold(count << 48 | first << 32 | middle << 16 | last ^ S0, S1)
//!                  characters; middle is that of index count / 2; of an empty string all are 0
//! count 4 to 16    fold(a ^ S0, b ^ S1) ^ fold(c ^ S2, d ^ S3 ^ count)
//!                  four characters each: a the first, d the last; b those behind a, c those before d,
//!                  or as many of them as there are
//! ```
//!
//! The hash is the low half. Texts that are made to collide do: the constants are no secret.

/// S0 to S3.
pub const SEEDS: [u64; 4] = [
    0x9e37_79b9_7f4a_7c15,
    0xbf58_476d_1ce4_e5b9,
    0x94d0_49bb_1331_11eb,
    0xd6e8_feb8_6659_fd93,
];
/// Strings of at least so many characters are read by four at a time.
pub const WORDS: usize = 4;
/// Longer strings are none of this module's.
pub const MOST: usize = 16;

/// Both halves of a product of 128 bits, in one.
fn fold(x: u64, y: u64) -> u64 {
    let product = u128::from(x) * u128::from(y);
    product as u64 ^ (product >> 64) as u64
}

/// The hash of at most [`MOST`] characters.
///
/// # Panics
/// There are more.
pub fn of_short(units: &[u16]) -> i32 {
    let count = units.len();
    assert!(count <= MOST);
    let word = |at: usize| {
        let four = &units[at..at + 4];
        four.iter().rev().fold(0, |w, c| w << 16 | u64::from(*c))
    };
    let hash = if count < WORDS {
        let one = |at: usize| units.get(at).copied().map_or(0, u64::from);
        let all =
            (count as u64) << 48 | one(0) << 32 | one(count / 2) << 16 | one(count.wrapping_sub(1));
        fold(all ^ SEEDS[0], SEEDS[1])
    } else {
        let (b, c) = (4.min(count - 4), count.max(8) - 8);
        fold(word(0) ^ SEEDS[0], word(b) ^ SEEDS[1])
            ^ fold(
                word(c) ^ SEEDS[2],
                word(count - 4) ^ SEEDS[3] ^ count as u64,
            )
    };
    hash as i32
}
