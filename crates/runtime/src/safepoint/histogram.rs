//! How long stops took, and who kept the stopper waiting.
//!
//! The time of a stop is that from setting the stop word until every thread was seen stopped. What is done with the stopped world is not part
//! of it: the collector counts its pauses itself (`vervet_heap::stats`).
//!
//! # Invariants
//! Recording takes no memory: it is done while the world is stopped.
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use vervet_abi::State;
use vervet_os::LeafLock;

/// A stop that takes so many nanoseconds is kept with its slowest.
pub const LONG: u64 = 1_000_000;

/// Bucket `i` counts stops of less than 2^i and at least 2^(i-1) nanoseconds.
static BUCKETS: [AtomicU64; 40] = [const { AtomicU64::new(0) }; 40];
static TOTAL: AtomicU64 = AtomicU64::new(0);
static LONGEST: AtomicU64 = AtomicU64::new(0);

/// The thread that was waited for last.
#[derive(Clone, Copy, Default)]
pub struct SlowestThread {
    /// Its owner id.
    pub owner: u32,
    /// The state it was in while it was waited for.
    pub state: u8,
    /// The method whose stub it had left managed code through (`&'static Method`), or 0.
    pub method: usize,
    /// Where in managed code it was stopped, or had left it; 0 if that is not known.
    pub pc: usize,
}

const KEPT: usize = 8;
/// The longest stops, the longest first.
static WORST: LeafLock<[(u64, SlowestThread); KEPT]> = LeafLock::new(
    [(
        0,
        SlowestThread {
            owner: 0,
            state: 0,
            method: 0,
            pc: 0,
        },
    ); KEPT],
);

/// Counts a stop that took `ns` nanoseconds until all threads had stopped.
pub(super) fn record(ns: u64, slowest: Option<SlowestThread>) {
    let bucket = (64 - ns.leading_zeros()) as usize;
    BUCKETS[bucket.min(BUCKETS.len() - 1)].fetch_add(1, Relaxed);
    TOTAL.fetch_add(ns, Relaxed);
    LONGEST.fetch_max(ns, Relaxed);
    if let Some(slowest) = slowest {
        let mut worst = WORST.lock();
        if let Some(at) = worst.iter().position(|w| w.0 < ns) {
            worst[at..].rotate_right(1);
            worst[at] = (ns, slowest);
        }
    }
}

/// How many stops there were.
pub fn count() -> u64 {
    BUCKETS.iter().map(|b| b.load(Relaxed)).sum()
}

/// The time below which that share of the stops stayed, as the bound of its bucket, in nanoseconds.
fn quantile(share: f64) -> u64 {
    let wanted = (count() as f64 * share).ceil() as u64;
    let mut seen = 0;
    for (i, b) in BUCKETS.iter().enumerate() {
        seen += b.load(Relaxed);
        if seen >= wanted {
            return (1u64 << i).min(LONGEST.load(Relaxed));
        }
    }
    LONGEST.load(Relaxed)
}

/// Text for `--stats`.
pub fn report() -> String {
    let n = count();
    if n == 0 {
        return String::new();
    }
    let us = |ns: u64| ns as f64 / 1000.0;
    let mut text = format!(
        "stops                 {n}; time to stop in us: mean {:.1}, p50 < {:.1}, p99 < {:.1}, longest {:.1}\n",
        us(TOTAL.load(Relaxed)) / n as f64,
        us(quantile(0.5)),
        us(quantile(0.99)),
        us(LONGEST.load(Relaxed)),
    );
    for (i, b) in BUCKETS.iter().enumerate() {
        let stops = b.load(Relaxed);
        if stops > 0 {
            text.push_str(&format!("  {:>10.1} us  {stops}\n", us(1 << i)));
        }
    }
    let worst = *WORST.lock();
    for (ns, slowest) in worst.iter().filter(|w| w.0 > 0) {
        text.push_str(&format!(
            "  {:.1} ms waiting for thread {} {}\n",
            *ns as f64 / 1e6,
            slowest.owner,
            place(slowest)
        ));
    }
    text
}

fn place(c: &SlowestThread) -> String {
    let state = match c.state {
        s if s == State::Managed as u8 => "in managed code",
        s if s == State::Runtime as u8 => "in the runtime",
        _ => "in foreign code",
    };
    let mut text = String::from(state);
    if c.method != 0 {
        // SAFETY: the records of icalls and P/Invokes name their method by address; methods live for ever.
        let method: vervet_types::MethodRef =
            unsafe { &*(c.method as *const vervet_types::Method) };
        text.push_str(&format!(", {}", method.full_name()));
    }
    let code = match crate::code::arena::contains(c.pc) {
        true => crate::code::table::find(c.pc.wrapping_sub(1)),
        false => None,
    };
    if let Some(code) = code {
        use crate::code::table::CodeKind as K;
        match code.kind {
            K::Method(m) | K::Filter(m) | K::Wrapper(m) | K::Callback(m) => {
                text.push_str(&format!(", at {}", m.full_name()));
            }
            K::Stub(s) => text.push_str(&format!(", at (stub) {s}")),
        }
    }
    text
}
