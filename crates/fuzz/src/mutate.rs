//! Mutations that know bytes and words but no format.
//!
//! Invariant: a mutation ends with at most [`MAX_GROWTH`] bytes more than it began with.

use crate::random::{EDGES, Random};

/// How much longer a mutated input may be than the one it was made from.
pub const MAX_GROWTH: usize = 1 << 16;

/// Changes a few bytes in `start..start + len`, keeping the length.
pub fn in_place(data: &mut [u8], (start, len): (usize, usize), random: &mut Random) {
    let at = start + random.below(len);
    match random.below(5) {
        0 | 1 => {
            if let Some(b) = data.get_mut(at) {
                *b ^= 1 << random.below(8);
            }
        }
        2 => {
            if let Some(b) = data.get_mut(at) {
                *b = random.bits() as u8;
            }
        }
        3 => {
            if let Some(w) = data.get_mut(at..at + 4) {
                let value = if random.once_in(2) {
                    *random.of(EDGES)
                } else {
                    random.bits() as u32
                };
                w.copy_from_slice(&value.to_le_bytes());
            }
        }
        _ => {
            let (n, from) = (random.below(64), start + random.below(len));
            if at.max(from) + n <= data.len() {
                data.copy_within(from..from + n, at);
            }
        }
    }
}

/// Changes, removes, repeats or cuts bytes.
pub fn bytes(data: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(6) {
        let len = data.len();
        let (at, n) = (random.below(len), random.below(16.min(len + 1)));
        match random.below(8) {
            0 => {
                data.insert(at, random.bits() as u8);
            }
            1 => drop(data.drain(at..(at + n).min(len))),
            2 => {
                let piece = data[at..(at + n).min(len)].to_vec();
                let to = random.below(len + 1);
                data.splice(to..to, piece);
            }
            3 if random.once_in(4) => data.truncate(at),
            _ => in_place(data, (0, len), random),
        }
    }
}

/// Changes a text with the words of a grammar: inserts, removes, repeats, nests.
pub fn text(data: &mut Vec<u8>, words: &[&str], random: &mut Random) {
    for _ in 0..=random.below(5) {
        let len = data.len();
        let at = random.below(len + 1);
        match random.below(8) {
            0..=2 => {
                let word = random.of(words).as_bytes().to_vec();
                let times = if random.once_in(50) {
                    1 + random.below(4000)
                } else {
                    1
                };
                let times = times.min(MAX_GROWTH / 8 / word.len().max(1));
                data.splice(at..at, word.repeat(times));
            }
            3 => drop(data.drain(at..(at + random.below(12)).min(len))),
            4 => {
                let piece = data[at..(at + random.below(24)).min(len)].to_vec();
                let to = random.below(len + 1);
                data.splice(to..to, piece);
            }
            5 => {
                let c = char::from_u32(random.number()).unwrap_or('\u{FFFD}');
                data.splice(at..at, c.to_string().into_bytes());
            }
            6 => bytes(data, random),
            _ => in_place(data, (0, len), random),
        }
    }
}
