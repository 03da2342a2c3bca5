//! What collections did: counts, pauses, and the log for people.
//!
//! # Invariants
//! Recording takes no memory and no lock: it happens while the world is stopped.
use std::sync::atomic::{AtomicU64, Ordering::*};

/// Which collection the world was stopped for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Collection {
    /// A minor collection.
    Minor,
    /// A stop of a major collection.
    Major,
}

/// Pauses of one kind, in a histogram of powers of two (with four steps each) of microseconds.
pub struct Pauses {
    count: AtomicU64,
    total: AtomicU64,
    longest: AtomicU64,
    buckets: [AtomicU64; 96],
}
impl Default for Pauses {
    fn default() -> Self {
        Pauses {
            count: AtomicU64::new(0),
            total: AtomicU64::new(0),
            longest: AtomicU64::new(0),
            buckets: [const { AtomicU64::new(0) }; 96],
        }
    }
}
impl Pauses {
    fn bucket(us: u64) -> usize {
        if us < 4 {
            return us as usize;
        }
        let log = 63 - us.leading_zeros() as usize;
        (4 * (log - 1) + ((us >> (log - 2)) & 3) as usize).min(95)
    }
    /// The smallest value of a bucket.
    fn floor(bucket: usize) -> u64 {
        if bucket < 4 {
            bucket as u64
        } else {
            (4 + (bucket as u64 & 3)) << (bucket / 4 - 1)
        }
    }
    /// Records a pause of `ns` nanoseconds.
    pub fn record(&self, ns: u64) {
        self.count.fetch_add(1, Relaxed);
        self.total.fetch_add(ns, Relaxed);
        self.longest.fetch_max(ns, Relaxed);
        self.buckets[Self::bucket(ns / 1000)].fetch_add(1, Relaxed);
    }
    /// How many.
    pub fn count(&self) -> u64 {
        self.count.load(Relaxed)
    }
    /// Their sum, in nanoseconds.
    pub fn total(&self) -> u64 {
        self.total.load(Relaxed)
    }
    /// The longest, in nanoseconds.
    pub fn longest(&self) -> u64 {
        self.longest.load(Relaxed)
    }
    /// The quantile for `share` (0 to 1), in microseconds: that share of the pauses was not longer. Exact to a quarter of a power of two.
    pub fn quantile(&self, share: f64) -> u64 {
        let want = (self.count() as f64 * share).ceil() as u64;
        let mut seen = 0;
        for (i, b) in self.buckets.iter().enumerate() {
            seen += b.load(Relaxed);
            if seen >= want && seen > 0 {
                return Self::floor(i + 1);
            }
        }
        0
    }
}

/// Everything that is counted.
#[derive(Default)]
pub struct Stats {
    /// Stops for minor collections.
    pub minor: Pauses,
    /// Stops for major collections.
    pub major: Pauses,
    /// Bytes promoted.
    pub promoted: AtomicU64,
    /// Bytes that survived a collection and stayed young.
    pub survived: AtomicU64,
    /// Objects pinned.
    pub pinned: AtomicU64,
    /// Ephemerons that collections met.
    pub ephemerons: AtomicU64,
    /// Bytes moved out of sparse blocks.
    pub evacuated: AtomicU64,
    /// Bytes handed out to TLABs, and of large objects.
    pub allocated: AtomicU64,
    /// Those of them that TLABs were given and have not used.
    pub unused: AtomicU64,
}

/// What a minor collection found.
#[derive(Clone, Copy, Default, Debug)]
pub struct Outcome {
    /// Bytes copied and still young.
    pub survived: usize,
    /// Bytes promoted.
    pub promoted: usize,
    /// Objects pinned.
    pub pinned: usize,
}

/// Writes to standard error by one system call, so that texts of several threads do not mix.
pub fn write_stderr(text: &str) {
    // SAFETY: the bytes of a string.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    #[cfg_attr(miri, ignore = "many steps, and nothing but arithmetic")]
    fn buckets_and_their_floors_agree() {
        for us in 0..100_000u64 {
            let b = Pauses::bucket(us);
            assert!(
                Pauses::floor(b) <= us && us < Pauses::floor(b + 1),
                "{us} in {b}"
            );
        }
    }
}
