//! Random delays at places where the order of two threads' steps matters, for finding bugs (`--gc-debug=perturb`).
//!
//! # Invariants
//! * While it is off, [`here`] is one load and a branch; it stands at cold places only.
//! * It may be called anywhere: under leaf locks, in signal handlers, while the world is stopped. It takes no memory and no lock, and
//!   leaves errno alone.
//! * What a thread does is given by the seed and by which thread it is in the order of their first delays; how the threads
//!   interleave is still the system's affair, so a seed makes a failure likelier to come again, not certain.
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

static ON: AtomicBool = AtomicBool::new(false);
static SEED: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static STATE: Cell<u64> = const { Cell::new(0) };
}

/// Turns it on. Called before there are other threads.
pub fn enable(seed: u64) {
    SEED.store(seed, Relaxed);
    ON.store(true, Relaxed);
}

/// Perhaps lets time pass, if it is on.
#[inline(always)]
pub fn here() {
    if ON.load(Relaxed) {
        delay();
    }
}

/// As [`here`], at a place that is passed for each of very many: mostly nothing.
#[inline(always)]
pub fn at_times() {
    if ON.load(Relaxed) {
        rarely();
    }
}

/// The next number of a thread's row of numbers, which is never 0.
fn next(state: u64) -> u64 {
    let mut s = state;
    s ^= s << 13;
    s ^= s >> 7;
    s ^ s << 17
}
/// The numbers of the thread with that place in the order begin here.
fn first(seed: u64) -> u64 {
    (seed ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(0xBF58_476D_1CE4_E5B9) | 1
}

/// What a number says: mostly nothing, at times a few instructions' time, at times so much that others get a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Delay {
    None,
    Spin(u32),
    Sleep(u32),
}
fn delay_of(number: u64) -> Delay {
    let amount = (number >> 32) as u32;
    match number >> 8 & 63 {
        0..32 => Delay::None,
        32..60 => Delay::Spin(amount % 2000),
        _ => Delay::Sleep(amount % 100_000),
    }
}

/// The calling thread's next number.
fn number() -> u64 {
    STATE.with(|s| {
        let state = match s.get() {
            // Each thread begins elsewhere.
            0 => first(SEED.fetch_add(1, Relaxed)),
            n => n,
        };
        s.set(next(state));
        state
    })
}

#[cold]
#[inline(never)]
fn rarely() {
    if (number() >> 20).is_multiple_of(2048) {
        delay();
    }
}

#[cold]
#[inline(never)]
fn delay() {
    match delay_of(number()) {
        Delay::None => {}
        Delay::Spin(n) => (0..n).for_each(|_| std::hint::spin_loop()),
        Delay::Sleep(ns) => {
            let time = libc::timespec {
                tv_sec: 0,
                tv_nsec: ns.into(),
            };
            // SAFETY: a time of this frame. The function returns its errors, and sleeps less if a signal comes.
            unsafe {
                libc::clock_nanosleep(libc::CLOCK_MONOTONIC, 0, &time, std::ptr::null_mut());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn threads_go_different_ways_through_every_kind_of_delay() {
        let row = |seed| {
            let mut state = first(seed);
            std::iter::repeat_with(move || {
                state = next(state);
                delay_of(state)
            })
            .take(1000)
            .collect::<Vec<_>>()
        };
        assert_eq!(row(7), row(7));
        assert_ne!(row(7), row(8));
        for seed in 0..10 {
            let count = |is: fn(&Delay) -> bool| row(seed).iter().filter(|d| is(d)).count();
            assert!((400..600).contains(&count(|d| *d == Delay::None)));
            assert!((300..600).contains(&count(|d| matches!(d, Delay::Spin(_)))));
            assert!((20..120).contains(&count(|d| matches!(d, Delay::Sleep(_)))));
        }
    }
}
