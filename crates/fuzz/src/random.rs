//! The random numbers of a run: SplitMix64.
//!
//! Invariant: what is drawn depends on the seed alone, so a case is named by a seed and a number and needs no file.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct Random(SplitMix64);

/// Values at the edges of counts, offsets and indices.
pub const EDGES: &[u32] = &[
    0,
    1,
    2,
    0x7F,
    0x80,
    0xFF,
    0x3FFF,
    0x4000,
    0xFFFF,
    0x1_0000,
    0xFF_FFFF,
    0x100_0000,
    0x1FFF_FFFF,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFE,
    0xFFFF_FFFF,
];

impl Random {
    /// The stream of case `number` of a run.
    pub fn of_case(seed: u64, number: u64) -> Random {
        let mut seeds = SplitMix64::seed_from_u64(seed);
        Random(SplitMix64::seed_from_u64(
            seeds.next_u64() ^ number.wrapping_mul(0xD6E8_FEB8_6659_FD93),
        ))
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `n`; 0 if there is none.
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 {
            0
        } else {
            (self.bits() % n as u64) as usize
        }
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of `items`, which has some.
    pub fn of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// A number that is often small and sometimes at an edge.
    pub fn number(&mut self) -> u32 {
        match self.below(4) {
            0 => *self.of(EDGES),
            1 => self.bits() as u32 >> self.below(32),
            _ => self.below(20) as u32,
        }
    }
}
