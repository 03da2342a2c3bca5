//! Seeds of random tests.
//!
//! # Invariants
//! Each run of a test takes fresh seeds and says which, on standard error itself: what fails on a thread of the collector's ends the process, and
//! with it goes all output that was kept. `VERVET_TEST_SEED` names the one seed to run. A seed that found something is listed in its test.
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The seeds to run: those `listed`, and `fresh` others; or the one that the environment names.
pub fn seeds(test: &str, listed: &[u64], fresh: usize) -> Vec<u64> {
    if let Ok(one) = std::env::var("VERVET_TEST_SEED") {
        return vec![one.parse().expect("VERVET_TEST_SEED is a number")];
    }
    static TAKEN: AtomicU64 = AtomicU64::new(0);
    let now = || vervet_os::clock::now() ^ u64::from(std::process::id()) << 24;
    let new = (0..fresh).map(|_| (now() + TAKEN.fetch_add(7919, Relaxed)) % 1_000_000_000);
    let new: Vec<u64> = new.collect();
    vervet_heap::stats::write_stderr(&format!("{test}: seeds {new:?} (VERVET_TEST_SEED)\n"));
    listed.iter().copied().chain(new).collect()
}
