//! The claim under loom: a carrier, the collector, and who changes references of a parked thread.
use super::Scannable;
use crate::models::model;
use crate::sync::{AtomicU8, AtomicU32, UnsafeCell};
use loom::sync::Arc;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::thread;
use vervet_abi::State;

const CYCLE: u32 = 7;

/// A parked thread with one word of stack and one reference that others may change.
struct Green {
    state: AtomicU8,
    requests: AtomicU32,
    scanned: AtomicU32,
    stack: UnsafeCell<u32>,
    root: AtomicU32,
}

impl Green {
    fn new() -> Arc<Green> {
        Arc::new(Green {
            state: AtomicU8::new(State::Parked as u8),
            requests: AtomicU32::new(0),
            scanned: AtomicU32::new(0),
            stack: UnsafeCell::new(1),
            root: AtomicU32::new(1),
        })
    }
    fn words(&self) -> Scannable<'_> {
        Scannable {
            state: &self.state,
            requests: &self.requests,
            scanned: &self.scanned,
        }
    }
    /// Runs the thread, which changes its stack, and parks it again.
    fn run(&self) {
        self.words().enter(0, || (), thread::yield_now);
        // SAFETY: the carrier has entered the thread; loom reports whoever looks meanwhile.
        self.stack.with_mut(|word| unsafe { *word += 1 });
        self.words().changed();
        self.state.store(State::Parked as u8, Release);
    }
    /// Scans the thread; what the collector has seen.
    fn scan(&self) -> Option<(u32, u32)> {
        let mut seen = None;
        self.words().scan(CYCLE, || {
            // SAFETY: the collector scans; loom reports who changes the word meanwhile.
            let stack = self.stack.with(|word| unsafe { *word });
            seen = Some((stack, self.root.load(Relaxed)));
        });
        seen
    }
    /// All have ended: what the thread refers to was seen, if it says so.
    fn check(&self, seen: Option<(u32, u32)>) {
        assert_eq!(self.requests.load(Acquire), 0);
        if self.words().is_scanned(CYCLE) {
            // SAFETY: nobody else runs.
            let stack = self.stack.with(|word| unsafe { *word });
            assert_eq!(seen, Some((stack, self.root.load(Relaxed))));
        }
    }
}

/// A carrier runs the thread and parks it, at any time of the scan.
#[test]
fn a_thread_does_not_run_while_it_is_scanned() {
    model(None, || {
        let green = Green::new();
        let carrier = {
            let green = green.clone();
            thread::spawn(move || green.run())
        };
        let seen = green.scan();
        carrier.join().unwrap();
        green.check(seen);
    });
}

/// Another thread gives the parked one something to start with, and a carrier runs it then.
#[test]
fn a_reference_that_is_given_to_a_parked_thread_is_not_missed() {
    for runs in [false, true] {
        model(None, move || {
            let green = Green::new();
            let other = {
                let green = green.clone();
                thread::spawn(move || {
                    green.root.store(2, Relaxed);
                    green.words().changed();
                    if runs {
                        green.run();
                    }
                })
            };
            let seen = green.scan();
            other.join().unwrap();
            green.check(seen);
        });
    }
}

/// Two scans of one cycle: what the first has missed the second sees.
#[test]
fn a_thread_is_scanned_again_when_it_has_run() {
    model(Some(3), || {
        let green = Green::new();
        let carrier = {
            let green = green.clone();
            thread::spawn(move || green.run())
        };
        let mut seen = green.scan();
        if !green.words().is_scanned(CYCLE)
            && let Some(again) = green.scan()
        {
            seen = Some(again);
        }
        carrier.join().unwrap();
        green.check(seen);
    });
}
