//! Which processor the sampler runs on: that of the thread it samples, if one thread alone runs.
//!
//! # Why
//! A signal to a thread on another processor needs an interrupt there, and a processor that slept has to be woken for each period. In a virtual machine, where both leave the
//! guest, a period of one running thread took 36 us of the sampler's time on another processor, and 19 us on the thread's own, which it interrupts anyway. With several running threads there is
//! no better place than where the system puts it.
//!
//! # Invariants
//! * The sampler moves only when it has seen the same thread on the same processor for [`STEADY`] periods: moving costs more than a period.
//! * It may always go back to the processors that it could use when it started.
//! * A system that refuses is no error: the sampler runs where it runs.
use std::sync::atomic::{AtomicI32, Ordering};

/// Periods in which nothing has changed before the sampler moves.
const STEADY: u32 = 32;
/// No processor in particular.
pub(super) const ANYWHERE: i32 = -1;

/// Where threads were sampled, seen by the sampler's own thread.
pub(super) struct Follow {
    /// The processors that it may use.
    all: libc::cpu_set_t,
    /// The one that it has chosen, or [`ANYWHERE`].
    chosen: i32,
    /// The one that the last periods would choose, and how many of them in a row.
    wanted: i32,
    periods: u32,
}

impl Follow {
    /// For the calling thread.
    pub(super) fn new() -> Follow {
        // SAFETY: a set of this frame, which the call fills.
        let all = unsafe {
            let mut all: libc::cpu_set_t = std::mem::zeroed();
            libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut all);
            all
        };
        Follow {
            all,
            chosen: ANYWHERE,
            wanted: ANYWHERE,
            periods: 0,
        }
    }
    /// A period has ended, in which the threads that ran were asked on these processors.
    pub(super) fn period(&mut self, mut asked: impl Iterator<Item = i32>) {
        let wanted = match (asked.next(), asked.next()) {
            (Some(processor), None) => processor,
            _ => ANYWHERE,
        };
        if let Some(to) = self.decide(wanted) {
            self.go(to);
        }
    }
    /// Where to go now; None: it stays.
    fn decide(&mut self, wanted: i32) -> Option<i32> {
        if wanted != self.wanted {
            (self.wanted, self.periods) = (wanted, 0);
        }
        self.periods = self.periods.saturating_add(1);
        if self.periods < STEADY || wanted == self.chosen {
            return None;
        }
        self.chosen = wanted;
        Some(wanted)
    }
    fn go(&self, to: i32) {
        let mut set = self.all;
        // SAFETY: sets of this frame; the processor's number is one that the kernel gave.
        unsafe {
            if to >= 0 && libc::CPU_ISSET(to as usize, &self.all) {
                libc::CPU_ZERO(&mut set);
                libc::CPU_SET(to as usize, &mut set);
            }
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
        }
    }
}

/// The processor of the calling thread. Async-signal-safe: the C library reads a word that the kernel keeps.
pub(super) fn note(processor: &AtomicI32) {
    // SAFETY: a plain query.
    processor.store(unsafe { libc::sched_getcpu() }, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sampler_follows_a_thread_that_stays_and_leaves_when_others_run() {
        let mut follow = Follow::new();
        let mut steps = |wanted: i32, times: u32| -> Vec<i32> {
            (0..times).filter_map(|_| follow.decide(wanted)).collect()
        };
        assert_eq!(steps(3, STEADY - 1), []);
        assert_eq!(steps(1, STEADY - 1), [], "the thread has moved");
        assert_eq!(steps(1, 1), [1]);
        assert_eq!(steps(1, 100), [], "it is there");
        for _ in 0..100 {
            assert_eq!(steps(0, 1), [], "a thread that moves is not followed");
            assert_eq!(steps(1, 1), []);
        }
        assert_eq!(steps(ANYWHERE, STEADY), [ANYWHERE]);
    }
}
