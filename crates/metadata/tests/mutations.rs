//! Seeded mutations of real images: none may panic or hang the reader.

use std::path::Path;
use std::time::{Duration, Instant};

use vervet_metadata::fuzz_image;

const SEEDS: &[&str] = &[
    "/usr/lib/mono/4.5/mscorlib.dll",
    "/usr/lib/mono/4.5/System.Core.dll",
    "/usr/lib/mono/4.5/System.dll",
    "/usr/lib/mono/4.5/Mono.Posix.dll",
    "/usr/lib/mono/4.5/cert-sync.exe",
    "/usr/lib/mono/4.5/Facades/System.Runtime.dll",
    "/usr/lib/mono/4.5/System.Configuration.Install.dll",
    "/usr/lib/mono/4.5/Mono.Security.dll",
];

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        if n == 0 {
            0
        } else {
            (self.next() % n as u64) as usize
        }
    }
}

/// Values that sit on the edges of counts, offsets and indices.
const EDGES: &[u32] = &[
    0,
    1,
    2,
    0x7F,
    0x80,
    0xFF,
    0xFFFF,
    0x1_0000,
    0xFF_FFFF,
    0x100_0000,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFE,
    0xFFFF_FFFF,
];

/// Where the metadata root and its table stream's header are likely to be.
fn hot_spots(data: &[u8]) -> Vec<(usize, usize)> {
    let mut spots = vec![(0, data.len().min(0x400))];
    if let Some(root) = data.windows(4).position(|w| w == b"BSJB") {
        spots.push((root, 0x400.min(data.len() - root)));
        spots.push((root, 0x8000.min(data.len() - root)));
        spots.push((root, data.len() - root));
    }
    spots.push((0, data.len()));
    spots
}

fn mutate(data: &mut Vec<u8>, spots: &[(usize, usize)], random: &mut Random) {
    for _ in 0..=random.below(8) {
        let (start, len) = spots[random.below(spots.len())];
        let at = start + random.below(len);
        match random.below(6) {
            0 | 1 => {
                if let Some(b) = data.get_mut(at) {
                    *b ^= 1 << random.below(8);
                }
            }
            2 => {
                if let Some(b) = data.get_mut(at) {
                    *b = random.next() as u8;
                }
            }
            3 => {
                if let Some(w) = data.get_mut(at..at + 4) {
                    w.copy_from_slice(&(random.next() as u32).to_le_bytes());
                }
            }
            4 => {
                if let Some(w) = data.get_mut(at..at + 4) {
                    w.copy_from_slice(&EDGES[random.below(EDGES.len())].to_le_bytes());
                }
            }
            _ if random.below(8) == 0 => data.truncate(at),
            _ => {
                let n = random.below(64);
                let from = start + random.below(len);
                if at.max(from) + n <= data.len() {
                    data.copy_within(from..from + n, at);
                }
            }
        }
    }
}

#[test]
fn mutated_images_are_read_without_panic_or_hang() {
    let seconds = std::env::var("VERVET_FUZZ_SECONDS")
        .ok()
        .and_then(|s| s.parse().ok());
    let until = Instant::now() + Duration::from_secs(seconds.unwrap_or(5));
    let seeds: Vec<Vec<u8>> = SEEDS
        .iter()
        .filter(|p| Path::new(p).exists())
        .map(|p| std::fs::read(p).expect("the file can be read"))
        .collect();
    if seeds.is_empty() {
        println!("skipped: no assemblies to mutate");
        return;
    }
    let spots: Vec<_> = seeds.iter().map(|s| hot_spots(s)).collect();
    let mut random = Random(0x5EED);
    let (mut runs, mut worst) = (0u64, Duration::ZERO);
    let mut data = Vec::new();
    while Instant::now() < until {
        let i = random.below(seeds.len());
        data.clear();
        data.extend_from_slice(&seeds[i]);
        mutate(&mut data, &spots[i], &mut random);
        let start = Instant::now();
        fuzz_image(&data);
        worst = worst.max(start.elapsed());
        runs += 1;
    }
    println!("{runs} mutations, the slowest took {worst:?}");
    assert!(worst < Duration::from_secs(5), "a mutation took {worst:?}");
}

#[test]
fn every_truncation_of_the_headers_is_refused_or_read() {
    for seed in SEEDS.iter().filter(|p| Path::new(p).exists()) {
        let data = std::fs::read(seed).expect("the file can be read");
        for len in 0..data.len().min(0x400) {
            fuzz_image(&data[..len]);
        }
    }
}
